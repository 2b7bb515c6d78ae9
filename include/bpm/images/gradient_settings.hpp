// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bpm/core/target.hpp"

/// \file
/// How gradient features look at an image: settings, and the curvature of its edges.

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

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

}  // namespace detail

/// The cells of a `GradientFeatures`: rows x columns of them cover the image but for a margin.
struct FeatureGrid {
  Eigen::Index rows = 4;
  Eigen::Index columns = 4;
  Eigen::Index margin = 2;  ///< In pixels; what lies there counts for the cells beside it.

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("rows", self.rows);
    visit("columns", self.columns);
    visit("margin", self.margin);
  }

  friend bool operator==(const FeatureGrid&, const FeatureGrid&) = default;
};

/// How `GradientFeatures` looks at an image. A plain value.
struct GradientSettings {
  std::vector<FeatureGrid> grids{{}};  ///< Their features one after the other.
  int orientations = 8;                ///< Directions of the gradient: 4, 8, 12 or 16.
  /// Classes by how edges bend, from a curvature of -1/3 a pixel to 1/3: 3, 5, 7, 9, or 1: one.
  int bends = 5;
  int smoothing = 1;  ///< Passes of the filter [1 2 1] in both directions: 0 to 2.
  int norm = 700;     ///< Euclidean norm of a row of features, but for rounding.

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("grids", self.grids);
    visit("orientations", self.orientations);
    visit("bends", self.bends);
    visit("smoothing", self.smoothing);
    visit("norm", self.norm);
  }

  friend bool operator==(const GradientSettings&, const GradientSettings&) = default;
};

}}  // namespace bpm
