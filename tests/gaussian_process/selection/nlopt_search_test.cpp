// SPDX-License-Identifier: MIT
// The derivative-free search on functions whose maximum is known.
#if __has_include(<nlopt.h>)
#include "bpm/gaussian_process/selection/nlopt_search.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "catch.hpp"
#include "message_of.hpp"

using test_support::message_of;

using bpm::NloptSettings;

namespace {

double hill(const std::vector<double>& p) {
  return 3 - (p[0] - 1) * (p[0] - 1) - 2 * (p[1] + 0.5) * (p[1] + 0.5) -
         0.5 * (p[0] - 1) * (p[1] + 0.5);
}

}  // namespace

TEST_CASE("every method climbs a hill to its top") {
  using Method = NloptSettings::Method;
  const Method method = GENERATE(Method::bobyqa, Method::nelder_mead, Method::subplex);
  const bpm::SearchResult found = bpm::nlopt_search(hill, {-2, 2},
                                                    {.lower = {-4, -4},
                                                     .upper = {4, 4},
                                                     .method = method,
                                                     .tolerance = 1e-5,
                                                     .max_evaluations = 2000});
  CHECK(found.converged);
  CHECK(found.best[0] == Approx(1).margin(1e-3));
  CHECK(found.best[1] == Approx(-0.5).margin(1e-3));
  CHECK(found.value == Approx(3).margin(1e-5));
  CHECK(found.points.size() == found.values.size());
}

TEST_CASE("a search stays in its box, lives with failures and tells when it was cut short") {
  const auto half = [](const std::vector<double>& p) {
    return p[0] < 0 ? -std::numeric_limits<double>::infinity() : -std::abs(p[0] - 0.1);
  };
  const bpm::SearchResult found = bpm::nlopt_search(half, {2},
                                                    {.lower = {-3},
                                                     .upper = {3},
                                                     .method = NloptSettings::Method::nelder_mead,
                                                     .tolerance = 1e-4,
                                                     .max_evaluations = 500});
  CHECK(found.best[0] == Approx(0.1).margin(1e-2));
  for (const auto& point : found.points) CHECK(std::abs(point[0]) <= 3);
  const bpm::SearchResult cut = bpm::nlopt_search(
      hill, {-2, 2}, {.lower = {-4, -4}, .upper = {4, 4}, .tolerance = 1e-9, .max_evaluations = 7});
  CHECK_FALSE(cut.converged);
  CHECK(cut.points.size() <= 7);
}

TEST_CASE("points that fail are worse than any that works, however low its score") {
  using Method = NloptSettings::Method;
  const Method method = GENERATE(Method::nelder_mead, Method::subplex);
  const auto low = [](const std::vector<double>& p) {
    return p[0] + p[1] < 1 ? std::numeric_limits<double>::quiet_NaN()
                           : -500 - (p[0] - 6) * (p[0] - 6) - (p[1] - 3) * (p[1] - 3);
  };
  const bpm::SearchResult found = bpm::nlopt_search(low, {1.2, 1.2},
                                                    {.lower = {0, 0},
                                                     .upper = {9, 9},
                                                     .method = method,
                                                     .tolerance = 1e-3,
                                                     .max_evaluations = 1000});
  CHECK(found.value > -500.1);
}

TEST_CASE("what a score throws comes out of the search") {
  const auto broken = [](const std::vector<double>&) -> double {
    throw std::runtime_error("the score is broken");
  };
  CHECK(message_of([&] { (void)bpm::nlopt_search(broken, {0}, {.lower = {-1}, .upper = {1}}); }) ==
        "the score is broken");
}

TEST_CASE("a search says what is wrong with its arguments") {
  const auto search = [](std::vector<double> start, const NloptSettings& settings) {
    return message_of([&] { (void)bpm::nlopt_search(hill, start, settings); });
  };
  CHECK(search({}, {}) == "nlopt_search: start is empty, expected one number per parameter");
  CHECK(search({0, 0}, {.lower = {-1}, .upper = {1, 1}}) ==
        "nlopt_search: lower has 1 entries, expected 2 (one per parameter)");
  CHECK(search({0, 0}, {.lower = {-1, -1}, .upper = {1}}) ==
        "nlopt_search: upper has 1 entries, expected 2 (one per parameter)");
  CHECK(search({0, 0}, {.lower = {-1, 1}, .upper = {1, 1}}) ==
        "nlopt_search: lower and upper of parameter 1 are 1 and 1, must be finite and in order");
  CHECK(search({0, 3}, {.lower = {-1, -1}, .upper = {1, 1}}) ==
        "nlopt_search: start of parameter 1 is 3, must lie in [-1, 1]");
  CHECK(search({0, 0}, {.lower = {-1, -1}, .upper = {1, 1}, .tolerance = 0}) ==
        "nlopt_search: tolerance is 0, must be positive");
  CHECK(search({0, 0}, {.lower = {-1, -1}, .upper = {1, 1}, .max_evaluations = 0}) ==
        "nlopt_search: max_evaluations is 0, must be 1 or more");
  CHECK(search({0, 0}, {.lower = {-1, -1},
                        .upper = {1, 1},
                        .method = static_cast<NloptSettings::Method>(7)}) ==
        "nlopt_search: method is 7, must be bobyqa, nelder_mead or subplex");
  const auto nowhere = [](const std::vector<double>&) {
    return -std::numeric_limits<double>::infinity();
  };
  CHECK(message_of([&] {
          (void)bpm::nlopt_search(nowhere, {0},
                                  {.lower = {-1}, .upper = {1}, .max_evaluations = 3});
        }) == "nlopt_search: start has the score -inf, must be a point that works");
}
#endif
