// SPDX-License-Identifier: MIT
// What the page to draw on does before its machine is asked, and the file that it reads its machine
// from.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "common/drawn_digits.hpp"
#include "common/mnist_data.hpp"
#include "data.hpp"
#include "page/digits.hpp"

namespace {

using Image = std::array<std::uint8_t, digit_page::pixels>;

/// An image on a drawing of side x side, each pixel `scale` wide, from (top, left) on.
std::vector<std::uint8_t> drawing_of(const Image& image, std::size_t side, std::size_t scale,
                                     std::size_t top = 0, std::size_t left = 0) {
  std::vector<std::uint8_t> drawing(side * side);
  for (std::size_t y = 0; y < 28 * scale; ++y) {
    for (std::size_t x = 0; x < 28 * scale; ++x) {
      drawing[(top + y) * side + left + x] = image[28 * (y / scale) + x / scale];
    }
  }
  return drawing;
}

}  // namespace

TEST_CASE(
    "page: a drawing becomes a digit of 20 pixels with its mass at pixel 14, wherever it was "
    "drawn") {
  const std::vector<std::uint8_t> nothing(140 * 140);
  CHECK(digit_page::centred(nothing, 140) == Image{});

  const auto digits = bpm_examples::draw_digits(20, 1, 0, 1);
  for (Eigen::Index i = 0; i < digits.images.rows(); ++i) {
    Image image;
    std::ranges::copy(digits.images.row(i), image.begin());
    const Image centred = digit_page::centred(drawing_of(image, 140, 5), 140);
    int rows = 0;
    int columns = 0;
    double mass = 0;
    double down = 0;
    double across = 0;
    for (std::size_t a = 0; a < 28; ++a) {
      bool row = false;
      bool column = false;
      for (std::size_t b = 0; b < 28; ++b) {
        row = row || centred[28 * a + b] > 0;
        column = column || centred[28 * b + a] > 0;
        mass += centred[28 * a + b];
        down += static_cast<double>(a) * centred[28 * a + b];
        across += static_cast<double>(b) * centred[28 * a + b];
      }
      rows += row ? 1 : 0;
      columns += column ? 1 : 0;
    }
    CHECK(std::max(rows, columns) == 20);
    CHECK(std::abs(down / mass - 14) <= 0.51);
    CHECK(std::abs(across / mass - 14) <= 0.51);
    // Drawn elsewhere and larger it is the same.
    CHECK(digit_page::centred(drawing_of(image, 280, 5, 90, 3), 280) == centred);
    CHECK(digit_page::centred(drawing_of(image, 280, 10), 280) == centred);
  }
}

TEST_CASE("page: MNIST's digits, drawn five times as large, come back as they were") {
  const auto data = test_support::data_dir();
  if (!data) return test_support::skip_without_data("draws MNIST's digits");
  const auto digits = bpm_examples::load_digits(*data, 1, 1000, 1);
  double difference = 0;
  for (Eigen::Index i = 0; i < 1000; ++i) {
    Image image;
    std::ranges::copy(digits.test.inputs.row(i), image.begin());
    const Image back = digit_page::centred(drawing_of(image, 140, 5), 140);
    for (std::size_t p = 0; p < image.size(); ++p) difference += std::abs(image[p] - back[p]);
  }
  // Of grey levels: nearly all come back to the bit. Centred half a pixel beside MNIST's it
  // is 14.5.
  difference /= 1000.0 * digit_page::pixels;
  CAPTURE(difference);
  CHECK(difference < 0.1);
}

TEST_CASE("page: a model's file gives the same machine, and nothing else is taken for one") {
  bpm::ClassifierParts<digit_page::Kernel, digit_page::Bytes> parts{
      .kernel = digit_page::kernel(),
      .inputs = digit_page::Bytes::Constant(3, 640, 7),
      .support = {4, 5, 9},
      .coefficients = bpm::RowMatrix<double>::Constant(3, 10, 0.25),
      .classes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}};
  parts.inputs(1, 3) = 200;
  parts.coefficients(2, 8) = 1.5;
  parts.slope = 3;
  const digit_page::Machine machine(std::move(parts));
  const digit_page::Bytes pictures = digit_page::Bytes::Constant(3, 784, 9);
  const std::vector<char> file = digit_page::to_file(machine, pictures, {2, 8, 1});
  const digit_page::Model model = digit_page::from_file(file);
  CHECK(model.pictures == pictures);
  CHECK(model.labels == std::vector<int>{2, 8, 1});
  const digit_page::Bytes query = digit_page::Bytes::Constant(1, 640, 5);
  CHECK(model.machine.predict_probability(query) == machine.predict_probability(query));

  const digit_page::Verdict verdict = digit_page::judge(model, query);
  CHECK(verdict.label == 8);
  REQUIRE(verdict.for_it.size() == 1);  // The others say the same of both classes.
  CHECK(verdict.for_it[0].support == 2);
  CHECK(verdict.against_it.empty());
  CHECK(std::abs(verdict.for_it[0].part - verdict.score) < 1e-6);

  CHECK_THROWS_AS(digit_page::from_file(std::string("nothing of the kind")), std::runtime_error);
  CHECK_THROWS_AS(digit_page::from_file({file.data(), file.size() - 1}), std::runtime_error);
}
