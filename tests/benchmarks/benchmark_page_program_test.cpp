// SPDX-License-Identifier: MIT
// The program itself: exit status, the page it leaves, and what it refuses.
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "catch.hpp"
#include "program_test.hpp"

namespace benchmark_page_program {

using namespace examples_test;

namespace {

const std::string program = BPM_BENCHMARK_PAGE_PROGRAM;

std::string results(const std::string& family, double milliseconds) {
  std::string entries;
  for (const int size : {100, 200}) {
    for (const int repetition : {0, 1, 2}) {
      entries += entries.empty() ? "" : ",";
      entries += R"({"name": ")" + family + "/float/" + std::to_string(size) +
                 R"(", "run_type": "iteration", "real_time": 9, "cpu_time": )" +
                 std::to_string(milliseconds * size / 100 + 0.01 * repetition) +
                 R"(, "time_unit": "ms", "floor_seconds": 1e-3})";
    }
  }
  return R"({"context": {"host_name": "here"}, "benchmarks": [)" + entries + "]}";
}

}  // namespace

TEST_CASE("benchmark_page: a page of tables and plots from one run, and from two", "[benchmarks]") {
  const Alone alone;
  write_text(alone.path("new.json"), results("block", 2));
  write_text(alone.path("old.json"), results("block", 4));
  std::vector<std::string> words{alone.path("new.json"), "--out", alone.path("page.html"), "--json",
                                 alone.path("rows.json")};
  if (!draws_plots()) words.emplace_back("--no-plots");
  ChildProcess first(program, words);
  CHECK(first.wait() == 0);
  CHECK(first.out().empty());
  CHECK(first.errors().empty());
  std::string page = read_text(alone.path("page.html"));
  CHECK_THAT(page, ContainsSubstring("<td>block/float/100</td><td>3</td><td>2.01 ms</td>"));
  CHECK_THAT(page, ContainsSubstring("<td>1.00 ms</td><td>2.01</td>"));
  CHECK_THAT(page, ContainsSubstring("</html>"));
  CHECK(page.find("old time") == std::string::npos);
  if (draws_plots()) CHECK_THAT(page, ContainsSubstring("</svg>"));
  words.insert(words.end(), {"--compare", alone.path("old.json")});
  ChildProcess second(program, words);
  CHECK(second.wait() == 0);
  page = read_text(alone.path("page.html"));
  CHECK_THAT(page, ContainsSubstring("<td class=\"faster\">faster</td>"));
  const Json rows = Json::parse(read_text(alone.path("rows.json")));
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["name"] == "block/float/100");
  CHECK(rows[0]["repetitions"] == 3);
  CHECK(rows[0]["verdict"] == "faster");
  CHECK(rows[0]["growth"].is_null());
  CHECK(std::abs(rows[0]["over_floor"].get<double>() - 2.01) < 1e-9);
  CHECK(std::abs(rows[1]["growth"].get<double>() - std::log2(4.01 / 2.01)) < 1e-9);
  CHECK(std::abs(rows[1]["new_over_old"].get<double>() - 4.01 / 8.01) < 1e-9);
}

TEST_CASE("benchmark_page: what it cannot use is named, and no page is left", "[benchmarks]") {
  const Alone alone;
  const std::string run = alone.path("a.json");
  const std::string page = alone.path("page.html");
  write_text(run, results("block", 2));
  write_text(alone.path("other.json"), results("another", 2));
  write_text(alone.path("bad.json"), "{\"benchmarks\": [");
  const auto refuse = [&](int status, std::vector<std::string> words, const std::string& part) {
    words.emplace_back("--no-plots");
    check_refused(program, status, words, part);
    CHECK_FALSE(std::filesystem::exists(page));
  };
  refuse(1, {alone.path("none.json"), "--out", page}, "none.json: there is no such file");
  refuse(1, {alone.path("bad.json"), "--out", page}, "bad.json: no JSON");
  refuse(1, {run, "--out", page, "--compare", alone.path("other.json")},
         "no benchmark in common: the new one has 'block/float/100'");
  refuse(1, {run, "--out", page, "--compare", alone.path("none.json")}, "there is no such file");
  refuse(1, {run, "--out", alone.path("no/such/page.html")}, "cannot write");
  refuse(2, {run}, "--out");
  refuse(2, {"--out", page}, "run is required");
  refuse(2, {run, "--out", page, "--colour"}, "--colour");
  const WithVariable path("PATH", alone.folder.path().string());
  check_refused(program, 1, {run, "--out", page}, "gnuplot was not found");
  CHECK_FALSE(std::filesystem::exists(page));
}

TEST_CASE("benchmark_page: help shows two examples", "[benchmarks]") {
  ChildProcess help(program, {"--help"});
  CHECK(help.wait() == 0);
  CHECK_THAT(help.out(), ContainsSubstring("benchmark_page run.json --compare old.json"));
}

}  // namespace benchmark_page_program
