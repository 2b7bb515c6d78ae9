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

/// Every problem of every draw is in exactly one task.
void check_cover(const std::vector<bpm::detail::PieceTask>& tasks, std::uint64_t begin,
                 std::uint64_t end, std::size_t problems) {
  std::vector<int> times((end - begin) * problems, 0);
  for (const auto& task : tasks) {
    for (std::size_t c = 0; c < task.piece.count; ++c) {
      ++times.at((task.piece.number - begin) * problems + task.piece.first + c);
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

TEST_CASE("draws are planned whole unless there are more workers, around what is stored") {
  using bpm::detail::plan_pieces;
  auto tasks = plan_pieces(5, 9, 10, {}, 4);
  REQUIRE(tasks.size() == 4);
  CHECK(tasks[3].piece == DrawPiece{8, 0, 10});
  check_cover(tasks, 5, 9, 10);

  tasks = plan_pieces(0, 2, 10, {}, 7);  // Four workers for draw 0, three for draw 1.
  REQUIRE(tasks.size() == 7);
  check_cover(tasks, 0, 2, 10);
  CHECK(tasks[0].piece == DrawPiece{0, 0, 2});

  tasks = plan_pieces(0, 1, 3, {}, 100);  // No more than the problems.
  CHECK(tasks.size() == 3);
  check_cover(tasks, 0, 1, 3);

  // Stored: draw 1 whole, a part of draw 2 twice, something of draw 9, which nobody wants.
  const std::vector<DrawPiece> stored{{1, 0, 10}, {2, 3, 4}, {2, 5, 5}, {9, 0, 10}};
  tasks = plan_pieces(0, 4, 10, stored, 2);
  check_cover(tasks, 0, 4, 10);
  std::size_t old = 0;
  for (const auto& task : tasks) old += task.stored ? 1U : 0U;
  CHECK(old == 2);
  CHECK(tasks[1].stored);
  CHECK(tasks[2].piece == DrawPiece{2, 0, 3});
  CHECK(tasks[3].piece == DrawPiece{2, 3, 4});
  CHECK(tasks[3].stored);

  CHECK(plan_pieces(1, 2, 10, stored, 8).size() == 1);  // All there: nothing to share out.
  const std::vector<DrawPiece> nonsense{{0, 8, 9}, {0, 2, 0}};
  check_cover(plan_pieces(0, 1, 10, nonsense, 1), 0, 1, 10);
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
