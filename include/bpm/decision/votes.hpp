// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"

/// \file
/// Votes of an ensemble of classifiers, and the rates that follow from them.

namespace bpm { inline namespace BPM_TARGET {

/// Votes of an ensemble of classifiers at n inputs: for each the share that votes for the positive
/// class, E_w 1[f(x; w) > 0]; and the rates of section 3 of "Kernel interpolation as a Bayes point
/// machine", as means over these inputs. Their argument `signs` holds the true labels, +1 or -1,
/// one per input.
struct Votes {
  Eigen::VectorXd positive;  ///< n shares, 0 to 1.
  /// Number of classifiers of equal weight that the shares average, or the effective number; 0:
  /// infinitely many, the shares are exact.
  std::uint64_t voters = 0;
  /// True if each classifier's vote is a share itself, because part of the randomness has been
  /// integrated out (`PosteriorEnsemble`); else votes are 0 or 1.
  bool integrated = false;

  /// Returns the votes of single classifiers from their outputs, one row per input and one column
  /// per classifier; 0 counts as negative. `weights`: one per classifier, 0 or from 1e-100 to
  /// 1e100; empty: equal weights.
  /// \throws std::invalid_argument without classifiers, if sizes disagree, on outputs that are not
  ///         finite, or on weights out of range or all zero.
  [[nodiscard]] static Votes of_outputs(const Eigen::Ref<const Eigen::MatrixXd>& outputs,
                                        std::span<const double> weights = {});

  /// The Bayes classifier: +1 where more than half of the ensemble votes so, else -1.
  [[nodiscard]] int majority(Eigen::Index i) const { return positive[i] > 0.5 ? 1 : -1; }

  /// The Gibbs error E_w E_x 1[sign f(x; w) != y]: the mean error of a classifier drawn at random.
  /// \throws std::invalid_argument without inputs, if sizes disagree, on signs other than 1 and -1.
  [[nodiscard]] double gibbs_error(std::span<const signed char> signs) const {
    check_signs(signs, "Votes::gibbs_error");
    return mean(
        [&](Eigen::Index i) { return signs[std::size_t(i)] > 0 ? 1 - positive[i] : positive[i]; });
  }

  /// The Bayes error E_x 1[majority != y]: the error of the ensemble's majority vote.
  /// \throws std::invalid_argument as `gibbs_error`.
  [[nodiscard]] double bayes_error(std::span<const signed char> signs) const {
    check_signs(signs, "Votes::bayes_error");
    return mean([&](Eigen::Index i) { return majority(i) != signs[std::size_t(i)] ? 1.0 : 0.0; });
  }

  /// The Gibbs agreement alpha = E_x [E_w sign f(x; w)]^2 (Lemma 5): two classifiers drawn at
  /// random agree with probability (1 + alpha) / 2.
  ///
  /// Votes of V classifiers drawn independently estimate E_w sign f with an error whose square
  /// would add (1 - alpha) / V on average. For votes of 0 or 1 this bias is removed input by input,
  /// (V s^2 - 1) / (V - 1), and a mean below 0 is set to 0. Integrated votes have a smaller bias,
  /// which is not removed: the value is then high by at most 1 / V.
  /// \throws std::invalid_argument without inputs.
  [[nodiscard]] double agreement() const {
    check_inputs("Votes::agreement");
    const auto count = static_cast<double>(voters);
    return std::max(0.0, mean([&](Eigen::Index i) {
                      const double s = 2 * positive[i] - 1;
                      return voters > 1 && !integrated ? (count * s * s - 1) / (count - 1) : s * s;
                    }));
  }

  /// Delta = E_x 1[f_BPM(x) != f_Bayes(x)] of Lemma 4: the share of inputs where the sign of a
  /// classifier, given by its outputs (0 counts as negative), differs from the majority vote; for
  /// the ensemble's mean, the error of approximating the Bayes classifier by the Bayes point.
  /// Inputs whose share lies within `doubt` of one half count as different: with finitely many
  /// voters their majority may not be the ensemble's.
  /// \throws std::invalid_argument without inputs, on other sizes, outputs not finite, doubt < 0.
  [[nodiscard]] double disagreement(const Eigen::Ref<const Eigen::VectorXd>& outputs,
                                    double doubt = 0) const {
    const char* const f = "Votes::disagreement";
    check_inputs(f);
    detail::check_size(f, "outputs", outputs.size(), positive.size(), "one per input");
    detail::check(outputs.allFinite(), f, "outputs", "hold a number that is not finite");
    detail::check(doubt >= 0, f, "doubt", "is ", doubt, ", must not be negative");
    return mean([&](Eigen::Index i) {
      const bool close = doubt > 0 && std::abs(positive[i] - 0.5) <= doubt;
      return close || majority(i) != (outputs[i] > 0 ? 1 : -1) ? 1.0 : 0.0;
    });
  }

 private:
  void check_inputs(std::string_view function) const {
    detail::check(positive.size() > 0, function, "votes", "are of no input");
  }
  void check_signs(std::span<const signed char> signs, std::string_view function) const {
    check_inputs(function);
    detail::check_signs(function, signs, positive.size(), "one per input");
  }

  /// Mean of value(i) over the inputs.
  template <class Value>
  [[nodiscard]] double mean(Value&& value) const {
    double sum = 0;
    for (Eigen::Index i = 0; i < positive.size(); ++i) sum += value(i);
    return sum / static_cast<double>(positive.size());
  }
};

/// Error rate of a single classifier, given by its outputs; 0 counts as negative.
/// \throws std::invalid_argument without inputs, on outputs that are not finite, if sizes disagree,
///         on signs other than 1 and -1.
[[nodiscard]] inline double error_of_outputs(const Eigen::Ref<const Eigen::VectorXd>& outputs,
                                             std::span<const signed char> signs) {
  const char* const f = "error_of_outputs";
  detail::check(outputs.size() > 0, f, "outputs", "are of no input");
  detail::check(outputs.allFinite(), f, "outputs", "hold a number that is not finite");
  detail::check_signs(f, signs, outputs.size(), "one per input");
  double errors = 0;
  for (Eigen::Index i = 0; i < outputs.size(); ++i) {
    errors += (outputs[i] > 0) != (signs[std::size_t(i)] > 0) ? 1 : 0;
  }
  return errors / static_cast<double>(outputs.size());
}

#if BPM_BODIES

BPM_INLINE Votes Votes::of_outputs(const Eigen::Ref<const Eigen::MatrixXd>& outputs,
                                   std::span<const double> weights) {
  const char* const f = "Votes::of_outputs";
  detail::check(outputs.cols() > 0, f, "outputs", "have no column, expected one per classifier");
  detail::check(outputs.allFinite(), f, "outputs", "hold a number that is not finite");
  if (!weights.empty()) {
    detail::check_size(f, "weights", weights.size(), outputs.cols(), "one per classifier");
  }
  Votes votes{.positive = Eigen::VectorXd::Zero(outputs.rows())};
  double total = 0;
  double squares = 0;
  for (Eigen::Index n = 0; n < outputs.cols(); ++n) {
    const double weight = weights.empty() ? 1.0 : weights[std::size_t(n)];
    // The limits keep the sum of squared weights in range.
    detail::check(weight == 0 || (weight >= 1e-100 && weight <= 1e100), f, "weights", "hold ",
                  weight, " at classifier ", n, ", must be 0, or from 1e-100 to 1e100");
    for (Eigen::Index i = 0; i < outputs.rows(); ++i) {
      if (outputs(i, n) > 0) votes.positive[i] += weight;
    }
    total += weight;
    squares += weight * weight;
  }
  detail::check(total > 0, f, "weights", "are all zero");
  votes.positive /= total;
  // Kish's effective number, rounded down after a margin for the rounding of the sums.
  votes.voters = static_cast<std::uint64_t>(total * total / squares * (1 + 1e-12));
  return votes;
}

#endif

}}  // namespace bpm
