// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "bpm/core/check.hpp"
#include "bpm/core/target.hpp"

/// \file
/// The relative entropy of two coins and its inverses: what the tails of means in [0, 1] are
/// measured with.
///
/// For a mean q of N independent numbers in [0, 1] with expectation p (Chernoff; Hoeffding 1963,
/// theorem 1),
///
///     P(q <= p - t) <= exp(-N kl(p - t || p)),
///
/// and the same above p. With c = log(1 / delta) / N, `kl_upper_inverse(q, c)` is therefore an
/// upper limit of p with confidence 1 - delta, and `kl_lower_inverse(q, c)` a lower one.

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// log(1 + u) - u, without the cancellation at small u.
[[nodiscard]] inline double log1p_minus(double u) {
  if (std::abs(u) > 0.1) {
    return std::log1p(u) - u;
  }
  double sum = 0;
  for (int k = 18; k >= 2; --k) sum = (k % 2 == 0 ? -1.0 : 1.0) / k + u * sum;
  return u * u * sum;
}

/// kl(q || q + d), from the distance: right to rounding also where d is tiny.
[[nodiscard]] inline double relative_entropy_at(double q, double d) {
  double sum = 0;
  if (q > 0) sum -= q * log1p_minus(d / q);
  if (q < 1) sum -= (1 - q) * log1p_minus(-d / (1 - q));
  return sum;
}

/// kl(q || p) for q and p inside (0, 1], right to rounding; q = 0 and p < 1 are fine, too.
[[nodiscard]] inline double relative_entropy(double q, double p) {
  if (std::abs(q - p) < 0.05 * q && std::abs(q - p) < 0.05 * (1 - q)) {
    return relative_entropy_at(q, p - q);  // p - q is exact here.
  }
  double sum = 0;
  if (q > 0) sum += q * std::log(q / p);
  if (q < 1) sum += (1 - q) * (std::log1p(-q) - std::log1p(-p));
  return sum;
}

/// The smallest x in [0, end] with `reached(x)`, which is false below some x and true from there
/// on; `end` where it is never true. By bisection over the doubles themselves: at most 64 calls.
template <class Predicate>
[[nodiscard]] double first_double(double end, Predicate&& reached) {
  // Doubles that are not negative have the order of their bits.
  std::uint64_t low = 0;
  auto high = std::bit_cast<std::uint64_t>(end);
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (reached(std::bit_cast<double>(middle))) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return std::bit_cast<double>(high);
}

/// The smallest q <= p with kl(q || p) <= c: with c = log(1 / delta) / N, the value below which the
/// mean of N numbers falls with probability delta at most. 0 where none is that unlikely. p in
/// [0, 1], c >= 0.
[[nodiscard]] inline double kl_lower_deviation(double p, double c) {
  if (p == 0 || p == 1 || c == 0) {
    return p;
  }
  return first_double(p, [&](double q) { return relative_entropy(q, p) <= c; });
}

}  // namespace detail

/// kl(q || p) = q log(q / p) + (1 - q) log((1 - q) / (1 - p)), in nats; infinity where p is 0 or 1
/// and q is not.
/// \throws std::invalid_argument unless both lie in [0, 1].
[[nodiscard]] inline double binary_relative_entropy(double q, double p) {
  const char* const f = "binary_relative_entropy";
  detail::check_probability(f, "q", q);
  detail::check_probability(f, "p", p);
  if (q == p) {
    return 0;
  }
  if (p == 0 || p == 1) {
    return std::numeric_limits<double>::infinity();
  }
  return detail::relative_entropy(q, p);
}

/// The largest p >= q with kl(q || p) <= c: 1 - exp(-c) for q = 0, and 1 for q = 1. Rounded up.
/// \throws std::invalid_argument unless q lies in [0, 1] and c is not negative.
[[nodiscard]] inline double kl_upper_inverse(double q, double c) {
  const char* const f = "kl_upper_inverse";
  detail::check_probability(f, "q", q);
  detail::check(c >= 0, f, "c", "is ", c, ", must not be negative");
  if (q == 0) {
    return -std::expm1(-c);
  }
  if (q == 1 || c == 0) {
    return q;
  }
  const double distance =
      detail::first_double(1 - q, [&](double d) { return detail::relative_entropy_at(q, d) >= c; });
  return std::fmin(1.0, q + distance);
}

/// The smallest p <= q with kl(q || p) <= c: exp(-c) for q = 1, and 0 for q = 0. Rounded down.
/// \throws std::invalid_argument unless q lies in [0, 1] and c is not negative.
[[nodiscard]] inline double kl_lower_inverse(double q, double c) {
  const char* const f = "kl_lower_inverse";
  detail::check_probability(f, "q", q);
  detail::check(c >= 0, f, "c", "is ", c, ", must not be negative");
  if (q == 1) {
    return std::exp(-c);
  }
  if (q == 0 || c == 0) {
    return q;
  }
  // Near zero p has digits that q - p has not: the bisection runs over p, by its logarithm.
  return detail::first_double(
      q, [&](double p) { return p > 0 && detail::relative_entropy(q, p) <= c; });
}

}}  // namespace bpm
