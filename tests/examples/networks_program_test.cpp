// SPDX-License-Identifier: MIT
// The program itself, with little to do.
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "program_test.hpp"

namespace networks_program {

using namespace examples_test;

namespace {

const std::string program = BPM_NETWORKS_PROGRAM;

}  // namespace

TEST_CASE("networks: drawn digits", "[examples]") {
  const Alone alone;
  const auto run_json = [&](const std::string& threads, const std::vector<std::string>& more) {
    std::vector<std::string> words{
        "--sizes",   "20,10",  "--depth", "3",        "--width", "16",     "--voters",
        "5",         "--test", "40",      "--epochs", "100",     "--json", alone.path("a.json"),
        "--threads", threads};
    words.insert(words.end(), more.begin(), more.end());
    ChildProcess child(program, words);
    const int status = child.wait();
    CAPTURE(child.errors());
    REQUIRE(status == 0);
    CHECK_THAT(child.out(), ContainsSubstring("NOT MNIST"));
    CHECK_THAT(child.out(), ContainsSubstring("large margin"));
    Json json = Json::parse(read_text(alone.path("a.json")));
    for (Json& entry : json) {
      CHECK(entry["seconds"].get<double>() > 0);
      entry.erase("seconds");
    }
    return json;
  };
  const Json json =
      run_json("1", draws_plots() ? std::vector<std::string>{"--plot", alone.path("a.svg")}
                                  : std::vector<std::string>{});
  REQUIRE(json.size() == 2);
  CHECK(json[0]["n"] == 20);
  CHECK(json[1]["n"] == 10);
  for (const Json& entry : json) {
    CHECK(entry["depth"] == 3);
    CHECK(entry["width"] == 16);
    CHECK(entry["voters"] == 5);
    CHECK(entry["data"] == "drawn");
    CHECK(entry["test_size"] == 40);
    for (const char* key :
         {"network_gibbs_error", "network_bayes_error", "network_bayes_error_half_voters",
          "large_margin_error", "kernel_interpolator_error", "balanced_kernel_interpolator_error",
          "large_margin_bayes_disagreement", "kernel_interpolator_bayes_disagreement",
          "large_margin_kernel_disagreement", "large_margin_balanced_kernel_disagreement",
          "voters_without_training_error", "voter_training_error", "large_margin_training_error"}) {
      CAPTURE(key);
      REQUIRE(entry.contains(key));
      CHECK(entry[key].get<double>() >= 0);
      CHECK(entry[key].get<double>() <= 1);
    }
    CHECK(entry["label_scale"].get<double>() > 0);
    CHECK(entry["voter_relative_loss"].get<double>() < 0.2);
    CHECK(entry["voter_relative_loss_worst"] >= entry["voter_relative_loss"]);
    CHECK(entry["large_margin_training_error"] == 0);
    CHECK(entry["large_margin_mean_margin"] > entry["large_margin_least_margin"]);
    CHECK(entry["large_margin_least_margin"].get<double>() > 0);
  }
  CHECK(run_json("2", {}) == json);
  if (draws_plots()) {
    CHECK_THAT(read_text(alone.path("a.svg")), ContainsSubstring("Drawn digits (not MNIST)"));
  }
  CHECK(run_json("2", {"--seed", "2"}) != json);
}

TEST_CASE("networks: one voter is its own majority", "[examples]") {
  const Alone alone;
  ChildProcess child(
      program, {"--sizes", "8", "--depth", "2", "--width", "2", "--voters", "1", "--test", "5",
                "--epochs", "1", "--quiet", "--json", alone.path("a.json")});
  REQUIRE(child.wait() == 0);
  CHECK(child.out().empty());
  CHECK(child.errors().empty());
  const Json json = Json::parse(read_text(alone.path("a.json")));
  CHECK(json[0]["network_gibbs_error"] == json[0]["network_bayes_error"]);
  CHECK(json[0]["network_bayes_error_half_voters"] == json[0]["network_bayes_error"]);
}

TEST_CASE("networks: a wrong command line ends with status 2", "[examples]") {
  const Alone alone;
  const std::vector<std::vector<std::string>> wrong{
      {"--sizes", "0"},   {"--sizes", "50,60001"}, {"--sizes", "a"},  {"--sizes", ""},
      {"--sizes", "50,"}, {"--sizes", "50,,60"},   {"--voters", "0"}, {"--width", "0"},
      {"--width", "1"},   {"--depth", "1"},        {"--test", "0"},   {"--test", "10001"},
      {"--epochs", "0"},  {"--rate", "0"}};
  for (const auto& words : wrong) {
    CAPTURE(words);
    ChildProcess child(program, words);
    CHECK(child.wait() == 2);
    CHECK_THAT(child.errors(), ContainsSubstring(words[0]));
    CHECK(child.out().empty());
  }
  ChildProcess sizes(program, {"--sizes", "50,60001"});
  CHECK(sizes.wait() == 2);
  CHECK_THAT(sizes.errors(), ContainsSubstring("'60001' is no whole number from 1 to 60000"));
  ChildProcess nowhere(program, {"--data", alone.path("none")});
  CHECK(nowhere.wait() == 1);
  CHECK_THAT(nowhere.errors(), ContainsSubstring("there is no folder"));
  ChildProcess help(program, {"--help"});
  CHECK(help.wait() == 0);
  CHECK_THAT(help.out(), ContainsSubstring("networks --plot networks.svg"));
}

TEST_CASE("networks: Ctrl-C ends a run in good order", "[examples]") {
  const Alone alone;
  ChildProcess child(program, {"--sizes", "30", "--voters", "100000", "--width", "32", "--test",
                               "10", "--json", alone.path("a.json")});
  // The data are named right before the first network.
  while (child.out().find("even against odd") == std::string::npos) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  child.send(SIGINT);
  CHECK(child.wait() == 130);
  CHECK_THAT(child.errors(), ContainsSubstring("nothing was written"));
  CHECK_FALSE(std::filesystem::exists(alone.path("a.json")));
}

}  // namespace networks_program
