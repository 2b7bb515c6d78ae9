// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bpm/core/progress.hpp"
#include "bpm/kernels/kernel.hpp"
#include "common/chain_check.hpp"
#include "options.hpp"

namespace bpm_examples {

/// Kernel values and labels (1: digit 2, -1: digit 1) of the images.
struct TwoDigits {
  std::string source;                   ///< One line for the screen.
  bool drawn = false;                   ///< Not MNIST.
  bpm::RowMatrix<double> train_kernel;  ///< m x m.
  bpm::RowMatrix<double> test_kernel;   ///< n x m.
  std::vector<signed char> train_labels;
  std::vector<int> test_labels;
};

/// Random digits 1 and 2 of the training and the test images, the kernel (<x, x'> + 1)^5 on pixels
/// / 255. Throws as `load_digits`, and std::invalid_argument where there are not enough.
[[nodiscard]] TwoDigits make_two_digits(const SamplersOptions& options);

/// Test errors in percent of one sampler's classifiers, in the order in which they were drawn.
struct SampledErrors {
  std::vector<double> percent;
  unsigned chains = 1;        ///< Classifier n is of chain n mod chains.
  std::ptrdiff_t rank = 0;    ///< Dimension of the space that was sampled; 0: not known.
  double centre_percent = 0;  ///< Of the mean of the classifiers.
  ChainCheck chain_check;
  double seconds = 0;
  /// Correlation of the test errors of classifiers that follow each other in a chain.
  [[nodiscard]] double correlation() const;
};

struct SamplersResult {
  SampledErrors gibbs;
  SampledErrors perceptron;
  SampledErrors billiard;
};

/// Told of progress; false: stop.
using SamplersObserver = std::function<bool(const bpm::Progress&)>;

/// Draws from all three. Throws `bpm::Stopped` if stopped, `bpm::NotSeparable` where there is no
/// version space.
[[nodiscard]] SamplersResult run_samplers(const TwoDigits& digits, const SamplersOptions& options,
                                          const SamplersObserver& observer);

}  // namespace bpm_examples
