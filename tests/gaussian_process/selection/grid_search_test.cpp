// SPDX-License-Identifier: MIT
// Searches over parameters on functions whose maximum is known.
#include "bpm/gaussian_process/selection/grid_search.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "catch.hpp"
#include "message_of.hpp"

using test_support::message_of;

TEST_CASE("a parameter grid holds every combination, the last parameter fastest") {
  const auto sum = [](const std::vector<double>& p) { return p[0] + p.back(); };
  const auto points = bpm::grid_search({{1, 2}, {5, 6, 7}}, sum).points;
  REQUIRE(points.size() == 6);
  CHECK(points[0] == std::vector<double>{1, 5});
  CHECK(points[2] == std::vector<double>{1, 7});
  CHECK(points[3] == std::vector<double>{2, 5});
  CHECK(message_of([&] { (void)bpm::grid_search({}, sum); }) ==
        "grid_search: values are empty, expected one list a parameter");
  CHECK(message_of([&] {
          (void)bpm::grid_search({{1}, {}}, sum);
        }) == "grid_search: values of parameter 1 are empty");
}

TEST_CASE("geometric values stand in equal ratios between their ends") {
  const auto values = bpm::geometric_values(0.5, 8, 5);
  REQUIRE(values.size() == 5);
  for (std::size_t k = 0; k < 5; ++k) CHECK(values[k] == Approx(0.5 * std::pow(2.0, k)));
  CHECK(values.back() == 8);
  CHECK(bpm::geometric_values(3, 3, 1) == std::vector<double>{3});
  CHECK(bpm::geometric_values(1e-300, 1e300, 3)[1] == Approx(1));
  CHECK(message_of([] { (void)bpm::geometric_values(0, 1, 2); }) ==
        "geometric_values: low is 0, must be positive and finite");
  CHECK(message_of([] { (void)bpm::geometric_values(2, 1, 2); }) ==
        "geometric_values: high is 1, must be finite and at least 2");
  CHECK(message_of([] { (void)bpm::geometric_values(1, 2, 0); }) ==
        "geometric_values: count is 0, must be 1 or more");
}

TEST_CASE("a grid search finds the first of the largest values and survives failures") {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto score = [&](const std::vector<double>& p) {
    return p[0] == 1   ? std::numeric_limits<double>::quiet_NaN()
           : p[0] == 2 ? -infinity
                       : -(p[0] - 4) * (p[0] - 4);
  };
  const bpm::SearchResult found = bpm::grid_search({{1, 2, 3, 5, 9}}, score);
  CHECK(found.best == std::vector<double>{3});
  CHECK(found.value == -1);
  CHECK(found.values.size() == 5);
  CHECK(found.values[0] == -infinity);
  CHECK(found.log_size() == Approx(std::log(5.0)));
  CHECK(message_of([&] { (void)bpm::grid_search({}, score); }) ==
        "grid_search: values are empty, expected one list a parameter");
  CHECK(message_of([&] {
          (void)bpm::grid_search({{1, 2}}, score);
        }) == "grid_search: score is -infinity at all of 2 points: none of them works");
}
