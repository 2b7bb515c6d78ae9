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
#include "bpm/core/lanes.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
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
/// no clamping. Of no rows there are no probabilities. Cost O(n C).
/// \throws std::invalid_argument on values that are not finite, no column, a slope that is not
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

namespace detail {
/// Fits slopes to several machines' outputs at the same inputs, with one ridge on offsets.
[[nodiscard]] BPM_INLINE std::vector<FittedSlope> fit_slopes(
    const std::vector<Eigen::Ref<const Eigen::MatrixXd>>& outputs, std::span<const int> labels,
    std::span<const int> classes, bool with_offsets);
}  // namespace detail

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
[[nodiscard]] inline FittedSlope fit_slope(const Eigen::Ref<const Eigen::MatrixXd>& decision_values,
                                           std::span<const int> labels,
                                           std::span<const int> classes,
                                           bool with_offsets = false) {
  return detail::fit_slopes({decision_values}, labels, classes, with_offsets).front();
}

#if BPM_BODIES

BPM_INLINE Eigen::MatrixXd probabilities_of(
    const Eigen::Ref<const Eigen::MatrixXd>& decision_values, double slope,
    std::span<const double> offsets, std::size_t judged) {
  using Eigen::Index;
  const char* const f = "probabilities_of";
  const bool none = decision_values.rows() == 0 && decision_values.cols() > 0;
  if (!none) detail::check_decision_values(decision_values, f);
  detail::check_positive(f, "slope", slope);
  const Index rows = decision_values.rows(), columns = decision_values.cols();
  Eigen::MatrixXd result(rows, columns);
  for (Index c = 0; c < columns; ++c) {
    for (Index i = 0; i < rows; ++i) result(i, c) = slope * decision_values(i, c);
  }
  if (!offsets.empty()) {
    detail::check_size(f, "offsets", offsets.size(), columns, "one a column, or none");
    for (Index c = 0; c < columns; ++c) {
      const double offset = offsets[static_cast<std::size_t>(c)];
      detail::check(std::isfinite(offset), f, "offsets", "at ", c, " is ", offset,
                    ", must be finite");
      for (Index i = 0; i < rows; ++i) result(i, c) += offset;
    }
  }
  const double rare = judged == 0 ? 0 : 1 / (static_cast<double>(judged) + 2);
  if (columns == 1) {
    double* const values = result.data();
    for (Index i = 0; i < rows; ++i) values[i] = -values[i];
    detail::take_exponentials(values, rows);
    for (Index i = 0; i < rows; ++i) {
      values[i] = std::min(std::max(1 / (1 + values[i]), rare), 1 - rare);
    }
    return result;
  }
  const double least = rare / static_cast<double>(columns - 1);
  for (Index i = 0; i < rows; ++i) {
    double largest = result(i, 0), sum = 0;
    for (Index c = 1; c < columns; ++c) largest = std::max(largest, result(i, c));
    for (Index c = 0; c < columns; ++c) sum += result(i, c) = std::exp(result(i, c) - largest);
    for (Index c = 0; c < columns; ++c) result(i, c) /= sum;
    if (least <= 0) continue;
    sum = 0;
    for (Index c = 0; c < columns; ++c) sum += result(i, c) = std::max(result(i, c), least);
    for (Index c = 0; c < columns; ++c) result(i, c) /= sum;
  }
  return result;
}

namespace detail {

/// The loss of `fit_slope` for outputs at n inputs, n x C; for two classes with a first column of
/// zeros, so that the softmax is the logistic function.
class SlopeLoss {
  using Index = Eigen::Index;

 public:
  /// `own`: the class of each input, by number; `rows`: the inputs' rows, or none for all.
  SlopeLoss(const Eigen::Ref<const Eigen::MatrixXd>& decision_values, std::vector<Index> own,
            std::size_t classes, std::span<const Index> rows = {})
      : own_(std::move(own)),
        fixed_(static_cast<Index>(classes) - decision_values.cols()),
        outputs_(static_cast<Index>(classes), std::ssize(own_)),
        offsets_(outputs_.rows()),
        weights_(outputs_.rows()),
        error_(1 / (static_cast<double>(own_.size()) + 2)) {
    for (Index i = 0; i < outputs_.cols(); ++i) {
      double* const f = outputs_of(i);
      std::fill_n(f, fixed_, 0.0);
      const Index row = rows.empty() ? i : rows[static_cast<std::size_t>(i)];
      for (Index c = fixed_; c < outputs_.rows(); ++c) f[c] = decision_values(row, c - fixed_);
    }
    std::fill_n(offsets_.data(), offsets_.size(), 0.0);
    const double squared = dot_of(outputs_.data(), outputs_.data(), outputs_.size());
    scale_ = std::sqrt(squared / static_cast<double>(outputs_.size()));
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
    for (Index i = 0; i < outputs_.cols(); ++i) {
      const double* const f = outputs_of(i);
      double* const weights = weights_.data();
      const double largest = weigh(s, i, weights);
      const double target = target_of(i, f);
      double loss = s * target + target_of(i, offsets_.data());
      take_exponentials(weights, classes);
      const double total = sum_of(weights, classes);
      loss = std::log(total) + largest - loss;
      sum += loss;
      squares = multiply_add(loss, loss, squares);
      double first = 0, second = 0;
      const double of_own = f[own_[static_cast<std::size_t>(i)]];
      for (Index c = 0; c < classes; ++c) {
        const double away = f[c] - of_own;
        const double weighted = weights[c] * away;
        first += weighted;
        second = multiply_add(weighted, away, second);
      }
      slope += first / total + of_own - target;
      curvature += multiply_add(-first / total, first / total, second / total);
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
      const auto derivative = [&](double s) { return ask(s), slope; };
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
    const auto classes = outputs_.rows(), size = classes + 1;
    const auto penalised = [&](double at) {
      ask(at);
      return mean * static_cast<double>(outputs_.cols()) +
             0.5 * ridge * dot_of(offsets_.data(), offsets_.data(), classes);
    };
    double value = penalised(s);
    Eigen::MatrixXd p(classes, outputs_.cols());
    Eigen::VectorXd gradient(size), along(size), direction(size), residual(size), search(size);
    // The unknowns are theta = (s, b). Products with the Hessian use the probabilities p_i: sum_i
    // J_i' (diag p_i - p_i p_i') J_i with J_i theta = f_i s + b.
    const auto finish = [&](Eigen::VectorXd& sum, const double* of) {
      set_sum(sum.data() + 1, ridge, of, sum.data() + 1, classes);
      std::fill_n(sum.data() + 1, fixed_, 0.0);
    };
    for (int step = 0; step < 50; ++step) {
      std::fill_n(gradient.data(), size, 0.0);
      for (Index i = 0; i < p.cols(); ++i) {
        double* const shares = p.data() + i * classes;
        weigh(s, i, shares);
        take_exponentials(shares, classes);
        const double total = sum_of(shares, classes);
        for (Index c = 0; c < classes; ++c) shares[c] /= total;
        gradient[0] += dot_of(shares, outputs_of(i), classes) - target_of(i, outputs_of(i));
        const double rest = error_ / static_cast<double>(classes - 1);
        for (Index c = 0; c < classes; ++c) gradient[c + 1] = gradient[c + 1] + shares[c] - rest;
        gradient[1 + own_[static_cast<std::size_t>(i)]] -=
            1 - error_ * static_cast<double>(classes) / static_cast<double>(classes - 1);
      }
      finish(gradient, offsets_.data());
      for (Index k = 0; k < size; ++k) {
        direction[k] = 0;
        residual[k] = search[k] = -gradient[k];
      }
      double squared = dot_of(residual.data(), residual.data(), size);
      const double enough = 1e-8 * squared;
      for (Index k = 0; k <= 2 * classes && squared > enough; ++k) {
        std::fill_n(along.data(), size, 0.0);
        for (Index i = 0; i < p.cols(); ++i) {
          const double* const f = outputs_of(i);
          const double* const shares = p.data() + i * classes;
          set_sum(weights_.data(), search[0], f, search.data() + 1, classes);
          const double centre = dot_of(shares, weights_.data(), classes);
          for (Index c = 0; c < classes; ++c) weights_[c] = shares[c] * (weights_[c] - centre);
          along[0] += dot_of(weights_.data(), f, classes);
          for (Index c = 0; c < classes; ++c) along[c + 1] += weights_[c];
        }
        finish(along, search.data() + 1);
        const double curved = dot_of(search.data(), along.data(), size);
        if (!(curved > 0)) break;
        const double length = squared / curved;
        set_sum(direction.data(), length, search.data(), direction.data(), size);
        set_sum(residual.data(), -length, along.data(), residual.data(), size);
        const double next = dot_of(residual.data(), residual.data(), size);
        set_sum(search.data(), next / squared, search.data(), residual.data(), size);
        squared = next;
      }
      const double decrease = -dot_of(gradient.data(), direction.data(), size);
      if (!(decrease > 1e-10)) break;
      const double from = s;
      const Eigen::VectorXd before = offsets_;
      double part = 1;
      for (; part > 1e-9; part /= 2) {
        s = std::max(least(), from + part * direction[0]);
        set_sum(offsets_.data(), part, direction.data() + 1, before.data(), classes);
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
  [[nodiscard]] double* outputs_of(Index i) { return outputs_.data() + i * outputs_.rows(); }

  /// Sets weights to s f_i + b less the largest of them, and returns that.
  double weigh(double s, Index i, double* weights) {
    const double* const f = outputs_of(i);
    set_sum(weights, s, f, offsets_.data(), outputs_.rows());
    const double largest = *std::max_element(weights, weights + outputs_.rows());
    for (Index c = 0; c < outputs_.rows(); ++c) weights[c] -= largest;
    return largest;
  }

  /// sum_c t_c v_c with t_c = 1 - e for the class of input i; the others share e equally.
  [[nodiscard]] double target_of(Index i, const double* v) const {
    const double own = v[own_[static_cast<std::size_t>(i)]];
    const auto classes = static_cast<double>(outputs_.rows());
    return own + error_ * multiply_add(-classes, own, sum_of(v, outputs_.rows())) / (classes - 1);
  }

  std::vector<Index> own_;
  Index fixed_;              ///< 1 for two classes, whose first has no offset; else 0.
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
    SlopeLoss fitted(decision_values, own[0], classes, rows[0]);
    SlopeLoss judged(decision_values, own[1], classes, rows[1]);
    double s = fitted.fit_slope();
    for (std::size_t r = 0; r < ridges.size(); ++r) {
      if (ridges[r] > 0) s = fitted.fit_offsets(s, ridges[r]);
      judged.take_offsets(fitted);
      judged.ask(s);
      losses[r] += judged.mean;
    }
  }
  return ridges[static_cast<std::size_t>(std::min_element(losses.begin(), losses.end()) -
                                         losses.begin())];
}

BPM_INLINE std::vector<FittedSlope> fit_slopes(
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
  const auto less = [](const FittedSlope& a, const FittedSlope& b) { return a.loss < b.loss; };
  const auto best = std::min_element(results.begin(), results.end(), less) - results.begin();
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

}}  // namespace bpm
