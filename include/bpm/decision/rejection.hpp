// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/decision/scores.hpp"

/// \file
/// Rejection: leaving the inputs with the lowest confidence scores undecided.
///
/// On a whole test set the lowest scores are rejected by rank (`rejected_indices`), which meets a
/// wanted rate exactly. An input that arrives alone is decided by a `Rejector`, a threshold on its
/// score chosen on held-out data (`threshold_for_rate`, `threshold_for_error`).

namespace bpm {

/// Accepts an input whose score is at least `threshold`. Minus infinity accepts everything.
struct Rejector {
  double threshold = -std::numeric_limits<double>::infinity();

  /// False for a score below the threshold, and for NaN.
  [[nodiscard]] constexpr bool accepts(double score) const noexcept { return score >= threshold; }
};

namespace detail {

/// floor(rate * count), the number of inputs to reject out of `count`.
///
/// The product is taken as if `rate` were the decimal it was written as: 0.29 of 100 is 29, though
/// 0.29 * 100 is 28.999999999999996. To this end a product within four units in the last place
/// below a whole number counts as that number.
/// Throws `std::invalid_argument` unless 0 <= rate < 1.
[[nodiscard]] inline std::size_t rejection_count(double rate, std::size_t count) {
  check(rate >= 0 && rate < 1, "rejection_count", "rate", "is ", rate,
        ", must be at least 0 and below 1");
  const double product = rate * static_cast<double>(count);
  const double slack = 4 * std::numeric_limits<double>::epsilon() * product;
  const auto rejected = static_cast<std::size_t>(std::floor(product + slack));
  // A rate a rounding error below 1 must not reject the last input.
  return count == 0 ? 0 : std::min(rejected, count - 1);
}

}  // namespace detail

namespace detail {

/// The order in which inputs are rejected: by score, equal scores by index.
[[nodiscard]] inline std::vector<std::size_t> rejection_order(std::span<const double> scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [scores](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
  return order;
}

inline void check_rate(double rate, std::string_view function) {
  check(rate >= 0 && rate < 1, function, "rate", "is ", rate, ", must be at least 0 and below 1");
}

}  // namespace detail

namespace detail {

/// The indices of the `count` lowest scores, lowest first; equal scores are taken by index, the
/// smaller index first.
/// Throws `std::invalid_argument` if a score is not finite or `count` exceeds their number.
/// Cost O(n log n).
[[nodiscard]] inline std::vector<std::size_t> lowest_indices(std::span<const double> scores,
                                                             std::size_t count) {
  check_scores(scores, "lowest_indices");
  check(count <= scores.size(), "lowest_indices", "count", "is ", count,
        ", must be at most the number of scores, ", scores.size());
  auto order = rejection_order(scores);
  order.resize(count);
  return order;
}

}  // namespace detail

/// The indices of the floor(rate * n) lowest scores, in the order of `lowest_indices`. How the
/// product is rounded stands at `rejection_count`.
/// Throws `std::invalid_argument` if a score is not finite or unless 0 <= rate < 1.
[[nodiscard]] inline std::vector<std::size_t> rejected_indices(std::span<const double> scores,
                                                               double rate) {
  detail::check_scores(scores, "rejected_indices");
  detail::check_rate(rate, "rejected_indices");
  return detail::lowest_indices(scores, detail::rejection_count(rate, scores.size()));
}

/// The threshold whose `Rejector` rejects the floor(rate * n) lowest of these scores: the lowest
/// score that is to be accepted. Inputs that tie with it are all accepted, so that where scores tie
/// fewer may be rejected than asked for, never more. Minus infinity where none is to be rejected.
/// Throws `std::invalid_argument` if a score is not finite or unless 0 <= rate < 1. Cost O(n).
[[nodiscard]] inline double threshold_for_rate(std::span<const double> scores, double rate) {
  detail::check_scores(scores, "threshold_for_rate");
  detail::check_rate(rate, "threshold_for_rate");
  const std::size_t rejected = detail::rejection_count(rate, scores.size());
  if (rejected == 0) {
    return -std::numeric_limits<double>::infinity();
  }
  std::vector<double> sorted(scores.begin(), scores.end());
  const auto cut = sorted.begin() + static_cast<std::ptrdiff_t>(rejected);
  std::nth_element(sorted.begin(), cut, sorted.end());
  return *cut;
}

/// The fraction of these scores that `Rejector{threshold}` rejects; an infinite threshold is fine.
/// Throws `std::invalid_argument` if a score is not finite or the threshold is NaN. Cost O(n).
[[nodiscard]] inline double rate_for_threshold(std::span<const double> scores, double threshold) {
  detail::check_scores(scores, "rate_for_threshold");
  detail::check(!std::isnan(threshold), "rate_for_threshold", "threshold", "is ", threshold,
                ", must be a number");
  const Rejector rejector{threshold};
  const auto accepted = std::count_if(scores.begin(), scores.end(),
                                      [&](double score) { return rejector.accepts(score); });
  return static_cast<double>(scores.size() - static_cast<std::size_t>(accepted)) /
         static_cast<double>(scores.size());
}

/// What `threshold_for_error` found.
struct ErrorThreshold {
  double threshold = 0;      ///< For a `Rejector`.
  double rate = 0;           ///< Fraction of the held-out inputs it rejects.
  double error = 0;          ///< Fraction of the accepted held-out inputs that are errors.
  std::size_t rejected = 0;  ///< rate * n.
};

/// The threshold with the smallest rejection rate whose error on the accepted inputs is at most
/// `wanted_error`, on held-out data: `correct[i]` says whether input i was classified rightly.
///
/// Thresholds reject tied scores together, so only the distinct scores compete. The result is empty
/// when no threshold will do: even the inputs that share the highest score err more often than
/// wanted. At least one input is always accepted. The data must not be the training set, and the
/// error found is that of a choice made on these data: on new data it tends to be higher.
/// Throws `std::invalid_argument` if a score is not finite, the sizes differ, or unless
/// 0 <= wanted_error <= 1. Cost O(n log n).
[[nodiscard]] inline std::optional<ErrorThreshold> threshold_for_error(
    std::span<const double> scores, const std::vector<bool>& correct, double wanted_error) {
  detail::check_scores(scores, "threshold_for_error");
  detail::check_size("threshold_for_error", "correct", correct.size(), scores.size(),
                     "one per score");
  detail::check(wanted_error >= 0 && wanted_error <= 1, "threshold_for_error", "wanted_error",
                "is ", wanted_error, ", must be a fraction from 0 to 1");
  const auto order = detail::rejection_order(scores);
  const std::size_t n = scores.size();
  auto errors = static_cast<std::size_t>(std::count(correct.begin(), correct.end(), false));
  for (std::size_t k = 0; k < n; ++k) {  // k: how many are rejected.
    const double score = scores[order[k]];
    if (k == 0 || score > scores[order[k - 1]]) {
      const double error = static_cast<double>(errors) / static_cast<double>(n - k);
      if (error <= wanted_error) {
        return ErrorThreshold{k == 0 ? -std::numeric_limits<double>::infinity() : score,
                              static_cast<double>(k) / static_cast<double>(n), error, k};
      }
    }
    errors -= correct[order[k]] ? 0U : 1U;
  }
  return std::nullopt;
}

}  // namespace bpm
