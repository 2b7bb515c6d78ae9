// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/decision/rejection.hpp"
#include "bpm/decision/scores.hpp"

/// \file
/// The error that is left when the least confident inputs are rejected, as a function of how many.

namespace bpm {

/// One point of an error-reject curve.
struct ErrorRejectPoint {
  double rate = 0;           ///< The rate asked for; on the whole curve rejected / n.
  std::size_t rejected = 0;  ///< Inputs rejected.
  std::size_t errors = 0;    ///< Errors among the accepted inputs.
  double error = 0;          ///< Fraction of the accepted inputs: errors / (n - rejected).
};

namespace detail {

/// Element k: the errors left among the n - k accepted inputs when the k lowest scores are
/// rejected, k = 0 .. n - 1.
[[nodiscard]] inline std::vector<std::size_t> errors_left(std::span<const double> scores,
                                                          const std::vector<bool>& correct,
                                                          std::string_view function) {
  check_scores(scores, function);
  check_size(function, "correct", correct.size(), scores.size(), "one per score");
  const auto order = rejection_order(scores);
  std::vector<std::size_t> left(scores.size());
  std::size_t errors = 0;
  for (std::size_t k = scores.size(); k-- > 0;) {
    errors += correct[order[k]] ? 0U : 1U;
    left[k] = errors;
  }
  return left;
}

[[nodiscard]] inline ErrorRejectPoint curve_point(double rate, std::size_t rejected,
                                                  const std::vector<std::size_t>& left) {
  const std::size_t errors = left[rejected];
  return {rate, rejected, errors,
          static_cast<double>(errors) / static_cast<double>(left.size() - rejected)};
}

}  // namespace detail

/// The curve at the given rates, in their order: for each the floor(rate * n) lowest scores are
/// rejected, equal scores by index (`rejected_indices`), and the errors of the rest are counted.
/// `correct[i]` says whether input i was classified rightly.
/// Throws `std::invalid_argument` if a score is not finite, the sizes differ, or a rate is outside
/// [0, 1). Cost O(n log n + number of rates).
[[nodiscard]] inline std::vector<ErrorRejectPoint> error_reject_curve(
    std::span<const double> scores, const std::vector<bool>& correct,
    std::span<const double> rates) {
  const auto left = detail::errors_left(scores, correct, "error_reject_curve");
  std::vector<ErrorRejectPoint> curve;
  curve.reserve(rates.size());
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const bool in_range = rates[i] >= 0 && rates[i] < 1;  // false for NaN
    if (!in_range) {
      detail::fail("error_reject_curve", detail::join("rates[", i, "]"), "is ", rates[i],
                   ", must be at least 0 and below 1");
    }
    curve.push_back(
        detail::curve_point(rates[i], detail::rejection_count(rates[i], scores.size()), left));
  }
  return curve;
}

/// The whole curve: its n points for 0, 1, ..., n - 1 rejected inputs.
[[nodiscard]] inline std::vector<ErrorRejectPoint> error_reject_curve(
    std::span<const double> scores, const std::vector<bool>& correct) {
  const auto left = detail::errors_left(scores, correct, "error_reject_curve");
  std::vector<ErrorRejectPoint> curve;
  curve.reserve(left.size());
  for (std::size_t k = 0; k < left.size(); ++k) {
    curve.push_back(
        detail::curve_point(static_cast<double>(k) / static_cast<double>(left.size()), k, left));
  }
  return curve;
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
/// Throws `std::invalid_argument` if a score is not finite or the sizes differ. Cost O(n log n).
[[nodiscard]] inline double area_under_error_reject_curve(std::span<const double> scores,
                                                          const std::vector<bool>& correct) {
  const auto left = detail::errors_left(scores, correct, "area_under_error_reject_curve");
  const std::size_t n = left.size();
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) {
    sum += static_cast<double>(left[k]) / static_cast<double>(n - k);
  }
  return sum / static_cast<double>(n);
}

}  // namespace bpm
