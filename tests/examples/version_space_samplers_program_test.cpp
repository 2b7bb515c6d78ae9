// SPDX-License-Identifier: MIT
// The program itself, with little to do.
#include <string>
#include <vector>

#include "catch.hpp"
#include "program_test.hpp"

using namespace examples_test;

namespace {

const std::string program = BPM_VERSION_SPACE_SAMPLERS_PROGRAM;

}  // namespace

TEST_CASE("version_space_samplers: drawn digits", "[examples]") {
  const Alone alone;
  const auto run_json = [&](const std::string& threads, const std::vector<std::string>& more) {
    std::vector<std::string> words{"--train",   "30",      "--test", "40",     "--samples",
                                   "20",        "--steps", "50",     "--json", alone.path("a.json"),
                                   "--threads", threads};
    words.insert(words.end(), more.begin(), more.end());
    ChildProcess child(program, words);
    CAPTURE(child.errors());
    REQUIRE(child.wait() == 0);
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
      CHECK(percent.get<double>() >= 0);
      CHECK(percent.get<double>() <= 50);
    }
  }
  CHECK(json["ks_statistic"].get<double>() >= 0);
  CHECK(json["ks_statistic"].get<double>() <= 1);
  REQUIRE(json["quantiles"].size() == 99);
  CHECK(json["quantiles"][0]["q"] == 0.01);
  CHECK(json["quantiles"][98]["gibbs"] >= json["quantiles"][0]["gibbs"]);
  CHECK(json["quantiles"][98]["perceptron"] >= json["quantiles"][0]["perceptron"]);
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
