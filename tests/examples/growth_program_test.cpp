// SPDX-License-Identifier: MIT
// The program itself, with little to do, and its fits.
#include <cmath>
#include <string>
#include <vector>

#include "catch.hpp"
#include "growth/report.hpp"
#include "program_test.hpp"

namespace growth_program {

using namespace examples_test;

namespace {

const std::string program = BPM_GROWTH_PROGRAM;

}  // namespace

TEST_CASE("growth: a power law is found again", "[examples]") {
  const std::vector<double> x{10, 20, 50, 100};
  std::vector<double> y;
  for (const double m : x) y.push_back(3 * std::pow(m, 1.7));
  const auto law = bpm_examples::fit_power_law(x, y);
  REQUIRE(law);
  CHECK(law->exponent == Approx(1.7));
  CHECK(law->factor == Approx(3));
  CHECK_FALSE(bpm_examples::fit_power_law({10}, {3}));
  CHECK_FALSE(bpm_examples::fit_power_law({10, 20}, {3, 0}));
  CHECK_FALSE(bpm_examples::fit_power_law({}, {}));
}

TEST_CASE("growth: small sizes", "[examples]") {
  const Alone alone;
  std::vector<std::string> words{"--sizes", "200,400,800",        "--test",  "100",
                                 "--json",  alone.path("a.json"), "--draws", "2"};
  if (draws_plots()) words.insert(words.end(), {"--plot", alone.path("a.svg")});
  ChildProcess child(program, words);
  const int status = child.wait();
  CAPTURE(child.errors());
  REQUIRE(status == 0);
  CHECK_THAT(child.out(), ContainsSubstring("NOT MNIST"));
  CHECK_THAT(child.out(), ContainsSubstring("number of kernel values grows as m^"));
  const Json json = Json::parse(read_text(alone.path("a.json")));
  REQUIRE(json.size() == 3);
  std::uint64_t before = 0;
  for (const Json& entry : json) {
    CHECK(entry["data"] == "drawn");
    CHECK(entry["draws"] == 2);
    CHECK(entry["kernel_evaluations"].get<std::uint64_t>() > before);
    before = entry["kernel_evaluations"];
    CHECK(entry["input_bytes"] == (entry["train_size"].get<int>() + 100) * 784);
    CHECK(entry["peak_memory_bytes"] > entry["input_bytes"]);
    CHECK(entry["test_error_percent"].get<double>() < 60);
    CHECK(entry["train_seconds"].get<double>() > 0);
  }
  if (draws_plots()) {
    CHECK_THAT(read_text(alone.path("a.svg")), ContainsSubstring("Drawn digits (not MNIST)"));
  }
}

TEST_CASE("growth: what cannot be done is refused", "[examples]") {
  check_refused(program, 2, {"--sizes", "99"}, "'99' is no whole number from 100 to 99999999");
  check_refused(program, 2, {"--sizes", "400,200"}, "200 follows 400, sizes must grow");
  check_refused(program, 2, {"--draws", "0"}, "--draws");
  check_refused(program, 1, {"--sizes", "200", "--quiet", "--memory", "1000"},
                "memory is 1000 bytes");
}

}  // namespace growth_program
