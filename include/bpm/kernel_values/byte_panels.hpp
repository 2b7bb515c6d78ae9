// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "bpm/core/target.hpp"
#include "bpm/kernel_values/byte_tiles.hpp"
#include "bpm/kernel_values/panels.hpp"

/// \file
/// Inner products of rows of bytes with columns in panels, exact integers: tile by tile
/// (byte_tiles.hpp).

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Bytes a row whose sums of products surely fit 32 bits: 255^2 * 32768 < 2^31.
inline constexpr std::ptrdiff_t longest_byte_chain = 32768;

/// values[i * ld + c] = <rows[i], column c>, the exact integer rounded once to T. `rows` hold
/// `length` units; `row_sums[i]` is the sum of row i's bytes. Cost: count * columns * length
/// operations of four products at most, fewer where rows hold zeros. The panels hold their bytes
/// changed by `tiles.flip`.
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
      NextPanel<ByteUnit> next(panel, length, count);
      walk([&](std::ptrdiff_t row, bool full, std::ptrdiff_t part, const std::uint32_t* steps,
               std::ptrdiff_t n) {
        next.ask_for_some();
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
            if (there == width) {  // Known to the compiler: no rest to look after.
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
