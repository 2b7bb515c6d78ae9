// SPDX-License-Identifier: MIT
#include "bpm/samplers/perceptron/draw_pieces.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bpm/kernel_values/gram.hpp"
#include "bpm/version_space/version_space.hpp"
#include "catch.hpp"
#include "message_of.hpp"

namespace {

using bpm::detail::DrawPiece;

/// Every problem of every draw is in exactly one piece.
void check_cover(const std::vector<DrawPiece>& pieces, std::uint64_t begin, std::uint64_t end,
                 std::size_t problems) {
  std::vector<int> times((end - begin) * problems, 0);
  for (const DrawPiece& piece : pieces) {
    for (std::size_t c = 0; c < piece.count; ++c) {
      ++times.at((piece.number - begin) * problems + piece.first + c);
    }
  }
  for (const int count : times) CHECK(count == 1);
}

/// A version space of a user's own, which may have any number of points.
struct Sized : bpm::KernelVersionSpace<double> {
  Sized(const bpm::detail::Gram<double>& gram, std::ptrdiff_t count)
      : KernelVersionSpace(gram, {1, -1}), points(count) {}
  [[nodiscard]] std::ptrdiff_t size() const noexcept { return points; }
  std::ptrdiff_t points;
};

}  // namespace

TEST_CASE("draws are planned whole unless there are more workers") {
  using bpm::detail::plan_pieces;
  auto pieces = plan_pieces(5, 9, 10, 4);
  REQUIRE(pieces.size() == 4);
  CHECK(pieces[3] == DrawPiece{8, 0, 10});
  check_cover(pieces, 5, 9, 10);
  CHECK(plan_pieces(5, 9, 10, 1) == pieces);

  pieces = plan_pieces(0, 2, 10, 7);  // Four workers for draw 0, three for draw 1.
  REQUIRE(pieces.size() == 7);
  check_cover(pieces, 0, 2, 10);
  CHECK(pieces[0] == DrawPiece{0, 0, 2});
  CHECK(pieces[4] == DrawPiece{1, 0, 3});

  pieces = plan_pieces(0, 1, 3, 100);  // No more than the problems.
  CHECK(pieces.size() == 3);
  check_cover(pieces, 0, 1, 3);
}

TEST_CASE("problems have points, all of them the same number") {
  const bpm::RowMatrix<double> values = bpm::RowMatrix<double>::Identity(2, 2);
  const bpm::PrecomputedGram<double> gram(values);
  const auto refusal = [&](const std::vector<std::ptrdiff_t>& sizes) {
    std::vector<Sized> spaces;
    for (const std::ptrdiff_t size : sizes) spaces.emplace_back(gram, size);
    return test_support::message_of(
        [&] { bpm::detail::check_spaces(std::span<const Sized>(spaces), "f"); });
  };
  CHECK(refusal({2, 2}) == "nothing was thrown");
  CHECK(refusal({}) == "f: spaces is empty, expected a problem");
  CHECK(refusal({0}) == "f: spaces have no points");
  CHECK(refusal({2, 1}) == "f: spaces has 1 entries, expected 2 (as the first problem has)");
}
