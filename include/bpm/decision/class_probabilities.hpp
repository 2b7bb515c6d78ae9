// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/decision/evaluation.hpp"
#include "bpm/decision/scores.hpp"

/// \file
/// Probabilities from outputs by one slope s > 0, the inverse of a temperature, and optionally one
/// offset b_c per class: logistic(s f + b) for two classes, softmax(s f_c + b_c) for several. Since
/// s is positive and shared, without offsets the most probable class is that of the largest output,
/// and the order of scores is kept.

namespace bpm { inline namespace BPM_TARGET {

/// Class probabilities of the shape of `decision_values`: n x C, softmax of s f_c + b_c over a row;
/// or n x 1, the probability of the second of two classes, logistic. `offsets`: the b_c, one per
/// column, or none. `judged`: number of rows that slope and offsets were fitted to, 0 if unknown.
/// Such a fit cannot resolve chances below e = 1 / (judged + 2): probabilities of two classes are
/// clamped to [e, 1 - e], those of C raised to e / (C - 1) before a row is divided by its sum; 0:
/// no clamping. Cost O(n C).
/// \throws std::invalid_argument on values that are not finite, none at all, a slope that is not
///         positive and finite, or offsets that are not one per column and finite.
[[nodiscard]] BPM_INLINE Eigen::MatrixXd probabilities_of(
    const Eigen::Ref<const Eigen::MatrixXd>& decision_values, double slope,
    std::span<const double> offsets = {}, std::size_t judged = 0);

/// A slope fitted to outputs, the offsets if asked for, and the loss of the fit.
struct FittedSlope {
  double slope = 1;  ///< s > 0, the inverse of a temperature.
  double loss = 0;   ///< Mean loss in nats, against smoothed targets, without the offsets' ridge.
  double standard_error = 0;      ///< Standard error of that mean over the inputs.
  std::vector<double> offsets{};  ///< Offsets, one per column, or none.
};

#if BPM_BODIES

BPM_INLINE Eigen::MatrixXd probabilities_of(
    const Eigen::Ref<const Eigen::MatrixXd>& decision_values, double slope,
    std::span<const double> offsets, std::size_t judged) {
  const char* const f = "probabilities_of";
  detail::check_decision_values(decision_values, f);
  detail::check_positive(f, "slope", slope);
  Eigen::MatrixXd result = slope * decision_values;
  if (!offsets.empty()) {
    detail::check_size(f, "offsets", offsets.size(), result.cols(), "one a column, or none");
    for (Eigen::Index c = 0; c < result.cols(); ++c) {
      const double offset = offsets[static_cast<std::size_t>(c)];
      detail::check(std::isfinite(offset), f, "offsets", "at ", c, " is ", offset,
                    ", must be finite");
      result.col(c).array() += offset;
    }
  }
  const double rare = judged == 0 ? 0 : 1 / (static_cast<double>(judged) + 2);
  if (result.cols() == 1) {
    result = (1 + (-result.array()).exp()).inverse().max(rare).min(1 - rare).matrix().eval();
    return result;
  }
  const double least = rare / static_cast<double>(result.cols() - 1);
  for (Eigen::Index i = 0; i < result.rows(); ++i) {
    result.row(i) = (result.row(i).array() - result.row(i).maxCoeff()).exp().eval();
    result.row(i) /= result.row(i).sum();
    if (least > 0) {
      result.row(i) = result.row(i).array().max(least).eval();
      result.row(i) /= result.row(i).sum();
    }
  }
  return result;
}

namespace detail {

/// The loss of `fit_slope` for outputs at n inputs, n x C; for two classes with a first column of
/// zeros, so that the softmax is the logistic function.
class SlopeLoss {
 public:
  SlopeLoss(const Eigen::Ref<const Eigen::MatrixXd>& decision_values, std::vector<Eigen::Index> own,
            std::size_t classes)
      : own_(std::move(own)),
        fixed_(static_cast<Eigen::Index>(classes) - decision_values.cols()),
        outputs_(Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(classes), decision_values.rows())),
        error_(1 / (static_cast<double>(decision_values.rows()) + 2)) {
    outputs_.bottomRows(decision_values.cols()) = decision_values.transpose();
    scale_ = std::sqrt(outputs_.squaredNorm() / static_cast<double>(outputs_.size()));
    offsets_.setZero(outputs_.rows());
  }

  double mean = 0, standard_error = 0;  ///< Mean loss, at the last evaluation.
  double slope = 0, curvature = 0;      ///< First and second derivative of the summed loss in s.

  /// Smallest allowed slope.
  [[nodiscard]] double least() const { return 1e-6 / (scale_ > 0 ? scale_ : 1); }

  /// Evaluates the loss and its derivatives at slope s and the current offsets.
  void ask(double s) {
    double sum = 0, squares = 0;
    slope = curvature = 0;
    const auto classes = outputs_.rows();
    for (Eigen::Index i = 0; i < outputs_.cols(); ++i) {
      const auto f = outputs_.col(i);
      weights_ = s * f + offsets_;
      const double largest = weights_.maxCoeff();
      const double target = target_of(i, f);
      double loss = s * target + target_of(i, offsets_);
      weights_ = (weights_.array() - largest).exp().matrix().eval();
      const double total = weights_.sum();
      loss = std::log(total) + largest - loss;
      sum += loss;
      squares += loss * loss;
      double first = 0, second = 0;
      for (Eigen::Index c = 0; c < classes; ++c) {
        const double away = f[c] - f[own_[static_cast<std::size_t>(i)]];
        first += weights_[c] * away;
        second += weights_[c] * away * away;
      }
      slope += first / total + f[own_[static_cast<std::size_t>(i)]] - target;
      curvature += second / total - first / total * (first / total);
    }
    const auto n = static_cast<double>(outputs_.cols());
    mean = sum / n;
    standard_error = n > 1 ? std::sqrt(std::max(0.0, squares / n - mean * mean) / (n - 1)) : 0;
  }

  /// Fits the slope without offsets, evaluates the loss there, and returns the slope.
  double fit_slope() {
    double slope_found = 1;
    if (scale_ > 0) {
      // The derivative grows with s: negative at `low`, unless the smallest slope is best.
      double low = least();
      slope_found = low;
      const auto derivative = [&](double s) {
        ask(s);
        return slope;
      };
      if (derivative(low) < 0) {
        double high = 1 / scale_;
        while (derivative(high) < 0 && high < 1e12 / scale_) {
          low = high;
          high *= 4;
        }
        slope_found = std::sqrt(low * high);
        for (int step = 0; step < 60 && high - low > 1e-12 * high; ++step) {
          ask(slope_found);
          (slope < 0 ? low : high) = slope_found;
          const double change = slope / curvature;
          const double newton = slope_found - change;
          slope_found = newton > low && newton < high ? newton : std::sqrt(low * high);
          if (newton == slope_found && std::abs(change) < 1e-13 * slope_found) break;
        }
      }
    }
    ask(slope_found);
    return slope_found;
  }

  /// Fits offsets and slope together, from slope `s` on, by Newton's method with conjugate
  /// gradients and halved steps; adds ridge / 2 sum b_c^2 to the sum of losses. Returns the slope.
  double fit_offsets(double s, double ridge) {
    const auto classes = outputs_.rows();
    const auto penalised = [&](double at) {
      ask(at);
      return mean * static_cast<double>(outputs_.cols()) + 0.5 * ridge * offsets_.squaredNorm();
    };
    double value = penalised(s);
    // The unknowns are theta = (s, b). Products with the Hessian use the probabilities p_i: sum_i
    // J_i' (diag p_i - p_i p_i') J_i with J_i theta = f_i s + b.
    for (int step = 0; step < 50; ++step) {
      Eigen::MatrixXd p(classes, outputs_.cols());
      Eigen::VectorXd gradient = Eigen::VectorXd::Zero(classes + 1);
      for (Eigen::Index i = 0; i < p.cols(); ++i) {
        weights_ = s * outputs_.col(i) + offsets_;
        p.col(i) = (weights_.array() - weights_.maxCoeff()).exp();
        p.col(i) /= p.col(i).sum();
        gradient[0] += p.col(i).dot(outputs_.col(i)) - target_of(i, outputs_.col(i));
        gradient.tail(classes) += p.col(i);
        gradient.tail(classes).array() -= error_ / static_cast<double>(classes - 1);
        gradient[1 + own_[static_cast<std::size_t>(i)]] -=
            1 - error_ * static_cast<double>(classes) / static_cast<double>(classes - 1);
      }
      gradient.tail(classes) += ridge * offsets_;
      gradient.segment(1, fixed_).setZero();
      const auto product = [&](const Eigen::VectorXd& v) {
        Eigen::VectorXd result = Eigen::VectorXd::Zero(classes + 1);
        for (Eigen::Index i = 0; i < p.cols(); ++i) {
          weights_ = outputs_.col(i) * v[0] + v.tail(classes);
          const double centre = p.col(i).dot(weights_);
          weights_ = p.col(i).cwiseProduct((weights_.array() - centre).matrix()).eval();
          result[0] += weights_.dot(outputs_.col(i));
          result.tail(classes) += weights_;
        }
        result.tail(classes) += ridge * v.tail(classes);
        result.segment(1, fixed_).setZero();
        return result;
      };
      Eigen::VectorXd direction = Eigen::VectorXd::Zero(classes + 1);
      Eigen::VectorXd residual = -gradient;
      Eigen::VectorXd search = residual;
      double squared = residual.squaredNorm();
      const double enough = 1e-8 * squared;
      for (Eigen::Index k = 0; k <= 2 * classes && squared > enough; ++k) {
        const Eigen::VectorXd along = product(search);
        const double curved = search.dot(along);
        if (!(curved > 0)) break;
        direction += squared / curved * search;
        residual -= squared / curved * along;
        const double next = residual.squaredNorm();
        search = residual + next / squared * search;
        squared = next;
      }
      const double decrease = -gradient.dot(direction);
      if (!(decrease > 1e-10)) break;
      const double from = s;
      const Eigen::VectorXd before = offsets_;
      double part = 1;
      for (; part > 1e-9; part /= 2) {
        s = std::max(least(), from + part * direction[0]);
        offsets_ = before + part * direction.tail(classes);
        if (const double now = penalised(s); now < value) {
          value = now;
          break;
        }
      }
      if (part <= 1e-9) {
        s = from;
        offsets_ = before;
        break;
      }
    }
    ask(s);
    return s;
  }

  [[nodiscard]] std::vector<double> offsets() const {
    return {offsets_.data() + fixed_, offsets_.data() + offsets_.size()};
  }
  /// Copies the offsets of another loss, for evaluation.
  void take_offsets(const SlopeLoss& other) { offsets_ = other.offsets_; }

 private:
  /// sum_c t_c v_c with t_c = 1 - e for the class of input i; the others share e equally.
  template <class V>
  [[nodiscard]] double target_of(Eigen::Index i, const V& v) const {
    const double own = v[own_[static_cast<std::size_t>(i)]];
    return own + error_ * (v.sum() - static_cast<double>(v.size()) * own) /
                     static_cast<double>(v.size() - 1);
  }

  std::vector<Eigen::Index> own_;
  Eigen::Index fixed_;       ///< 1 for two classes, whose first has no offset; else 0.
  Eigen::MatrixXd outputs_;  ///< Outputs, C x n.
  Eigen::VectorXd offsets_;
  Eigen::VectorXd weights_;
  double error_;
  double scale_ = 0;  ///< Root mean square of the outputs.
};

/// Returns the ridge on offsets, 1, 10 or 100, with the smallest loss in five-fold cross-validation
/// over the rows; 0 if none is better than no offsets. With many classes, few errors determine an
/// offset badly.
[[nodiscard]] inline double best_ridge(const Eigen::Ref<const Eigen::MatrixXd>& decision_values,
                                       const std::vector<Eigen::Index>& index,
                                       std::size_t classes) {
  constexpr std::array<double, 4> ridges{0, 100, 10, 1};
  constexpr Eigen::Index folds = 5;
  std::array<double, ridges.size()> losses{};
  for (Eigen::Index k = 0; k < folds && decision_values.rows() >= 2 * folds; ++k) {
    std::array<std::vector<Eigen::Index>, 2> rows;  // Rows that fit; rows that are judged.
    std::array<std::vector<Eigen::Index>, 2> own;
    for (Eigen::Index i = 0; i < decision_values.rows(); ++i) {
      const std::size_t part = i % folds == k ? 1 : 0;
      rows[part].push_back(i);
      own[part].push_back(index[static_cast<std::size_t>(i)]);
    }
    SlopeLoss fitted(decision_values(rows[0], Eigen::all), own[0], classes);
    SlopeLoss judged(decision_values(rows[1], Eigen::all), own[1], classes);
    double s = fitted.fit_slope();
    for (std::size_t r = 0; r < ridges.size(); ++r) {
      if (ridges[r] > 0) s = fitted.fit_offsets(s, ridges[r]);
      judged.take_offsets(fitted);
      judged.ask(s);
      losses[r] += judged.mean;
    }
  }
  return ridges[static_cast<std::size_t>(std::ranges::min_element(losses) - losses.begin())];
}

/// Fits slopes to several machines' outputs at the same inputs, with one ridge on offsets, chosen
/// for the machine with the smallest loss without offsets.
[[nodiscard]] inline std::vector<FittedSlope> fit_slopes(
    const std::vector<Eigen::Ref<const Eigen::MatrixXd>>& outputs, std::span<const int> labels,
    std::span<const int> classes, bool with_offsets) {
  const char* const f = "fit_slope";
  std::vector<FittedSlope> results;
  std::vector<Eigen::Index> own;
  for (const auto& of_machine : outputs) {
    check_decision_values(of_machine, f);
    own = class_indices(labels, classes, of_machine.rows(), of_machine.cols(), f);
    SlopeLoss loss(of_machine, own, classes.size());
    const double slope = loss.fit_slope();
    results.push_back({slope, loss.mean, loss.standard_error,
                       with_offsets ? loss.offsets() : std::vector<double>{}});
  }
  if (!with_offsets) return results;
  const auto best = std::ranges::min_element(results, {}, &FittedSlope::loss) - results.begin();
  const double ridge = best_ridge(outputs[static_cast<std::size_t>(best)], own, classes.size());
  for (std::size_t k = 0; k < outputs.size() && ridge > 0; ++k) {
    SlopeLoss loss(outputs[k], own, classes.size());
    const double slope = loss.fit_offsets(results[k].slope, ridge);
    results[k] = {slope, loss.mean, loss.standard_error, loss.offsets()};
  }
  return results;
}

}  // namespace detail
#endif

/// Fits the slope with the smallest log loss on outputs at inputs that did not train (out-of-fold
/// outputs: one slope for all folds), and with `with_offsets` an offset per column (for two classes
/// only of the second) with a ridge of r / 2 sum b_c^2 on the sum of losses, where five-fold
/// cross-validation over the rows chooses r = 1, 10, 100 or infinite. Targets are smoothed by one
/// error in all n inputs: an input is of its class by (n + 1) / (n + 2), of the others, in equal
/// parts, by the rest, so that outputs without an error have a finite slope. (Platt, 1999, smooths
/// by the inputs of each class, which with many classes invents as many errors.) The loss is
/// convex; s is found by bracketed Newton steps. Outputs that contradict the labels, or tell
/// nothing, give the smallest slope, 1e-6 over the outputs' root mean square (of one column times
/// sqrt 2; all zero: 1). Cost: some 30 n C exponentials; with offsets some 100 times.
///
/// Shapes are those of `log_losses`. \throws std::invalid_argument as `log_losses`, and on values
/// that are not finite.
[[nodiscard]] BPM_INLINE FittedSlope
fit_slope(const Eigen::Ref<const Eigen::MatrixXd>& decision_values, std::span<const int> labels,
          std::span<const int> classes, bool with_offsets = false);

#if BPM_BODIES

BPM_INLINE FittedSlope fit_slope(const Eigen::Ref<const Eigen::MatrixXd>& decision_values,
                                 std::span<const int> labels, std::span<const int> classes,
                                 bool with_offsets) {
  return detail::fit_slopes({decision_values}, labels, classes, with_offsets).front();
}

#endif

}}  // namespace bpm
