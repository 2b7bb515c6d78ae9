// SPDX-License-Identifier: MIT
#include "bpm/images/virtual_examples.hpp"

#include <cstdint>
#include <cstdlib>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "message_of.hpp"

using test_support::message_of;

namespace {

std::vector<std::uint8_t> shifted(bpm::ImageShape shape, const std::vector<std::uint8_t>& image,
                                  std::uint64_t copy) {
  std::vector<std::uint8_t> out(image.size(), 77);
  bpm::Shifts{}(shape, image, {.seed = 1, .example = 0, .copy = copy}, out);
  return out;
}

}  // namespace

TEST_CASE("the first shifts are those by one pixel", "[images]") {
  const bpm::ImageShape shape{2, 3};
  const std::vector<std::uint8_t> image{1, 2, 3,  //
                                        4, 5, 6};
  using Image = std::vector<std::uint8_t>;
  CHECK(shifted(shape, image, 0) == image);
  CHECK(shifted(shape, image, 1) == Image{0, 1, 2, 0, 4, 5});
  CHECK(shifted(shape, image, 2) == Image{2, 3, 0, 5, 6, 0});
  CHECK(shifted(shape, image, 3) == Image{0, 0, 0, 1, 2, 3});
  CHECK(shifted(shape, image, 4) == Image{4, 5, 6, 0, 0, 0});
  CHECK(shifted(shape, image, 5) == Image{0, 0, 0, 0, 1, 2});
  CHECK(shifted(shape, image, 8) == Image{5, 6, 0, 0, 0, 0});
  CHECK(shifted(shape, image, 11) == Image(6, 0));  // Two pixels down: nothing is left.
}

TEST_CASE("24 shifts fill the square of two pixels, the nearest first", "[images]") {
  const bpm::ImageShape shape{7, 9};
  std::vector<std::uint8_t> image(63, 0);
  image[3 * 9 + 4] = 200;
  std::set<std::pair<int, int>> places;
  int last = 0;
  for (std::uint64_t copy = 0; copy <= 24; ++copy) {
    const std::vector<std::uint8_t> out = shifted(shape, image, copy);
    int ink = 0;
    for (int at = 0; at < 63; ++at) {
      if (out[static_cast<std::size_t>(at)] != 0) {
        ++ink;
        const std::pair<int, int> offset{at / 9 - 3, at % 9 - 4};
        places.insert(offset);
        const int square = offset.first * offset.first + offset.second * offset.second;
        CHECK(square >= last);
        CHECK((std::abs(offset.first) <= 2 && std::abs(offset.second) <= 2));
        last = square;
      }
    }
    CHECK(ink == 1);
  }
  CHECK(places.size() == 25);
}

TEST_CASE("there is no shift 25", "[images]") {
  CHECK(message_of([] {
          shifted({1, 1}, {1}, 25);
        }) == "Shifts: copy is 25, there are those from 0 to 24");
  // From a thread it comes as it is.
  const bpm::RowMatrix<std::uint8_t> images = bpm::RowMatrix<std::uint8_t>::Ones(200, 4);
  const bpm::VirtualExamples examples({2, 2}, images, bpm::Shifts{});
  bpm::RowMatrix<std::uint8_t> out(200, 4);
  CHECK(message_of([&] { examples.fill(examples.all(25, 26), out, 2); }) ==
        "Shifts: copy is 25, there are those from 0 to 24");
}
