// SPDX-License-Identifier: MIT
#include "bpm/decision/rejection.hpp"

#include <cmath>
#include <cstdint>

#include "catch.hpp"
#include "message_of.hpp"

using test_support::message_of;

namespace {

/// All terms, each by logarithms of factorials.
double sum_of_terms(std::uint64_t k, std::uint64_t n, double p) {
  const auto log_factorial = [](std::uint64_t a) {
    long double sum = 0;
    for (std::uint64_t i = 2; i <= a; ++i) sum += std::log(static_cast<long double>(i));
    return sum;
  };
  long double sum = 0;
  for (std::uint64_t j = 0; j <= k; ++j) {
    sum += std::exp(log_factorial(n) - log_factorial(j) - log_factorial(n - j) +
                    static_cast<long double>(j) * std::log(static_cast<long double>(p)) +
                    static_cast<long double>(n - j) * std::log1p(-static_cast<long double>(p)));
  }
  return static_cast<double>(sum);
}

}  // namespace

TEST_CASE("binomial probabilities are sums of their terms", "[decision]") {
  CHECK(bpm::binomial_cdf(3, 10, 0.5) == Approx(176.0 / 1024).epsilon(1e-14));
  CHECK(bpm::binomial_cdf(0, 4, 0.25) == Approx(81.0 / 256).epsilon(1e-14));
  CHECK(bpm::binomial_cdf(8, 10, 0.5) == Approx(1013.0 / 1024).epsilon(1e-14));
  CHECK(bpm::binomial_cdf(10, 10, 0.5) == 1);
  CHECK(bpm::binomial_cdf(12, 10, 0.5) == 1);
  CHECK(bpm::binomial_cdf(0, 10, 0) == 1);
  CHECK(bpm::binomial_cdf(9, 10, 1) == 0);
  CHECK(bpm::binomial_cdf(0, 0, 0.5) == 1);
  const std::uint64_t k = GENERATE(0, 1, 5, 19, 20, 21, 60);
  const double p = GENERATE(1e-3, 0.02, 0.1, 0.5, 0.9);
  CAPTURE(k, p);
  CHECK(bpm::binomial_cdf(k, 200, p) == Approx(sum_of_terms(k, 200, p)).epsilon(1e-11));
  // As many failures as trials less successes.
  CHECK(bpm::binomial_cdf(k, 200, p) ==
        Approx(1 - bpm::binomial_cdf(200 - k - 1, 200, 1 - p)).margin(1e-12));
}

TEST_CASE("binomial probabilities of many trials are nearly normal", "[decision]") {
  // With the continuity correction the error of the approximation is below 1e-4 here.
  const double n = 1e6;
  const double deviation = std::sqrt(n) / 2;
  for (const double z : {-3.0, -1.0, 0.0, 2.0}) {
    const auto k = static_cast<std::uint64_t>(n / 2 + z * deviation);
    const double normal = 0.5 * std::erfc(-(z + 0.5 / deviation) / std::sqrt(2.0));
    CHECK(bpm::binomial_cdf(k, 1000000, 0.5) == Approx(normal).margin(1e-5));
  }
}

TEST_CASE("the upper limit of an error rate is Clopper and Pearson's", "[decision]") {
  // Without an error (1 - p)^n = delta.
  CHECK(bpm::binomial_upper_limit(0, 299, 0.05) ==
        Approx(1 - std::pow(0.05, 1 / 299.0)).epsilon(1e-13));
  CHECK(bpm::binomial_upper_limit(7, 7, 0.05) == 1);
  CHECK(bpm::binomial_upper_limit(0, 0, 0.05) == 1);
  // All but one: p^n = 1 - delta.
  CHECK(bpm::binomial_upper_limit(9, 10, 0.05) == Approx(std::pow(0.95, 0.1)).epsilon(1e-12));
  // The published two-sided 95 % interval of 3 in 100 ends at 8.52 %.
  CHECK(bpm::binomial_upper_limit(3, 100, 0.025) == Approx(0.0852).margin(5e-5));
  const double limit = bpm::binomial_upper_limit(40, 60000, 0.01);
  CHECK(bpm::binomial_cdf(40, 60000, limit) <= 0.01);
  CHECK(bpm::binomial_cdf(40, 60000, limit * (1 - 1e-12)) > 0.01 * (1 - 1e-9));
  // With little confidence it lies below the share of errors.
  const double low = bpm::binomial_upper_limit(5, 10, 0.9);
  CHECK(low < 0.4);
  CHECK(bpm::binomial_cdf(5, 10, low) == Approx(0.9).epsilon(1e-9));
}

TEST_CASE("binomial probabilities refuse what is none", "[decision]") {
  CHECK(message_of([] { (void)bpm::binomial_cdf(1, 2, 1.5); }) ==
        "binomial_cdf: p is 1.5, must lie in [0, 1]");
  CHECK(message_of([] { (void)bpm::binomial_upper_limit(3, 2, 0.1); }) ==
        "binomial_upper_limit: errors is 3, must be at most the trials, 2");
  CHECK(message_of([] { (void)bpm::binomial_upper_limit(1, 2, 0); }) ==
        "binomial_upper_limit: delta is 0, must lie between 0 and 1");
}
