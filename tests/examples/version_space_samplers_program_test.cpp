// SPDX-License-Identifier: MIT
// The program itself, with little to do.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "catch.hpp"
#include "program_test.hpp"

namespace version_space_samplers_program {

using namespace examples_test;

namespace {

const std::string program = BPM_VERSION_SPACE_SAMPLERS_PROGRAM;

/// The largest distance between two distribution functions of 20 numbers each.
double ks_by_hand(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (const double at : a) {
    const auto up_to = [at](double value) { return value <= at; };
    const auto below = [at](double value) { return value < at; };
    largest = std::max({largest,
                        std::abs(double(std::ranges::count_if(a, up_to)) -
                                 double(std::ranges::count_if(b, up_to))),
                        std::abs(double(std::ranges::count_if(a, below)) -
                                 double(std::ranges::count_if(b, below)))});
  }
  return largest / 20;
}

}  // namespace

TEST_CASE("version_space_samplers: drawn digits", "[examples]") {
  const Alone alone;
  const auto run_json = [&](const std::string& threads, const std::vector<std::string>& more) {
    std::vector<std::string> words{"--train",   "30",      "--test", "40",     "--samples",
                                   "20",        "--steps", "1000",   "--json", alone.path("a.json"),
                                   "--threads", threads};
    words.insert(words.end(), more.begin(), more.end());
    ChildProcess child(program, words);
    CAPTURE(child.errors());
    REQUIRE(child.wait() == 0);
    CHECK_THAT(child.errors(), !ContainsSubstring("warning"));
    CHECK_THAT(child.out(), ContainsSubstring("NOT MNIST"));
    CHECK_THAT(child.out(), ContainsSubstring("Kolmogorov-Smirnov"));
    return Json::parse(read_text(alone.path("a.json")));
  };
  const Json json =
      run_json("1", draws_plots() ? std::vector<std::string>{"--plot", alone.path("a.svg")}
                                  : std::vector<std::string>{});
  CHECK(json["data"] == "drawn");
  CHECK(json["train_size"] == 30);
  CHECK(json["test_size"] == 40);
  CHECK(json["samples"] == 20);
  for (const char* key :
       {"gibbs_error_percent", "perceptron_error_percent", "billiard_error_percent"}) {
    CAPTURE(key);
    REQUIRE(json[key].size() == 20);
    for (const auto& percent : json[key]) {
      const double errors = percent.get<double>() * 40 / 100;  // Of 40 test digits.
      CHECK(errors == Approx(std::round(errors)).margin(1e-9));
      CHECK(errors < 20);  // Any of them is better than a coin.
    }
  }
  CHECK(json["ks_statistic"].get<double>() ==
        Approx(ks_by_hand(json["gibbs_error_percent"], json["perceptron_error_percent"])));
  CHECK(json["ks_statistic_billiard"].get<double>() ==
        Approx(ks_by_hand(json["gibbs_error_percent"], json["billiard_error_percent"])));
  REQUIRE(json["quantiles"].size() == 99);
  CHECK(json["quantiles"][0]["q"] == 0.01);
  CHECK(json["quantiles"][98]["gibbs"] >= json["quantiles"][0]["gibbs"]);
  CHECK(json["quantiles"][98]["perceptron"] >= json["quantiles"][0]["perceptron"]);
  CHECK(json["warnings"].empty());
  CHECK(run_json("2", {}) == json);
  if (draws_plots()) {
    CHECK_THAT(read_text(alone.path("a.svg")), ContainsSubstring("Drawn digits (not MNIST)"));
  }
}

TEST_CASE("version_space_samplers: a wrong command line ends with status 2", "[examples]") {
  const Alone alone;
  ChildProcess wrong(program, {"--samples", "0"});
  CHECK(wrong.wait() == 2);
  CHECK_THAT(wrong.errors(), ContainsSubstring("--samples"));
  ChildProcess nowhere(program, {"--data", alone.path("none")});
  CHECK(nowhere.wait() == 1);
  CHECK_THAT(nowhere.errors(), ContainsSubstring("there is no folder"));
  ChildProcess help(program, {"--help"});
  CHECK(help.wait() == 0);
  CHECK_THAT(help.out(), ContainsSubstring("version_space_samplers --plot"));
}

}  // namespace version_space_samplers_program
