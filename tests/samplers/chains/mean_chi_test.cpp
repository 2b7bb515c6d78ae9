// SPDX-License-Identifier: MIT
// The mean length of a normal vector against the gamma function and identities.
#include "bpm/samplers/chains/mean_chi.hpp"

#include <cmath>
#include <cstddef>
#include <numbers>
#include <stdexcept>
#include <string>

#include "catch.hpp"

TEST_CASE("the mean length of a normal vector") {
  CHECK(bpm::detail::mean_chi(1) == Approx(std::sqrt(2 / std::numbers::pi)).epsilon(1e-15));
  CHECK(bpm::detail::mean_chi(2) == Approx(std::sqrt(std::numbers::pi / 2)).epsilon(1e-15));
  CHECK(bpm::detail::mean_chi(3) == Approx(2 * std::sqrt(2 / std::numbers::pi)).epsilon(1e-15));
  for (const int r : {1, 2, 3, 4, 7, 20, 111, 150}) {
    const double truth =
        std::numbers::sqrt2 * std::exp(std::lgamma((r + 1) / 2.0) - std::lgamma(r / 2.0));
    CHECK(bpm::detail::mean_chi(r) == Approx(truth).epsilon(1e-12));
  }
  // E[chi_n] E[chi_(n+1)] = n.
  for (const std::ptrdiff_t n : {5, 70, 999, 5000, 60'000}) {
    CHECK(bpm::detail::mean_chi(n) * bpm::detail::mean_chi(n + 1) ==
          Approx(static_cast<double>(n)).epsilon(1e-9));
  }
  try {
    (void)bpm::detail::mean_chi(0);
    FAIL("nothing was thrown");
  } catch (const std::invalid_argument& error) {
    CHECK(std::string(error.what()) == "mean_chi: r is 0, must be 1 or more");
  }
}
