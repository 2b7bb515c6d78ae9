// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "bpm/core/lanes.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/number_panels.hpp"
#include "bpm/kernel_values/panels.hpp"

/// \file
/// Inner products of rows of bytes with columns in panels, whose unit is four bytes of a column, as
/// exact integers, tile by tile.
///
/// With the byte instruction (VNNI), one operation adds four products of an unsigned with a signed
/// byte to a sum: the panel then holds its bytes less 128, and 128 times the sum of the row's bytes
/// is added at the end. The older instruction of this kind adds pairs in 16 bits, which saturates:
/// 255 * 127 * 2 exceeds them. So other targets split the bytes into even and odd ones and multiply
/// them as 16-bit numbers.
///
/// x86-64 programs compiled without the instruction may run on machines that have it. They contain
/// tile functions for several instruction sets, and choose the best that the machine has: sums of
/// integers do not depend on the instruction.

#if defined(BPM_DETAIL_BYTES_AT_RUN_TIME)
#include <cpuid.h>
#elif defined(BPM_DETAIL_VECTOR_TYPES) && defined(__aarch64__)
#include <arm_neon.h>
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

/// What tiles add of bytes: with `Instruction`, by the byte instruction where the compiled target
/// lacks it.
template <bool Instruction>
struct ByteProducts {
  using Unit = ByteUnit;
  using Sum = std::int32_t;

  [[gnu::always_inline]] static void add(Lanes<Sum>& sum, const Lanes<Unit>& row,
                                         const Lanes<Unit>& columns) {
    sum = add_byte_products(sum, row, columns);
  }
#if defined(BPM_DETAIL_BYTES_AT_RUN_TIME)
  template <class Sums, class Units>
  [[gnu::always_inline, gnu::target("avx512f,avx512vnni")]] static void add_avx512(
      Sums& sum, const Units& row, const Units& columns) {
    sum = (Sums)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)row, (__m512i)columns);
  }
  template <class Sums, class Units>
  [[gnu::always_inline, gnu::target("avx2,fma,avxvnni")]] static void add_avx2(
      Sums& sum, const Units& row, const Units& columns) {
    if constexpr (Instruction) {
      sum = (Sums)_mm256_dpbusd_avx_epi32((__m256i)sum, (__m256i)row, (__m256i)columns);
    } else {
      auto evens =
          _mm256_madd_epi16((__m256i)(row & 0x00FF00FFU), (__m256i)(columns & 0x00FF00FFU));
      auto odds = _mm256_madd_epi16((__m256i)(row >> 8 & 0x00FF00FFU),
                                    (__m256i)(columns >> 8 & 0x00FF00FFU));
      __asm__("" : "+x"(evens), "+x"(odds));  // Else Clang adds by the instruction, VPDPWSSD.
      sum += (Sums)evens + (Sums)odds;
    }
  }
#endif
};

/// Tile functions for `panel_rows` rows and for one, of a panel whose bytes were changed by `flip`;
/// `shift` times the sum of a row's bytes is to be added.
struct ByteTiles {
  const char* name;
  ByteUnit flip;
  std::int32_t shift;
  TileFunction<ByteProducts<false>> rows;
  TileFunction<ByteProducts<false>> row;
};

inline constexpr ByteTiles compiled_byte_tiles{
    "as compiled", bytes_by_instruction ? instruction_flip : 0,
    bytes_by_instruction ? instruction_shift : 0, compiled_tile<ByteProducts<false>, panel_rows>,
    compiled_tile<ByteProducts<false>, 1>};

#if defined(BPM_DETAIL_BYTES_AT_RUN_TIME)

/// True if the machine has dpbusd in 256-bit registers: bit 4 of eax in leaf 7, part 1, which is
/// zero where the part is missing.
[[nodiscard]] inline bool has_avx_vnni() {
  unsigned found[4] = {};  // eax, ebx, ecx, edx.
  return machine_fuses() && __get_cpuid_count(7, 1, found, found + 1, found + 2, found + 3) != 0 &&
         (found[0] >> 4U & 1U) != 0;
}

/// Tile functions that this machine can run, the best first.
[[nodiscard]] inline const std::vector<ByteTiles>& all_byte_tiles() {
  static const std::vector<ByteTiles> tiles = [] {
    std::vector<ByteTiles> found;
    using Instruction = ByteProducts<true>;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vnni")) {
      found.push_back({"avx512 vnni", instruction_flip, instruction_shift,
                       tile_avx512<Instruction, panel_rows>, tile_avx512<Instruction, 1>});
    }
    if (has_avx_vnni()) {
      found.push_back({"avx vnni", instruction_flip, instruction_shift,
                       tile_avx2<Instruction, panel_rows>, tile_avx2<Instruction, 1>});
    }
#if !defined(__AVX2__)
    if (machine_fuses()) {
      found.push_back({"avx2", 0, 0, tile_avx2<ByteProducts<false>, panel_rows>,
                       tile_avx2<ByteProducts<false>, 1>});
    }
#endif
    found.push_back(compiled_byte_tiles);
    return found;
  }();
  return tiles;
}

/// Tile functions for which panels are packed and multiplied throughout the program.
[[nodiscard]] inline const ByteTiles& byte_tiles() {
  static const ByteTiles& best = all_byte_tiles().front();
  return best;
}

#else

[[nodiscard]] constexpr const ByteTiles& byte_tiles() noexcept { return compiled_byte_tiles; }

#endif

/// Longest row in bytes whose sums of products fit 32 bits: 255^2 * 32768 < 2^31.
inline constexpr std::ptrdiff_t longest_byte_chain = 32768;

/// Computes values[i * ld + c] = <rows[i], column c>, the exact integer rounded once to T. `rows`
/// hold `length` units; `row_sums[i]` is the sum of row i's bytes; the bytes of the panels were
/// changed by `tiles.flip`. Cost: count * columns * length operations of four products at most,
/// fewer where rows hold zeros.
template <std::floating_point T>
void byte_products(const ByteUnit* const* rows, const std::int64_t* row_sums, std::ptrdiff_t count,
                   const ByteUnit* panels, std::ptrdiff_t columns, std::ptrdiff_t length, T* values,
                   std::ptrdiff_t ld, StepLists& lists, const ByteTiles& tiles = byte_tiles()) {
  constexpr std::ptrdiff_t width = panel_width<ByteUnit>;
  constexpr std::ptrdiff_t part_length = longest_byte_chain / 4;
  const bool one_part = length <= part_length;
  for_each_tile_group(rows, count, length, part_length, lists, [&](auto&& walk) {
    for (std::ptrdiff_t first = 0; first < columns; first += width) {
      const ByteUnit* const panel = panels + first * length;
      const std::ptrdiff_t there = std::min(width, columns - first);
      std::int32_t sums[std::size_t(panel_rows * width)];
      std::int64_t totals[std::size_t(panel_rows * width)];
      walk([&](std::ptrdiff_t row, bool full, std::ptrdiff_t part, const std::uint32_t* steps,
               std::ptrdiff_t n) {
        (full ? tiles.rows : tiles.row)(rows + row, panel, steps, n, there, false, sums, width);
        const std::ptrdiff_t height = full ? panel_rows : 1;
        if (one_part) [[likely]] {
          for (std::ptrdiff_t i = 0; i < height; ++i) {
            // Both terms and their sum are below 2^31 in size.
            const auto shift = static_cast<std::int32_t>(tiles.shift * row_sums[row + i]);
            T* const out = values + (row + i) * ld + first;
            const std::int32_t* const from = sums + i * width;
            const auto write = [&](auto columns_there) {
              for (std::ptrdiff_t c = 0; c < columns_there; ++c) {
                out[c] = static_cast<T>(from[c] + shift);
              }
            };
            if (there == width) {  // A constant width: the compiler makes no remainder loop.
              write(std::integral_constant<std::ptrdiff_t, width>{});
            } else {
              write(there);
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
                  static_cast<T>(totals[i * width + c] + tiles.shift * row_sums[row + i]);
            }
          }
        }
      });
    }
  });
}

}}}  // namespace bpm::detail
