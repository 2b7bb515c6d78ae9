// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bpm/core/lanes.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/panels.hpp"

/// \file
/// Inner products of rows of floats or doubles with columns in panels, tile by tile.
///
/// x86-64 programs compiled without the fused instruction may run on machines that have it. They
/// contain tile functions for several instruction sets, and choose the best that the machine has:
/// its inner products are then those of a program compiled for the machine, to the bit.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// What tiles add of numbers: the product of a row's number, equal in every lane, with those of the
/// columns. Bytes have operations of the same form.
template <std::floating_point T>
struct NumberProducts {
  using Unit = T;
  using Sum = T;

  [[gnu::always_inline]] static void add(Lanes<T>& sum, const Lanes<T>& row,
                                         const Lanes<T>& columns) {
    sum = lanes_multiply_add<T>(row, columns, sum);
  }
#if defined(BPM_DETAIL_NUMBERS_AT_RUN_TIME)
  template <class Wide>
  [[gnu::always_inline, gnu::target("avx512f")]] static void add_avx512(Wide& sum, const Wide& row,
                                                                        const Wide& columns) {
    if constexpr (std::same_as<T, float>) {
      sum = (Wide)_mm512_fmadd_ps((__m512)row, (__m512)columns, (__m512)sum);
    } else {
      sum = (Wide)_mm512_fmadd_pd((__m512d)row, (__m512d)columns, (__m512d)sum);
    }
  }
  template <class Wide>
  [[gnu::always_inline, gnu::target("avx2,fma")]] static void add_avx2(Wide& sum, const Wide& row,
                                                                       const Wide& columns) {
    if constexpr (std::same_as<T, float>) {
      sum = (Wide)_mm256_fmadd_ps((__m256)row, (__m256)columns, (__m256)sum);
    } else {
      sum = (Wide)_mm256_fmadd_pd((__m256d)row, (__m256d)columns, (__m256d)sum);
    }
  }
#endif
};

/// Computes out[i * ld + c], the sum over the listed steps k, in their order, of rows[i][k] times
/// unit c of the panel at k, for M rows and N registers of columns. With `add`, adds it to `out`.
/// Without a list (`Listed` false) k is 0, 1, ..., count - 1. `Width` is the panel's.
template <class Products, int M, int N, std::ptrdiff_t Width = panel_width<typename Products::Unit>,
          bool Listed = true, class Unit = typename Products::Unit,
          class Sum = typename Products::Sum>
BPM_DETAIL_FULL_WIDTH inline void panel_tile(const Unit* const* rows, const Unit* panel,
                                             const std::uint32_t* steps, std::ptrdiff_t count,
                                             bool add, Sum* out, std::ptrdiff_t ld) {
  constexpr int n = lane_count<Unit>;
  Lanes<Sum> sums[std::size_t(M)][std::size_t(N)] = {};
  for (std::ptrdiff_t s = 0; s < count; ++s) {
    const std::ptrdiff_t k = Listed ? steps[s] : s;
    const Unit* const right = panel + k * Width;
    Lanes<Unit> columns[std::size_t(N)];
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) columns[j] = load_lanes(right + j * n);
#pragma GCC unroll 8
    for (int i = 0; i < M; ++i) {
      const Lanes<Unit> left = broadcast_lanes(load_unit(rows[i] + k));
#pragma GCC unroll 8
      for (int j = 0; j < N; ++j) Products::add(sums[i][j], left, columns[j]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < M; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) {
      auto* const to = out + i * ld + j * n;
      store_lanes(to, add ? load_lanes(to) + sums[i][j] : sums[i][j]);
    }
  }
}

/// A function that multiplies rows with at least the first `columns` columns of a panel, as
/// `panel_tile`. A call does hundreds of operations or more.
template <class Products, class Unit = typename Products::Unit, class Sum = typename Products::Sum>
using TileFunction = void (*)(const Unit* const* rows, const Unit* panel,
                              const std::uint32_t* steps, std::ptrdiff_t count,
                              std::ptrdiff_t columns, bool add, Sum* out, std::ptrdiff_t ld);

/// M rows times a panel by the compiled target.
template <class Products, int M, class Unit = typename Products::Unit,
          class Sum = typename Products::Sum>
void compiled_tile(const Unit* const* rows, const Unit* panel, const std::uint32_t* steps,
                   std::ptrdiff_t count, std::ptrdiff_t columns, bool add, Sum* out,
                   std::ptrdiff_t ld) {
  if (M == 1 && columns <= lane_count<Unit>) {
    panel_tile<Products, 1, 1>(rows, panel, steps, count, add, out, ld);
  } else if constexpr (tile_width<Unit> == panel_width<Unit>) {
    panel_tile<Products, M, panel_registers>(rows, panel, steps, count, add, out, ld);
  } else {
    for (std::ptrdiff_t first = 0; first < columns; first += tile_width<Unit>) {
      panel_tile<Products, M, panel_registers>(rows, panel + first, steps, count, add, out + first,
                                               ld);
    }
  }
}

#if defined(BPM_DETAIL_BYTES_AT_RUN_TIME)

// The targets of these two name the instructions of numbers and of bytes, and a tile is to contain
// those alone that its products ask for: products whose machines lack some see to it.

/// M rows times the whole panel of four registers: 4 M sums of 32 registers.
template <class Products, int M, class Unit = typename Products::Unit,
          class Sum = typename Products::Sum>
[[gnu::target("avx512f,avx512vnni")]] void tile_avx512(const Unit* const* rows, const Unit* panel,
                                                       const std::uint32_t* steps,
                                                       std::ptrdiff_t count,
                                                       std::ptrdiff_t /*columns*/, bool add,
                                                       Sum* out, std::ptrdiff_t ld) {
  constexpr int n = 64 / sizeof(Unit);
  using Units = LanesType<Unit, n>;
  using Sums = LanesType<Sum, n>;
  typename Sums::type sums[std::size_t(M)][4] = {};
  for (std::ptrdiff_t s = 0; s < count; ++s) {
    const std::ptrdiff_t k = steps[s];
    const auto* const right =
        reinterpret_cast<const typename Units::unaligned*>(panel + k * panel_width<Unit>);
    const typename Units::type columns[4] = {right[0], right[1], right[2], right[3]};
#pragma GCC unroll 8
    for (int i = 0; i < M; ++i) {
      const typename Units::type left = load_unit(rows[i] + k) - typename Units::type{};
#pragma GCC unroll 8
      for (int j = 0; j < 4; ++j) Products::add_avx512(sums[i][j], left, columns[j]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < M; ++i) {
    auto* const to = reinterpret_cast<typename Sums::unaligned*>(out + i * ld);
#pragma GCC unroll 8
    for (int j = 0; j < 4; ++j) to[j] = add ? to[j] + sums[i][j] : sums[i][j];
  }
}

/// M rows times parts of two registers: 2 M sums of 16 registers.
template <class Products, int M, class Unit = typename Products::Unit,
          class Sum = typename Products::Sum>
[[gnu::target("avx2,fma,avxvnni")]] void tile_avx2(const Unit* const* rows, const Unit* panel,
                                                   const std::uint32_t* steps, std::ptrdiff_t count,
                                                   std::ptrdiff_t columns, bool add, Sum* out,
                                                   std::ptrdiff_t ld) {
  constexpr int n = 32 / sizeof(Unit);
  using Units = LanesType<Unit, n>;
  using Sums = LanesType<Sum, n>;
  for (std::ptrdiff_t first = 0; first < columns; first += 2 * n) {
    typename Sums::type sums[std::size_t(M)][2] = {};
    for (std::ptrdiff_t s = 0; s < count; ++s) {
      const std::ptrdiff_t k = steps[s];
      const auto* const right =
          reinterpret_cast<const typename Units::unaligned*>(panel + k * panel_width<Unit> + first);
      const typename Units::type columns_there[2] = {right[0], right[1]};
#pragma GCC unroll 8
      for (int i = 0; i < M; ++i) {
        const typename Units::type left = load_unit(rows[i] + k) - typename Units::type{};
        Products::add_avx2(sums[i][0], left, columns_there[0]);
        Products::add_avx2(sums[i][1], left, columns_there[1]);
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < M; ++i) {
      auto* const to = reinterpret_cast<typename Sums::unaligned*>(out + i * ld + first);
      to[0] = add ? to[0] + sums[i][0] : sums[i][0];
      to[1] = add ? to[1] + sums[i][1] : sums[i][1];
    }
  }
}

#endif

/// Returns the sum of the squares of a row, a chain of multiply-adds.
template <std::floating_point T>
T compiled_squares(const T* row, std::ptrdiff_t count) {
  T sum = 0;
  for (std::ptrdiff_t k = 0; k < count; ++k) sum = multiply_add(row[k], row[k], sum);
  return sum;
}

/// Tile functions for `panel_rows` rows and for one; and the sum of a row's squares, rounded as the
/// products are.
template <std::floating_point T>
struct NumberTiles {
  const char* name;
  TileFunction<NumberProducts<T>> rows;
  TileFunction<NumberProducts<T>> row;
  T (*squares)(const T* row, std::ptrdiff_t count);
};

#if defined(BPM_DETAIL_NUMBERS_AT_RUN_TIME)
template <std::floating_point T>
[[gnu::target("fma")]] T fused_squares(const T* row, std::ptrdiff_t count) {
  T sum = 0;
  for (std::ptrdiff_t k = 0; k < count; ++k) sum = std::fma(row[k], row[k], sum);
  return sum;
}
#endif

/// Tile functions that this machine can run, the best first, that of the compiled target last.
template <std::floating_point T>
[[nodiscard]] std::span<const NumberTiles<T>> all_number_tiles() {
  using Products = NumberProducts<T>;
  static constexpr NumberTiles<T> tiles[] = {
#if defined(BPM_DETAIL_NUMBERS_AT_RUN_TIME)
    {"avx512", tile_avx512<Products, panel_rows>, tile_avx512<Products, 1>, fused_squares<T>},
    {"avx2", tile_avx2<Products, panel_rows>, tile_avx2<Products, 1>, fused_squares<T>},
#endif
    {"as compiled", compiled_tile<Products, panel_rows>, compiled_tile<Products, 1>,
     compiled_squares<T>}
  };
#if defined(BPM_DETAIL_NUMBERS_AT_RUN_TIME)
  return std::span(tiles).subspan(!machine_fuses() ? 2 : __builtin_cpu_supports("avx512f") ? 0 : 1);
#else
  return tiles;
#endif
}

/// Tile functions by which numbers are multiplied throughout the program.
template <std::floating_point T>
[[nodiscard]] const NumberTiles<T>& number_tiles() {
  return all_number_tiles<T>().front();
}

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
