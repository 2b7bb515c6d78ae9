// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <vector>

/// \file
/// Goodness of fit, for tests of random draws. Seeds are fixed, so no test fails by chance; the
/// bounds say what a right generator exceeds once in about a million seeds.

namespace test_support {

/// sum (observed - expected)^2 / expected with equal expectations.
inline double chi_square(std::span<const long> counts) {
  double total = 0;
  for (const long count : counts) total += static_cast<double>(count);
  const double expected = total / static_cast<double>(counts.size());
  double sum = 0;
  for (const long count : counts) {
    const double difference = static_cast<double>(count) - expected;
    sum += difference * difference / expected;
  }
  return sum;
}

/// The value that chi-square with `freedom` degrees exceeds with probability 1e-6, by the cube-root
/// normal approximation (E. Wilson, M. Hilferty, PNAS 17, 1931).
inline double chi_square_bound(std::size_t freedom) {
  constexpr double z = 4.753;  // Normal quantile of 1 - 1e-6.
  const double part = 2.0 / (9.0 * static_cast<double>(freedom));
  const double root = 1 - part + z * std::sqrt(part);
  return static_cast<double>(freedom) * root * root * root;
}

inline double normal_distribution(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

/// sqrt(n) times the Kolmogorov-Smirnov distance between a sample and a continuous law; a right
/// sample exceeds 2.7 with probability 2 exp(-2 * 2.7^2) = 1e-6.
template <class Law>
double kolmogorov_smirnov(std::vector<double> sample, Law&& law) {
  std::sort(sample.begin(), sample.end());
  const auto n = static_cast<double>(sample.size());
  double distance = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double p = law(sample[i]);
    distance =
        std::max({distance, p - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - p});
  }
  return distance * std::sqrt(n);
}

inline constexpr double kolmogorov_smirnov_bound = 2.7;

}  // namespace test_support
