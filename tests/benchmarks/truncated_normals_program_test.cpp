// SPDX-License-Identifier: MIT
// The program itself, on few coordinates: every sampler has the law.
#include <string>

#include "catch.hpp"
#include "program_test.hpp"

namespace truncated_normals_program {

using namespace examples_test;

namespace {

const std::string program = BPM_TRUNCATED_NORMALS_PROGRAM;

}  // namespace

TEST_CASE("truncated_normals: all samplers agree with the closed form", "[benchmarks]") {
  const Alone alone;
  ChildProcess child(program, {"--points", "12", "--seconds", "0.2", "--problems",
                               "equicorrelated,shifted", "--json", alone.path("a.json")});
  REQUIRE(child.wait() == 0);
  CHECK_THAT(child.out(), ContainsSubstring("equicorrelated, shifted"));
  const Json rows = Json::parse(read_text(alone.path("a.json")));
  REQUIRE(rows.size() == 10);
  for (const Json& row : rows) {
    CAPTURE(row.dump());
    CHECK(row["draws"].get<long>() > 100);
    CHECK(row["smallest_effective_size_a_second"].get<double>() > 0);
    CHECK(row["worst_z"].get<double>() < 6);
  }
}

TEST_CASE("truncated_normals: digits, and what is refused", "[benchmarks]") {
  const Alone alone;
  ChildProcess child(program, {"--points", "20", "--seconds", "0.3", "--problems", "digits_500",
                               "--samplers", "TruncatedNormal,harmonic", "--json", "-"});
  REQUIRE(child.wait() == 0);
  const Json rows = Json::parse(child.out());
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["problem"] == "drawn 20");
  CHECK(rows[0]["worst_z"].is_null());
  CHECK(rows[1]["worst_z"].get<double>() < 6);
  check_refused(program, 2, {"--problems", "cube"}, "--problems");
  check_refused(program, 2, {"--draws", "63"}, "'63' is no whole number from 64 to 1000000000");
  check_refused(program, 2, {"--seconds", "0"}, "'0' is no number from 0.01 to 100000");
}

}  // namespace truncated_normals_program
