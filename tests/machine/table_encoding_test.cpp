// SPDX-License-Identifier: MIT
#include "bpm/machine/table_encoding.hpp"

#include <Eigen/Core>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "bpm/gaussian_process/expectation_propagation/machine.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "catch.hpp"
#include "message_of.hpp"

using bpm::MixedTable;
using bpm::TableEncoding;
using test_support::message_of;
using Missing = bpm::TableEncoding::Missing;

namespace {

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

/// Ages, of which one is missing, and colours, of which another is.
MixedTable people() {
  return {.columns = {{.name = "age", .numbers = {20, absent, 40, 60}},
                      {.name = "colour",
                       .kind = MixedTable::Kind::words,
                       .words = {"blue", "green", "red"},
                       .word_of = {2, 0, -1, 2}}}};
}

}  // namespace

TEST_CASE("a category becomes a column, what is missing the mean and an indicator", "[machine]") {
  const MixedTable table = people();
  const TableEncoding full = TableEncoding::of(table, Missing::indicator);
  bpm::RowMatrix<double> expected(4, 5);  // green never occurs
  expected << 20, 0, 0, 1, 0, 40, 1, 1, 0, 0, 40, 0, 0, 0, 1, 60, 0, 0, 1, 0;
  CHECK(full.apply(table) == expected);
  CHECK(full.size() == 5);
  CHECK(full.feature_names() == std::vector<std::string>{"age", "age is missing", "colour=blue",
                                                         "colour=red", "colour is missing"});
  CHECK(full.indicators() == std::vector<Eigen::Index>{1, 2, 3, 4});
  CHECK(full.names() == std::vector<std::string>{"age", "colour"});
  CHECK(full.kinds() ==
        std::vector<MixedTable::Kind>{MixedTable::Kind::numbers, MixedTable::Kind::words});
  CHECK(full.fills());
  CHECK(full.unknown(table).empty());

  const TableEncoding plain = TableEncoding::of(table, Missing::mean);
  CHECK(plain.indicators() == std::vector<Eigen::Index>{1, 2});
  bpm::RowMatrix<double> without(4, 3);
  without << expected.col(0), expected.col(2), expected.col(3);
  CHECK(plain.apply(table) == without);
}

TEST_CASE("an encoding is that of the rows that are named, and of no others", "[machine]") {
  const std::vector<bpm::PointIndex> rows{1, 2, 3};
  const MixedTable table = people();
  const TableEncoding found = TableEncoding::of(table, Missing::mean, rows);
  CHECK(found.columns[0].fill == 50);
  CHECK(found.columns[1].categories == std::vector<std::string>{"blue", "red"});
  const std::vector<bpm::PointIndex> one{0};
  const TableEncoding strict = TableEncoding::of(table, Missing::error, one);
  CHECK(strict.columns[1].categories == std::vector<std::string>{"red"});
  CHECK_FALSE(strict.fills());
}

TEST_CASE("names are of all columns or of none, and what fills does so in all", "[machine]") {
  MixedTable table = people();
  TableEncoding encoding = TableEncoding::of(table, Missing::mean);
  CHECK(encoding.fills());
  CHECK(encoding.names() == std::vector<std::string>{"age", "colour"});
  encoding.columns[1].fill.reset();
  CHECK_FALSE(encoding.fills());
  encoding.columns[1].name.clear();
  CHECK(encoding.names().empty());
}

TEST_CASE("words that training has not seen have no category, and are told", "[machine]") {
  const TableEncoding found = TableEncoding::of(people(), Missing::mean);
  const MixedTable other{.columns = {{.name = "age", .numbers = {1, 2}},
                                     {.name = "colour",
                                      .kind = MixedTable::Kind::words,
                                      .words = {"red", "violet"},
                                      .word_of = {1, 0}}}};
  bpm::RowMatrix<double> expected(2, 3);
  expected << 1, 0, 0, 2, 0, 1;
  CHECK(found.apply(other) == expected);
  CHECK(found.unknown(other) ==
        std::vector<std::string>{"feature 2 ('colour'): 1 row has a word that training has not "
                                 "seen, such as 'violet', and no category"});
}

TEST_CASE("tables that cannot be encoded are refused by a sentence", "[machine]") {
  MixedTable table = people();
  CHECK(message_of([&] { (void)TableEncoding::of({}); }) ==
        "TableEncoding::of: table has no row, expected one or more");
  CHECK(message_of([&] { (void)TableEncoding::of(table); }) ==
        "TableEncoding::of: table misses feature 1 ('age') at point 1, must have it unless Missing "
        "is mean or indicator");
  const std::vector<bpm::PointIndex> beyond{4};
  CHECK(message_of([&] { (void)TableEncoding::of(table, Missing::mean, beyond); }) ==
        "TableEncoding::of: rows has 4, must be below 4");
  const std::vector<bpm::PointIndex> gap{1};
  CHECK(message_of([&] { (void)TableEncoding::of(table, Missing::mean, gap); }) ==
        "TableEncoding::of: table has no value of feature 1 ('age'), must have one: leave the "
        "column out");
  const TableEncoding found = TableEncoding::of(table, Missing::mean);
  const std::vector<bpm::PointIndex> whole{0};
  const TableEncoding strict = TableEncoding::of(table, Missing::error, whole);
  CHECK(message_of([&] { (void)strict.apply(table); }) ==
        "TableEncoding::apply: table misses feature 1 ('age') at point 1, must have it: the "
        "encoding knows no other value");
  MixedTable swapped = table;
  std::swap(swapped.columns[0], swapped.columns[1]);
  CHECK(message_of([&] { (void)found.apply(swapped); }) ==
        "TableEncoding::apply: table has words in feature 1 ('age'), must have numbers");
  table.columns[0].numbers[2] = std::numeric_limits<double>::infinity();
  for (const auto& act :
       std::vector<std::function<void()>>{[&] { (void)TableEncoding::of(table, Missing::mean); },
                                          [&] { (void)found.apply(table); }}) {
    CHECK_THAT(message_of(act),
               Catch::Matchers::ContainsSubstring("is infinite in feature 1 ('age') at point 2"));
  }
  table = people();
  table.columns[1].word_of.pop_back();
  CHECK_THAT(message_of([&] { (void)found.apply(table); }),
             Catch::Matchers::ContainsSubstring("rows in every column"));
  table = people();
  table.columns[1].word_of[0] = 3;
  CHECK(message_of([&] { (void)TableEncoding::of(table, Missing::mean); }) ==
        "TableEncoding::of: table has word 3 in feature 2 ('colour'), must be below 3");
  CHECK_THAT(message_of([&] { (void)found.apply(table); }),
             Catch::Matchers::ContainsSubstring("must be below 3"));
  table = people();
  std::swap(table.columns[1].words[0], table.columns[1].words[1]);
  CHECK(message_of([&] { (void)TableEncoding::of(table, Missing::mean); }) ==
        "TableEncoding::of: table has words that do not ascend in feature 2 ('colour')");
  table.columns.pop_back();
  CHECK_THAT(message_of([&] { (void)found.apply(table); }),
             Catch::Matchers::ContainsSubstring("columns, as the one that was encoded"));
}

TEST_CASE("a classifier keeps the encoding of its inputs, and refuses another's", "[machine]") {
  const MixedTable table = people();
  const TableEncoding encoding = TableEncoding::of(table, Missing::mean);
  const bpm::RowMatrix<double> inputs = encoding.apply(table);
  const std::vector<int> labels{0, 1, 1, 0};
  const auto fitted =
      bpm::OneVsRest(bpm::BayesPointMachine(bpm::Gaussian::from_width(10))).fit(inputs, labels);
  const auto with = [](const auto& classifier, const TableEncoding& of) {
    return bpm::Classifier(classifier.parts(), {.encoding = of});
  };
  const auto kept = with(fitted, encoding);
  REQUIRE(kept.notes.encoding);
  CHECK(kept.notes.encoding->feature_names() == encoding.feature_names());
  CHECK(kept.decision_values(inputs) == fitted.decision_values(inputs));
  const auto posterior = bpm::OneVsRest(bpm::BayesPointMachine(bpm::Gaussian::from_width(10),
                                                               bpm::ExpectationPropagation{}))
                             .fit(inputs, labels);
  auto encoded = posterior;
  encoded.notes.encoding = encoding;
  CHECK(encoded.predict_probability(inputs) == posterior.predict_probability(inputs));
  CHECK_THAT(message_of([&] { (void)with(fitted, TableEncoding::of(table, Missing::indicator)); }),
             Catch::Matchers::ContainsSubstring("columns: one per feature"));
  TableEncoding wrong = encoding;
  std::swap(wrong.columns[1].categories[0], wrong.columns[1].categories[1]);
  CHECK(message_of([&] { (void)with(fitted, wrong); }) ==
        "Classifier: encoding has categories ('colour') that do not ascend, or are of numbers");
  wrong = encoding;
  wrong.columns[0].fill = std::numeric_limits<double>::infinity();
  CHECK(message_of([&] { (void)with(fitted, wrong); }) ==
        "Classifier: encoding fills what is missing by inf, must be finite");
}

TEST_CASE("categories and indicators are not standardised", "[machine]") {
  const MixedTable table = people();
  const TableEncoding encoding = TableEncoding::of(table, Missing::indicator);
  const bpm::RowMatrix<double> inputs = encoding.apply(table);
  const auto indicators = encoding.indicators();
  const auto scaling = bpm::Standardisation::of(inputs, indicators);
  const bpm::RowMatrix<double> scaled = scaling.apply(inputs);
  CHECK(scaled.rightCols(4) == inputs.rightCols(4));
  CHECK(scaled.col(0).sum() == Approx(0).margin(1e-12));
  CHECK(scaling.constant.empty());
  const std::vector<Eigen::Index> beyond{5};
  CHECK(message_of([&] { (void)bpm::Standardisation::of(inputs, beyond); }) ==
        "Standardisation::of: to_stay has 5, must be below 5");
}
