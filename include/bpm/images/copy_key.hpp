// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "bpm/core/random/engine.hpp"
#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// Which copy of which example of a training set, and by which seed: what alone decides how the
/// copy differs from the original. Copy 0 is the original.
struct CopyKey {
  std::uint64_t seed = 1;
  std::uint64_t example = 0;
  std::uint64_t copy = 0;

  /// Random word `place` of this copy: 64 bits, independent in practice of those of other places,
  /// copies, examples and seeds, and the same with every compiler. A transform takes its random
  /// numbers from here, in any order, or makes a `RandomEngine` of one.
  [[nodiscard]] constexpr std::uint64_t word(std::uint64_t place) const noexcept {
    return detail::mixed_word(base() + place * detail::golden_step);
  }

 private:
  [[nodiscard]] constexpr std::uint64_t base() const noexcept {
    // A step for each of the three, so that no two of them can stand in for each other.
    const std::uint64_t start = detail::mixed_word(seed + detail::golden_step);
    return detail::mixed_word(detail::mixed_word(start ^ (example * 0xD1342543DE82EF95ULL)) ^
                              (copy * 0xAEF17502108EF2D9ULL));
  }
};

}}  // namespace bpm
