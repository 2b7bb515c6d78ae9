// SPDX-License-Identifier: MIT
// The program itself: exit status, what it prints, the files it leaves.
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "catch.hpp"
#include "child_process.hpp"
#include "common/json_file.hpp"
#include "common/plot.hpp"
#include "temporary_folder.hpp"

namespace bpm_convergence_program {

using bpm_examples::Json;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using examples_test::ChildProcess;
using examples_test::read_text;
using examples_test::TemporaryFolder;

namespace {

using Words = std::vector<std::string>;

struct Outcome {
  int status = 0;
  std::string out;
  std::string errors;
};

Outcome run(const Words& arguments) {
  ChildProcess child(BPM_BPM_CONVERGENCE_PROGRAM, arguments);
  Outcome outcome;
  outcome.status = child.wait();
  outcome.out = child.out();
  outcome.errors = child.errors();
  return outcome;
}

void refuse(int status, const Words& arguments, const std::string& part) {
  const Outcome outcome = run(arguments);
  CAPTURE(arguments);
  CHECK(outcome.status == status);
  CHECK(outcome.out.empty());
  CHECK_THAT(outcome.errors, StartsWith("bpm_convergence: "));
  CHECK_THAT(outcome.errors, ContainsSubstring(part));
  CHECK(std::count(outcome.errors.begin(), outcome.errors.end(), '\n') == 1);
}

}  // namespace

TEST_CASE("bpm_convergence: a small run reports, saves and plots", "[examples]") {
  const TemporaryFolder folder;
  const std::string json_name = (folder.path() / "a.json").string();
  const std::string plot_name = (folder.path() / "a.svg").string();
  const bool plots = !bpm_examples::plot_detail::find_program("gnuplot").empty();
  Words words{"--tables", "1,4", "--bounces", "500", "--splits", "4", "--json", json_name};
  if (plots) words.insert(words.end(), {"--plot", plot_name});
  const Outcome outcome = run(words);
  CAPTURE(outcome.errors);
  REQUIRE(outcome.status == 0);
  CHECK_THAT(outcome.out, StartsWith("100 points, uniform on [-1, 1]"));
  CHECK_THAT(outcome.out, ContainsSubstring("\nTable 1: uniform data in 5 dimensions, kernel <x"));
  CHECK_THAT(outcome.out, ContainsSubstring("\n  paper         96.25 +-  2.70"));
  CHECK_THAT(outcome.out, !ContainsSubstring("Table 2"));

  const Json json = Json::parse(read_text(json_name));
  REQUIRE(json.size() == 12);  // Two tables, three rows, two flights.
  for (const Json& row : json) {
    CAPTURE(row.dump());
    CHECK(row.size() == 14);
    const bool rbf = row["kernel"] == "rbf";
    CHECK(row["table"] == (rbf ? 4 : 1));
    CHECK(row["dimension"] == (rbf ? 40 : 5));
    CHECK(row["distribution"] == "uniform");
    // Learnable in five dimensions, a coin in forty; all points are support vectors there.
    CHECK(row["bpm_accuracy"].get<double>() > (rbf ? 20 : 80));
    CHECK(row["bpm_accuracy"].get<double>() < (rbf ? 80 : 100.1));
    CHECK(row["n_support_vectors"].get<double>() <= (rbf ? 60 : 6));
    CHECK(row["n_support_vectors"].get<double>() >= (rbf ? 60 : 3));
    CHECK(row["d_svm"].get<double>() > 0.01);
    CHECK(row["d_svm"].get<double>() < 1);
    CHECK(row["lambda_max"].get<double>() > 0.05);
    CHECK(row["lambda_max"].get<double>() < 1.5);
    CHECK(row["delta_alpha"].get<double>() > 0);
  }
  CHECK(json[0]["flight"] == "published");
  CHECK(json[1]["flight"] == "geodesic");
  CHECK(json[0]["svm_accuracy"] == json[1]["svm_accuracy"]);
  // The change falls with the bounces.
  CHECK(json[5]["delta_alpha"].get<double>() < json[1]["delta_alpha"].get<double>());
  if (plots) {
    const std::string svg = read_text(plot_name);
    CHECK_THAT(svg, ContainsSubstring("published flight"));
    CHECK_THAT(svg, ContainsSubstring("support vectors of 60"));
  }
}

TEST_CASE("bpm_convergence: threads change nothing, the seed does", "[examples]") {
  const TemporaryFolder folder;
  const std::string name = (folder.path() / "a.json").string();
  const auto result = [&](const std::string& threads, const std::string& seed) {
    const Outcome outcome = run({"--tables", "2", "--bounces", "100", "--splits", "3", "--quiet",
                                 "--json", name, "--threads", threads, "--seed", seed});
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(outcome.out.empty());
    CHECK(outcome.errors.empty());
    return read_text(name);
  };
  const std::string one = result("1", "1");
  CHECK(one == result("3", "1"));
  CHECK(one != result("1", "2"));
}

TEST_CASE("bpm_convergence: a wrong command line, and help", "[examples]") {
  refuse(2, {"--tables", "0"}, "--tables: '0' is no whole number from 1 to 6");
  refuse(2, {"--bounces", "1e3"}, "--bounces");
  refuse(1, {"--json", "/nowhere/a.json"}, "cannot write '/nowhere/a.json'");
  const Outcome help = run({"--help"});
  CHECK(help.status == 0);
  CHECK_THAT(help.out, ContainsSubstring("bpm_convergence --tables 1,3 --bounces 5000\n"));
  CHECK_THAT(help.out, ContainsSubstring("bpm_convergence --json a.json --plot a.svg"));
}

}  // namespace bpm_convergence_program
