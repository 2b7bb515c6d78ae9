// SPDX-License-Identifier: MIT
// The program itself, with little to do.
#include <string>
#include <vector>

#include "catch.hpp"
#include "program_test.hpp"

namespace model_selection_program {

using namespace examples_test;

namespace {

const std::string program = BPM_MODEL_SELECTION_PROGRAM;

}  // namespace

TEST_CASE("model_selection: drawn digits", "[examples]") {
  const Alone alone;
  std::vector<std::string> words{"--train", "40",  "--subsets", "2",
                                 "--test",  "200", "--json",    alone.path("a.json")};
  if (draws_plots()) words.insert(words.end(), {"--plot", alone.path("a.svg")});
  ChildProcess child(program, words);
  REQUIRE(child.wait() == 0);
  CHECK_THAT(child.out(), ContainsSubstring("drawn digits, NOT MNIST"));
  const Json json = Json::parse(read_text(alone.path("a.json")));
  CHECK(json["data"] == "drawn");
  CHECK(json["kernels"].size() == 50);
  CHECK(json["choices"].size() == 10);
  for (const Json& choice : json["choices"]) {
    CAPTURE(choice.dump());
    if (choice["search"] != "grid") continue;
    for (const Json& kernel : json["kernels"]) {
      if (kernel["subset"] != choice["subset"] || kernel["failure"] != "") continue;
      if (choice["criterion"] == "evidence") {
        CHECK(kernel["log_evidence"] <= choice["log_evidence"]);
      } else if (choice["criterion"] == "c-bound") {
        CHECK(kernel["c_bound"] >= choice["c_bound"]);
      } else {
        CHECK(kernel["centre_of_mass_error"] >= choice["centre_of_mass_error"]);
      }
    }
  }
  if (draws_plots()) {
    CHECK_THAT(read_text(alone.path("a.svg")), ContainsSubstring("</svg>"));
  }
}

TEST_CASE("model_selection: a wrong command line ends with status 2", "[examples]") {
  const Alone alone;
  const auto refuse = [&](int status, const std::vector<std::string>& words,
                          const std::string& part) { check_refused(program, status, words, part); };
  refuse(2, {"--train", "2"}, "'2' is no whole number from 10 to 5000");
  refuse(2, {"--subsets", "0"}, "--subsets");
  refuse(1, {"--data", alone.path("none")}, "there is no folder");
  ChildProcess help(program, {"--help"});
  CHECK(help.wait() == 0);
  CHECK_THAT(help.out(), ContainsSubstring("model_selection --plot"));
}

}  // namespace model_selection_program
