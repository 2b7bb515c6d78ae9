// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/target.hpp"

/// \file
/// How right the predicted labels are. Class labels are any integers.

namespace bpm::inline BPM_TARGET {

/// Counts of (true label, predicted label).
struct ConfusionMatrix {
  std::vector<int> classes;  ///< The label of each row and column.
  /// `counts(i, j)`: inputs of class `classes[i]` that were predicted to be `classes[j]`.
  Eigen::Matrix<std::int64_t, Eigen::Dynamic, Eigen::Dynamic> counts;
};

/// How well one class is found. A ratio with the denominator zero is absent.
struct ClassScores {
  int label = 0;
  std::int64_t inputs = 0;          ///< Inputs of this class.
  std::int64_t predicted = 0;       ///< Inputs predicted to be of this class.
  std::int64_t correct = 0;         ///< Inputs that are both.
  std::optional<double> recall;     ///< correct / inputs
  std::optional<double> precision;  ///< correct / predicted
};

namespace detail {

inline void check_labels(std::span<const int> labels, std::span<const int> predicted,
                         std::string_view function) {
  check(!labels.empty(), function, "labels", "is empty, must hold at least one label");
  check_size(function, "predicted", predicted.size(), labels.size(), "one per label");
}

}  // namespace detail

/// Element i: whether `predicted[i]` is `labels[i]`; what the error-reject functions take.
/// Throws `std::invalid_argument` if the sizes differ or are zero.
[[nodiscard]] inline std::vector<bool> correct_predictions(std::span<const int> labels,
                                                           std::span<const int> predicted) {
  detail::check_labels(labels, predicted, "correct_predictions");
  std::vector<bool> correct(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) correct[i] = labels[i] == predicted[i];
  return correct;
}

/// The fraction of inputs whose predicted label is not the true one.
/// Throws `std::invalid_argument` if the sizes differ or are zero.
[[nodiscard]] inline double error_rate(std::span<const int> labels,
                                       std::span<const int> predicted) {
  detail::check_labels(labels, predicted, "error_rate");
  std::size_t errors = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) errors += labels[i] != predicted[i];
  return static_cast<double>(errors) / static_cast<double>(labels.size());
}

/// The confusion matrix over the given classes, in their order.
/// Throws `std::invalid_argument` if the sizes differ or are zero, a class is listed twice, or a
/// label is not listed. Cost O(n C + C^2).
[[nodiscard]] inline ConfusionMatrix confusion_matrix(std::span<const int> labels,
                                                      std::span<const int> predicted,
                                                      std::span<const int> classes) {
  constexpr std::string_view name = "confusion_matrix";
  detail::check_labels(labels, predicted, name);
  for (std::size_t c = 1; c < classes.size(); ++c) {
    for (std::size_t other = 0; other < c; ++other) {
      detail::check(classes[other] != classes[c], name, "classes", "holds ", classes[c],
                    " twice, must be distinct");
    }
  }
  const auto position = [&](int label, std::string_view argument, std::size_t i) {
    const auto found = std::find(classes.begin(), classes.end(), label);
    if (found == classes.end()) {
      detail::fail(name, detail::join(argument, "[", i, "]"), "is ", label,
                   ", must be one of the given classes");
    }
    return found - classes.begin();
  };
  ConfusionMatrix matrix;
  matrix.classes.assign(classes.begin(), classes.end());
  matrix.counts.setZero(std::ssize(classes), std::ssize(classes));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto row = position(labels[i], "labels", i);
    ++matrix.counts(row, position(predicted[i], "predicted", i));
  }
  return matrix;
}

/// The confusion matrix over all labels that occur, true or predicted, sorted.
/// Throws `std::invalid_argument` if the sizes differ or are zero. Cost O(n log n + n C + C^2).
[[nodiscard]] inline ConfusionMatrix confusion_matrix(std::span<const int> labels,
                                                      std::span<const int> predicted) {
  detail::check_labels(labels, predicted, "confusion_matrix");
  std::vector<int> classes(labels.begin(), labels.end());
  classes.insert(classes.end(), predicted.begin(), predicted.end());
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  return confusion_matrix(labels, predicted, classes);
}

/// Recall and precision of every class, in the order of the matrix. Throws `std::invalid_argument`
/// unless the counts are square with one row a class. Cost O(C^2).
[[nodiscard]] inline std::vector<ClassScores> class_scores(const ConfusionMatrix& matrix) {
  const Eigen::Index size = std::ssize(matrix.classes);
  detail::check(matrix.counts.rows() == size && matrix.counts.cols() == size, "class_scores",
                "counts", "is ", matrix.counts.rows(), " x ", matrix.counts.cols(),
                ", must have one row and column for each of the ", size, " classes");
  std::vector<ClassScores> result;
  result.reserve(matrix.classes.size());
  for (Eigen::Index c = 0; c < size; ++c) {
    ClassScores scores;
    scores.label = matrix.classes[c];
    scores.inputs = matrix.counts.row(c).sum();
    scores.predicted = matrix.counts.col(c).sum();
    scores.correct = matrix.counts(c, c);
    const auto correct = static_cast<double>(scores.correct);
    if (scores.inputs > 0) {
      scores.recall = correct / static_cast<double>(scores.inputs);
    }
    if (scores.predicted > 0) {
      scores.precision = correct / static_cast<double>(scores.predicted);
    }
    result.push_back(scores);
  }
  return result;
}

}  // namespace bpm
