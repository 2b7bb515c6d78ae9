// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "bpm/bounds/gibbs_bound.hpp"
#include "bpm/bounds/relative_entropy.hpp"
#include "bpm/core/check.hpp"
#include "bpm/decision/votes.hpp"

namespace bpm {

/// An upper bound on the error of an ensemble's majority vote, and of any classifier by how often
/// it differs from the vote. Lemma 4 of "Kernel Interpolation as a Bayes Point Machine": a
/// classifier errs where the vote errs or where they differ, so that its error is at most the
/// vote's plus Delta, the share of inputs on which they differ; that share needs no labels.
struct VoteBound {
  /// From the vote's error, or a bound on it, and Delta; 0 for the vote itself.
  /// \throws std::invalid_argument unless both lie in [0, 1].
  explicit VoteBound(double error_of_vote, double differs = 0)
      : vote_error(error_of_vote), disagreement(differs) {
    detail::check_probability(vote_error, "VoteBound", "vote_error");
    detail::check_probability(disagreement, "VoteBound", "disagreement");
  }

  /// Lemma 1: where the majority errs, half of the ensemble does, so that the vote errs at most
  /// twice as often as a voter, in any ensemble. A bound on the Gibbs error may stand in its place,
  /// and keeps its confidence.
  /// \throws std::invalid_argument unless both lie in [0, 1].
  [[nodiscard]] static VoteBound from_gibbs_error(double gibbs_error, double disagreement = 0) {
    detail::check_probability(gibbs_error, "VoteBound", "gibbs_error");
    return VoteBound(std::min(1.0, 2 * gibbs_error), disagreement);
  }

  /// The bound by the vote: twice a Gibbs bound (Lemma 1), and an upper limit of how often the
  /// classifier of these outputs differs from the vote of the same posterior (Lemma 4). It holds
  /// for the classifier that was computed, whatever it stands for, with probability 1 - `delta`
  /// over the training sample, the estimate of the complexity, and the inputs with their voters.
  ///
  /// `votes` and `outputs` (0 counts as negative) are at n independent inputs that took no part in
  /// the training and need no labels. Delta's limit takes the share c.inputs of the bound's
  /// confidence c: half of it for the voters, whose shares are all within
  /// sqrt(log(2 n / (c.inputs / 2)) / (2 V)) of the ensemble's (Hoeffding, for all inputs at once),
  /// so that inputs nearer to one half than that count as different; half for the inputs, by the
  /// Chernoff bound (`kl_upper_inverse`). V is the number of independent voters: draws of a chain
  /// are worth fewer than they are. 0: the shares are exact.
  /// \throws std::invalid_argument without inputs, if sizes disagree, or unless the Gibbs bound has
  ///         a confidence for inputs, and V is 0 or 2 and more.
  [[nodiscard]] static VoteBound certified(const GibbsBound& gibbs, const Votes& votes,
                                           const Eigen::Ref<const Eigen::VectorXd>& outputs,
                                           std::uint64_t independent_voters) {
    const char* const f = "VoteBound::certified";
    detail::check_delta(gibbs.confidence.inputs, f, "confidence.inputs");
    detail::check(independent_voters != 1, f, "independent_voters", "is 1, must be 0 or 2 or more");
    const auto count = static_cast<double>(outputs.size());
    const bool exact = independent_voters == 0;
    const double delta = exact ? gibbs.confidence.inputs : gibbs.confidence.inputs / 2;
    const double doubt = exact ? 0
                               : std::sqrt(std::log(2 * count / delta) /
                                           (2 * static_cast<double>(independent_voters)));
    const double share = votes.disagreement(outputs, doubt);
    VoteBound bound =
        from_gibbs_error(gibbs.value(), kl_upper_inverse(share, -std::log(delta) / count));
    bound.delta = gibbs.confidence.total();
    return bound;
  }

  double vote_error;
  double disagreement;  ///< Delta.
  double delta = 0;     ///< Where certified: what it may fail with.

  [[nodiscard]] double value() const noexcept { return vote_error + disagreement; }
  /// Whether it says nothing: 1 or more.
  [[nodiscard]] bool vacuous() const noexcept { return value() >= 1; }
};

}  // namespace bpm
