// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/target.hpp"
#include "bpm/decision/rejection.hpp"
#include "bpm/decision/scores.hpp"

/// \file
/// The error that is left when the least confident inputs are rejected, as a function of how many.

namespace bpm { inline namespace BPM_TARGET {

/// One point of an error-reject curve.
struct ErrorRejectPoint {
  double rate = 0;           ///< The rate asked for; on the whole curve rejected / n.
  std::size_t rejected = 0;  ///< Inputs rejected.
  std::size_t errors = 0;    ///< Errors among the accepted inputs.
  double error = 0;          ///< Fraction of the accepted inputs: errors / (n - rejected).
};

namespace detail {

/// The curve's points for 0, 1, ..., n - 1 rejected inputs.
template <Flags Correct>
[[nodiscard]] std::vector<ErrorRejectPoint> whole_curve(std::span<const double> scores,
                                                        const Correct& correct,
                                                        std::string_view function) {
  const auto left = errors_left(rejection_order(scores, function), correct, function);
  const auto n = static_cast<double>(left.size());
  std::vector<ErrorRejectPoint> curve;
  for (std::size_t k = 0; k < left.size(); ++k) {
    const auto rejected = static_cast<double>(k);
    curve.push_back({rejected / n, k, left[k], static_cast<double>(left[k]) / (n - rejected)});
  }
  return curve;
}

}  // namespace detail

/// The curve at the given rates, in their order: for each the floor(rate * n) lowest scores are
/// rejected, equal scores by index (`rejected_indices`), and the errors of the rest are counted.
/// `correct[i]` says whether input i was classified rightly; any range of flags.
/// Throws `std::invalid_argument` if a score is not finite, the sizes differ, or a rate is outside
/// [0, 1). Cost O(n log n + number of rates).
template <detail::Flags Correct = std::vector<bool>>
[[nodiscard]] std::vector<ErrorRejectPoint> error_reject_curve(std::span<const double> scores,
                                                               const Correct& correct,
                                                               std::span<const double> rates) {
  const char* const function = "error_reject_curve";
  const auto whole = detail::whole_curve(scores, correct, function);
  std::vector<ErrorRejectPoint> curve;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    curve.push_back(whole[detail::rejection_count(rates[i], scores.size(), function,
                                                  detail::join("rates[", i, "]"))]);
    curve.back().rate = rates[i];
  }
  return curve;
}

/// The whole curve: its n points for 0, 1, ..., n - 1 rejected inputs.
template <detail::Flags Correct = std::vector<bool>>
[[nodiscard]] std::vector<ErrorRejectPoint> error_reject_curve(std::span<const double> scores,
                                                               const Correct& correct) {
  return detail::whole_curve(scores, correct, "error_reject_curve");
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
template <detail::Flags Correct = std::vector<bool>>
[[nodiscard]] double area_under_error_reject_curve(std::span<const double> scores,
                                                   const Correct& correct) {
  double sum = 0;
  for (const auto& point : detail::whole_curve(scores, correct, "area_under_error_reject_curve")) {
    sum += point.error;
  }
  return sum / static_cast<double>(scores.size());
}

}}  // namespace bpm
