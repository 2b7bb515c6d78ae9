// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/decision/scores.hpp"

/// \file
/// Rejection leaves the inputs with the lowest confidence scores undecided.
///
/// On a whole test set the lowest scores are rejected by rank (`rejected_indices`), at exactly the
/// given rate. An input that arrives alone is decided by a `Rejector`, a threshold on its score
/// chosen on held-out data (`threshold_for_rate`, `threshold_for_error`).

namespace bpm { inline namespace BPM_TARGET {

/// Accepts an input whose score is at least `threshold`. Minus infinity accepts everything.
struct Rejector {
  double threshold = -std::numeric_limits<double>::infinity();  ///< Smallest accepted score.

  /// False for a score below the threshold, and for NaN.
  [[nodiscard]] constexpr bool accepts(double score) const noexcept { return score >= threshold; }

  /// Rejected fraction of these scores. Throws `std::invalid_argument` without a score, if one is
  /// not finite, or if the threshold is NaN (it may be infinite). Cost O(n).
  [[nodiscard]] double rate(std::span<const double> scores) const {
    detail::check_scores(scores, "Rejector::rate");
    detail::check(!std::isnan(threshold), "Rejector::rate", "threshold", "is ", threshold,
                  ", must be a number");
    const auto rejected =
        std::count_if(scores.begin(), scores.end(), [&](double score) { return !accepts(score); });
    return static_cast<double>(rejected) / static_cast<double>(scores.size());
  }
};

/// A rejector kept with a classifier, and the name of its score: a threshold on one score means
/// nothing for another.
struct Rejection {
  std::string score;    ///< Name that the user gives the score, such as "gap".
  Rejector rejector{};  ///< Rejector with a threshold on that score.

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("score", self.score);
    // Minus infinity, which accepts everything and is no JSON number, is not written.
    constexpr double everything = Rejector{}.threshold;
    std::optional<double> threshold;
    if (self.rejector.threshold != everything) threshold = self.rejector.threshold;
    visit("threshold", threshold);
    if constexpr (!std::is_const_v<Self>) self.rejector.threshold = threshold.value_or(everything);
  }
};

namespace detail {

/// floor(rate * count), the number of inputs to reject out of `count`.
///
/// `rate` counts as the decimal it was written as: 0.29 of 100 is 29, though 0.29 * 100 is
/// 28.999999999999996. To this end a product within four to eight units in the last place below a
/// whole number counts as that number.
/// Throws `std::invalid_argument` unless 0 <= rate < 1.
[[nodiscard]] BPM_INLINE std::size_t rejection_count(double rate, std::size_t count,
                                                     std::string_view function,
                                                     std::string_view argument = "rate");

/// The order in which inputs are rejected: by score, equal scores by index.
/// Throws `std::invalid_argument` without a score or if one is not finite. Cost O(n log n).
[[nodiscard]] BPM_INLINE std::vector<std::size_t> rejection_order(std::span<const double> scores,
                                                                  std::string_view function);

/// Flags of inputs, true if classified correctly: any range, such as a `std::vector<bool>`.
template <class R>
concept Flags = std::ranges::random_access_range<const R> && std::ranges::sized_range<const R> &&
                std::convertible_to<std::ranges::range_reference_t<const R>, bool>;

/// Element k: number of errors among the n - k accepted inputs when the first k of `order` are
/// rejected, k = 0 .. n - 1.
template <Flags Correct>
[[nodiscard]] std::vector<std::size_t> errors_left(std::span<const std::size_t> order,
                                                   const Correct& correct,
                                                   std::string_view function) {
  check_size(function, "correct", std::ranges::size(correct), order.size(), "one per score");
  std::vector<std::size_t> left(order.size());
  std::size_t errors = 0;
  for (std::size_t k = order.size(); k-- > 0;) {
    errors += std::ranges::begin(correct)[order[k]] ? 0 : 1;
    left[k] = errors;
  }
  return left;
}

#if BPM_BODIES

BPM_INLINE std::size_t rejection_count(double rate, std::size_t count, std::string_view function,
                                       std::string_view argument) {
  check(rate >= 0 && rate < 1, function, argument, "is ", rate, ", must be at least 0 and below 1");
  const double product = rate * static_cast<double>(count);
  const double slack = 4 * std::numeric_limits<double>::epsilon() * product;
  const auto rejected = static_cast<std::size_t>(std::floor(product + slack));
  // A rate a rounding error below 1 must not reject the last input.
  return count == 0 ? 0 : std::min(rejected, count - 1);
}

BPM_INLINE std::vector<std::size_t> rejection_order(std::span<const double> scores,
                                                    std::string_view function) {
  check_scores(scores, function);
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [scores](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
  return order;
}

#endif

}  // namespace detail

/// The indices of the floor(rate * n) lowest scores, lowest first; of equal scores the smaller
/// index first. `rejection_count` describes how rate * n is rounded.
/// Throws `std::invalid_argument` without a score, if one is not finite, or unless 0 <= rate < 1.
/// Cost O(n log n).
[[nodiscard]] BPM_INLINE std::vector<std::size_t> rejected_indices(std::span<const double> scores,
                                                                   double rate);

/// The threshold whose `Rejector` rejects the floor(rate * n) lowest of these scores: the lowest
/// score to be accepted. All inputs that tie with it are accepted, so that fewer may be rejected
/// than asked for, never more. Minus infinity if none is to be rejected. Errors are those of
/// `rejected_indices`. Cost O(n).
[[nodiscard]] BPM_INLINE double threshold_for_rate(std::span<const double> scores, double rate);

/// Result of `threshold_for_error`.
struct ErrorThreshold {
  double threshold = 0;      ///< Threshold for a `Rejector`.
  double rate = 0;           ///< Fraction of the held-out inputs that it rejects.
  double error = 0;          ///< Fraction of the accepted held-out inputs that are errors.
  std::size_t rejected = 0;  ///< Number of rejected inputs, rate * n.
};

/// The threshold with the smallest rejection rate whose error on the accepted inputs is at most
/// `wanted_error`, on held-out data. `correct[i]` is true if input i was classified correctly; any
/// range of flags.
///
/// Thresholds reject tied scores together, so only the distinct scores compete. The result is empty
/// if even the inputs that share the highest score err more often than wanted. At least one input
/// is always accepted. The data must not be the training set. The error found belongs to a choice
/// made on these data: on new data it tends to be higher.
/// Throws `std::invalid_argument` without a score, if one is not finite, the sizes differ, or
/// unless 0 <= wanted_error <= 1. Cost O(n log n).
template <detail::Flags Correct = std::vector<bool>>
[[nodiscard]] std::optional<ErrorThreshold> threshold_for_error(std::span<const double> scores,
                                                                const Correct& correct,
                                                                double wanted_error) {
  const char* const function = "threshold_for_error";
  const auto order = detail::rejection_order(scores, function);
  const auto left = detail::errors_left(order, correct, function);
  detail::check(wanted_error >= 0 && wanted_error <= 1, function, "wanted_error", "is ",
                wanted_error, ", must be a fraction from 0 to 1");
  const auto n = static_cast<double>(scores.size());
  for (std::size_t k = 0; k < scores.size(); ++k) {  // k is the number of rejected inputs.
    const double score = scores[order[k]];
    const auto rejected = static_cast<double>(k);
    const double error = static_cast<double>(left[k]) / (n - rejected);
    if ((k == 0 || score > scores[order[k - 1]]) && error <= wanted_error) {
      const double threshold = k == 0 ? -std::numeric_limits<double>::infinity() : score;
      return ErrorThreshold{threshold, rejected / n, error, k};
    }
  }
  return std::nullopt;
}

// The error of the accepted inputs as a function of the number of rejected ones.

/// One point of an error-reject curve.
struct ErrorRejectPoint {
  double rate = 0;           ///< Given rate; on the whole curve rejected / n.
  std::size_t rejected = 0;  ///< Number of rejected inputs.
  std::size_t errors = 0;    ///< Number of errors among the accepted inputs.
  double error = 0;          ///< Error rate of the accepted inputs, errors / (n - rejected).
};

#if BPM_BODIES

BPM_INLINE std::vector<std::size_t> rejected_indices(std::span<const double> scores, double rate) {
  const char* const function = "rejected_indices";
  auto order = detail::rejection_order(scores, function);
  order.resize(detail::rejection_count(rate, scores.size(), function));
  return order;
}

BPM_INLINE double threshold_for_rate(std::span<const double> scores, double rate) {
  const char* const function = "threshold_for_rate";
  detail::check_scores(scores, function);
  const std::size_t rejected = detail::rejection_count(rate, scores.size(), function);
  if (rejected == 0) {
    return -std::numeric_limits<double>::infinity();
  }
  std::vector<double> sorted(scores.begin(), scores.end());
  const auto cut = sorted.begin() + rejected;
  std::nth_element(sorted.begin(), cut, sorted.end());
  return *cut;
}

#endif

namespace detail {

/// Points of the error-reject curve for 0, 1, ..., n - 1 rejected inputs.
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
  const auto whole = detail::whole_curve(scores, correct, function);
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
/// Errors are those of `error_reject_curve`. Cost O(n log n).
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
