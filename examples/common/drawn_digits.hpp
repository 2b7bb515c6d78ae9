// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bpm/core/random.hpp"
#include "tasks.hpp"

/// \file
/// Digits that look handwritten, made from nothing but a seed: images in the shape of MNIST (28 x
/// 28 bytes, white on black) for programs and tests that must run where MNIST is not at hand. They
/// are drawn, not scanned, and results on them are never results on MNIST.
///
/// A digit is a few pen strokes, each a smooth curve through control points in the unit square.
/// Every image moves the points, bends, slants, turns, stretches and shifts the whole, picks a pen
/// width and a pen pressure, and renders the curve by its distance to each pixel. All
/// perturbations are bounded, so that no image lies between two classes.

namespace bpm_examples {

/// How far the drawn digits stray from their patterns. Every perturbation is a bounded random
/// number times one of these; the defaults make a data set that a linear classifier finds about as
/// hard as MNIST: with 60 000 of them to learn from, an averaged perceptron on the pixels errs on
/// 10 % of 10 000 more, and perceptrons with the kernel (<x, x'> + 1)^5 on pixels / 255, which
/// separate the classes without error, on 1.0 % one by one and 0.7 % where five are joined.
struct DigitStyle {
  double jitter = 0.14;       ///< of each control point, in heights of the digit
  double bend = 0.5;          ///< curvature of the vertical axis, in heights
  double slant = 0.7;         ///< shear: horizontal shift per unit of height
  double turn = 0.34;         ///< rotation, radians (about)
  double stretch = 0.34;      ///< of width and height apart, as a fraction
  double shift = 2.5;         ///< of the whole digit, pixels
  double pen_min = 0.75;      ///< half of the pen's width, pixels
  double pen_max = 1.7;       ///< half of the pen's width, pixels
  double pressure_min = 0.7;  ///< lowest brightness of full ink, 1 is 255
  int noise = 24;             ///< of the brightness of inked pixels, in 1/255
};

/// Images, one per row (784 bytes, row by row from the top), and the digit each one shows.
struct DrawnDigits {
  Eigen::Matrix<std::uint8_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> images;
  std::vector<int> labels;
};

inline constexpr int digit_side = 28;
inline constexpr int digit_pixels = digit_side * digit_side;

namespace digits_detail {

/// A control point, x to the right and y down; the curve has a corner there where `corner`.
struct Knot {
  float x, y;
  bool corner = false;
};

using Stroke = std::vector<Knot>;
using Glyph = std::vector<Stroke>;

/// The ways of writing each digit.
inline const std::array<std::vector<Glyph>, 10>& glyphs() {
  constexpr bool corner = true;
  static const std::array<std::vector<Glyph>, 10> all = {{
      // 0: begun at the top, and begun at the right with the ends crossing
      {{{{.55F, .03F},
         {.28F, .18F},
         {.18F, .5F},
         {.28F, .84F},
         {.5F, .97F},
         {.74F, .82F},
         {.82F, .5F},
         {.72F, .17F},
         {.5F, .03F}}},
       {{{.72F, .12F},
         {.48F, .03F},
         {.27F, .2F},
         {.2F, .55F},
         {.3F, .88F},
         {.54F, .97F},
         {.75F, .78F},
         {.78F, .4F},
         {.64F, .12F},
         {.46F, .06F}}}},
      // 1: bare, with a flag, with flag and foot
      {{{{.5F, .02F}, {.5F, .5F}, {.5F, .98F}}},
       {{{.37F, .22F}, {.54F, .03F, corner}, {.53F, .5F}, {.52F, .97F}}},
       {{{.36F, .2F}, {.52F, .03F, corner}, {.51F, .5F}, {.5F, .96F}},
        {{.28F, .96F}, {.74F, .96F}}}},
      // 2: with a corner, with a loop at the foot
      {{{{.22F, .26F},
         {.35F, .07F},
         {.6F, .04F},
         {.76F, .22F},
         {.68F, .48F},
         {.42F, .75F},
         {.2F, .95F, corner},
         {.5F, .94F},
         {.82F, .94F}}},
       {{{.22F, .22F},
         {.38F, .05F},
         {.63F, .05F},
         {.75F, .24F},
         {.64F, .55F},
         {.4F, .86F},
         {.2F, .93F},
         {.2F, .77F},
         {.42F, .8F},
         {.6F, .93F},
         {.86F, .92F}}}},
      // 3: round, and with a flat top
      {{{{.22F, .14F},
         {.45F, .03F},
         {.72F, .14F},
         {.68F, .36F},
         {.42F, .47F, corner},
         {.72F, .58F},
         {.77F, .82F},
         {.5F, .98F},
         {.2F, .88F}}},
       {{{.22F, .05F},
         {.48F, .05F},
         {.75F, .05F, corner},
         {.44F, .41F, corner},
         {.7F, .52F},
         {.78F, .75F},
         {.54F, .97F},
         {.2F, .88F}}}},
      // 4: open, and closed in one line with the stem apart
      {{{{.27F, .04F}, {.23F, .28F}, {.19F, .55F, corner}, {.5F, .53F}, {.84F, .51F}},
        {{.7F, .06F}, {.68F, .5F}, {.65F, .97F}}},
       {{{.62F, .03F}, {.4F, .34F}, {.16F, .66F, corner}, {.5F, .66F}, {.86F, .65F}},
        {{.64F, .03F}, {.63F, .5F}, {.62F, .98F}}}},
      // 5: with the bar drawn last, and in one line
      {{{{.31F, .06F},
         {.27F, .44F, corner},
         {.52F, .37F},
         {.76F, .52F},
         {.76F, .8F},
         {.5F, .97F},
         {.2F, .89F}},
        {{.31F, .06F}, {.55F, .05F}, {.8F, .03F}}},
       {{{.77F, .05F},
         {.34F, .06F, corner},
         {.26F, .46F, corner},
         {.5F, .4F},
         {.74F, .54F},
         {.75F, .8F},
         {.5F, .97F},
         {.22F, .92F}}}},
      // 6: leaning, and upright
      {{{{.66F, .03F},
         {.38F, .24F},
         {.22F, .6F},
         {.31F, .9F},
         {.56F, .97F},
         {.77F, .8F},
         {.68F, .58F},
         {.44F, .55F},
         {.25F, .72F}}},
       {{{.5F, .02F},
         {.28F, .36F},
         {.21F, .74F},
         {.44F, .98F},
         {.72F, .86F},
         {.7F, .62F},
         {.46F, .54F},
         {.25F, .7F}}}},
      // 7: plain, with a bar, with a serif
      {{{{.2F, .06F}, {.5F, .06F}, {.8F, .05F, corner}, {.58F, .5F}, {.42F, .98F}}},
       {{{.2F, .07F}, {.5F, .06F}, {.78F, .05F, corner}, {.57F, .5F}, {.42F, .98F}},
        {{.32F, .52F}, {.76F, .49F}}},
       {{{.2F, .22F},
         {.22F, .07F, corner},
         {.5F, .07F},
         {.8F, .05F, corner},
         {.66F, .48F},
         {.58F, .98F}}}},
      // 8: one line that crosses itself, and two rings
      {{{{.72F, .16F},
         {.5F, .03F},
         {.28F, .16F},
         {.38F, .4F},
         {.62F, .56F},
         {.76F, .8F},
         {.5F, .98F},
         {.25F, .82F},
         {.36F, .6F},
         {.6F, .42F},
         {.74F, .2F},
         {.62F, .06F}}},
       {{{.52F, .47F},
         {.3F, .36F},
         {.32F, .1F},
         {.52F, .03F},
         {.72F, .12F},
         {.71F, .37F},
         {.5F, .47F}},
        {{.52F, .47F},
         {.25F, .62F},
         {.27F, .88F},
         {.5F, .97F},
         {.76F, .87F},
         {.75F, .62F},
         {.5F, .47F}}}},
      // 9: with a straight stem, and with a hook
      {{{{.74F, .22F},
         {.54F, .04F},
         {.28F, .12F},
         {.23F, .36F},
         {.46F, .5F},
         {.7F, .36F},
         {.75F, .12F, corner},
         {.72F, .55F},
         {.66F, .97F}}},
       {{{.73F, .24F},
         {.52F, .04F},
         {.27F, .13F},
         {.25F, .38F},
         {.48F, .48F},
         {.7F, .34F},
         {.74F, .14F, corner},
         {.76F, .5F},
         {.66F, .86F},
         {.44F, .97F},
         {.25F, .88F}}}},
  }};
  return all;
}

/// The random numbers of one image.
class Hand {
 public:
  Hand(std::uint64_t seed, std::uint64_t index) : engine_(seed, index) {}
  /// Uniform on 0 .. n - 1.
  [[nodiscard]] std::size_t pick(std::size_t n) {
    return bpm::uniform_below(engine_, static_cast<std::uint32_t>(n));
  }
  /// Uniform on [0, 1).
  [[nodiscard]] float unit() { return static_cast<float>(engine_() >> 40U) * 0x1p-24F; }
  /// Triangular on (-1, 1), from the two halves of one word: bounded, and mostly small.
  [[nodiscard]] float wobble() {
    const std::uint64_t word = engine_();
    const auto high = static_cast<std::int64_t>(word >> 40U);
    const auto low = static_cast<std::int64_t>(word & 0xffffffU);
    return static_cast<float>(high - low) * 0x1p-24F;
  }

 private:
  bpm::RandomEngine engine_;
};

/// Smallest squared distance of every pixel's centre to the strokes drawn so far, within reach.
class Canvas {
 public:
  explicit Canvas(float reach) : reach_(reach) { distance_.fill(reach * reach); }

  void line(float x0, float y0, float x1, float y1) {
    const float dx = x1 - x0;
    const float dy = y1 - y0;
    const float length2 = dx * dx + dy * dy;
    const float scale = length2 > 0 ? 1 / length2 : 0;
    const int left = from(std::min(x0, x1));
    const int right = to(std::max(x0, x1));
    const int top = from(std::min(y0, y1));
    const int bottom = to(std::max(y0, y1));
    for (int row = top; row < bottom; ++row) {
      const float py = static_cast<float>(row) - y0;
      float* out = distance_.data() + row * digit_side;
      for (int column = left; column < right; ++column) {
        const float px = static_cast<float>(column) - x0;
        const float t = std::clamp((px * dx + py * dy) * scale, 0.0F, 1.0F);
        const float ex = px - t * dx;
        const float ey = py - t * dy;
        out[column] = std::min(out[column], ex * ex + ey * ey);
      }
    }
  }

  [[nodiscard]] const std::array<float, digit_pixels>& squared_distances() const {
    return distance_;
  }

 private:
  [[nodiscard]] int from(float low) const {
    return static_cast<int>(std::ceil(std::clamp(low - reach_, 0.0F, float{digit_side})));
  }
  [[nodiscard]] int to(float high) const {
    return static_cast<int>(std::floor(std::clamp(high + reach_, -1.0F, digit_side - 1.0F))) + 1;
  }

  float reach_;
  std::array<float, digit_pixels> distance_;
};

/// The map from the unit square to pixels: bend, slant, stretch, turn, shift.
class Placement {
 public:
  Placement(const DigitStyle& style, Hand& hand) {
    bend_ = static_cast<float>(style.bend) * hand.wobble();
    slant_ = static_cast<float>(style.slant) * hand.wobble();
    constexpr float size = 20;
    width_ = size * (1 + static_cast<float>(style.stretch) * hand.wobble()) * 0.9F;
    height_ = size * (1 + static_cast<float>(style.stretch) * hand.wobble() * 0.6F);
    // A rotation by 2 atan(t), free of library functions that differ in the last digit.
    const float t = static_cast<float>(style.turn) * hand.wobble() / 2;
    cosine_ = (1 - t * t) / (1 + t * t);
    sine_ = 2 * t / (1 + t * t);
    centre_x_ = (digit_side - 1) / 2.0F + static_cast<float>(style.shift) * hand.wobble();
    centre_y_ = (digit_side - 1) / 2.0F + static_cast<float>(style.shift) * hand.wobble();
  }

  [[nodiscard]] Knot operator()(const Knot& knot) const {
    const float v = knot.y - 0.5F;
    const float u = knot.x - 0.5F - slant_ * v + bend_ * (4 * v * v - 0.5F) / 2;
    const float x = u * width_;
    const float y = v * height_;
    return {centre_x_ + cosine_ * x - sine_ * y, centre_y_ + sine_ * x + cosine_ * y, knot.corner};
  }

 private:
  float bend_, slant_, width_, height_, cosine_, sine_, centre_x_, centre_y_;
};

/// Draws the curve through the knots: Catmull-Rom splines, broken at corners.
inline void draw_stroke(const std::vector<Knot>& knots, Canvas& canvas) {
  constexpr int pieces = 4;
  for (std::size_t i = 0; i + 1 < knots.size(); ++i) {
    const Knot& p1 = knots[i];
    const Knot& p2 = knots[i + 1];
    const Knot& p0 = i == 0 || p1.corner ? p1 : knots[i - 1];
    const Knot& p3 = i + 2 == knots.size() || p2.corner ? p2 : knots[i + 2];
    float x = p1.x;
    float y = p1.y;
    for (int k = 1; k <= pieces; ++k) {
      const float t = static_cast<float>(k) / pieces;
      const float a = t * ((2 - t) * t - 1) / 2;
      const float b = (t * t * (3 * t - 5) + 2) / 2;
      const float c = t * ((4 - 3 * t) * t + 1) / 2;
      const float d = (t - 1) * t * t / 2;
      const float next_x = a * p0.x + b * p1.x + c * p2.x + d * p3.x;
      const float next_y = a * p0.y + b * p1.y + c * p2.y + d * p3.y;
      canvas.line(x, y, next_x, next_y);
      x = next_x;
      y = next_y;
    }
  }
}

}  // namespace digits_detail

/// Draws image `index` of the stream `seed` into `pixels` and returns the digit that it shows.
/// Depends on nothing but its arguments (and, in the last bit of a pixel now and then, on how a
/// compiler rounds). About 10 microseconds.
inline int draw_digit(std::uint64_t seed, std::uint64_t index,
                      std::span<std::uint8_t, digit_pixels> pixels, const DigitStyle& style = {}) {
  using namespace digits_detail;
  Hand hand(seed, index);
  const std::size_t digit = hand.pick(10);
  const std::vector<Glyph>& ways = glyphs()[digit];
  const Glyph& glyph = ways[hand.pick(ways.size())];
  const Placement place(style, hand);
  const auto pen_min = static_cast<float>(style.pen_min);
  const float pen = pen_min + (static_cast<float>(style.pen_max) - pen_min) * hand.unit();
  const auto pressure_min = static_cast<float>(style.pressure_min);
  const float ink = 255 * (pressure_min + (1 - pressure_min) * hand.unit());
  const auto jitter = static_cast<float>(style.jitter);
  // The edge of the pen fades over one pixel.
  const float reach = pen + 0.5F;
  Canvas canvas(reach);
  std::vector<Knot> knots;
  for (const Stroke& stroke : glyph) {
    knots.clear();
    for (Knot knot : stroke) {
      knot.x += jitter * hand.wobble();
      knot.y += jitter * hand.wobble();
      knots.push_back(place(knot));
    }
    draw_stroke(knots, canvas);
  }
  const float far = reach * reach;
  for (int p = 0; p < digit_pixels; ++p) {
    const auto at = static_cast<std::size_t>(p);
    const float distance2 = canvas.squared_distances()[at];
    if (distance2 >= far) {
      pixels[at] = 0;
      continue;
    }
    const float cover = std::min(1.0F, reach - std::sqrt(distance2));
    const float noise = static_cast<float>(style.noise) * hand.wobble();
    pixels[at] = static_cast<std::uint8_t>(std::clamp(ink * cover + noise, 0.0F, 255.0F));
  }
  return static_cast<int>(digit);
}

/// Images first .. first + n - 1 of the stream `seed`, drawn on `threads` threads. Image i depends
/// on (seed, i) alone, so a set may be drawn in parts, extended, or drawn on any number of threads
/// with the same result; labels are uniform on 0 .. 9 and independent. Take a test set from beyond
/// the training set: `draw_digits(10000, seed, 60000)`.
///
/// \throws std::invalid_argument where n is negative or threads is below 1.
inline DrawnDigits draw_digits(Eigen::Index n, std::uint64_t seed, std::uint64_t first = 0,
                               int threads = 1, const DigitStyle& style = {}) {
  if (n < 0) {
    throw std::invalid_argument("draw_digits: n is " + std::to_string(n) + ", must be 0 or more");
  }
  if (threads < 1) {
    throw std::invalid_argument("draw_digits: threads is " + std::to_string(threads) +
                                ", must be 1 or more");
  }
  DrawnDigits digits;
  digits.images.resize(n, digit_pixels);
  digits.labels.resize(static_cast<std::size_t>(n));
  run_tasks(threads, digits.labels.size(), [&](std::size_t i) {
    const std::span<std::uint8_t, digit_pixels> pixels(
        digits.images.row(static_cast<Eigen::Index>(i)).data(), std::size_t{digit_pixels});
    digits.labels[i] = draw_digit(seed, first + i, pixels, style);
  });
  return digits;
}

}  // namespace bpm_examples
