// SPDX-License-Identifier: MIT
#include "common/splits.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <vector>

#include "catch.hpp"

using bpm_examples::random_split;
using bpm_examples::Split;

TEST_CASE("a split has every row once", "[examples]") {
  for (const std::size_t count : {2U, 5U, 208U, 5300U}) {
    CAPTURE(count);
    const Split split = random_split(count, {}, 1, 0);
    std::set<std::ptrdiff_t> rows(split.train.begin(), split.train.end());
    rows.insert(split.test.begin(), split.test.end());
    CHECK(split.train.size() + split.test.size() == count);
    CHECK(rows.size() == count);
    CHECK(*rows.begin() == 0);
    CHECK(*rows.rbegin() == static_cast<std::ptrdiff_t>(count) - 1);
  }
}

TEST_CASE("the sizes of a split", "[examples]") {
  CHECK(random_split(208, {}, 1, 0).train.size() == 125);  // 124.8
  CHECK(random_split(351, {}, 1, 0).train.size() == 211);  // 210.6
  CHECK(random_split(10, {.train_fraction = 0.25}, 1, 0).train.size() == 3);
  const Split limited = random_split(5300, {.train_limit = 400}, 1, 0);
  CHECK(limited.train.size() == 400);
  CHECK(limited.test.size() == 4900);
  CHECK(random_split(215, {.train_limit = 400}, 1, 0).train.size() == 129);
}

TEST_CASE("a split is that of its seed and number", "[examples]") {
  const Split split = random_split(50, {}, 3, 7);
  const Split again = random_split(50, {}, 3, 7);
  CHECK(split.train == again.train);
  CHECK(split.test == again.test);
  CHECK(random_split(50, {}, 3, 8).train != split.train);
  CHECK(random_split(50, {}, 4, 7).train != split.train);
}

TEST_CASE("every row is as often in the training part", "[examples]") {
  constexpr std::size_t rows = 20;
  constexpr std::uint64_t splits = 2000;
  std::vector<int> times(rows, 0);
  for (std::uint64_t number = 0; number < splits; ++number) {
    for (const std::ptrdiff_t row : random_split(rows, {}, 1, number).train) {
      ++times[static_cast<std::size_t>(row)];
    }
  }
  // Binomial with mean 1200 and deviation 21.9; five deviations.
  for (const int count : times) {
    CHECK(count > 1090);
    CHECK(count < 1310);
  }
}

TEST_CASE("a split without a row on each side is refused", "[examples]") {
  CHECK_THROWS_AS(random_split(1, {}, 1, 0), std::invalid_argument);
  CHECK_THROWS_WITH(random_split(1, {}, 1, 0),
                    "random_split: count is 1, which leaves 1 training rows; both parts need one");
  CHECK_THROWS_WITH(random_split(9, {.train_limit = 0}, 1, 0),
                    "random_split: count is 9, which leaves 0 training rows; both parts need one");
  CHECK_THROWS_WITH(random_split(9, {.train_fraction = 1}, 1, 0),
                    "random_split: train_fraction is 1, must be between 0 and 1");
  CHECK_THROWS_WITH(random_split(std::size_t{1} << 32U, {}, 1, 0),
                    "random_split: count is 4294967296, must be below 2^32 - 1");
}
