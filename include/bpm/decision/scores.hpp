// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/lanes.hpp"
#include "bpm/core/target.hpp"

/// \file
/// Confidence scores of inputs, from the outputs of classes and from the votes of draws.

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// Index of the predicted class, from output(c), 0 <= c < columns: the largest output, the first of
/// equal ones; of a single column 1, the second of two classes, where it is positive, else 0.
template <class Output>
[[nodiscard]] std::ptrdiff_t class_of_outputs(std::ptrdiff_t columns, Output&& output) {
  if (columns == 1) return output(std::ptrdiff_t{0}) > 0 ? 1 : 0;
  std::ptrdiff_t best = 0;
  for (std::ptrdiff_t c = 1; c < columns; ++c) {
    if (output(c) > output(best)) best = c;
  }
  return best;
}

/// Predicted class label of each row of outputs.
[[nodiscard]] BPM_INLINE std::vector<int> labels_of_outputs(const Eigen::MatrixXd& outputs,
                                                            std::span<const int> classes);

// Loops over numbers stand in the place of Eigen's expressions, each of which is a type that every
// user's compiler reads. These keep Eigen's registers and its order of additions.

inline void take_exponentials(double* values, Eigen::Index count) {
  Eigen::Map<Eigen::ArrayXd> all(values, count);
  all = all.exp();
}
[[nodiscard]] inline double sum_of(const double* values, Eigen::Index count) {
  return Eigen::Map<const Eigen::ArrayXd>(values, count).sum();
}
[[nodiscard]] inline double dot_of(const double* a, const double* b, Eigen::Index count) {
  using Numbers = Eigen::Map<const Eigen::ArrayXd>;
  return (Numbers(a, count) * Numbers(b, count)).sum();
}
/// Sets `to`, which may be x or y, to a x + y.
inline void set_sum(double* to, double a, const double* x, const double* y, Eigen::Index count) {
  for (Eigen::Index c = 0; c < count; ++c) to[c] = multiply_add(a, x[c], y[c]);
}

// Confidence scores: one number per input from the outputs of its classes. Rejection sorts by it; a
// low score means low confidence. Scores order inputs, they are not probabilities.

/// Throws unless there is a score and all are finite.
BPM_INLINE void check_scores(std::span<const double> scores, std::string_view function);

/// Throws unless there is an input, a class, and every value is finite.
BPM_INLINE void check_decision_values(const Eigen::Ref<const Eigen::MatrixXd>& values,
                                      std::string_view function);

#if BPM_BODIES

BPM_INLINE std::vector<int> labels_of_outputs(const Eigen::MatrixXd& outputs,
                                              std::span<const int> classes) {
  std::vector<int> labels;
  labels.reserve(static_cast<std::size_t>(outputs.rows()));
  for (Eigen::Index i = 0; i < outputs.rows(); ++i) {
    const auto place =
        class_of_outputs(outputs.cols(), [&](std::ptrdiff_t c) { return outputs(i, c); });
    labels.push_back(classes[static_cast<std::size_t>(place)]);
  }
  return labels;
}

BPM_INLINE void check_scores(std::span<const double> scores, std::string_view function) {
  check(!scores.empty(), function, "scores", "is empty, must hold at least one score");
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!std::isfinite(scores[i])) {
      fail(function, join("scores[", i, "]"), "is ", scores[i], ", must be finite");
    }
  }
}

BPM_INLINE void check_decision_values(const Eigen::Ref<const Eigen::MatrixXd>& values,
                                      std::string_view function) {
  check(values.rows() > 0 && values.cols() > 0, function, "decision_values", "is ", values.rows(),
        " x ", values.cols(), ", must have at least one row (input) and one column (class)");
  for (Eigen::Index j = 0; j < values.cols(); ++j) {
    for (Eigen::Index i = 0; i < values.rows(); ++i) {
      if (!std::isfinite(values(i, j))) {
        fail(function, join("decision_values(", i, ", ", j, ")"), "is ", values(i, j),
             ", must be finite");
      }
    }
  }
}

#endif

}  // namespace detail

/// The score max_y f_y(x_i) of every input: the rule of Herbrich and Graepel, "Large Scale Bayes
/// Point Machines" (NIPS 13), section 4.
///
/// `decision_values` is n x C: row i holds the outputs f_y(x_i) of the C classes. One column is
/// taken as the signed output d of a binary machine, whose two classes have the outputs d and -d:
/// the score is |d|.
/// Throws `std::invalid_argument` if there is no row or column or a value is not finite.
/// Cost O(n C).
[[nodiscard]] BPM_INLINE std::vector<double> largest_output_scores(
    const Eigen::Ref<const Eigen::MatrixXd>& decision_values);

/// The score f_(1)(x_i) - f_(2)(x_i) of every input: its largest output less its second largest,
/// zero where two classes tie for the first place. Unlike the largest output it does not change
/// when all outputs of an input move by the same amount.
///
/// Shapes, exceptions and cost are those of `largest_output_scores`; one column again gives |d|,
/// half the gap between d and -d, so that both scores of a binary machine are equal.
[[nodiscard]] BPM_INLINE std::vector<double> gap_scores(
    const Eigen::Ref<const Eigen::MatrixXd>& decision_values);

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
  [[nodiscard]] double gibbs_error(std::span<const signed char> signs) const;

  /// The Bayes error E_x 1[majority != y]: the error of the ensemble's majority vote.
  /// \throws std::invalid_argument as `gibbs_error`.
  [[nodiscard]] double bayes_error(std::span<const signed char> signs) const;

  /// The Gibbs agreement alpha = E_x [E_w sign f(x; w)]^2 (Lemma 5): two classifiers drawn at
  /// random agree with probability (1 + alpha) / 2.
  ///
  /// Votes of V classifiers drawn independently estimate E_w sign f with an error whose square
  /// would add (1 - alpha) / V on average. For votes of 0 or 1 this bias is removed input by input,
  /// (V s^2 - 1) / (V - 1), and a mean below 0 is set to 0. Integrated votes have a smaller bias,
  /// which is not removed: the value is then high by at most 1 / V.
  /// \throws std::invalid_argument without inputs.
  [[nodiscard]] double agreement() const;

  /// Delta = E_x 1[f_BPM(x) != f_Bayes(x)] of Lemma 4: the share of inputs where the sign of a
  /// classifier, given by its outputs (0 counts as negative), differs from the majority vote; for
  /// the ensemble's mean, the error of approximating the Bayes classifier by the Bayes point.
  /// Inputs whose share lies within `doubt` of one half count as different: with finitely many
  /// voters their majority may not be the ensemble's.
  /// \throws std::invalid_argument without inputs, on other sizes, outputs not finite, doubt < 0.
  [[nodiscard]] double disagreement(const Eigen::Ref<const Eigen::VectorXd>& outputs,
                                    double doubt = 0) const;

 private:
  void check_inputs(std::string_view function) const;
  void check_signs(std::span<const signed char> signs, std::string_view function) const;

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
    errors += (outputs[i] > 0) != (signs[i] > 0) ? 1 : 0;
  }
  return errors / static_cast<double>(outputs.size());
}

#if BPM_BODIES

BPM_INLINE std::vector<double> largest_output_scores(
    const Eigen::Ref<const Eigen::MatrixXd>& decision_values) {
  detail::check_decision_values(decision_values, "largest_output_scores");
  std::vector<double> scores(decision_values.rows());
  for (Eigen::Index i = 0; i < decision_values.rows(); ++i) {
    double largest = decision_values(i, 0);
    for (Eigen::Index j = 1; j < decision_values.cols(); ++j) {
      largest = std::max(largest, decision_values(i, j));
    }
    scores[i] = decision_values.cols() == 1 ? std::abs(largest) : largest;
  }
  return scores;
}

BPM_INLINE std::vector<double> gap_scores(
    const Eigen::Ref<const Eigen::MatrixXd>& decision_values) {
  detail::check_decision_values(decision_values, "gap_scores");
  std::vector<double> scores(decision_values.rows());
  for (Eigen::Index i = 0; i < decision_values.rows(); ++i) {
    double first = decision_values(i, 0);
    double second = -std::numeric_limits<double>::infinity();
    for (Eigen::Index j = 1; j < decision_values.cols(); ++j) {
      const double value = decision_values(i, j);
      second = std::max(second, std::min(first, value));
      first = std::max(first, value);
    }
    scores[i] = decision_values.cols() == 1 ? std::abs(first) : first - second;
  }
  return scores;
}

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
    const double weight = weights.empty() ? 1.0 : weights[n];
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

BPM_INLINE double Votes::gibbs_error(std::span<const signed char> signs) const {
  check_signs(signs, "Votes::gibbs_error");
  return mean([&](Eigen::Index i) { return signs[i] > 0 ? 1 - positive[i] : positive[i]; });
}

BPM_INLINE double Votes::bayes_error(std::span<const signed char> signs) const {
  check_signs(signs, "Votes::bayes_error");
  return mean([&](Eigen::Index i) { return majority(i) != signs[i] ? 1.0 : 0.0; });
}

BPM_INLINE double Votes::agreement() const {
  check_inputs("Votes::agreement");
  const auto count = static_cast<double>(voters);
  return std::max(0.0, mean([&](Eigen::Index i) {
                    const double s = 2 * positive[i] - 1;
                    return voters > 1 && !integrated ? (count * s * s - 1) / (count - 1) : s * s;
                  }));
}

BPM_INLINE double Votes::disagreement(const Eigen::Ref<const Eigen::VectorXd>& outputs,
                                      double doubt) const {
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

BPM_INLINE void Votes::check_inputs(std::string_view function) const {
  detail::check(positive.size() > 0, function, "votes", "are of no input");
}

BPM_INLINE void Votes::check_signs(std::span<const signed char> signs,
                                   std::string_view function) const {
  check_inputs(function);
  detail::check_signs(function, signs, positive.size(), "one per input");
}

#endif

}}  // namespace bpm
