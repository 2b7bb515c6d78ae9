// SPDX-License-Identifier: MIT
#include "bpm/machine/labels.hpp"

#include <Eigen/Core>
#include <cmath>
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

TEST_CASE("pairs of classes have the points of both, ascending", "[machine]") {
  using Points = std::vector<bpm::PointIndex>;
  const auto pairs = bpm::detail::points_of_pairs({1, 2, 5}, std::vector<int>{5, 1, 2, 1, 5});
  CHECK(pairs == std::vector<Points>{{1, 2, 3}, {0, 1, 3, 4}, {0, 2, 4}});
}

TEST_CASE("classes by what machines of pairs say", "[machine]") {
  std::vector<std::vector<std::size_t>> pairs;
  bpm::detail::for_each_pair(4, [&](std::size_t pair, std::size_t a, std::size_t b) {
    pairs.push_back({pair, a, b});
  });
  CHECK(pairs == std::vector<std::vector<std::size_t>>{
                     {0, 0, 1}, {1, 0, 2}, {2, 1, 2}, {3, 0, 3}, {4, 1, 3}, {5, 2, 3}});
  CHECK(bpm::detail::pair_count(4) == 6);
  // Two draws of three classes: (0, 1), (0, 2), (1, 2).
  Eigen::MatrixXd outputs(1, 6);
  outputs << 0.5, -2.0, 30.0, -1.0, 0.0, 0.25;
  const Eigen::MatrixXd values = bpm::detail::outputs_of_classes(outputs, 3);
  REQUIRE(values.cols() == 6);
  const auto half = [](double a, double b) { return (std::tanh(a) + std::tanh(b)) / 2; };
  CHECK(values(0, 0) == Approx(half(-0.5, 2.0)));
  CHECK(values(0, 1) == Approx(half(0.5, -30.0)));
  CHECK(values(0, 2) == Approx(half(-2.0, 30.0)));
  CHECK(values(0, 3) == Approx(half(1.0, 0.0)));
  CHECK(values(0, 4) == Approx(half(-1.0, -0.25)));
  CHECK(values(0, 5) == Approx(half(0.0, 0.25)));
}
