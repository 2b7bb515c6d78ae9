// SPDX-License-Identifier: MIT
#include "bpm/kernels/dot_product.hpp"

#include "catch.hpp"
#include "random_inputs.hpp"

using test_support::distance_from_formula;
using test_support::unit;

TEMPLATE_TEST_CASE("the linear kernel is the inner product", "[kernels]", float, double) {
  CHECK(distance_from_formula<TestType>(bpm::Linear{}, [](const auto& x, const auto& z) {
          return x.dot(z);
        }) <= 10 * unit<TestType>);
}
