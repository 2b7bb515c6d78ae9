// SPDX-License-Identifier: MIT
#include "bpm/images/gradient_features.hpp"

#include <cstdint>

#include "catch.hpp"

TEST_CASE("an empty image has features of zero", "[images]") {
  const bpm::GradientFeatures features({5, 6}, {.grids = {{2, 3}}});
  const bpm::RowMatrix<std::uint8_t> images = bpm::RowMatrix<std::uint8_t>::Constant(3, 30, 77);
  CHECK(features(images) == bpm::RowMatrix<std::uint8_t>::Zero(3, 48));
}
