// SPDX-License-Identifier: MIT
#include "bpm/core/multiply_add.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "bpm/core/random/draws.hpp"
#include "bpm/core/random/engine.hpp"
#include "catch.hpp"

TEMPLATE_TEST_CASE("multiply_add rounds once or twice, and everywhere the same", "[detail]", float,
                   double) {
  // 1 + 2 e + e^2 - 1 - 2 e: e^2 if the product is not rounded, 0 if it is.
  const TestType e = std::numeric_limits<TestType>::epsilon();
  const TestType difference = bpm::detail::multiply_add<TestType>(1 + e, 1 + e, -1 - 2 * e);
  CHECK((difference == e * e || difference == 0));
  const bool fused = difference != 0;

  // The order of a sum of products is the same in long loops, short ones and their remainders.
  bpm::RandomEngine engine(1);
  bpm::NormalDraws normal;
  int different = 0;
  for (std::size_t n = 1; n < 100; ++n) {
    std::vector<TestType> a(n);
    std::vector<TestType> b(n);
    for (std::size_t i = 0; i < n; ++i) {
      a[i] = static_cast<TestType>(normal(engine));
      b[i] = static_cast<TestType>(normal(engine));
    }
    TestType sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum = bpm::detail::multiply_add(a[i], b[i], sum);
    volatile TestType expected = 0;
    for (std::size_t i = 0; i < n; ++i) {
      volatile TestType product = a[i] * b[i];
      expected = fused ? std::fma(a[i], b[i], static_cast<TestType>(expected))
                       : static_cast<TestType>(expected) + product;
    }
    different += static_cast<int>(sum != expected);
  }
  CHECK(different == 0);
}
