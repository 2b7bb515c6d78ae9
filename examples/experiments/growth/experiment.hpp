// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bpm/core/progress.hpp"
#include "growth/options.hpp"

namespace bpm_examples {

/// What one size took.
struct GrowthResult {
  std::int64_t points = 0;
  double train_seconds = 0;
  double predict_seconds = 0;
  std::string strategy;
  std::uint64_t kernel_evaluations = 0;
  std::uint64_t mistakes = 0;
  double passes_mean = 0;
  std::uint64_t support = 0;
  std::size_t forecast_bytes = 0;     ///< Working memory beside the inputs, told before.
  std::size_t input_bytes = 0;        ///< Training and test digits.
  std::size_t peak_memory_bytes = 0;  ///< Of the process so far; sizes grow.
  double test_error_percent = 0;
};

/// Draws the digits of each size, which begin with those of the size before, trains and tests.
/// `progress(size, now)`; false ends the run. \throws `bpm::Stopped` if it was ended before the
/// first draw of a size, and as `bpm::OneVsRest::fit`.
[[nodiscard]] std::vector<GrowthResult> run_growth(
    const GrowthOptions& options,
    const std::function<bool(std::int64_t, const bpm::Progress&)>& progress);

}  // namespace bpm_examples
