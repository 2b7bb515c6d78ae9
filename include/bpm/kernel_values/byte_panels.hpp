// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "bpm/core/target.hpp"
#include "bpm/kernel_values/byte_tiles.hpp"
#include "bpm/kernel_values/panels.hpp"

#if defined(BPM_DETAIL_BYTES_AT_RUN_TIME)
#include <immintrin.h>
#endif

/// \file
/// Inner products of rows of bytes with columns in panels, as exact integers, tile by tile
/// (byte_tiles.hpp). x86-64 programs compiled without the instruction for bytes contain tile
/// functions for several instruction sets, and choose the best that the machine has.

#if defined(BPM_DETAIL_BYTES_AT_RUN_TIME)

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Function pointers with the interface of `CompiledByteTiles`. A call does thousands of
/// operations.
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

/// M rows times the whole panel of 64 columns: 4 M sums of 32 registers.
template <int M>
[[gnu::target("avx512f,avx512vnni")]] void byte_tile_avx512_vnni(
    const ByteUnit* const* rows, const ByteUnit* panel, const std::uint32_t* steps,
    std::ptrdiff_t count, std::ptrdiff_t /*columns*/, std::int32_t* out) {
  constexpr std::ptrdiff_t width = panel_width<ByteUnit>;
  __m512i sums[M][4];
#pragma GCC unroll 8
  for (int i = 0; i < M; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < 4; ++j) sums[i][j] = _mm512_setzero_si512();
  }
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
    __m256i sums[M][2];
#pragma GCC unroll 8
    for (int i = 0; i < M; ++i) sums[i][0] = sums[i][1] = _mm256_setzero_si256();
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
    __m256i sums[M][2];
#pragma GCC unroll 8
    for (int i = 0; i < M; ++i) sums[i][0] = sums[i][1] = _mm256_setzero_si256();
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
[[nodiscard]] inline std::span<const ByteTiles> all_byte_tiles() {
  static const auto tiles = [] {
    struct Found {
      std::array<ByteTiles, 4> all{};
      std::size_t count = 0;
    } found;
    const auto add = [&](bool there, const ByteTiles& one) {
      if (there) found.all[found.count++] = one;
    };
    add(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vnni"),
        {"avx512 vnni", instruction_flip, instruction_shift, byte_tile_avx512_vnni<panel_rows>,
         byte_tile_avx512_vnni<1>});
    add(has_avx_vnni(), {"avx vnni", instruction_flip, instruction_shift,
                         byte_tile_avx_vnni<panel_rows>, byte_tile_avx_vnni<1>});
#if !defined(__AVX2__)
    add(__builtin_cpu_supports("avx2"),
        {"avx2", 0, 0, byte_tile_avx2<panel_rows>, byte_tile_avx2<1>});
#endif
    add(true, {"as compiled", CompiledByteTiles::flip, CompiledByteTiles::shift,
               CompiledByteTiles::rows, CompiledByteTiles::row});
    return found;
  }();
  return std::span(tiles.all).first(tiles.count);
}

/// Tile functions for which panels are packed and multiplied throughout the program.
[[nodiscard]] inline const ByteTiles& byte_tiles() {
  static const ByteTiles& best = all_byte_tiles().front();
  return best;
}

}}}  // namespace bpm::detail

#else

namespace bpm { inline namespace BPM_TARGET { namespace detail {
using ByteTiles = CompiledByteTiles;
[[nodiscard]] constexpr ByteTiles byte_tiles() noexcept { return {}; }
}}}  // namespace bpm::detail

#endif

namespace bpm { inline namespace BPM_TARGET { namespace detail {

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
      std::int32_t sums[panel_rows * width];
      std::int64_t totals[panel_rows * width];
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
