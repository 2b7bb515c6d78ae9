// SPDX-License-Identifier: MIT
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "version_space_samplers/distribution.hpp"

using namespace bpm_examples;

TEST_CASE("Kolmogorov-Smirnov statistic of small samples", "[examples]") {
  CHECK(ks_statistic({1, 2, 3}, {3, 1, 2}) == 0);
  CHECK(ks_statistic({1, 2}, {3, 4}) == 1);
  CHECK(ks_statistic({3, 4}, {1, 2}) == 1);
  CHECK(ks_statistic({1, 3}, {2, 4}) == 0.5);
  // Ties step together: F = 1/4 against 3/4 at 1.
  CHECK(ks_statistic({1, 2, 2, 2}, {1, 1, 1, 2}) == 0.5);
  CHECK(ks_statistic({0}, {0, 0, 0, 1}) == 0.25);
  CHECK(std::abs(ks_critical(1000, 1000) - 0.0607) < 1e-4);
}

TEST_CASE("Quantiles are interpolated between order statistics", "[examples]") {
  const std::vector<double> values{1, 2, 4};
  CHECK(quantile(values, 0) == 1);
  CHECK(quantile(values, 0.25) == 1.5);
  CHECK(quantile(values, 0.5) == 2);
  CHECK(quantile(values, 0.75) == 3);
  CHECK(quantile(values, 1) == 4);
  CHECK(quantile(std::vector<double>{5}, 0.3) == 5);
}

TEST_CASE("Autocorrelation and counts", "[examples]") {
  CHECK(autocorrelation(std::vector<double>{1, 1, 1, 1}, 1) == 0);
  CHECK(autocorrelation(std::vector<double>{1, 2}, 3) == 0);
  CHECK(autocorrelation(std::vector<double>{1, -1, 1, -1}, 1) == -0.75);
  CHECK(autocorrelation(std::vector<double>{1, -1, 1, -1}, 2) == 0.5);
  const auto bars = count_values({3, 1, 3, 3});
  REQUIRE(bars.size() == 2);
  CHECK(bars[0].value == 1);
  CHECK(bars[0].count == 1);
  CHECK(bars[1].value == 3);
  CHECK(bars[1].count == 3);
}
