// SPDX-License-Identifier: MIT
// The program itself, with little to do, and its counts on a population made by hand.
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "bpm/core/errors.hpp"
#include "catch.hpp"
#include "certified_risk/calibration.hpp"
#include "program_test.hpp"

namespace certified_risk_program {

using namespace examples_test;
using bpm_examples::Population;

namespace {

const std::string program = BPM_CERTIFIED_RISK_PROGRAM;

bool go_on(const bpm::Progress&) { return true; }

/// Every tenth of the 2 000 lowest scores is wrong, none of the 8 000 others.
Population tenth_of_a_fifth() {
  std::vector<double> scores;
  std::vector<bool> correct;
  for (int i = 0; i < 10'000; ++i) {
    scores.push_back(i);
    correct.push_back(i >= 2000 || i % 10 != 0);
  }
  return {scores, correct};
}

}  // namespace

TEST_CASE("certified_risk: the risk of a population above a threshold", "[examples]") {
  const Population population({5, 1, 3, 3}, {true, false, true, false});
  CHECK(population.size() == 4);
  CHECK(population.accepted({6}) == 0);
  CHECK(population.accepted({5}) == 1);
  CHECK(population.accepted({3}) == 3);  // Equal scores together.
  CHECK(population.accepted({}) == 4);
  CHECK(population.risk(0) == 0);
  CHECK(population.risk(1) == 0);
  CHECK(population.risk(3) == Approx(1.0 / 3));
  CHECK(population.risk(4) == Approx(0.5));
  CHECK_THROWS_AS(Population({1, 2}, {true}), std::invalid_argument);

  // No threshold, one that keeps to a half, one that does not.
  const auto summary = bpm_examples::summary_of(population, {0, 1, 4}, 0.4);
  CHECK(summary.returned == Approx(2.0 / 3));
  CHECK(summary.violated == Approx(1.0 / 3));
  CHECK(summary.coverage == Approx(5.0 / 12));
  CHECK(bpm_examples::violations_allowed(0.05, 100'000) == Approx(0.05207).epsilon(1e-4));
}

TEST_CASE("certified_risk: the same on any number of threads, and what is known of it",
          "[examples]") {
  const Population population = tenth_of_a_fifth();
  constexpr std::size_t samples = 1200;
  const auto one = bpm_examples::draw_thresholds(population, samples, 4000, 7, 1, go_on);
  const auto three = bpm_examples::draw_thresholds(population, samples, 4000, 7, 3, go_on);
  for (std::size_t l = 0; l < one.size(); ++l) {
    CHECK(one[l].certified == three[l].certified);
    CHECK(one[l].naive == three[l].naive);
    const auto [risk, delta] = bpm_examples::risk_levels[l];
    const auto certified = bpm_examples::summary_of(population, one[l].certified, risk);
    const auto naive = bpm_examples::summary_of(population, one[l].naive, risk);
    CHECK(certified.violated <= bpm_examples::violations_allowed(delta, samples));
    CHECK(certified.returned > 0.9);
    // Where a sample's own error is the risk asked for, the population's is above it in about one
    // sample of two; the standard error of a half is 0.014.
    CHECK(naive.violated > 0.3);
    CHECK(naive.violated < 0.7);
    CHECK(certified.coverage < naive.coverage);
  }
  CHECK(one[0].certified !=
        bpm_examples::draw_thresholds(population, samples, 4000, 8, 1, go_on)[0].certified);
  CHECK_THROWS_AS(bpm_examples::draw_thresholds(population, 10, 10, 1, 1,
                                                [](const bpm::Progress&) { return false; }),
                  bpm::Stopped);
}

TEST_CASE("certified_risk: drawn digits", "[examples]") {
  const Alone alone;
  std::vector<std::string> words{"--train", "500",    "--test", "300",    "--samples",
                                 "40",      "--size", "1000",   "--json", alone.path("a.json")};
  if (draws_plots()) words.insert(words.end(), {"--plot", alone.path("a.svg")});
  ChildProcess child(program, words);
  const int status = child.wait();
  CAPTURE(child.errors());
  REQUIRE(status == 0);
  CHECK_THAT(child.out(), ContainsSubstring("NOT MNIST"));
  const Json json = Json::parse(read_text(alone.path("a.json")));
  REQUIRE(json.size() == 2);
  CHECK(json[0]["risk_percent"] == Approx(1));
  CHECK(json[0]["delta"] == 0.05);
  CHECK(json[1]["risk_percent"] == Approx(0.5));
  CHECK(json[1]["delta"] == 0.01);
  for (const Json& entry : json) {
    CHECK(entry["data"] == "drawn");
    CHECK(entry["test_size"] == 300);
    CHECK(entry["sample_size"] == 1000);
    CHECK(entry["samples"] == 40);
    CHECK(entry["violated"].get<double>() <= entry["violated_allowed"].get<double>());
    CHECK(entry["violated"].get<double>() <= entry["returned"].get<double>());
  }
  if (draws_plots()) {
    CHECK_THAT(read_text(alone.path("a.svg")), ContainsSubstring("Drawn digits (not MNIST)"));
  }
}

TEST_CASE("certified_risk: what is refused", "[examples]") {
  check_refused(program, 2, {"--samples", "0"}, "--samples");
  check_refused(program, 2, {"--size", "x"}, "--size");
}

}  // namespace certified_risk_program
