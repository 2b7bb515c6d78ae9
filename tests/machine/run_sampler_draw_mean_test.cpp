// SPDX-License-Identifier: MIT
#include "bpm/machine/run_sampler.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "catch.hpp"

TEST_CASE("the weighted mean of draws, by hand") {
  // Two points with K = I: outputs are coefficients.
  const std::vector<bpm::PointIndex> first{0};
  const std::vector<bpm::PointIndex> both{0, 1};
  const std::vector<double> one{1.0};
  const std::vector<double> one_outputs{1.0, 0.0};
  const std::vector<double> two{0.6, -0.8};
  for (const bool keep : {false, true}) {
    bpm::detail::DrawMean mean(2, keep);
    CHECK(mean.count() == 0);
    mean.add(bpm::Draw{
        .number = 4, .support = first, .coefficients = one, .outputs = one_outputs, .weight = 1});
    CHECK(mean.norm() == 1);
    mean.add(
        bpm::Draw{.number = 5, .support = both, .coefficients = two, .outputs = two, .weight = 3});
    CHECK(mean.size() == 2);
    CHECK(mean.count() == 2);
    CHECK(std::abs(mean.coefficient(0) - 0.7) < 1e-15);
    CHECK(std::abs(mean.coefficient(1) + 0.6) < 1e-15);
    CHECK(std::abs(mean.output(0) - 0.7) < 1e-15);
    CHECK(std::abs(mean.output(1) + 0.6) < 1e-15);
    CHECK(std::abs(mean.plain_output(0, 0.5) - 0.35) < 1e-15);
    CHECK(std::abs(mean.norm() - std::sqrt(0.49 + 0.36)) < 1e-15);
    REQUIRE(mean.kept().size() == (keep ? 2U : 0U));
    if (keep) {
      CHECK(mean.kept()[1].number == 5);
      CHECK(mean.kept()[1].weight == 3);
      CHECK(mean.kept()[1].support == both);
      CHECK(mean.kept()[1].coefficients == two);
    }
  }
  CHECK(bpm::detail::DrawMean::bytes_needed(100) == 1600);
}

TEST_CASE("what a sampler of chains says to be the centre must be one") {
  const auto refusal = [](const std::vector<double>& coefficients,
                          const std::vector<double>& outputs) -> std::string {
    bpm::detail::DrawMean mean(3, false, false);
    try {
      mean.set_centre({.coefficients = coefficients, .outputs = outputs});
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  CHECK(refusal({1, 2, 3}, {1, 2, 3}).empty());
  CHECK(refusal({1, 2}, {1, 2, 3}) ==
        "sampler: centre has 2 coefficients and 3 outputs, expected 3 of each");
  CHECK(refusal({1, 2, 3}, {}) ==
        "sampler: centre has 3 coefficients and 0 outputs, expected 3 of each");
  CHECK(refusal({1, 2, 3}, {1, std::numeric_limits<double>::infinity(), 3}) ==
        "sampler: centre has numbers that are not finite");
}

TEST_CASE("what a sampler hands over must be a draw") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<bpm::PointIndex> points{0, 2};
  const std::vector<double> numbers{0.5, -0.5};
  const std::vector<double> outputs{1, 2, 3};
  const bpm::Draw good{.number = 7, .support = points, .coefficients = numbers, .outputs = outputs};
  const auto refusal = [](const bpm::Draw& draw) -> std::string {
    bpm::detail::DrawMean mean(3, true);
    try {
      mean.add(draw);
    } catch (const std::invalid_argument& error) {
      CHECK(mean.count() == 0);
      return error.what();
    }
    return "";
  };
  CHECK(refusal(good).empty());
  const auto changed = [&](auto&& change) {
    bpm::Draw draw = good;
    change(draw);
    return refusal(draw);
  };
  const std::string f = "sampler: draw 7 has ";
  const std::vector<bpm::PointIndex> beyond{0, 3};
  const std::vector<bpm::PointIndex> negative{-1, 2};
  const std::vector<bpm::PointIndex> turned{2, 0};
  const std::vector<bpm::PointIndex> twice{2, 2};
  const std::vector<double> bad{0.5, nan};
  const std::vector<double> bad_outputs{1, nan, 3};
  CHECK(changed([&](auto& d) { d.support = beyond; }) ==
        f + "the support point 3 after 0, must ascend below 3");
  CHECK(changed([&](auto& d) { d.support = negative; }) ==
        f + "the support point -1 after -1, must ascend below 3");
  CHECK(changed([&](auto& d) { d.support = turned; }) ==
        f + "the support point 0 after 2, must ascend below 3");
  CHECK(changed([&](auto& d) { d.support = twice; }) ==
        f + "the support point 2 after 2, must ascend below 3");
  CHECK(changed([&](auto& d) { d.support = d.support.first(1); }) ==
        f + "1 support points and 2 coefficients");
  CHECK(changed([&](auto& d) { d.coefficients = bad; }) ==
        f + "the coefficient nan at 2, must be finite");
  CHECK(changed([&](auto& d) { d.outputs = bad_outputs; }) ==
        f + "the output nan at 1, must be finite");
  CHECK(changed([&](auto& d) { d.outputs = d.outputs.first(2); }) == f + "2 outputs, expected 3");
  for (const double weight : {0.0, -1.0, nan}) {
    CHECK_THAT(changed([&](auto& d) { d.weight = weight; }),
               Catch::Matchers::StartsWith(f + "the weight ") &&
                   Catch::Matchers::EndsWith(", must be positive and finite"));
  }
}
