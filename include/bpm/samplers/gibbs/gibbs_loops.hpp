// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include "bpm/core/lanes.hpp"
#include "bpm/core/target.hpp"

/// \file
/// The passes over the m outputs that a Gibbs step makes.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

struct Extremes {
  double smallest = std::numeric_limits<double>::infinity();
  double largest = -std::numeric_limits<double>::infinity();

  void include(double value) {
    smallest = value < smallest ? value : smallest;
    largest = value > largest ? value : largest;
  }
};

/// Of p_i / d_i, i < count; all d_i > 0.
[[nodiscard]] inline Extremes ratio_extremes(const double* p, const double* d,
                                             std::ptrdiff_t count) {
  Extremes result;
  std::ptrdiff_t i = 0;
#if defined(BPM_DETAIL_VECTOR_TYPES)
  constexpr int width = lane_count<double>;
  if (count >= width) {
    Lanes<double> smallest = load_lanes(p) / load_lanes(d);
    Lanes<double> largest = smallest;
    for (i = width; i + width <= count; i += width) {
      const Lanes<double> ratio = load_lanes(p + i) / load_lanes(d + i);
      smallest = ratio < smallest ? ratio : smallest;
      largest = ratio > largest ? ratio : largest;
    }
    for (int l = 0; l < width; ++l) {
      result.include(smallest[l]);
      result.include(largest[l]);
    }
  }
#endif
  for (; i < count; ++i) result.include(p[i] / d[i]);
  return result;
}

/// out = a d + b p; returns the smallest entry.
inline double combine_smallest(double* out, double a, const double* d, double b, const double* p,
                               std::ptrdiff_t count) {
  double smallest = std::numeric_limits<double>::infinity();
  std::ptrdiff_t i = 0;
#if defined(BPM_DETAIL_VECTOR_TYPES)
  constexpr int width = lane_count<double>;
  if (count >= width) {
    using Unaligned = LanesType<double, width>::unaligned;
    Lanes<double> least = smallest - Lanes<double>{};
    for (; i + width <= count; i += width) {
      const Lanes<double> value = a * load_lanes(d + i) + b * load_lanes(p + i);
      *reinterpret_cast<Unaligned*>(out + i) = value;
      least = value < least ? value : least;
    }
    for (int l = 0; l < width; ++l) smallest = std::min<double>(smallest, least[l]);
  }
#endif
  for (; i < count; ++i) {
    out[i] = a * d[i] + b * p[i];
    smallest = std::min(smallest, out[i]);
  }
  return smallest;
}

/// How many d_i are not positive.
[[nodiscard]] inline std::ptrdiff_t count_errors(const double* d, std::ptrdiff_t count) {
  std::ptrdiff_t errors = 0;
  for (std::ptrdiff_t i = 0; i < count; ++i) errors += d[i] > 0 ? 0 : 1;
  return errors;
}

}}}  // namespace bpm::detail
