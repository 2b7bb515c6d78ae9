// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// A word of 64 bits for each word of 64 bits, such that every bit of the one hangs on all bits of
/// the other (the finaliser of SplitMix64, variant 13 of D. Stafford).
[[nodiscard]] constexpr std::uint64_t mixed_word(std::uint64_t z) noexcept {
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

/// Words that lie this far apart are well apart when mixed: SplitMix64 counts in it.
inline constexpr std::uint64_t golden_step = 0x9E3779B97F4A7C15ULL;

}  // namespace detail

/// xoshiro256++ (D. Blackman, S. Vigna, "Scrambled linear pseudorandom number generators", ACM
/// Trans. Math. Softw. 47(4), 2021): 64 bits a call, period 2^256 - 1, 32 bytes of state.
///
/// The state is filled from a (seed, stream) pair by SplitMix64, so that streams of one seed are
/// unrelated and the same pair gives the same numbers with every compiler and library. A
/// `std::uniform_random_bit_generator`.
class RandomEngine {
 public:
  using result_type = std::uint64_t;

  constexpr explicit RandomEngine(std::uint64_t seed = 1, std::uint64_t stream = 0) noexcept {
    // Two rounds of mixing keep (seed, stream) pairs such as (1, 2) and (2, 1) apart.
    std::uint64_t mix = seed;
    std::uint64_t start = next_splitmix(mix);
    mix = start ^ (stream * 0xD1342543DE82EF95ULL + 0x2545F4914F6CDD1DULL);
    for (auto& word : state_) {
      word = next_splitmix(mix);
    }
  }

  [[nodiscard]] static constexpr result_type min() noexcept { return 0; }
  [[nodiscard]] static constexpr result_type max() noexcept {
    return std::numeric_limits<result_type>::max();
  }

  constexpr result_type operator()() noexcept {
    const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17U;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  friend constexpr bool operator==(const RandomEngine&, const RandomEngine&) = default;

 private:
  static constexpr std::uint64_t next_splitmix(std::uint64_t& state) noexcept {
    state += detail::golden_step;
    return detail::mixed_word(state);
  }

  std::array<std::uint64_t, 4> state_{};
};

}}  // namespace bpm
