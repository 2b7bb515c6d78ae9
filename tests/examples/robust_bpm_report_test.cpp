// SPDX-License-Identifier: MIT
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "common/figure.hpp"
#include "robust_bpm/pictures.hpp"
#include "robust_bpm/report.hpp"

using namespace bpm_examples;
using Catch::Matchers::ContainsSubstring;

namespace {

TableRow heart_row() {
  TableRow row;
  row.set = find_benchmark_set("heart");
  row.width = 10;
  row.splits = 100;
  row.train_size = 162;
  row.test_size = 108;
  row.bpm = {{23.0, 0.3, 100}, 0};
  row.svm = {{25.0, 0.4, 100}, 0};
  row.svm_bias = {{24.5, 0.4, 100}, 3};
  row.perceptron = {{22.5, 0.3, 98}, 2};
  row.test = {100, 2, 0.25, 8, 0.9999, 1e-4};
  return row;
}

}  // namespace

TEST_CASE("robust_bpm: the table as JSON", "[examples]") {
  const Json json = table_json({heart_row()});
  REQUIRE(json.size() == 1);
  const Json& row = json[0];
  CHECK(row["dataset"] == "heart");
  CHECK(row["sigma"] == 10);
  CHECK(row["splits"] == 100);
  CHECK(row["train_size"] == 162);
  CHECK(row["bpm_error_percent"] == 23.0);
  CHECK(row["bpm_se"] == 0.3);
  CHECK(row["svm_error_percent"] == 25.0);
  CHECK(row["svm_se"] == 0.4);
  CHECK(row["perceptron_error_percent"] == 22.5);
  CHECK(row["t"] == 8);
  CHECK(row["p_value"] == 0.9999);
  CHECK(row["p_two_sided"] == 1e-4);
  CHECK(row["svm_bias_not_separated"] == 3);
  CHECK(row["perceptron_not_separated"] == 2);
  CHECK(row.contains("seconds"));
}

TEST_CASE("robust_bpm: what is said of a table", "[examples]") {
  TableRow row = heart_row();
  // The paper's 22.8, and hypot(0.3, 0.34) = 0.453 to each side.
  CHECK(reaches_paper(row));
  row.bpm.error.percent = 23.3;
  CHECK_FALSE(reaches_paper(row));
  row.bpm.error.percent = 23.0;

  std::ostringstream out;
  print_table_row(out, row);
  CHECK_THAT(out.str(), ContainsSubstring("25.00 (0.40)"));
  CHECK_THAT(out.str(), ContainsSubstring("22.80 (0.34)"));
  print_table_end(out, {row});
  CHECK_THAT(out.str(), ContainsSubstring("difference: 1 of 1 sets"));
  CHECK_THAT(out.str(), ContainsSubstring("p > 0.95: 1 of 1 sets"));
  CHECK_THAT(out.str(), ContainsSubstring("heart: SVM+b ends with training errors in 3 of 100"));
  CHECK_THAT(out.str(), ContainsSubstring("heart: PKP found no version space"));
}

TEST_CASE("robust_bpm: Figure 2 as JSON, on the screen and as a picture", "[examples]") {
  const std::vector<FigurePoint> points{{"toy", 0.5, {{20, 1, 4}, 0}, {{21, 1, 4}, 1}, {}},
                                        {"heart", 0, {{22, 1, 4}, 0}, {{25, 1, 4}, 0}, {}},
                                        {"heart", 1, {{17, 1, 4}, 0}, {{16.5, 1, 4}, 0}, {}}};
  const Json json = figure_json(points);
  REQUIRE(json.size() == 3);
  CHECK(json[0]["dataset"] == "toy");
  CHECK(json[0]["lambda"] == 0.5);
  CHECK(json[0]["svm_not_separated"] == 1);
  CHECK(json[2]["bpm_error_percent"] == 17);
  CHECK(json[2]["svm_se"] == 1);

  std::ostringstream out;
  print_figure(out, points);
  CHECK_THAT(out.str(), ContainsSubstring("toy: test errors"));
  CHECK_THAT(out.str(), ContainsSubstring("16.50 (1.00)"));
  CHECK_THAT(out.str(), ContainsSubstring("SVM with training errors in 1 splits"));

  const std::string script = lambda_picture(points).text(1200, 560, "figure.svg");
  CHECK_THAT(script, ContainsSubstring("set multiplot layout 1,2"));
  CHECK_THAT(script, ContainsSubstring("0.5 20 1"));
  CHECK_THAT(script, ContainsSubstring("22 with lines dashtype 2"));
  const std::string table = table_picture({heart_row()}).text(900, 560, "table.svg");
  CHECK_THAT(table, ContainsSubstring("'heart' 0"));
}
