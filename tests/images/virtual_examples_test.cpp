// SPDX-License-Identifier: MIT
#include "bpm/images/virtual_examples.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "bpm/images/deformation.hpp"
#include "catch.hpp"
#include "message_of.hpp"
#include "test_images.hpp"

using test_support::message_of;

namespace {

using ByteRows = bpm::RowMatrix<std::uint8_t>;

/// Every pixel plus a word of the key: shows which key a copy was made with.
void add_word(bpm::ImageShape, std::span<const std::uint8_t> image, const bpm::CopyKey& key,
              std::span<std::uint8_t> out) {
  for (std::size_t p = 0; p < image.size(); ++p) {
    out[p] = static_cast<std::uint8_t>(image[p] + key.word(p));
  }
}

}  // namespace

TEST_CASE("copy 0 is the original, and the others are what the transform makes of its key",
          "[images]") {
  const bpm::ImageShape shape{3, 5};
  const ByteRows images = test_support::stroke_images(7, shape, 1);
  const bpm::VirtualExamples examples(shape, images, add_word, 11);
  CHECK(examples.examples() == 7);
  CHECK(examples.seed() == 11);
  CHECK(examples.shape() == shape);
  std::vector<std::uint8_t> out(15);
  std::vector<std::uint8_t> expected(15);
  for (Eigen::Index i = 0; i < 7; ++i) {
    examples.copy({i, 0}, out);
    CHECK(std::equal(out.begin(), out.end(), images.row(i).begin()));
    examples.copy({i, 4}, out);
    const std::vector<std::uint8_t> image(images.row(i).begin(), images.row(i).end());
    add_word(shape, image, {11, static_cast<std::uint64_t>(i), 4}, expected);
    CHECK(out == expected);
  }
}

TEST_CASE("a copy does not depend on what else is asked for, on order or threads", "[images]") {
  const bpm::ImageShape shape{12, 10};
  const ByteRows images = test_support::stroke_images(150, shape, 2);
  const bpm::VirtualExamples examples(shape, images, bpm::Deformation{}, 5);
  ByteRows single(450, 120);
  for (Eigen::Index row = 0; row < 450; ++row) {
    examples.copy({row % 150, static_cast<std::uint64_t>(row / 150)},
                  std::span(single.row(row).data(), 120));
  }
  CHECK(single.topRows(150) == images);
  CHECK(single.middleRows(150, 150) != images);
  CHECK(single.middleRows(150, 150) != single.bottomRows(150));

  for (const unsigned threads : {0U, 1U, 2U, 5U}) {
    ByteRows out(450, 120);
    examples.fill(examples.all(0, 3), out, threads);
    CHECK(out == single);
    ByteRows last(150, 120);
    examples.fill(examples.all(2, 3), last, threads);
    CHECK(last == single.bottomRows(150));
  }

  // Backwards, with repetitions, into rows of a larger matrix.
  std::vector<bpm::CopyOf> list;
  for (Eigen::Index row = 450; row > 0; row -= 4) {
    list.push_back({(row - 1) % 150, static_cast<std::uint64_t>((row - 1) / 150)});
    list.push_back({3, 1});
  }
  ByteRows out = ByteRows::Constant(230, 130, 9);
  examples.fill(list, out.block(2, 4, std::ssize(list), 120), 3);
  for (std::size_t row = 0; row < list.size(); ++row) {
    const Eigen::Index at = static_cast<Eigen::Index>(list[row].copy) * 150 + list[row].example;
    CHECK(out.block(static_cast<Eigen::Index>(row) + 2, 4, 1, 120) == single.row(at));
  }
  ByteRows around = out;
  around.block(2, 4, std::ssize(list), 120).setConstant(9);
  CHECK((around.array() == 9).all());
}

TEST_CASE("another seed gives other copies, the same originals", "[images]") {
  const bpm::ImageShape shape{12, 10};
  const ByteRows images = test_support::stroke_images(5, shape, 2);
  ByteRows one(10, 120);
  ByteRows other(10, 120);
  const bpm::VirtualExamples first(shape, images, bpm::Deformation{}, 1);
  const bpm::VirtualExamples second(shape, images, bpm::Deformation{}, 2);
  first.fill(first.all(0, 2), one);
  second.fill(second.all(0, 2), other);
  CHECK(one.topRows(5) == other.topRows(5));
  for (Eigen::Index i = 5; i < 10; ++i) CHECK(one.row(i) != other.row(i));
}

TEST_CASE("examples may be rows of a larger matrix", "[images]") {
  const bpm::ImageShape shape{6, 6};
  const ByteRows large = test_support::stroke_images(10, {6, 7}, 3);
  const ByteRows images = large.block(2, 3, 4, 36);
  const bpm::VirtualExamples inside(shape, large.block(2, 3, 4, 36), bpm::Deformation{});
  const bpm::VirtualExamples alone(shape, images, bpm::Deformation{});
  ByteRows one(12, 36);
  ByteRows other(12, 36);
  inside.fill(inside.all(0, 3), one);
  alone.fill(alone.all(0, 3), other);
  CHECK(one == other);
}

TEST_CASE("features take the place of the images", "[images]") {
  const bpm::ImageShape shape{8, 9};
  const ByteRows images = test_support::stroke_images(100, shape, 4);
  const bpm::VirtualExamples examples(shape, images, bpm::Deformation{});
  ByteRows copies(300, 72);
  examples.fill(examples.all(0, 3), copies);
  // Brightest pixel and inked pixels; the memory must not be that of another thread.
  const auto features = [memory = std::vector<std::uint8_t>()](
                            std::span<const std::uint8_t> image,
                            std::span<std::uint8_t> out) mutable {
    memory.assign(image.begin(), image.end());
    std::sort(memory.begin(), memory.end());
    out[0] = memory.back();
    out[1] = static_cast<std::uint8_t>(
        memory.end() - std::upper_bound(memory.begin(), memory.end(), std::uint8_t{0}));
  };
  for (const unsigned threads : {1U, 2U, 4U}) {
    ByteRows out(300, 2);
    examples.fill(examples.all(0, 3), features, out, threads);
    for (Eigen::Index row = 0; row < 300; ++row) {
      CHECK(out(row, 0) == copies.row(row).maxCoeff());
      CHECK(out(row, 1) == (copies.row(row).array() > 0).count());
    }
  }
}

TEST_CASE("a list of nothing fills nothing", "[images]") {
  const ByteRows images = test_support::stroke_images(3, {4, 4}, 4);
  const bpm::VirtualExamples examples({4, 4}, images, bpm::Deformation{});
  ByteRows out(0, 16);
  examples.fill(examples.all(2, 2), out);
  const ByteRows none(0, 16);
  const bpm::VirtualExamples empty({4, 4}, none, bpm::Deformation{});
  empty.fill(empty.all(0, 9), out);
  CHECK(out.rows() == 0);
}

TEST_CASE("a matrix that would be gone is refused when compiled", "[images]") {
  using View = bpm::VirtualExamples<bpm::Shifts>;
  STATIC_REQUIRE(std::is_constructible_v<View, bpm::ImageShape, const ByteRows&, bpm::Shifts>);
  STATIC_REQUIRE(!std::is_constructible_v<View, bpm::ImageShape, ByteRows&&, bpm::Shifts>);
}

TEST_CASE("virtual examples say what is wrong", "[images]") {
  const ByteRows images = ByteRows::Ones(3, 12);
  const auto with_shape = [&](bpm::ImageShape shape) {
    return message_of([&] { bpm::VirtualExamples(shape, images, bpm::Shifts{}); });
  };
  CHECK(with_shape({0, 12}) ==
        "VirtualExamples: shape is 0 x 12, must be 1 to 4096 rows and columns");
  CHECK(with_shape({4097, 1}) ==
        "VirtualExamples: shape is 4097 x 1, must be 1 to 4096 rows and columns");
  CHECK(with_shape({4, 4}) == "VirtualExamples: images has 12 bytes a row, expected 16 (4 x 4)");

  const bpm::VirtualExamples examples({3, 4}, images, bpm::Shifts{});
  CHECK(message_of([&] { (void)examples.all(3, 2); }) ==
        "VirtualExamples::all: first is 3, must not be above last, which is 2");
  std::vector<std::uint8_t> short_out(11);
  std::vector<std::uint8_t> image(12);
  CHECK(message_of([&] {
          examples.copy({0, 1}, short_out);
        }) == "VirtualExamples::copy: out has 11 entries, expected 12 (one per pixel)");
  CHECK(message_of([&] {
          examples.copy({3, 1}, image);
        }) == "VirtualExamples::copy: example is 3, there are 3");
  CHECK(message_of([&] {
          examples.copy({-1, 1}, image);
        }) == "VirtualExamples::copy: example is -1, there are 3");
  ByteRows out(5, 12);
  CHECK(message_of([&] { examples.fill(examples.all(0, 2), out); }) ==
        "VirtualExamples::fill: out has 5 rows, expected 6 (one per copy)");
  CHECK(message_of([&] {
          examples.fill(std::vector<bpm::CopyOf>(5, {4, 0}), out);
        }) == "VirtualExamples::fill: example is 4, there are 3");
  CHECK(message_of([&] { examples.fill(examples.all(0, 2), out, 5000); }) ==
        "VirtualExamples::fill: threads is 5000, must be from 1 to 4096, or 0 for as many as "
        "there are");
  ByteRows narrow(6, 11);
  CHECK(message_of([&] { examples.fill(examples.all(0, 2), narrow); }) ==
        "VirtualExamples::fill: out has 11 columns, expected 12 (one per pixel)");
  // Features may have any number of columns.
  const auto nothing = [](std::span<const std::uint8_t>, std::span<std::uint8_t>) {};
  CHECK(message_of([&] { examples.fill(examples.all(0, 3), nothing, narrow); }) ==
        "VirtualExamples::fill: out has 6 rows, expected 9 (one per copy)");
  CHECK_NOTHROW(examples.fill(examples.all(0, 2), nothing, narrow));
}
