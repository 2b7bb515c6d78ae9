// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace bpm::detail {

/// What ends one perceptron run, whoever makes it: `PermutedPerceptron`'s settings on a training
/// set of a certain size.
struct PerceptronLimits {
  std::uint64_t max_passes = 0;
  std::uint64_t max_steps = 0;     ///< Greedy order: mistakes a problem and draw.
  std::uint64_t max_mistakes = 0;  ///< A problem and draw; 0: no limit.
  double margin = 0;
  bool greedy = false;

  template <class Settings>
  [[nodiscard]] static PerceptronLimits of(const Settings& settings, std::ptrdiff_t points) {
    const auto m = static_cast<std::uint64_t>(points);
    constexpr std::uint64_t visits = 50'000'000;  // A second or so.
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t passes = settings.max_passes;
    // Greedy order: a step costs 2 m operations and, without rows in memory, m kernel evaluations.
    return {.max_passes = passes != 0 ? passes : std::max<std::uint64_t>(1000, visits / m),
            .max_steps = passes == 0         ? std::max(20 * m, visits / m)
                         : passes > most / m ? most
                                             : passes * m,
            .max_mistakes = settings.max_mistakes,
            .margin = settings.margin,
            .greedy = settings.order == decltype(settings.order)::greedy};
  }
};

enum class PerceptronOutcome { consistent, stopped, out_of_passes, out_of_mistakes };

}  // namespace bpm::detail
