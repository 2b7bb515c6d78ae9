// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/target.hpp"

/// \file
/// Confidence scores: one number per input from the outputs of its classes. Rejection sorts by it;
/// a low score means "not sure". Scores order inputs, they are not probabilities.

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

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
  detail::check_decision_values(decision_values, "largest_output_scores");
  std::vector<double> scores(decision_values.rows());
  for (Eigen::Index i = 0; i < decision_values.rows(); ++i) {
    const double largest = decision_values.row(i).maxCoeff();
    scores[i] = decision_values.cols() == 1 ? std::abs(largest) : largest;
  }
  return scores;
}

/// The score f_(1)(x_i) - f_(2)(x_i) of every input: its largest output less its second largest,
/// zero where two classes tie for the first place. Unlike the largest output it does not change
/// when all outputs of an input move by the same amount.
///
/// Shapes, exceptions and cost as for `largest_output_scores`; one column again gives |d|, half the
/// gap between d and -d, so that both scores of a binary machine are the same number.
[[nodiscard]] inline std::vector<double> gap_scores(
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

}}  // namespace bpm
