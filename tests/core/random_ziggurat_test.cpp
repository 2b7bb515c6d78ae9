// SPDX-License-Identifier: MIT
#include "bpm/core/random.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "catch.hpp"
#include "statistics.hpp"

namespace {

std::vector<double> sample(std::size_t count, std::uint64_t seed) {
  bpm::RandomEngine engine(seed, 103);
  std::vector<double> values(count);
  bpm::detail::Ziggurat::instance().fill(values.data(), std::ssize(values), engine);
  return values;
}

/// Words that lead to the tail beyond the last layer: layer 0, and as far out as a word can be.
struct TailFirst {
  using result_type = std::uint64_t;
  bpm::RandomEngine rest;
  std::uint64_t first;

  static constexpr result_type min() { return bpm::RandomEngine::min(); }
  static constexpr result_type max() { return bpm::RandomEngine::max(); }
  result_type operator()() {
    const std::uint64_t word = first != 0 ? first : rest();
    first = 0;
    return word;
  }
};

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

TEST_CASE("the tail beyond the last layer has the normal law, also far out") {
  const auto [word, sign] = GENERATE(table<std::uint64_t, double>(
      {{0x7fff'ffff'ffff'ff00U, 1.0}, {0x8000'0000'0000'0000U, -1.0}}));
  constexpr double begin = 3.6541528853610088;
  TailFirst engine{bpm::RandomEngine(4, 103), 0};
  std::vector<double> tail(400'000);
  for (double& x : tail) {
    engine.first = word;
    bpm::detail::Ziggurat::instance().fill(&x, 1, engine);
    x *= sign;
  }
  for (const double from : {begin, 4.0, 4.5, 5.0}) {
    std::vector<double> far;
    for (const double x : tail) {
      if (x >= from) far.push_back(x);
    }
    const double mass = test_support::normal_distribution(-from);
    const double expected = mass / test_support::normal_distribution(-begin) * 400'000;
    CAPTURE(from, sign);
    CHECK(std::abs(static_cast<double>(far.size()) - expected) <= 5 * std::sqrt(expected));
    const auto law = [&](double x) { return 1 - test_support::normal_distribution(-x) / mass; };
    CHECK(test_support::kolmogorov_smirnov(far, law) < test_support::kolmogorov_smirnov_bound);
  }
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
