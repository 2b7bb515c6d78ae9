// SPDX-License-Identifier: MIT
#pragma once

#include "bpm/bounds/relative_entropy.hpp"

namespace bpm {

/// An upper bound on the error of an ensemble's majority vote: twice the Gibbs error.
struct BayesBound {
  double gibbs_error = 0;

  [[nodiscard]] double value() const noexcept { return 2 * gibbs_error; }
  /// Whether it says nothing: 1 or more.
  [[nodiscard]] bool vacuous() const noexcept { return value() >= 1; }
};

/// Lemma 1 of "Kernel Interpolation as a Bayes Point Machine": where the majority errs, half of the
/// ensemble does, so that the Bayes error is at most twice the Gibbs error, for any ensemble. A
/// bound on the Gibbs error may stand in its place, and keeps its confidence.
/// \throws std::invalid_argument unless the error lies in [0, 1].
[[nodiscard]] inline BayesBound bayes_bound(double gibbs_error) {
  detail::check_probability(gibbs_error, "bayes_bound", "gibbs_error");
  return {gibbs_error};
}

/// An upper bound on the error of a Bayes point from that of the vote which it stands for.
struct CentreBound {
  double bayes_error = 0;
  double disagreement = 0;  ///< Delta.

  [[nodiscard]] double value() const noexcept { return bayes_error + disagreement; }
  /// Whether it says nothing: 1 or more.
  [[nodiscard]] bool vacuous() const noexcept { return value() >= 1; }
};

/// Lemma 4: the Bayes point errs where the vote errs or where they disagree, so that its error is
/// at most the Bayes error plus Delta, the share of inputs on which Bayes point and vote disagree.
/// Needs no labels but for the Bayes error.
/// \throws std::invalid_argument unless both lie in [0,
/// 1].
[[nodiscard]] inline CentreBound centre_bound(double bayes_error, double disagreement) {
  detail::check_probability(bayes_error, "centre_bound", "bayes_error");
  detail::check_probability(disagreement, "centre_bound", "disagreement");
  return {bayes_error, disagreement};
}

}  // namespace bpm
