// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "bpm/core/check.hpp"

namespace bpm {

/// What an ensemble of classifiers says at n inputs: for each the share of it that votes for the
/// positive class, E_w 1[f(x; w) > 0].
struct Votes {
  Eigen::VectorXd positive;  ///< n shares, 0 to 1.
  /// How many classifiers of equal weight the shares are means over, or would be as good as; 0:
  /// infinitely many, the shares are exact.
  std::uint64_t voters = 0;
  /// Whether each classifier's vote is a share itself, because part of the randomness has been
  /// integrated out (`PosteriorEnsemble`); else votes are 0 or 1.
  bool integrated = false;

  /// The Bayes classifier: +1 where more than half of the ensemble says so, else -1.
  [[nodiscard]] int majority(Eigen::Index i) const { return positive[i] > 0.5 ? 1 : -1; }
};

/// The votes of single classifiers from their outputs, an input a row and a classifier a column;
/// 0 counts as negative. `weights`: one a classifier, not negative; empty: all the same.
/// \throws std::invalid_argument without classifiers, if sizes disagree, on outputs that are not
///         finite, or if weights are negative or all zero.
[[nodiscard]] inline Votes votes_of_outputs(const Eigen::Ref<const Eigen::MatrixXd>& outputs,
                                            std::span<const double> weights = {}) {
  const char* const f = "votes_of_outputs";
  detail::check(outputs.cols() > 0, f, "outputs", "have no column, expected one per classifier");
  detail::check(outputs.allFinite(), f, "outputs", "hold a number that is not finite");
  if (!weights.empty()) {
    detail::check_size(f, "weights", weights.size(), outputs.cols(), "one per classifier");
  }
  Votes votes;
  votes.positive.setZero(outputs.rows());
  double total = 0;
  double squares = 0;
  for (Eigen::Index n = 0; n < outputs.cols(); ++n) {
    const double weight = weights.empty() ? 1.0 : weights[static_cast<std::size_t>(n)];
    detail::check(weight >= 0 && std::isfinite(weight), f, "weights", "hold ", weight,
                  " at classifier ", n, ", must be finite and not negative");
    for (Eigen::Index i = 0; i < outputs.rows(); ++i) {
      votes.positive[i] += outputs(i, n) > 0 ? weight : 0.0;
    }
    total += weight;
    squares += weight * weight;
  }
  detail::check(total > 0, f, "weights", "are all zero");
  votes.positive /= total;
  // Kish's effective number, rounded down but for the rounding of the sums.
  votes.voters = static_cast<std::uint64_t>(total * total / squares * (1 + 1e-12));
  return votes;
}

}  // namespace bpm
