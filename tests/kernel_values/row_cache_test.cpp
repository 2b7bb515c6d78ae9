// SPDX-License-Identifier: MIT
#include "bpm/kernel_values/row_cache.hpp"

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "catch.hpp"

using Rows = bpm::detail::RowCache<float>;

namespace {

constexpr std::size_t row_bytes(std::ptrdiff_t m) { return static_cast<std::size_t>(m) * 4; }

void fill(float* row, std::ptrdiff_t m, float value) {
  for (std::ptrdiff_t j = 0; j < m; ++j) row[j] = value;
}

}  // namespace

TEST_CASE("rows are claimed once, found when published", "[gram]") {
  Rows rows(10, 3 * row_bytes(10));
  CHECK(rows.capacity() == 3);
  CHECK(rows.kept() == 0);
  CHECK(rows.find(4) == nullptr);
  float* const four = rows.claim(4);
  REQUIRE(four != nullptr);
  CHECK(rows.kept() == 1);
  CHECK(rows.claim(4) == nullptr);  // Somebody fills it.
  CHECK(rows.find(4) == nullptr);   // Not yet.
  fill(four, 10, 4);
  float* const nine = rows.claim(9);
  REQUIRE(nine != nullptr);
  fill(nine, 10, 9);
  rows.publish(9, nine);
  CHECK(rows.find(9) == nine);
  CHECK(rows.find(4) == nullptr);
  rows.publish(4, four);
  CHECK(rows.find(4) == four);
  CHECK(rows.claim(4) == nullptr);  // It is there.
  CHECK(rows.claim(9) == nullptr);
  float* const zero = rows.claim(0);
  REQUIRE(zero != nullptr);
  fill(zero, 10, 0.5F);
  rows.publish(0, zero);
  CHECK(rows.kept() == 3);
  // Full: nobody is given a place, what is there stays.
  CHECK(rows.claim(1) == nullptr);
  CHECK(rows.claim(1) == nullptr);
  CHECK(rows.find(1) == nullptr);
  CHECK(rows.kept() == 3);
  for (std::ptrdiff_t j = 0; j < 10; ++j) {
    CHECK(rows.find(4)[j] == 4);
    CHECK(rows.find(9)[j] == 9);
    CHECK(rows.find(0)[j] == 0.5F);
  }
}

TEST_CASE("as many rows as the bytes hold, at most all", "[gram]") {
  CHECK(Rows::row_bytes(100) == 400);
  CHECK(bpm::detail::RowCache<double>::row_bytes(100) == 800);
  CHECK(Rows(100, 0).capacity() == 0);
  CHECK(Rows(100, 399).capacity() == 0);
  CHECK(Rows(100, 400).capacity() == 1);
  CHECK(Rows(100, 799).capacity() == 1);
  CHECK(Rows(100, 40000).capacity() == 100);
  CHECK(Rows(100, std::size_t{1} << 40U).capacity() == 100);
  CHECK(Rows(0, 1000).capacity() == 0);
}

TEST_CASE("without room nothing is claimed or found", "[gram]") {
  Rows rows(100, 399);
  CHECK(rows.claim(7) == nullptr);
  CHECK(rows.find(7) == nullptr);
  CHECK(rows.kept() == 0);
}

TEST_CASE("of several threads one is given a row, and all read what it wrote", "[gram]") {
  constexpr std::ptrdiff_t m = 200;
  constexpr std::ptrdiff_t room = 120;
  constexpr unsigned threads = 4;
  Rows rows(m, room * row_bytes(m));
  std::vector<std::atomic<int>> given(m);
  std::atomic<int> wrong{0};
  std::atomic<int> found{0};
  {
    std::vector<std::jthread> workers;
    for (unsigned worker = 0; worker < threads; ++worker) {
      workers.emplace_back([&, worker] {
        for (int repeat = 0; repeat < 3; ++repeat) {
          for (std::ptrdiff_t step = 0; step < m; ++step) {
            const auto i = static_cast<bpm::PointIndex>((step * 7 + 13 * worker) % m);
            if (const float* const row = rows.find(i)) {
              ++found;
              for (std::ptrdiff_t j = 0; j < m; ++j) {
                wrong += row[j] != static_cast<float>(i + 1) ? 1 : 0;
              }
            } else if (float* const own = rows.claim(i)) {
              ++given[static_cast<std::size_t>(i)];
              fill(own, m, static_cast<float>(i + 1));
              rows.publish(i, own);
            }
          }
        }
      });
    }
  }
  CHECK(wrong == 0);
  CHECK(found > 0);
  CHECK(rows.kept() == room);
  int all = 0;
  for (bpm::PointIndex i = 0; i < m; ++i) {
    const int times = given[static_cast<std::size_t>(i)];
    CHECK(times <= 1);
    CHECK((rows.find(i) != nullptr) == (times == 1));
    all += times;
  }
  CHECK(all == room);
}
