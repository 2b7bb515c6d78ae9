// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "bpm/core/check.hpp"
#include "bpm/core/target.hpp"

/// \file
/// Errors among independent trials: what a count of them says about their rate, exactly.

namespace bpm { inline namespace BPM_TARGET {

/// P(X <= k) for X the number of errors in n independent trials that each fail with probability p.
/// Summed from k away from the mean, to some 1e-12 relative; O(k + sqrt(n)).
/// \throws std::invalid_argument unless p lies in [0, 1].
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
  // The first term of the tail on k's side of the mean: all others are smaller.
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

/// The upper limit of an error rate after `errors` in n independent trials, with confidence
/// 1 - delta: the largest p with P(Bin(n, p) <= errors) >= delta (Clopper, Pearson, Biometrika 26,
/// 1934); 1 - delta^(1/n) without an error, 1 without a trial. To rounding, from above.
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
  double low = static_cast<double>(errors) / static_cast<double>(n);
  double high = 1;
  for (double middle = (low + high) / 2; low < middle && middle < high; middle = (low + high) / 2) {
    (binomial_cdf(errors, n, middle) >= delta ? low : high) = middle;
  }
  return high;
}

}}  // namespace bpm
