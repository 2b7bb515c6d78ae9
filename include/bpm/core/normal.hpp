// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"

/// \file
/// Standard normal distribution, accurate to rounding also far out in the tails, where differences
/// of distribution functions lose all digits; Student's t and chi distributions.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// The density phi(x) = exp(-x^2 / 2) / sqrt(2 pi).
[[nodiscard]] inline double normal_density(double x) {
  return std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
}

/// The distribution function Phi(x).
[[nodiscard]] inline double normal_cdf(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

/// Laplace's continued fraction from `first` to `last`, first / (x + (first + 1) / (x + ...)). The
/// truncation error is below rounding for x >= 3 with `last` 60, and for x >= 6 with `last` 28.
[[nodiscard]] inline double laplace_fraction(double x, int first, int last) {
  double sum = 0;
  for (int k = last; k >= first; --k) sum = k / (x + sum);
  return sum;
}

/// Mills' ratio Phi(-x) / phi(x) for x >= 0, to about 1e-14: by erfc for x < 6, else by the
/// continued fraction 1 / (x + 1 / (x + 2 / (x + ...))).
[[nodiscard]] inline double mills_ratio(double x) {
  if (x < 6) {
    return std::sqrt(std::numbers::pi / 2) * std::exp(x * x / 2) *
           std::erfc(x / std::numbers::sqrt2);
  }
  return 1 / (x + laplace_fraction(x, 1, 28));
}

/// log Phi(x).
[[nodiscard]] inline double log_normal_cdf(double x) {
  if (x > 3) {
    return std::log1p(-normal_cdf(-x));
  }
  if (x > -6) {
    return std::log(normal_cdf(x));
  }
  const double log_root_two_pi = 0.5 * std::log(2 * std::numbers::pi);
  return -0.5 * x * x - log_root_two_pi + std::log(mills_ratio(-x));
}

/// phi(x) / Phi(x), the mean of a standard normal number conditioned on exceeding -x; about -x for
/// x far below zero.
[[nodiscard]] inline double normal_hazard(double x) {
  if (x > -6) {
    return normal_density(x) / normal_cdf(x);
  }
  return 1 / mills_ratio(-x);
}

/// Returns the x with Phi(x) = p, by Newton's iteration on log Phi.
[[nodiscard]] inline double normal_quantile(double p) {
  if (!(p > 0)) {
    return -std::numeric_limits<double>::infinity();
  }
  if (!(p < 1)) {
    return std::numeric_limits<double>::infinity();
  }
  if (p > 0.5) {
    return -normal_quantile(1 - p);
  }
  // log Phi is concave and increasing: Newton from the left of the root never overshoots.
  const double target = std::log(p);
  double x = -std::sqrt(-2 * target) - 1;
  for (int k = 0; k < 100; ++k) {
    const double step = (target - log_normal_cdf(x)) / normal_hazard(x);
    x += step;
    if (std::abs(step) < 1e-14 * (1 + std::abs(x))) {
      break;
    }
  }
  return x;
}

/// Quantile of Student's t with `freedom` >= 5 degrees of freedom, from the normal one, to a
/// relative 1e-3 for p in [0.01, 0.99], 4e-3 in [0.001, 0.999] (Abramowitz, Stegun, 26.7.5).
[[nodiscard]] inline double student_quantile(double p, double freedom) {
  const double z = normal_quantile(p);
  if (std::isinf(freedom)) {
    return z;
  }
  const double v = freedom;
  const double z2 = z * z;
  const double g1 = z * (z2 + 1) / 4;
  const double g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
  const double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
  const double g4 = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
  return z + (g1 + (g2 + (g3 + g4 / v) / v) / v) / v;
}

/// E[chi_r] = sqrt(2) Gamma((r + 1) / 2) / Gamma(r / 2), the mean length of a normal vector of R^r:
/// 0.798 for r = 1, close to sqrt(r - 1/2) for large r. Uses E[chi_r] E[chi_(r + 1)] = r. Cost: r.
/// \throws std::invalid_argument unless r >= 1.
[[nodiscard]] inline double mean_chi(std::ptrdiff_t r) {
  check(r >= 1, "mean_chi", "r", "is ", r, ", must be 1 or more");
  double mean = std::sqrt(2 / std::numbers::pi);
  for (std::ptrdiff_t k = 1; k < r; ++k) mean = static_cast<double>(k) / mean;
  return mean;
}

}}}  // namespace bpm::detail
