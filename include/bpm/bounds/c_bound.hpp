// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "bpm/bounds/gibbs_bound.hpp"
#include "bpm/bounds/relative_entropy.hpp"
#include "bpm/core/check.hpp"

namespace bpm {

/// An upper bound on the error of an ensemble's majority vote, or of its Bayes point, from the
/// Gibbs error and the agreement: 1 - (1 - 2 e)^2 / alpha + Delta.
struct CBound {
  double gibbs_error = 0;   ///< e, or an upper limit of it.
  double agreement = 1;     ///< alpha, or an upper limit of it.
  double disagreement = 0;  ///< Delta, of Bayes point and vote; 0 for the vote itself.

  /// Whether the inequality applies: a Gibbs error below 1/2. Otherwise it says nothing.
  [[nodiscard]] bool applies() const noexcept { return gibbs_error < 0.5; }
  /// Whether the two numbers can belong to one ensemble: (1 - 2 e)^2 <= alpha (Jensen), but for
  /// rounding. Estimates from different inputs may fail it by their errors, certified limits where
  /// one of them does not hold. The bound without Delta is then below zero and counted as 0.
  [[nodiscard]] bool consistent() const noexcept {
    return !applies() || share() <= agreement * (1 + 1e-12);
  }
  /// In [0, 1] for the vote, 1 where it does not apply; Delta on top.
  [[nodiscard]] double value() const noexcept {
    const double vote = applies() ? std::max(0.0, 1 - share() / agreement) : 1.0;
    return vote + disagreement;
  }
  /// Whether it says nothing: 1 or more.
  [[nodiscard]] bool vacuous() const noexcept { return value() >= 1; }

 private:
  [[nodiscard]] double share() const noexcept {
    return (1 - 2 * gibbs_error) * (1 - 2 * gibbs_error);
  }
};

/// Lemmas 5 and 6 of "Kernel Interpolation as a Bayes Point Machine", the first the C-bound of
/// A. Lacasse et al., NIPS 19, 2007: the majority vote errs at most at a rate of
///
///     1 - (1 - 2 e)^2 / alpha,   alpha = E_x[ (E_w sign f(x; w))^2 ],
///
/// for e < 1/2, and the Bayes point at most Delta more often. It grows with alpha and with e:
/// an upper limit of each in their place gives a bound that holds when both do.
/// \throws std::invalid_argument unless the rates lie in [0, 1] and the agreement is positive where
///         e < 1/2.
[[nodiscard]] inline CBound c_bound(double gibbs_error, double agreement, double disagreement = 0) {
  const char* const f = "c_bound";
  detail::check_probability(gibbs_error, f, "gibbs_error");
  detail::check_probability(agreement, f, "agreement");
  detail::check_probability(disagreement, f, "disagreement");
  detail::check(agreement > 0 || gibbs_error >= 0.5, f, "agreement",
                "is 0, must be positive: a vote that is tied everywhere has Gibbs error 1/2, not ",
                gibbs_error);
  return {gibbs_error, agreement, disagreement};
}

/// The C-bound as measured on labelled inputs: `votes` has E_w sign f(x; w) of each input, in
/// [-1, 1], `signs` the labels +1 or -1. A description of the ensemble on these inputs, on which it
/// holds exactly; no statement on others.
/// \throws std::invalid_argument unless there are inputs, the sizes agree, and votes and labels are
///         in range.
[[nodiscard]] inline CBound c_bound(const Eigen::VectorXd& votes,
                                    std::span<const signed char> signs, double disagreement = 0) {
  const char* const f = "c_bound";
  detail::check(votes.size() > 0, f, "votes", "is empty, expected one input or more");
  detail::check_size(f, "signs", signs.size(), votes.size(), "one per input");
  double gibbs = 0;
  double agreement = 0;
  for (Eigen::Index i = 0; i < votes.size(); ++i) {
    const double vote = votes[i];
    const double sign = signs[i];
    detail::check(std::abs(vote) <= 1, f, "votes", "at ", i, " is ", vote, ", must lie in [-1, 1]");
    detail::check(sign == 1 || sign == -1, f, "signs", "at ", i, " is ", sign, ", must be 1 or -1");
    gibbs += (1 - sign * vote) / 2;
    agreement += vote * vote;
  }
  const auto count = static_cast<double>(votes.size());
  return c_bound(gibbs / count, agreement / count, disagreement);
}

/// The agreement of an infinite ensemble from that of V independent voters, each input's mean sign
/// squared: that is (1 - alpha) / V too large on average, since each voter agrees with itself. May
/// be below 0 by chance. To be used in estimates; a certified bound leaves the bias in, on the safe
/// side.
/// \throws std::invalid_argument unless the agreement lies in [0, 1] and voters >= 2.
[[nodiscard]] inline double unbiased_agreement(double agreement, std::ptrdiff_t voters) {
  detail::check_probability(agreement, "unbiased_agreement", "agreement");
  detail::check(voters >= 2, "unbiased_agreement", "voters", "is ", voters, ", must be 2 or more");
  const auto count = static_cast<double>(voters);
  return (count * agreement - 1) / (count - 1);
}

/// Agreement as measured on inputs without labels, which took no part in the training.
struct AgreementSample {
  double mean = 1;  ///< Of the squared mean signs, or of (2 Phi - 1)^2 where known exactly.
  std::ptrdiff_t inputs = 0;  ///< How many, independent of each other.
  /// Independent voters that all inputs share; 0: the mean signs are exact, or every input has
  /// voters of its own (two or more).
  std::ptrdiff_t shared_voters = 0;
};

/// An upper limit of alpha with confidence 1 - delta. The squared means lie in [0, 1], and the
/// Chernoff bound (`kl_upper_inverse`) holds for any such numbers. Voters of an input's own only
/// raise the expectation. Voters that are shared are random as a whole: their agreement on the
/// distribution of inputs expects alpha + (1 - alpha) / V, and moves by 4 / V at most with one
/// voter, so that (C. McDiarmid, 1989) it is below by 4 sqrt(log(2 / delta) / (2 V)) with
/// probability delta / 2; the inputs get the other half. Draws of one chain are not independent.
/// \throws std::invalid_argument unless the mean lies in [0, 1], inputs >= 1, shared_voters is 0 or
///         2 and more, and delta lies between 0 and 1.
[[nodiscard]] inline double agreement_upper_limit(const AgreementSample& sample, double delta) {
  const char* const f = "agreement_upper_limit";
  detail::check_probability(sample.mean, f, "mean");
  detail::check(sample.inputs >= 1, f, "inputs", "is ", sample.inputs, ", must be 1 or more");
  detail::check(sample.shared_voters == 0 || sample.shared_voters >= 2, f, "shared_voters", "is ",
                sample.shared_voters, ", must be 0 or 2 or more");
  detail::check_delta(delta, f, "delta");
  const auto inputs = static_cast<double>(sample.inputs);
  if (sample.shared_voters == 0) {
    return kl_upper_inverse(sample.mean, -std::log(delta) / inputs);
  }
  const double log_half = std::log(2 / delta);
  const auto voters = static_cast<double>(sample.shared_voters);
  return std::min(1.0, kl_upper_inverse(sample.mean, log_half / inputs) +
                           4 * std::sqrt(log_half / (2 * voters)));
}

/// A C-bound that holds with a known probability.
struct CertifiedCBound {
  GibbsBound gibbs{};
  AgreementSample sample{};
  double delta_agreement = 0;
  CBound bound{};  ///< With the upper limits of Gibbs error and agreement.

  /// It holds with probability 1 - delta() over the training sample, the estimate of the
  /// complexity, and the inputs without labels.
  [[nodiscard]] double delta() const noexcept { return gibbs.confidence.total() + delta_agreement; }
  /// 1 where the two limits contradict each other, so that one of them has failed.
  [[nodiscard]] double value() const noexcept { return bound.consistent() ? bound.value() : 1.0; }
  [[nodiscard]] bool vacuous() const noexcept { return value() >= 1; }
};

/// The C-bound from a bound on the Gibbs error and an upper limit of the agreement, both of the
/// same posterior. Says nothing where the former is 1/2 or more. For the Bayes point instead of the
/// vote give an upper limit of Delta, say `kl_upper_inverse(share, log(1 / delta) / inputs)`, and
/// count its delta.
/// \throws std::invalid_argument as `agreement_upper_limit`, unless the deltas
/// together are below 1, or if the disagreement is not in [0, 1].
[[nodiscard]] inline CertifiedCBound certified_c_bound(const GibbsBound& gibbs,
                                                       const AgreementSample& sample,
                                                       double delta_agreement,
                                                       double disagreement = 0) {
  const double limit = agreement_upper_limit(sample, delta_agreement);
  const double total = gibbs.confidence.total() + delta_agreement;
  detail::check(total < 1, "certified_c_bound", "delta_agreement", "makes ", total,
                " with the Gibbs bound's, must be below 1");
  return {gibbs, sample, delta_agreement, c_bound(gibbs.value(), limit, disagreement)};
}

/// A confidence shared by the training sample, the estimate of the complexity, and the agreement.
struct ThreeWayConfidence {
  Confidence gibbs{};
  double agreement = 0;
};

/// A third of delta each.
/// \throws std::invalid_argument unless delta lies between 0 and 1.
[[nodiscard]] inline ThreeWayConfidence three_way_confidence(double delta) {
  detail::check_delta(delta, "three_way_confidence", "delta");
  return {{delta / 3, delta / 3}, delta / 3};
}

}  // namespace bpm
