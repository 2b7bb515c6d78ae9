// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/decision/rejection.hpp"
#include "bpm/decision/scores.hpp"

/// \file
/// Quality of predicted labels, scores and probabilities, measured by the true labels.

namespace bpm { inline namespace BPM_TARGET {

// Quality of predicted labels, and how well scores separate two classes. Class labels are any
// integers.

/// Counts of (true label, predicted label).
struct ConfusionMatrix {
  std::vector<int> classes;  ///< Label of each row and column.
  /// `counts(i, j)`: number of inputs of class `classes[i]` that were predicted as `classes[j]`.
  Eigen::Matrix<std::int64_t, Eigen::Dynamic, Eigen::Dynamic> counts;
};

/// Counts and ratios of one class. A ratio with the denominator zero is absent.
struct ClassScores {
  int label = 0;                      ///< Label of the class.
  std::int64_t inputs = 0;            ///< Number of inputs of this class.
  std::int64_t predicted = 0;         ///< Number of inputs predicted as this class.
  std::int64_t correct = 0;           ///< Number of inputs of this class predicted correctly.
  std::optional<double> recall{};     ///< correct / inputs
  std::optional<double> precision{};  ///< correct / predicted
  /// 2 correct / (inputs + predicted), the harmonic mean of recall and precision.
  std::optional<double> f1{};
};

namespace detail {

inline void check_labels(std::span<const int> labels, std::span<const int> predicted,
                         std::string_view function) {
  check(!labels.empty(), function, "labels", "is empty, must hold at least one label");
  check_size(function, "predicted", predicted.size(), labels.size(), "one per label");
}

}  // namespace detail

/// Returns the flags that error-reject functions receive: predicted[i] == labels[i]. Throws
/// `std::invalid_argument` if the sizes differ or are zero.
[[nodiscard]] inline std::vector<bool> correct_predictions(std::span<const int> labels,
                                                           std::span<const int> predicted) {
  detail::check_labels(labels, predicted, "correct_predictions");
  std::vector<bool> correct(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) correct[i] = labels[i] == predicted[i];
  return correct;
}

/// The fraction of inputs whose predicted label is wrong.
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
  std::vector<int> classes(labels.begin(), labels.end());
  classes.insert(classes.end(), predicted.begin(), predicted.end());
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  return confusion_matrix(labels, predicted, classes);
}

/// Recall, precision and F1 of every class, in the order of the matrix. Throws
/// `std::invalid_argument` unless the counts are square with one row per class. Cost O(C^2).
[[nodiscard]] inline std::vector<ClassScores> class_scores(const ConfusionMatrix& matrix) {
  const Eigen::Index size = std::ssize(matrix.classes);
  detail::check(matrix.counts.rows() == size && matrix.counts.cols() == size, "class_scores",
                "counts", "is ", matrix.counts.rows(), " x ", matrix.counts.cols(),
                ", must have one row and column for each of the ", size, " classes");
  const auto ratio = [](std::int64_t count, std::int64_t of) -> std::optional<double> {
    if (of <= 0) return std::nullopt;
    return static_cast<double>(count) / static_cast<double>(of);
  };
  std::vector<ClassScores> result;
  for (Eigen::Index c = 0; c < size; ++c) {
    ClassScores scores{.label = matrix.classes[std::size_t(c)],
                       .inputs = matrix.counts.row(c).sum(),
                       .predicted = matrix.counts.col(c).sum(),
                       .correct = matrix.counts(c, c)};
    scores.recall = ratio(scores.correct, scores.inputs);
    scores.precision = ratio(scores.correct, scores.predicted);
    scores.f1 = ratio(2 * scores.correct, scores.inputs + scores.predicted);
    result.push_back(scores);
  }
  return result;
}

/// One point of a ROC curve: inputs from some score on are classified as positive.
struct RocPoint {
  double false_positive_rate = 0;  ///< Share among the negative inputs.
  double true_positive_rate = 0;   ///< Share among the positive inputs.
};

/// The ROC curve of scores that are larger for inputs more likely to be positive, such as the
/// decision values of a two-class machine: from (0, 0) to (1, 1) by falling score, one point per
/// distinct score. Empty where all inputs are of one kind. Throws `std::invalid_argument` if the
/// sizes differ or are zero, or a score is NaN. Cost O(n log n).
template <detail::Flags Positive>
[[nodiscard]] std::vector<RocPoint> roc_curve(std::span<const double> scores,
                                              const Positive& positive) {
  constexpr std::string_view name = "roc_curve";
  detail::check(!scores.empty(), name, "scores", "is empty, must hold at least one score");
  detail::check_size(name, "positive", std::ranges::size(positive), scores.size(), "one per score");
  for (std::size_t i = 0; i < scores.size(); ++i) {
    detail::check(!std::isnan(scores[i]), name, detail::join("scores[", i, "]"), "is NaN");
  }
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto i, auto j) { return scores[i] > scores[j]; });
  const double all = static_cast<double>(scores.size());
  const auto is_positive = std::ranges::begin(positive);
  double positives = 0;
  for (const std::size_t i : order) positives += is_positive[i] ? 1 : 0;
  if (positives == 0 || positives == all) return {};
  std::vector<RocPoint> curve{{}};
  double found = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    found += is_positive[order[k]] ? 1 : 0;
    if (k + 1 < order.size() && scores[order[k + 1]] == scores[order[k]]) continue;
    curve.push_back({(static_cast<double>(k + 1) - found) / (all - positives), found / positives});
  }
  return curve;
}

/// The area under the ROC curve: the share of pairs in which the positive input has a larger score
/// than the negative one, equal scores counted half (Mann and Whitney's U over the number of
/// pairs). Absent where all inputs are of one kind. Errors and cost are those of `roc_curve`.
template <detail::Flags Positive>
[[nodiscard]] std::optional<double> area_under_roc(std::span<const double> scores,
                                                   const Positive& positive) {
  const std::vector<RocPoint> curve = roc_curve(scores, positive);
  if (curve.empty()) return std::nullopt;
  double area = 0;
  for (std::size_t k = 1; k < curve.size(); ++k) {
    area += (curve[k].false_positive_rate - curve[k - 1].false_positive_rate) *
            (curve[k].true_positive_rate + curve[k - 1].true_positive_rate) / 2;
  }
  return area;
}

// Quality of class probabilities, measured by the true labels.

/// The mean of `log_losses`. Shapes and errors are those of `log_losses`.
[[nodiscard]] inline double log_loss(const Eigen::Ref<const Eigen::MatrixXd>& probabilities,
                                     std::span<const int> labels, std::span<const int> classes) {
  double sum = 0;
  for (const double loss : log_losses(probabilities, labels, classes)) sum += loss;
  return sum / static_cast<double>(labels.size());
}

/// The mean over inputs of sum_c (p_c - 1[label is c])^2 (Brier, 1950), from 0 to 2; with one
/// column 2 (p - 1[second class])^2. Shapes and errors are those of `log_losses`.
[[nodiscard]] inline double brier_score(const Eigen::Ref<const Eigen::MatrixXd>& probabilities,
                                        std::span<const int> labels, std::span<const int> classes) {
  const char* const f = "brier_score";
  const auto index = detail::checked_indices(probabilities, labels, classes, f);
  double sum = 0;
  for (std::size_t i = 0; i < index.size(); ++i) {
    for (std::size_t c = 0; c < classes.size(); ++c) {
      const auto column = static_cast<Eigen::Index>(c);
      const double p = detail::probability_at(probabilities, static_cast<Eigen::Index>(i), column);
      const double distance = p - (index[i] == column ? 1 : 0);
      sum += distance * distance;
    }
  }
  return sum / static_cast<double>(index.size());
}

/// The inputs whose most probable class has a probability within one part of [0, 1].
struct ReliabilityBin {
  std::size_t inputs = 0;  ///< Number of inputs in this part.
  double probability = 0;  ///< Mean of their largest probability; 0 without inputs.
  double correct = 0;      ///< Share whose label is that class; 0 without inputs.
};

/// The reliability diagram: inputs by their largest probability (the first among equals), in `bins`
/// parts of [0, 1] of equal width; 1 belongs to the last part.
/// \throws std::invalid_argument as `log_losses`, and without bins.
[[nodiscard]] inline std::vector<ReliabilityBin> reliability_diagram(
    const Eigen::Ref<const Eigen::MatrixXd>& probabilities, std::span<const int> labels,
    std::span<const int> classes, std::size_t bins = 15) {
  const char* const f = "reliability_diagram";
  detail::check(bins > 0, f, "bins", "is 0, must be at least 1");
  const auto index = detail::checked_indices(probabilities, labels, classes, f);
  std::vector<ReliabilityBin> diagram(bins);
  for (std::size_t i = 0; i < index.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    const auto most = detail::class_of_outputs(std::ssize(classes), [&](std::ptrdiff_t c) {
      return detail::probability_at(probabilities, row, c);
    });
    const double p = detail::probability_at(probabilities, row, most);
    ReliabilityBin& bin =
        diagram[std::min(bins - 1, static_cast<std::size_t>(p * static_cast<double>(bins)))];
    ++bin.inputs;
    bin.probability += p;
    bin.correct += most == index[i] ? 1 : 0;
  }
  for (ReliabilityBin& bin : diagram) {
    if (bin.inputs == 0) continue;
    bin.probability /= static_cast<double>(bin.inputs);
    bin.correct /= static_cast<double>(bin.inputs);
  }
  return diagram;
}

/// The expected calibration error: |correct - probability|, averaged over the inputs of a
/// reliability diagram. \throws std::invalid_argument where it has no input.
[[nodiscard]] inline double calibration_error(std::span<const ReliabilityBin> diagram) {
  double sum = 0;
  double inputs = 0;
  for (const ReliabilityBin& bin : diagram) {
    const auto count = static_cast<double>(bin.inputs);
    sum += count * std::abs(bin.correct - bin.probability);
    inputs += count;
  }
  detail::check(inputs > 0, "calibration_error", "diagram", "has no input");
  return sum / inputs;
}

// The error of the accepted inputs as a function of the number of rejected ones.

/// The error-reject curve at the given rates, in their order: for each the floor(rate * n) lowest
/// scores are rejected, equal scores by index (`rejected_indices`), and the errors of the rest
/// counted. `correct[i]` is true if input i was classified correctly; any range of flags.
/// Throws `std::invalid_argument` without a score, if one is not finite, the sizes differ, or a
/// rate is outside [0, 1). Cost O(n log n + number of rates).
template <detail::Flags Correct = std::vector<bool>>
[[nodiscard]] std::vector<ErrorRejectPoint> error_reject_curve(std::span<const double> scores,
                                                               const Correct& correct,
                                                               std::span<const double> rates) {
  const char* const function = "error_reject_curve";
  const auto whole =
      detail::whole_curve(detail::rejection_order(scores, function), correct, function);
  std::vector<ErrorRejectPoint> curve;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    curve.push_back(whole[detail::rejection_count(rates[i], scores.size(), function,
                                                  detail::join("rates[", i, "]"))]);
    curve.back().rate = rates[i];
  }
  return curve;
}

/// The whole error-reject curve: its n points for 0, 1, ..., n - 1 rejected inputs.
template <detail::Flags Correct = std::vector<bool>>
[[nodiscard]] std::vector<ErrorRejectPoint> error_reject_curve(std::span<const double> scores,
                                                               const Correct& correct) {
  const char* const function = "error_reject_curve";
  return detail::whole_curve(detail::rejection_order(scores, function), correct, function);
}

/// The area under the error-reject curve,
///
///     AURC = (1/n) sum_{k=0}^{n-1} e_k / (n - k),
///
/// where e_k counts the errors among the n - k inputs that are left when the k lowest scores are
/// rejected, equal scores by index. It is the mean of the errors of the whole curve: the error rate
/// if scores were noise (on average), less the better the score finds the errors.
/// (Y. Geifman, G. Uziel, R. El-Yaniv, "Bias-Reduced Uncertainty Estimation for Deep Neural
/// Classifiers", ICLR 2019, with the 0-1 loss.)
/// Errors are those of `error_reject_curve`. Cost O(n log n).
template <detail::Flags Correct = std::vector<bool>>
[[nodiscard]] double area_under_error_reject_curve(std::span<const double> scores,
                                                   const Correct& correct) {
  const char* const function = "area_under_error_reject_curve";
  double sum = 0;
  for (const auto& point :
       detail::whole_curve(detail::rejection_order(scores, function), correct, function)) {
    sum += point.error;
  }
  return sum / static_cast<double>(scores.size());
}

}}  // namespace bpm
