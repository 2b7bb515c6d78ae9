// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "check.hpp"

/// \file
/// The paired t-test (Student, Biometrika 6(1), 1908).

namespace bpm_examples {

namespace paired_t_detail {

/// The continued fraction of the incomplete beta function by Lentz's method (W. Press, S.
/// Teukolsky, W. Vetterling, B. Flannery, "Numerical Recipes", section 6.4). Converges in
/// O(sqrt(max(a, b))) terms for x < (a + 1) / (a + b + 2).
[[nodiscard]] inline double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  constexpr double precision = 1e-16;
  const auto away_from_zero = [](double value) { return std::abs(value) < tiny ? tiny : value; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double result = d;
  for (int k = 1; k < 100'000; ++k) {
    const double even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    result *= d * c;
    const double odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    result *= d * c;
    if (std::abs(d * c - 1) < precision) {
      break;
    }
  }
  return result;
}

}  // namespace paired_t_detail

/// The regularised incomplete beta function I_x(a, b) for a, b > 0 and x in [0, 1].
[[nodiscard]] inline double incomplete_beta(double a, double b, double x) {
  if (x <= 0 || x >= 1) {
    return x <= 0 ? 0 : 1;
  }
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * paired_t_detail::beta_fraction(a, b, x) / a
                                   : 1 - front * paired_t_detail::beta_fraction(b, a, 1 - x) / b;
}

/// P(|T| >= |t|) for Student's t with `freedom` > 0 degrees of freedom; exact far into the tails.
[[nodiscard]] inline double student_two_sided(double t, double freedom) {
  return std::isinf(t) ? 0 : incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

/// P(T <= t), the distribution function.
[[nodiscard]] inline double student_distribution(double t, double freedom) {
  const double tail = student_two_sided(t, freedom) / 2;
  return t > 0 ? 1 - tail : tail;
}

/// What a paired t-test says about the differences first - second.
struct PairedTest {
  std::size_t pairs = 0;
  double mean = 0;            ///< Of the differences.
  double standard_error = 0;  ///< Of their mean.
  double t = 0;               ///< mean / standard_error; 0 where both are 0.
  double p_value = 0;  ///< P(T <= t) with pairs - 1 degrees of freedom: near 1, first is larger.
  double p_two_sided = 0;  ///< P(|T| >= |t|): near 0, they differ.
};

/// Compares pairs of measurements. \throws std::invalid_argument if the sizes disagree or there are
/// fewer than two pairs.
[[nodiscard]] inline PairedTest paired_t_test(std::span<const double> first,
                                              std::span<const double> second) {
  check(second.size() == first.size(), "paired_t_test: second has ", second.size(),
        " entries, expected ", first.size(), " (as the first has)");
  check(first.size() >= 2, "paired_t_test: first has ", first.size(),
        " entries, needs two or more");
  const auto n = static_cast<double>(first.size());
  PairedTest test;
  test.pairs = first.size();
  for (std::size_t i = 0; i < first.size(); ++i) test.mean += (first[i] - second[i]) / n;
  double squares = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double deviation = first[i] - second[i] - test.mean;
    squares += deviation * deviation;
  }
  test.standard_error = std::sqrt(squares / (n - 1) / n);
  if (test.standard_error > 0) {
    test.t = test.mean / test.standard_error;
  } else if (test.mean != 0) {
    test.t = std::copysign(std::numeric_limits<double>::infinity(), test.mean);
  }
  test.p_value = student_distribution(test.t, n - 1);
  test.p_two_sided = student_two_sided(test.t, n - 1);
  return test;
}

}  // namespace bpm_examples
