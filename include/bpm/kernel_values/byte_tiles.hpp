// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "bpm/core/lanes.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/panels.hpp"

/// \file
/// A tile of inner products of rows of bytes, exact in 32-bit integers, from a panel whose unit is
/// four bytes of a column.
///
/// With the byte instruction (VNNI), one operation adds four products of an unsigned with a signed
/// byte to a sum: the panel then holds its bytes less 128, and 128 times the sum of the row's bytes
/// is added at the end. The older instruction of this kind adds pairs in 16 bits, which saturates:
/// 255 * 127 * 2 exceeds them. So other targets split the bytes into even and odd ones and multiply
/// them as 16-bit numbers.
///
/// x86-64 programs compiled without the instruction may run on machines that have it. They choose
/// the tiles at run time (byte_panels.hpp): sums of integers do not depend on the instruction.

#if defined(BPM_DETAIL_VECTOR_TYPES)
#if defined(__AVX512VNNI__) || (defined(__AVXVNNI__) && !defined(__AVX512F__))
#define BPM_DETAIL_BYTE_INSTRUCTION 1
#elif defined(__x86_64__) && !defined(_MSC_VER)
#define BPM_DETAIL_BYTES_AT_RUN_TIME 1
#endif
#if defined(__aarch64__)
#include <arm_neon.h>
#endif
#endif

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Four bytes of a row or a column.
using ByteUnit = std::uint32_t;

#if defined(BPM_DETAIL_BYTES_AT_RUN_TIME)
/// As wide as the widest tile: panels are packed before the tile function is known.
template <>
inline constexpr std::ptrdiff_t panel_width<ByteUnit> = 64;
#endif

#if defined(BPM_DETAIL_BYTE_INSTRUCTION)
inline constexpr bool bytes_by_instruction = true;
#else
inline constexpr bool bytes_by_instruction = false;
#endif

/// Change of a panel's bytes for the instruction: 128 is subtracted from each.
inline constexpr ByteUnit instruction_flip = 0x80808080U;
inline constexpr std::int32_t instruction_shift = 128;

/// Returns sum + the products of a row's four bytes, equal in every lane, with those of the
/// columns.
inline Lanes<std::int32_t> add_one_by_one(Lanes<std::int32_t> sum, const Lanes<ByteUnit>& row,
                                          const Lanes<ByteUnit>& columns) {
  for (int l = 0; l < lane_count<std::int32_t>; ++l) {
    ByteUnit total = 0;
    for (int byte = 0; byte < 4; ++byte) {
      total += (row[l] >> (8 * byte) & 255U) * (columns[l] >> (8 * byte) & 255U);
    }
    sum[l] += static_cast<std::int32_t>(total);
  }
  return sum;
}

/// Implements `add_one_by_one` with the target's instructions.
[[gnu::always_inline]] inline Lanes<std::int32_t> add_byte_products(
    Lanes<std::int32_t> sum, const Lanes<ByteUnit>& row, const Lanes<ByteUnit>& columns) {
#if !defined(BPM_DETAIL_VECTOR_TYPES)
  return add_one_by_one(sum, row, columns);
#elif defined(__AVX512VNNI__)
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
#elif defined(__SSE2__) && !defined(__AVX__)
  const auto add = [&](__m128i a, __m128i b) { sum += (Lanes<std::int32_t>)_mm_madd_epi16(a, b); };
  const __m128i even = _mm_set1_epi16(255);
  add(_mm_and_si128((__m128i)row, even), _mm_and_si128((__m128i)columns, even));
  add(_mm_srli_epi16((__m128i)row, 8), _mm_srli_epi16((__m128i)columns, 8));
  return sum;
#elif defined(__aarch64__) && defined(__ARM_FEATURE_DOTPROD)
  return (Lanes<std::int32_t>)vdotq_u32((uint32x4_t)sum, (uint8x16_t)row, (uint8x16_t)columns);
#elif defined(__aarch64__)
  const auto r = (uint8x16_t)row;
  const auto c = (uint8x16_t)columns;
  const uint16x8_t low = vmull_u8(vget_low_u8(r), vget_low_u8(c));
  const uint16x8_t high = vmull_high_u8(r, c);
  return sum + (Lanes<std::int32_t>)vpaddq_u32(vpaddlq_u16(low), vpaddlq_u16(high));
#else
  return add_one_by_one(sum, row, columns);
#endif
}

/// Computes out[i * panel_width + c], the sum over the listed steps of the products of four bytes
/// each, for M rows and N registers of columns.
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

/// Tile functions of the compiled target: `panel_rows` rows or one row, times at least the first
/// `columns` columns of a panel.
struct CompiledByteTiles {
  static constexpr ByteUnit flip = bytes_by_instruction ? instruction_flip : 0;
  static constexpr std::int32_t shift = bytes_by_instruction ? instruction_shift : 0;

  [[gnu::always_inline]] static void rows(const ByteUnit* const* rows, const ByteUnit* panel,
                                          const std::uint32_t* steps, std::ptrdiff_t count,
                                          std::ptrdiff_t columns, std::int32_t* out) {
    constexpr std::ptrdiff_t part = std::ptrdiff_t{panel_registers} * lane_count<ByteUnit>;
    if constexpr (part == panel_width<ByteUnit>) {
      byte_tile<panel_rows, panel_registers>(rows, panel, steps, count, out);
    } else {
      for (std::ptrdiff_t first = 0; first < columns; first += part) {
        byte_tile<panel_rows, panel_registers>(rows, panel + first, steps, count, out + first);
      }
    }
  }
  [[gnu::always_inline]] static void row(const ByteUnit* const* rows, const ByteUnit* panel,
                                         const std::uint32_t* steps, std::ptrdiff_t count,
                                         std::ptrdiff_t columns, std::int32_t* out) {
    constexpr std::ptrdiff_t part = std::ptrdiff_t{panel_registers} * lane_count<ByteUnit>;
    if (columns <= lane_count<ByteUnit>) {
      byte_tile<1, 1>(rows, panel, steps, count, out);
    } else if constexpr (part == panel_width<ByteUnit>) {
      byte_tile<1, panel_registers>(rows, panel, steps, count, out);
    } else {
      for (std::ptrdiff_t first = 0; first < columns; first += part) {
        byte_tile<1, panel_registers>(rows, panel + first, steps, count, out + first);
      }
    }
  }
};

}}}  // namespace bpm::detail
