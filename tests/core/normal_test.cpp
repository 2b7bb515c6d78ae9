// SPDX-License-Identifier: MIT
// The normal distribution's functions against tabulated values and identities.
#include "bpm/core/normal.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "catch.hpp"

using namespace bpm::detail;

TEST_CASE("the normal distribution function, its logarithm and hazard at known points") {
  // Abramowitz and Stegun, table 26.1 and 26.2 (log10 of the tail).
  CHECK(normal_cdf(0) == 0.5);
  CHECK(normal_cdf(1) == Approx(0.841344746068543).epsilon(1e-13));
  CHECK(normal_cdf(-3) == Approx(1.349898031630095e-3).epsilon(1e-13));
  CHECK(log_normal_cdf(-10) == Approx(-23.11805 * std::numbers::ln10).epsilon(3e-7));
  CHECK(log_normal_cdf(-50) == Approx(-544.96634 * std::numbers::ln10).epsilon(1e-8));
  CHECK(log_normal_cdf(10) == Approx(-7.619853024160526e-24).epsilon(1e-12));
  CHECK(normal_density(0) == Approx(1 / std::sqrt(2 * std::numbers::pi)).epsilon(1e-15));
  CHECK(normal_hazard(0) == Approx(std::sqrt(2 / std::numbers::pi)).epsilon(1e-15));
}

TEST_CASE("the tail's continued fraction joins the complementary error function") {
  for (const double x : {-5.0, -5.9, -6.0, -6.1, -8.0, -20.0, -37.0}) {
    CAPTURE(x);
    const double direct = std::log(0.5 * std::erfc(-x / std::numbers::sqrt2));
    CHECK(log_normal_cdf(x) == Approx(direct).epsilon(1e-13));
    CHECK(normal_hazard(x) == Approx(normal_density(x) / normal_cdf(x)).epsilon(1e-11));
  }
  // Far out the hazard is x + 1 / x.
  CHECK(normal_hazard(-1e8) == Approx(1e8).epsilon(1e-15));
  CHECK(std::isfinite(log_normal_cdf(-1e150)));
}

TEST_CASE("the normal quantile inverts the distribution function") {
  for (const double p : {1e-300, 1e-20, 1e-3, 0.01, 0.3, 0.5, 0.7, 0.99, 0.999999}) {
    CAPTURE(p);
    CHECK(normal_cdf(normal_quantile(p)) == Approx(p).epsilon(1e-12));
  }
  CHECK(normal_quantile(0.99) == Approx(2.326347874040841).epsilon(1e-13));
  CHECK(normal_quantile(0) == -std::numeric_limits<double>::infinity());
  CHECK(normal_quantile(1) == std::numeric_limits<double>::infinity());
}
