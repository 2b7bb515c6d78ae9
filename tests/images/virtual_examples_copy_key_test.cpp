// SPDX-License-Identifier: MIT
#include "bpm/images/virtual_examples.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <set>

#include "catch.hpp"
#include "statistics.hpp"

TEST_CASE("every seed, example, copy and place has a word of its own", "[images]") {
  std::set<std::uint64_t> words;
  std::size_t count = 0;
  for (std::uint64_t seed : {0, 1, 2, 3}) {
    for (std::uint64_t example = 0; example < 12; ++example) {
      for (std::uint64_t copy = 0; copy < 12; ++copy) {
        for (std::uint64_t place = 0; place < 12; ++place) {
          words.insert(bpm::CopyKey{seed, example, copy}.word(place));
          words.insert(bpm::CopyKey{seed, example, copy}.word((place + 1) << 32U));
          count += 2;
        }
      }
    }
  }
  // Of 14 000 random words of 64 bits two are equal with probability 5e-12.
  CHECK(words.size() == count);
}

TEST_CASE("words of copies are uniform in every part", "[images]") {
  // What changes is, in turn, the seed, the example, the copy and the place.
  constexpr int count = 1 << 16;
  for (int what = 0; what < 4; ++what) {
    std::array<std::array<long, 256>, 8> counts{};
    for (std::uint64_t n = 0; n < count; ++n) {
      const bpm::CopyKey key{what == 0 ? n : 1, what == 1 ? n : 5, what == 2 ? n : 7};
      std::uint64_t word = key.word(what == 3 ? n : 2);
      for (auto& part : counts) {
        ++part[word & 255U];
        word >>= 8U;
      }
    }
    for (const auto& part : counts) {
      INFO(what);
      CHECK(test_support::chi_square(part) < test_support::chi_square_bound(255));
    }
  }
}

TEST_CASE("a bit of seed, example, copy or place changes half of the word's bits", "[images]") {
  // The number of changed bits is binomial (64, 1/2), of variance 16: the mean of n has deviation
  // 4 / sqrt(n), five of which are the bound.
  constexpr int count = 2000;
  for (int what = 0; what < 4; ++what) {
    for (unsigned bit = 0; bit < 40; ++bit) {
      double changed = 0;
      for (std::uint64_t n = 0; n < count; ++n) {
        std::array<std::uint64_t, 4> numbers{n, n / 3, n % 11, n % 97};
        const auto word = [&] {
          return bpm::CopyKey{numbers[0], numbers[1], numbers[2]}.word(numbers[3]);
        };
        const std::uint64_t before = word();
        numbers[static_cast<std::size_t>(what)] ^= std::uint64_t{1} << bit;
        changed += std::popcount(before ^ word());
      }
      INFO("what " << what << ", bit " << bit);
      CHECK(std::abs(changed / count - 32) < 5 * 4 / std::sqrt(double{count}));
    }
  }
}
