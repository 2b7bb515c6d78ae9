// SPDX-License-Identifier: MIT
#include "bpm/kernels/vector_kernels.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "catch.hpp"
#include "random_inputs.hpp"

using test_support::distance_from_formula;
using test_support::unit;

TEMPLATE_TEST_CASE("the polynomial kernel is (scale <x, x'> + offset)^degree", "[kernels]", float,
                   double) {
  for (const int degree : {1, 2, 3, 4, 5, 6, 7, 8, 11, 16}) {
    const double scale = 0.04;  // |scale <x, x'>| < 2, so that powers stay below 3^16.
    const double offset = 0.75;
    const auto formula = [&](const auto& x, const auto& z) {
      double power = 1;
      for (int n = 0; n < degree; ++n) power *= scale * x.dot(z) + offset;
      return power;
    };
    const double bound = std::pow(3.0, degree) * degree * unit<TestType>;
    CHECK(distance_from_formula<TestType>(bpm::Polynomial(degree, scale, offset), formula) <=
          bound);
  }
}

TEST_CASE("powers of small integers are exact", "[kernels]") {
  // (2 * 3 + 1)^n as doubles, exact up to 7^18.
  using One = Eigen::Array<double, 1, 1>;
  double power = 1;
  for (int degree = 1; degree <= 18; ++degree) {
    power *= 7;
    const bpm::Polynomial kernel(degree, 2, 1);
    CHECK(kernel.from_inner_products(One(3), One(0), One(0))(0) == power);
  }
  const bpm::Polynomial squares(64, 1, 0);
  CHECK(squares.from_inner_products(One(2), One(0), One(0))(0) == std::pow(2.0, 64));
}

TEST_CASE("the default is the paper's kernel", "[kernels]") {
  const bpm::Polynomial kernel;
  CHECK(kernel.degree() == 5);
  CHECK(kernel.scale() == 1);
  CHECK(kernel.offset() == 1);
  const Eigen::RowVector2d x(1, 0);
  CHECK(kernel(x, x) == 32);
}

TEST_CASE("the polynomial kernel refuses parameters that are no kernel", "[kernels]") {
  CHECK_THROWS_AS(bpm::Polynomial(0), std::invalid_argument);
  CHECK_THROWS_WITH(bpm::Polynomial(0), "Polynomial: degree is 0, must be 1 to 64");
  CHECK_THROWS_WITH(bpm::Polynomial(65), "Polynomial: degree is 65, must be 1 to 64");
  CHECK_THROWS_WITH(bpm::Polynomial(2, 0), "Polynomial: scale is 0, must be positive and finite");
  CHECK_THROWS_WITH(bpm::Polynomial(2, std::numeric_limits<double>::infinity()),
                    "Polynomial: scale is inf, must be positive and finite");
  CHECK_THROWS_WITH(bpm::Polynomial(2, std::nan("")),
                    "Polynomial: scale is nan, must be positive and finite");
  CHECK_THROWS_WITH(bpm::Polynomial(2, 1, -1),
                    "Polynomial: offset is -1, must be finite and not negative");
  CHECK_THROWS_WITH(bpm::Polynomial(2, 1, std::nan("")),
                    "Polynomial: offset is nan, must be finite and not negative");
  CHECK_NOTHROW(bpm::Polynomial(64, 1e-3, 0));
}
