// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "bpm/core/target.hpp"

namespace bpm::inline BPM_TARGET {

/// A candidate and what became of it. Of expectation propagation, which chooses by the evidence:
/// `consistent` where it converged, `loss` is minus the log evidence a point, the rest is not
/// known.
struct ChoiceCandidate {
  std::size_t kernel = 0;      ///< In the list of what was tried.
  double relative_lambda = 0;  ///< lambda over k(x, x).
  double label_noise = 0;      ///< Of samplers that take it; their lambda is 0.
  /// Whether every fold's machine found a consistent classifier within the work allowed; all that
  /// follows is of those that did.
  bool consistent = false;
  double loss = std::numeric_limits<double>::infinity();  ///< Out-of-fold log loss, in nats.
  double standard_error = 0;                              ///< Of the loss.
  double slope = 0;                                       ///< Of the probabilities.
  std::vector<double> offsets{};  ///< Likewise, where there are class weights; see `fit_slope`.
  double error = 1;               ///< Out-of-fold share of errors.
};

/// How `SoftBoundary::automatic` came to its lambda, or label noise, and beside which
/// alternatives.
struct BoundaryChoice {
  double relative_lambda = 0;  ///< What the fit took: lambda_i over k(x_i, x_i).
  double label_noise = 0;      ///< What it took in its place, of samplers that take label noise.
  /// Of probabilities, out of fold, at what the fit took or the nearest smaller one that was tried;
  /// 0: not known. Of machines of `fold_rows` points, five draws each.
  double slope = 0;
  std::vector<double> offsets{};  ///< Beside the slope, where there are class weights.
  /// g in [0, 0.6]: the best slope grows with the number m of training points like m^g, by the
  /// slopes of machines of half as many points and of `fold_rows`. A fit of m points has the slope
  /// times (m / fold_rows)^g.
  double growth = 0;
  double fold_rows = 0;                       ///< Points that train a fold, on average.
  std::size_t points = 0;                     ///< On which the candidates were tried,
  double largest_class = 0;                   ///< and the share of the largest class among them.
  std::vector<ChoiceCandidate> candidates{};  ///< Ascending.
  /// How often it was raised beyond the choice, because no consistent classifier of the whole
  /// training set was found; by perceptrons within 200 passes, unless their settings say otherwise.
  unsigned raised = 0;
};

}  // namespace bpm
