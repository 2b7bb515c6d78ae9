// SPDX-License-Identifier: MIT
#include "bpm/decision/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "bpm/core/random.hpp"
#include "catch.hpp"

TEST_CASE("an error-reject curve worked out by hand", "[decision]") {
  // In the order of rejection: index 1 (wrong), 3 (right), 0 (wrong), 2 (right).
  const std::vector<double> scores{0.3, 0.1, 0.4, 0.2};
  const std::vector<bool> correct{false, false, true, true};
  const auto curve = bpm::error_reject_curve(scores, correct);
  REQUIRE(curve.size() == 4);
  const std::vector<std::size_t> errors{2, 1, 1, 0};
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK(curve[k].rejected == k);
    CHECK(curve[k].rate == static_cast<double>(k) / 4);
    CHECK(curve[k].errors == errors[k]);
    CHECK(curve[k].error == static_cast<double>(errors[k]) / static_cast<double>(4 - k));
  }
  // (2/4 + 1/3 + 1/2 + 0) / 4
  CHECK(std::abs(bpm::area_under_error_reject_curve(scores, correct) - 1.0 / 3) <= 1e-15);

  const std::vector<double> rates{0.5, 0.0, 0.3};
  const auto some = bpm::error_reject_curve(scores, correct, rates);
  REQUIRE(some.size() == 3);
  CHECK(some[0].rate == 0.5);
  CHECK(some[0].rejected == 2);
  CHECK(some[0].error == 0.5);
  CHECK(some[1].rejected == 0);
  CHECK(some[1].error == 0.5);
  CHECK(some[2].rate == 0.3);
  CHECK(some[2].rejected == 1);
  CHECK(some[2].errors == 1);
}

TEST_CASE("tied scores are rejected by index", "[decision]") {
  const std::vector<double> scores{1, 1, 1};
  const auto curve = bpm::error_reject_curve(scores, {false, true, true});
  CHECK(curve[0].errors == 1);
  CHECK(curve[1].errors == 0);
  const auto other = bpm::error_reject_curve(scores, {true, true, false});
  CHECK(other[1].errors == 1);
  CHECK(other[2].errors == 1);
}

TEST_CASE("the area of the best and the worst order is known", "[decision]") {
  // n inputs, E errors. Errors first: sum over k < E of (E-k)/(n-k). Errors last: E ones at the
  // end of the curve, and E/(n-k) before.
  const std::size_t n = 10;
  const std::size_t count = 3;
  std::vector<double> scores(n);
  std::iota(scores.begin(), scores.end(), 0.0);
  std::vector<bool> first(n, true);
  std::vector<bool> last(n, true);
  for (std::size_t i = 0; i < count; ++i) {
    first[i] = false;
    last[n - 1 - i] = false;
  }
  const double best = (3.0 / 10 + 2.0 / 9 + 1.0 / 8) / 10;
  double worst = count;
  for (std::size_t k = 0; k < n - count; ++k) {
    worst += static_cast<double>(count) / static_cast<double>(n - k);
  }
  worst /= n;
  CHECK(std::abs(bpm::area_under_error_reject_curve(scores, first) - best) <= 1e-15);
  CHECK(std::abs(bpm::area_under_error_reject_curve(scores, last) - worst) <= 1e-15);
  CHECK(bpm::area_under_error_reject_curve(scores, std::vector<bool>(n, true)) == 0);
  CHECK(std::abs(bpm::area_under_error_reject_curve(scores, std::vector<bool>(n, false)) - 1) <=
        1e-15);
}

TEST_CASE("curves agree with rejecting and counting anew at every rate", "[decision]") {
  bpm::RandomEngine engine(5);
  for (int repeat = 0; repeat < 100; ++repeat) {
    const std::size_t n = 1 + bpm::uniform_below(engine, 25);
    std::vector<double> scores(n);
    std::vector<bool> correct(n);
    for (std::size_t i = 0; i < n; ++i) {
      scores[i] = bpm::uniform_below(engine, 10);
      correct[i] = bpm::uniform_below(engine, 4) != 0;
    }
    const std::vector<double> rates{bpm::uniform_unit(engine), 0.0, bpm::uniform_unit(engine)};
    for (const auto& point : bpm::error_reject_curve(scores, correct, rates)) {
      const auto rejected = bpm::rejected_indices(scores, point.rate);
      std::size_t errors = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const bool accepted = std::find(rejected.begin(), rejected.end(), i) == rejected.end();
        errors += accepted && !correct[i] ? 1U : 0U;
      }
      CHECK(point.rejected == rejected.size());
      CHECK(point.errors == errors);
      CHECK(point.error == static_cast<double>(errors) / static_cast<double>(n - rejected.size()));
    }
    double mean = 0;
    const auto whole = bpm::error_reject_curve(scores, correct);
    for (const auto& point : whole) {
      mean += point.error / static_cast<double>(n);
    }
    CHECK(whole.size() == n);
    CHECK(std::abs(mean - bpm::area_under_error_reject_curve(scores, correct)) <= 1e-14);
  }
}

TEST_CASE("error-reject curves refuse bad arguments", "[decision]") {
  const std::vector<double> scores{1, 2};
  const std::vector<double> empty;
  const std::vector<double> rates{0.0};
  const std::vector<bool> correct{true, false};
  CHECK_THROWS_AS(bpm::error_reject_curve(empty, {}), std::invalid_argument);
  CHECK_THROWS_WITH(bpm::error_reject_curve(empty, {}),
                    "error_reject_curve: scores is empty, must hold at least one score");
  CHECK_THROWS_WITH(bpm::error_reject_curve(scores, {true}, rates),
                    "error_reject_curve: correct has 1 entries, expected 2 (one per score)");
  CHECK_THROWS_WITH(bpm::area_under_error_reject_curve(empty, {}),
                    "area_under_error_reject_curve: scores is empty, must hold at least one score");
  CHECK_THROWS_WITH(
      bpm::area_under_error_reject_curve(scores, {true, true, true}),
      "area_under_error_reject_curve: correct has 3 entries, expected 2 (one per score)");
  const std::vector<double> with_nan{std::numeric_limits<double>::quiet_NaN(), 1};
  CHECK_THROWS_WITH(bpm::area_under_error_reject_curve(with_nan, correct),
                    "area_under_error_reject_curve: scores[0] is nan, must be finite");
  const std::vector<double> bad_rates{0.0, 1.0};
  CHECK_THROWS_WITH(bpm::error_reject_curve(scores, correct, bad_rates),
                    "error_reject_curve: rates[1] is 1, must be at least 0 and below 1");
  const std::vector<double> nan_rates{std::numeric_limits<double>::quiet_NaN()};
  CHECK_THROWS_WITH(bpm::error_reject_curve(scores, correct, nan_rates),
                    "error_reject_curve: rates[0] is nan, must be at least 0 and below 1");
}
