// SPDX-License-Identifier: MIT
#include "bpm/machine/labels.hpp"

#include <cstddef>
#include <limits>
#include <vector>

#include "catch.hpp"

using Labels = std::vector<int>;

TEST_CASE("classes are the distinct labels, ascending") {
  CHECK(bpm::detail::distinct_labels(Labels{}).empty());
  constexpr int low = std::numeric_limits<int>::min();
  constexpr int high = std::numeric_limits<int>::max();
  CHECK(bpm::detail::distinct_labels(Labels{3, high, -1, 3, low, -1}) == Labels{low, -1, 3, high});
  CHECK(bpm::detail::check_labels(4, Labels{5, 2, 5, 5}, "f") == Labels{2, 5});
}

TEST_CASE("as many labels as points can be numbered") {
  CHECK_THROWS_WITH(bpm::detail::check_labels(std::ptrdiff_t{1} << 31, Labels{1, 2}, "f"),
                    "f: inputs has 2147483648 entries, must be fewer than 2^31");
  CHECK_THROWS_WITH(bpm::detail::check_labels((std::ptrdiff_t{1} << 31) - 1, Labels{1, 2}, "f"),
                    "f: labels has 2 entries, expected 2147483647 (one per input)");
}

TEST_CASE("one class against the rest") {
  CHECK(bpm::detail::one_against_rest(Labels{3, 1, 3, 2}, 3) ==
        std::vector<signed char>{1, -1, 1, -1});
  CHECK(bpm::detail::one_against_rest(Labels{3, 1}, 9) == std::vector<signed char>{-1, -1});
}
