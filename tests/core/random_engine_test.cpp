// SPDX-License-Identifier: MIT
#include "bpm/core/random.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "catch.hpp"

namespace {

/// The published recurrence, written out from the paper's figure, on a given state.
struct Xoshiro {
  std::array<std::uint64_t, 4> s;

  static std::uint64_t rotate(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  std::uint64_t next() {
    const std::uint64_t result = rotate(s[0] + s[3], 23) + s[0];
    const std::uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
  }
};

/// SplitMix64 as published by S. Vigna.
struct SplitMix {
  std::uint64_t x;

  std::uint64_t next() {
    std::uint64_t z = (x += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
};

Xoshiro reference(std::uint64_t seed, std::uint64_t stream) {
  SplitMix first{seed};
  SplitMix second{first.next() ^ (stream * 0xD1342543DE82EF95 + 0x2545F4914F6CDD1D)};
  Xoshiro result{};
  for (auto& word : result.s) word = second.next();
  return result;
}

}  // namespace

TEST_CASE("the reference generators of these tests give the published numbers", "[random]") {
  Xoshiro xoshiro{{1, 2, 3, 4}};
  for (const std::uint64_t expected :
       {41943041ULL, 58720359ULL, 3588806011781223ULL, 3591011842654386ULL, 9228616714210784205ULL,
        9973669472204895162ULL, 14011001112246962877ULL, 12406186145184390807ULL,
        15849039046786891736ULL, 10450023813501588000ULL}) {
    CHECK(xoshiro.next() == expected);
  }
  SplitMix mix{1234567};
  for (const std::uint64_t expected : {6457827717110365317ULL, 3203168211198807973ULL,
                                       9817491932198370423ULL, 4593380528125082431ULL}) {
    CHECK(mix.next() == expected);
  }
}

TEST_CASE("the engine is xoshiro256++ seeded by SplitMix64", "[random]") {
  for (const std::uint64_t seed : {0ULL, 1ULL, 42ULL, ~0ULL}) {
    for (const std::uint64_t stream : {0ULL, 1ULL, 2ULL, 1000000ULL, ~0ULL}) {
      bpm::RandomEngine engine(seed, stream);
      Xoshiro expected = reference(seed, stream);
      for (int n = 0; n < 100; ++n) {
        REQUIRE(engine() == expected.next());
      }
    }
  }
}

TEST_CASE("the engine is a generator of all 64 bits, also in constant expressions", "[random]") {
  STATIC_REQUIRE(bpm::detail::Random64<bpm::RandomEngine>);
  STATIC_REQUIRE(std::uniform_random_bit_generator<bpm::RandomEngine>);
  constexpr auto first = [] {
    bpm::RandomEngine engine(7, 3);
    return engine();
  }();
  bpm::RandomEngine engine(7, 3);
  CHECK(engine() == first);
}

TEST_CASE("default seed and stream", "[random]") {
  CHECK(bpm::RandomEngine() == bpm::RandomEngine(1, 0));
  CHECK(bpm::RandomEngine(5) == bpm::RandomEngine(5, 0));
}

TEST_CASE("equal engines stay equal, and drawing changes an engine", "[random]") {
  bpm::RandomEngine a(3, 4);
  bpm::RandomEngine b(3, 4);
  CHECK(a == b);
  static_cast<void>(a());
  CHECK_FALSE(a == b);
  static_cast<void>(b());
  CHECK(a == b);
}

TEST_CASE("neighbouring and swapped seeds and streams start apart", "[random]") {
  std::set<std::uint64_t> firsts;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    for (std::uint64_t stream = 0; stream < 64; ++stream) {
      firsts.insert(bpm::RandomEngine(seed, stream)());
    }
  }
  CHECK(firsts.size() == 64 * 64);
}

TEST_CASE("different streams and seeds are uncorrelated", "[random]") {
  // The correlation of n independent pairs is normal with deviation 1 / sqrt(n); 6 deviations.
  constexpr int n = 4000;
  const auto column = [](std::uint64_t seed, std::uint64_t stream) {
    bpm::RandomEngine engine(seed, stream);
    std::vector<double> values(n);
    for (double& value : values) value = bpm::uniform_unit(engine) - 0.5;
    return values;
  };
  std::vector<std::vector<double>> columns;
  for (std::uint64_t stream = 0; stream < 12; ++stream) columns.push_back(column(1, stream));
  for (std::uint64_t seed = 2; seed < 12; ++seed) columns.push_back(column(seed, 0));
  for (std::size_t a = 0; a < columns.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += columns[a][i] * columns[b][i];
      REQUIRE(std::abs(12 * sum / n) <= 6 / std::sqrt(double{n}));
    }
  }
}

TEST_CASE("a stream is the engine of its seed and number, whatever comes next", "[random]") {
  const bpm::RandomStreams fresh{.seed = 9, .next = 0};
  const bpm::RandomStreams later{.seed = 9, .next = 5};
  CHECK(fresh.stream(3) == bpm::RandomEngine(9, 3));
  CHECK(later.stream(3) == fresh.stream(3));
  CHECK_FALSE(fresh.stream(4) == fresh.stream(3));
  CHECK_FALSE(bpm::RandomStreams{.seed = 10, .next = 0}.stream(3) == fresh.stream(3));
}

TEST_CASE("streams are values", "[random]") {
  STATIC_REQUIRE(bpm::RandomStreams{} == bpm::RandomStreams{.seed = 1, .next = 0});
  STATIC_REQUIRE_FALSE(bpm::RandomStreams{} == bpm::RandomStreams{.seed = 1, .next = 1});
}
