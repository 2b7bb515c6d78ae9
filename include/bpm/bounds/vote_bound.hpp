// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "bpm/bounds/gibbs_bound.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/decision/scores.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// An upper bound on the error of an ensemble's majority vote, and of any classifier by how often
/// it differs from the vote. Lemma 4 of "Kernel Interpolation as a Bayes Point Machine": a
/// classifier errs where the vote errs or where they differ, so that its error is at most the
/// vote's plus Delta, the share of inputs on which they differ; that share needs no labels.
struct VoteBound {
  /// From the vote's error, or a bound on it, and Delta; 0 for the vote itself.
  /// \throws std::invalid_argument unless both lie in [0, 1].
  explicit VoteBound(double error_of_vote, double differs = 0);

  /// Lemma 1: where the majority errs, half of the ensemble does, so that the vote errs at most
  /// twice as often as a voter, in any ensemble. A bound on the Gibbs error may stand in its place,
  /// and keeps its confidence.
  /// \throws std::invalid_argument unless both lie in [0, 1].
  [[nodiscard]] static VoteBound from_gibbs_error(double gibbs_error, double disagreement = 0);

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
  ///         a confidence for inputs, and V is 2 to `votes.voters`; where that is 0, V is 0 or 2
  ///         and more.
  [[nodiscard]] static VoteBound certified(const GibbsBound& gibbs, const Votes& votes,
                                           const Eigen::Ref<const Eigen::VectorXd>& outputs,
                                           std::uint64_t independent_voters);

  double vote_error;    ///< Of the majority vote, or an upper limit of it.
  double disagreement;  ///< Delta.
  double delta = 0;     ///< Where certified: what it may fail with.

  /// The classifier errs at most at this rate: the sum of the two, which may exceed 1.
  [[nodiscard]] double value() const noexcept { return vote_error + disagreement; }
  /// Whether it says nothing: 1 or more.
  [[nodiscard]] bool vacuous() const noexcept { return value() >= 1; }
};

/// Agreement as measured on inputs without labels, which took no part in the training.
struct AgreementSample {
  /// Of the squared mean signs, or of (2 Phi - 1)^2 where known exactly. Not `Votes::agreement` of
  /// votes of 0 or 1, whose correction leaves [0, 1] on single inputs.
  double mean = 1;
  std::ptrdiff_t inputs = 0;  ///< How many, independent of each other.
  /// Independent voters that all inputs share; 0: the mean signs are exact, or every input has
  /// voters of its own (two or more).
  std::ptrdiff_t shared_voters = 0;

  /// An upper limit of alpha with confidence 1 - delta. The squared means lie in [0, 1], and the
  /// Chernoff bound (`kl_upper_inverse`) holds for any such numbers. Voters of an input's own only
  /// raise the expectation. Voters that are shared are random as a whole: their agreement on the
  /// distribution of inputs expects alpha + (1 - alpha) / V, and moves by 4 / V at most with one
  /// voter, so that (C. McDiarmid, 1989) it is below by 4 sqrt(log(2 / delta) / (2 V)) with
  /// probability delta / 2; the inputs get the other half. Draws of one chain are not independent.
  /// \throws std::invalid_argument unless the mean lies in [0, 1], inputs >= 1, shared_voters is 0
  ///         or 2 and more, and delta lies between 0 and 1.
  [[nodiscard]] double upper_limit(double delta) const;
};

/// An upper bound on the error of an ensemble's majority vote, or of its Bayes point, from the
/// Gibbs error and the agreement.
///
/// Lemmas 5 and 6 of "Kernel Interpolation as a Bayes Point Machine", the first the C-bound of
/// A. Lacasse et al., NIPS 19, 2007: the majority vote errs at most at a rate of
///
///     1 - (1 - 2 e)^2 / alpha,   alpha = E_x[ (E_w sign f(x; w))^2 ],
///
/// for e < 1/2, and the Bayes point at most Delta more often. It grows with alpha and with e:
/// an upper limit of each in their place gives a bound that holds when both do. Of the rates of
/// `Votes` on labelled inputs it describes the ensemble on these inputs, where it holds exactly; it
/// is no statement on others.
struct CBound {
  /// \throws std::invalid_argument unless the rates lie in [0, 1] and the agreement is positive
  ///         where e < 1/2.
  CBound(double rate_of_voters, double alpha, double differs = 0);

  /// From a bound on the Gibbs error and an upper limit of the agreement, both of the same
  /// posterior, with the share of the bound's confidence that is for inputs. Says nothing where the
  /// bound is 1/2 or more. For the Bayes point instead of the vote give an upper limit of Delta,
  /// say `kl_upper_inverse(share, log(1 / delta) / inputs)` where the majority is known exactly
  /// (count its delta); where some voters estimate it, the limit that `VoteBound::certified` takes.
  /// \throws std::invalid_argument as `AgreementSample::upper_limit`, or if the disagreement is not
  ///         in [0, 1].
  [[nodiscard]] static CBound certified(const GibbsBound& gibbs, const AgreementSample& sample,
                                        double disagreement = 0);

  double gibbs_error;   ///< e, or an upper limit of it.
  double agreement;     ///< alpha, or an upper limit of it.
  double disagreement;  ///< Delta, of Bayes point and vote; 0 for the vote itself.
  double delta = 0;     ///< Where certified: what it may fail with.

  /// Whether the inequality applies: a Gibbs error below 1/2. Otherwise it says nothing.
  [[nodiscard]] bool applies() const noexcept { return gibbs_error < 0.5; }
  /// Whether the two numbers can belong to one ensemble: (1 - 2 e)^2 <= alpha (Jensen), but for
  /// rounding. Estimates from different inputs may fail it by their errors, and the bound without
  /// Delta is then below zero and counted as 0; of certified limits one has failed.
  [[nodiscard]] bool consistent() const noexcept;
  /// In [0, 1] for the vote, 1 where it does not apply; Delta on top. 1 for certified limits that
  /// contradict each other.
  [[nodiscard]] double value() const noexcept;
  /// Whether it says nothing: 1 or more.
  [[nodiscard]] bool vacuous() const noexcept { return value() >= 1; }

 private:
  [[nodiscard]] double share() const noexcept;
};

/// An upper bound on the error of any one classifier c by the margins that an ensemble gives it,
///
///     P(c wrong) <= e / t + E[(1 - b / t)_+ - (1 - b) / (2 t)],   0 < t <= 1,
///
/// e the ensemble's Gibbs error, b(x) = c(x) m(x) the margin, m(x) in [-1, 1] the mean sign of the
/// voters at x: inputs without labels will do. Where c is the vote, b = |m|, and this is the bound
/// of M. Amini, F. Laviolette, N. Usunier, "A transductive bound for the voted classifier with an
/// application to semi-supervised learning", NIPS 21, 2008; at t = 1 and b = 1, e. For another
/// classifier, such as a Bayes point, it needs no limit of how often that differs from the vote.
///
/// Why: where c is right, the share of voters that err is (1 - b) / 2, elsewhere (1 + b) / 2, so
/// that E[b; c wrong] = e - E[(1 - b) / 2]; and 1 <= b / t + (1 - b / t)_+.
///
/// t is the best of ten that are fixed beforehand.
struct VoteMarginBound {
  /// The bound of rates as they are: e and the margins b of the inputs themselves.
  /// \throws std::invalid_argument without margins, or unless they lie in [-1, 1] and e in [0, 1].
  VoteMarginBound(double gibbs_error_rate, const Eigen::Ref<const Eigen::VectorXd>& margins);

  /// The bound for the distribution that n independent inputs came from, which took no part in the
  /// training. The Gibbs bound's `confidence.inputs` c is shared by the ten values of t, c / 10
  /// each. V = 0: the margins are exact, and the mean over inputs has the limit of the Chernoff
  /// bound (`kl_upper_inverse`). Otherwise they are means over V independent voters that all inputs
  /// share and that c was made without; half of the share is theirs: the summand is convex in b, so
  /// that their chance only raises its expectation, and one voter moves it by 1 / (t V) at most, so
  /// that it is below by sqrt(log(1 / share) / (2 V)) / t with that probability (C. McDiarmid,
  /// 1989). Draws of a chain are worth fewer than they are. 1 where the limits contradict each
  /// other, so that one of them has failed.
  /// \throws std::invalid_argument likewise, or unless `confidence.inputs` lies between 0 and 1.
  [[nodiscard]] static VoteMarginBound certified(const GibbsBound& gibbs,
                                                 const Eigen::Ref<const Eigen::VectorXd>& margins,
                                                 std::uint64_t independent_voters);

  double gibbs_error;     ///< e, or an upper limit of it.
  double threshold = 1;   ///< t.
  double vote_error = 1;  ///< The classifier's, in [0, 1].
  double delta = 0;       ///< Where certified: what it may fail with.

  /// The classifier errs at most at this rate.
  [[nodiscard]] double value() const noexcept { return vote_error; }
  /// Whether it says nothing.
  [[nodiscard]] bool vacuous() const noexcept { return value() >= 1; }

 private:
  /// `limit(t, mean of the summand)` is what takes the mean's place.
  template <class Limit>
  VoteMarginBound(double gibbs_error_rate, const Eigen::Ref<const Eigen::VectorXd>& margins,
                  Limit&& limit);
};

/// How many draws of an ensemble agree with its centre, and whether that is as theory demands.
///
/// Lemma 2 of "Kernel Interpolation as a Bayes Point Machine" (B. Grünbaum 1960; A. Caplin,
/// B. Nalebuff 1991): whatever the input, at least 1 / e of a log-concave ensemble of
/// linear classifiers is on the side of its centre of mass. An ensemble that fails is not
/// log-concave, or its draws are not from it, or the centre is not its centre.
///
/// `outputs` has a row per point and a column per draw, `centre` the centre's output at each point.
/// A draw whose output is 0 stands on both sides. The threshold is the value that V independent
/// draws fall short of at any of the points with probability delta at most, by the Chernoff bound
/// and the sum over points: kl(threshold || 1 / e) = log(points / delta) / V. Draws of a chain are
/// worth fewer than V: a failure by little may then be chance.
struct AgreementCheck {
  /// \throws std::invalid_argument unless there are points and draws, the sizes agree, all is
  ///         finite, and delta lies between 0 and 1.
  AgreementCheck(const Eigen::MatrixXd& outputs, const Eigen::VectorXd& centre,
                 double delta = 1e-6);

  double smallest = 1;           ///< Share of draws that agree, at the point where fewest do.
  std::ptrdiff_t point = -1;     ///< That point; -1 where the centre is undecided at all of them.
  double mean = 1;               ///< Over the points.
  std::ptrdiff_t undecided = 0;  ///< Points where the centre's output is 0; not counted.
  std::ptrdiff_t draws;          ///< Members of the ensemble that were asked.
  double threshold = 0;          ///< What `smallest` must reach.

  /// Whether every point has the agreement of 1 / e that a log-concave ensemble has, as far as the
  /// number of draws can tell.
  [[nodiscard]] bool holds() const noexcept { return smallest >= threshold; }
};

#if BPM_BODIES

BPM_INLINE VoteBound::VoteBound(double error_of_vote, double differs)
    : vote_error(error_of_vote), disagreement(differs) {
  detail::check_probability("VoteBound", "vote_error", vote_error);
  detail::check_probability("VoteBound", "disagreement", disagreement);
}

BPM_INLINE VoteBound VoteBound::from_gibbs_error(double gibbs_error, double disagreement) {
  detail::check_probability("VoteBound", "gibbs_error", gibbs_error);
  return VoteBound(std::min(1.0, 2 * gibbs_error), disagreement);
}

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

BPM_INLINE double AgreementSample::upper_limit(double delta) const {
  const char* const f = "AgreementSample";
  detail::check_probability(f, "mean", mean);
  detail::check_at_least(f, "inputs", inputs, 1);
  detail::check(shared_voters == 0 || shared_voters >= 2, f, "shared_voters", "is ", shared_voters,
                ", must be 0 or 2 or more");
  detail::check_delta(f, "delta", delta);
  const auto count = static_cast<double>(inputs);
  if (shared_voters == 0) {
    return kl_upper_inverse(mean, -std::log(delta) / count);
  }
  const double log_half = std::log(2 / delta);
  return std::min(1.0, kl_upper_inverse(mean, log_half / count) +
                           4 * std::sqrt(log_half / (2 * static_cast<double>(shared_voters))));
}

BPM_INLINE CBound::CBound(double rate_of_voters, double alpha, double differs)
    : gibbs_error(rate_of_voters), agreement(alpha), disagreement(differs) {
  const char* const f = "CBound";
  detail::check_probability(f, "gibbs_error", gibbs_error);
  detail::check_probability(f, "agreement", agreement);
  detail::check_probability(f, "disagreement", disagreement);
  detail::check(agreement > 0 || gibbs_error >= 0.5, f, "agreement",
                "is 0, must be positive: a vote that is tied everywhere has Gibbs error 1/2, not ",
                gibbs_error);
}

BPM_INLINE CBound CBound::certified(const GibbsBound& gibbs, const AgreementSample& sample,
                                    double disagreement) {
  CBound bound(gibbs.value(), sample.upper_limit(gibbs.confidence.inputs), disagreement);
  bound.delta = gibbs.confidence.total();
  return bound;
}

BPM_INLINE bool CBound::consistent() const noexcept {
  return !applies() || share() <= agreement * (1 + 1e-12);
}

BPM_INLINE double CBound::value() const noexcept {
  if (delta > 0 && !consistent()) {
    return 1;
  }
  return (applies() ? std::max(0.0, 1 - share() / agreement) : 1.0) + disagreement;
}

BPM_INLINE double CBound::share() const noexcept {
  return (1 - 2 * gibbs_error) * (1 - 2 * gibbs_error);
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

BPM_INLINE AgreementCheck::AgreementCheck(const Eigen::MatrixXd& outputs,
                                          const Eigen::VectorXd& centre, double delta)
    : draws(outputs.cols()) {
  const char* const f = "AgreementCheck";
  detail::check(outputs.rows() > 0 && outputs.cols() > 0, f, "outputs", "is ", outputs.rows(),
                " x ", outputs.cols(), ", expected one point and one draw or more");
  detail::check_size(f, "centre", centre.size(), outputs.rows(), "one per point");
  detail::check(outputs.allFinite(), f, "outputs", "holds a number that is not finite");
  detail::check(centre.allFinite(), f, "centre", "holds a number that is not finite");
  detail::check_delta(f, "delta", delta);
  const auto count = static_cast<double>(draws);
  double sum = 0;
  for (Eigen::Index i = 0; i < outputs.rows(); ++i) {
    if (centre[i] == 0) {
      ++undecided;
      continue;
    }
    const double side = centre[i] > 0 ? 1 : -1;
    const double agree = static_cast<double>((side * outputs.row(i).array() >= 0).count()) / count;
    sum += agree;
    if (point < 0 || agree < smallest) {
      smallest = agree;
      point = i;
    }
  }
  if (point >= 0) {
    const auto decided = static_cast<double>(outputs.rows() - undecided);
    mean = sum / decided;
    threshold = detail::kl_lower_deviation(1 / std::numbers::e, std::log(decided / delta) / count);
  }
}

#endif

}}  // namespace bpm
