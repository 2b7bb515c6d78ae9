// SPDX-License-Identifier: MIT
// The normal distribution's functions, Student's quantiles and the mean of chi against tabulated
// values and identities.
#include "bpm/core/normal.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>

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

TEST_CASE("Mills' ratio has its known values") {
  // erfc to 20 digits: M(x) = sqrt(pi / 2) exp(x^2 / 2) erfc(x / sqrt(2)).
  CHECK(std::abs(mills_ratio(0) - 1.2533141373155002512) < 1e-15);
  CHECK(std::abs(mills_ratio(1) - 0.65567954241879847154) < 1e-15);
  // Both sides of the change of method agree, and far out it is 1/x - 1/x^3 + 3/x^5 - ...
  CHECK(std::abs(mills_ratio(6 - 1e-12) / mills_ratio(6) - 1) < 1e-12);
  const double x = 100;
  CHECK(std::abs(mills_ratio(x) * x - (1 - 1e-4 + 3e-8 - 15e-12)) < 2e-14);
  CHECK(mills_ratio(std::numeric_limits<double>::infinity()) == 0);
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

TEST_CASE("student quantile: values from tables") {
  CHECK(student_quantile(0.975, 5) == Approx(2.5706).epsilon(1e-3));
  CHECK(student_quantile(0.95, 7) == Approx(1.8946).epsilon(1e-3));
  CHECK(student_quantile(0.99, 7) == Approx(2.9980).epsilon(1e-3));
  CHECK(student_quantile(0.99, 10) == Approx(2.7638).epsilon(1e-3));
  CHECK(student_quantile(0.999, 10) == Approx(4.1437).epsilon(2e-3));
  CHECK(student_quantile(0.025, 30) == Approx(-2.0423).epsilon(1e-3));
  CHECK(student_quantile(0.99, std::numeric_limits<double>::infinity()) ==
        Approx(2.326348).epsilon(1e-6));
}

TEST_CASE("the mean length of a normal vector") {
  CHECK(mean_chi(1) == Approx(std::sqrt(2 / std::numbers::pi)).epsilon(1e-15));
  CHECK(mean_chi(2) == Approx(std::sqrt(std::numbers::pi / 2)).epsilon(1e-15));
  CHECK(mean_chi(3) == Approx(2 * std::sqrt(2 / std::numbers::pi)).epsilon(1e-15));
  for (const int r : {1, 2, 3, 4, 7, 20, 111, 150}) {
    const double truth =
        std::numbers::sqrt2 * std::exp(std::lgamma((r + 1) / 2.0) - std::lgamma(r / 2.0));
    CHECK(mean_chi(r) == Approx(truth).epsilon(1e-12));
  }
  // E[chi_n] E[chi_(n+1)] = n.
  for (const std::ptrdiff_t n : {5, 70, 999, 5000, 60'000}) {
    CHECK(mean_chi(n) * mean_chi(n + 1) == Approx(static_cast<double>(n)).epsilon(1e-9));
  }
  try {
    (void)mean_chi(0);
    FAIL("nothing was thrown");
  } catch (const std::invalid_argument& error) {
    CHECK(std::string(error.what()) == "mean_chi: r is 0, must be 1 or more");
  }
}
