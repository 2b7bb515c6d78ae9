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
/// The shape of images, the removal of slant, and of gradient features the settings and the
/// curvature of edges.

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

/// Sets handwriting upright: shears an image along its rows until its grey levels v have no moment
/// of slant. With v's centre of mass (cx, cy),
///
///     shear = sum v (x - cx) (y - cy) / sum v (y - cy)^2,  at most 1 in size,
///     out(x, y) = in(x + shear (y - cy), y),
///
/// interpolated linearly between pixels, 0 outside of the image. In integers, so that the result
/// does not depend on the compiler: the shear and the positions are in 1/256 pixel.
///
/// Moments of a shape: M.-K. Hu, "Visual pattern recognition by moment invariants" (1962). A plain
/// value. Cost: three passes over the pixels, two of them for the shear.
class SlantRemoval {
 public:
  /// \throws std::invalid_argument unless images have 1 to 4096 rows and columns.
  explicit SlantRemoval(ImageShape image) : image_(image) {
    detail::check_shape("SlantRemoval", image_);
  }

  /// The shape of the images.
  [[nodiscard]] const ImageShape& image() const noexcept { return image_; }

  /// Returns the shear of an image, in 1/256 pixel per row: positive where lower rows are further
  /// right; 0 for an image without grey levels, or with all of them in one row.
  [[nodiscard]] int shear(const std::uint8_t* pixels) const { return moments(pixels).shear; }

  /// Shears one image, from `image().size()` bytes to as many others.
  void operator()(const std::uint8_t* pixels, std::uint8_t* out) const {
    const Moments m = moments(pixels);
    const Eigen::Index columns = image_.columns;
    for (Eigen::Index y = 0; y < image_.rows; ++y) {
      const std::uint8_t* const from = pixels + y * columns;
      std::uint8_t* const to = out + y * columns;
      const std::int64_t moved = nearest(m.shear * (256 * y - m.centre), 256);
      const std::int64_t whole = moved >> 8;
      const auto part = static_cast<int>(moved & 255);
      const auto at = [&](std::int64_t x) { return x >= 0 && x < columns ? int{from[x]} : 0; };
      for (Eigen::Index x = 0; x < columns; ++x) {
        const int sum = (256 - part) * at(x + whole) + part * at(x + whole + 1);
        to[x] = static_cast<std::uint8_t>((sum + 128) >> 8);
      }
    }
  }

  /// Shears images, one per row, on `threads` threads (0: as many as the machine runs). \throws
  /// std::invalid_argument where a row is no image of the shape, or `threads` above 4096.
  [[nodiscard]] RowMatrix<std::uint8_t> operator()(const RowMatrix<std::uint8_t>& images,
                                                   unsigned threads = 0) const {
    detail::check_images("SlantRemoval", images, image_);
    const unsigned workers = detail::image_workers(threads, images.rows(), "SlantRemoval");
    RowMatrix<std::uint8_t> upright(images.rows(), images.cols());
    detail::for_each_image(workers, images.rows(), [&](unsigned, Eigen::Index i) {
      (*this)(images.row(i).data(), upright.row(i).data());
    });
    return upright;
  }

  /// Returns whether both accept images of one shape.
  friend bool operator==(const SlantRemoval&, const SlantRemoval&) = default;

 private:
  struct Moments {
    int shear = 0;
    std::int64_t centre = 0;  ///< cy in 1/256 pixel.
  };

  /// Returns the integer nearest to a / b, halves away from 0; b > 0.
  [[nodiscard]] static std::int64_t nearest(std::int64_t a, std::int64_t b) {
    return (a >= 0 ? a + b / 2 : a - b / 2) / b;
  }

  [[nodiscard]] Moments moments(const std::uint8_t* pixels) const {
    std::int64_t mass = 0;
    std::int64_t mass_x = 0;
    std::int64_t mass_y = 0;
    const auto for_pixels = [&](auto&& use) {
      for (Eigen::Index y = 0; y < image_.rows; ++y) {
        for (Eigen::Index x = 0; x < image_.columns; ++x) {
          use(std::int64_t{pixels[y * image_.columns + x]}, std::int64_t{x}, std::int64_t{y});
        }
      }
    };
    for_pixels([&](std::int64_t v, std::int64_t x, std::int64_t y) {
      mass += v;
      mass_x += v * x;
      mass_y += v * y;
    });
    if (mass == 0) return {};
    // Moments about the pixel nearest to the centre, whose products fit 64 bits.
    const std::int64_t x0 = nearest(mass_x, mass);
    const std::int64_t y0 = nearest(mass_y, mass);
    mass_x -= x0 * mass;
    mass_y -= y0 * mass;
    std::int64_t mass_xy = 0;
    std::int64_t mass_yy = 0;
    for_pixels([&](std::int64_t v, std::int64_t x, std::int64_t y) {
      mass_xy += v * (x - x0) * (y - y0);
      mass_yy += v * (y - y0) * (y - y0);
    });
    const std::int64_t slant = mass_xy - mass_x * mass_y / mass;
    const std::int64_t spread = mass_yy - mass_y * mass_y / mass;
    Moments result;
    result.centre = 256 * y0 + nearest(256 * mass_y, mass);
    if (spread > 0) {
      result.shear =
          static_cast<int>(std::clamp<std::int64_t>(nearest(256 * slant, spread), -256, 256));
    }
    return result;
  }

  ImageShape image_;
};

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
