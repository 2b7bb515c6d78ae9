// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bpm/detail/check.hpp"
#include "bpm/samplers/start.hpp"

namespace bpm::detail {

inline constexpr unsigned most_chains = 1024;

/// When a run of chains ends and where it begins: what the chain samplers' settings have in common.
struct ChainBudget {
  std::uint64_t draws = 0;  ///< 0: no limit.
  std::uint64_t steps_per_draw = 0;
  std::uint64_t steps = 0;  ///< Of this run, all chains together; 0: no limit.
  double seconds = 0;       ///< 0: no limit.
  double accuracy = 0;      ///< Standard error, rad; 0: not asked for.
  unsigned chains = 1;
  Start start = Start::largest_margin;
  std::span<const double> start_coefficients;
  double factor_tolerance = 0;
  bool may_be_outside = false;  ///< Noise: states need not be consistent.

  /// \throws std::invalid_argument on settings out of range; `step_name`: "bounces" or "steps".
  void check_settings(std::string_view function, std::string_view step_name) const {
    check(draws > 0 || steps > 0 || seconds > 0 || accuracy > 0, function, "draws",
          "is 0 and there is no other budget: set draws, ", step_name, ", seconds or accuracy");
    check(steps_per_draw >= 1, function, join(step_name, "_per_draw"), "is 0, must be 1 or more");
    check(std::isfinite(seconds) && seconds >= 0, function, "seconds", "is ", seconds,
          ", must be finite and not negative");
    check(std::isfinite(accuracy) && accuracy >= 0, function, "accuracy", "is ", accuracy,
          ", must be finite and not negative");
    check(chains >= 1 && chains <= most_chains, function, "chains", "is ", chains,
          ", must be from 1 to 1024");
    check(start == Start::largest_margin || start == Start::perceptron, function, "start", "is ",
          static_cast<int>(start), ", must be largest_margin or perceptron");
    check(factor_tolerance >= 0 && factor_tolerance < 1, function, "factor_tolerance", "is ",
          factor_tolerance, ", must lie between 0 and 1 (0: chosen by the kernel's precision)");
    for (std::size_t i = 0; i < start_coefficients.size(); ++i) {
      check(std::isfinite(start_coefficients[i]), function, "start_coefficients", "at ", i, " is ",
            start_coefficients[i], ", must be finite");
    }
  }
};

}  // namespace bpm::detail
