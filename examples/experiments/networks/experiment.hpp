// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <functional>
#include <vector>

#include "common/mnist_data.hpp"
#include "networks/options.hpp"
#include "networks/training.hpp"

namespace bpm_examples {

/// What the networks trained on one set of n digits do. Errors are parts of the test images; an
/// output or a sum of votes of exactly 0 is an error.
struct NetworksResult {
  Eigen::Index size = 0;        ///< n.
  double gibbs_error = 0;       ///< Mean over the small-margin networks.
  double bayes_error = 0;       ///< Of their majority.
  double half_bayes_error = 0;  ///< Of the majority of half as many: how much more voters would do.
  double large_margin_error = 0;
  double interpolator_error = 0;
  double balanced_interpolator_error = 0;  ///< Of the kernel of balanced networks.
  double large_margin_disagreement = 0;    ///< Large-margin network and majority.
  double interpolator_disagreement = 0;    ///< Interpolator and majority.
  double large_margin_interpolator_disagreement = 0;
  double large_margin_balanced_disagreement = 0;  ///< With the interpolator of that kernel.
  double label_scale = 0;                         ///< |K|^(1/(2n)), of the small-margin labels.
  double fitted = 0;          ///< Part of the small-margin networks without a training error.
  double training_error = 0;  ///< Their mean part of training errors.
  double relative_loss = 0;   ///< Mean of loss / root mean square label of theirs.
  double worst_relative_loss = 0;
  Fit large_margin;
  double seconds = 0;
};

/// Told of the part of the work that is done, from any thread, one at a time; false: stop.
using NetworksObserver = std::function<bool(double fraction)>;

/// The digits to choose from.
[[nodiscard]] Digits load_parity_digits(const NetworksOptions& options);

/// One result a size. \throws bpm::Stopped if stopped, std::invalid_argument where there are fewer
/// digits than asked for, what `interpolate` throws.
[[nodiscard]] std::vector<NetworksResult> run_networks(const Digits& digits,
                                                       const NetworksOptions& options,
                                                       const NetworksObserver& observer);

}  // namespace bpm_examples
