// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "bpm/kernels/kernel.hpp"

namespace bpm_examples {

/// Kernel values of one split: all that any of the classifiers sees.
struct KernelSplit {
  bpm::RowMatrix<double> train;  ///< m x m.
  bpm::RowMatrix<double> test;   ///< n x m: test inputs with training inputs.
  std::vector<int> train_labels;
  std::vector<int> test_labels;
};

struct ComparisonSettings {
  double lambda = 0;  ///< Soft boundary: all train on K + lambda I.
  std::uint64_t seed = 1;
  std::uint64_t bounces = 0;           ///< Of the billiard.
  std::uint64_t perceptron_draws = 0;  ///< 0: no perceptrons.
  bool svm_with_bias = false;          ///< Also the support vector machine with a bias.
};

/// A support vector machine's part of it. It may fail to separate the training points: see
/// `train_svm`.
struct SvmOutcome {
  double error_percent = 0;
  std::size_t training_errors = 0;
};

/// Test errors in percent. A Bayes point is absent where version space was not found.
struct SplitOutcome {
  std::optional<double> bpm;
  std::optional<double> perceptron;
  SvmOutcome svm;                      ///< Through the origin.
  std::optional<SvmOutcome> svm_bias;  ///< With a bias.
  double standard_error = 0;           ///< Of the centre's direction, as the billiard reports it.
  std::uint64_t bounces = 0;           ///< That the billiard made after its burn-in.
};

/// Trains and tests the classifiers on one split, on one thread. The result depends on the
/// arguments alone.
[[nodiscard]] SplitOutcome compare(const KernelSplit& split, const ComparisonSettings& settings);

}  // namespace bpm_examples
