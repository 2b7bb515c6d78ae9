// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "bpm/core/members.hpp"
#include "bpm/core/random/engine.hpp"
#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// The generator a caller hands to a sampler: a seed and the number of the next stream.
///
/// Draw n of a run uses stream n and nothing else, so that draws can be made in any order, on any
/// number of threads, in one run or in several, and are the same draws. A sampler that makes N
/// draws advances `next` by N; handing the same object in again therefore continues the run.
struct RandomStreams {
  std::uint64_t seed = 1;  ///< Any value; there is no clock seed.
  std::uint64_t next = 0;  ///< The stream of the next draw.

  /// The engine of stream `index`; independent of `next`.
  [[nodiscard]] constexpr RandomEngine stream(std::uint64_t index) const noexcept {
    return RandomEngine(seed, index);
  }

  /// The seed is a setting.
  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("next", self.next, detail::Bound::counted);
  }

  friend constexpr bool operator==(const RandomStreams&, const RandomStreams&) = default;
};

}}  // namespace bpm
