// SPDX-License-Identifier: MIT
#include "bpm/core/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "catch.hpp"
#include "statistics.hpp"

namespace {

/// Hands out a list of words, for the cases where the arithmetic can be done by hand.
struct Listed {
  using result_type = std::uint64_t;
  std::vector<std::uint64_t> words;
  std::size_t used = 0;

  static constexpr std::uint64_t min() { return 0; }
  static constexpr std::uint64_t max() { return ~std::uint64_t{0}; }
  std::uint64_t operator()() { return words.at(used++); }
};

struct Narrow {
  using result_type = std::uint32_t;
  static constexpr std::uint32_t min() { return 0; }
  static constexpr std::uint32_t max() { return ~std::uint32_t{0}; }
  std::uint32_t operator()() { return 4; }
};

struct FromOne : Listed {
  static constexpr std::uint64_t min() { return 1; }
};

}  // namespace

TEST_CASE("Random64 wants full-range 64-bit words", "[random][concepts]") {
  STATIC_REQUIRE(bpm::detail::Random64<Listed>);
  STATIC_REQUIRE(bpm::detail::Random64<bpm::RandomEngine>);
  STATIC_REQUIRE_FALSE(bpm::detail::Random64<Narrow>);
  STATIC_REQUIRE_FALSE(bpm::detail::Random64<FromOne>);
  STATIC_REQUIRE_FALSE(bpm::detail::Random64<int>);
}

TEST_CASE("uniform_unit takes the upper 53 bits", "[random]") {
  Listed words{{0, ~std::uint64_t{0}, std::uint64_t{1} << 63U, 1U << 11U, (1U << 11U) - 1}};
  CHECK(bpm::uniform_unit(words) == 0.0);
  CHECK(bpm::uniform_unit(words) == 1 - 0x1.0p-53);
  CHECK(bpm::uniform_unit(words) == 0.5);
  CHECK(bpm::uniform_unit(words) == 0x1.0p-53);
  CHECK(bpm::uniform_unit(words) == 0.0);
}

TEST_CASE("uniform_unit is uniform", "[random]") {
  bpm::RandomEngine engine(11);
  std::vector<double> sample(20000);
  for (double& value : sample) value = bpm::uniform_unit(engine);
  CHECK(test_support::kolmogorov_smirnov(sample, [](double x) { return x; }) <=
        test_support::kolmogorov_smirnov_bound);
}

TEST_CASE("uniform_below stays below its bound and reaches every value", "[random]") {
  bpm::RandomEngine engine(1);
  for (std::uint32_t bound = 1; bound <= 70; ++bound) {
    std::vector<long> counts(bound);
    const int draws = 400 * static_cast<int>(bound);
    for (int n = 0; n < draws; ++n) {
      const std::uint32_t value = bpm::uniform_below(engine, bound);
      REQUIRE(value < bound);
      ++counts[value];
    }
    if (bound > 1) {
      CHECK(test_support::chi_square(counts) <= test_support::chi_square_bound(bound - 1));
    }
  }
}

TEST_CASE("uniform_below refuses the words that would make it biased", "[random]") {
  // bound 3: 2^32 = 3 * 1431655765 + 1, so exactly one upper half, 0, is drawn again.
  Listed words{{0xFFFFFFFFULL, std::uint64_t{1} << 32U, std::uint64_t{5} << 60U}};
  CHECK(bpm::uniform_below(words, 3) == 0);  // Lower halves do not count: the first word is 0.
  CHECK(words.used == 2);
  CHECK(bpm::uniform_below(words, 3) == 0);  // 5 / 16 of 3.
  // A power of two accepts every word.
  Listed zero{{0}};
  CHECK(bpm::uniform_below(zero, 1U << 31U) == 0);
}

TEST_CASE("uniform_below is unbiased where a remainder would not be", "[random]") {
  // With 2^32 remainder bound, the lower third would come twice as often as the rest.
  constexpr std::uint32_t bound = 3221225472U;  // 3 / 4 of 2^32.
  bpm::RandomEngine engine(2);
  std::array<long, 12> counts{};
  std::uint32_t largest = 0;
  for (int n = 0; n < 60000; ++n) {
    const std::uint32_t value = bpm::uniform_below(engine, bound);
    REQUIRE(value < bound);
    largest = std::max(largest, value);
    ++counts[static_cast<std::size_t>(value / (bound / 12))];
  }
  CHECK(test_support::chi_square(counts) <= test_support::chi_square_bound(11));
  CHECK(largest > bound - bound / 1000);
}

TEST_CASE("normal draws follow the normal law", "[random]") {
  bpm::RandomEngine engine(5);
  bpm::NormalDraws normal;
  std::vector<double> sample(40000);
  for (double& value : sample) value = normal(engine);
  CHECK(test_support::kolmogorov_smirnov(sample, test_support::normal_distribution) <=
        test_support::kolmogorov_smirnov_bound);

  // The two draws of a pair are independent: their products have mean 0 and deviation 1.
  double sum = 0;
  for (std::size_t i = 0; i < sample.size(); i += 2) sum += sample[i] * sample[i + 1];
  const double pairs = static_cast<double>(sample.size()) / 2;
  CHECK(std::abs(sum / pairs) <= 5 / std::sqrt(pairs));

  // So are their squares: x^2 + y^2 is exponential with mean 2.
  std::vector<double> radii;
  for (std::size_t i = 0; i < sample.size(); i += 2) {
    radii.push_back(sample[i] * sample[i] + sample[i + 1] * sample[i + 1]);
  }
  CHECK(test_support::kolmogorov_smirnov(radii, [](double r) { return 1 - std::exp(-r / 2); }) <=
        test_support::kolmogorov_smirnov_bound);
}

TEST_CASE("the same engine gives the same normal draws", "[random]") {
  bpm::RandomEngine first(5);
  bpm::RandomEngine second(5);
  bpm::NormalDraws a;
  bpm::NormalDraws b;
  for (int n = 0; n < 101; ++n) REQUIRE(a(first) == b(second));
}

TEST_CASE("every order is equally likely", "[random]") {
  const std::size_t n = GENERATE(std::size_t{2}, std::size_t{3}, std::size_t{4});
  std::size_t orders = 1;
  for (std::size_t i = 2; i <= n; ++i) orders *= i;
  bpm::RandomEngine engine(7);
  std::map<std::vector<int>, long> seen;
  std::vector<int> values(n);
  for (std::size_t repeat = 0; repeat < 2000 * orders; ++repeat) {
    bpm::random_permutation(std::span(values), engine);
    ++seen[values];
  }
  REQUIRE(seen.size() == orders);
  std::vector<long> counts;
  for (const auto& [order, count] : seen) counts.push_back(count);
  CHECK(test_support::chi_square(counts) <= test_support::chi_square_bound(orders - 1));
}

TEST_CASE("a permutation holds every number once, also of sizes 0 and 1", "[random]") {
  bpm::RandomEngine engine(8);
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{1000}}) {
    std::vector<std::int32_t> values(n, -1);
    bpm::random_permutation(std::span(values), engine);
    std::sort(values.begin(), values.end());
    for (std::size_t i = 0; i < n; ++i) REQUIRE(values[i] == static_cast<std::int32_t>(i));
  }
}
