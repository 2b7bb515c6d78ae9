// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "bpm/bounds/gibbs_bound.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/decision/votes.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// An upper bound on the error of an ensemble's majority vote, and of any classifier by how often
/// it differs from the vote. Lemma 4 of "Kernel Interpolation as a Bayes Point Machine": a
/// classifier errs where the vote errs or where they differ, so that its error is at most the
/// vote's plus Delta, the share of inputs on which they differ; that share needs no labels.
struct VoteBound {
  /// Uses the vote's error, or a bound on it, and Delta, which is 0 for the vote itself.
  /// \throws std::invalid_argument unless both lie in [0, 1].
  explicit VoteBound(double error_of_vote, double differs = 0)
      : vote_error(error_of_vote), disagreement(differs) {
    detail::check_probability("VoteBound", "vote_error", vote_error);
    detail::check_probability("VoteBound", "disagreement", disagreement);
  }

  /// Lemma 1: where the majority errs, half of the ensemble does, so that the vote errs at most
  /// twice as often as a voter, in any ensemble. `gibbs_error` may be a bound; its confidence then
  /// holds for the result.
  /// \throws std::invalid_argument unless both lie in [0, 1].
  [[nodiscard]] static VoteBound from_gibbs_error(double gibbs_error, double disagreement = 0) {
    detail::check_probability("VoteBound", "gibbs_error", gibbs_error);
    return VoteBound(std::min(1.0, 2 * gibbs_error), disagreement);
  }

  /// Bounds the error by the vote: twice a Gibbs bound (Lemma 1), plus an upper limit of how often
  /// the classifier of these outputs differs from the vote of the same posterior (Lemma 4). It
  /// holds for any classifier with these outputs, with probability 1 - `delta` over the training
  /// sample, the estimate of the complexity, and the inputs with their voters.
  ///
  /// `votes` and `outputs` (0 counts as negative) are at n independent inputs that took no part in
  /// the training and need no labels. The limit of Delta uses the share c.inputs of the bound's
  /// confidence c. Half of it covers the voters, whose shares are all within sqrt(log(2 n /
  /// (c.inputs / 2)) / (2 V)) of the ensemble's (Hoeffding, for all inputs at once), so that inputs
  /// nearer to one half than that count as different; the other half covers the inputs, by the
  /// Chernoff bound (`kl_upper_inverse`). V is the number of independent voters: draws of a chain
  /// count for fewer. 0: the shares are exact.
  /// \throws std::invalid_argument without inputs, if sizes disagree, or unless the Gibbs bound has
  ///         a confidence for inputs, and V is 2 to `votes.voters`; where that is 0, V is 0 or 2
  ///         and more.
  [[nodiscard]] static VoteBound certified(const GibbsBound& gibbs, const Votes& votes,
                                           const Eigen::Ref<const Eigen::VectorXd>& outputs,
                                           std::uint64_t independent_voters);

  double vote_error;    ///< Error of the majority vote, or an upper limit.
  double disagreement;  ///< Delta, the share of inputs on which the two differ.
  double delta = 0;     ///< If certified: probability that the bound fails.

  /// Bound on the classifier's error: the sum of both terms, which may exceed 1.
  [[nodiscard]] double value() const noexcept { return vote_error + disagreement; }
  /// True if the bound is vacuous: 1 or more.
  [[nodiscard]] bool vacuous() const noexcept { return value() >= 1; }
};

/// An upper bound on the error of an ensemble's majority vote, or of its Bayes point, from the
/// Gibbs error and the agreement.
///
/// Lemmas 5 and 6 of "Kernel Interpolation as a Bayes Point Machine", the first the C-bound of
/// A. Lacasse et al., NIPS 19, 2007: the majority vote errs at most at a rate of
///
///     1 - (1 - 2 e)^2 / alpha,   alpha = E_x[ (E_w sign f(x; w))^2 ],
///
/// for e < 1/2, and the Bayes point at most Delta more often. The bound grows with alpha and with
/// e: upper limits of both give a bound that holds if both limits do. From rates of `Votes` on
/// labelled inputs it describes the ensemble on these inputs, where it holds exactly, and no
/// others.
struct CBound {
  /// \throws std::invalid_argument unless the rates lie in [0, 1] and the agreement is positive
  ///         where e < 1/2.
  CBound(double rate_of_voters, double alpha, double differs = 0)
      : gibbs_error(rate_of_voters), agreement(alpha), disagreement(differs) {
    const char* const f = "CBound";
    detail::check_probability(f, "gibbs_error", gibbs_error);
    detail::check_probability(f, "agreement", agreement);
    detail::check_probability(f, "disagreement", disagreement);
    detail::check(
        agreement > 0 || gibbs_error >= 0.5, f, "agreement",
        "is 0, must be positive: a vote that is tied everywhere has Gibbs error 1/2, not ",
        gibbs_error);
  }

  /// Uses a bound on the Gibbs error and an upper limit of the agreement of the same posterior. The
  /// limit must hold with the bound's `confidence.inputs`, for example `kl_upper_inverse(mean,
  /// log(1 / delta) / n)` of the squared mean signs at n independent inputs without labels: the
  /// Chernoff bound holds for any numbers in [0, 1] (exact signs, or estimates by voters drawn for
  /// each input, which only raise the mean). Vacuous if the Gibbs bound is 1/2 or more. For the
  /// Bayes point instead of the vote, pass an upper limit of Delta: by the same inverse if the
  /// majority is known exactly (count its delta), or by the method of `VoteBound::certified` if
  /// voters estimate it.
  /// \throws std::invalid_argument unless the bound has a confidence for inputs, and both limits
  ///         are in [0, 1], the agreement positive.
  [[nodiscard]] static CBound certified(const GibbsBound& gibbs, double agreement,
                                        double disagreement = 0) {
    detail::check_delta("CBound", "confidence.inputs", gibbs.confidence.inputs);
    CBound bound(gibbs.value(), agreement, disagreement);
    bound.delta = gibbs.confidence.total();
    return bound;
  }

  double gibbs_error;   ///< Gibbs error e, or an upper limit.
  double agreement;     ///< Gibbs agreement alpha, or an upper limit.
  double disagreement;  ///< Delta between Bayes point and vote; 0 for the vote itself.
  double delta = 0;     ///< If certified: probability that the bound fails.

  /// True if the inequality applies: the Gibbs error is below 1/2. Else the bound is vacuous.
  [[nodiscard]] bool applies() const noexcept { return gibbs_error < 0.5; }
  /// True if the two numbers can belong to one ensemble: (1 - 2 e)^2 <= alpha (Jensen), up to
  /// rounding. Estimates from different inputs may violate it by their errors; the bound without
  /// Delta is then below zero and counted as 0; of certified limits one has failed.
  [[nodiscard]] bool consistent() const noexcept {
    return !applies() || share() <= agreement * (1 + 1e-12);
  }
  /// The bound: in [0, 1] for the vote, 1 where the inequality does not apply; plus Delta. 1 for
  /// certified limits that contradict each other.
  [[nodiscard]] double value() const noexcept {
    if (delta > 0 && !consistent()) {
      return 1;
    }
    return (applies() ? std::max(0.0, 1 - share() / agreement) : 1.0) + disagreement;
  }
  /// True if the bound is vacuous: 1 or more.
  [[nodiscard]] bool vacuous() const noexcept { return value() >= 1; }

 private:
  [[nodiscard]] double share() const noexcept {
    return (1 - 2 * gibbs_error) * (1 - 2 * gibbs_error);
  }
};

/// An upper bound on the error of any one classifier c by its margins under an ensemble,
///
///     P(c wrong) <= e / t + E[(1 - b / t)_+ - (1 - b) / (2 t)],   0 < t <= 1,
///
/// e the ensemble's Gibbs error, b(x) = c(x) m(x) the margin, m(x) in [-1, 1] the mean sign of the
/// voters at x: inputs without labels suffice. If c is the vote, b = |m|, and this is the bound of
/// M. Amini, F. Laviolette, N. Usunier, "A transductive bound for the voted classifier with an
/// application to semi-supervised learning", NIPS 21, 2008; at t = 1 and b = 1, e. For another
/// classifier, such as a Bayes point, it needs no limit of how often that differs from the vote.
///
/// Proof: where c is right, the share of voters that err is (1 - b) / 2, elsewhere (1 + b) / 2, so
/// that E[b; c wrong] = e - E[(1 - b) / 2]; and 1 <= b / t + (1 - b / t)_+.
///
/// t is the best of ten values that are fixed beforehand.
struct VoteMarginBound {
  /// Computes the bound on the given inputs from e and their margins b.
  /// \throws std::invalid_argument without margins, or unless they lie in [-1, 1] and e in [0, 1].
  VoteMarginBound(double gibbs_error_rate, const Eigen::Ref<const Eigen::VectorXd>& margins);

  /// Bounds the error for the distribution of n independent inputs that took no part in the
  /// training. The ten values of t share the Gibbs bound's `confidence.inputs` c, c / 10 each. V =
  /// 0: the margins are exact, and the mean over inputs has the limit of the Chernoff bound
  /// (`kl_upper_inverse`). Otherwise they are means over V independent voters that all inputs share
  /// and that did not make c, and half of the share covers the voters: the summand is convex in b,
  /// so that their chance only raises its expectation, and one voter moves it by 1 / (t V) at most,
  /// so that it is below by sqrt(log(1 / share) / (2 V)) / t with that probability (C. McDiarmid,
  /// 1989). Draws of a chain count for fewer. 1 if the limits contradict each other, so that one of
  /// them has failed. \throws std::invalid_argument without margins, unless they lie in [-1, 1], or
  /// unless `confidence.inputs` lies between 0 and 1.
  [[nodiscard]] static VoteMarginBound certified(const GibbsBound& gibbs,
                                                 const Eigen::Ref<const Eigen::VectorXd>& margins,
                                                 std::uint64_t independent_voters);

  double gibbs_error;     ///< Gibbs error e, or an upper limit.
  double threshold = 1;   ///< Value of t with the smallest bound.
  double vote_error = 1;  ///< Bound on the classifier's error, in [0, 1].
  double delta = 0;       ///< If certified: probability that the bound fails.

  /// Bound on the classifier's error.
  [[nodiscard]] double value() const noexcept { return vote_error; }
  /// True if the bound is vacuous: 1 or more.
  [[nodiscard]] bool vacuous() const noexcept { return value() >= 1; }

 private:
  /// `limit(t, mean of the summand)` returns the value used instead of the mean.
  template <class Limit>
  VoteMarginBound(double gibbs_error_rate, const Eigen::Ref<const Eigen::VectorXd>& margins,
                  Limit&& limit);
};

#if BPM_BODIES

BPM_INLINE VoteBound VoteBound::certified(const GibbsBound& gibbs, const Votes& votes,
                                          const Eigen::Ref<const Eigen::VectorXd>& outputs,
                                          std::uint64_t independent_voters) {
  const char* const f = "VoteBound::certified";
  detail::check_delta(f, "confidence.inputs", gibbs.confidence.inputs);
  detail::check(independent_voters != 1, f, "independent_voters", "is 1, must be 0 or 2 or more");
  detail::check(votes.voters == 0 || (independent_voters > 0 && independent_voters <= votes.voters),
                f, "independent_voters", "is ", independent_voters, ", must be 2 to ", votes.voters,
                ", the number of voters");
  const auto count = static_cast<double>(outputs.size());
  const bool exact = independent_voters == 0;
  const double delta = exact ? gibbs.confidence.inputs : gibbs.confidence.inputs / 2;
  const double doubt =
      exact
          ? 0
          : std::sqrt(std::log(2 * count / delta) / (2 * static_cast<double>(independent_voters)));
  const double share = votes.disagreement(outputs, doubt);
  VoteBound bound =
      from_gibbs_error(gibbs.value(), kl_upper_inverse(share, -std::log(delta) / count));
  bound.delta = gibbs.confidence.total();
  return bound;
}

template <class Limit>
VoteMarginBound::VoteMarginBound(double gibbs_error_rate,
                                 const Eigen::Ref<const Eigen::VectorXd>& margins, Limit&& limit)
    : gibbs_error(gibbs_error_rate) {
  const char* const f = "VoteMarginBound";
  detail::check_probability(f, "gibbs_error", gibbs_error);
  detail::check(margins.size() > 0, f, "margins", "are none, must be one or more");
  for (Eigen::Index i = 0; i < margins.size(); ++i) {
    detail::check(margins[i] >= -1 && margins[i] <= 1, f, "margins", "at ", i, " is ", margins[i],
                  ", must lie in [-1, 1]");
  }
  constexpr std::array thresholds{0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0};
  for (const double t : thresholds) {
    const double mean =
        ((1 - margins.array() / t).max(0.0) - (1 - margins.array()) / (2 * t)).mean();
    const double error = gibbs_error / t + limit(t, mean);
    if (error < vote_error) {
      threshold = t;
      vote_error = error;
    }
  }
}

BPM_INLINE VoteMarginBound::VoteMarginBound(double gibbs_error_rate,
                                            const Eigen::Ref<const Eigen::VectorXd>& margins)
    : VoteMarginBound(gibbs_error_rate, margins, [](double, double mean) { return mean; }) {
  vote_error = std::max(0.0, vote_error);
}

BPM_INLINE VoteMarginBound VoteMarginBound::certified(
    const GibbsBound& gibbs, const Eigen::Ref<const Eigen::VectorXd>& margins,
    std::uint64_t independent_voters) {
  detail::check_delta("VoteMarginBound", "confidence.inputs", gibbs.confidence.inputs);
  const bool exact = independent_voters == 0;
  const double log_share = std::log((exact ? 10 : 20) / gibbs.confidence.inputs);
  VoteMarginBound bound(gibbs.value(), margins, [&](double t, double mean) {
    // The summand lies in [least, 1]: least at b = t, 1 at b = -1.
    const double least = -(1 - t) / (2 * t);
    const double scaled = std::clamp((mean - least) / (1 - least), 0.0, 1.0);
    const double limit = kl_upper_inverse(scaled, log_share / static_cast<double>(margins.size()));
    const double of_voters =
        exact ? 0.0 : std::sqrt(log_share / (2 * static_cast<double>(independent_voters))) / t;
    return least + (1 - least) * limit + of_voters;
  });
  if (bound.vote_error < 0) bound.vote_error = 1;
  bound.delta = gibbs.confidence.total();
  return bound;
}

#endif

}}  // namespace bpm
