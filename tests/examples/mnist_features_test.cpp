// SPDX-License-Identifier: MIT
#include <cstdint>
#include <span>
#include <vector>

#include "bpm/images/gradient_features.hpp"
#include "bpm/images/image_shape.hpp"
#include "catch.hpp"
#include "common/drawn_digits.hpp"
#include "mnist/features.hpp"

using bpm_examples::ImageFeatures;
using bpm_examples::ImageOptions;

namespace {

const bpm::RowMatrix<std::uint8_t>& some_digits() {
  static const bpm::RowMatrix<std::uint8_t> images = bpm_examples::draw_digits(20, 1, 0).images;
  return images;
}

constexpr bpm::ImageShape digit_shape{28, 28};

/// One after the other, as virtual examples are seen.
bpm::RowMatrix<std::uint8_t> one_by_one(ImageFeatures features) {
  const auto& images = some_digits();
  bpm::RowMatrix<std::uint8_t> result(images.rows(), features.size(images.cols()));
  for (Eigen::Index i = 0; i < images.rows(); ++i) {
    features(std::span(images.row(i).data(), static_cast<std::size_t>(images.cols())),
             std::span(result.row(i).data(), static_cast<std::size_t>(result.cols())));
  }
  return result;
}

}  // namespace

TEST_CASE("features of one image are those of many, upright or not", "[examples]") {
  const bool gradient = GENERATE(false, true);
  const bool upright = GENERATE(false, true);
  const ImageFeatures features(ImageOptions{.gradient = gradient, .upright = upright}, digit_shape);
  bpm::RowMatrix<std::uint8_t> expected = some_digits();
  if (upright) expected = bpm::SlantRemoval(digit_shape)(expected);
  if (gradient) expected = bpm::GradientFeatures(digit_shape)(expected);
  CHECK(features.of(some_digits(), 2) == expected);
  CHECK(one_by_one(features) == expected);
  if (upright && !gradient) CHECK(expected != some_digits());
  CHECK(features.size(784) == expected.cols());
}

TEST_CASE("the image of an example is that of its copy", "[examples]") {
  const auto& images = some_digits();
  const ImageOptions elastic{.copies_by = "elastic", .copies = 2};
  const bpm::VirtualExamples examples(digit_shape, images, bpm::Deformation{}, 7);
  std::vector<std::uint8_t> copy(784);
  examples.copy({3, 2}, copy);
  CHECK(bpm_examples::image_of(2 * 20 + 3, elastic, digit_shape, images, 7) == copy);
  examples.copy({3, 0}, copy);
  CHECK(bpm_examples::image_of(3, elastic, digit_shape, images, 7) == copy);
  CHECK(bpm_examples::image_of(3, {}, digit_shape, images, 7) == copy);
}
