// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"

/// \file
/// Functions of the outputs or probabilities of single inputs: the class, a confidence score and a
/// threshold on it, the log loss.

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
[[nodiscard]] inline std::vector<int> labels_of_outputs(const Eigen::MatrixXd& outputs,
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

// Confidence scores: one number per input from the outputs of its classes. Rejection sorts by it; a
// low score means low confidence. Scores order inputs, they are not probabilities.

/// Throws unless there is a score and all are finite.
inline void check_scores(std::span<const double> scores, std::string_view function) {
  check(!scores.empty(), function, "scores", "is empty, must hold at least one score");
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!std::isfinite(scores[i])) {
      fail(function, join("scores[", i, "]"), "is ", scores[i], ", must be finite");
    }
  }
}

/// Throws unless there is an input, a class, and every value is finite.
inline void check_decision_values(const Eigen::Ref<const Eigen::MatrixXd>& values,
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

/// Returns the largest output of every input or, with `gap`, its distance to the second largest; of
/// one column |d|.
[[nodiscard]] inline std::vector<double> scores_of(const Eigen::Ref<const Eigen::MatrixXd>& values,
                                                   bool gap, std::string_view function) {
  check_decision_values(values, function);
  std::vector<double> scores(static_cast<std::size_t>(values.rows()));
  for (Eigen::Index i = 0; i < values.rows(); ++i) {
    double first = values(i, 0);
    double second = -std::numeric_limits<double>::infinity();
    for (Eigen::Index j = 1; j < values.cols(); ++j) {
      second = std::max(second, std::min(first, values(i, j)));
      first = std::max(first, values(i, j));
    }
    const double of_many = gap ? first - second : first;
    scores[std::size_t(i)] = values.cols() == 1 ? std::abs(first) : of_many;
  }
  return scores;
}

}  // namespace detail

/// The score max_y f_y(x_i) of every input: the rule of Herbrich and Graepel, "Large Scale Bayes
/// Point Machines" (NIPS 13), section 4.
///
/// `decision_values` is n x C: row i holds the outputs f_y(x_i) of the C classes. One column is
/// taken as the signed output d of a binary machine, whose two classes have the outputs d and -d:
/// the score is |d|.
/// Throws `std::invalid_argument` if there is no row or column or a value is not finite.
/// Cost O(n C).
[[nodiscard]] inline std::vector<double> largest_output_scores(
    const Eigen::Ref<const Eigen::MatrixXd>& decision_values) {
  return detail::scores_of(decision_values, false, "largest_output_scores");
}

/// The score f_(1)(x_i) - f_(2)(x_i) of every input: its largest output less its second largest,
/// zero where two classes tie for the first place. Unlike the largest output it does not change
/// when all outputs of an input move by the same amount.
///
/// Shapes, exceptions and cost are those of `largest_output_scores`; one column again gives |d|,
/// half the gap between d and -d, so that both scores of a binary machine are equal.
[[nodiscard]] inline std::vector<double> gap_scores(
    const Eigen::Ref<const Eigen::MatrixXd>& decision_values) {
  return detail::scores_of(decision_values, true, "gap_scores");
}

/// Accepts an input whose score is at least `threshold`. Minus infinity accepts everything.
/// `rejection.hpp` chooses thresholds on held-out data.
struct Rejector {
  double threshold = -std::numeric_limits<double>::infinity();  ///< Smallest accepted score.

  /// False for a score below the threshold, and for NaN.
  [[nodiscard]] constexpr bool accepts(double score) const noexcept { return score >= threshold; }

  /// Rejected fraction of these scores. Throws `std::invalid_argument` without a score, if one is
  /// not finite, or if the threshold is NaN (it may be infinite). Cost O(n).
  [[nodiscard]] double rate(std::span<const double> scores) const {
    detail::check_scores(scores, "Rejector::rate");
    detail::check(!std::isnan(threshold), "Rejector::rate", "threshold", "is ", threshold,
                  ", must be a number");
    const auto rejected =
        std::count_if(scores.begin(), scores.end(), [&](double score) { return !accepts(score); });
    return static_cast<double>(rejected) / static_cast<double>(scores.size());
  }
};

/// A rejector kept with a classifier, and the name of its score: a threshold on one score means
/// nothing for another.
struct Rejection {
  std::string score;    ///< Name that the user gives the score, such as "gap".
  Rejector rejector{};  ///< Rejector with a threshold on that score.

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("score", self.score);
    // Minus infinity, which accepts everything and is no JSON number, is not written.
    constexpr double everything = Rejector{}.threshold;
    std::optional<double> threshold;
    if (self.rejector.threshold != everything) threshold = self.rejector.threshold;
    visit("threshold", threshold);
    if constexpr (!std::is_const_v<Self>) self.rejector.threshold = threshold.value_or(everything);
  }
};

namespace detail {

/// Standard error of a share among `count` inputs.
[[nodiscard]] inline double error_of_share(double share, double count) {
  return std::sqrt(std::max(0.0, share * (1 - share)) / count);
}

/// Returns the index of each label in these classes, which ascend. \throws std::invalid_argument on
/// other labels.
[[nodiscard]] inline std::vector<Eigen::Index> places_of(std::span<const int> labels,
                                                         std::span<const int> classes,
                                                         std::string_view function,
                                                         std::string_view argument) {
  std::vector<Eigen::Index> places(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto at = std::lower_bound(classes.begin(), classes.end(), labels[i]);
    check(at != classes.end() && *at == labels[i], function, join(argument, "[", i, "]"), "is ",
          labels[i], ", must be one of the given classes");
    places[i] = at - classes.begin();
  }
  return places;
}

/// Index of each label in `classes`. \throws std::invalid_argument as `log_losses`.
[[nodiscard]] inline std::vector<Eigen::Index> class_indices(std::span<const int> labels,
                                                             std::span<const int> classes,
                                                             Eigen::Index rows,
                                                             Eigen::Index columns,
                                                             std::string_view function) {
  check(rows > 0, function, "inputs", "are none, must be at least one");
  check_size(function, "labels", labels.size(), rows, "one per input");
  check(classes.size() >= 2 && std::adjacent_find(classes.begin(), classes.end(),
                                                  std::greater_equal<>{}) == classes.end(),
        function, "classes", "must be at least two, and ascend");
  check_size(function, "columns", columns,
             columns == 1 && classes.size() == 2 ? 1 : std::ssize(classes),
             "one per class; of two classes one may do");
  return places_of(labels, classes, function, "labels");
}

/// P(class c | input i), from one or several columns.
[[nodiscard]] inline double probability_at(const Eigen::Ref<const Eigen::MatrixXd>& probabilities,
                                           Eigen::Index i, Eigen::Index c) {
  if (probabilities.cols() > 1) return probabilities(i, c);
  return c == 1 ? probabilities(i, 0) : 1 - probabilities(i, 0);
}

/// Returns the index of each label. \throws std::invalid_argument as `log_losses`.
[[nodiscard]] inline std::vector<Eigen::Index> checked_indices(
    const Eigen::Ref<const Eigen::MatrixXd>& probabilities, std::span<const int> labels,
    std::span<const int> classes, std::string_view function) {
  auto indices =
      class_indices(labels, classes, probabilities.rows(), probabilities.cols(), function);
  for (Eigen::Index c = 0; c < probabilities.cols(); ++c) {
    for (Eigen::Index i = 0; i < probabilities.rows(); ++i) {
      const double p = probabilities(i, c);
      check(p >= 0 && p <= 1, function, "probabilities", "at (", i, ", ", c, ") are ", p,
            ", must lie in [0, 1]");
    }
  }
  return indices;
}

}  // namespace detail

/// -log p of each input's label, in nats; infinity where p is 0. `probabilities` is n x C, one
/// column per class in the order of `classes`, or for two classes n x 1, those of the second. Cost
/// O(n C).
/// \throws std::invalid_argument without an input, if sizes disagree, on numbers outside [0, 1], on
///         labels that are not among the classes, and on fewer than two or that do not ascend.
[[nodiscard]] inline std::vector<double> log_losses(
    const Eigen::Ref<const Eigen::MatrixXd>& probabilities, std::span<const int> labels,
    std::span<const int> classes) {
  const auto index = detail::checked_indices(probabilities, labels, classes, "log_losses");
  std::vector<double> losses(labels.size());
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    // log1p keeps the digits of a probability near one.
    losses[i] = probabilities.cols() == 1 && index[i] == 0
                    ? -std::log1p(-probabilities(row, 0))
                    : -std::log(detail::probability_at(probabilities, row, index[i]));
  }
  return losses;
}

}}  // namespace bpm
