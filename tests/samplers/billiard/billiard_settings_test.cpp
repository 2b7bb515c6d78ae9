// SPDX-License-Identifier: MIT
// What `Billiard` refuses, and how it says so.
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "billiard_problems.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/sample_version_space.hpp"
#include "catch.hpp"

using namespace law_tests;
using bpm::Billiard;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

std::string refusal(const Billiard& sampler) { return message_of(sampler, easy_problem().space); }

}  // namespace

TEST_CASE("billiard settings: a budget is needed") {
  CHECK(refusal({.draws = 0}) ==
        "Billiard: draws is 0, must be 1 or more, or empty to leave it to bounces, seconds or "
        "accuracy");
  CHECK(refusal({.draws = 0, .bounces = 1000}) == refusal({.draws = 0}));
  CHECK(refusal({.bounces_per_draw = 0}) == "Billiard: bounces_per_draw is 0, must be 1 or more");
  for (const double wrong : {-1.0, not_a_number, infinity}) {
    const std::string shown = wrong < 0 ? "-1" : wrong > 0 ? "inf" : "nan";
    CHECK(refusal({.seconds = wrong}) ==
          "Billiard: seconds is " + shown + ", must be finite and not negative");
    CHECK(refusal({.accuracy = wrong}) ==
          "Billiard: accuracy is " + shown + ", must be finite and not negative");
    CHECK(refusal({.tolerance = wrong}) ==
          "Billiard: tolerance is " + shown + ", must be at least 0 and below 1");
  }
  CHECK(refusal({.tolerance = 1}) == "Billiard: tolerance is 1, must be at least 0 and below 1");
}

TEST_CASE("billiard settings: chains, start, refresh length, factor") {
  CHECK(refusal({.chains = 0}) == "Billiard: chains is 0, must be from 1 to 1024");
  CHECK(refusal({.chains = 1025}) == "Billiard: chains is 1025, must be from 1 to 1024");
  CHECK(refusal({.start = static_cast<bpm::ConePlan::Start>(5)}) ==
        "Billiard: start is 5, must be largest_margin or perceptron");
  CHECK(refusal({.refresh_length = -2}) ==
        "Billiard: refresh_length is -2, must be positive, or 0 to have it chosen");
  CHECK(refusal({.refresh_length = not_a_number}) ==
        "Billiard: refresh_length is nan, must be positive, or 0 to have it chosen");
  CHECK(refusal({.refresh_length = 1e-4}) ==
        "Billiard: refresh_length is 0.0001, must be at least 0.001, or 0 to have it chosen");
  CHECK(refusal({.draws = 1, .refresh_length = infinity}) == "nothing thrown");
  for (const double wrong : {-0.5, 1.0, not_a_number}) {
    CHECK_THAT(
        refusal({.factor_tolerance = wrong}),
        ContainsSubstring("Billiard: factor_tolerance is ") &&
            ContainsSubstring(", must lie between 0 and 1 (0: chosen by the kernel's precision)"));
  }
}

TEST_CASE("billiard settings: a caller's start") {
  const std::size_t m = static_cast<std::size_t>(easy_problem().space.size());
  CHECK(refusal({.start_coefficients = {1, 2, 3}}) ==
        "Billiard: start_coefficients has 3 entries, expected 20 (one per training point)");
  std::vector<double> start(m, 0.0);
  CHECK(refusal({.start_coefficients = start}) ==
        "Billiard: start_coefficients are the zero classifier, must have a direction");
  start[4] = not_a_number;
  CHECK(refusal({.start_coefficients = start}) ==
        "Billiard: start_coefficients at 4 is nan, must be finite");
  start[4] = -infinity;
  CHECK(refusal({.start_coefficients = start}) ==
        "Billiard: start_coefficients at 4 is -inf, must be finite");

  // Three orthogonal points: the classifier alpha has outputs alpha.
  const Problem three(Kernel::Identity(3, 3), {1, -1, 1});
  CHECK(message_of({.start_coefficients = {3, -4, -12}}, three.space) ==
        "Billiard: start_coefficients lie outside version space: at norm 1 the signed output at "
        "point 2 is -0.9230769231, must be positive; start inside, or allow label noise");
  CHECK_THAT(message_of({.start_coefficients = {1, 0, 1}}, three.space),
             ContainsSubstring("the signed output at point 1 is ") &&
                 ContainsSubstring("0, must be positive"));
  CHECK(message_of({.draws = 1, .start_coefficients = {3, -4, 12}}, three.space) ==
        "nothing thrown");
}

TEST_CASE("billiard settings: a point of norm 0 cannot be classified") {
  Kernel kernel = Kernel::Identity(3, 3);
  kernel(2, 2) = 0;
  const Problem zero(kernel, {1, 1, -1});
  CHECK(message_of({}, zero.space) ==
        "Billiard: space has k(x, x) + lambda = 0 at point 2, so no classifier gives it a sign; "
        "add a "
        "bias to the kernel, a soft boundary lambda > 0, or label noise");
  const Problem soft(kernel, {1, 1, -1}, {0, 0, 0.5});
  CHECK(message_of({.draws = 1}, soft.space) == "nothing thrown");
}

TEST_CASE("billiard settings: a refused run leaves streams and state as they were") {
  bpm::RandomStreams streams;
  Billiard::State state;
  const auto ignore = [](const bpm::Draw&) {};
  CHECK_THROWS_AS(bpm::sample_version_space(Billiard{.chains = 0}, easy_problem().space, streams,
                                            {}, ignore, state),
                  std::invalid_argument);
  CHECK(streams.next == 0);
  CHECK(state.empty());
}

TEST_CASE("billiard: data that nothing separates are reported, with the cures") {
  // Equal points with different labels; three points on a line through the origin.
  Kernel kernel = Kernel::Identity(3, 3);
  kernel(0, 1) = kernel(1, 0) = 1;
  const Problem equal(kernel, {1, -1, 1});
  const Problem line(Kernel::Ones(3, 3), {1, -1, 1});
  for (const Problem* problem : {&equal, &line}) {
    for (const bpm::ConePlan::Start start :
         {bpm::ConePlan::Start::largest_margin, bpm::ConePlan::Start::perceptron}) {
      // Once: the perceptron tries for long before it gives way to the other search.
      if (start == bpm::ConePlan::Start::perceptron && problem != &line) continue;
      const auto outcome = sampler_tests::run(Billiard{.start = start}, problem->space);
      CHECK(outcome.draws.empty());
      CHECK_FALSE(outcome.report.converged);
      CHECK_FALSE(outcome.report.stopped);
      CHECK(outcome.next == 0);
      CHECK_THAT(outcome.report.reason,
                 ContainsSubstring("a search for the largest margin ended after ") &&
                     ContainsSubstring(" steps with a smallest signed output of ") &&
                     ContainsSubstring("no margin can be above ") &&
                     ContainsSubstring("a soft boundary lambda > 0, or label noise q > 0"));
    }
  }
  // The cure.
  const Problem soft(equal.kernel, {1, -1, 1}, {0.1, 0.1, 0.1});
  const auto outcome = sampler_tests::run(Billiard{.draws = 10}, soft.space);
  CHECK(outcome.report.converged);
  CHECK(all_inside(soft, outcome.draws));
}
