// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// scale * kappa, rounded towards 0 and cut at +- most: kappa is the curvature, in 1 / pixels, of
/// the line of equal brightness through column x of the middle one of three rows of an image. With
/// the gradient (g_x, g_y) / 2, g the differences of neighbours, and second differences b
///
///     kappa = (b_xx g_y^2 - 2 b_xy g_x g_y + b_yy g_x^2) / 4 / (|g|^2 / 4 + 100)^1.5,
///
/// where the 100, grey levels squared, is for edges that are hardly any: of a bright disc -1 /
/// radius, of a dark one 1 / radius. Grey levels are 16^smoothing times the bytes. Exact in
/// integers but for one root, rounded down.
[[nodiscard]] inline int scaled_curvature(const std::array<const std::int32_t*, 3>& rows,
                                          Eigen::Index x, Eigen::Index columns, std::int64_t gx,
                                          std::int64_t gy, int smoothing, int scale, int most) {
  const auto [above, middle, below] = rows;
  const Eigen::Index left = std::max<Eigen::Index>(x - 1, 0);
  const Eigen::Index right = std::min(x + 1, columns - 1);
  const std::int64_t xx = middle[right] - 2 * middle[x] + middle[left];
  const std::int64_t yy = below[x] - 2 * middle[x] + above[x];
  const std::int64_t xy4 = below[right] - below[left] - above[right] + above[left];
  // 2 (b_xx g_y^2 - ...) over (|g|^2 + 400)^1.5 is kappa.
  const std::int64_t numerator = 2 * xx * gy * gy - xy4 * gx * gy + 2 * yy * gx * gx;
  const std::int64_t squared = gx * gx + gy * gy + (std::int64_t{400} << (8 * smoothing));
  // A whole number below 2^53 is a double, whose root is the nearest one with every compiler.
  const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(squared)));
  const std::int64_t curvature = scale * numerator / (squared * root);
  return static_cast<int>(std::clamp<std::int64_t>(curvature, -most, most));
}

}}}  // namespace bpm::detail
