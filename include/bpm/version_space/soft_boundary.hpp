// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// The soft boundary lambda: samplers work with the sampling kernel K + diag(lambda), lambda_i >=
/// 0, which lets a point lie on the wrong side at a price. It acts by index, not by equality of
/// inputs, so that equal inputs with opposite labels become separable.
///
/// lambda is in units of kernel values. ("Robust Bayes Point Machines" scales lambda by K_ii in its
/// (6) and (7) and not in the line after; these functions do not scale, except `relative`.)
class SoftBoundary {
 public:
  /// lambda_i = 0: hard boundaries.
  SoftBoundary() = default;
  [[nodiscard]] static SoftBoundary hard() { return {}; }  ///< A hard boundary.
  /// Lets the fit choose the factor of `relative`, by predictions of machines of a part of the
  /// points for the others, or (expectation propagation) by the evidence: see `BoundaryChoice`. For
  /// samplers with label noise the fit chooses that noise instead, and lambda stays 0 except with
  /// class weights. Methods whose label noise is given get a hard boundary.
  [[nodiscard]] static SoftBoundary automatic() { return SoftBoundary(Kind::automatic); }

  /// One lambda for all points. Throws unless lambda is in [0, 1e100), as all functions here.
  [[nodiscard]] static SoftBoundary uniform(double lambda) {
    check_lambda(lambda, "SoftBoundary::uniform", "lambda");
    return SoftBoundary(Kind::uniform, lambda);
  }
  /// Sets lambda_i = factor K_ii.
  [[nodiscard]] static SoftBoundary relative(double factor) {
    check_lambda(factor, "SoftBoundary::relative", "factor");
    return SoftBoundary(Kind::relative, factor);
  }
  /// Sets one lambda per point, in the order of the training set.
  [[nodiscard]] static SoftBoundary per_point(std::vector<double> lambda) {
    for (const double value : lambda) check_lambda(value, "SoftBoundary::per_point", "lambda");
    SoftBoundary result(Kind::per_point);
    result.per_point_ = std::move(lambda);
    return result;
  }
  /// Sets one lambda per class label; every label of the training set must have one. A smaller
  /// lambda for a rare class makes its training errors dearer.
  [[nodiscard]] static SoftBoundary per_class(std::vector<std::pair<int, double>> lambda) {
    for (std::size_t i = 0; i < lambda.size(); ++i) {
      check_lambda(lambda[i].second, "SoftBoundary::per_class", "lambda");
      for (std::size_t other = 0; other < i; ++other) {
        detail::check(lambda[other].first != lambda[i].first, "SoftBoundary::per_class", "lambda",
                      "has two values for label ", lambda[i].first);
      }
    }
    SoftBoundary result(Kind::per_class);
    result.per_class_ = std::move(lambda);
    return result;
  }

  /// Returns this boundary with lambda_i divided by the weight of the point's class, if given: a
  /// weight above 1 makes a class's training errors dearer. Works on every kind, automatic too.
  /// \throws std::invalid_argument unless weights are positive and finite and labels differ.
  [[nodiscard]] SoftBoundary with_class_weights(std::vector<std::pair<int, double>> weights) const {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      detail::check_positive("SoftBoundary::with_class_weights", "weight", weights[i].second);
      for (std::size_t other = 0; other < i; ++other) {
        detail::check(weights[other].first != weights[i].first, "SoftBoundary::with_class_weights",
                      "weights", "has two values for label ", weights[i].first);
      }
    }
    SoftBoundary result = *this;
    result.class_weights_ = std::move(weights);
    return result;
  }
  /// Returns `relative(factor)` (0: hard) with these class weights, for a factor chosen by the fit.
  /// With lambdas per class, the largest becomes `factor` and the others keep their ratio to it, so
  /// that the balance of the classes does not depend on the choice.
  [[nodiscard]] SoftBoundary with_factor(double factor) const {
    SoftBoundary result = (factor == 0 ? hard() : relative(factor));
    result.class_weights_ = class_weights_;
    double most = 0;
    for (const auto& [label, lambda] : per_class_) most = std::max(most, lambda);
    if (kind_ == Kind::relative) most = 1;  // Already ratios to the factor.
    if (factor == 0 || most == 0) return result;
    result.per_class_ = per_class_;
    for (auto& [label, lambda] : result.per_class_) lambda /= most;
    return result;
  }

  /// True if `with_class_weights` gave weights.
  [[nodiscard]] bool has_class_weights() const noexcept { return !class_weights_.empty(); }
  /// True if the fit chooses the factor.
  [[nodiscard]] bool is_automatic() const noexcept { return kind_ == Kind::automatic; }

  /// True if lambda can be evaluated on any subset of the points. Lambdas by point, and class
  /// weights, which name classes, prevent that.
  [[nodiscard]] bool works_on_subsets() const noexcept {
    return kind_ != Kind::per_point && !has_class_weights();
  }

  /// Numbers that are equal for equal boundaries and differ for any two others, except that lambdas
  /// given point by point are not included.
  [[nodiscard]] std::vector<double> signature() const {
    // Stored trainings have the zero.
    std::vector<double> numbers{static_cast<double>(kind_), value_, 0.0,
                                static_cast<double>(per_class_.size())};
    for (const auto& [label, lambda] : per_class_) {
      numbers.push_back(label);
      numbers.push_back(lambda);
    }
    for (const auto& [label, weight] : class_weights_) {
      numbers.push_back(label);
      numbers.push_back(weight);
    }
    return numbers;
  }

  /// Returns lambda_i for every point, or an empty vector for `hard()` and `uniform(0)` with any
  /// weights. `diagonal(i)` gives K_ii, `class_labels` the user's labels. `classes`: labels that a
  /// weight may name, also ones without points; empty: the labels of the points. \throws
  /// std::invalid_argument on an automatic boundary, if the sizes disagree, a label has no lambda,
  /// a weight names no class, or a lambda is negative, or 1e100 or more.
  template <class Diagonal>
  [[nodiscard]] std::vector<double> resolve(Diagonal&& diagonal, std::span<const int> class_labels,
                                            std::span<const int> classes = {}) const {
    const std::size_t m = class_labels.size();
    std::vector<double> lambda(m, 0.0);
    switch (kind_) {
      case Kind::uniform:
        if (value_ == 0) {
          return {};
        }
        lambda.assign(m, value_);
        break;
      case Kind::relative:
        for (std::size_t i = 0; i < m; ++i) {
          lambda[i] = value_ * static_cast<double>(diagonal(std::ptrdiff_t(i)));
          if (!per_class_.empty()) lambda[i] *= of_class(class_labels[i], i);
          check_lambda(lambda[i], "SoftBoundary::relative", "factor k(x, x)");
        }
        break;
      case Kind::per_point:
        detail::check_size("SoftBoundary::per_point", "lambda", per_point_.size(), m,
                           "one per training point");
        lambda = per_point_;
        break;
      case Kind::per_class:
        for (std::size_t i = 0; i < m; ++i) lambda[i] = of_class(class_labels[i], i);
        break;
      case Kind::automatic:
        detail::fail("SoftBoundary::automatic", "lambda",
                     "is chosen by BayesPointMachine and OneVsRest; give one here");
    }
    for (const auto& [label, weight] : class_weights_) {
      const std::span<const int> known = classes.empty() ? class_labels : classes;
      detail::check(std::find(known.begin(), known.end(), label) != known.end(),
                    "SoftBoundary::with_class_weights", "weights", "have the label ", label,
                    ", which no point has");
      for (std::size_t i = 0; i < m; ++i) {
        if (class_labels[i] != label) continue;
        lambda[i] /= weight;
        check_lambda(lambda[i], "SoftBoundary::with_class_weights", "lambda over the weight");
      }
    }
    return lambda;
  }

 private:
  /// The numbers are those of stored trainings.
  enum class Kind { uniform, relative, per_point, per_class, automatic = 5 };

  explicit SoftBoundary(Kind kind, double value = 0) : kind_(kind), value_(value) {}

  /// Lambda of a class label, which point i has.
  [[nodiscard]] double of_class(int label, std::size_t i) const {
    auto found = per_class_.begin();
    while (found != per_class_.end() && found->first != label) ++found;
    detail::check(found != per_class_.end(), "SoftBoundary::per_class", "lambda",
                  "has no value for label ", label, ", which point ", i, " has");
    return found->second;
  }

  static void check_lambda(double lambda, const char* function, const char* name) {
    detail::check_not_negative(function, name, lambda);
    detail::check(lambda < largest, function, name, "is ", lambda, ", must be below ", largest);
  }

  /// Upper limit of lambda: squares of lambda, and sums of them, stay finite.
  static constexpr double largest = 1e100;

  Kind kind_ = Kind::uniform;
  double value_ = 0;
  std::vector<double> per_point_;
  std::vector<std::pair<int, double>> per_class_;  ///< By label; relative: ratios to the factor.
  std::vector<std::pair<int, double>> class_weights_;
};

}}  // namespace bpm
