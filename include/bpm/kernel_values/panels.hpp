// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "bpm/core/lanes.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"

/// \file
/// The packed layout of one side of a block of inner products, the lists of features that a product
/// must visit, and the scratch memory of blocks. The products are in number_panels.hpp and
/// byte_panels.hpp.
///
/// A panel holds a few registers' width of columns, feature by feature: all columns' first numbers
/// side by side, then all second ones. A product then adds, for one feature after the other, one
/// number of a row times a register of the panel; sums stay in registers and are never added across
/// lanes. Features at which all rows of a tile are zero add nothing and are skipped, which for
/// images of ink on paper is most of them.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

#if defined(__AVX512F__) || defined(__aarch64__)
inline constexpr int panel_registers = 4;  // 16 sums, 4 operands, 1 number of a row: 32 registers.
#else
inline constexpr int panel_registers = 2;  // 8 sums, 2 operands, 1 number of a row: 16 registers.
#endif
/// Number of rows that a tile multiplies with a panel at once.
inline constexpr int panel_rows = 4;

/// Number of columns of a tile of the compiled target.
template <class T>
inline constexpr std::ptrdiff_t tile_width = std::ptrdiff_t{panel_registers} * lane_count<T>;

/// Number of columns per panel. A unit of type T is a number, or four bytes.
template <class T>
#if defined(BPM_DETAIL_NUMBERS_AT_RUN_TIME)
// As wide as the widest tile: panels are packed before the tile function is known.
inline constexpr std::ptrdiff_t panel_width = 4 * 64 / std::ptrdiff_t{sizeof(T)};
#else
inline constexpr std::ptrdiff_t panel_width = tile_width<T>;
#endif

/// Number of panels for `columns` columns.
template <class T>
[[nodiscard]] constexpr std::ptrdiff_t panel_count(std::ptrdiff_t columns) noexcept {
  return (columns + panel_width<T> - 1) / panel_width<T>;
}

/// Loads a number, or four bytes that were written as bytes.
template <class T>
[[nodiscard, gnu::always_inline]] inline T load_unit(const T* from) {
  T unit;
  std::memcpy(&unit, from, sizeof(T));
  return unit;
}

/// Writes the panel of `count` columns, count <= panel_width: out[k * panel_width + c] =
/// columns[c][k] ^ flip for k < length, and zero for missing columns. `flip` applies to integer
/// units.
template <class T>
BPM_DETAIL_FULL_WIDTH inline void pack_panel(const T* const* columns, std::ptrdiff_t count,
                                             std::ptrdiff_t length, T flip, T* out) {
  constexpr int n = lane_count<T>;
  for (std::ptrdiff_t first = 0; first < panel_width<T>; first += n) {
    std::ptrdiff_t k = 0;
    for (; k + n <= length; k += n) {
      Lanes<T> square[std::size_t(n)];
#pragma GCC unroll 16
      for (int i = 0; i < n; ++i) {
        square[i] = first + i < count ? load_lanes(columns[first + i] + k) : Lanes<T>{};
      }
      transpose_lanes<T>(square);
#pragma GCC unroll 16
      for (int i = 0; i < n; ++i) {
        if constexpr (std::integral<T>) square[i] = square[i] ^ broadcast_lanes(flip);
        store_lanes(out + (k + i) * panel_width<T> + first, square[i]);
      }
    }
    for (; k < length; ++k) {
      for (std::ptrdiff_t c = first; c < first + n; ++c) {
        T unit = c < count ? load_unit(columns[c] + k) : T{0};
        if constexpr (std::integral<T>) unit = unit ^ flip;
        out[k * panel_width<T> + c] = unit;
      }
    }
  }
}

/// Positions of the set bits of a four-bit number, ascending.
alignas(16) inline constexpr std::uint32_t places_of_bits[16][4] = {
    {},  {0},    {1},    {0, 1},    {2},    {0, 2},    {1, 2},    {0, 1, 2},
    {3}, {0, 3}, {1, 3}, {0, 1, 3}, {2, 3}, {0, 2, 3}, {1, 2, 3}, {0, 1, 2, 3}};

/// Lists the steps k in [begin, end) at which one of M rows is not zero, ascending; returns their
/// number. `steps` needs memory for end - begin entries and one register more.
template <int M, class T>
BPM_DETAIL_FULL_WIDTH inline std::ptrdiff_t active_steps(const T* const* rows, std::ptrdiff_t begin,
                                                         std::ptrdiff_t end, std::uint32_t* steps) {
  std::uint32_t* out = steps;
  std::ptrdiff_t k = begin;
#if defined(__AVX512F__)
  // Shifting the sign out makes a negative zero a zero.
  const auto active = [&](std::ptrdiff_t at) -> unsigned {
    __m512i any = _mm512_setzero_si512();
#pragma GCC unroll 8
    for (int i = 0; i < M; ++i) {
      const __m512i bits = _mm512_loadu_si512(rows[i] + at);
      any = _mm512_or_si512(any, std::integral<T> ? bits
                                 : sizeof(T) == 4 ? _mm512_slli_epi32(bits, 1)
                                                  : _mm512_slli_epi64(bits, 1));
    }
    return sizeof(T) == 4 ? static_cast<unsigned>(_mm512_test_epi32_mask(any, any))
                          : static_cast<unsigned>(_mm512_test_epi64_mask(any, any));
  };
  const __m512i counting = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  for (; k + 16 <= end; k += 16) {
    const unsigned mask = sizeof(T) == 4 ? active(k) : active(k) | active(k + 8) << 8U;
    const __m512i places = _mm512_add_epi32(counting, _mm512_set1_epi32(static_cast<int>(k)));
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(static_cast<__mmask16>(mask), places));
    out += std::popcount(mask);
  }
#elif defined(BPM_DETAIL_VECTOR_TYPES) && defined(__SSE2__)
  if constexpr (sizeof(T) == 4) {
    for (; k + 4 <= end; k += 4) {
      __m128i any = _mm_setzero_si128();
#pragma GCC unroll 8
      for (int i = 0; i < M; ++i) {
        const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[i] + k));
        any = _mm_or_si128(any, std::integral<T> ? bits : _mm_slli_epi32(bits, 1));
      }
      const __m128i zeros = _mm_cmpeq_epi32(any, _mm_setzero_si128());
      const auto mask = static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(zeros))) ^ 15U;
      const __m128i places =
          _mm_add_epi32(_mm_set1_epi32(static_cast<int>(k)),
                        _mm_load_si128(reinterpret_cast<const __m128i*>(places_of_bits[mask])));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out), places);
      out += (std::uint64_t{0x4332'3221'3221'2110} >> (4 * mask)) & 15U;  // Number of set bits.
    }
  }
#endif
  for (; k < end; ++k) {
    unsigned any = 0;  // Branch-free: the positions of zeros are unpredictable.
#pragma GCC unroll 8
    for (int i = 0; i < M; ++i) any |= load_unit(rows[i] + k) != T{0} ? 1U : 0U;
    *out = static_cast<std::uint32_t>(k);
    out += any;
  }
  return out - steps;
}

/// Lists of active steps of many rows, one list for each tile of rows and each part of the
/// features.
struct StepLists {
  Buffer<std::uint32_t> steps;
  Buffer<std::ptrdiff_t> ends;  ///< End of list l, and start of the next.
};

/// Points prepared as the columns of several blocks of kernel values: packed, as panels of numbers
/// or bytes and squared norms, for kernels of inner products on dense inputs, else only listed.
/// Refers to the list of points. Reuse allocates nothing.
template <class Scalar>
struct ReadyColumns {
  std::span<const PointIndex> points;
  bool packed = false;
  Buffer<std::byte> panels;
  Buffer<Scalar> norms;
};

/// Memory that a thread reuses for all blocks, so that no loop allocates, and counts of the kernel
/// values computed with it.
template <class Scalar>
struct BlockScratch {
  Buffer<const Scalar*> rows;
  Buffer<const Scalar*> column_rows;  ///< Columns in place, for kernels of distances.
  Buffer<const std::uint32_t*> byte_rows;
  Buffer<std::int64_t> byte_sums;
  ReadyColumns<Scalar> columns;
  StepLists lists;
  Buffer<Scalar> scattered;
  Buffer<Scalar> widened;         ///< Bytes as numbers, for kernels of distances.
  Buffer<Scalar> values;          ///< For the caller's own rows and blocks.
  std::uint64_t evaluations = 0;  ///< Number of kernel values computed.
  double seconds = 0;             ///< Time spent on them, in seconds.
};

/// A longer chain of sums is split into parts, which are then added: a float's rounding error grows
/// with the length of its chain.
inline constexpr std::ptrdiff_t longest_chain = 1024;

/// Calls group(walk) for groups of tiles whose lists fit the cache. Tiles have `panel_rows` rows,
/// the last ones one row. walk(tile) calls tile(first_row, full, part, steps, count) for each tile
/// of the group, `full` if it has `panel_rows` rows, and for each part of the features; a group may
/// walk several times.
template <class T, class Group>
void for_each_tile_group(const T* const* rows, std::ptrdiff_t count, std::ptrdiff_t length,
                         std::ptrdiff_t part_length, StepLists& lists, Group&& group) {
  const std::ptrdiff_t parts =
      std::max<std::ptrdiff_t>(1, (length + part_length - 1) / part_length);
  constexpr std::ptrdiff_t cache_steps = 32 * 1024;
  const std::ptrdiff_t together =
      std::clamp<std::ptrdiff_t>(cache_steps / std::max<std::ptrdiff_t>(1, length), 1, 256);
  constexpr std::ptrdiff_t slack = 16;
  lists.steps.reserve_discarding(together * length + slack);
  lists.ends.reserve_discarding(together * parts);
  for (std::ptrdiff_t begin = 0; begin < count;) {
    std::ptrdiff_t tiles = 0;
    std::ptrdiff_t used = 0;
    std::ptrdiff_t row = begin;
    for (; tiles < together && row < count; ++tiles) {
      const bool full = row + panel_rows <= count;
      for (std::ptrdiff_t part = 0; part < parts; ++part) {
        const std::ptrdiff_t from = part * part_length;
        const std::ptrdiff_t to = std::min(length, from + part_length);
        std::uint32_t* const list = lists.steps.data() + used;
        used += full ? active_steps<panel_rows>(rows + row, from, to, list)
                     : active_steps<1>(rows + row, from, to, list);
        lists.ends[tiles * parts + part] = used;
      }
      row += full ? panel_rows : 1;
    }
    group([&](auto&& tile) {
      std::ptrdiff_t at = begin;
      std::ptrdiff_t list = 0;
      for (std::ptrdiff_t t = 0; t < tiles; ++t) {
        const bool full = at + panel_rows <= count;
        for (std::ptrdiff_t part = 0; part < parts; ++part) {
          const std::ptrdiff_t end = lists.ends[t * parts + part];
          tile(at, full, part, lists.steps.data() + list, end - list);
          list = end;
        }
        at += full ? panel_rows : 1;
      }
    });
    begin = row;
  }
}

}}}  // namespace bpm::detail
