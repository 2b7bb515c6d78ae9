// SPDX-License-Identifier: MIT
#include "bpm/kernel_values/on_demand_gram.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "catch.hpp"

using Rows = bpm::detail::KeptRows<float>;
using Borrowed = bpm::detail::BorrowedRow<float>;

namespace {

constexpr std::ptrdiff_t row_length = 16;

enum class Visit { known, written, neither, wrong };

/// Borrows the row of a point and fills it, if it is to be written, with the point's number.
Visit visit(Rows& rows, bpm::PointIndex point, bool fill = true) {
  Borrowed row(&rows, point);
  if (row.read() != nullptr) {
    return std::all_of(row.read(), row.read() + row_length,
                       [&](float value) { return value == static_cast<float>(point); })
               ? Visit::known
               : Visit::wrong;
  }
  if (row.write() == nullptr) return Visit::neither;
  std::fill_n(row.write(), row_length, static_cast<float>(point));
  if (fill) row.set_filled();
  return Visit::written;
}

}  // namespace

TEST_CASE("rows are written by who borrows them first, and then known", "[gram]") {
  Rows rows(row_length, 3 * Rows::row_bytes(row_length));
  CHECK(rows.capacity() == 3);
  CHECK(rows.kept() == 0);
  CHECK(visit(rows, 4) == Visit::written);
  CHECK(visit(rows, 9) == Visit::written);
  CHECK(visit(rows, 9) == Visit::known);
  CHECK(visit(rows, 1) == Visit::written);
  CHECK(visit(rows, 4) == Visit::known);
  CHECK(rows.kept() == 3);
}

TEST_CASE("while one fills a row nobody else reads or writes it", "[gram]") {
  Rows rows(row_length, row_length * Rows::row_bytes(row_length));
  {
    Borrowed filling(&rows, 5);
    REQUIRE(filling.write() != nullptr);
    CHECK(visit(rows, 5) == Visit::neither);
    std::fill_n(filling.write(), row_length, 5.0F);
    filling.set_filled();
  }
  CHECK(visit(rows, 5) == Visit::known);
}

TEST_CASE("what was not filled is forgotten", "[gram]") {
  Rows rows(row_length, Rows::row_bytes(row_length));
  CHECK(visit(rows, 5, false) == Visit::written);
  CHECK(visit(rows, 5) == Visit::written);
  CHECK(visit(rows, 5) == Visit::known);
}

TEST_CASE("where not all fit, the rows asked for most often stay", "[gram]") {
  Rows rows(row_length, 2 * Rows::row_bytes(row_length));
  for (int repeat = 0; repeat < 3; ++repeat) {
    CHECK(visit(rows, 1) != Visit::neither);
    CHECK(visit(rows, 2) != Visit::neither);
  }
  // As often as another is not more often.
  for (int repeat = 0; repeat < 3; ++repeat) CHECK(visit(rows, 7) == Visit::neither);
  CHECK(visit(rows, 7) == Visit::written);
  CHECK(visit(rows, 7) == Visit::known);
  CHECK(rows.kept() == 2);
  // One of the two had to go; the other is there.
  const bool one = visit(rows, 1) == Visit::known;
  const bool two = visit(rows, 2) == Visit::known;
  CHECK(one != two);
}

TEST_CASE("a borrowed row stays where it is", "[gram]") {
  Rows rows(row_length, Rows::row_bytes(row_length));
  CHECK(visit(rows, 3) == Visit::written);
  const Borrowed held(&rows, 3);
  REQUIRE(held.read() != nullptr);
  for (int repeat = 0; repeat < 9; ++repeat) CHECK(visit(rows, 8) == Visit::neither);
  CHECK(held.read()[0] == 3);
}

TEST_CASE("as many rows as the bytes hold, at most all", "[gram]") {
  CHECK(Rows::row_bytes(100) == 400);
  CHECK(bpm::detail::KeptRows<double>::row_bytes(100) == 800);
  CHECK(Rows(100, 0).capacity() == 0);
  CHECK(Rows(100, 399).capacity() == 0);
  CHECK(Rows(100, 400).capacity() == 1);
  CHECK(Rows(100, 799).capacity() == 1);
  CHECK(Rows(100, 40000).capacity() == 100);
  CHECK(Rows(100, std::size_t{1} << 40U).capacity() == 100);
  CHECK(Rows(0, 1000).capacity() == 0);
}

TEST_CASE("without room, or without rows at all, nothing is written or known", "[gram]") {
  Rows rows(row_length, 0);
  CHECK(visit(rows, 7) == Visit::neither);
  const Borrowed nowhere(nullptr, 7);
  CHECK(nowhere.read() == nullptr);
  CHECK(nowhere.write() == nullptr);
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
        for (int step = 0; step < 2000; ++step) {
          const auto point = static_cast<bpm::PointIndex>((step * 7 + 13 * worker) % points);
          Borrowed row(&rows, point);
          if (row.read() != nullptr) {
            ++found;
            for (int j = 0; j < points; ++j) {
              wrong += row.read()[j] != static_cast<float>(point + 1) ? 1 : 0;
            }
          } else if (row.write() != nullptr) {
            std::fill_n(row.write(), points, static_cast<float>(point + 1));
            row.set_filled();
          }
        }
      });
    }
  }
  CHECK(wrong == 0);
  CHECK(found > 0);
  CHECK(rows.kept() == 60);
}
