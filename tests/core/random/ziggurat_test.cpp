// SPDX-License-Identifier: MIT
#include "bpm/core/random/ziggurat.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bpm/core/random/engine.hpp"
#include "catch.hpp"
#include "statistics.hpp"

namespace {

std::vector<double> sample(std::size_t count, std::uint64_t seed) {
  bpm::RandomEngine engine(seed, 103);
  std::vector<double> values(count);
  bpm::detail::Ziggurat::instance().fill(values.data(), std::ssize(values), engine);
  return values;
}

}  // namespace

TEST_CASE("bulk normal numbers have the normal law") {
  CHECK(test_support::kolmogorov_smirnov(sample(400'000, 1), test_support::normal_distribution) <
        test_support::kolmogorov_smirnov_bound);
}

TEST_CASE("bulk normal numbers have the normal law in the tails, on both sides") {
  // Given |x| > 3.4: the last layers and the tail beyond 3.65.
  const double sign = GENERATE(-1.0, 1.0);
  constexpr double from = 3.4;
  std::vector<double> far;
  constexpr std::size_t count = 4'000'000;
  for (const double x : sample(count, 2)) {
    if (sign * x > from) far.push_back(sign * x);
  }
  const double mass = test_support::normal_distribution(-from);
  const double expected = mass * static_cast<double>(count);
  CHECK(std::abs(static_cast<double>(far.size()) - expected) < 5 * std::sqrt(expected));
  const auto law = [&](double x) { return 1 - test_support::normal_distribution(-x) / mass; };
  CHECK(test_support::kolmogorov_smirnov(far, law) < test_support::kolmogorov_smirnov_bound);
}

TEST_CASE("neighbours among bulk normal numbers are unrelated") {
  const std::vector<double> x = sample(400'001, 3);
  double product = 0;
  double squares = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    product += x[i] * x[i + 1] / 400'000;
    squares += (x[i] * x[i] - 1) * (x[i + 1] * x[i + 1] - 1) / 400'000;
  }
  CHECK(std::abs(product) < 5 / std::sqrt(400'000.0));
  CHECK(std::abs(squares) < 10 / std::sqrt(400'000.0));
}
