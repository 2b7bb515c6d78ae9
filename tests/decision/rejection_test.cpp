// SPDX-License-Identifier: MIT
#include "bpm/decision/rejection.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "bpm/core/random.hpp"
#include "catch.hpp"

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::size_t rejection_count(double rate, std::size_t count) {
  return bpm::detail::rejection_count(rate, count, "rejection_count");
}

/// Few distinct values, so that ties are common.
std::vector<double> random_scores(std::size_t n, bpm::RandomEngine& engine) {
  std::vector<double> scores(n);
  for (double& score : scores) {
    score = static_cast<double>(bpm::uniform_below(engine, 9)) - 3;
  }
  return scores;
}

}  // namespace

TEST_CASE("a rejector accepts from its threshold upwards", "[decision]") {
  const bpm::Rejector rejector{0.5};
  CHECK(rejector.accepts(0.5));
  CHECK(rejector.accepts(kInfinity));
  CHECK_FALSE(rejector.accepts(0.49));
  CHECK_FALSE(rejector.accepts(kNaN));
  CHECK(bpm::Rejector{}.accepts(-1e300));
}

TEST_CASE("the rejection count is the floor of the decimal product", "[decision]") {
  // Products that rounding leaves just below or above a whole number.
  CHECK(rejection_count(0.29, 100) == 29);
  CHECK(rejection_count(0.07, 100) == 7);
  CHECK(rejection_count(0.57, 100) == 57);
  CHECK(rejection_count(0.1, 10000) == 1000);
  for (int percent = 0; percent < 100; ++percent) {
    CHECK(rejection_count(percent / 100.0, 10000) == 100U * static_cast<unsigned>(percent));
    CHECK(rejection_count(0.01 * percent, 100) == static_cast<unsigned>(percent));
  }
  // Real fractions are rounded down.
  CHECK(rejection_count(0.299999, 100) == 29);
  CHECK(rejection_count(0.5, 7) == 3);
  CHECK(rejection_count(0.0, 7) == 0);
  CHECK(rejection_count(0.99, 1) == 0);
  CHECK(rejection_count(std::nextafter(1.0, 0.0), 10) == 9);
  CHECK(rejection_count(0.5, 0) == 0);

  CHECK_THROWS_WITH(rejection_count(1.0, 5),
                    "rejection_count: rate is 1, must be at least 0 and below 1");
  CHECK_THROWS_WITH(rejection_count(-0.25, 5),
                    "rejection_count: rate is -0.25, must be at least 0 and below 1");
  CHECK_THROWS_WITH(rejection_count(kNaN, 5),
                    "rejection_count: rate is nan, must be at least 0 and below 1");
}

TEST_CASE("the lowest scores are rejected, ties by index", "[decision]") {
  const std::vector<double> scores{3, 1, 2, 1, 1, 5, 0, 2, 9, 9};
  CHECK(bpm::detail::rejection_order(scores, "f") ==
        std::vector<std::size_t>{6, 1, 3, 4, 2, 7, 0, 5, 8, 9});
  CHECK(bpm::rejected_indices(scores, 0.39) == std::vector<std::size_t>{6, 1, 3});
  CHECK(bpm::rejected_indices(scores, 0.4) == std::vector<std::size_t>{6, 1, 3, 4});
  CHECK(bpm::rejected_indices(scores, 0).empty());
}

TEST_CASE("thresholds reach the wanted rate where scores do not tie", "[decision]") {
  const std::vector<double> scores{0.4, 0.1, 0.3, 0.2, 0.5};
  CHECK(bpm::threshold_for_rate(scores, 0) == -kInfinity);
  CHECK(bpm::threshold_for_rate(scores, 0.19) == -kInfinity);
  CHECK(bpm::threshold_for_rate(scores, 0.2) == 0.2);
  CHECK(bpm::threshold_for_rate(scores, 0.6) == 0.4);
  CHECK(bpm::threshold_for_rate(scores, 0.99) == 0.5);
  CHECK(bpm::Rejector{-kInfinity}.rate(scores) == 0);
  CHECK(bpm::Rejector{0.4}.rate(scores) == 0.6);
  CHECK(bpm::Rejector{0.41}.rate(scores) == 0.8);
  CHECK(bpm::Rejector{kInfinity}.rate(scores) == 1);
}

TEST_CASE("thresholds agree with brute force on random scores", "[decision]") {
  bpm::RandomEngine engine(8);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const std::size_t n = 1 + bpm::uniform_below(engine, 30);
    const auto scores = random_scores(n, engine);
    const double rate = bpm::uniform_unit(engine);
    const std::size_t k = rejection_count(rate, n);
    const double threshold = bpm::threshold_for_rate(scores, rate);

    // Never more than asked for, and all of them unless the threshold itself ties.
    const auto below = static_cast<std::size_t>(std::count_if(
        scores.begin(), scores.end(), [&](double score) { return score < threshold; }));
    const auto up_to = static_cast<std::size_t>(std::count_if(
        scores.begin(), scores.end(), [&](double score) { return score <= threshold; }));
    CHECK(below <= k);
    CHECK((k == 0 || up_to > k));
    CHECK(bpm::Rejector{threshold}.rate(scores) ==
          static_cast<double>(below) / static_cast<double>(n));

    // By rank: exactly k, none rejected scores above an accepted one, ties go by index.
    const auto rejected = bpm::rejected_indices(scores, rate);
    REQUIRE(rejected.size() == k);
    for (std::size_t i = 0; i < n; ++i) {
      const bool is_rejected = std::find(rejected.begin(), rejected.end(), i) != rejected.end();
      std::size_t before = 0;
      for (std::size_t j = 0; j < n; ++j) {
        before += scores[j] < scores[i] || (scores[j] == scores[i] && j < i) ? 1U : 0U;
      }
      CHECK(is_rejected == (before < k));
    }
  }
}

TEST_CASE("the threshold for an error on hand-made data", "[decision]") {
  //                                 rejected first ............ last
  const std::vector<double> scores{0.1, 0.2, 0.3, 0.4, 0.5};
  const std::vector<bool> correct{false, true, false, true, true};
  // Errors left: 2/5, 1/4, 1/3, 0/2, 0/1.
  const auto none = bpm::threshold_for_error(scores, correct, 0.4);
  REQUIRE(none.has_value());
  CHECK(none->threshold == -kInfinity);
  CHECK(none->rate == 0);
  CHECK(none->error == 0.4);
  const auto one = bpm::threshold_for_error(scores, correct, 0.3);
  REQUIRE(one.has_value());
  CHECK(one->threshold == 0.2);
  CHECK(one->rejected == 1);
  CHECK(one->rate == 0.2);
  CHECK(one->error == 0.25);
  const auto three = bpm::threshold_for_error(scores, correct, 0.0);
  REQUIRE(three.has_value());
  CHECK(three->threshold == 0.4);
  CHECK(three->rejected == 3);
  CHECK(three->error == 0);
}

TEST_CASE("flags may come in any range", "[decision]") {
  const std::vector<double> scores{0.1, 0.2, 0.3, 0.4, 0.5};
  const std::array<bool, 5> array{false, true, false, true, true};
  const std::vector<char> bytes(array.begin(), array.end());
  const Eigen::Array<bool, Eigen::Dynamic, 1> eigen =
      Eigen::Map<const Eigen::Array<bool, 5, 1>>(array.data());
  const auto check = [&](const auto& correct) {
    const auto found = bpm::threshold_for_error(scores, correct, 0.3);
    REQUIRE(found.has_value());
    CHECK(found->threshold == 0.2);
    CHECK(found->rejected == 1);
    CHECK(found->error == 0.25);
  };
  check(array);
  check(bytes);
  check(eigen);
  check(std::span(array));
}

TEST_CASE("no threshold reaches an error that the highest scores exceed", "[decision]") {
  const std::vector<double> scores{0.1, 0.5, 0.5};
  const std::vector<bool> correct{true, true, false};
  CHECK_FALSE(bpm::threshold_for_error(scores, correct, 0.2).has_value());
  CHECK_FALSE(bpm::threshold_for_error(scores, correct, 0.0).has_value());
  const auto found = bpm::threshold_for_error(scores, correct, 0.34);
  REQUIRE(found.has_value());
  CHECK(found->rejected == 0);
}

TEST_CASE("the threshold for an error agrees with brute force", "[decision]") {
  bpm::RandomEngine engine(21);
  int impossible = 0;
  for (int repeat = 0; repeat < 300; ++repeat) {
    const std::size_t n = 1 + bpm::uniform_below(engine, 12);
    const auto scores = random_scores(n, engine);
    std::vector<bool> correct(n);
    for (std::size_t i = 0; i < n; ++i) {
      correct[i] = bpm::uniform_below(engine, 3) != 0;
    }
    const double wanted = bpm::uniform_below(engine, 5) / 10.0;

    double best_rate = 2;
    for (const double threshold : scores) {
      std::size_t accepted = 0;
      std::size_t errors = 0;
      for (std::size_t i = 0; i < n; ++i) {
        if (bpm::Rejector{threshold}.accepts(scores[i])) {
          ++accepted;
          errors += correct[i] ? 0U : 1U;
        }
      }
      if (static_cast<double>(errors) / static_cast<double>(accepted) <= wanted) {
        best_rate = std::min(best_rate, bpm::Rejector{threshold}.rate(scores));
      }
    }
    const auto found = bpm::threshold_for_error(scores, correct, wanted);
    CHECK(found.has_value() == (best_rate < 2));
    if (found) {
      CHECK(found->rate == best_rate);
      CHECK(bpm::Rejector{found->threshold}.rate(scores) == found->rate);
      CHECK(found->error <= wanted);
    } else {
      ++impossible;
    }
  }
  CHECK(impossible > 10);
}

TEST_CASE("rejection refuses bad arguments", "[decision]") {
  const std::vector<double> scores{1, 2};
  const std::vector<double> empty;
  const std::vector<double> with_nan{1, kNaN};
  const std::vector<double> with_infinity{-kInfinity, 1};
  const std::vector<bool> correct{true, false};

  CHECK_THROWS_AS(bpm::threshold_for_rate(empty, 0.5), std::invalid_argument);
  CHECK_THROWS_WITH(bpm::threshold_for_rate(empty, 0.5),
                    "threshold_for_rate: scores is empty, must hold at least one score");
  CHECK_THROWS_WITH(bpm::Rejector{0.5}.rate(empty),
                    "Rejector::rate: scores is empty, must hold at least one score");
  CHECK_THROWS_WITH(bpm::rejected_indices(empty, 0.5),
                    "rejected_indices: scores is empty, must hold at least one score");
  CHECK_THROWS_WITH(bpm::threshold_for_error(empty, {}, 0.5),
                    "threshold_for_error: scores is empty, must hold at least one score");

  CHECK_THROWS_WITH(bpm::threshold_for_rate(with_nan, 0.5),
                    "threshold_for_rate: scores[1] is nan, must be finite");
  CHECK_THROWS_WITH(bpm::Rejector{0.5}.rate(with_nan),
                    "Rejector::rate: scores[1] is nan, must be finite");
  CHECK_THROWS_WITH(bpm::rejected_indices(with_infinity, 0.5),
                    "rejected_indices: scores[0] is -inf, must be finite");
  CHECK_THROWS_WITH(bpm::rejected_indices(with_nan, 0.5),
                    "rejected_indices: scores[1] is nan, must be finite");
  CHECK_THROWS_WITH(bpm::threshold_for_error(with_nan, correct, 0.5),
                    "threshold_for_error: scores[1] is nan, must be finite");

  CHECK_THROWS_WITH(bpm::threshold_for_rate(scores, 1.0),
                    "threshold_for_rate: rate is 1, must be at least 0 and below 1");
  CHECK_THROWS_WITH(bpm::rejected_indices(scores, -0.5),
                    "rejected_indices: rate is -0.5, must be at least 0 and below 1");
  CHECK_THROWS_WITH(bpm::rejected_indices(scores, kNaN),
                    "rejected_indices: rate is nan, must be at least 0 and below 1");
  CHECK_THROWS_WITH(bpm::Rejector{kNaN}.rate(scores),
                    "Rejector::rate: threshold is nan, must be a number");
  CHECK_THROWS_WITH(bpm::threshold_for_error(scores, {true}, 0.5),
                    "threshold_for_error: correct has 1 entries, expected 2 (one per score)");
  CHECK_THROWS_WITH(bpm::threshold_for_error(scores, correct, 1.5),
                    "threshold_for_error: wanted_error is 1.5, must be a fraction from 0 to 1");
  CHECK_THROWS_WITH(bpm::threshold_for_error(scores, correct, kNaN),
                    "threshold_for_error: wanted_error is nan, must be a fraction from 0 to 1");
}
