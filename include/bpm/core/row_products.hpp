// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "bpm/core/lanes.hpp"
#include "bpm/core/target.hpp"

/// \file
/// Sums over pairs of rows, and operations on rows, whose bits depend on the rows alone.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

// Sums over pairs of rows (inner products, Manhattan distances) at matrix-product speed, whose
// bits depend on the two rows alone.
//
// Every value is computed in one way: lane l of a register sums the terms k = l, l + W, l + 2W, ...
// in that order (W lanes; rows are zero-padded to a multiple of W), and the lanes are then added by
// halving. The other rows of the block, the pair's position in the block, and the order of the two
// rows make no difference. A general matrix product guarantees none of that: it uses other
// instructions at the edges of a block, and other splits on several threads. Rows are read in
// place, without packing.

/// Term of an inner product.
struct ProductTerm {
  template <class T>
  [[gnu::always_inline]] static void add(Lanes<T>& sum, const Lanes<T>& a, const Lanes<T>& b) {
    sum += a * b;
  }
};

/// Term of a Manhattan distance.
struct DistanceTerm {
  template <class T>
  [[gnu::always_inline]] static void add(Lanes<T>& sum, const Lanes<T>& a, const Lanes<T>& b) {
    sum += lanes_distance<T>(a, b);
  }
};

/// Computes M x N values with all sums in registers. `length` is a multiple of the lane count.
template <class Term, class T, int M, int N>
BPM_DETAIL_FULL_WIDTH inline void row_products_tile(const T* const* a, const T* const* b,
                                                    std::ptrdiff_t length, T* out,
                                                    std::ptrdiff_t ld) {
  constexpr int width = lane_count<T>;
  Lanes<T> sums[std::size_t(M)][std::size_t(N)] = {};
  for (std::ptrdiff_t k = 0; k < length; k += width) {
    Lanes<T> left[std::size_t(M)];
#pragma GCC unroll 8
    for (int i = 0; i < M; ++i) left[i] = load_lanes(a[i] + k);
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) {
      const Lanes<T> right = load_lanes(b[j] + k);
#pragma GCC unroll 8
      for (int i = 0; i < M; ++i) Term::template add<T>(sums[i][j], left[i], right);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < M; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) out[i * ld + j] = sum_lanes<T, width>(sums[i][j]);
  }
}

/// A tile at the edge: repeats the last row for missing rows, and drops their values.
template <class Term, class T, int M, int N>
inline void row_products_edge(const T* const* a, std::ptrdiff_t count_a, const T* const* b,
                              std::ptrdiff_t count_b, std::ptrdiff_t length, T* out,
                              std::ptrdiff_t ld) {
  const T* rows_a[std::size_t(M)];
  const T* rows_b[std::size_t(N)];
  for (std::ptrdiff_t i = 0; i < M; ++i) rows_a[i] = a[std::min(i, count_a - 1)];
  for (std::ptrdiff_t j = 0; j < N; ++j) rows_b[j] = b[std::min(j, count_b - 1)];
  T values[std::size_t(M * N)];
  row_products_tile<Term, T, M, N>(rows_a, rows_b, length, values, N);
  for (std::ptrdiff_t i = 0; i < std::min<std::ptrdiff_t>(M, count_a); ++i) {
    for (std::ptrdiff_t j = 0; j < std::min<std::ptrdiff_t>(N, count_b); ++j) {
      out[i * ld + j] = values[i * N + j];
    }
  }
}

/// out[i * ld + j] = sum over k of Term(a[i][k], b[j][k]) for all i < count_a, j < count_b.
///
/// `a` and `b` are arrays of row pointers, each row readable up to `length`, a multiple of
/// `lane_count<T>`. Cost: count_a * count_b * length multiply-adds; measured at 85 to 90 % of a
/// large matrix product's rate from 100 rows a side (length 784, AVX-512).
template <class Term, class T>
void row_products(const T* const* a, std::ptrdiff_t count_a, const T* const* b,
                  std::ptrdiff_t count_b, std::ptrdiff_t length, T* out, std::ptrdiff_t ld) {
  constexpr std::ptrdiff_t m = tile_rows;
  constexpr std::ptrdiff_t n = tile_cols;
  if (count_a == 1) {
    std::ptrdiff_t j = 0;
    for (; j + n <= count_b; j += n) {
      row_products_tile<Term, T, 1, n>(a, b + j, length, out + j, ld);
    }
    if (j < count_b) {
      row_products_edge<Term, T, 1, n>(a, 1, b + j, count_b - j, length, out + j, ld);
    }
    return;
  }
  // A chunk of b's rows stays in the second-level cache for all rows of a.
  constexpr std::ptrdiff_t cache_bytes = 320 * 1024;
  const std::ptrdiff_t row_bytes = std::max<std::ptrdiff_t>(length, 1) * std::ptrdiff_t{sizeof(T)};
  const std::ptrdiff_t chunk = std::max<std::ptrdiff_t>(1, cache_bytes / row_bytes / n) * n;
  for (std::ptrdiff_t begin = 0; begin < count_b; begin += chunk) {
    const std::ptrdiff_t end = std::min(count_b, begin + chunk);
    for (std::ptrdiff_t i = 0; i < count_a; i += m) {
      const bool full = i + m <= count_a;
      for (std::ptrdiff_t j = begin; j < end; j += n) {
        if (full && j + n <= end) [[likely]] {
          row_products_tile<Term, T, m, n>(a + i, b + j, length, out + i * ld + j, ld);
        } else {
          row_products_edge<Term, T, m, n>(a + i, count_a - i, b + j, end - j, length,
                                           out + i * ld + j, ld);
        }
      }
    }
  }
}

// Operations on rows of numbers padded with zeros to whole registers. Sums have one order; the
// compiler may fuse products and sums, so bits are reproducible within one build.

/// `size` rounded up to whole registers of T.
template <class T>
[[nodiscard]] constexpr std::ptrdiff_t padded(std::ptrdiff_t size) noexcept {
  constexpr std::ptrdiff_t width = lane_count<T>;
  return (size + width - 1) / width * width;
}

/// Returns pointers to `count` rows, one every `stride` numbers.
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

/// Computes y += scale x.
template <class T>
inline void add_scaled(T* y, T scale, const T* x, std::ptrdiff_t length) {
  for (std::ptrdiff_t i = 0; i < length; ++i) y[i] += scale * x[i];
}

/// Computes x *= scale.
template <class T>
inline void scale_by(T* x, T scale, std::ptrdiff_t length) {
  for (std::ptrdiff_t i = 0; i < length; ++i) x[i] *= scale;
}

/// Divides x by its norm and returns the norm; leaves a zero vector as it is.
inline double scale_to_unit(double* x, std::ptrdiff_t length) {
  const double norm = std::sqrt(dot(x, x, length));
  if (norm > 0) scale_by(x, 1 / norm, length);
  return norm;
}

/// Computes out = a x + b y; `out` may be `x` or `y`.
template <class T>
inline void combine(T* out, T a, const T* x, T b, const T* y, std::ptrdiff_t length) {
  for (std::ptrdiff_t i = 0; i < length; ++i) out[i] = a * x[i] + b * y[i];
}

// Loops over numbers in the place of Eigen's expressions, each of which is a type that every user's
// compiler reads. These keep Eigen's registers and its order of additions.

inline void take_exponentials(double* values, Eigen::Index count) {
  Eigen::Map<Eigen::ArrayXd> all(values, count);
  all = all.exp();
}
[[nodiscard]] inline double sum_of(const double* values, Eigen::Index count) {
  return Eigen::Map<const Eigen::ArrayXd>(values, count).sum();
}
[[nodiscard]] inline double dot_of(const double* a, const double* b, Eigen::Index count) {
  using Numbers = Eigen::Map<const Eigen::ArrayXd>;
  return (Numbers(a, count) * Numbers(b, count)).sum();
}
/// Sets `to`, which may be x or y, to a x + y.
inline void set_sum(double* to, double a, const double* x, const double* y, Eigen::Index count) {
  for (Eigen::Index c = 0; c < count; ++c) to[c] = multiply_add(a, x[c], y[c]);
}

}}}  // namespace bpm::detail
