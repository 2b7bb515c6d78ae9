// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "bpm/core/lanes.hpp"
#include "bpm/kernel_values/panels.hpp"

/// \file
/// Inner products of rows of bytes, exact in 32-bit integers, from panels whose unit is four bytes
/// of a column.
///
/// Where the target has an instruction for it (VNNI), one operation adds four products of an
/// unsigned with a signed byte to a sum: the panel then holds its bytes less 128, and 128 times the
/// sum of the row's bytes is added at the end. The older instruction of that shape adds pairs in 16
/// bits, which saturates: 255 * 127 * 2 is more than they hold. So elsewhere the bytes are split
/// into even and odd ones and multiplied as 16-bit numbers.

namespace bpm::detail {

/// Four bytes of a row or a column.
using ByteUnit = std::uint32_t;

#if defined(__AVX512VNNI__) || (defined(__AVXVNNI__) && !defined(__AVX512F__))
inline constexpr bool bytes_by_instruction = true;
inline constexpr ByteUnit byte_flip = 0x80808080U;
inline constexpr std::int32_t byte_shift = 128;  ///< What is taken off a panel's bytes.
#else
inline constexpr bool bytes_by_instruction = false;
inline constexpr ByteUnit byte_flip = 0;
inline constexpr std::int32_t byte_shift = 0;
#endif

/// Bytes a row whose sums of products surely fit 32 bits: 255^2 * 32768 < 2^31.
inline constexpr std::ptrdiff_t longest_byte_chain = 32768;

/// sum + the products of a row's four bytes, the same in every lane, with those of the columns.
[[gnu::always_inline]] inline Lanes<std::int32_t> add_byte_products(
    Lanes<std::int32_t> sum, const Lanes<ByteUnit>& row, const Lanes<ByteUnit>& columns) {
#if defined(__AVX512VNNI__)
  return (Lanes<std::int32_t>)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)row, (__m512i)columns);
#elif defined(__AVXVNNI__) && !defined(__AVX512F__)
  return (Lanes<std::int32_t>)_mm256_dpbusd_avx_epi32((__m256i)sum, (__m256i)row, (__m256i)columns);
#elif defined(__AVX512BW__)
  const auto add = [&](__m512i a, __m512i b) {
    sum += (Lanes<std::int32_t>)_mm512_madd_epi16(a, b);
  };
  const __m512i even = _mm512_set1_epi16(255);
  add(_mm512_and_si512((__m512i)row, even), _mm512_and_si512((__m512i)columns, even));
  add(_mm512_srli_epi16((__m512i)row, 8), _mm512_srli_epi16((__m512i)columns, 8));
  return sum;
#elif defined(__AVX2__) && !defined(__AVX512F__)
  const auto add = [&](__m256i a, __m256i b) {
    sum += (Lanes<std::int32_t>)_mm256_madd_epi16(a, b);
  };
  const __m256i even = _mm256_set1_epi16(255);
  add(_mm256_and_si256((__m256i)row, even), _mm256_and_si256((__m256i)columns, even));
  add(_mm256_srli_epi16((__m256i)row, 8), _mm256_srli_epi16((__m256i)columns, 8));
  return sum;
#else
  for (int l = 0; l < lane_count<std::int32_t>; ++l) {
    ByteUnit total = 0;
    for (int byte = 0; byte < 4; ++byte) {
      total += (row[l] >> (8 * byte) & 255U) * (columns[l] >> (8 * byte) & 255U);
    }
    sum[l] += static_cast<std::int32_t>(total);
  }
  return sum;
#endif
}

/// out[i * panel_width + c] = sum over the listed steps of the products of four bytes each, for M
/// rows and N registers of columns.
template <int M, int N>
BPM_DETAIL_FULL_WIDTH inline void byte_tile(const ByteUnit* const* rows, const ByteUnit* panel,
                                            const std::uint32_t* steps, std::ptrdiff_t count,
                                            std::int32_t* out) {
  constexpr int n = lane_count<ByteUnit>;
  constexpr std::ptrdiff_t width = panel_width<ByteUnit>;
  Lanes<std::int32_t> sums[M][N];
#pragma GCC unroll 8
  for (int i = 0; i < M; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) sums[i][j] = Lanes<std::int32_t>{};
  }
  for (std::ptrdiff_t s = 0; s < count; ++s) {
    const std::ptrdiff_t k = steps[s];
    const ByteUnit* const right = panel + k * width;
    Lanes<ByteUnit> columns[N];
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) columns[j] = load_lanes(right + j * n);
#pragma GCC unroll 8
    for (int i = 0; i < M; ++i) {
      const Lanes<ByteUnit> left = broadcast_lanes(load_unit(rows[i] + k));
#pragma GCC unroll 8
      for (int j = 0; j < N; ++j) sums[i][j] = add_byte_products(sums[i][j], left, columns[j]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < M; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) store_lanes(out + i * width + j * n, sums[i][j]);
  }
}

/// values[i * ld + c] = <rows[i], column c>, the exact integer rounded once to T. `rows` hold
/// `length` units; `row_sums[i]` is the sum of row i's bytes. Cost: count * columns * length
/// operations of four products at most, fewer where rows hold zeros.
template <std::floating_point T>
void byte_products(const ByteUnit* const* rows, const std::int64_t* row_sums, std::ptrdiff_t count,
                   const ByteUnit* panels, std::ptrdiff_t columns, std::ptrdiff_t length, T* values,
                   std::ptrdiff_t ld, StepLists& lists) {
  constexpr std::ptrdiff_t width = panel_width<ByteUnit>;
  constexpr std::ptrdiff_t part_length = longest_byte_chain / 4;
  const bool one_part = length <= part_length;
  for_each_tile_group(rows, count, length, part_length, lists, [&](auto&& walk) {
    for (std::ptrdiff_t first = 0; first < columns; first += width) {
      const ByteUnit* const panel = panels + first * length;
      const std::ptrdiff_t there = std::min(width, columns - first);
      std::int32_t sums[panel_rows * width];
      std::int64_t totals[panel_rows * width];
      walk([&](std::ptrdiff_t row, bool full, std::ptrdiff_t part, const std::uint32_t* steps,
               std::ptrdiff_t n) {
        if (full) {
          byte_tile<panel_rows, panel_registers>(rows + row, panel, steps, n, sums);
        } else if (there <= lane_count<ByteUnit>) {
          byte_tile<1, 1>(rows + row, panel, steps, n, sums);
        } else {
          byte_tile<1, panel_registers>(rows + row, panel, steps, n, sums);
        }
        const std::ptrdiff_t height = full ? panel_rows : 1;
        if (one_part) [[likely]] {
          for (std::ptrdiff_t i = 0; i < height; ++i) {
            // Both terms and their sum are below 2^31 in size.
            const auto shift = static_cast<std::int32_t>(byte_shift * row_sums[row + i]);
            T* const out = values + (row + i) * ld + first;
            for (std::ptrdiff_t c = 0; c < there; ++c) {
              out[c] = static_cast<T>(sums[i * width + c] + shift);
            }
          }
          return;
        }
        for (std::ptrdiff_t i = 0; i < height; ++i) {
          for (std::ptrdiff_t c = i * width; c < i * width + there; ++c) {
            totals[c] = sums[c] + (part > 0 ? totals[c] : 0);
          }
        }
        if ((part + 1) * part_length >= length) {
          for (std::ptrdiff_t i = 0; i < height; ++i) {
            for (std::ptrdiff_t c = 0; c < there; ++c) {
              values[(row + i) * ld + first + c] =
                  static_cast<T>(totals[i * width + c] + byte_shift * row_sums[row + i]);
            }
          }
        }
      });
    }
  });
}

}  // namespace bpm::detail
