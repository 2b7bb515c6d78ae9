// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bpm/core/lanes.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/panels.hpp"

/// \file
/// Inner products of rows of floats or doubles with columns in panels, tile by tile.
///
/// x86-64 programs compiled without the fused instruction may run on machines that have it. They
/// contain tile functions for several instruction sets, and choose the best that the machine has:
/// its inner products are then those of a program compiled for the machine, to the bit.

#if defined(BPM_DETAIL_NUMBERS_AT_RUN_TIME)
#include <immintrin.h>
#endif

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Computes out[i * ld + c], the sum over the listed steps k, in their order, of rows[i][k] times
/// number c of the panel at k, for M rows and N registers of columns. With `add`, adds it to `out`.
/// Without a list (`Listed` false) k is 0, 1, ..., count - 1. `Width` is the panel's.
template <std::floating_point T, int M, int N, std::ptrdiff_t Width = panel_width<T>,
          bool Listed = true>
BPM_DETAIL_FULL_WIDTH inline void panel_tile(const T* const* rows, const T* panel,
                                             const std::uint32_t* steps, std::ptrdiff_t count,
                                             bool add, T* out, std::ptrdiff_t ld) {
  constexpr int n = lane_count<T>;
  Lanes<T> sums[std::size_t(M)][std::size_t(N)];
#pragma GCC unroll 8
  for (int i = 0; i < M; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) sums[i][j] = Lanes<T>{};
  }
  for (std::ptrdiff_t s = 0; s < count; ++s) {
    const std::ptrdiff_t k = Listed ? steps[s] : s;
    const T* const right = panel + k * Width;
    Lanes<T> columns[std::size_t(N)];
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) columns[j] = load_lanes(right + j * n);
#pragma GCC unroll 8
    for (int i = 0; i < M; ++i) {
      const Lanes<T> left = broadcast_lanes(load_unit(rows[i] + k));
#pragma GCC unroll 8
      for (int j = 0; j < N; ++j) sums[i][j] = lanes_multiply_add<T>(left, columns[j], sums[i][j]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < M; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) {
      T* const to = out + i * ld + j * n;
      store_lanes(to, add ? load_lanes(to) + sums[i][j] : sums[i][j]);
    }
  }
}

/// M rows times at least the first `columns` columns of a panel, by the compiled target.
template <std::floating_point T, int M>
void compiled_tile(const T* const* rows, const T* panel, const std::uint32_t* steps,
                   std::ptrdiff_t count, std::ptrdiff_t columns, bool add, T* out,
                   std::ptrdiff_t ld) {
  if (M == 1 && columns <= lane_count<T>) {
    panel_tile<T, 1, 1>(rows, panel, steps, count, add, out, ld);
  } else if constexpr (tile_width<T> == panel_width<T>) {
    panel_tile<T, M, panel_registers>(rows, panel, steps, count, add, out, ld);
  } else {
    for (std::ptrdiff_t first = 0; first < columns; first += tile_width<T>) {
      panel_tile<T, M, panel_registers>(rows, panel + first, steps, count, add, out + first, ld);
    }
  }
}

/// Returns the sum of the squares of a row, a chain of multiply-adds.
template <std::floating_point T>
T compiled_squares(const T* row, std::ptrdiff_t count) {
  T sum = 0;
  for (std::ptrdiff_t k = 0; k < count; ++k) sum = multiply_add(row[k], row[k], sum);
  return sum;
}

/// Tile functions: `panel_rows` rows or one row, times at least the first `columns` columns of a
/// panel, as `panel_tile`; and the sum of a row's squares, rounded as the products are. A call does
/// hundreds of operations or more.
template <std::floating_point T>
struct NumberTiles {
  using Tile = void (*)(const T* const* rows, const T* panel, const std::uint32_t* steps,
                        std::ptrdiff_t count, std::ptrdiff_t columns, bool add, T* out,
                        std::ptrdiff_t ld);
  const char* name;
  Tile rows;
  Tile row;
  T (*squares)(const T* row, std::ptrdiff_t count);
};

template <std::floating_point T>
inline constexpr NumberTiles<T> compiled_number_tiles{"as compiled", compiled_tile<T, panel_rows>,
                                                      compiled_tile<T, 1>, compiled_squares<T>};

#if defined(BPM_DETAIL_NUMBERS_AT_RUN_TIME)

template <std::floating_point T>
[[gnu::target("fma")]] T fused_squares(const T* row, std::ptrdiff_t count) {
  T sum = 0;
  for (std::ptrdiff_t k = 0; k < count; ++k) sum = std::fma(row[k], row[k], sum);
  return sum;
}

/// M rows times the whole panel of four registers: 4 M sums of 32 registers.
template <std::floating_point T, int M>
[[gnu::target("avx512f")]] void tile_avx512(const T* const* rows, const T* panel,
                                            const std::uint32_t* steps, std::ptrdiff_t count,
                                            std::ptrdiff_t /*columns*/, bool add, T* out,
                                            std::ptrdiff_t ld) {
  constexpr int n = 64 / sizeof(T);
  using Wide = typename LanesType<T, n>::type;
  using Anywhere = typename LanesType<T, n>::unaligned;
  Wide sums[std::size_t(M)][4] = {};
  for (std::ptrdiff_t s = 0; s < count; ++s) {
    const std::ptrdiff_t k = steps[s];
    Wide columns[4];
#pragma GCC unroll 8
    for (int j = 0; j < 4; ++j) {
      columns[j] = *reinterpret_cast<const Anywhere*>(panel + k * panel_width<T> + j * n);
    }
#pragma GCC unroll 8
    for (int i = 0; i < M; ++i) {
      const T left = load_unit(rows[i] + k);
#pragma GCC unroll 8
      for (int j = 0; j < 4; ++j) {
        Wide& sum = sums[i][j];
        if constexpr (std::same_as<T, float>) {
          sum = (Wide)_mm512_fmadd_ps(_mm512_set1_ps(left), (__m512)columns[j], (__m512)sum);
        } else {
          sum = (Wide)_mm512_fmadd_pd(_mm512_set1_pd(left), (__m512d)columns[j], (__m512d)sum);
        }
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < M; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < 4; ++j) {
      auto* const to = reinterpret_cast<Anywhere*>(out + i * ld + j * n);
      *to = add ? *to + sums[i][j] : sums[i][j];
    }
  }
}

/// M rows times parts of two registers: 2 M sums of 16 registers.
template <std::floating_point T, int M>
[[gnu::target("avx2,fma")]] void tile_avx2(const T* const* rows, const T* panel,
                                           const std::uint32_t* steps, std::ptrdiff_t count,
                                           std::ptrdiff_t columns, bool add, T* out,
                                           std::ptrdiff_t ld) {
  constexpr int n = 32 / sizeof(T);
  using Wide = typename LanesType<T, n>::type;
  using Anywhere = typename LanesType<T, n>::unaligned;
  for (std::ptrdiff_t first = 0; first < columns; first += 2 * n) {
    Wide sums[std::size_t(M)][2] = {};
    for (std::ptrdiff_t s = 0; s < count; ++s) {
      const std::ptrdiff_t k = steps[s];
      const auto* const right =
          reinterpret_cast<const Anywhere*>(panel + k * panel_width<T> + first);
      const Wide columns_there[2] = {right[0], right[1]};
#pragma GCC unroll 8
      for (int i = 0; i < M; ++i) {
        const T left = load_unit(rows[i] + k);
#pragma GCC unroll 8
        for (int j = 0; j < 2; ++j) {
          Wide& sum = sums[i][j];
          if constexpr (std::same_as<T, float>) {
            sum =
                (Wide)_mm256_fmadd_ps(_mm256_set1_ps(left), (__m256)columns_there[j], (__m256)sum);
          } else {
            sum = (Wide)_mm256_fmadd_pd(_mm256_set1_pd(left), (__m256d)columns_there[j],
                                        (__m256d)sum);
          }
        }
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < M; ++i) {
#pragma GCC unroll 8
      for (int j = 0; j < 2; ++j) {
        auto* const to = reinterpret_cast<Anywhere*>(out + i * ld + first + j * n);
        *to = add ? *to + sums[i][j] : sums[i][j];
      }
    }
  }
}

/// Tile functions that this machine can run, the best first.
template <std::floating_point T>
[[nodiscard]] const std::vector<NumberTiles<T>>& all_number_tiles() {
  static const std::vector<NumberTiles<T>> tiles = [] {
    std::vector<NumberTiles<T>> found;
    const bool fused = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (fused && __builtin_cpu_supports("avx512f")) {
      found.push_back({"avx512", tile_avx512<T, panel_rows>, tile_avx512<T, 1>, fused_squares<T>});
    }
    if (fused) {
      found.push_back({"avx2", tile_avx2<T, panel_rows>, tile_avx2<T, 1>, fused_squares<T>});
    }
    found.push_back(compiled_number_tiles<T>);
    return found;
  }();
  return tiles;
}

/// Tile functions by which numbers are multiplied throughout the program.
template <std::floating_point T>
[[nodiscard]] const NumberTiles<T>& number_tiles() {
  static const NumberTiles<T>& best = all_number_tiles<T>().front();
  return best;
}

#else

template <std::floating_point T>
[[nodiscard]] constexpr const NumberTiles<T>& number_tiles() noexcept {
  return compiled_number_tiles<T>;
}

#endif

/// Computes values[i * ld + c] = <rows[i], column c> for `count` rows and `columns` columns packed
/// in panels, each panel `length` steps. The bits of a value depend on its row and its column
/// alone: it is a chain of fused multiply-adds in the order of the features, in parts of
/// `longest_chain`; skipped steps would have added zero.
/// Cost: count * columns * length multiply-adds at most; measured at twice the rate of Eigen's
/// product (length 784, AVX-512), and more where rows hold zeros.
template <std::floating_point T>
void panel_products(const T* const* rows, std::ptrdiff_t count, const T* panels,
                    std::ptrdiff_t columns, std::ptrdiff_t length, T* values, std::ptrdiff_t ld,
                    StepLists& lists, const NumberTiles<T>& tiles = number_tiles<T>()) {
  constexpr std::ptrdiff_t width = panel_width<T>;
  for_each_tile_group(rows, count, length, longest_chain, lists, [&](auto&& walk) {
    for (std::ptrdiff_t first = 0; first < columns; first += width) {
      const T* const panel = panels + first * length;
      const std::ptrdiff_t there = std::min(width, columns - first);
      T edge[std::size_t(panel_rows * width)];
      walk([&](std::ptrdiff_t row, bool full, std::ptrdiff_t part, const std::uint32_t* steps,
               std::ptrdiff_t n) {
        T* const place = values + row * ld + first;
        T* const out = there == width ? place : edge;
        const std::ptrdiff_t stride = there == width ? ld : width;
        (full ? tiles.rows : tiles.row)(rows + row, panel, steps, n, there, part > 0, out, stride);
        if (there < width && (part + 1) * longest_chain >= length) {
          for (std::ptrdiff_t i = 0; i < (full ? panel_rows : 1); ++i) {
            std::copy_n(edge + i * width, there, place + i * ld);
          }
        }
      });
    }
  });
}

}}}  // namespace bpm::detail
