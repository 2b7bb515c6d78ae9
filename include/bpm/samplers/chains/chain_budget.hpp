// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/samplers/chains/start.hpp"

namespace bpm::detail {

inline constexpr unsigned most_chains = 1024;

/// When a run of chains ends and where it begins: what the chain samplers' settings have in common.
struct ChainBudget {
  std::optional<std::uint64_t> draws;  ///< Empty: 100, or with another budget no limit.
  std::uint64_t steps_per_draw = 0;
  std::uint64_t steps = 0;  ///< Of this run, all chains together; 0: no limit.
  double seconds = 0;       ///< 0: no limit.
  double accuracy = 0;      ///< Standard error, rad; 0: not asked for.
  unsigned chains = 1;
  Start start = Start::largest_margin;
  std::span<const double> start_coefficients;
  double factor_tolerance = 0;
  bool may_be_outside = false;  ///< Noise: states need not be consistent.
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();

  [[nodiscard]] double seconds_used() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  /// Leaves `draws` empty only where another budget ends the run.
  void choose_draws() {
    if (!draws && steps == 0 && seconds == 0 && accuracy == 0) draws = 100;
  }

  /// \throws std::invalid_argument on settings out of range; `step_name`: "bounces" or "steps".
  void check_settings(std::string_view function, std::string_view step_name) const {
    check(draws != 0U, function, "draws", "is 0, must be 1 or more, or empty to leave it to ",
          step_name, ", seconds or accuracy");
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
