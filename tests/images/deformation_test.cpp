// SPDX-License-Identifier: MIT
#include "bpm/images/deformation.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "bpm/images/virtual_examples.hpp"
#include "bpm/machine/labels.hpp"
#include "catch.hpp"
#include "message_of.hpp"
#include "test_images.hpp"

using test_support::message_of;

namespace {

using ByteImages = bpm::RowMatrix<std::uint8_t>;

std::vector<std::uint8_t> deformed(const bpm::detail::PreparedDeformation& deformation,
                                   bpm::ImageShape shape, const std::vector<std::uint8_t>& image,
                                   const bpm::CopyKey& key) {
  std::vector<std::uint8_t> out(image.size(), 77);
  deformation(shape, image, key, out);
  return out;
}

std::vector<std::uint8_t> image_of(const ByteImages& images, Eigen::Index i) {
  return {images.row(i).begin(), images.row(i).end()};
}

/// The documented steps pixel by pixel, in 64 bits, and nothing kept from one to the next.
class SlowDeformation {
 public:
  SlowDeformation(const bpm::Deformation& d, bpm::ImageShape shape, const bpm::CopyKey& key)
      : shape_(shape), key_(key), spacing_(std::max(1L, std::lround(d.width * std::sqrt(3.0)))) {
    std::int64_t squares = 0;
    for (std::int64_t t = 0; t < spacing_; ++t) {
      for (int k = 0; k < 4; ++k) squares += weight(t, k) * weight(t, k);
    }
    elastic_ = std::llround(d.elastic * 4096) * spacing_ * 1048576 / squares;
    for (std::uint64_t n = 0; n < 4; ++n) entry_[n] = normal(n, std::llround(d.affine * 65536));
    for (std::uint64_t n = 0; n < 2; ++n) {
      const std::uint64_t upper = key.word(4 + n) >> 32U;
      phase_[n] = static_cast<std::int64_t>(upper * static_cast<std::uint64_t>(spacing_) >> 32U);
    }
  }

  /// What entry `n` of the matrix is.
  [[nodiscard]] double entry(int n) const { return static_cast<double>(entry_[n]) / 65536; }

  /// Where pixel (y, x) comes from, in 1/256 pixel.
  [[nodiscard]] std::array<std::int64_t, 2> from(std::int64_t y, std::int64_t x) const {
    const std::int64_t v = 2 * y - (shape_.rows - 1);
    const std::int64_t h = 2 * x - (shape_.columns - 1);
    std::array<std::int64_t, 2> place{y * 4096, x * 4096};
    for (int n = 0; n < 2; ++n) {
      place[n] += floor_of(entry_[2 * n] * v + entry_[2 * n + 1] * h, 32) + field(n, y, x);
      place[n] = floor_of(place[n] + 8, 16);
    }
    return place;
  }

  [[nodiscard]] std::uint8_t pixel(const std::vector<std::uint8_t>& image, std::int64_t y,
                                   std::int64_t x) const {
    const auto [from_y, from_x] = from(y, x);
    const std::int64_t top = floor_of(from_y, 256);
    const std::int64_t left = floor_of(from_x, 256);
    std::int64_t sum = 0;
    for (std::int64_t b = top; b <= top + 1; ++b) {
      for (std::int64_t a = left; a <= left + 1; ++a) {
        if (b >= 0 && b < shape_.rows && a >= 0 && a < shape_.columns) {
          sum += (256 - std::abs(from_y - 256 * b)) * (256 - std::abs(from_x - 256 * a)) *
                 image[static_cast<std::size_t>(b * shape_.columns + a)];
        }
      }
    }
    return static_cast<std::uint8_t>((sum + 32768) / 65536);
  }

 private:
  static std::int64_t floor_of(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(std::floor(static_cast<double>(a) / static_cast<double>(b)));
  }

  [[nodiscard]] std::int64_t normal(std::uint64_t place, std::int64_t deviation) const {
    std::uint64_t word = key_.word(place);
    std::int64_t sum = -131070;
    for (int part = 0; part < 4; ++part, word /= 65536)
      sum += static_cast<std::int64_t>(word % 65536);
    return sum * deviation / 37837;
  }

  /// Of lattice point k, counted from -1, about a place t / spacing beyond point 0.
  [[nodiscard]] std::int64_t weight(std::int64_t t, int k) const {
    if (k == 2) return 1024 - weight(t, 0) - weight(t, 1) - weight(t, 3);
    // The cubic B-spline.
    const double h = static_cast<double>(spacing_);
    const double d = std::abs(static_cast<double>(t) - (k - 1) * h);
    const double whole = 6 * h * h * h;
    const double part = d < h ? 4 * h * h * h - 6 * h * d * d + 3 * d * d * d
                              : (2 * h - d) * (2 * h - d) * (2 * h - d);
    return std::llround(1024 * part / whole);
  }

  [[nodiscard]] std::int64_t lattice(int n, std::int64_t j, std::int64_t k) const {
    const std::uint64_t word = key_.word(static_cast<std::uint64_t>(j + 1) * 4294967296U +
                                         static_cast<std::uint64_t>(k)) >>
                               (32 * n);
    const auto sum = static_cast<std::int64_t>(word % 65536 + word / 65536 % 65536);
    return (sum - 65535) * elastic_ / 26755;
  }

  [[nodiscard]] std::int64_t field(int n, std::int64_t y, std::int64_t x) const {
    const std::int64_t v = y + phase_[0];
    const std::int64_t h = x + phase_[1];
    std::int64_t sum = 0;
    for (int j = 0; j < 4; ++j) {
      std::int64_t row = 0;
      for (int k = 0; k < 4; ++k) {
        row += weight(h % spacing_, k) * lattice(n, v / spacing_ + j, h / spacing_ + k);
      }
      sum += weight(v % spacing_, j) * floor_of(row, 1024);
    }
    return floor_of(sum, 1024);
  }

  bpm::ImageShape shape_;
  bpm::CopyKey key_;
  std::int64_t spacing_;
  std::int64_t elastic_ = 0;
  std::array<std::int64_t, 4> entry_{};
  std::array<std::int64_t, 2> phase_{};
};

/// Compares every pixel, or one of `step`.
void check_against_slow(const bpm::Deformation& parameters, bpm::ImageShape shape, int copies,
                        Eigen::Index step = 1) {
  const ByteImages images = test_support::stroke_images(1, shape, 8);
  const std::vector<std::uint8_t> dark = image_of(images, 0);
  std::vector<std::uint8_t> bright = dark;
  for (std::uint8_t& pixel : bright) pixel = static_cast<std::uint8_t>(255 - pixel / 2);
  const bpm::detail::PreparedDeformation deformation(parameters);
  for (int copy = 1; copy <= copies; ++copy) {
    // At the borders in turn dark and bright.
    const std::vector<std::uint8_t>& image = copy % 2 == 0 ? dark : bright;
    const bpm::CopyKey key{4, 3, static_cast<std::uint64_t>(copy)};
    const SlowDeformation slow(parameters, shape, key);
    const std::vector<std::uint8_t> out = deformed(deformation, shape, image, key);
    int wrong = 0;
    int inked = 0;
    for (Eigen::Index p = 0; p < shape.size(); p += step) {
      const int expected = slow.pixel(image, p / shape.columns, p % shape.columns);
      wrong += out[static_cast<std::size_t>(p)] != expected ? 1 : 0;
      inked += expected > 0 ? 1 : 0;
    }
    INFO(shape.rows << " x " << shape.columns << ", affine " << parameters.affine << ", width "
                    << parameters.width << ", copy " << copy);
    CHECK(wrong == 0);
    CHECK(inked > 0);
  }
}

}  // namespace

TEST_CASE("a deformation by nothing is the image", "[images]") {
  const ByteImages images = test_support::stroke_images(4, {28, 28}, 1);
  const bpm::Deformation none{.affine = 0, .elastic = 0};
  for (Eigen::Index i = 0; i < 4; ++i) {
    const std::vector<std::uint8_t> image = image_of(images, i);
    CHECK(deformed(none.prepared(), {28, 28}, image, {1, 2, 3}) == image);
  }
}

TEST_CASE("deformations are what the documented steps give pixel by pixel, to the byte",
          "[images]") {
  check_against_slow({}, {28, 28}, 20);
  check_against_slow({.affine = 0.2, .elastic = 0}, {28, 28}, 5);
  check_against_slow({.affine = 0, .elastic = 2, .width = 2}, {28, 28}, 5);
  check_against_slow({.affine = 0, .elastic = 0}, {28, 28}, 5);
  // Lattices of one pixel, and wider than the image.
  check_against_slow({.affine = 0.1, .elastic = 1, .width = 0.5}, {17, 9}, 4);
  check_against_slow({.affine = 0.1, .elastic = 1, .width = 512}, {17, 9}, 4);
  // Several strips, and more than small memory holds.
  check_against_slow({.elastic = 3, .width = 7}, {20, 64}, 2);
  check_against_slow({.elastic = 3, .width = 7}, {20, 65}, 2);
  check_against_slow({.elastic = 3, .width = 7}, {71, 133}, 2);
  check_against_slow({.elastic = 0.1}, {1, 1}, 2);
  check_against_slow({.elastic = 0.3}, {1, 40}, 2);
  check_against_slow({.elastic = 0.3}, {40, 1}, 2);
  // As far as numbers may go.
  for (const double width : {0.5, 512.0}) {
    check_against_slow({.affine = 0.5, .elastic = 32, .width = width}, {60, 4096}, 2, 37);
    check_against_slow({.affine = 0.5, .elastic = 32, .width = width}, {4096, 60}, 2, 37);
  }
}

TEST_CASE("affine maps are within a grey level of real numbers", "[images]") {
  // A smooth image, whose grey levels differ by no more than 40 from pixel to pixel.
  const bpm::ImageShape shape{24, 30};
  std::vector<std::uint8_t> image(720);
  for (int p = 0; p < 720; ++p) {
    image[static_cast<std::size_t>(p)] = static_cast<std::uint8_t>(std::lround(
        127.5 + 60 * std::sin(p / 30 * 0.45) + 60 * std::cos(p % 30 * 0.35 + p / 30 * 0.2)));
  }
  const auto real_pixel = [&](double y, double x) {
    double sum = 0;
    for (int b = 0; b < 24; ++b) {
      for (int a = 0; a < 30; ++a) {
        sum += std::max(0.0, 1 - std::abs(y - b)) * std::max(0.0, 1 - std::abs(x - a)) *
               image[static_cast<std::size_t>(b * 30 + a)];
      }
    }
    return sum;
  };
  const bpm::Deformation parameters{.affine = 0.15, .elastic = 0};
  double farthest = 0;
  double moved = 0;
  for (std::uint64_t copy = 1; copy <= 10; ++copy) {
    const bpm::CopyKey key{1, 2, copy};
    const SlowDeformation slow(parameters, shape, key);
    const std::vector<std::uint8_t> out = deformed(parameters.prepared(), shape, image, key);
    for (int p = 0; p < 720; ++p) {
      const double v = p / 30 - 11.5;
      const double h = p % 30 - 14.5;
      const double y = p / 30 + slow.entry(0) * v + slow.entry(1) * h;
      const double x = p % 30 + slow.entry(2) * v + slow.entry(3) * h;
      // At the border to what is outside grey levels are not smooth.
      if (y < 0 || y > 23 || x < 0 || x > 29) continue;
      const double distance = std::abs(real_pixel(y, x) - out[static_cast<std::size_t>(p)]);
      farthest = std::max(farthest, distance);
      moved = std::max(moved, std::abs(y - p / 30));
    }
  }
  CHECK(farthest < 1);
  CHECK(moved > 2);
}

namespace {

/// Displacements that a deformation makes: those of the pixels of a ramp are its grey levels.
class Displacements {
 public:
  static constexpr int side = 32;
  static constexpr int slope = 8;  ///< Grey levels a pixel: places are rounded to eighths.
  static constexpr int edge = 4;   ///< Pixels that are left out at the borders.
  using Field = Eigen::Array<double, side - 2 * edge, side - 2 * edge>;

  /// Direction 0: downwards, 1: to the right. Right where none is above `edge` - 1 pixels.
  static Field of(const bpm::detail::PreparedDeformation& deformation, int direction,
                  std::uint64_t copy) {
    std::vector<std::uint8_t> ramp(side * side);
    for (int p = 0; p < side * side; ++p) {
      ramp[static_cast<std::size_t>(p)] =
          static_cast<std::uint8_t>(slope * (direction == 0 ? p / side : p % side));
    }
    const std::vector<std::uint8_t> out = deformed(deformation, {side, side}, ramp, {3, 1, copy});
    Field field;
    for (int y = 0; y < field.rows(); ++y) {
      for (int x = 0; x < field.cols(); ++x) {
        const auto p = static_cast<std::size_t>((y + edge) * side + x + edge);
        field(y, x) = (double{1} * out[p] - ramp[p]) / slope;
      }
    }
    return field;
  }
};

/// Mean of copies, and its standard error.
struct Mean {
  double sum = 0;
  double squares = 0;
  int count = 0;

  void add(double value) {
    sum += value;
    squares += value * value;
    ++count;
  }
  [[nodiscard]] double value() const { return sum / count; }
  [[nodiscard]] double error() const {
    return std::sqrt((squares / count - value() * value()) / count);
  }
};

/// The B-spline of order 8 about 0: the correlation of a field of cubic B-splines, but for a
/// factor.
double spline_of_order_8(double x) {
  double sum = 0;
  double binomial = 1;
  for (int k = 0; k <= 8; ++k) {
    sum += (k % 2 == 0 ? 1 : -1) * binomial * std::pow(std::max(0.0, x + 4 - k), 7);
    binomial = binomial * (8 - k) / (k + 1);
  }
  return sum / 5040;
}

}  // namespace

TEST_CASE("elastic fields have the mean square and the correlation of the theory",
          "[images][at length]") {
  // Grey levels are rounded, which adds 1/12 of their squares; correlations over a distance do not
  // see it. 5 standard errors are the bound, and those are to be below what is said: so a field
  // whose root mean square is 4 % off fails.
  constexpr double rounding = 1.0 / (12 * Displacements::slope * Displacements::slope);
  constexpr int copies = 3000;
  for (const double width : {3.0, 4.0, 6.0}) {
    const double elastic = 0.6;  // No displacement can then be above 3.1 pixels.
    const bpm::detail::PreparedDeformation deformation(
        {.affine = 0, .elastic = elastic, .width = width});
    std::array<Mean, 2> square;
    std::array<Mean, 2> mean;
    Mean product;
    std::array<std::array<Mean, 16>, 2> down;
    std::array<std::array<Mean, 16>, 2> right;
    std::array<Mean, 24> column;
    for (std::uint64_t copy = 1; copy <= copies; ++copy) {
      std::array<Displacements::Field, 2> u;
      for (int n = 0; n < 2; ++n) {
        u[n] = Displacements::of(deformation, n, copy);
        mean[n].add(u[n].mean());
        square[n].add(u[n].square().mean());
        for (int d = 1; d < 16; ++d) {
          const int rest = 24 - d;
          down[n][d].add((u[n].topRows(rest) * u[n].bottomRows(rest)).mean());
          right[n][d].add((u[n].leftCols(rest) * u[n].rightCols(rest)).mean());
        }
      }
      product.add((u[0] * u[1]).mean());
      for (int x = 0; x < 24; ++x) column[x].add(u[1].col(x).square().mean());
    }
    const double variance = elastic * elastic;
    const double spacing = std::round(width * std::sqrt(3.0));
    INFO("width " << width);
    CHECK(std::abs(product.value()) < 5 * product.error());
    for (int n = 0; n < 2; ++n) {
      CHECK(std::abs(mean[n].value()) < 5 * mean[n].error());
      CHECK(std::abs(square[n].value() - variance - rounding) < 5 * square[n].error());
      CHECK(square[n].error() < 0.014 * variance);
      for (int d = 1; d < 16; ++d) {
        const double expected = variance * spline_of_order_8(d / spacing) / spline_of_order_8(0);
        INFO("distance " << d);
        CHECK(std::abs(down[n][d].value() - expected) < 5 * down[n][d].error());
        CHECK(std::abs(right[n][d].value() - expected) < 5 * right[n][d].error());
        CHECK(down[n][d].error() < 0.014 * variance);
        CHECK(right[n][d].error() < 0.014 * variance);
        // And so nearly that of a Gaussian's field.
        CHECK(std::abs(expected / variance - std::exp(-d * d / (4 * width * width))) < 0.04);
      }
    }
    // The lattice lies anywhere: no column is favoured.
    for (const Mean& of_column : column) {
      CHECK(std::abs(of_column.value() - variance - rounding) < 5 * of_column.error());
      CHECK(of_column.error() < 0.025 * variance);
    }
  }
}

TEST_CASE("affine maps have the moments that are asked for", "[images]") {
  // Sums of four uniform numbers: kurtosis 2.7. With 20 000 draws five standard errors of the
  // deviation are 2.5 %, of a correlation 3.5 %.
  constexpr int copies = 20000;
  constexpr int side = 21;
  constexpr int slope = 12;  // Grey levels a pixel.
  constexpr int arm = 5;     // Of 5 pixels beyond none is displaced by more.
  const double affine = 0.12;
  const bpm::detail::PreparedDeformation deformation({.affine = affine, .elastic = 0});
  std::array<std::vector<std::uint8_t>, 2> ramps;
  for (int p = 0; p < side * side; ++p) {
    ramps[0].push_back(static_cast<std::uint8_t>(slope * (p / side)));
    ramps[1].push_back(static_cast<std::uint8_t>(slope * (p % side)));
  }
  std::array<std::array<Mean, 4>, 4> products;
  std::array<Mean, 4> mean;
  std::array<Mean, 4> fourth;
  double centre = 0;
  for (std::uint64_t copy = 1; copy <= copies; ++copy) {
    // The matrix row by row.
    std::array<double, 4> drawn{};
    for (int n = 0; n < 2; ++n) {
      const std::vector<std::uint8_t> out =
          deformed(deformation, {side, side}, ramps[n], {2, 9, copy});
      const auto at = [&](int y, int x) {
        const auto p = static_cast<std::size_t>((side / 2 + y) * side + side / 2 + x);
        return (double{1} * out[p] - ramps[n][p]) / slope;
      };
      drawn[2 * n] = (at(arm, 0) - at(-arm, 0)) / (2 * arm);
      drawn[2 * n + 1] = (at(0, arm) - at(0, -arm)) / (2 * arm);
      centre = std::max(centre, std::abs(at(0, 0)));
    }
    for (int n = 0; n < 4; ++n) {
      drawn[n] /= affine;
      mean[n].add(drawn[n]);
      fourth[n].add(std::pow(drawn[n], 4));
      for (int k = 0; k <= n; ++k) products[n][k].add(drawn[n] * drawn[k]);
    }
  }
  CHECK(centre == 0);
  for (int n = 0; n < 4; ++n) {
    // Grey levels are rounded, which adds 1/12 of their squares, of two of them.
    const double rounding = 1.0 / (12 * slope * slope);
    const double expected = 1 + rounding / (2 * arm * arm * affine * affine);
    INFO(n);
    CHECK(std::abs(mean[n].value()) < 5 * mean[n].error());
    CHECK(std::abs(products[n][n].value() - expected) < 5 * products[n][n].error());
    CHECK(products[n][n].error() < 0.01);
    for (int k = 0; k < n; ++k) {
      CHECK(std::abs(products[n][k].value()) < 5 * products[n][k].error());
      CHECK(products[n][k].error() < 0.008);
    }
    CHECK(std::abs(fourth[n].value() - 2.7) < 5 * fourth[n].error());
    CHECK(fourth[n].error() < 0.06);
  }
}

TEST_CASE("1000 deformed images are the same bytes with every compiler", "[images]") {
  const bpm::ImageShape shape{28, 28};
  const ByteImages images = test_support::stroke_images(200, shape, 6);
  const bpm::VirtualExamples examples(
      shape, images, bpm::Deformation{.affine = 0.12, .elastic = 1, .width = 4}, 17);
  ByteImages copies(1000, 784);
  examples.fill(examples.all(1, 6), copies);
  bpm::detail::WordHash originals;
  originals.add_bytes(images.data(), static_cast<std::size_t>(images.size()));
  bpm::detail::WordHash hash;
  hash.add_bytes(copies.data(), static_cast<std::size_t>(copies.size()));
  CHECK(originals.value() == 0x833bab9b9d26fb5cULL);
  CHECK(hash.value() == 0x49c5e8f7b79c383aULL);
}

TEST_CASE("a deformation says which parameter is wrong", "[images]") {
  const auto message = [](const bpm::Deformation& deformation) {
    return message_of([&] { (void)deformation.prepared(); });
  };
  CHECK(message({.affine = -0.1}) == "Deformation: affine is -0.1, must lie in [0, 0.5]");
  CHECK(message({.affine = 0.6}) == "Deformation: affine is 0.6, must lie in [0, 0.5]");
  CHECK(message({.elastic = 33}) == "Deformation: elastic is 33, must lie in [0, 32]");
  CHECK(message({.elastic = std::numeric_limits<double>::quiet_NaN()}) ==
        "Deformation: elastic is nan, must lie in [0, 32]");
  CHECK(message({.width = 0.4}) == "Deformation: width is 0.4, must lie in [0.5, 512]");
  CHECK(message({.width = std::numeric_limits<double>::infinity()}) ==
        "Deformation: width is inf, must lie in [0.5, 512]");
  // A view asks for it at once.
  const ByteImages images = ByteImages::Ones(1, 1);
  CHECK(message_of([&] {
          bpm::VirtualExamples({1, 1}, images, bpm::Deformation{.affine = 2});
        }) == "Deformation: affine is 2, must lie in [0, 0.5]");
}
