// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bpm/core/progress.hpp"
#include "bpm/gaussian_process/selection/grid_search.hpp"
#include "common/even_odd.hpp"
#include "options.hpp"

namespace bpm_examples {

/// A kernel by its family and its one parameter.
struct KernelChoice {
  std::string family;    ///< "gaussian" or "arc-cosine".
  double parameter = 0;  ///< Sigma over the median distance; depth.
};

/// A kernel on one training subset: what the subset tells, and what the test digits do.
struct ScoredKernel {
  KernelChoice kernel;
  std::uint64_t subset = 0;
  bpm::KernelScore score;
  double centre_error = 1;      ///< Held out: centre-of-mass interpolator, by EP.
  double centroidal_error = 1;  ///< Held out: interpolator of the labels themselves.
};

/// What a criterion has chosen on one subset.
struct Choice {
  std::string criterion;  ///< "evidence", "c-bound" or "held-out" (which sees the test digits).
  std::string search;     ///< "grid" or "nlopt".
  std::uint64_t subset = 0;
  std::size_t evaluations = 0;
  ScoredKernel chosen;
};

struct SelectionResult {
  std::vector<ScoredKernel> kernels;  ///< The grids, subset by subset.
  std::vector<Choice> choices;
  double seconds = 0;
};

/// Told of progress; false: stop.
using SelectionObserver = std::function<bool(const bpm::Progress&)>;

/// Throws `bpm::Stopped` if stopped.
[[nodiscard]] SelectionResult run_selection(const EvenOdd& digits, const SelectionOptions& options,
                                            const SelectionObserver& observer);

}  // namespace bpm_examples
