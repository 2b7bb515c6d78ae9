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

#if defined(BPM_DETAIL_VECTOR_TYPES)
#if defined(__AVX512VNNI__) || (defined(__AVXVNNI__) && !defined(__AVX512F__))
#define BPM_DETAIL_BYTE_INSTRUCTION 1
#elif defined(__x86_64__) && !defined(_MSC_VER)
#define BPM_DETAIL_BYTES_AT_RUN_TIME 1
#include <immintrin.h>
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
  Lanes<std::int32_t> sums[std::size_t(M)][std::size_t(N)] = {};
  for (std::ptrdiff_t s = 0; s < count; ++s) {
    const std::ptrdiff_t k = steps[s];
    const ByteUnit* const right = panel + k * width;
    Lanes<ByteUnit> columns[std::size_t(N)];
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

/// M rows times at least the first `columns` columns of a panel, by the compiled target.
template <int M>
void compiled_byte_tile(const ByteUnit* const* rows, const ByteUnit* panel,
                        const std::uint32_t* steps, std::ptrdiff_t count, std::ptrdiff_t columns,
                        std::int32_t* out) {
  constexpr std::ptrdiff_t part = tile_width<ByteUnit>;
  if (M == 1 && columns <= lane_count<ByteUnit>) {
    byte_tile<1, 1>(rows, panel, steps, count, out);
  } else if constexpr (part == panel_width<ByteUnit>) {
    byte_tile<M, panel_registers>(rows, panel, steps, count, out);
  } else {
    for (std::ptrdiff_t first = 0; first < columns; first += part) {
      byte_tile<M, panel_registers>(rows, panel + first, steps, count, out + first);
    }
  }
}

/// Tile functions: `panel_rows` rows or one row, times at least the first `columns` columns of a
/// panel whose bytes were changed by `flip`; `shift` times the sum of a row's bytes is to be added.
/// A call does thousands of operations.
struct ByteTiles {
  using Tile = void (*)(const ByteUnit* const* rows, const ByteUnit* panel,
                        const std::uint32_t* steps, std::ptrdiff_t count, std::ptrdiff_t columns,
                        std::int32_t* out);
  const char* name;
  ByteUnit flip;
  std::int32_t shift;
  Tile rows;
  Tile row;
};

inline constexpr ByteTiles compiled_byte_tiles{
    "as compiled", bytes_by_instruction ? instruction_flip : 0,
    bytes_by_instruction ? instruction_shift : 0, compiled_byte_tile<panel_rows>,
    compiled_byte_tile<1>};

#if defined(BPM_DETAIL_BYTES_AT_RUN_TIME)

/// M rows times the whole panel of 64 columns: 4 M sums of 32 registers.
template <int M>
[[gnu::target("avx512f,avx512vnni")]] void byte_tile_avx512_vnni(
    const ByteUnit* const* rows, const ByteUnit* panel, const std::uint32_t* steps,
    std::ptrdiff_t count, std::ptrdiff_t /*columns*/, std::int32_t* out) {
  constexpr std::ptrdiff_t width = panel_width<ByteUnit>;
  __m512i sums[std::size_t(M)][4] = {};
  for (std::ptrdiff_t s = 0; s < count; ++s) {
    const std::ptrdiff_t k = steps[s];
    __m512i columns[4];
#pragma GCC unroll 8
    for (int j = 0; j < 4; ++j) columns[j] = _mm512_loadu_si512(panel + k * width + 16 * j);
#pragma GCC unroll 8
    for (int i = 0; i < M; ++i) {
      const __m512i left = _mm512_set1_epi32(static_cast<int>(load_unit(rows[i] + k)));
#pragma GCC unroll 8
      for (int j = 0; j < 4; ++j) sums[i][j] = _mm512_dpbusd_epi32(sums[i][j], left, columns[j]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < M; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < 4; ++j) _mm512_storeu_si512(out + i * width + 16 * j, sums[i][j]);
  }
}

/// M rows times parts of 16 columns: 16 registers hold 8 sums at a time.
template <int M>
[[gnu::target("avx2,avxvnni")]] void byte_tile_avx_vnni(const ByteUnit* const* rows,
                                                        const ByteUnit* panel,
                                                        const std::uint32_t* steps,
                                                        std::ptrdiff_t count,
                                                        std::ptrdiff_t columns, std::int32_t* out) {
  constexpr std::ptrdiff_t width = panel_width<ByteUnit>;
  for (std::ptrdiff_t first = 0; first < columns; first += 16) {
    __m256i sums[std::size_t(M)][2] = {};
    for (std::ptrdiff_t s = 0; s < count; ++s) {
      const std::ptrdiff_t k = steps[s];
      const auto* const right = reinterpret_cast<const __m256i*>(panel + k * width + first);
      const __m256i low = _mm256_loadu_si256(right);
      const __m256i high = _mm256_loadu_si256(right + 1);
#pragma GCC unroll 8
      for (int i = 0; i < M; ++i) {
        const __m256i left = _mm256_set1_epi32(static_cast<int>(load_unit(rows[i] + k)));
        sums[i][0] = _mm256_dpbusd_avx_epi32(sums[i][0], left, low);
        sums[i][1] = _mm256_dpbusd_avx_epi32(sums[i][1], left, high);
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < M; ++i) {
      auto* const to = reinterpret_cast<__m256i*>(out + i * width + first);
      _mm256_storeu_si256(to, sums[i][0]);
      _mm256_storeu_si256(to + 1, sums[i][1]);
    }
  }
}

#if !defined(__AVX2__)
/// M rows times parts of 16 columns, by 16-bit products.
template <int M>
[[gnu::target("avx2")]] void byte_tile_avx2(const ByteUnit* const* rows, const ByteUnit* panel,
                                            const std::uint32_t* steps, std::ptrdiff_t count,
                                            std::ptrdiff_t columns, std::int32_t* out) {
  constexpr std::ptrdiff_t width = panel_width<ByteUnit>;
  const __m256i even = _mm256_set1_epi16(255);
  for (std::ptrdiff_t first = 0; first < columns; first += 16) {
    __m256i sums[std::size_t(M)][2] = {};
    for (std::ptrdiff_t s = 0; s < count; ++s) {
      const std::ptrdiff_t k = steps[s];
      const auto* const right = reinterpret_cast<const __m256i*>(panel + k * width + first);
#pragma GCC unroll 8
      for (int j = 0; j < 2; ++j) {
        const __m256i both = _mm256_loadu_si256(right + j);
        const __m256i evens = _mm256_and_si256(both, even);
        const __m256i odds = _mm256_srli_epi16(both, 8);
#pragma GCC unroll 8
        for (int i = 0; i < M; ++i) {
          const __m256i left = _mm256_set1_epi32(static_cast<int>(load_unit(rows[i] + k)));
          const __m256i of_evens = _mm256_madd_epi16(_mm256_and_si256(left, even), evens);
          const __m256i of_odds = _mm256_madd_epi16(_mm256_srli_epi16(left, 8), odds);
          sums[i][j] = _mm256_add_epi32(sums[i][j], _mm256_add_epi32(of_evens, of_odds));
        }
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < M; ++i) {
      auto* const to = reinterpret_cast<__m256i*>(out + i * width + first);
      _mm256_storeu_si256(to, sums[i][0]);
      _mm256_storeu_si256(to + 1, sums[i][1]);
    }
  }
}
#endif

/// True if the machine has dpbusd in 256-bit registers: bit 4 of eax in leaf 7, part 1.
[[nodiscard]] inline bool has_avx_vnni() {
  if (!__builtin_cpu_supports("avx2")) return false;  // Then it lacks the leaf, too.
  const auto eax_of = [](unsigned part) {
    unsigned eax = 7;
    unsigned ecx = part;
    unsigned ebx = 0;
    unsigned edx = 0;
    __asm__("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
    return eax;
  };
  return eax_of(0) >= 1 && (eax_of(1) >> 4U & 1U) != 0;
}

/// Tile functions that this machine can run, the best first.
[[nodiscard]] inline const std::vector<ByteTiles>& all_byte_tiles() {
  static const std::vector<ByteTiles> tiles = [] {
    std::vector<ByteTiles> found;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vnni")) {
      found.push_back({"avx512 vnni", instruction_flip, instruction_shift,
                       byte_tile_avx512_vnni<panel_rows>, byte_tile_avx512_vnni<1>});
    }
    if (has_avx_vnni()) {
      found.push_back({"avx vnni", instruction_flip, instruction_shift,
                       byte_tile_avx_vnni<panel_rows>, byte_tile_avx_vnni<1>});
    }
#if !defined(__AVX2__)
    if (__builtin_cpu_supports("avx2")) {
      found.push_back({"avx2", 0, 0, byte_tile_avx2<panel_rows>, byte_tile_avx2<1>});
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
        if (full) {
          tiles.rows(rows + row, panel, steps, n, there, sums);
        } else {
          tiles.row(rows + row, panel, steps, n, there, sums);
        }
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
