// SPDX-License-Identifier: MIT
#include "bpm_convergence/report.hpp"

#include <sstream>
#include <string>
#include <vector>

#include "bpm_convergence/options.hpp"
#include "catch.hpp"

using namespace bpm_examples;
using Catch::Matchers::ContainsSubstring;

namespace {

ResultRow a_row() {
  ResultRow row;
  row.table = paper_tables[5];
  row.bounces = 500;
  row.flight = "geodesic";
  row.svm_accuracy = {53.25, 4.5};
  row.bpm_accuracy = {54.75, 3.5};
  row.d_svm = 0.25;
  row.lambda_max = 0.125;
  row.support_vectors = 48.5;
  row.delta_alpha = 0.0078125;
  return row;
}

ConvergenceOptions parse_convergence(std::vector<const char*> words) {
  words.insert(words.begin(), "bpm_convergence");
  return parse_convergence_options(static_cast<int>(words.size()), words.data());
}

}  // namespace

TEST_CASE("bpm_convergence: the keys of the results", "[examples]") {
  const Json json = results_json({a_row()});
  CHECK(json.dump() ==
        R"([{"table":6,"dimension":40,"distribution":"stretched","kernel":"rbf","bounces":500,)"
        R"("svm_accuracy":53.25,"svm_sd":4.5,"bpm_accuracy":54.75,"bpm_sd":3.5,"d_svm":0.25,)"
        R"("lambda_max":0.125,"n_support_vectors":48.5,"delta_alpha":0.0078125,)"
        R"("flight":"geodesic"}])");
}

TEST_CASE("bpm_convergence: the paper's row stands beside ours", "[examples]") {
  std::ostringstream out;
  print_tables(out, {a_row()});
  CHECK_THAT(out.str(), ContainsSubstring("Table 6: stretched data in 40 dimensions, kernel exp("));
  CHECK_THAT(out.str(), ContainsSubstring(
                            "  paper         53.50 +-  4.74    51.75 +-  5.53   0.3218     0.1366 "
                            "  49.1    5.4e-03\n"
                            "  geodesic      53.25 +-  4.50    54.75 +-  3.50   0.2500     0.1250 "
                            "  48.5    7.8e-03\n"));
  CHECK(find_paper_row(4, 50000)->delta_alpha == 0);
  CHECK(find_paper_row(1, 50)->bpm_accuracy == 94.25);
  CHECK_FALSE(find_paper_row(1, 51));
}

TEST_CASE("bpm_convergence: the command line", "[examples]") {
  const ConvergenceOptions plain = parse_convergence({});
  CHECK(plain.tables == std::vector<int>{1, 2, 3, 4, 5, 6});
  CHECK(plain.bounces == 50000);
  CHECK(plain.splits == 10);
  CHECK(plain.range == InputRange::symmetric);
  const ConvergenceOptions some = parse_convergence(
      {"--tables", "4,1,4", "--bounces", "500", "--splits", "3", "--range", "unit"});
  CHECK(some.tables == std::vector<int>{1, 4});
  CHECK(some.bounces == 500);
  CHECK(some.splits == 3);
  CHECK(some.range == InputRange::unit);
  CHECK_THROWS_AS(parse_convergence({"--tables", "7"}), UsageError);
  CHECK_THROWS_WITH(parse_convergence({"--tables", "1,,2"}),
                    "--tables: '' is no whole number from 1 to 6");
  CHECK_THROWS_AS(parse_convergence({"--tables", ""}), UsageError);
  CHECK_THROWS_AS(parse_convergence({"--bounces", "49"}), UsageError);
  CHECK_THROWS_AS(parse_convergence({"--splits", "0"}), UsageError);
  CHECK_THROWS_AS(parse_convergence({"--range", "wide"}), UsageError);
}
