// SPDX-License-Identifier: MIT
#include "bpm/images/image_shape.hpp"

#include <Eigen/Core>
#include <cstdint>
#include <cstdlib>

#include "bpm/core/random.hpp"
#include "catch.hpp"

namespace {

using Pixels = bpm::RowMatrix<std::uint8_t>;

/// A bar three pixels wide that moves by slope / 256 pixel a row, its sides drawn by shares.
Pixels slanted_bar(int slope) {
  Pixels image = Pixels::Zero(1, 41 * 41);
  for (int y = 8; y <= 32; ++y) {
    for (int x = 0; x < 41; ++x) {
      const int beside = std::abs(256 * (x - 20) - slope * (y - 20));  // Of the middle.
      const int inside = 384 + 128 - beside;                           // Of 256 a pixel.
      image(0, y * 41 + x) = static_cast<std::uint8_t>(inside <= 0     ? 0
                                                       : inside >= 256 ? 255
                                                                       : inside * 255 / 256);
    }
  }
  return image;
}

Pixels noise_images(Eigen::Index count, Eigen::Index size) {
  Pixels images(count, size);
  bpm::RandomEngine engine(4, 0);
  for (Eigen::Index p = 0; p < images.size(); ++p) {
    images.data()[p] = static_cast<std::uint8_t>(bpm::uniform_below(engine, 256));
  }
  return images;
}

}  // namespace

TEST_CASE("the slant of a bar is found and removed", "[images]") {
  const bpm::SlantRemoval upright({41, 41});
  for (const int slope : {-200, -90, -1, 0, 30, 128, 240}) {
    INFO("slope " << slope);
    const Pixels bar = slanted_bar(slope);
    CHECK(std::abs(upright.shear(bar.data()) - slope) <= 1);
    const Pixels removed = upright(bar, 1);
    CHECK(std::abs(upright.shear(removed.data())) <= 1);
    // Within the blur of reading between pixels it is the bar that never slanted.
    const Pixels straight = slanted_bar(0);
    int misplaced = 0;
    for (Eigen::Index y = 8; y <= 32; ++y) {
      for (Eigen::Index x = 0; x < 41; ++x) {
        const bool core = x == 20;
        const bool outside = x < 17 || x > 23;
        const int value = removed(0, y * 41 + x);
        misplaced += (core && value != 255) || (outside && value != 0) ? 1 : 0;
      }
    }
    CHECK(misplaced == 0);
    if (slope == 0) CHECK(removed == straight);
  }
}

TEST_CASE("the shear of small images is what their moments say", "[images]") {
  const bpm::SlantRemoval three({3, 3});
  Pixels diagonal = Pixels::Zero(1, 9);
  diagonal(0, 0) = diagonal(0, 4) = diagonal(0, 8) = 90;
  CHECK(three.shear(diagonal.data()) == 256);
  Pixels column = Pixels::Zero(1, 9);
  column(0, 1) = column(0, 4) = column(0, 7) = 90;
  CHECK(three(diagonal, 1) == column);

  // v = 1, 2, 1 at (0, 0), (1, 1), (1, 2): the centre of mass is (3/4, 1), the moments are
  // 3/4 + 1/4 = 1 and 1 + 1 = 2.
  Pixels three_points = Pixels::Zero(1, 9);
  three_points(0, 0) = 1;
  three_points(0, 4) = 2;
  three_points(0, 7) = 1;
  CHECK(three.shear(three_points.data()) == 128);

  // The rows above and below are read half a pixel away: half of 1 is rounded up.
  Pixels halves = Pixels::Zero(1, 9);
  halves.leftCols(2).setOnes();
  halves(0, 4) = 2;
  halves.rightCols(3).leftCols(2).setOnes();
  CHECK(three(three_points, 1) == halves);

  // Moments of 1 and 6: 42.67 of 256, nearest to 43.
  Pixels sixth = Pixels::Zero(1, 9);
  sixth(0, 0) = 3;
  sixth(0, 6) = 2;
  sixth(0, 7) = 1;
  CHECK(three.shear(sixth.data()) == 43);
  Pixels other_way = Pixels::Zero(1, 9);
  other_way(0, 2) = 3;
  other_way(0, 8) = 2;
  other_way(0, 7) = 1;
  CHECK(three.shear(other_way.data()) == -43);

  // Two pixels to the side a row: a shear of 2, of which 1 is removed.
  Pixels flat = Pixels::Zero(1, 15);
  flat(0, 0) = flat(0, 7) = flat(0, 14) = 10;
  CHECK(bpm::SlantRemoval({3, 5}).shear(flat.data()) == 256);
  Pixels mirrored = Pixels::Zero(1, 15);
  mirrored(0, 4) = mirrored(0, 7) = mirrored(0, 10) = 10;
  CHECK(bpm::SlantRemoval({3, 5}).shear(mirrored.data()) == -256);
}

TEST_CASE("images without slant stay as they are", "[images]") {
  const bpm::SlantRemoval upright({4, 6});
  CHECK(upright(Pixels::Zero(2, 24), 1) == Pixels::Zero(2, 24));
  Pixels row = Pixels::Zero(1, 24);
  row.middleCols(7, 4).setConstant(200);
  CHECK(upright.shear(row.data()) == 0);
  CHECK(upright(row, 1) == row);
  CHECK(upright(Pixels(0, 24)).rows() == 0);
}

TEST_CASE("the moments of the largest images fit their integers", "[images]") {
  const bpm::SlantRemoval large({4096, 4096});
  Pixels white = Pixels::Constant(1, 4096 * 4096, 255);
  CHECK(large.shear(white.data()) == 0);
  // Two quarters on the diagonal: their moments are 1024^2 and 4096^2 / 12, 3/4 of a pixel a row.
  for (Eigen::Index y = 0; y < 2048; ++y) {
    white.row(0).segment(y * 4096 + 2048, 2048).setZero();
    white.row(0).segment((y + 2048) * 4096, 2048).setZero();
  }
  CHECK(large.shear(white.data()) == 192);
}

TEST_CASE("slant removal is the same mirrored and on any number of threads", "[images]") {
  const bpm::SlantRemoval upright({9, 14});
  const Pixels images = noise_images(150, 126);
  const Pixels all = upright(images, 1);
  CHECK(upright(images, 2) == all);
  CHECK(upright(images, 3) == all);
  CHECK(upright(images) == all);
  CHECK(all != images);
  const auto turned = [](const Pixels& from) {  // Half a turn keeps a slant.
    Pixels to = from;
    for (Eigen::Index i = 0; i < to.rows(); ++i) to.row(i).reverseInPlace();
    return to;
  };
  for (Eigen::Index i = 0; i < images.rows(); ++i) {
    const Pixels back = turned(images.row(i));
    CHECK(upright.shear(back.data()) == upright.shear(images.row(i).data()));
  }
  CHECK(upright.image().size() == 126);
  CHECK(upright == bpm::SlantRemoval({9, 14}));
  CHECK(upright != bpm::SlantRemoval({14, 9}));
}

TEST_CASE("slant removal says what is wrong with its images", "[images]") {
  CHECK_THROWS_WITH(bpm::SlantRemoval({3, 0}),
                    "SlantRemoval: shape is 3 x 0, must be 1 to 4096 rows and columns");
  const bpm::SlantRemoval upright({2, 3});
  CHECK_THROWS_WITH(upright(Pixels(1, 5)),
                    "SlantRemoval: images has 5 bytes a row, expected 6 (2 x 3)");
  CHECK_THROWS_WITH(upright(Pixels(1, 6), 4097),
                    "SlantRemoval: threads is 4097, must be from 1 to 4096, or 0 for as many as "
                    "there are");
}
