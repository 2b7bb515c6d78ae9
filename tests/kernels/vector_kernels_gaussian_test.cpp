// SPDX-License-Identifier: MIT
#include "bpm/kernels/vector_kernels.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "catch.hpp"
#include "random_inputs.hpp"

using test_support::distance_from_formula;
using test_support::unit;

TEMPLATE_TEST_CASE("from_sigma: exp(-|x - x'|^2 / (2 sigma^2))", "[kernels]", float, double) {
  for (const double sigma : {0.7, 2.0, 30.0}) {
    const auto formula = [&](const auto& x, const auto& z) {
      return std::exp(-(x - z).squaredNorm() / (2 * sigma * sigma));
    };
    CHECK(distance_from_formula<TestType>(bpm::Gaussian::from_sigma(sigma), formula) <=
          10 * unit<TestType>);
  }
}

TEMPLATE_TEST_CASE("from_width: exp(-|x - x'|^2 / width^2)", "[kernels]", float, double) {
  for (const double width : {1.0, 3.0}) {
    const auto formula = [&](const auto& x, const auto& z) {
      return std::exp(-(x - z).squaredNorm() / (width * width));
    };
    CHECK(distance_from_formula<TestType>(bpm::Gaussian::from_width(width), formula) <=
          10 * unit<TestType>);
  }
}

TEMPLATE_TEST_CASE("from_gamma: exp(-gamma |x - x'|^2)", "[kernels]", float, double) {
  const auto formula = [](const auto& x, const auto& z) {
    return std::exp(-0.05 * (x - z).squaredNorm());
  };
  CHECK(distance_from_formula<TestType>(bpm::Gaussian::from_gamma(0.05), formula) <=
        10 * unit<TestType>);
}

TEST_CASE("the three widths in terms of gamma", "[kernels]") {
  CHECK(bpm::Gaussian::from_gamma(0.3).gamma() == 0.3);
  CHECK(bpm::Gaussian::from_sigma(2).gamma() == 0.125);
  CHECK(bpm::Gaussian::from_width(2).gamma() == 0.25);
}

TEMPLATE_TEST_CASE("the Gaussian of an input with itself is exactly 1", "[kernels]", float,
                   double) {
  auto x = test_support::normal_inputs<TestType>(40, 33, 5);
  x *= 100;
  const bpm::Gaussian kernel = bpm::Gaussian::from_gamma(10);
  CHECK((test_support::block_values(kernel, x, x).diagonal().array() == 1).all());
  // Far apart: exp(-1e7) is 0, or nearly where exp clamps; a value like any other.
  CHECK(test_support::block_values(kernel, x, x).minCoeff() >= 0);
  CHECK(test_support::block_values(kernel, x, x).minCoeff() <=
        2 * std::numeric_limits<TestType>::min());
}

TEST_CASE("the Gaussian refuses widths that are not positive", "[kernels]") {
  CHECK_THROWS_AS(bpm::Gaussian::from_sigma(0), std::invalid_argument);
  // 1 / sigma^2 overflows.
  CHECK_THROWS_WITH(bpm::Gaussian::from_sigma(1e-200),
                    "Gaussian: gamma, from the width given, is inf, must be positive and finite");
  CHECK_THROWS_WITH(bpm::Gaussian::from_sigma(0),
                    "Gaussian::from_sigma: sigma is 0, must be positive and finite");
  CHECK_THROWS_WITH(bpm::Gaussian::from_width(-1),
                    "Gaussian::from_width: width is -1, must be positive and finite");
  CHECK_THROWS_WITH(bpm::Gaussian::from_gamma(std::numeric_limits<double>::infinity()),
                    "Gaussian::from_gamma: gamma is inf, must be positive and finite");
  CHECK_THROWS_WITH(bpm::Gaussian::from_gamma(std::nan("")),
                    "Gaussian::from_gamma: gamma is nan, must be positive and finite");
}
