// SPDX-License-Identifier: MIT
#include "bpm/kernels/vector_kernels.hpp"

#include <cmath>
#include <stdexcept>

#include "catch.hpp"
#include "random_inputs.hpp"

using test_support::distance_from_formula;
using test_support::unit;

TEMPLATE_TEST_CASE("Laplacian: exp(-|x - x'|_1 / sigma)", "[kernels]", float, double) {
  for (const double sigma : {0.5, 4.0, 100.0}) {
    const auto formula = [&](const auto& x, const auto& z) {
      return std::exp(-(x - z).cwiseAbs().sum() / sigma);
    };
    CHECK(distance_from_formula<TestType>(bpm::Laplacian(sigma), formula) <= 5 * unit<TestType>);
  }
  const auto x = test_support::normal_inputs<TestType>(20, 9, 3);
  CHECK((test_support::block_values(bpm::Laplacian(0.1), x, x).diagonal().array() == 1).all());
}

TEMPLATE_TEST_CASE("Exponential: exp(-|x - x'| / sigma)", "[kernels]", float, double) {
  for (const double sigma : {0.5, 4.0}) {
    const auto formula = [&](const auto& x, const auto& z) {
      return std::exp(-(x - z).norm() / sigma);
    };
    CHECK(distance_from_formula<TestType>(bpm::Exponential(sigma), formula) <= 10 * unit<TestType>);
  }
  const auto x = test_support::normal_inputs<TestType>(20, 9, 3);
  CHECK((test_support::block_values(bpm::Exponential(0.1), x, x).diagonal().array() == 1).all());
}

TEST_CASE("the widths are kept", "[kernels]") {
  CHECK(bpm::Laplacian(3).sigma() == 3);
  CHECK(bpm::Exponential(4).sigma() == 4);
}

TEST_CASE("Laplacian and Exponential refuse widths that are not positive", "[kernels]") {
  CHECK_THROWS_AS(bpm::Laplacian(0), std::invalid_argument);
  CHECK_THROWS_WITH(bpm::Laplacian(0), "Laplacian: sigma is 0, must be positive and finite");
  CHECK_THROWS_WITH(bpm::Laplacian(std::nan("")),
                    "Laplacian: sigma is nan, must be positive and finite");
  CHECK_THROWS_AS(bpm::Exponential(-2), std::invalid_argument);
  CHECK_THROWS_WITH(bpm::Exponential(-2), "Exponential: sigma is -2, must be positive and finite");
}

TEST_CASE("the Laplacian is a function of distances, the Exponential of inner products",
          "[kernels][concepts]") {
  STATIC_REQUIRE(bpm::ManhattanKernel<bpm::Laplacian>);
  STATIC_REQUIRE_FALSE(bpm::InnerProductKernel<bpm::Laplacian>);
  STATIC_REQUIRE(bpm::InnerProductKernel<bpm::Exponential>);
  STATIC_REQUIRE_FALSE(bpm::ManhattanKernel<bpm::Exponential>);
}
