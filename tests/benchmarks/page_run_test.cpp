// SPDX-License-Identifier: MIT
#include <cmath>
#include <string>
#include <vector>

#include "catch.hpp"
#include "message_of.hpp"
#include "page/run.hpp"
#include "temporary_folder.hpp"

using namespace bpm_benchmarks;
using Catch::Matchers::ContainsSubstring;

namespace {

/// One repetition of a benchmark as Google Benchmark writes it.
std::string entry(const std::string& name, double cpu, const std::string& more = "",
                  const std::string& unit = "ms", double real = 1000) {
  return R"({"name": ")" + name + R"(", "run_name": ")" + name +
         R"(", "run_type": "iteration", "real_time": )" + std::to_string(real) +
         R"(, "cpu_time": )" + std::to_string(cpu) + R"(, "time_unit": ")" + unit + '"' +
         (more.empty() ? "" : ", " + more) + "}";
}

std::string file(const std::string& entries, const std::string& context = "") {
  return R"({"context": {)" + context + R"(}, "benchmarks": [)" + entries + "]}";
}

std::string refusal(const std::string& text) {
  return test_support::message_of([&] { static_cast<void>(parse_run(text, "a.json")); });
}

}  // namespace

TEST_CASE("page: repetitions of a benchmark are one, in seconds, ascending", "[benchmarks]") {
  const Run run = parse_run(
      file(entry("a/b/10", 3) + "," + entry("a/b/10", 1) + "," + entry("a/b/10", 2) + "," +
               entry("a/b/20", 5, "", "us") +
               R"(, {"name": "a/b/10_mean", "run_name": "a/b/10", "run_type": "aggregate",)"
               R"( "cpu_time": 2, "time_unit": "ms"})",
           R"("host_name": "here", "num_cpus": 2, "caches": [1])"),
      "a.json");
  REQUIRE(run.benchmarks.size() == 2);
  const Measured& first = run.benchmarks[0];
  CHECK(first.seconds == std::vector<double>{1e-3, 2e-3, 3e-3});
  CHECK(first.median() == 2e-3);
  CHECK(std::abs(run.benchmarks[1].median() - 5e-6) < 1e-18);
  REQUIRE(run.context.size() == 2);
  CHECK(run.context[0].second == "here");
  CHECK(run.context[1].second == "2");
  CHECK(run.find("a/b/20") == &run.benchmarks[1]);
  CHECK(run.find("a/b/30") == nullptr);
}

TEST_CASE("page: names are family, series and size", "[benchmarks]") {
  const Run run =
      parse_run(file(entry("kernel_block/linear/float/240", 1) + "," + entry("predict/1", 1) + "," +
                     entry("alone", 1) + "," + entry("votes/300/real_time", 1, "", "ms", 7) + "," +
                     entry("many/8/threads:2", 1) + "," + entry("x/y", 1)),
                "a.json");
  const auto& list = run.benchmarks;
  CHECK(list[0].family == "kernel_block");
  CHECK(list[0].series == "linear/float");
  CHECK(list[0].size == 240.0);
  CHECK(list[1].family == "predict");
  CHECK(list[1].series.empty());
  CHECK(list[1].size == 1.0);
  CHECK(list[2].family == "alone");
  CHECK_FALSE(list[2].size);
  CHECK(list[3].size == 300.0);
  CHECK(list[3].median() == 7e-3);  // The clock's, as its name says.
  CHECK(list[4].size == 8.0);
  CHECK(list[5].series == "y");
  CHECK_FALSE(list[5].size);
}

TEST_CASE("page: floors are medians; a skipped benchmark keeps its message", "[benchmarks]") {
  const Run run =
      parse_run(file(entry("a/1", 1, R"("floor_seconds": 4e-4)") + "," +
                     entry("a/1", 1, R"("floor_seconds": 6e-4)") + "," +
                     R"({"name": "b", "run_type": "iteration", "error_occurred": true, )"
                     R"("error_message": "no data"})"),
                "a.json");
  REQUIRE(run.benchmarks[0].floor_seconds);
  CHECK(std::abs(*run.benchmarks[0].floor_seconds - 5e-4) < 1e-18);
  CHECK(run.benchmarks[1].error == "no data");
  CHECK(run.benchmarks[1].seconds.empty());
}

TEST_CASE("page: NaN, which Google Benchmark writes, is read; in quotes it stays", "[benchmarks]") {
  const Run run = parse_run(file(entry("a", 1, R"("cv": -NaN, "other": Infinity, "x": NaN)"),
                                 R"("executable": "./NaN\"NaN")"),
                            "a.json");
  CHECK(run.benchmarks[0].seconds.size() == 1);
  CHECK(run.context[0].second == "./NaN\"NaN");
}

TEST_CASE("page: what is no run of Google Benchmark is refused", "[benchmarks]") {
  CHECK_THAT(refusal("{"), ContainsSubstring("a.json: no JSON: "));
  CHECK_THAT(refusal("[]"), ContainsSubstring("a.json: found no list 'benchmarks'"));
  CHECK_THAT(refusal(R"({"benchmarks": 3})"), ContainsSubstring("found no list 'benchmarks'"));
  CHECK_THAT(refusal(file("")), ContainsSubstring("a.json: found no benchmark"));
  CHECK_THAT(refusal(file("3")), ContainsSubstring("benchmark 1: found no object"));
  CHECK_THAT(refusal(file(R"({"run_type": "iteration"})")),
             ContainsSubstring("benchmark 1: found no text 'name'"));
  CHECK_THAT(refusal(file(entry("a", 1) + R"(, {"name": "b"})")),
             ContainsSubstring("benchmark 2: found no number 'cpu_time'"));
  CHECK_THAT(refusal(file(entry("a", -1))),
             ContainsSubstring("'cpu_time' is -1.0, must be finite and not negative"));
  CHECK_THAT(refusal(file(entry("a", 1, "", "weeks"))),
             ContainsSubstring("found the time unit 'weeks', expected ns, us, ms or s"));
  CHECK_THAT(refusal(file(entry("a", 1, R"("error_occurred": "yes")"))),
             ContainsSubstring("a.json: benchmark 1: "));
}

TEST_CASE("page: a file that is not there or cannot be read is named", "[benchmarks]") {
  const examples_test::TemporaryFolder folder;
  const auto message = [](const std::filesystem::path& path) {
    return test_support::message_of([&] { static_cast<void>(read_run(path)); });
  };
  CHECK_THAT(message(folder.path() / "none.json"), ContainsSubstring("there is no such file"));
  CHECK_THAT(message(folder.path()), ContainsSubstring("cannot be read"));
  examples_test::write_text(folder.path() / "a.json", file(entry("a/1", 1)));
  CHECK(read_run(folder.path() / "a.json").benchmarks.size() == 1);
}
