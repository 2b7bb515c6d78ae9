// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "common/chain_check.hpp"
#include "common/paired_t.hpp"
#include "data.hpp"
#include "options.hpp"

namespace bpm_examples {

/// The values of q.
inline constexpr std::array<double, 5> noise_levels{0.01, 0.02, 0.05, 0.1, 0.2};

/// A mean over splits.
struct SplitMean {
  double value = 0;
  double standard_error = 0;
};

/// The Gibbs sampler with one q.
struct NoiseResult {
  double noise = 0;
  SplitMean error_percent;     ///< Of the centre of mass, on test labels that are not flipped.
  PairedTest test;             ///< SVM - Gibbs, in percent.
  double training_errors = 0;  ///< Part of the noisy training labels that a draw contradicts.
  double log_evidence = 0;     ///< Mean over the evidence's splits.
  double log_evidence_se = 0;  ///< Of the estimate, not over splits.
  ChainCheck chains;
};

struct NoiseSetResult {
  std::string name;
  std::size_t train_size = 0;
  std::size_t test_size = 0;
  std::size_t flipped = 0;  ///< Training labels of each split.
  SplitMean svm_error_percent;
  double svm_cost = 0;  ///< Median of those that cross-validation chose.
  std::vector<NoiseResult> levels;
  std::size_t best = 0;  ///< The level of largest evidence.
};

/// Told of the part that is done; false: stop.
using NoiseObserver = std::function<bool(double fraction)>;

/// Five-fold cross-validation on the training part, its labels as they are: the C of fewest errors,
/// the smallest among equals.
[[nodiscard]] double choose_svm_cost(const NoisySplit& split, bpm::RandomEngine engine);

/// All sets. Empty if stopped.
[[nodiscard]] std::vector<NoiseSetResult> run_noise(const std::vector<NoiseSet>& sets,
                                                    const NoiseOptions& options,
                                                    const NoiseObserver& observer);

}  // namespace bpm_examples
