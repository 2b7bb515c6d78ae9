// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bpm/core/check.hpp"
#include "bpm/core/target.hpp"
#include "bpm/images/copy_key.hpp"
#include "bpm/images/image_shape.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// Copies shifted by whole pixels, the nearest first: copies 1 to 4 lie one pixel off to the right,
/// left, bottom and top, 5 to 8 on the diagonals, 9 to 24 in the rest of the square of two pixels
/// about the original. What comes in from outside is 0. There is no chance in them: the seed does
/// not matter. As in D. DeCoste, B. Schoelkopf, "Training invariant support vector machines",
/// Machine Learning 46, 2002.
struct Shifts {
  /// A transform of `VirtualExamples`, which checks the sizes.
  /// \throws std::invalid_argument on a copy above 24.
  void operator()(ImageShape shape, std::span<const std::uint8_t> image, const CopyKey& key,
                  std::span<std::uint8_t> out) const {
    detail::check(key.copy < offsets.size(), "Shifts", "copy", "is ", key.copy,
                  ", there are those from 0 to ", offsets.size() - 1);
    const auto [down, right] = offsets[key.copy];
    const auto columns = shape.columns;
    const auto begin = std::clamp<Eigen::Index>(right, 0, columns);
    const auto end = std::clamp<Eigen::Index>(columns + right, 0, columns);
    std::fill(out.begin(), out.end(), std::uint8_t{0});
    for (Eigen::Index y = 0; y < shape.rows; ++y) {
      const Eigen::Index from = y - down;
      if (from >= 0 && from < shape.rows && begin < end) {
        std::copy_n(image.data() + from * columns + begin - right, end - begin,
                    out.data() + y * columns + begin);
      }
    }
  }

 private:
  struct Offset {
    int down;
    int right;
  };
  static constexpr std::array<Offset, 25> offsets{
      {{0, 0},  {0, 1},  {0, -1},  {1, 0},  {-1, 0}, {1, 1},  {1, -1}, {-1, 1},  {-1, -1},
       {0, 2},  {0, -2}, {2, 0},   {-2, 0}, {1, 2},  {1, -2}, {-1, 2}, {-1, -2}, {2, 1},
       {2, -1}, {-2, 1}, {-2, -1}, {2, 2},  {2, -2}, {-2, 2}, {-2, -2}}};
};

}}  // namespace bpm
