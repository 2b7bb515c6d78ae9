// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/images/image_shape.hpp"
#include "bpm/images/virtual_examples.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {
class PreparedDeformation;
}

/// Random deformations of images: a small affine map about the centre and an elastic one, applied
/// in one bilinear sampling (P. Simard, D. Steinkraus, J. Platt, "Best practices for convolutional
/// neural networks applied to visual document analysis", 2003).
///
/// Pixel p of the copy is the image's value at p + E (p - centre) + u(p), 0 outside of the image.
/// The entries of the 2 x 2 matrix E have mean 0 and standard deviation `affine`. u is a random
/// field with a root mean square of `elastic` pixels in either direction, made of cubic B-splines
/// on a lattice of random offset: its correlation over d pixels is the B-spline of order 8 at d /
/// spacing over that at 0, within 0.05 of exp(-d^2 / (4 width^2)) at a `width` of 8 and more, that
/// of white noise smoothed by a Gaussian of standard deviation `width`.
///
/// All arithmetic on pixels is in integers, so that copies are the same bytes with every compiler:
/// `affine` is rounded to multiples of 2^-16, `elastic` to 2^-12 pixels, and the lattice's spacing,
/// sqrt(3) `width`, to whole pixels.
struct Deformation {
  double affine = 0.12;  ///< Deviation of E's entries; 0.12 turns by some 7 degrees.
  double elastic = 1;    ///< Root mean square of u, in pixels.
  double width = 8;      ///< Width of its correlation, in pixels.

  /// Returns the callable that makes copies. \throws std::invalid_argument on numbers that are
  /// negative or not finite, `affine` above 0.5, `elastic` above 32, `width` out of [0.5, 512].
  [[nodiscard]] detail::PreparedDeformation prepared() const;
};

namespace detail {

/// The integers of a `Deformation`. A callable of shape, image, key and the copy's bytes, safe for
/// any number of threads at once.
class PreparedDeformation {
 public:
  explicit PreparedDeformation(const Deformation& deformation) {
    const auto check_range = [](const char* name, double value, double least, double most) {
      check(value >= least && value <= most, "Deformation", name, "is ", value, ", must lie in [",
            least, ", ", most, "]");
    };
    check_range("affine", deformation.affine, 0, 0.5);
    check_range("elastic", deformation.elastic, 0, 32);
    check_range("width", deformation.width, 0.5, 512);
    affine_ = std::llround(deformation.affine * 65536);
    make_weights(std::llround(deformation.width * 1.7320508075688772));
    // With u = sum_jk w_j w_k v_jk, w the weights at a position between lattice points, the mean
    // square of u over positions is that of v times (the mean of sum_k w_k^2)^2.
    const std::int64_t squares =
        std::inner_product(weights_.begin(), weights_.end(), weights_.begin(), std::int64_t{0});
    elastic_ =
        (std::llround(deformation.elastic * one_pixel) * spacing_ << 2 * weight_bits) / squares;
  }

  void operator()(ImageShape shape, std::span<const std::uint8_t> image, const CopyKey& key,
                  std::span<std::uint8_t> out) const {
    // Small images use the stack; for large ones the cost of the allocation is negligible.
    constexpr Eigen::Index small_size = 4096;
    std::array<std::uint32_t, small_size> small;  // NOLINT: filled below.
    const Eigen::Index needed = (shape.rows + 2) * (shape.columns + 2);
    Buffer<std::uint32_t> large(needed > small_size ? needed : 0);
    std::uint32_t* const fours = large.size() > 0 ? large.data() : small.data();
    gather_fours(shape, image.data(), fours);

    const Map map = random_map(key);
    for (Eigen::Index left = 0; left < shape.columns; left += strip) {
      deform_strip(shape, fours, map, key, left, out.data());
    }
  }

 private:
  static constexpr int weight_bits = 10;
  static constexpr std::int32_t one_pixel = 4096;  ///< Displacements are multiples of 1/4096 pixel.
  static constexpr int strip = 64;                 ///< Columns at a time.

  /// Random numbers of one copy.
  struct Map {
    std::int32_t yy, yx, xy, xx;    ///< E, in 2^-16.
    std::int32_t phase_y, phase_x;  ///< Offset of the lattice.
  };
  /// One value per column of the strip.
  using Row = std::array<std::int32_t, strip>;
  struct FieldRow {
    Row y, x;
  };

  /// Computes the weights of the four lattice points about a pixel, for each position between them:
  /// cubic B-splines, rounded, with sum 2^weight_bits.
  void make_weights(std::int64_t spacing) {
    spacing_ = static_cast<std::int32_t>(std::max<std::int64_t>(spacing, 1));
    const std::int64_t h = spacing_;
    const std::int64_t whole = 6 * h * h * h;
    const auto rounded = [&](std::int64_t part) {
      return static_cast<std::int32_t>(((part << (weight_bits + 1)) + whole) / (2 * whole));
    };
    for (std::int64_t t = 0; t < h; ++t) {
      const std::int64_t s = h - t;
      const std::int32_t first = rounded(s * s * s);
      const std::int32_t last = rounded(t * t * t);
      const std::int32_t second = rounded(3 * t * t * t - 6 * t * t * h + 4 * h * h * h);
      weights_.insert(weights_.end(),
                      {first, second, (1 << weight_bits) - first - second - last, last});
    }
  }

  /// Returns a nearly normal number of mean 0 and standard deviation `deviation`: a sum of four
  /// uniform numbers of 16 bits, whose own deviation is 37837.
  [[nodiscard]] static std::int32_t nearly_normal(std::uint64_t word, std::int64_t deviation) {
    const auto sum = static_cast<std::int64_t>((word & 65535U) + ((word >> 16U) & 65535U) +
                                               ((word >> 32U) & 65535U) + (word >> 48U));
    return static_cast<std::int32_t>((sum - 131070) * deviation / 37837);
  }

  [[nodiscard]] Map random_map(const CopyKey& key) const {
    const auto below = [](std::uint64_t word, std::int32_t bound) {
      return static_cast<std::int32_t>(((word >> 32U) * static_cast<std::uint64_t>(bound)) >> 32U);
    };
    return {nearly_normal(key.word(0), affine_), nearly_normal(key.word(1), affine_),
            nearly_normal(key.word(2), affine_), nearly_normal(key.word(3), affine_),
            below(key.word(4), spacing_),        below(key.word(5), spacing_)};
  }

  /// Packs four neighbouring pixels in a word, for each position, also those half outside.
  static void gather_fours(ImageShape shape, const std::uint8_t* image, std::uint32_t* fours) {
    const Eigen::Index columns = shape.columns;
    const Eigen::Index stride = columns + 2;
    std::fill_n(fours, stride, 0U);
    for (Eigen::Index y = 0; y < shape.rows; ++y) {
      const std::uint8_t* const pixels = image + y * columns;
      std::uint32_t* const upper = fours + y * stride;
      std::uint32_t* const lower = upper + stride;
      lower[0] = std::uint32_t{pixels[0]} << 8U;
      for (Eigen::Index x = 1; x < columns; ++x) {
        lower[x] = pixels[x - 1] | (std::uint32_t{pixels[x]} << 8U);
      }
      lower[columns] = pixels[columns - 1];
      lower[columns + 1] = 0;
      for (Eigen::Index x = 0; x < stride; ++x) upper[x] |= lower[x] << 16U;
    }
    std::fill_n(fours + (shape.rows + 1) * stride, stride, 0U);
  }

  /// Computes row `j` of the lattice, interpolated at the strip's columns.
  void make_field_row(const Map& map, const CopyKey& key, Eigen::Index j, Eigen::Index left,
                      int width, FieldRow& row) const {
    const auto first = static_cast<std::int32_t>((left + map.phase_x) / spacing_);
    const auto offset = static_cast<std::int32_t>((left + map.phase_x) % spacing_);
    const int points = (offset + width - 1) / spacing_ + 4;
    std::array<std::int32_t, strip + 4> y;  // NOLINT: filled below.
    std::array<std::int32_t, strip + 4> x;  // NOLINT: filled below.
    const auto place =
        (static_cast<std::uint64_t>(j + 1) << 32U) + static_cast<std::uint32_t>(first);
    // Each value is a sum of two uniform numbers of 16 bits, whose deviation is 26755.
    for (int k = 0; k < points; ++k) {
      const std::uint64_t word = key.word(place + static_cast<std::uint64_t>(k));
      const auto a = static_cast<std::int64_t>((word & 65535U) + ((word >> 16U) & 65535U));
      const auto b = static_cast<std::int64_t>(((word >> 32U) & 65535U) + (word >> 48U));
      y[std::size_t(k)] = static_cast<std::int32_t>((a - 65535) * elastic_ / 26755);
      x[std::size_t(k)] = static_cast<std::int32_t>((b - 65535) * elastic_ / 26755);
    }
    int cell = 0;
    int t = offset;
    for (int column = 0; column < width; ++column) {
      const std::int32_t* const w = weights_.data() + 4 * static_cast<std::ptrdiff_t>(t);
      const auto c = static_cast<std::size_t>(cell);
      row.y[std::size_t(column)] =
          (w[0] * y[c] + w[1] * y[c + 1] + w[2] * y[c + 2] + w[3] * y[c + 3]) >> weight_bits;
      row.x[std::size_t(column)] =
          (w[0] * x[c] + w[1] * x[c + 1] + w[2] * x[c + 2] + w[3] * x[c + 3]) >> weight_bits;
      if (++t == spacing_) {
        t = 0;
        ++cell;
      }
    }
  }

  void deform_strip(ImageShape shape, const std::uint32_t* fours, const Map& map,
                    const CopyKey& key, Eigen::Index left, std::uint8_t* out) const {
    const auto width = static_cast<int>(std::min<Eigen::Index>(strip, shape.columns - left));
    const int lanes = (width + 15) / 16 * 16;  // Whole registers; the excess is unused.
    const auto stride = static_cast<std::int32_t>(shape.columns + 2);
    const auto bottom = static_cast<std::int32_t>(shape.rows * 256);
    const auto right = static_cast<std::int32_t>(shape.columns * 256);
    std::array<FieldRow, 4> field{};
    std::array<std::uint8_t, strip> pixels;  // NOLINT: filled below.
    Eigen::Index next = 0;                   // Next row of the lattice.
    if (elastic_ > 0) {
      for (FieldRow& row : field) make_field_row(map, key, next++, left, width, row);
    }
    std::int32_t t = map.phase_y;
    for (Eigen::Index y = 0; y < shape.rows; ++y) {
      const std::int32_t* const w = weights_.data() + 4 * static_cast<std::ptrdiff_t>(t);
      const std::int32_t w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3];
      // Twice the position relative to the centre is an integer.
      const auto twice_y = static_cast<std::int32_t>(2 * y - (shape.rows - 1));
      const auto twice_x = static_cast<std::int32_t>(2 * left - (shape.columns - 1));
      const std::int32_t begin_y = map.yy * twice_y + map.yx * twice_x;
      const std::int32_t begin_x = map.xy * twice_y + map.xx * twice_x;
      const auto at_y = static_cast<std::int32_t>(y * one_pixel);
      const auto at_x = static_cast<std::int32_t>(left * one_pixel);
      for (int x = 0; x < lanes; ++x) {
        const auto i = static_cast<std::size_t>(x);
        const std::int32_t u_y =
            (w0 * field[0].y[i] + w1 * field[1].y[i] + w2 * field[2].y[i] + w3 * field[3].y[i]) >>
            weight_bits;
        const std::int32_t u_x =
            (w0 * field[0].x[i] + w1 * field[1].x[i] + w2 * field[2].x[i] + w3 * field[3].x[i]) >>
            weight_bits;
        // From 2^-17 pixels to 2^-12, then to 2^-8, rounded.
        std::int32_t from_y = (at_y + ((begin_y + 2 * map.yx * x) >> 5) + u_y + 8) >> 4;
        std::int32_t from_x =
            (at_x + x * one_pixel + ((begin_x + 2 * map.xx * x) >> 5) + u_x + 8) >> 4;
        from_y = std::clamp(from_y, -256, bottom);
        from_x = std::clamp(from_x, -256, right);
        const std::uint32_t four = fours[((from_y >> 8) + 1) * stride + (from_x >> 8) + 1];
        const std::uint32_t low = static_cast<std::uint32_t>(from_y) & 255U;
        const std::uint32_t far = static_cast<std::uint32_t>(from_x) & 255U;
        const std::uint32_t above = (four & 255U) * (256U - far) + ((four >> 8U) & 255U) * far;
        const std::uint32_t below = ((four >> 16U) & 255U) * (256U - far) + (four >> 24U) * far;
        const std::uint32_t sum = above * (256U - low) + below * low;
        pixels[i] = static_cast<std::uint8_t>((sum + 32768U) >> 16U);
      }
      std::memcpy(out + y * shape.columns + left, pixels.data(), std::size_t(width));
      if (++t == spacing_) {
        t = 0;
        if (elastic_ > 0) {
          std::rotate(field.begin(), field.begin() + 1, field.end());
          make_field_row(map, key, next++, left, width, field[3]);
        }
      }
    }
  }

  std::int64_t affine_ = 0;   ///< Deviation of E's entries, in 2^-16.
  std::int64_t elastic_ = 0;  ///< Deviation of the lattice's values.
  std::int32_t spacing_ = 1;  ///< Spacing of the lattice, in pixels.
  std::vector<std::int32_t> weights_{};
};

}  // namespace detail

inline detail::PreparedDeformation Deformation::prepared() const {
  return detail::PreparedDeformation(*this);
}

}}  // namespace bpm
