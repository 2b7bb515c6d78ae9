// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"

/// \file
/// Settings of gradient features, and the curvature of edges.

namespace bpm { inline namespace BPM_TARGET {

/// The shape of one-channel images: each is rows * columns bytes, row by row from the top.
struct ImageShape {
  Eigen::Index rows = 0;     ///< Pixels from top to bottom.
  Eigen::Index columns = 0;  ///< Pixels from left to right.

  /// Returns the bytes of an image.
  [[nodiscard]] Eigen::Index size() const noexcept { return rows * columns; }

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("rows", self.rows);
    visit("columns", self.columns);
  }

  /// Returns whether both have as many rows and columns.
  friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

namespace detail {

/// Throws unless images have 1 to 4096 rows and columns.
inline void check_shape(std::string_view function, const ImageShape& shape) {
  constexpr Eigen::Index most = 4096;
  check(shape.rows >= 1 && shape.rows <= most && shape.columns >= 1 && shape.columns <= most,
        function, "shape", "is ", shape.rows, " x ", shape.columns, ", must be 1 to ", most,
        " rows and columns");
}

/// Throws unless every row holds an image of this shape.
template <class Images>
void check_images(std::string_view function, const Images& images, const ImageShape& shape) {
  check(images.cols() == shape.size(), function, "images", "has ", images.cols(),
        " bytes a row, expected ", shape.size(), " (", shape.rows, " x ", shape.columns, ")");
}

/// Images per block: an image takes microseconds, so threads fetch blocks of them.
inline constexpr Eigen::Index image_block = 64;

[[nodiscard]] constexpr Eigen::Index image_blocks(Eigen::Index count) {
  return (count + image_block - 1) / image_block;
}

/// Returns the number of threads for `count` images if `function` requests `wanted` (0: as many as
/// the machine runs). \throws std::invalid_argument as `thread_count`.
[[nodiscard]] inline unsigned image_workers(unsigned wanted, Eigen::Index count,
                                            std::string_view function) {
  return static_cast<unsigned>(
      std::clamp<Eigen::Index>(image_blocks(count), 1, thread_count(wanted, function)));
}

/// Calls use(worker, i) for each of `count` images on up to `threads` threads.
template <class Use>
void for_each_image(unsigned threads, Eigen::Index count, Use&& use) {
  parallel_for(threads, image_blocks(count), [&](unsigned worker, std::ptrdiff_t b) {
    const Eigen::Index end = std::min(count, (b + 1) * image_block);
    for (Eigen::Index i = b * image_block; i < end; ++i) use(worker, i);
  });
}

/// Returns scale * kappa, rounded towards 0 and clamped to +- most: kappa is the curvature, in 1 /
/// pixels, of the line of equal brightness through column x of the middle of three rows. With the
/// gradient (g_x, g_y) / 2, g the differences of neighbours, and second differences b
///
///     kappa = (b_xx g_y^2 - 2 b_xy g_x g_y + b_yy g_x^2) / 4 / (|g|^2 / 4 + 100)^1.5,
///
/// where the 100, grey levels squared, damps weak edges. A bright disc has -1 / radius, a dark one
/// 1 / radius. Grey levels are 16^smoothing times the bytes. The integer arithmetic is exact but
/// for one root, rounded down.
[[nodiscard]] inline int scaled_curvature(const std::array<const std::int32_t*, 3>& rows,
                                          Eigen::Index x, Eigen::Index columns, std::int64_t gx,
                                          std::int64_t gy, int smoothing, int scale, int most) {
  const auto [above, middle, below] = rows;
  const Eigen::Index left = std::max<Eigen::Index>(x - 1, 0);
  const Eigen::Index right = std::min(x + 1, columns - 1);
  const std::int64_t xx = middle[right] - 2 * middle[x] + middle[left];
  const std::int64_t yy = below[x] - 2 * middle[x] + above[x];
  const std::int64_t xy4 = below[right] - below[left] - above[right] + above[left];
  // kappa is 2 (b_xx g_y^2 - ...) over (|g|^2 + 400)^1.5.
  const std::int64_t numerator = 2 * xx * gy * gy - xy4 * gx * gy + 2 * yy * gx * gx;
  const std::int64_t squared = gx * gx + gy * gy + (std::int64_t{400} << (8 * smoothing));
  // An integer below 2^53 is a double, and every compiler rounds its root to the nearest double.
  const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(squared)));
  const std::int64_t curvature = scale * numerator / (squared * root);
  return static_cast<int>(std::clamp<std::int64_t>(curvature, -most, most));
}

}  // namespace detail

/// The cells of a `GradientFeatures`: rows x columns cells cover the image inside a margin.
struct FeatureGrid {
  Eigen::Index rows = 4;     ///< Cells from top to bottom.
  Eigen::Index columns = 4;  ///< Cells from left to right.
  Eigen::Index margin = 2;   ///< Pixels of margin; they count for the nearest cells.

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("rows", self.rows);
    visit("columns", self.columns);
    visit("margin", self.margin);
  }

  /// Returns whether both have the same cells.
  friend bool operator==(const FeatureGrid&, const FeatureGrid&) = default;
};

/// Settings of `GradientFeatures`. A plain value.
struct GradientSettings {
  std::vector<FeatureGrid> grids{{}};  ///< Grids whose features are concatenated.
  int orientations = 8;                ///< Number of gradient directions: 4, 8, 12 or 16.
  /// Number of classes of edge curvature, from -1/3 to 1/3 per pixel: 3, 5, 7, 9, or 1: none.
  int bends = 5;
  int smoothing = 1;  ///< Passes of the filter [1 2 1] in both directions: 0 to 2.
  int norm = 700;     ///< Euclidean norm of a row of features, up to rounding.

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("grids", self.grids);
    visit("orientations", self.orientations);
    visit("bends", self.bends);
    visit("smoothing", self.smoothing);
    visit("norm", self.norm);
  }

  /// Returns whether both give the same features.
  friend bool operator==(const GradientSettings&, const GradientSettings&) = default;
};

}}  // namespace bpm
