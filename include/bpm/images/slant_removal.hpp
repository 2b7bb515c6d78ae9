// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>

#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/images/image_shape.hpp"

namespace bpm { inline namespace BPM_TARGET {

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
  explicit SlantRemoval(ImageShape image);

  /// The shape of the images.
  [[nodiscard]] const ImageShape& image() const noexcept { return image_; }

  /// Returns the shear of an image, in 1/256 pixel per row: positive where lower rows are further
  /// right; 0 for an image without grey levels, or with all of them in one row.
  [[nodiscard]] int shear(const std::uint8_t* pixels) const { return moments(pixels).shear; }

  /// Shears one image, from `image().size()` bytes to as many others.
  void operator()(const std::uint8_t* pixels, std::uint8_t* out) const;

  /// Shears images, one per row, on `threads` threads (0: as many as the machine runs). \throws
  /// std::invalid_argument where a row is no image of the shape, or `threads` above 4096.
  [[nodiscard]] RowMatrix<std::uint8_t> operator()(const RowMatrix<std::uint8_t>& images,
                                                   unsigned threads = 0) const;

  /// Returns whether both accept images of one shape.
  friend bool operator==(const SlantRemoval&, const SlantRemoval&) = default;

 private:
  struct Moments {
    int shear = 0;
    std::int64_t centre = 0;  ///< cy in 1/256 pixel.
  };

  /// Returns the integer nearest to a / b, halves away from 0; b > 0.
  [[nodiscard]] static std::int64_t nearest(std::int64_t a, std::int64_t b);

  [[nodiscard]] Moments moments(const std::uint8_t* pixels) const;

  ImageShape image_;
};

#if BPM_BODIES

BPM_INLINE SlantRemoval::SlantRemoval(ImageShape image) : image_(image) {
  detail::check_shape("SlantRemoval", image_);
}

BPM_INLINE void SlantRemoval::operator()(const std::uint8_t* pixels, std::uint8_t* out) const {
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

BPM_INLINE RowMatrix<std::uint8_t> SlantRemoval::operator()(const RowMatrix<std::uint8_t>& images,
                                                            unsigned threads) const {
  detail::check_images("SlantRemoval", images, image_);
  const unsigned workers = detail::image_workers(threads, images.rows(), "SlantRemoval");
  RowMatrix<std::uint8_t> upright(images.rows(), images.cols());
  detail::for_each_image(workers, images.rows(), [&](unsigned, Eigen::Index i) {
    (*this)(images.row(i).data(), upright.row(i).data());
  });
  return upright;
}

BPM_INLINE std::int64_t SlantRemoval::nearest(std::int64_t a, std::int64_t b) {
  return (a >= 0 ? a + b / 2 : a - b / 2) / b;
}

BPM_INLINE SlantRemoval::Moments SlantRemoval::moments(const std::uint8_t* pixels) const {
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

#endif

}}  // namespace bpm
