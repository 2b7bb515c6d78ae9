// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "bpm/core/check.hpp"
#include "bpm/samplers/sampler.hpp"

namespace bpm::detail {

inline constexpr unsigned most_chains = 1024;

/// When a run of chains ends: what the chain samplers' settings have in common.
struct ChainBudget {
  std::optional<std::uint64_t> draws;  ///< Empty: 100, or with another budget no limit.
  std::uint64_t steps_per_draw = 0;
  std::uint64_t steps = 0;  ///< Of this run, all chains together; 0: no limit.
  double seconds = 0;       ///< 0: no limit.
  double accuracy = 0;      ///< Standard error, rad; 0: not asked for.
  unsigned chains = 1;

  /// What a sampler's settings say. `draws` stays empty only where another budget ends the run.
  template <class Settings>
  [[nodiscard]] static ChainBudget of(const Settings& settings, std::uint64_t steps_per_draw,
                                      std::uint64_t steps) {
    ChainBudget all{settings.draws,   steps_per_draw,    steps,
                    settings.seconds, settings.accuracy, settings.chains};
    if (!all.draws && steps == 0 && all.seconds == 0 && all.accuracy == 0) all.draws = 100;
    return all;
  }

  /// \throws std::invalid_argument on settings out of range; `step_name`: "bounces" or "steps".
  void check_settings(const ConePlan& plan, std::string_view step_name) const {
    const std::string_view function = plan.name;
    check(draws != 0U, function, "draws", "is 0, must be 1 or more, or empty to leave it to ",
          step_name, ", seconds or accuracy");
    check(steps_per_draw >= 1, function, join(step_name, "_per_draw"), "is 0, must be 1 or more");
    check(std::isfinite(seconds) && seconds >= 0, function, "seconds", "is ", seconds,
          ", must be finite and not negative");
    check(std::isfinite(accuracy) && accuracy >= 0, function, "accuracy", "is ", accuracy,
          ", must be finite and not negative");
    check(chains >= 1 && chains <= most_chains, function, "chains", "is ", chains,
          ", must be from 1 to 1024");
    check(
        plan.start == ConePlan::Start::largest_margin || plan.start == ConePlan::Start::perceptron,
        function, "start", "is ", static_cast<int>(plan.start),
        ", must be largest_margin or perceptron");
    check(plan.factor_tolerance >= 0 && plan.factor_tolerance < 1, function, "factor_tolerance",
          "is ", plan.factor_tolerance,
          ", must lie between 0 and 1 (0: chosen by the kernel's precision)");
    for (std::size_t i = 0; i < plan.start_coefficients.size(); ++i) {
      check(std::isfinite(plan.start_coefficients[i]), function, "start_coefficients", "at ", i,
            " is ", plan.start_coefficients[i], ", must be finite");
    }
  }
};

}  // namespace bpm::detail
