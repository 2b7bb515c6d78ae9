// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/target.hpp"
#include "bpm/decision/probability_losses.hpp"
#include "bpm/decision/scores.hpp"

/// \file
/// Probabilities from outputs by one slope s > 0, the inverse of a temperature: logistic(s f) of
/// two classes, softmax(s f) of several. Since s is positive and shared, the most probable class is
/// that of the largest output, and the order of scores stays.

namespace bpm::inline BPM_TARGET {

/// The probabilities of classes, of the shape of `decision_values`: n x C, softmax over a row; or
/// n x 1, the second of two classes, logistic. Cost O(n C).
/// \throws std::invalid_argument on values that are not finite, none at all, or a slope that is not
///         positive and finite.
[[nodiscard]] inline Eigen::MatrixXd probabilities_of(
    const Eigen::Ref<const Eigen::MatrixXd>& decision_values, double slope) {
  const char* const f = "probabilities_of";
  detail::check_decision_values(decision_values, f);
  detail::check_positive(f, "slope", slope);
  Eigen::MatrixXd result = slope * decision_values;
  if (result.cols() == 1) {
    result = (1 + (-result.array()).exp()).inverse().matrix().eval();
    return result;
  }
  for (Eigen::Index i = 0; i < result.rows(); ++i) {
    result.row(i) = (result.row(i).array() - result.row(i).maxCoeff()).exp().eval();
    result.row(i) /= result.row(i).sum();
  }
  return result;
}

/// A slope fitted to outputs, and how well it fits.
struct FittedSlope {
  double slope = 1;
  double loss = 0;            ///< Mean loss at the slope, in nats, against smoothed targets.
  double standard_error = 0;  ///< Of that mean over the inputs.
};

/// The slope with the smallest log loss on outputs at inputs that did not train (out-of-fold
/// outputs: one slope for all folds). Targets are smoothed as by Platt (1999): an input of class c,
/// which has n_c inputs, is of it by (n_c + 1) / (n_c + 2), and of the others, in equal parts, by
/// the rest; so that outputs without an error have a finite slope as well. The loss is convex in s;
/// by Newton's method in brackets. Outputs that say the opposite of the labels, or nothing: the
/// smallest slope, 1e-6 over the root mean square of the outputs. Cost: some 30 n C exponentials.
///
/// Shapes as `log_losses`. \throws std::invalid_argument as that, and on values that are not
/// finite.
[[nodiscard]] inline FittedSlope fit_slope(const Eigen::Ref<const Eigen::MatrixXd>& decision_values,
                                           std::span<const int> labels,
                                           std::span<const int> classes) {
  const char* const f = "fit_slope";
  detail::check_decision_values(decision_values, f);
  const auto index =
      detail::class_indices(labels, classes, decision_values.rows(), decision_values.cols(), f);
  const Eigen::Index n = decision_values.rows();
  const auto count = static_cast<Eigen::Index>(classes.size());
  // Of two classes the outputs 0 and f: their softmax is the logistic function.
  Eigen::MatrixXd outputs = Eigen::MatrixXd::Zero(n, count);
  outputs.rightCols(decision_values.cols()) = decision_values;
  std::vector<double> of_class(classes.size(), 0.0);
  for (const Eigen::Index c : index) ++of_class[static_cast<std::size_t>(c)];

  const double scale = std::sqrt(decision_values.squaredNorm() / static_cast<double>(n * count));
  if (scale == 0) {
    return {1, std::log(static_cast<double>(count)), 0};
  }
  struct Loss {
    double mean = 0, square = 0, slope = 0, curvature = 0;
  };
  const auto loss_at = [&](double s) {
    Loss total;
    for (Eigen::Index i = 0; i < n; ++i) {
      const Eigen::Index own = index[static_cast<std::size_t>(i)];
      const double largest = outputs.row(i).maxCoeff();
      double sum = 0, first = 0, second = 0, all = 0;
      for (Eigen::Index c = 0; c < count; ++c) {
        const double away = outputs(i, c) - largest;
        const double weight = std::exp(s * away);
        sum += weight;
        first += weight * away;
        second += weight * away * away;
        all += away;
      }
      const double away = outputs(i, own) - largest;
      const double other = 1 / (of_class[static_cast<std::size_t>(own)] + 2);
      const double target =
          (1 - other) * away + other * (all - away) / static_cast<double>(count - 1);
      const double loss = std::log(sum) - s * target;
      total.mean += loss;
      total.square += loss * loss;
      total.slope += first / sum - target;
      total.curvature += second / sum - first / sum * (first / sum);
    }
    return total;
  };
  // The derivative grows with s: negative at `low`, unless the smallest slope is the best.
  double low = 1e-6 / scale;
  double slope = low;
  if (loss_at(low).slope < 0) {
    double high = 1 / scale;
    while (loss_at(high).slope < 0 && high < 1e12 / scale) {
      low = high;
      high *= 4;
    }
    slope = std::sqrt(low * high);
    for (int step = 0; step < 60 && high - low > 1e-12 * high; ++step) {
      const Loss at = loss_at(slope);
      (at.slope < 0 ? low : high) = slope;
      const double newton = slope - at.slope / at.curvature;
      slope = newton > low && newton < high ? newton : std::sqrt(low * high);
      if (std::abs(newton - slope) == 0 && std::abs(at.slope / at.curvature) < 1e-13 * slope) break;
    }
  }
  const Loss at = loss_at(slope);
  const auto inputs = static_cast<double>(n);
  const double mean = at.mean / inputs;
  const double variance = std::max(0.0, at.square / inputs - mean * mean);
  return {slope, mean, n > 1 ? std::sqrt(variance / (inputs - 1)) : 0};
}

}  // namespace bpm
