// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/target.hpp"

/// \file
/// How good probabilities of classes are, by the labels that came true. Probabilities are n x C, a
/// column a class in the order of `classes` (ascending); of two classes also n x 1, those of the
/// second. All functions throw `std::invalid_argument` without an input, if sizes disagree, on
/// numbers outside [0, 1] and on labels that are not among the classes; cost O(n C).

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// The class index of each label. \throws as the file says.
[[nodiscard]] inline std::vector<Eigen::Index> class_indices(std::span<const int> labels,
                                                             std::span<const int> classes,
                                                             Eigen::Index rows,
                                                             Eigen::Index columns,
                                                             std::string_view function) {
  check(rows > 0, function, "inputs", "are none, must be at least one");
  check_size(function, "labels", labels.size(), rows, "one per input");
  check(classes.size() >= 2 && std::ranges::is_sorted(classes, std::less_equal<>{}), function,
        "classes", "must be at least two, and ascend");
  check_size(function, "columns", columns,
             columns == 1 && classes.size() == 2 ? 1 : std::ssize(classes),
             "one per class; of two classes one may do");
  std::vector<Eigen::Index> indices(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto at = std::ranges::lower_bound(classes, labels[i]);
    check(at != classes.end() && *at == labels[i], function, join("labels[", i, "]"), "is ",
          labels[i], ", must be one of the given classes");
    indices[i] = at - classes.begin();
  }
  return indices;
}

/// P(class c | input i), whatever the number of columns.
[[nodiscard]] inline double probability_at(const Eigen::Ref<const Eigen::MatrixXd>& probabilities,
                                           Eigen::Index i, Eigen::Index c) {
  if (probabilities.cols() > 1) return probabilities(i, c);
  return c == 1 ? probabilities(i, 0) : 1 - probabilities(i, 0);
}

inline void check_probabilities(const Eigen::Ref<const Eigen::MatrixXd>& probabilities,
                                std::string_view function) {
  for (Eigen::Index c = 0; c < probabilities.cols(); ++c) {
    for (Eigen::Index i = 0; i < probabilities.rows(); ++i) {
      const double p = probabilities(i, c);
      check(p >= 0 && p <= 1, function, "probabilities", "at (", i, ", ", c, ") are ", p,
            ", must lie in [0, 1]");
    }
  }
}

}  // namespace detail

/// -log p of each input's label, in nats; infinity where that was given no probability.
[[nodiscard]] inline std::vector<double> log_losses(
    const Eigen::Ref<const Eigen::MatrixXd>& probabilities, std::span<const int> labels,
    std::span<const int> classes) {
  const char* const f = "log_losses";
  const auto index =
      detail::class_indices(labels, classes, probabilities.rows(), probabilities.cols(), f);
  detail::check_probabilities(probabilities, f);
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

/// The mean of `log_losses`.
[[nodiscard]] inline double log_loss(const Eigen::Ref<const Eigen::MatrixXd>& probabilities,
                                     std::span<const int> labels, std::span<const int> classes) {
  double sum = 0;
  for (const double loss : log_losses(probabilities, labels, classes)) sum += loss;
  return sum / static_cast<double>(labels.size());
}

/// The mean over inputs of sum_c (p_c - 1[label is c])^2 (Brier, 1950), over all classes: from 0 to
/// 2. Of two classes twice the squared distance of the one probability.
[[nodiscard]] inline double brier_score(const Eigen::Ref<const Eigen::MatrixXd>& probabilities,
                                        std::span<const int> labels, std::span<const int> classes) {
  const char* const f = "brier_score";
  const auto index =
      detail::class_indices(labels, classes, probabilities.rows(), probabilities.cols(), f);
  detail::check_probabilities(probabilities, f);
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
  std::size_t inputs = 0;
  double probability = 0;  ///< Mean of the largest probability; 0 without inputs.
  double correct = 0;      ///< Share of inputs of which that class is the label; likewise.
};

/// The reliability diagram: inputs by their largest probability (the first among equals), in `bins`
/// parts of [0, 1] of equal width; 1 is of the last.
/// \throws std::invalid_argument also without bins.
[[nodiscard]] inline std::vector<ReliabilityBin> reliability_diagram(
    const Eigen::Ref<const Eigen::MatrixXd>& probabilities, std::span<const int> labels,
    std::span<const int> classes, std::size_t bins = 15) {
  const char* const f = "reliability_diagram";
  detail::check(bins > 0, f, "bins", "is 0, must be at least 1");
  const auto index =
      detail::class_indices(labels, classes, probabilities.rows(), probabilities.cols(), f);
  detail::check_probabilities(probabilities, f);
  std::vector<ReliabilityBin> diagram(bins);
  for (std::size_t i = 0; i < index.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    Eigen::Index most = 0;
    for (std::size_t c = 1; c < classes.size(); ++c) {
      const auto column = static_cast<Eigen::Index>(c);
      if (detail::probability_at(probabilities, row, column) >
          detail::probability_at(probabilities, row, most)) {
        most = column;
      }
    }
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

}}  // namespace bpm
