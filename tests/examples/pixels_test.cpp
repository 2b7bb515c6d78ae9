// SPDX-License-Identifier: MIT
#include <cmath>
#include <type_traits>

#include "bpm/data/source.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "common/pixels.hpp"

using bpm_examples::scale_pixels;

TEST_CASE("pixels become fractions of 255 or images of norm 1", "[examples]") {
  bpm::RowMatrix<std::uint8_t> images(5, 4);
  images << 0, 1, 128, 255, 3, 4, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 1, 0, 0, 0;
  const int threads = GENERATE(1, 2, 3, 8);
  const auto plain = scale_pixels(images, false, threads);
  REQUIRE(plain.rows() == 5);
  REQUIRE(plain.cols() == 4);
  CHECK(plain(0, 0) == 0);
  CHECK(plain(0, 1) == 1.0F / 255);
  CHECK(plain(0, 2) == 128.0F / 255);
  CHECK(plain(0, 3) == 1);
  CHECK(plain(4, 0) == 1.0F / 255);

  const auto unit = scale_pixels(images, true, threads);
  CHECK(unit(1, 0) == 3.0F / 5);
  CHECK(unit(1, 1) == 4.0F / 5);
  CHECK(unit.row(2).isZero(0));  // A black image has no direction.
  CHECK(unit(3, 0) == 0.5F);
  CHECK(unit(4, 0) == 1);
  CHECK(std::abs(unit.row(0).norm() - 1) < 1e-6F);
}

TEST_CASE("kernels of pixels agree with kernels of scaled images", "[examples]") {
  bpm::RowMatrix<std::uint8_t> images(4, 8);
  images << 0, 1, 128, 255, 9, 0, 0, 7, 3, 4, 0, 0, 200, 100, 50, 25, 0, 0, 0, 0, 0, 0, 0, 0, 255,
      255, 255, 255, 255, 255, 255, 255;
  const bool unit = GENERATE(false, true);
  const auto scaled = scale_pixels(images, unit, 1);
  const auto check = [&](const auto& kernel) {
    const bpm_examples::PixelKernel<std::remove_cvref_t<decltype(kernel)>> pixels{kernel, unit};
    const Eigen::MatrixXd expected = bpm::kernel_matrix(kernel, scaled);
    const Eigen::MatrixXd found = bpm::kernel_matrix(pixels, images);
    CHECK((found - expected).cwiseAbs().maxCoeff() <= 1e-5 * expected.cwiseAbs().maxCoeff());
  };
  check(bpm::Polynomial(5));
  check(bpm::Gaussian::from_width(2));
  check(bpm::Linear());
}
