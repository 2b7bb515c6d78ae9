// SPDX-License-Identifier: MIT
// The benchmarks run, and leave what the page is made of.
#include <string>
#include <vector>

#include "catch.hpp"
#include "page/run.hpp"
#include "program_test.hpp"

namespace bpm_benchmarks_program {

using namespace examples_test;

namespace {

const std::string program = BPM_BPM_BENCHMARKS_PROGRAM;

}  // namespace

TEST_CASE("bpm_benchmarks: results come with floors by the rates of the same run", "[benchmarks]") {
  const Alone alone;
  ChildProcess child(
      program, {"--benchmark_filter=^(kernel_block/linear/(float|byte)/1|gibbs_step/input/60)$",
                "--benchmark_min_time=0.001", "--benchmark_repetitions=2",
                "--benchmark_out=" + alone.path("a.json"), "--benchmark_out_format=json"});
  REQUIRE(child.wait() == 0);
  const auto run = bpm_benchmarks::read_run(alone.path("a.json"));
  REQUIRE(run.benchmarks.size() == 3);
  for (const char* name : {"gibbs_step/input/60", "kernel_block/linear/float/1"}) {
    const auto* const measured = run.find(name);
    REQUIRE(measured != nullptr);
    CHECK(measured->seconds.size() == 2);
    CHECK(measured->floor_seconds.value_or(0) > 0);
  }
  CHECK(run.find("kernel_block/linear/byte/1") != nullptr);
  std::vector<std::string> rates;
  for (const auto& [name, value] : run.context) {
    if (name.starts_with("rate of ")) rates.push_back(name);
  }
  CHECK(rates.size() == 7);
}

TEST_CASE("bpm_benchmarks: every kind of work has sizes that show its growth", "[benchmarks]") {
  ChildProcess child(program, {"--benchmark_list_tests=true"});
  REQUIRE(child.wait() == 0);
  const std::string list = "\n" + child.out();
  for (const char* name : {"billiard_bounce/geodesic/60",
                           "billiard_bounce/geodesic/400",
                           "billiard_bounce/geodesic/2000",
                           "billiard_bounce/published/60",
                           "gibbs_step/isotropic/60",
                           "kernel_block/polynomial/float/1",
                           "kernel_block/polynomial/double/2000",
                           "kernel_block/polynomial/byte/240",
                           "perceptron_pass/1000",
                           "perceptron_pass/32000",
                           "perceptron_pass_byte/8000",
                           "perceptron_draw/8000",
                           "predict/1",
                           "predict/10000",
                           "predict_byte/1",
                           "one_vs_rest/1000",
                           "one_vs_rest/8000",
                           "one_vs_rest_byte/8000",
                           "image_copies/shifts/1000",
                           "image_copies/deformation/1000"}) {
    CHECK_THAT(list, ContainsSubstring("\n" + std::string(name) + "\n"));
  }
}

TEST_CASE("bpm_benchmarks: an unknown flag is refused", "[benchmarks]") {
  ChildProcess child(program, {"--benchmark_colour"});
  CHECK(child.wait() == 1);
  CHECK_THAT(child.errors(), ContainsSubstring("--benchmark_colour"));
}

}  // namespace bpm_benchmarks_program
