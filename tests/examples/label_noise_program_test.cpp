// SPDX-License-Identifier: MIT
// The program itself, with little to do.
#include <string>
#include <vector>

#include "catch.hpp"
#include "program_test.hpp"

namespace label_noise_program {

using namespace examples_test;

namespace {

const std::string program = BPM_LABEL_NOISE_PROGRAM;

}  // namespace

TEST_CASE("label_noise: the drawn set alone", "[examples]") {
  const Alone alone;
  const auto run_json = [&](const std::string& threads, const std::vector<std::string>& more) {
    std::vector<std::string> words{"--train",          "40",
                                   "--splits",         "2",
                                   "--evidence",       "1",
                                   "--steps",          "30000",
                                   "--evidence-steps", "640",
                                   "--threads",        threads,
                                   "--json",           alone.path("a.json")};
    words.insert(words.end(), more.begin(), more.end());
    ChildProcess child(program, words);
    REQUIRE(child.wait() == 0);
    CHECK_THAT(child.errors(), !ContainsSubstring("warning"));
    CHECK_THAT(child.out(), ContainsSubstring("Of heart and banana, neither was found"));
    CHECK_THAT(child.out(), ContainsSubstring("waves: 40 training points, 2 labels flipped"));
    return Json::parse(read_text(alone.path("a.json")));
  };
  const Json json =
      run_json("1", draws_plots() ? std::vector<std::string>{"--plot", alone.path("a.svg")}
                                  : std::vector<std::string>{});
  REQUIRE(json.size() == 5);
  int largest = 0;
  for (const Json& row : json) {
    CAPTURE(row.dump());
    CHECK(row["dataset"] == "waves");
    CHECK(row["splits"] == 2);
    CHECK(row["train_size"] == 40);
    CHECK(row["test_size"] == 2000);
    CHECK(row["flipped"] == 2);
    CHECK(row["gibbs_error_percent"].get<double>() < 40);
    CHECK(row["svm_error_percent"].get<double>() < 40);
    CHECK(row["log_evidence"].get<double>() < 0);
    CHECK(row["log_evidence_se"].get<double>() > 0);
    CHECK(row["warnings"].empty());
    largest += row["largest_evidence"].get<bool>() ? 1 : 0;
  }
  CHECK(largest == 1);
  CHECK(json[0]["noise"] == 0.01);
  CHECK(json[4]["noise"] == 0.2);
  CHECK(json[0]["training_errors_percent"] < json[4]["training_errors_percent"]);
  CHECK(run_json("2", {}) == json);
  if (draws_plots()) {
    CHECK_THAT(read_text(alone.path("a.svg")), ContainsSubstring("</svg>"));
  }
}

TEST_CASE("label_noise: a wrong command line ends with status 2", "[examples]") {
  const Alone alone;
  const auto refuse = [&](int status, const std::vector<std::string>& words,
                          const std::string& part) { check_refused(program, status, words, part); };
  refuse(2, {"--flipped", "0.6"}, "--flipped");
  refuse(2, {"--splits", "2", "--evidence", "3"}, "--evidence is 3, must be at most --splits, 2");
  refuse(1, {"--data", alone.path("none")}, "there is no folder");
  ChildProcess help(program, {"--help"});
  CHECK(help.wait() == 0);
  CHECK_THAT(help.out(), ContainsSubstring("label_noise --plot"));
}

}  // namespace label_noise_program
