// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "bpm/core/lanes.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"

/// \file
/// Operations on rows of numbers that are padded with zeros to whole registers. The order of the
/// sums is fixed, so results are the same bits whatever the compiler makes of the loops.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// `size` rounded up to whole registers of T.
template <class T>
[[nodiscard]] constexpr std::ptrdiff_t padded(std::ptrdiff_t size) noexcept {
  constexpr std::ptrdiff_t width = lane_count<T>;
  return (size + width - 1) / width * width;
}

/// Where `count` rows begin, one every `stride` numbers.
template <class T>
[[nodiscard]] std::vector<const T*> row_pointers(const T* first, std::ptrdiff_t count,
                                                 std::ptrdiff_t stride) {
  std::vector<const T*> rows;
  for (std::ptrdiff_t i = 0; i < count; ++i) rows.push_back(first + i * stride);
  return rows;
}

/// Inner product of two padded rows.
template <class T>
[[nodiscard]] inline T dot(const T* a, const T* b, std::ptrdiff_t length) {
  T value;
  row_products_tile<ProductTerm, T, 1, 1>(&a, &b, length, &value, 1);
  return value;
}

/// y += scale x.
template <class T>
inline void add_scaled(T* y, T scale, const T* x, std::ptrdiff_t length) {
  for (std::ptrdiff_t i = 0; i < length; ++i) y[i] += scale * x[i];
}

/// x *= scale.
template <class T>
inline void scale_by(T* x, T scale, std::ptrdiff_t length) {
  for (std::ptrdiff_t i = 0; i < length; ++i) x[i] *= scale;
}

/// Divides by the norm, which is returned; zeros stay.
inline double scale_to_unit(double* x, std::ptrdiff_t length) {
  const double norm = std::sqrt(dot(x, x, length));
  if (norm > 0) scale_by(x, 1 / norm, length);
  return norm;
}

/// out = a x + b y; `out` may be `x` or `y`.
template <class T>
inline void combine(T* out, T a, const T* x, T b, const T* y, std::ptrdiff_t length) {
  for (std::ptrdiff_t i = 0; i < length; ++i) out[i] = a * x[i] + b * y[i];
}

}}}  // namespace bpm::detail
