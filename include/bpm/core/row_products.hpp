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

#if defined(BPM_DETAIL_NUMBERS_AT_RUN_TIME)

// What a program compiled for any x86-64 does by other instructions where the machine has them, as
// one compiled for the machine does it, to the bit.

/// Runs a loop of an always-inline function with registers of AVX2.
template <auto Loop, class... Arguments>
[[gnu::target("avx2,fma")]] auto by_avx2(Arguments... arguments) {
  return Loop(arguments...);
}

// out = exp(factor v), of the values v or, with squares, of v = max(left + right - 2 value, 0), for
// `count` values, a multiple of 16. As Eigen 3.4 does it with these registers, exp(x) = 2^m exp(r)
// with m the integer next to x / log 2, and exp(r) by the polynomial of the Cephes library; with
// AVX-512 it ends a little earlier, and takes log 2 at once. The last max passes infinity on; NaN
// comes through, as each min and max gives its second operand then. (GCC 12 warns of the plain
// forms of some intrinsics, not of maskz.)

[[gnu::target("avx512f")]] inline void exponentials_avx512(float* out, float factor,
                                                           const float* values, const float* left,
                                                           const float* right,
                                                           std::ptrdiff_t count) {
  constexpr __mmask16 all = 0xFFFF;
  for (std::ptrdiff_t i = 0; i < count; i += 16) {
    __m512 given = _mm512_loadu_ps(values + i);
    if (left != nullptr) {
      given =
          _mm512_maskz_max_ps(all, _mm512_setzero_ps(),
                              _mm512_loadu_ps(left + i) + _mm512_loadu_ps(right + i) - 2 * given);
    }
    given *= factor;
    const __m512 below = _mm512_maskz_min_ps(all, _mm512_set1_ps(88.3762626647950F), given);
    const __m512 x = _mm512_maskz_max_ps(all, _mm512_set1_ps(-88.3762626647949F), below);
    const __m512 m = _mm512_floor_ps(
        _mm512_fmadd_ps(x, _mm512_set1_ps(1.44269504088896341F), _mm512_set1_ps(0.5F)));
    const __m512 r = _mm512_fmadd_ps(m, _mm512_set1_ps(-0.6931471805599453F), x);
    const __m512 r2 = r * r;
    __m512 y =
        _mm512_fmadd_ps(_mm512_set1_ps(1.9875691500e-4F), r, _mm512_set1_ps(1.3981999507e-3F));
    __m512 z =
        _mm512_fmadd_ps(_mm512_set1_ps(4.1665795894e-2F), r, _mm512_set1_ps(1.6666665459e-1F));
    y = _mm512_fmadd_ps(y, r, _mm512_set1_ps(8.3334519073e-3F));
    z = _mm512_fmadd_ps(z, r, _mm512_set1_ps(5.0000001201e-1F));
    y = _mm512_fmadd_ps(_mm512_fmadd_ps(y, r2 * r, z), r2, r + 1);
    y *= _mm512_castsi512_ps(
        _mm512_maskz_slli_epi32(all, _mm512_maskz_cvttps_epi32(all, m + 127), 23));
    _mm512_storeu_ps(out + i, _mm512_maskz_max_ps(all, given, y));
  }
}

[[gnu::target("avx2,fma")]] inline void exponentials_avx2(float* out, float factor,
                                                          const float* values, const float* left,
                                                          const float* right,
                                                          std::ptrdiff_t count) {
  for (std::ptrdiff_t i = 0; i < count; i += 8) {
    __m256 given = _mm256_loadu_ps(values + i);
    if (left != nullptr) {
      given = _mm256_max_ps(_mm256_setzero_ps(),
                            _mm256_loadu_ps(left + i) + _mm256_loadu_ps(right + i) - 2 * given);
    }
    given *= factor;
    const __m256 below = _mm256_min_ps(_mm256_set1_ps(88.723F), given);
    const __m256 x = _mm256_max_ps(_mm256_set1_ps(-88.723F), below);
    const __m256 m = _mm256_floor_ps(
        _mm256_fmadd_ps(x, _mm256_set1_ps(1.44269504088896341F), _mm256_set1_ps(0.5F)));
    __m256 r = _mm256_fmadd_ps(m, _mm256_set1_ps(-0.693359375F), x);
    r = _mm256_fmadd_ps(m, _mm256_set1_ps(2.12194440e-4F), r);
    const __m256 r2 = r * r;
    __m256 y =
        _mm256_fmadd_ps(_mm256_set1_ps(1.9875691500e-4F), r, _mm256_set1_ps(1.3981999507e-3F));
    __m256 z =
        _mm256_fmadd_ps(_mm256_set1_ps(4.1665795894e-2F), r, _mm256_set1_ps(1.6666665459e-1F));
    y = _mm256_fmadd_ps(y, r, _mm256_set1_ps(8.3334519073e-3F));
    z = _mm256_fmadd_ps(z, r, _mm256_set1_ps(5.0000001201e-1F));
    y = _mm256_fmadd_ps(_mm256_fmadd_ps(y, r2 * r, z), r2, r + 1);
    const __m256 half = _mm256_floor_ps(m / 2);  // 2^m, in two factors.
    y *= _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvttps_epi32(half + 127), 23));
    y *= _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvttps_epi32(m - half + 127), 23));
    _mm256_storeu_ps(out + i, _mm256_max_ps(given, y));
  }
}

#endif

/// Runs a loop over numbers, an always-inline function, with the registers that the machine has.
template <auto Loop, class... Arguments>
[[gnu::always_inline]] inline auto by_machine(Arguments... arguments) {
#if defined(BPM_DETAIL_NUMBERS_AT_RUN_TIME)
  if (machine_fuses()) return by_avx2<Loop>(arguments...);
#endif
  return Loop(arguments...);
}

}}}  // namespace bpm::detail
