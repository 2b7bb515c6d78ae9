// SPDX-License-Identifier: MIT
// The program itself: exit status, what it prints, the files it leaves.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "catch.hpp"
#include "child_process.hpp"
#include "common/json_file.hpp"
#include "common/plot.hpp"
#include "temporary_folder.hpp"

namespace decision_boundary_program {

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
  ChildProcess child(BPM_DECISION_BOUNDARY_PROGRAM, arguments);
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
  CHECK_THAT(outcome.errors, StartsWith("decision_boundary: "));
  CHECK_THAT(outcome.errors, ContainsSubstring(part));
  CHECK(std::count(outcome.errors.begin(), outcome.errors.end(), '\n') == 1);
}

}  // namespace

TEST_CASE("decision_boundary: a run reports and saves", "[examples]") {
  const TemporaryFolder folder;
  const std::string name = (folder.path() / "a.json").string();
  const Outcome outcome = run({"--train", "40", "--json", name, "--bounces", "20000"});
  CAPTURE(outcome.errors);
  REQUIRE(outcome.status == 0);
  CHECK(outcome.errors.empty());
  CHECK_THAT(outcome.out, StartsWith("40 training points in the plane"));
  CHECK_THAT(outcome.out, ContainsSubstring("rad from the true centre after 20000 bounces"));

  const Json json = Json::parse(read_text(name));
  CHECK(json["train_size"] == 40);
  CHECK(json["warnings"].empty());
  CHECK(json["test_size"] == 10000);
  REQUIRE(json["training_points"].size() == 40);
  CHECK(json["training_points"][0]["x"].size() == 2);
  for (const char* key : {"svm", "bpm"}) {
    CHECK(json[key]["accuracy"].get<double>() > 0.75);
    CHECK(json[key]["accuracy"].get<double>() < 1);
    CHECK(json[key]["margin"].get<double>() > 0);
  }
  // Nothing in version space is further from its facets than the SVM.
  CHECK(json["svm"]["margin"].get<double>() > json["bpm"]["margin"].get<double>());
  CHECK(json["angle"].get<double>() > 0.01);
  CHECK(json["angle"].get<double>() < 1.6);
  const Json& sphere = json["sphere"];
  CHECK(sphere["angle_to_exact"].get<double>() < 0.02);
  CHECK(sphere["angle"].get<double>() > 0.1);
  // The SVM stands equally far from three planes, and no nearer to any.
  int touching = 0;
  for (const Json& input : sphere["inputs"]) {
    double output = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      output += input["label"].get<double>() * input["x"][k].get<double>() *
                sphere["svm"][k].get<double>();
    }
    const double distance = std::asin(output) - sphere["svm_radius"].get<double>();
    CHECK(distance > -1e-4);
    touching += distance < 1e-4 ? 1 : 0;
  }
  CHECK(touching == 3);
}

TEST_CASE("decision_boundary: the same seed, the same result", "[examples]") {
  const TemporaryFolder folder;
  const std::string name = (folder.path() / "a.json").string();
  const auto result = [&](const std::string& seed) {
    const Outcome outcome =
        run({"--train", "20", "--bounces", "2000", "--quiet", "--json", name, "--seed", seed});
    CHECK(outcome.status == 0);
    CHECK(outcome.out.empty());
    return read_text(name);
  };
  const std::string one = result("1");
  CHECK(one == result("1"));
  CHECK(one != result("2"));
}

TEST_CASE("decision_boundary: both pictures are drawn", "[examples]") {
  if (bpm_examples::plot_detail::find_program("gnuplot").empty()) {
    WARN("gnuplot is not installed: not run");
    return;
  }
  const TemporaryFolder folder;
  const auto plane = folder.path() / "plane.svg";
  const auto sphere = folder.path() / "sphere.svg";
  const Outcome outcome = run(
      {"--quiet", "--bounces", "2000", "--plot", plane.string(), "--plot-sphere", sphere.string()});
  CAPTURE(outcome.errors);
  CHECK(outcome.status == 0);
  CHECK(outcome.errors.empty());
  CHECK_THAT(read_text(plane), ContainsSubstring("Bayes point: margin"));
  CHECK_THAT(read_text(sphere), ContainsSubstring("Bayes point: centre of mass"));
  refuse(2, {"--plot", plane.string(), "--plot-sphere", plane.string()}, "name the same file");
  refuse(1, {"--plot-sphere", "/nowhere/a.svg"}, "cannot write '/nowhere/a.svg'");
}

TEST_CASE("decision_boundary: a wrong command line, and help", "[examples]") {
  refuse(2, {"--train", "3"}, "--train: '3' is no whole number from 4 to 2000");
  refuse(2, {"--plot-sphere", ""}, "--plot-sphere: the name is empty");
  refuse(1, {"--json", "/nowhere/a.json"}, "cannot write '/nowhere/a.json'");
  const Outcome help = run({"--help"});
  CHECK(help.status == 0);
  CHECK_THAT(help.out, ContainsSubstring("decision_boundary --plot boundary.svg --plot-sphere"));
  CHECK_THAT(help.out, ContainsSubstring("decision_boundary --train 200 --seed 3 --json a.json"));
}

}  // namespace decision_boundary_program
