// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>

#include "bpm/core/points.hpp"
#include "bpm/core/random.hpp"
#include "bpm/images/image_shape.hpp"

namespace test_support {

/// Images of pen strokes, made by integers alone: the same bytes with every compiler. Three strokes
/// each, straight ones between random points of the middle; the pen is round, with a soft edge.
inline bpm::RowMatrix<std::uint8_t> stroke_images(Eigen::Index count, bpm::ImageShape shape,
                                                  std::uint64_t seed) {
  constexpr int steps = 16;
  bpm::RowMatrix<std::uint8_t> images = bpm::RowMatrix<std::uint8_t>::Zero(count, shape.size());
  for (Eigen::Index i = 0; i < count; ++i) {
    bpm::RandomEngine engine(seed, static_cast<std::uint64_t>(i));
    // In 1 / steps pixel, from an eighth of the side to seven eighths.
    const auto place = [&](Eigen::Index side) {
      const auto whole = static_cast<std::int32_t>(side * steps);
      return whole / 8 + static_cast<std::int32_t>(bpm::uniform_below(
                             engine, static_cast<std::uint32_t>(whole - whole / 4)));
    };
    std::int32_t y = place(shape.rows);
    std::int32_t x = place(shape.columns);
    for (int stroke = 0; stroke < 3; ++stroke) {
      const std::int32_t to_y = place(shape.rows);
      const std::int32_t to_x = place(shape.columns);
      for (int s = 0; s <= 2 * steps; ++s) {
        const std::int32_t at_y = y + (to_y - y) * s / (2 * steps);
        const std::int32_t at_x = x + (to_x - x) * s / (2 * steps);
        for (int v = std::max(0, at_y / steps - 3);
             v <= std::min<int>(static_cast<int>(shape.rows) - 1, at_y / steps + 3); ++v) {
          for (int h = std::max(0, at_x / steps - 3);
               h <= std::min<int>(static_cast<int>(shape.columns) - 1, at_x / steps + 3); ++h) {
            const int square =
                (v * steps - at_y) * (v * steps - at_y) + (h * steps - at_x) * (h * steps - at_x);
            const int ink = std::clamp(320 - square * 320 / (4 * steps * steps), 0, 255);
            std::uint8_t& pixel = images(i, v * shape.columns + h);
            pixel = std::max(pixel, static_cast<std::uint8_t>(ink));
          }
        }
      }
      y = to_y;
      x = to_x;
    }
  }
  return images;
}

}  // namespace test_support
