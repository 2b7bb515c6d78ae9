// SPDX-License-Identifier: MIT
#include "bpm/decision/rejection.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include "bpm/core/random.hpp"
#include "catch.hpp"
#include "message_of.hpp"

using test_support::message_of;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// n scores n - 1 .. 0, highest first.
std::vector<double> descending(std::size_t n) {
  std::vector<double> scores(n);
  for (std::size_t i = 0; i < n; ++i) scores[i] = static_cast<double>(n - 1 - i);
  return scores;
}

}  // namespace

TEST_CASE("without an error everything is accepted, where there are inputs enough", "[decision]") {
  // log(0.1) / log(0.9) = 21.85.
  const auto found = bpm::certify_risk(descending(22), std::vector<bool>(22, true), 0.1, 0.1);
  CHECK(found.found);
  CHECK(found.needed == 22);
  CHECK(found.threshold == -infinity);
  CHECK(found.accepted == 22);
  CHECK(found.errors == 0);
  CHECK(found.coverage == 1);
  CHECK(found.rejector().accepts(-1e308));

  const auto none = bpm::certify_risk(descending(21), std::vector<bool>(21, true), 0.1, 0.1);
  CHECK_FALSE(none.found);
  CHECK(none.message() == "a threshold takes at least 22 accepted inputs without an error");
  CHECK_FALSE(none.rejector().accepts(1e308));
}

TEST_CASE("the last threshold before the first failure is returned", "[decision]") {
  // needed = 22, so 44, then (400 - 44) / 19 = 18.7 more at each step: 44 62 81 100 118 ...
  const std::size_t n = 400;
  std::vector<bool> correct(n, true);
  // Of 100 accepted inputs 5 errors have P(Bin(100, .1) <= 5) = 0.058, 6 have 0.117: of 118 inputs
  // 7 errors pass (0.0835), 8 do not (0.147).
  for (const std::size_t i : {50, 70, 82, 90, 95}) correct[i] = false;
  for (std::size_t i = 101; i < 104; ++i) correct[i] = false;
  const auto found = bpm::certify_risk(descending(n), correct, 0.1, 0.1);
  REQUIRE(found.found);
  CHECK(found.accepted == 100);
  CHECK(found.errors == 5);
  // The score of the first that is not accepted; the next above it is.
  CHECK(found.threshold == 299);
  CHECK(found.rejector().accepts(300));
  CHECK_FALSE(found.rejector().accepts(299));
  CHECK(found.coverage == 0.25);
  CHECK(found.message() ==
        "scores above 299: 100 calibration inputs accepted, 5 wrong, risk at most 0.1 "
        "with confidence 0.9");

  // Fewer errors further down do not open the sequence again.
  std::vector<bool> bad_start(n, true);
  for (std::size_t i = 0; i < 3; ++i) bad_start[i] = false;  // P(Bin(44, .1) <= 3) = 0.35.
  CHECK_FALSE(bpm::certify_risk(descending(n), bad_start, 0.1, 0.1).found);
}

TEST_CASE("equal scores are accepted or refused together", "[decision]") {
  // The 45th of these shares the score of all below the first 10: no threshold has 22 above it but
  // the last, which accepts all.
  std::vector<double> scores(100, 1.0);
  std::fill_n(scores.begin(), 10, 2.0);
  std::vector<bool> correct(100, true);
  const auto all = bpm::certify_risk(scores, correct, 0.1, 0.1);
  CHECK(all.found);
  CHECK(all.accepted == 100);
  // Eight errors among the hundred are too many (P = 0.32).
  std::fill_n(correct.begin() + 50, 8, false);
  CHECK_FALSE(bpm::certify_risk(scores, correct, 0.1, 0.1).found);

  // A tie of 60 at the top: the first threshold would accept none of them and is left out.
  std::fill_n(scores.begin(), 60, 3.0);
  std::fill(correct.begin(), correct.end(), true);
  std::fill_n(correct.begin() + 70, 20, false);
  const auto top = bpm::certify_risk(scores, correct, 0.1, 0.1);
  CHECK(top.accepted == 60);
  CHECK(top.threshold == 1);
}

TEST_CASE("a test takes its whole delta, and not a bit more", "[decision]") {
  // Of 30 inputs all are accepted by the first test, which is the only one. One error in 30 has
  // P(Bin(30, .1) <= 1) = .9^30 + 30 .1 .9^29 = 0.184 where the risk is .1.
  const double level = std::pow(0.9, 30) + 3 * std::pow(0.9, 29);
  std::vector<bool> correct(30, true);
  correct[12] = false;
  CHECK(bpm::certify_risk(descending(30), correct, 0.1, level * (1 + 1e-9)).found);
  CHECK_FALSE(bpm::certify_risk(descending(30), correct, 0.1, level * (1 - 1e-9)).found);
}

TEST_CASE("a certified risk holds as often as it says", "[decision][at length]") {
  // Scores s uniform on a grid of 500, wrong with probability q(s) = (1 - s)^3 / 2; the risk above
  // a threshold is known. 4 000 samples of 1 000 at risk 5 %, delta 0.1: 400 violations allowed,
  // one standard error is 19. The threshold at which the error of the sample itself is 5 % violates
  // half the time, and is seen to.
  const std::size_t grid = 500;
  std::vector<double> wrong(grid);
  for (std::size_t g = 0; g < grid; ++g) {
    wrong[g] = std::pow(1 - static_cast<double>(g) / grid, 3) / 2;
  }
  const auto risk_above = [&](double threshold) {
    double sum = 0;
    double count = 0;
    for (std::size_t g = 0; g < grid; ++g) {
      if (static_cast<double>(g) > threshold) {
        sum += wrong[g];
        ++count;
      }
    }
    return sum / count;
  };
  const double risk = 0.05;
  int violations = 0;
  int naive_violations = 0;
  int found = 0;
  for (std::uint64_t sample = 0; sample < 4000; ++sample) {
    bpm::RandomEngine engine(11, sample);
    std::vector<double> scores(1000);
    std::vector<bool> correct(1000);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const auto g = bpm::uniform_below(engine, grid);
      scores[i] = static_cast<double>(g);
      correct[i] = bpm::uniform_unit(engine) >= wrong[g];
    }
    const auto result = bpm::certify_risk(scores, correct, risk, 0.1);
    found += result.found;
    violations += result.found && risk_above(result.threshold) > risk;
    const auto naive = bpm::threshold_for_error(scores, correct, risk);
    naive_violations += naive && risk_above(naive->threshold - 0.5) > risk;
  }
  CAPTURE(violations, naive_violations, found);
  CHECK(violations <= 400 + 3 * 19);
  CHECK(found > 3900);
  CHECK(naive_violations > 1200);
}

TEST_CASE("predicted classes share delta", "[decision]") {
  std::vector<double> scores = descending(200);
  std::vector<bool> correct(200, true);
  std::vector<int> predicted(200);
  for (std::size_t i = 0; i < 200; ++i) predicted[i] = i < 100 ? 7 : -3;
  correct[10] = false;
  const std::vector<int> classes{-3, 0, 7};
  const auto found = bpm::certify_risk(scores, correct, predicted, classes, 0.1, 0.3);
  REQUIRE(found.size() == 3);
  const auto negative = bpm::certify_risk(std::vector<double>(scores.begin() + 100, scores.end()),
                                          std::vector<bool>(100, true), 0.1, 0.1);
  CHECK(found[0].threshold == negative.threshold);
  CHECK(found[0].delta == Approx(0.1));
  CHECK(found[0].errors == 0);
  CHECK_FALSE(found[1].found);
  CHECK(found[1].needed == 22);
  CHECK(found[2].errors == 1);
  CHECK(found[2].accepted == 100);
}

TEST_CASE("certify_risk refuses what cannot be certified", "[decision]") {
  const std::vector<double> scores{1, 2};
  const std::vector<bool> correct{true, false};
  CHECK(message_of([&] { (void)bpm::certify_risk(scores, std::vector<bool>{true}, 0.1, 0.1); }) ==
        "certify_risk: correct has 1 entries, expected 2 (one per score)");
  CHECK(message_of([&] { (void)bpm::certify_risk(scores, correct, 1, 0.1); }) ==
        "certify_risk: risk is 1, must lie between 0 and 1");
  CHECK(message_of([&] { (void)bpm::certify_risk(scores, correct, 0.1, 0); }) ==
        "certify_risk: delta is 0, must lie between 0 and 1");
  CHECK(message_of([&] {
          (void)bpm::certify_risk(std::vector<double>{infinity}, std::vector<bool>{true}, 0.1, 0.1);
        }) == "certify_risk: scores[0] is inf, must be finite");
  CHECK(bpm::certify_risk(scores, correct, 1e-300, 0.01).needed > std::size_t{1} << 60U);
  const std::vector<int> nobody{0, 3};
  CHECK(message_of([&] { (void)bpm::certify_risk({}, std::vector<bool>{}, {}, nobody, 0, 0.1); }) ==
        "certify_risk: risk is 0, must lie between 0 and 1");
  const std::vector<int> predicted{1, 2};
  CHECK(message_of([&] {
          (void)bpm::certify_risk(scores, correct, predicted, std::vector<int>{0, 1}, 0.1, 0.1);
        }) == "certify_risk: predicted[1] is 2, must be one of the given classes");
  CHECK(message_of([&] {
          (void)bpm::certify_risk(scores, correct, predicted, std::vector<int>{2, 1}, 0.1, 0.1);
        }) == "certify_risk: classes must hold a label, and ascend");
  CHECK(message_of([&] {
          (void)bpm::certify_risk(scores, correct, std::vector<int>{1}, predicted, 0.1, 0.1);
        }) == "certify_risk: predicted has 1 entries, expected 2 (one per score)");
}
