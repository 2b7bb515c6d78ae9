// SPDX-License-Identifier: MIT
#include "bpm/kernel_values/kept_rows.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "catch.hpp"

using Rows = bpm::detail::KeptRows<float>;
using Borrowed = bpm::detail::BorrowedRows<float>;
using Points = std::vector<bpm::PointIndex>;

namespace {

constexpr std::ptrdiff_t length = 16;

/// Borrows the rows of points and fills those that are to be written with the point's number.
/// Which were known, and which were to be written.
struct Visit {
  Points known;
  Points written;

  Visit(Rows& rows, const Points& points, bool fill = true) {
    std::vector<Rows::Row> memory;
    Borrowed borrowed(&rows, points, memory);
    for (std::size_t k = 0; k < points.size(); ++k) {
      if (borrowed[k].read != nullptr) {
        known.push_back(points[k]);
        right = right && std::all_of(borrowed[k].read, borrowed[k].read + length, [&](float value) {
                  return value == static_cast<float>(points[k]);
                });
      } else if (borrowed[k].write != nullptr) {
        written.push_back(points[k]);
        std::fill_n(borrowed[k].write, length, static_cast<float>(points[k]));
      }
    }
    if (fill) borrowed.set_filled();
  }
  bool right = true;  ///< What was known was the point's.
};

}  // namespace

TEST_CASE("rows are written by who borrows them first, and then known", "[gram]") {
  Rows rows(length, 3 * Rows::row_bytes(length));
  CHECK(rows.capacity() == 3);
  CHECK(rows.kept() == 0);
  const Visit first(rows, {4, 9});
  CHECK(first.known.empty());
  CHECK(first.written == Points{4, 9});
  const Visit second(rows, {9, 1, 4});
  CHECK(second.known == Points{9, 4});
  CHECK(second.written == Points{1});
  CHECK(second.right);
  CHECK(rows.kept() == 3);
  CHECK(rows.borrowed() == 5);
  CHECK(rows.found() == 2);
}

TEST_CASE("while one fills a row nobody else reads or writes it", "[gram]") {
  Rows rows(length, length * Rows::row_bytes(length));
  std::vector<Rows::Row> memory;
  {
    Borrowed filling(&rows, Points{5}, memory);
    REQUIRE(filling[0].write != nullptr);
    const Visit other(rows, {5});
    CHECK(other.known.empty());
    CHECK(other.written.empty());
    std::fill_n(filling[0].write, length, 5.0F);
    filling.set_filled();
  }
  CHECK(Visit(rows, {5}).known == Points{5});
}

TEST_CASE("what was not filled is forgotten", "[gram]") {
  Rows rows(length, Rows::row_bytes(length));
  CHECK(Visit(rows, {5}, false).written == Points{5});
  const Visit again(rows, {5});
  CHECK(again.known.empty());
  CHECK(again.written == Points{5});
  CHECK(Visit(rows, {5}).known == Points{5});
}

TEST_CASE("where not all fit, the rows asked for most often stay", "[gram]") {
  Rows rows(length, 2 * Rows::row_bytes(length));
  for (int repeat = 0; repeat < 3; ++repeat) Visit(rows, {1, 2});
  // As often as another is not more often.
  for (int repeat = 0; repeat < 3; ++repeat) CHECK(Visit(rows, {7}).written.empty());
  CHECK(Visit(rows, {7}).written == Points{7});
  CHECK(Visit(rows, {7}).known == Points{7});
  // One of the two had to go; the other is there.
  CHECK(Visit(rows, {1}).known.size() + Visit(rows, {2}).known.size() == 1);
  CHECK(rows.kept() == 2);
}

TEST_CASE("rows may be kept only when they are asked for again", "[gram]") {
  Rows rows(length, 3 * Rows::row_bytes(length), 2);
  CHECK(Visit(rows, {4}).written.empty());
  CHECK(rows.kept() == 0);
  CHECK(Visit(rows, {4}).written == Points{4});
  CHECK(Visit(rows, {4}).known == Points{4});
}

TEST_CASE("a borrowed row stays where it is", "[gram]") {
  Rows rows(length, Rows::row_bytes(length));
  Visit(rows, {3});
  std::vector<Rows::Row> memory;
  const Borrowed held(&rows, Points{3}, memory);
  REQUIRE(held[0].read != nullptr);
  for (int repeat = 0; repeat < 9; ++repeat) CHECK(Visit(rows, {8}).written.empty());
  CHECK(held[0].read[0] == 3);
}

TEST_CASE("as many rows as the bytes hold, at most all", "[gram]") {
  // Whole cache lines.
  CHECK(Rows::row_bytes(16) == 64);
  CHECK(Rows::row_bytes(17) == 128);
  CHECK(bpm::detail::KeptRows<double>::row_bytes(16) == 128);
  CHECK(Rows(100, 0).capacity() == 0);
  CHECK(Rows(100, 447).capacity() == 0);
  CHECK(Rows(100, 448).capacity() == 1);
  CHECK(Rows(100, 895).capacity() == 1);
  CHECK(Rows(100, 60000).capacity() == 100);
  CHECK(Rows(0, 1000).capacity() == 0);
}

TEST_CASE("without room, or without rows at all, nothing is written or known", "[gram]") {
  Rows rows(length, 0);
  const Visit none(rows, {7, 8});
  CHECK(none.known.empty());
  CHECK(none.written.empty());
  std::vector<Rows::Row> memory;
  const Borrowed nowhere(nullptr, Points{7, 8}, memory);
  CHECK(nowhere[0].read == nullptr);
  CHECK(nowhere[1].write == nullptr);
}

TEST_CASE("of several threads all read what was written for the point", "[gram]") {
  constexpr bpm::PointIndex points = 200;
  Rows rows(points, 60 * Rows::row_bytes(points));
  std::atomic<int> wrong{0};
  std::atomic<int> found{0};
  {
    std::vector<std::jthread> workers;
    for (int worker = 0; worker < 4; ++worker) {
      workers.emplace_back([&, worker] {
        std::vector<Rows::Row> memory;
        for (int step = 0; step < 2000; ++step) {
          const Points asked{static_cast<bpm::PointIndex>((step * 7 + 13 * worker) % points),
                             static_cast<bpm::PointIndex>((step * 7 + 13 * worker + 1) % points)};
          Borrowed borrowed(&rows, asked, memory);
          for (std::size_t k = 0; k < asked.size(); ++k) {
            if (borrowed[k].read != nullptr) {
              ++found;
              for (int j = 0; j < points; ++j) {
                wrong += borrowed[k].read[j] != static_cast<float>(asked[k] + 1) ? 1 : 0;
              }
            } else if (borrowed[k].write != nullptr) {
              std::fill_n(borrowed[k].write, points, static_cast<float>(asked[k] + 1));
            }
          }
          borrowed.set_filled();
        }
      });
    }
  }
  CHECK(wrong == 0);
  CHECK(found > 0);
  CHECK(rows.kept() == 60);
}
