// SPDX-License-Identifier: MIT
// Error bars on listed numbers: divisors n / (n - 1), weights, and what lies along the mean left
// out of its direction.
#include "bpm/samplers/chains/chain_state.hpp"

#include <vector>

#include "catch.hpp"

using bpm::detail::Spread;
using Numbers = std::vector<double>;

TEST_CASE("spread: two and three sums by hand") {
  // Of equal weight about (2, 0): off by (1, 1) and (-1, -1). n / (n - 1) = 2.
  const Numbers mean{2, 0};
  Spread two(mean, 4);
  two.add({3, 1}, 1);
  two.add({1, -1}, 1);
  CHECK(two.count() == 2);
  CHECK(two.of_mean() == Approx(2 * 4 / 4.0).epsilon(1e-15));
  CHECK(two.of_direction() == Approx(2 * 2 / 4.0 / 4).epsilon(1e-15));
  // Weights 1, 2 and 3, off by (1, 2), (-3, 1) and (2, -3): squares 5, 10, 13, across 4, 1, 9.
  Spread three(mean, 4);
  three.add({3, 2}, 1);
  three.add({1, 1}, 2);
  three.add({8, -3}, 3);
  CHECK(three.count() == 3);
  CHECK(three.of_mean() == Approx(1.5 * 28 / 36).epsilon(1e-15));
  CHECK(three.of_direction() == Approx(1.5 * 14 / 36 / 4).epsilon(1e-15));
}

TEST_CASE("spread: it is the variance of a mean") {
  // Of 1, 2, 3, 4, 5, 6, 7, 8: the sum of squares about 4.5 is 42, and 42 / (8 7) = 3 / 4.
  const Numbers mean{4.5};
  Spread spread(mean, 4.5 * 4.5);
  for (const double x : {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0}) spread.add({x}, 1);
  CHECK(spread.of_mean() == Approx(0.75).epsilon(1e-15));
  CHECK(spread.of_direction() == Approx(0.0).margin(1e-15));
}
