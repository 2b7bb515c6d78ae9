// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
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
/// chosen on held-out data: for a rate (`threshold_for_rate`), for an error on these data
/// (`threshold_for_error`), or for a guaranteed limit on the risk (`certify_risk`).

namespace bpm { inline namespace BPM_TARGET {

/// One point of an error-reject curve.
struct ErrorRejectPoint {
  double rate = 0;           ///< Given rate; on the whole curve rejected / n.
  std::size_t rejected = 0;  ///< Number of rejected inputs.
  std::size_t errors = 0;    ///< Number of errors among the accepted inputs.
  double error = 0;          ///< Error rate of the accepted inputs, errors / (n - rejected).
};

namespace detail {

/// floor(rate * count), the number of inputs to reject out of `count`.
///
/// `rate` counts as the decimal it was written as: 0.29 of 100 is 29, though 0.29 * 100 is
/// 28.999999999999996. To this end a product within four to eight units in the last place below a
/// whole number counts as that number.
/// Throws `std::invalid_argument` unless 0 <= rate < 1.
[[nodiscard]] inline std::size_t rejection_count(double rate, std::size_t count,
                                                 std::string_view function,
                                                 std::string_view argument = "rate") {
  check(rate >= 0 && rate < 1, function, argument, "is ", rate, ", must be at least 0 and below 1");
  const double product = rate * static_cast<double>(count);
  const double slack = 4 * std::numeric_limits<double>::epsilon() * product;
  const auto rejected = static_cast<std::size_t>(std::floor(product + slack));
  // A rate a rounding error below 1 must not reject the last input.
  return count == 0 ? 0 : std::min(rejected, count - 1);
}

/// The order in which inputs are rejected: by score, equal scores by index.
/// Throws `std::invalid_argument` without a score or if one is not finite. Cost O(n log n).
[[nodiscard]] inline std::vector<std::size_t> rejection_order(std::span<const double> scores,
                                                              std::string_view function) {
  check_scores(scores, function);
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [scores](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
  return order;
}

/// Flags of inputs, true if classified correctly: any range, such as a `std::vector<bool>`.
template <class R>
concept Flags = std::ranges::random_access_range<const R> && std::ranges::sized_range<const R> &&
                std::convertible_to<std::ranges::range_reference_t<const R>, bool>;

/// Points of the error-reject curve for 0, 1, ..., n - 1 rejected inputs, the first of `order`.
template <Flags Correct>
[[nodiscard]] std::vector<ErrorRejectPoint> whole_curve(std::span<const std::size_t> order,
                                                        const Correct& correct,
                                                        std::string_view function) {
  check_size(function, "correct", std::ranges::size(correct), order.size(), "one per score");
  const auto n = static_cast<double>(order.size());
  std::vector<ErrorRejectPoint> curve(order.size());
  std::size_t errors = 0;
  for (std::size_t k = order.size(); k-- > 0;) {
    errors += std::ranges::begin(correct)[order[k]] ? 0 : 1;
    const auto rejected = static_cast<double>(k);
    curve[k] = {rejected / n, k, errors, static_cast<double>(errors) / (n - rejected)};
  }
  return curve;
}

}  // namespace detail

/// The indices of the floor(rate * n) lowest scores, lowest first; of equal scores the smaller
/// index first. `rejection_count` describes how rate * n is rounded.
/// Throws `std::invalid_argument` without a score, if one is not finite, or unless 0 <= rate < 1.
/// Cost O(n log n).
[[nodiscard]] inline std::vector<std::size_t> rejected_indices(std::span<const double> scores,
                                                               double rate) {
  const char* const function = "rejected_indices";
  auto order = detail::rejection_order(scores, function);
  order.resize(detail::rejection_count(rate, scores.size(), function));
  return order;
}

/// The threshold whose `Rejector` rejects the floor(rate * n) lowest of these scores: the lowest
/// score to be accepted. All inputs that tie with it are accepted, so that fewer may be rejected
/// than asked for, never more. Minus infinity if none is to be rejected. Errors are those of
/// `rejected_indices`. Cost O(n).
[[nodiscard]] inline double threshold_for_rate(std::span<const double> scores, double rate) {
  const char* const function = "threshold_for_rate";
  detail::check_scores(scores, function);
  const std::size_t rejected = detail::rejection_count(rate, scores.size(), function);
  if (rejected == 0) {
    return -std::numeric_limits<double>::infinity();
  }
  std::vector<double> sorted(scores.begin(), scores.end());
  const auto cut = sorted.begin() + std::ptrdiff_t(rejected);
  std::nth_element(sorted.begin(), cut, sorted.end());
  return *cut;
}

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
  const auto curve = detail::whole_curve(order, correct, function);
  detail::check(wanted_error >= 0 && wanted_error <= 1, function, "wanted_error", "is ",
                wanted_error, ", must be a fraction from 0 to 1");
  for (std::size_t k = 0; k < curve.size(); ++k) {  // k is the number of rejected inputs.
    const double score = scores[order[k]];
    if ((k == 0 || score > scores[order[k - 1]]) && curve[k].error <= wanted_error) {
      const double threshold = k == 0 ? -std::numeric_limits<double>::infinity() : score;
      return ErrorThreshold{threshold, curve[k].rate, curve[k].error, k};
    }
  }
  return std::nullopt;
}

// Exact statements on an error rate from a count of errors in independent trials.

/// P(X <= k) for X the number of errors in n independent trials that each fail with probability p.
/// Summed from k on; relative error some 1e-12, 1e-10 at k = 50 000, 1e-8 at 500 000. Cost O(k +
/// sqrt(n)). \throws std::invalid_argument unless p lies in [0, 1].
[[nodiscard]] inline double binomial_cdf(std::uint64_t k, std::uint64_t n, double p) {
  detail::check_probability("binomial_cdf", "p", p);
  if (k >= n || p == 0) {
    return 1;
  }
  if (p == 1) {
    return 0;
  }
  const auto trials = static_cast<double>(n);
  const bool below = static_cast<double>(k) < trials * p;
  // Start with the largest term of the tail on k's side of the mean.
  std::uint64_t j = below ? k : k + 1;
  const auto first = static_cast<double>(j);
  const std::uint64_t fewer = std::min(j, n - j);
  double log_term = first * std::log(p) + (trials - first) * std::log1p(-p);
  for (std::uint64_t i = 1; i <= fewer; ++i) {
    log_term += std::log(static_cast<double>(n - fewer + i) / static_cast<double>(i));
  }
  double term = std::exp(log_term);
  double sum = 0;
  const double odds = p / (1 - p);
  while (term > 1e-17 * sum) {
    sum += term;
    if (below ? j == 0 : j == n) break;
    const auto at = static_cast<double>(j);
    term *= below ? at / ((trials - at + 1) * odds) : (trials - at) / (at + 1) * odds;
    j = below ? j - 1 : j + 1;
  }
  return below ? sum : 1 - sum;
}

/// The upper limit of an error rate after `errors` in n independent trials, with confidence 1 -
/// delta: the largest p with P(Bin(n, p) <= errors) >= delta (Clopper, Pearson, Biometrika 26,
/// 1934); 1 - delta^(1/n) without an error, 1 without a trial. Accurate to rounding, from above.
/// \throws std::invalid_argument if there are more errors than trials, or unless 0 < delta < 1.
[[nodiscard]] inline double binomial_upper_limit(std::uint64_t errors, std::uint64_t n,
                                                 double delta) {
  const char* const f = "binomial_upper_limit";
  detail::check(errors <= n, f, "errors", "is ", errors, ", must be at most the trials, ", n);
  detail::check_delta(f, "delta", delta);
  if (errors == n) {
    return 1;
  }
  if (errors == 0) {
    return -std::expm1(std::log(delta) / static_cast<double>(n));
  }
  // For delta up to 1/2 the limit is at least errors / n.
  double low = delta > 0.5 ? 0 : static_cast<double>(errors) / static_cast<double>(n);
  double high = 1;
  for (double middle = (low + high) / 2; low < middle && middle < high; middle = (low + high) / 2) {
    (binomial_cdf(errors, n, middle) >= delta ? low : high) = middle;
  }
  return high;
}

/// Result of `certify_risk`: a threshold with a guarantee, or none.
struct CertifiedRisk {
  bool found = false;  ///< False: no threshold has the guarantee.
  double risk = 0;     ///< Limit on the error rate of accepted inputs.
  double delta = 0;    ///< Chance, over calibration inputs, that it fails.
  /// Inputs with a higher score are accepted; not those with this score itself.
  double threshold = std::numeric_limits<double>::infinity();
  std::size_t accepted = 0;  ///< Calibration inputs above the threshold.
  std::size_t errors = 0;    ///< Wrong labels among them; they chose the threshold.
  double coverage = 0;       ///< Accepted share, accepted / n.
  /// Least number of accepted inputs, all without an error, that can show the risk.
  std::size_t needed = 0;

  /// Returns a rejector that accepts scores above the threshold; none if no threshold was found.
  [[nodiscard]] Rejector rejector() const {
    constexpr double most = std::numeric_limits<double>::infinity();
    return {found ? std::nextafter(threshold, most) : most};
  }
  /// Sentence for a report.
  [[nodiscard]] std::string message() const {
    return found ? detail::join("scores above ", threshold, ": ", accepted,
                                " calibration inputs accepted, ", errors, " wrong, risk at most ",
                                risk, " with confidence ", 1 - delta)
                 : detail::join("a threshold takes at least ", needed,
                                " accepted inputs without an error");
  }
};

namespace detail {

/// Returns ceil(log delta / log(1 - risk)), capped for a risk next to 0.
[[nodiscard]] inline std::size_t inputs_needed(double risk, double delta) {
  const double needed = std::ceil(std::log(delta) / std::log1p(-risk));
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / 4;
  return needed < static_cast<double>(most) ? static_cast<std::size_t>(needed) : most;
}

}  // namespace detail

/// Finds a threshold on the score above which errors are guaranteed to be rare: with probability 1
/// - delta over the calibration inputs either nothing is returned, or
///
///     P(wrong | score > threshold) <= risk
///
/// for another input from the same source. Method: a fixed sequence of tests (Angelopoulos, Bates,
/// Candes, Jordan, Lei, "Learn then Test", 2021). At most 20 thresholds, set by the scores before
/// `correct` is read, from few accepted inputs to all of them, are tested each at the whole delta
/// by P(Bin(n, risk) <= errors) <= delta, and the last before the first failure is returned. The
/// first accepts twice as many inputs as would suffice without an error, so that one error (two at
/// delta = 0.01) does not end the sequence. The guarantee holds for `risk` alone, not for binomial
/// limits of the counts at the threshold, since the same errors chose it. A threshold is the score
/// of a calibration input, which is not accepted itself: the others above it are then independent
/// draws of accepted inputs. Equal scores are accepted or rejected together.
///
/// `scores`: any confidence scores, such as `gap_scores`, of n independent inputs that took no part
/// in training, scaling, choice of parameters or calibration; `correct[i]`: true if input i was
/// classified correctly. If the source changes, the guarantee is void.
/// \throws std::invalid_argument without a score, if one is not finite, sizes differ, or unless
///         risk and delta lie between 0 and 1. Cost O(n log n).
template <detail::Flags Correct = std::vector<bool>>
[[nodiscard]] CertifiedRisk certify_risk(std::span<const double> scores, const Correct& correct,
                                         double risk, double delta) {
  const char* const f = "certify_risk";
  detail::check_size(f, "correct", std::ranges::size(correct), scores.size(), "one per score");
  detail::check_delta(f, "risk", risk);
  detail::check_delta(f, "delta", delta);
  CertifiedRisk result{.risk = risk, .delta = delta, .needed = detail::inputs_needed(risk, delta)};

  const std::size_t n = scores.size();
  auto order = detail::rejection_order(scores, f);
  std::reverse(order.begin(), order.end());  // Highest first.
  constexpr std::size_t steps = 20;
  const std::size_t first = std::min(n, 2 * result.needed);
  std::size_t accepted = 0;
  std::size_t errors = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    const std::size_t wanted = first + (n - first) * step / (steps - 1);
    const double threshold =
        wanted < n ? scores[order[wanted]] : -std::numeric_limits<double>::infinity();
    const std::size_t before = accepted;
    for (; accepted < n && scores[order[accepted]] > threshold; ++accepted) {
      errors += std::ranges::begin(correct)[order[accepted]] ? 0 : 1;
    }
    // Decided without labels: nothing new, or too few to pass even without an error.
    if (accepted == before || accepted < result.needed) continue;
    if (binomial_cdf(errors, accepted, risk) > delta) break;
    result.found = true;
    result.threshold = threshold;
    result.accepted = accepted;
    result.errors = errors;
  }
  if (result.found) {
    result.coverage = static_cast<double>(result.accepted) / static_cast<double>(n);
  }
  return result;
}

/// Certifies each predicted class by itself, P(wrong | score > threshold, predicted class) <= risk.
/// All guarantees hold at once with probability 1 - delta; each class gets delta over the number of
/// `classes`, the labels that can be predicted. Returns one result per class. A class that was
/// never predicted has no threshold. \throws std::invalid_argument also if a label is not among the
/// classes, or the classes are none or do not ascend.
template <detail::Flags Correct = std::vector<bool>>
[[nodiscard]] std::vector<CertifiedRisk> certify_risk(std::span<const double> scores,
                                                      const Correct& correct,
                                                      std::span<const int> predicted,
                                                      std::span<const int> classes, double risk,
                                                      double delta) {
  const char* const f = "certify_risk";
  detail::check_size(f, "correct", std::ranges::size(correct), scores.size(), "one per score");
  detail::check_size(f, "predicted", predicted.size(), scores.size(), "one per score");
  detail::check_delta(f, "risk", risk);
  detail::check_delta(f, "delta", delta);
  detail::check(!classes.empty() && std::adjacent_find(classes.begin(), classes.end(),
                                                       std::greater_equal<>{}) == classes.end(),
                f, "classes", "must hold a label, and ascend");
  std::vector<std::vector<double>> of_class(classes.size());
  std::vector<std::vector<bool>> right(classes.size());
  const auto places = detail::places_of(predicted, classes, f, "predicted");
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto c = static_cast<std::size_t>(places[i]);
    of_class[c].push_back(scores[i]);
    right[c].push_back(std::ranges::begin(correct)[i]);
  }
  std::vector<CertifiedRisk> results;
  const double share = delta / static_cast<double>(classes.size());
  for (std::size_t c = 0; c < classes.size(); ++c) {
    if (of_class[c].empty()) {
      results.push_back(
          {.risk = risk, .delta = share, .needed = detail::inputs_needed(risk, share)});
    } else {
      results.push_back(certify_risk(of_class[c], right[c], risk, share));
    }
  }
  return results;
}

}}  // namespace bpm
