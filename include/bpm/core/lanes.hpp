// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <utility>

#include "bpm/core/target.hpp"

// BYTE_INSTRUCTION: the target has one for products of bytes. BYTES_AT_RUN_TIME,
// NUMBERS_AT_RUN_TIME: products of bytes, of numbers, choose their instructions when the program
// runs.
#if defined(BPM_DETAIL_VECTOR_TYPES)
#if defined(__AVX512VNNI__) || (defined(__AVXVNNI__) && !defined(__AVX512F__))
#define BPM_DETAIL_BYTE_INSTRUCTION 1
#elif defined(__x86_64__) && !defined(_MSC_VER)
#define BPM_DETAIL_BYTES_AT_RUN_TIME 1
#if !defined(__FMA__)
#define BPM_DETAIL_NUMBERS_AT_RUN_TIME 1
#endif
#endif
#endif

#if defined(__AVX2__) || defined(__FMA__) || defined(BPM_DETAIL_BYTES_AT_RUN_TIME)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

/// \file
/// A register-wide group of numbers, by the compiler's vector types. Element-wise arithmetic does
/// not depend on the position of a value, which is why kernel values have the same bits in every
/// block (see panels.hpp and row_products.hpp).

namespace bpm { inline namespace BPM_TARGET { namespace detail {

#if defined(BPM_DETAIL_BYTES_AT_RUN_TIME)
/// True if the machine has AVX2 and fused multiply-adds.
[[nodiscard]] inline bool machine_fuses() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

/// Computes a b + sum, rounded in the same way everywhere: once where the target has the fused
/// instruction, else twice. A compiler alone fuses the operations of one loop and not of another,
/// or only those of a loop's remainder (GCC at -O3), and the bits of kernel values depend on their
/// order.
template <class T>
[[nodiscard]] inline T multiply_add(T a, T b, T sum) {
#if defined(__FMA__) || defined(__FP_FAST_FMA) || defined(__aarch64__)
  return std::fma(a, b, sum);
#else
  return a * b + sum;
#endif
}

#if defined(__AVX512F__)
inline constexpr std::size_t register_bytes = 64;
#elif defined(__AVX__)
inline constexpr std::size_t register_bytes = 32;
#else
inline constexpr std::size_t register_bytes = 16;
#endif

#if defined(__AVX512F__) || defined(__aarch64__)
inline constexpr int tile_rows = 4;  // 24 sums, 4 + 1 operands: 32 registers.
inline constexpr int tile_cols = 6;
#elif defined(__AVX__)
inline constexpr int tile_rows = 3;  // 12 sums, 3 + 1 operands: 16 registers.
inline constexpr int tile_cols = 4;
#else
inline constexpr int tile_rows = 2;  // 8 sums, 2 + 1 operands, a product: 16 registers.
inline constexpr int tile_cols = 4;
#endif

/// Number of values of type T in a register.
template <class T>
inline constexpr int lane_count = static_cast<int>(register_bytes / sizeof(T));

#if defined(__clang__) && defined(__AVX512F__)
// Clang would otherwise split 512-bit types in two on most targets.
#define BPM_DETAIL_FULL_WIDTH __attribute__((min_vector_width(512)))
#else
#define BPM_DETAIL_FULL_WIDTH
#endif

#if defined(BPM_DETAIL_VECTOR_TYPES)

template <class T, int N>
struct LanesType {
  using type __attribute__((vector_size(N * sizeof(T)))) = T;
  using unaligned __attribute__((vector_size(N * sizeof(T)), aligned(alignof(T)), may_alias)) = T;
};

/// A vector of N numbers.
template <class T, int N = lane_count<T>>
using Lanes = typename LanesType<T, N>::type;

template <class T>
[[gnu::always_inline]] inline Lanes<T> load_lanes(const T* from) {
  return *reinterpret_cast<const typename LanesType<T, lane_count<T>>::unaligned*>(from);
}

template <class T>
[[gnu::always_inline]] inline void store_lanes(T* to, const Lanes<T>& values) {
  *reinterpret_cast<typename LanesType<T, lane_count<T>>::unaligned*>(to) = values;
}

/// Returns a register with `value` in every lane.
template <class T>
[[gnu::always_inline]] inline Lanes<T> broadcast_lanes(T value) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return Lanes<T>{(static_cast<void>(I), value)...};
  }(std::make_integer_sequence<int, lane_count<T>>{});
}

/// Computes a b + sum in every lane, rounded once where the target has the fused instruction: the
/// same bits as `multiply_add` at every level of optimisation.
template <std::floating_point T>
[[gnu::always_inline]] inline Lanes<T> lanes_multiply_add(const Lanes<T>& a, const Lanes<T>& b,
                                                          const Lanes<T>& sum) {
#if defined(__AVX512F__)
  if constexpr (std::same_as<T, float>) {
    return (Lanes<T>)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)sum);
  } else {
    return (Lanes<T>)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)sum);
  }
#elif defined(__FMA__)
  if constexpr (std::same_as<T, float>) {
    return (Lanes<T>)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)sum);
  } else {
    return (Lanes<T>)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)sum);
  }
#elif defined(__FP_FAST_FMA) || defined(__aarch64__)
  Lanes<T> result;
  for (int l = 0; l < lane_count<T>; ++l) result[l] = multiply_add(a[l], b[l], sum[l]);
  return result;
#else
  const Lanes<T> product = a * b;
  return product + sum;
#endif
}

/// Transposes: lane l of register i goes to lane i of register l.
template <class T>
[[gnu::always_inline]] inline void transpose_lanes(Lanes<T> (&v)[lane_count<T>]) {
  constexpr int n = lane_count<T>;
  // Exchanges off-diagonal squares of S x S lanes; called for S = 1, 2, 4, ... below n.
  const auto stage = [&]<int S>(std::integral_constant<int, S>) {
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) {
      if ((i & S) == 0) {
        const Lanes<T> a = v[i];
        const Lanes<T> b = v[i + S];
        [&]<int... L>(std::integer_sequence<int, L...>) {
          v[i] = __builtin_shufflevector(a, b, ((L & S) != 0 ? n + L - S : L)...);
          v[i + S] = __builtin_shufflevector(a, b, ((L & S) != 0 ? n + L : L + S)...);
        }(std::make_integer_sequence<int, n>{});
      }
    }
  };
  stage(std::integral_constant<int, 1>{});
  if constexpr (n > 2) stage(std::integral_constant<int, 2>{});
  if constexpr (n > 4) stage(std::integral_constant<int, 4>{});
  if constexpr (n > 8) stage(std::integral_constant<int, 8>{});
}

/// Sums the lanes by halving: adds lane l + N/2 to lane l until one is left.
template <class T, int N>
[[gnu::always_inline]] inline T sum_lanes(Lanes<T, N> v) {
  if constexpr (N == 2) {
    return v[0] + v[1];
  } else {
    const auto halved = [&]<int... I>(std::integer_sequence<int, I...>) {
      return __builtin_shufflevector(v, v, I...) + __builtin_shufflevector(v, v, (I + N / 2)...);
    }(std::make_integer_sequence<int, N / 2>{});
    return sum_lanes<T, N / 2>(halved);
  }
}

template <class T>
[[gnu::always_inline]] inline Lanes<T> lanes_distance(Lanes<T> a, Lanes<T> b) {
  const Lanes<T> difference = a - b;
  return difference < 0 ? -difference : difference;
}

#else  // Any other compiler: plain arrays, with sums in the same order.

template <class T, int N = lane_count<T>>
struct Lanes {
  T values[N] = {};

  /// Returns lanes with value(l) in lane l.
  template <class Value>
  static Lanes of(Value&& value) {
    Lanes result;
    for (int l = 0; l < N; ++l) result[l] = value(l);
    return result;
  }

  T& operator[](int l) { return values[l]; }
  const T& operator[](int l) const { return values[l]; }
  Lanes& operator+=(const Lanes& other) { return *this = *this + other; }
  friend Lanes operator+(const Lanes& a, const Lanes& b) {
    return of([&](int l) { return a[l] + b[l]; });
  }
  friend Lanes operator*(const Lanes& a, const Lanes& b) {
    return of([&](int l) { return a[l] * b[l]; });
  }
  friend Lanes operator^(const Lanes& a, const Lanes& b)
    requires std::integral<T>
  {
    return of([&](int l) { return a[l] ^ b[l]; });
  }
};

template <class T>
inline Lanes<T> load_lanes(const T* from) {
  return Lanes<T>::of([&](int l) { return from[l]; });
}

template <class T>
inline void store_lanes(T* to, const Lanes<T>& values) {
  for (int l = 0; l < lane_count<T>; ++l) to[l] = values[l];
}

template <class T>
inline Lanes<T> broadcast_lanes(T value) {
  return Lanes<T>::of([&](int) { return value; });
}

template <std::floating_point T>
inline Lanes<T> lanes_multiply_add(const Lanes<T>& a, const Lanes<T>& b, const Lanes<T>& sum) {
  return Lanes<T>::of([&](int l) { return multiply_add(a[l], b[l], sum[l]); });
}

template <class T>
inline void transpose_lanes(Lanes<T> (&v)[lane_count<T>]) {
  for (int i = 0; i < lane_count<T>; ++i) {
    for (int l = 0; l < i; ++l) std::swap(v[i][l], v[l][i]);
  }
}

template <class T, int N>
inline T sum_lanes(Lanes<T, N> v) {
  for (int half = N / 2; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) v[l] += v[l + half];
  }
  return v[0];
}

template <class T>
inline Lanes<T> lanes_distance(const Lanes<T>& a, const Lanes<T>& b) {
  return Lanes<T>::of([&](int l) { return std::abs(a[l] - b[l]); });
}

#endif

}}}  // namespace bpm::detail
