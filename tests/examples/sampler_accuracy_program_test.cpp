// SPDX-License-Identifier: MIT
// The program itself, with little to do.
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "catch.hpp"
#include "program_test.hpp"

namespace sampler_accuracy_program {

using namespace examples_test;

namespace {

const std::string program = BPM_SAMPLER_ACCURACY_PROGRAM;

/// Points so far from each other that the kernel matrix is the identity: the centre's outputs are
/// all of one size.
std::string far_points(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const int label = i % 3 == 0 ? 1 : -1;
    const double output = label / std::sqrt(count);
    text += std::to_string(50 * i) + ",0.25," + std::to_string(label) + ',' +
            std::to_string(output) + '\n';
  }
  return text;
}

void write_cones(const TemporaryFolder& folder, const std::string& text) {
  for (const char* name : {"cone_12_5", "cone_60_5", "cone_60_40", "cone_400_10"}) {
    write_text(folder.path() / "cones" / (std::string(name) + ".csv"), text);
  }
}

}  // namespace

TEST_CASE("sampler_accuracy: orthants, whose centres are known", "[examples]") {
  const Alone alone;
  write_cones(alone.folder, far_points(4));
  std::vector<std::string> words{
      "--data", alone.folder.path().string(), "--seconds", "0.05", "--seeds", "1",
      "--json", alone.path("a.json")};
  if (draws_plots()) {
    words.insert(words.end(), {"--plot", alone.path("a.svg")});
  }
  ChildProcess child(program, words);
  REQUIRE(child.wait() == 0);
  CHECK_THAT(child.out(), ContainsSubstring("volesti's best walk"));
  CHECK_THAT(child.errors(), !ContainsSubstring("warning"));
  const Json rows = Json::parse(read_text(alone.path("a.json")));
  REQUIRE(rows.size() == 24);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Json& row = rows[i];
    CAPTURE(row.dump());
    CHECK(row["seconds"] == 0.05);
    if (row["angle_median"].is_null()) {
      continue;  // The burn-in took all the time, on a machine that is very slow.
    }
    CHECK(row["angle_min"].get<double>() <= row["angle_median"].get<double>());
    CHECK(row["angle_median"].get<double>() <= row["angle_max"].get<double>());
    if (row["method"] == "geodesic") {
      CHECK(row["steps_per_second"].get<double>() > 1e5);
      CHECK(row["angle_median"].get<double>() < 0.05);
      CHECK(row["warnings"].empty());
    }
  }
  CHECK(rows[0]["cone"] == "cone_12_5");
  CHECK(rows[0]["method"] == "geodesic");
  CHECK(rows[1]["method"] == "geodesic_unrefreshed");
  CHECK(rows[2]["method"] == "published");
  CHECK(rows[3]["method"] == "kernel_gibbs");
  CHECK(rows[4]["method"] == "kernel_gibbs_input");
  CHECK(rows[5]["method"] == "expectation_propagation");
  CHECK(rows[5]["angle_min"] == rows[5]["angle_max"]);
  CHECK(rows[23]["cone"] == "cone_400_10");
  if (draws_plots()) {
    CHECK_THAT(read_text(alone.path("a.svg")), ContainsSubstring("</svg>"));
  }
}

TEST_CASE("sampler_accuracy: cones that are not there or broken are named", "[examples]") {
  const Alone alone;
  const auto refuse = [&](int status, const std::vector<std::string>& words,
                          const std::string& part) { check_refused(program, status, words, part); };
  const std::vector<std::string> here{"--data", alone.folder.path().string(), "--seconds", "0.01"};
  refuse(1, here, "cone_12_5.csv was not found");
  write_cones(alone.folder, "1,2\n3,4\n");
  refuse(1, here, "found 2 columns");
  write_cones(alone.folder, "1,0,0.5\n3,1,0.5\n");
  refuse(1, here, "the label of point 0");
  write_cones(alone.folder, "1,1,0.5\n3,1,-0.5\n");
  refuse(1, here, "the reference output of point 1");
  write_cones(alone.folder, "1,1,0.5\n1,-1,-0.5\n");
  refuse(1, here, "no classifier separates the points");
  refuse(2, {"--seconds", "0"}, "--seconds");
  ChildProcess help(program, {"--help"});
  CHECK(help.wait() == 0);
  CHECK_THAT(help.out(), ContainsSubstring("sampler_accuracy --seeds 5"));
}

}  // namespace sampler_accuracy_program
