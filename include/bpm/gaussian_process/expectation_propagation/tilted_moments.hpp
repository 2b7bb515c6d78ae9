// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include "bpm/core/normal.hpp"
#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// What is left of a standard normal number u that is known to exceed -z, as functions of z alone.
/// None is a difference of numbers that are nearly equal, so that all are right to rounding, at
/// z = -30 and at z = -1e8.
struct TruncatedMoments {
  double log_mass;  ///< log Phi(z).
  double hazard;    ///< lambda = phi(z) / Phi(z): E[u].
  double excess;    ///< z + lambda: E[u + z] > 0; about 1 / -z far below zero.
  double variance;  ///< 1 - lambda (z + lambda): Var[u], in (0, 1); about 1 / z^2 far below zero.
};

[[nodiscard]] inline TruncatedMoments truncated_moments(double z) {
  TruncatedMoments result{log_normal_cdf(z), 0, 0, 0};
  if (z > -3) {
    result.hazard = normal_hazard(z);
    result.excess = z + result.hazard;
    result.variance = 1 - result.hazard * result.excess;
    return result;
  }
  // With x = -z, Laplace's continued fraction 1 / lambda = 1 / (x + 1 / (x + b)), b = 2 / (x + c).
  const double x = -z;
  const double c = laplace_fraction(x, 3, 60);
  const double b = 2 / (x + c);
  result.excess = 1 / (x + b);
  result.hazard = x + result.excess;
  // 1 - (x + a) / (x + b) = (b - a) / (x + b), and b - a in positive terms.
  const double left = (x + c) * (x + b);
  result.variance = (x + (2 * b - c)) / left / (x + b);
  return result;
}

/// A factor exp(shift d - precision d^2 / 2) of a Gaussian law of d.
struct GaussianSite {
  double precision = 0;  ///< tau >= 0.
  double shift = 0;      ///< nu: the precision times the mean.
};

/// One point's likelihood Phi(d / noise_deviation), or the step 1[d > 0] where that is 0, times its
/// cavity N(d; mean, variance).
struct TiltedLaw {
  double log_mass = 0;  ///< log of the integral of the product.
  double mean = 0;      ///< Of d under the product, normalised.
  double variance = 0;  ///< Likewise; positive.
  GaussianSite site{};  ///< Times the cavity, has this mean and variance.
};

/// C. Rasmussen, C. Williams, "Gaussian Processes for Machine Learning", MIT Press 2006, (3.58) and
/// (3.59), rewritten without differences: with s^2 = variance + noise^2, z = mean / s, lambda the
/// hazard, a = z + lambda, and v' = 1 - lambda a,
///
///     tau = lambda a / (noise^2 + variance v'),   nu = s lambda (v' + a^2) / (noise^2 + variance
///     v').
[[nodiscard]] inline TiltedLaw tilted_law(double mean, double variance, double noise_deviation) {
  const double noise_variance = noise_deviation * noise_deviation;
  const double total = variance + noise_variance;
  const double s = std::sqrt(total);
  const TruncatedMoments law = truncated_moments(mean / s);
  const double rest = noise_variance + variance * law.variance;
  TiltedLaw result;
  result.log_mass = law.log_mass;
  // mean + variance lambda / s, where that is not a difference of equals.
  result.mean = (mean / s * noise_variance + variance * law.excess) / s;
  result.variance = variance * rest / total;
  result.site.precision = law.hazard * law.excess / rest;
  result.site.shift = s * law.hazard * (law.variance + law.excess * law.excess) / rest;
  return result;
}

/// log of the integral of N(d; mean, variance) exp(shift d - precision d^2 / 2).
[[nodiscard]] inline double log_site_mass(double mean, double variance, GaussianSite site) {
  const double scale = 1 + site.precision * variance;
  const double exponent =
      2 * mean * site.shift + variance * site.shift * site.shift - mean * mean * site.precision;
  return 0.5 * (exponent / scale - std::log(scale));
}

}}}  // namespace bpm::detail
