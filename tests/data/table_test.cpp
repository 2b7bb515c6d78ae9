// SPDX-License-Identifier: MIT
#include "bpm/data/table.hpp"

#include <algorithm>
#include <clocale>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <vector>

#include "catch.hpp"
#include "data.hpp"
#include "message_of.hpp"
#include "temporary_folder.hpp"

namespace {

using Header = bpm::TableSettings::Header;
using LabelColumn = bpm::TableSettings::LabelColumn;
using Names = std::vector<std::string>;

template <class Scalar = double>
auto read(const std::string& content, const bpm::TableSettings& settings = {}) {
  std::istringstream stream(content);
  return bpm::read_table<Scalar>(stream, "f", settings);
}

}  // namespace

TEST_CASE("read_table takes the last column as the label by default") {
  const auto data = read("1,2.5,+1\n-3e2,.25,-1\n");
  REQUIRE(data.inputs.rows() == 2);
  REQUIRE(data.inputs.cols() == 2);
  CHECK(data.inputs(0, 0) == 1.0);
  CHECK(data.inputs(0, 1) == 2.5);
  CHECK(data.inputs(1, 0) == -300.0);
  CHECK(data.inputs(1, 1) == 0.25);
  CHECK(data.labels == std::vector<int>{1, -1});
}

TEST_CASE("read_table reads numbers too small for double as 0, and refuses those too large") {
  CHECK(read("1e-400,1\n").inputs(0, 0) == 0);
  CHECK_THROWS_AS(read("1e400,1\n"), bpm::DataError);
  const std::string zeros(400, '0');
  for (const std::string& small :
       Names{"-1E-400", "+1e-400", "1e-99999999999999999999", "1" + zeros + "e-800",
             "." + zeros + "1", "0." + zeros + "1", "0." + zeros + "1e+10",
             "-" + zeros + "." + zeros + "1e5"}) {
    CAPTURE(small);
    CHECK(read(small + ",1\n").inputs(0, 0) == 0);
    CHECK_THROWS_AS(read("1," + small + "\n"), bpm::DataError);
  }
  CHECK_THROWS_WITH(read("1,1e-400\n"), "f:1: column 2: found '1e-400', expected an integer label");
  for (const std::string& large :
       Names{"-1e400", "+1E+400", "1e390", "1e99999999999999999999", "1e+9223372036854775807",
             "12e9223372036854775807", "1" + zeros, "-1" + zeros + ".5", "1" + zeros + "e-5",
             "0." + zeros + "1e800", ".1e400", "00" + std::string(309, '9')}) {
    CAPTURE(large);
    CHECK_THROWS_AS(read(large + ",1\n"), bpm::DataError);
    CHECK_THROWS_AS(read("1," + large + "\n"), bpm::DataError);
  }
  CHECK_THROWS_WITH(read("1e390,1\n"), "f:1: column 1: found '1e390', expected a finite number");
  // Within range, however they are spelt.
  CHECK(read("1" + zeros + "e-400,1\n").inputs(0, 0) == 1);
  CHECK(read("0." + zeros + "1e401,1\n").inputs(0, 0) == 1);
  CHECK(read("0e999,-0e-999\n").labels == std::vector<int>{0});
}

TEST_CASE("read_table takes the first column as the label, or none") {
  bpm::TableSettings settings;
  settings.label = LabelColumn::first;
  const auto first = read("7,1,2\n8,3,4\n", settings);
  CHECK(first.labels == std::vector<int>{7, 8});
  CHECK(first.inputs == (Eigen::MatrixXd(2, 2) << 1, 2, 3, 4).finished());
  settings.label = LabelColumn::none;
  const auto none = read("7\n8\n", settings);
  CHECK(none.labels.empty());
  CHECK(none.inputs == (Eigen::MatrixXd(2, 1) << 7, 8).finished());
}

TEST_CASE("read_table takes the label from any column, by index or name") {
  const auto by_index = read("1,7,2\n3,8,4\n", {.label = 1});
  CHECK(by_index.labels == std::vector<int>{7, 8});
  CHECK(by_index.inputs == (Eigen::MatrixXd(2, 2) << 1, 2, 3, 4).finished());
  const auto by_name = read("a,kind,b\n1,7,2\n3,8,4\n", {.label = "kind"});
  CHECK(by_name.labels == by_index.labels);
  CHECK(by_name.inputs == by_index.inputs);
  CHECK(by_name.feature_names == Names{"a", "b"});
  // A name needs a header, so that there is one, whatever it looks like.
  CHECK(read("0,1,2\n3,4,5\n", {.label = "1"}).labels == std::vector<int>{4});

  CHECK_THROWS_WITH(read("1,2\n", {.label = 2}),
                    "f:1: found 2 fields, expected 2 before the label");
  CHECK_THROWS_WITH(read("a,kind\n1,1\n", {.label = "Kind"}),
                    "f:1: found no column 'Kind', expected one of 'a', 'kind'");
  CHECK_THROWS_WITH(read("0,1,2,3,4,5,6,7,8,9\n", {.label = "x"}),
                    "f:1: found no column 'x', expected one of '0', '1', '2', '3', '4', '5', '6', "
                    "'7', '8', '9'");
  CHECK_THROWS_WITH(read("0,1,2,3,4,5,6,7,8,9,10\n", {.label = "x"}),
                    "f:1: found no column 'x', expected one of '0', '1', '2', '3', '4', '5', '6', "
                    "'7', '8', '9', ...");
  CHECK_THROWS_WITH(read("a,b,a\n1,1,1\n", {.label = "a"}),
                    "f:1: found two columns 'a', expected one");
  CHECK_THROWS_WITH(read("a\n1\n", {.label = "a"}),
                    "f:1: found 1 field, expected 2 or more (a label and at least one value), "
                    "separated by blanks");
}

TEST_CASE("read_table refuses impossible settings") {
  CHECK_THROWS_AS(read("1,1\n", {.label = -1}), std::invalid_argument);
  CHECK_THROWS_WITH(read("1,1\n", {.label = -1}),
                    "read_table: label is column -1, must be 0 or more");
  CHECK_THROWS_AS(read("a,b\n1,1\n", {.header = Header::no, .label = "b"}), std::invalid_argument);
  CHECK_THROWS_WITH(read("a,b\n1,1\n", {.header = Header::no, .label = "b"}),
                    "read_table: label is a name, which needs a header");
  for (const char delimiter : {'"', '\n', '\r'}) {
    CHECK_THROWS_AS(read("1,1\n", {.delimiter = delimiter}), std::invalid_argument);
    CHECK_THROWS_WITH(read("1,1\n", {.delimiter = delimiter}),
                      "read_table: delimiter must be neither a double quote nor a line end");
  }
}

TEST_CASE("read_table numbers labels that are words in sorted order") {
  const auto iris = read("5,3,virginica\n6,2,setosa\n7,1,virginica\n8,0,\"Iris, other\"\n");
  CHECK(iris.class_names == Names{"Iris, other", "setosa", "virginica"});
  CHECK(iris.labels == std::vector<int>{2, 1, 2, 0});
  CHECK(iris.feature_names.empty());
  // One word makes words of all; integers alone stay what they are.
  const auto mixed = read("0,10\n0,9\n0,x\n0,+9\n");
  CHECK(mixed.class_names == Names{"+9", "10", "9", "x"});
  CHECK(mixed.labels == std::vector<int>{1, 2, 3, 0});
  const auto integers = read("0,+1\n0,1.0\n0,\"1\"\n0,-1\n");
  CHECK(integers.class_names.empty());
  CHECK(integers.labels == std::vector<int>{1, 1, 1, -1});
}

TEST_CASE("read_table accepts labels written as signed and as decimal integers") {
  CHECK(read("0,+1\n0,-1\n0,1.0\n0,-1.000\n0,2e1\n0,2147483647\n0,-2147483648\n").labels ==
        std::vector<int>{1, -1, 1, -1, 20, 2147483647, -2147483647 - 1});
}

TEST_CASE(
    "read_table skips blank lines and comments, and reads CR LF and a last line without end") {
  const auto data = read("\xef\xbb\xbf# made by hand\r\n\r\n1, 2 ,1\r\n   \n\t# more\n +3\t,4,-1");
  CHECK(data.inputs == (Eigen::MatrixXd(2, 2) << 1, 2, 3, 4).finished());
  CHECK(data.labels == std::vector<int>{1, -1});
  CHECK(data.notes == std::vector<std::string>{"f: 2 lines begin with '#', and are skipped"});
}

TEST_CASE("read_table takes no ignored column for the label") {
  bpm::TableSettings settings;
  settings.ignored = {std::string("flag")};
  const auto last = read("width,kind,flag\n1,2,3\n", settings);
  CHECK(last.labels == std::vector<int>{2});
  CHECK(last.inputs.cols() == 1);
  settings.label = bpm::TableSettings::LabelColumn::first;
  settings.ignored = {Eigen::Index{0}};
  CHECK(read("7,2,3\n", settings).labels == std::vector<int>{2});
  for (const bool named : {false, true}) {
    if (named) settings.label = std::string("kind");
    if (!named) settings.label = Eigen::Index{0};
    CHECK_THROWS_WITH(read("kind,width\n1,2\n", settings),
                      "f:1: found the label in column 1, which is ignored, expected it in another");
  }
}

TEST_CASE("read_table takes no column for a feature and for the label") {
  bpm::TableSettings settings;
  settings.features = {"width", "height"};
  const std::string why =
      "f:1: found the label in column 2, which is one of the features, expected it in another";
  CHECK_THROWS_WITH(read("kind,height\n1,2\n1,3\n", settings),
                    "f:1: found no column 'width', expected one of 'kind', 'height'");
  CHECK_THROWS_WITH(read("width,height\n1,2\n", settings), why);
  // The only column that is no feature is the label, wherever it stands; of two, none.
  const auto moved = read("kind,height,width\n7,2,3\n", settings);
  CHECK(moved.labels == std::vector<int>{7});
  CHECK(moved.inputs == Eigen::RowVector2d(3, 2));
  CHECK(moved.notes == std::vector<std::string>{
                           "f: the label is in column 1 ('kind'), the only one that is no feature",
                           "f: the columns are in another order, and matched by name"});
  CHECK(read("width,height,kind\n3,2,7\n", settings).notes.empty());
  CHECK_THROWS_WITH(read("kind,width,name,height\n1,2,3,4\n", settings),
                    "f:1: found the label in column 4, which is one of the features, expected it "
                    "in another");
  // An ignored column is no candidate.
  settings.ignored = {std::string("id")};
  CHECK(read("id,kind,width,height\n9,7,3,2\n", settings).labels == std::vector<int>{7});
  settings.ignored.clear();
  settings.label = std::string("height");
  CHECK_THROWS_WITH(read("width,height,kind\n1,2,3\n", settings), why);
  settings.label = std::string("kind");
  CHECK(read("kind,height,width\n1,2,3\n", settings).labels == std::vector<int>{1});
}

TEST_CASE("read_table treats the comment character as the settings say") {
  bpm::TableSettings settings;
  settings.comment = '%';
  CHECK(read("% text\n1,1\n", settings).labels.size() == 1);
  settings.comment = '\0';
  CHECK_THROWS_WITH(read("#\n", settings),
                    "f:1: found 1 field, expected 2 or more (a label and at least one value), "
                    "separated by blanks");
  // Without comments a line is data whatever it begins with.
  CHECK_THROWS_WITH(read(std::string("1,1\n\0,1\n", 8), settings),
                    "f:2: column 1: found '?', expected a finite number");
}

TEST_CASE("read_table reads names from a header where there is one") {
  bpm::TableSettings settings;
  settings.header = Header::yes;
  const auto data = read("# comment\nwidth,height,class\n1,2,3\n", settings);
  CHECK(data.inputs.rows() == 1);
  CHECK(data.labels == std::vector<int>{3});
  CHECK(data.feature_names == Names{"width", "height"});
  CHECK(data.notes == Names{"f: 1 line begins with '#', and is skipped"});
  CHECK(read("1,2,3\n1,2,4\n", settings).labels == std::vector<int>{4});
  CHECK_THROWS_WITH(read("a,b\n", settings), "f:1: found the end, expected a line of data");
  settings.header = Header::no;
  CHECK_THROWS_WITH(read("a,b\n1,1\n", settings),
                    "f:1: column 1: found 'a', expected a finite number");
}

TEST_CASE("read_table finds out whether there is a header") {
  const auto data = read("\n\"width, cm\",height,class\n# more\n1,2,a\n3,4,b\n");
  CHECK(data.feature_names == Names{"width, cm", "height"});
  CHECK(data.class_names == Names{"a", "b"});
  CHECK(data.inputs == (Eigen::MatrixXd(2, 2) << 1, 2, 3, 4).finished());
  CHECK(read("a,b\n1,1\n", {.label = LabelColumn::none}).feature_names == Names{"a", "b"});
  // One word above a number is enough, even beside numbers and empty names.
  CHECK(read(",2020,x,class\n1,2,3,4\n").feature_names == Names{"", "2020", "x"});
  // Words in the label's column say nothing.
  CHECK(read("1,yes\n2,no\n").labels.size() == 2);
  CHECK(read("1,class\n2,a1\n").class_names == Names{"a1", "class"});
  // Nor do missing values, numbers out of range, words above words, or a line alone.
  CHECK_THROWS_WITH(read("NA,1\n2,1\n"),
                    "f:1: column 1: found the missing value 'NA', expected a finite number");
  CHECK_THROWS_WITH(read("1e999,1\n2,1\n"),
                    "f:1: column 1: found '1e999', expected a finite number");
  CHECK_THROWS_WITH(read("a,1\nb,1\n3,1\n"), "f:1: column 1: found 'a', expected a finite number");
  CHECK_THROWS_WITH(read("a,1\nNaN,1\n3,1\n"),
                    "f:1: column 1: found 'a', expected a finite number");
  CHECK_THROWS_WITH(read("a,b\n"), "f:1: column 1: found 'a', expected a finite number");
  CHECK_THROWS_WITH(read("a,b\n1,2,3\n"), "f:2: found 3 fields, expected 2 as in line 1");
}

TEST_CASE("read_table reads fields in double quotes") {
  const auto data =
      read("\"a \"\"b\"\"\",\"c,d\", \"e\" \n\"1\",\" +2.5\t\",\"x;\"\"\"\n3,4,5\" disk\n");
  CHECK(data.feature_names == Names{"a \"b\"", "c,d"});
  CHECK(data.inputs == (Eigen::MatrixXd(2, 2) << 1, 2.5, 3, 4).finished());
  CHECK(data.class_names == Names{"5\" disk", "x;\""});
  const auto blanks = read("\"a b\"  \"c\"\n1 \"\"\"\"\n", {.delimiter = ' '});
  CHECK(blanks.feature_names == Names{"a b"});
  CHECK(blanks.class_names == Names{"\""});
  const auto tabs = read("\"1\"\t \"2\" \t3\n", {.delimiter = '\t'});
  CHECK(tabs.inputs == (Eigen::MatrixXd(1, 2) << 1, 2).finished());

  CHECK_THROWS_WITH(read("1,1\n2,\"a\nb\"\n"),
                    "f:2: column 2: found no closing quote, expected one in the same line");
  CHECK_THROWS_WITH(read("a,b\n1,1\n2,\"a\"\"\n"),
                    "f:3: column 2 ('b'): found no closing quote, expected one in the same line");
  CHECK_THROWS_WITH(read("1,1\n\"2\"3,1\n"),
                    "f:2: column 1: found '3' after the closing quote, expected ',' or the end of "
                    "the line");
  CHECK_THROWS_WITH(read("1 1\n\"2\"3 1\n"),
                    "f:2: column 1: found '3' after the closing quote, expected blanks or the end "
                    "of the line");
}

TEST_CASE("read_table refuses missing values, with line and column") {
  for (const std::string missing : {"", "NA", "na", "NaN", "nan", "NAN", "?", "null", "NULL",
                                    "Null", "\"\"", "\" NA\"", "N/A", "n/a", "#N/A", "\\N"}) {
    CAPTURE(missing);
    std::string found = missing == "\"\"" ? "" : missing == "\" NA\"" ? "NA" : missing;
    found = "found the missing value '" + found + "', expected ";
    const bpm::TableSettings no_comments{.comment = '\0'};
    CHECK_THROWS_WITH(read("1,2,1\n" + missing + ",2,1\n", no_comments),
                      "f:2: column 1: " + found + "a finite number");
    CHECK_THROWS_WITH(read("x,y,z\n1,2,1\n1," + missing + ",1\n"),
                      "f:3: column 2 ('y'): " + found + "a finite number");
    CHECK_THROWS_WITH(read("x,y,z\n1,2,1\n1,2, " + missing + "\n"),
                      "f:3: column 3 ('z'): " + found + "a label");
  }
  CHECK(read("1,nano\n1,nul\n").class_names == Names{"nano", "nul"});
  // Among numbers only: labels of these are words.
  for (const std::string missing : {".", "-", "--", "None", "none"}) {
    CHECK_THROWS_WITH(
        read("1,2,1\n" + missing + ",2,1\n"),
        "f:2: column 1: found the missing value '" + missing + "', expected a finite number");
    CHECK(read("1,2,a\n1,2," + missing + "\n").class_names.size() == 2);
  }
}

TEST_CASE("labels with a zero in front, or beyond int, are codes and stay as they are written") {
  const auto codes = read("1,01\n2,1\n3,001\n4,01\n");
  CHECK(codes.class_names == Names{"001", "01", "1"});
  CHECK(codes.labels == std::vector<int>{1, 2, 0, 1});
  CHECK(read("1,4400000001\n2,7\n").class_names == Names{"4400000001", "7"});
  CHECK(read("1,0\n2,10\n").labels == std::vector<int>{0, 10});
}

TEST_CASE("a blank line between others of one column is a row of a missing value") {
  const bpm::TableSettings alone{.label = LabelColumn::none};
  CHECK_THROWS_WITH(read("1\n\n3\n", alone),
                    "f:2: column 1: found the missing value '', expected a finite number");
  CHECK_THROWS_WITH(read("x\n1\n3\n\n \n5\n", alone),
                    "f:4: column 1 ('x'): found the missing value '', expected a finite number");
  CHECK(read("\n1\n3\n\n\n", alone).inputs.rows() == 2);  // Before and behind all, none.
  std::istringstream stream("x\n1\n\n# no row\n\n4\n\n6\n");
  const auto filled =
      bpm::read_mixed_table(stream, "f", {.label = LabelColumn::none, .missing = true});
  const auto& numbers = filled.inputs.columns[0].numbers;
  REQUIRE(numbers.size() == 6);
  CHECK(numbers[3] == 4);
  CHECK(numbers[5] == 6);
  for (const std::size_t i : {1U, 2U, 4U}) CHECK(std::isnan(numbers[i]));
}

TEST_CASE("a column that may number the rows is named") {
  std::string text = "id,a,k\n";
  for (int i = 0; i < 12; ++i) {
    text += std::to_string(7 * i % 12 + 40) + "," + std::to_string(i / 2) + ",1\n";
  }
  CHECK(read(text).notes == Names{"f: column 1 ('id') has another whole number in each row, and is "
                                  "a feature unless it is ignored"});
  CHECK(read(text + "47,9,1\n").notes.empty());  // 47 twice.
}

TEST_CASE("read_table splits at other delimiters") {
  bpm::TableSettings settings;
  for (const char delimiter : {';', '\t', '|'}) {
    settings.delimiter = delimiter;
    const std::string d(1, delimiter);
    CHECK(read("1" + d + "2" + d + "1\n", settings).inputs.cols() == 2);
  }
  // Nothing between two tabs is a field without a value, at a line's begin as well.
  CHECK_THROWS_WITH(read("1\t2\t-1\n3\t\t1\n"),
                    "f:2: column 2: found the missing value '', expected a finite number");
  CHECK_THROWS_WITH(read("1\t2\t-1\n\t4\t1\n"),
                    "f:2: column 1: found the missing value '', expected a finite number");
  settings.delimiter = ' ';
  const auto data = read("  1.5   2e0\t 1 \n 3 4 -1\n", settings);
  CHECK(data.inputs == (Eigen::MatrixXd(2, 2) << 1.5, 2, 3, 4).finished());
  CHECK(data.labels == std::vector<int>{1, -1});
}

TEST_CASE("read_table finds the delimiter in the first line") {
  for (const std::string d : {",", ";", "\t", " ", "   "}) {
    CAPTURE(d);
    CHECK(read("# a,b\n 1" + d + "2" + d + "3 \n4" + d + "5" + d + "6").inputs ==
          (Eigen::MatrixXd(2, 2) << 1, 2, 4, 5).finished());
  }
  // The one that comes first, outside quotes.
  CHECK(read("\"a,\"\"b\"\"\";c, d;e\n1;2;3\n").feature_names == Names{"a,\"b\"", "c, d"});
  CHECK(read("a\tb; c\n1\t2\n").feature_names == Names{"a"});
  CHECK_THROWS_WITH(read("1;2\n1,5;2\n"), "f:2: column 1: found '1,5', expected a finite number");
  CHECK(read("7\n8\n", {.label = LabelColumn::none}).inputs.rows() == 2);
}

TEMPLATE_TEST_CASE("read_table rounds to the scalar type asked for", "", float, double) {
  const auto data = read<TestType>("0.1,1e-60,3.25,1\n");
  CHECK(data.inputs(0, 0) == static_cast<TestType>(0.1));
  CHECK(data.inputs(0, 1) == static_cast<TestType>(1e-60));
  CHECK(data.inputs(0, 2) == TestType{3.25});
}

TEST_CASE("read_table refuses what is not a finite number, with line and column") {
  CHECK_THROWS_AS(read("1,x,1\n"), bpm::DataError);
  CHECK_THROWS_WITH(read("1,2,1\n\n1,x,1\n"), "f:3: column 2: found 'x', expected a finite number");
  for (const std::string bad : {"inf", "-inf", "+inf", "1e999", "1 2", "1.5x", "++1", "+-1", "-+1",
                                "+", "0x10", "'1'", "1.2.3", "-nan"}) {
    CHECK_THROWS_WITH(read("1,2,1\n" + bad + ",2,1\n"),
                      "f:2: column 1: found '" + bad + "', expected a finite number");
  }
  CHECK_NOTHROW(read<double>("1e300,1\n"));
  CHECK_THROWS_WITH(read<float>("1e300,1\n"),
                    "f:1: column 1: found '1e300', expected a finite number");
}

TEST_CASE("read_table keeps messages short and printable") {
  CHECK_THROWS_WITH(
      read("\x01\x7f" + std::string(50, 'y') + ",1\n"),
      "f:1: column 1: found '??" + std::string(38, 'y') + "'..., expected a finite number");
}

TEST_CASE("read_table refuses labels that are numbers and not integers") {
  for (const std::string bad : {"0.5", "-nan", "inf", "2147483648.0", "-2147483649", "1e999"}) {
    CHECK_THROWS_WITH(read("1,1\n2," + bad + "\n"),
                      "f:2: column 2: found '" + bad + "', expected an integer label");
    // Beside words as well.
    CHECK_THROWS_WITH(read("x,y\n1,one\n2," + bad + "\n"),
                      "f:3: column 2 ('y'): found '" + bad + "', expected an integer label");
  }
}

TEST_CASE("read_table refuses lines of different length and files without data") {
  CHECK_THROWS_WITH(read("# c\n1,2,1\n1,1\n"), "f:3: found 2 fields, expected 3 as in line 2");
  CHECK_THROWS_WITH(read("1,1\n1,2,3,1\n"), "f:2: found 4 fields, expected 2 as in line 1");
  CHECK_THROWS_WITH(read("1\n", {.delimiter = ','}),
                    "f:1: found 1 field, expected 2 or more (a label and at least one value), "
                    "separated by ','");
  CHECK_THROWS_WITH(read(""), "f:0: found the end, expected a line of data");
  CHECK_THROWS_WITH(read("# c\n\n"), "f:2: found the end, expected a line of data");
}

TEST_CASE("read_table reports a stream that fails") {
  struct Broken : std::streambuf {
    int_type underflow() override { throw std::runtime_error("disk"); }
  } broken;
  std::istream stream(&broken);
  CHECK_THROWS_WITH(bpm::read_table(stream, "f"), "f:1: reading failed");
}

TEST_CASE("read_table reads files by path and names them") {
  const test_support::TemporaryFolder folder;
  const auto good = folder.write("good.csv", "1,2,1\n");
  const auto bad = folder.write("bad.csv", "1,2,1\n1,2\n");
  CHECK(bpm::read_table<float>(good).inputs.cols() == 2);
  CHECK_THROWS_WITH(bpm::read_table(bad),
                    bad.string() + ":2: found 2 fields, expected 3 as in line 1");
  const auto absent = folder.path() / "absent";
  CHECK_THROWS_WITH(bpm::read_table(absent), absent.string() + ": cannot be opened for reading");
}

TEST_CASE("read_table reads numbers alike in every locale") {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "C"}) {
    std::setlocale(LC_ALL, name);  // keeps the present one where there is no such locale
    CHECK(read("1.5,1\n").inputs(0, 0) == 1.5);
  }
  std::setlocale(LC_ALL, before.c_str());
}

TEST_CASE("read_table reads the seven two-class benchmark sets") {
  const auto folder = test_support::data_dir();
  if (!folder) {
    return test_support::skip_without_data("read_table reads the seven two-class benchmark sets");
  }
  struct Expected {
    std::string name;
    Eigen::Index rows, columns, positive, negative;
  };
  for (const Expected& set :
       {Expected{"banana", 5300, 2, 2376, 2924}, Expected{"waveform", 5000, 21, 1647, 3353},
        Expected{"heart", 270, 13, 120, 150}, Expected{"thyroid", 215, 5, 65, 150},
        Expected{"diabetes", 768, 8, 268, 500}, Expected{"sonar", 208, 60, 111, 97},
        Expected{"ionosphere", 351, 34, 225, 126}}) {
    CAPTURE(set.name);
    const auto data = bpm::read_table(*folder / "benchmarks" / (set.name + ".csv"));
    CHECK(data.inputs.rows() == set.rows);
    CHECK(data.inputs.cols() == set.columns);
    CHECK(std::count(data.labels.begin(), data.labels.end(), 1) == set.positive);
    CHECK(std::count(data.labels.begin(), data.labels.end(), -1) == set.negative);
  }
}

TEST_CASE("features by name are found in any order, and other columns skipped", "[data]") {
  bpm::TableSettings settings;
  settings.label = std::string("kind");
  settings.features = {"width", "height"};
  std::istringstream in("id,height,kind,width\na7,2,x,1\nb8,4,y,3\n");
  const auto data = bpm::read_table<double>(in, "t.csv", settings);
  CHECK(data.inputs == (bpm::RowMatrix<double>(2, 2) << 1, 2, 3, 4).finished());
  CHECK(data.feature_names == settings.features);
  CHECK(data.notes ==
        std::vector<std::string>{"t.csv: the columns are in another order, and matched by name",
                                 "t.csv: 1 of 4 columns are not among the features, and skipped"});
  // Names that are numbers are a header where they are those that are wanted.
  settings.features = {"10", "20"};
  settings.label = bpm::TableSettings::LabelColumn::none;
  std::istringstream numbers("20,10\n1,2\n");
  CHECK(bpm::read_table<double>(numbers, "n", settings).inputs ==
        (bpm::RowMatrix<double>(1, 2) << 2, 1).finished());
  // No header: by position.
  std::istringstream plain("1,2\n3,4\n");
  CHECK(bpm::read_table<double>(plain, "p", settings).inputs(1, 0) == 3);
}

TEST_CASE("a column that is wanted by name must be there once", "[data]") {
  const auto message = [](const std::string& text, bpm::TableSettings settings) {
    std::istringstream in(text);
    return test_support::message_of([&] { (void)bpm::read_table<double>(in, "t", settings); });
  };
  CHECK(message("a,b,kind\n1,2,3\n", {.features = {"a", "c"}}) ==
        "t:1: found no column 'c', expected one of 'a', 'b', 'kind'");
  CHECK(message("a,a,kind\n1,2,3\n", {.features = {"a"}}) ==
        "t:1: found two columns 'a', expected one");
  CHECK(message("a,b,kind\n1,2,3\n", {.ignored = {std::string("c")}}) ==
        "t:1: found no column 'c', expected one of 'a', 'b', 'kind'");
  CHECK(message("1,2,3\n4,5,7\n8,9,9\n",
                {.header = bpm::TableSettings::Header::no, .ignored = {std::string("c")}}) ==
        "t:1: found no header, expected one with the ignored column 'c'");
  CHECK(message("a,b,kind\n1,2,3\n", {.ignored = {Eigen::Index{3}}}) ==
        "t:1: found 3 fields, expected more than 3, the index of the ignored column");
  CHECK(message("a,kind\n1,3\n", {.ignored = {Eigen::Index{0}}}) ==
        "t:1: found no column that is a feature, expected one");
}

TEST_CASE("ignored columns may hold anything", "[data]") {
  std::istringstream in("id,a,kind\nx7,2,0\nx8,4,1\n");
  const auto data = bpm::read_table<double>(in, "t", {.ignored = {std::string("id")}});
  CHECK(data.inputs == (bpm::RowMatrix<double>(2, 1) << 2, 4).finished());
  CHECK(data.feature_names == std::vector<std::string>{"a"});
  std::istringstream again("id,a,kind\nx7,2,0\nx8,4,1\n");
  CHECK(bpm::read_table<double>(again, "t", {.ignored = {Eigen::Index{0}}}).inputs == data.inputs);
}

TEST_CASE("a first line that counts its fields from 0 is a header", "[data]") {
  std::istringstream in("0,1,2\n0.5,1.5,1\n2.5,3.5,0\n");
  const auto data = bpm::read_table<double>(in, "p.csv");
  CHECK(data.inputs.rows() == 2);
  CHECK(data.feature_names == std::vector<std::string>{"0", "1"});
  CHECK(data.notes ==
        std::vector<std::string>{
            "p.csv: the first line counts the columns, and is taken for their names"});
  // As pandas writes it with its index, which is a column without a name.
  std::string text = ",0,1,2\n";
  for (int i = 0; i < 12; ++i) text += std::to_string(i) + ",0.5," + std::to_string(i % 5) + ",1\n";
  std::istringstream indexed(text);
  const auto with_index = bpm::read_table<double>(indexed, "p.csv");
  CHECK(with_index.inputs.rows() == 12);
  REQUIRE(with_index.notes.size() == 2);
  CHECK(with_index.notes[1] ==
        "p.csv: column 1 ('') counts the rows, and is a feature unless it is ignored");
  // Told that it is a row, it is one.
  std::istringstream row("0,1,2\n0.5,1.5,1\n");
  CHECK(
      bpm::read_table<double>(row, "p", {.header = bpm::TableSettings::Header::no}).inputs.rows() ==
      2);
}

TEST_CASE("a first line of years, whose label is of another kind or alone, must be told apart",
          "[data]") {
  const auto said = [](const std::string& text) {
    return test_support::message_of([&] {
      std::istringstream in(text);
      (void)bpm::read_table<double>(in, "y.csv");
    });
  };
  const std::string rows = "0.5,7,a\n1.5,2,b\n2.5,2,a\n1,3,b\n";
  const std::string asked =
      "y.csv:1: found a line of numbers beside a label unlike others, which may be names of "
      "columns or a row, expected to be told which";
  CHECK(said("2019,2021,2023\n" + rows) == asked);
  CHECK(said("2019,2021,kind\n" + rows) == asked);
  // Rows: a label that others have, one that is not alone in being alone, numbers like others.
  const auto rows_of = [](const std::string& text, const bpm::TableSettings& settings = {}) {
    std::istringstream in(text);
    return bpm::read_table<double>(in, "y.csv", settings).inputs.rows();
  };
  CHECK(rows_of("2019,2021,a\n" + rows) == 5);
  CHECK(rows_of("2019,2021,c\n" + rows + "1.5,2,d\n") == 6);
  CHECK(rows_of("2019,2019,c\n" + rows) == 5);
  // Wavelengths over spectra, counts below whole numbers: the label alone tells.
  CHECK(said("4,3,c\n1,2,a\n1.5,3,b\n3,2,a\n2,1,b\n") == asked);
  CHECK(said("900.5,904.4,sample\n.2,.21,pure\n.17,.31,mixed\n.1,.2,pure\n.3,.1,mixed\n") == asked);
  CHECK(said("900.5,904.4,sample\n.2,.21,0\n.17,.31,1\n.1,.2,0\n.3,.1,1\n") == asked);
  CHECK(rows_of("-0.5,904.4,c\n1,2,a\n1.5,3,b\n3,2,a\n2,1,b\n") == 5);  // No name has a sign.
  // Whole numbers from which none can be counted on.
  for (const std::string first : {"2147483647", "9223372036854775807"}) {
    CHECK(rows_of(first + ",2,3\n1,2,4\n") == 2);
  }
  CHECK(rows_of("2019,2021,kind\n" + rows, {.header = bpm::TableSettings::Header::no}) == 5);
}

TEST_CASE("a first line that counts from elsewhere must be told apart", "[data]") {
  std::istringstream in("1990,1991,1992\n0.5,1.5,1\n");
  CHECK(
      test_support::message_of([&] { (void)bpm::read_table<double>(in, "y.csv"); }) ==
      "y.csv:1: found a line that counts its fields from 1990, which may be names of columns or a "
      "row, expected to be told which");
  std::istringstream told("1990,1991,1992\n0.5,1.5,1\n");
  CHECK(bpm::read_table<double>(told, "y", {.header = bpm::TableSettings::Header::yes})
            .feature_names == std::vector<std::string>{"1990", "1991"});
}

namespace {

bpm::LabelledData<bpm::MixedTable> read_mixed(const std::string& content,
                                              const bpm::TableSettings& settings) {
  std::istringstream stream(content);
  return bpm::read_mixed_table(stream, "f", settings);
}

}  // namespace

TEST_CASE("read_table reads percentages, true and false, and a decimal comma") {
  const auto data = read("a,b,y\n12%,TRUE,1\n0,false,0\n3 %,True,1\n");
  CHECK(data.inputs == (bpm::RowMatrix<double>(3, 2) << 0.12, 1, 0, 0, 0.03, 1).finished());
  CHECK(data.feature_names == Names{"a", "b"});
  CHECK_THROWS_WITH(read("12%,1\n3,1\n"),
                    "f:2: column 1: found '3', expected a percentage as before");
  CHECK_THROWS_WITH(
      read("3,1\n12%,1\n"),
      "f:2: column 1: found '12%', expected a number that is no percentage, as before");
  CHECK_THROWS_WITH(read("1,1\n%,1\n"), "f:2: column 1: found '%', expected a finite number");
  const bpm::TableSettings comma{.decimal = ','};
  CHECK(read("1,5;-2,25e1;1\n", comma).inputs ==
        (bpm::RowMatrix<double>(1, 2) << 1.5, -22.5).finished());
  CHECK(read("1,5%\t2\t1\n", comma).inputs(0, 0) == 0.015);
  CHECK(read("\"1,5\",\"2\",1\n", {.delimiter = ',', .decimal = ','}).inputs(0, 0) == 1.5);
  // A point may stand between thousands.
  CHECK_THROWS_WITH(read("1.500;1\n", comma),
                    "f:1: column 1: found '1.500', expected a finite number");
}

TEST_CASE("read_table takes no settings of mixed tables") {
  for (const bpm::TableSettings& settings :
       {bpm::TableSettings{.words = {Eigen::Index{0}}}, bpm::TableSettings{.automatic_words = true},
        bpm::TableSettings{.kinds = {bpm::MixedTable::Kind::numbers}},
        bpm::TableSettings{.missing = true}}) {
    CHECK_THROWS_WITH(read("1,1\n", settings),
                      "read_table: settings have words, kinds or missing: read_mixed_table has "
                      "these");
  }
}

TEST_CASE("read_mixed_table tells words from numbers, and both from what is missing") {
  const auto data = read_mixed("size,colour,code,y\n1.5,red,7,no\nNA,blue,8,yes\n2,,x,yes\n",
                               {.automatic_words = true, .missing = true});
  REQUIRE(data.inputs.columns.size() == 3);
  const auto& size = data.inputs.columns[0];
  CHECK(size.kind == bpm::MixedTable::Kind::numbers);
  CHECK(size.name == "size");
  CHECK(size.numbers[0] == 1.5);
  CHECK(std::isnan(size.numbers[1]));
  CHECK(size.word_of.empty());
  const auto& colour = data.inputs.columns[1];
  CHECK(colour.words == Names{"blue", "red"});
  CHECK(colour.word_of == std::vector<int>{1, 0, -1});
  // Numbers before the first word are words as they stand.
  const auto& code = data.inputs.columns[2];
  CHECK(code.kind == bpm::MixedTable::Kind::words);
  CHECK(code.words == Names{"7", "8", "x"});
  CHECK(data.inputs.rows() == 3);
  CHECK(data.labels == std::vector<int>{0, 1, 1});
  CHECK(data.feature_names == Names{"size", "colour", "code"});

  // Columns by name or index are words whatever they hold; others must be numbers.
  const std::string numbers = "7,1,1\n8,2,0\n";
  CHECK(read_mixed(numbers, {.words = {Eigen::Index{0}}}).inputs.columns[0].words ==
        Names{"7", "8"});
  CHECK(read_mixed("a,b,y\n" + numbers, {.words = {std::string("b")}}).inputs.columns[1].words ==
        Names{"1", "2"});
  CHECK_THROWS_WITH(read_mixed("7,u,1\n", {.words = {Eigen::Index{0}}}),
                    "f:1: column 2: found 'u', expected a finite number");
  CHECK_THROWS_WITH(read_mixed(numbers, {.words = {std::string("b")}}),
                    "f:1: found no header, expected one with the column of words 'b'");
  CHECK_THROWS_WITH(read_mixed(numbers, {.words = {Eigen::Index{3}}}),
                    "f:1: found 3 fields, expected more than 3, the index of the column of words");
  CHECK_THROWS_WITH(read_mixed("7,,1\n", {.automatic_words = true}),
                    "f:1: column 2: found the missing value '', expected a value");
  // What is missing among numbers only, and what is given: words where there are other words, or
  // nothing else.
  const bpm::TableSettings fills{
      .automatic_words = true, .missing = true, .missing_words = {"unknown"}};
  const auto some = read_mixed("a,b,c,y\n1,.,-,0\n-,x,None,0\nunknown,unknown,-,1\n", fills);
  CHECK(std::isnan(some.inputs.columns[0].numbers[1]));
  CHECK(std::isnan(some.inputs.columns[0].numbers[2]));
  CHECK(some.inputs.columns[1].words == Names{".", "x"});
  CHECK(some.inputs.columns[1].word_of == std::vector<int>{0, 1, -1});
  CHECK(some.inputs.columns[2].words == Names{"-", "None"});
  CHECK_THROWS_WITH(read_mixed("1,0\n2,0\n.,1\n", {.automatic_words = true}),
                    "f:3: column 1: found the missing value '.', expected a value");
  CHECK_THROWS_WITH(read_mixed("1,0\n-,0\n", {.words = {Eigen::Index{1}}}),
                    "f:2: column 1: found the missing value '-', expected a value");
  // The kinds of another table.
  using Kind = bpm::MixedTable::Kind;
  CHECK(read_mixed(numbers, {.kinds = {Kind::words, Kind::numbers}}).inputs.columns[0].words ==
        Names{"7", "8"});
  CHECK_THROWS_WITH(read_mixed(numbers, {.kinds = {Kind::words}}),
                    "f:1: found 2 features, expected 1");
  CHECK_THROWS_WITH(
      read_mixed("a,b,y\n" + numbers, {.features = {"a", "b"}, .kinds = {Kind::words}}),
      "f:1: found 2 features, expected 1");
}

TEST_CASE("read_mixed_table refuses columns of too many words, unless they are asked for") {
  std::string ids = "id,x,y\n";
  for (int i = 0; i < 40; ++i) {
    ids +=
        "p" + std::to_string(i) + "," + std::to_string(i % 3) + "," + std::to_string(i % 2) + "\n";
  }
  CHECK_THROWS_WITH(read_mixed(ids, {.automatic_words = true}),
                    "f:2: column 1 ('id'): found 'p0' in a column of 40 different words, expected "
                    "numbers, or fewer words for categories");
  CHECK(read_mixed(ids, {.words = {std::string("id")}}).inputs.columns[0].words.size() == 40);
}

TEST_CASE("a table of words alone asks for its header unless a word of its first line recurs") {
  const bpm::TableSettings words{.automatic_words = true};
  CHECK_THROWS_WITH(read_mixed("a,b,kind\nx,y,p\nu,y,q\nx,z,p\nu,z,q\n", words),
                    "f:1: found a line of words that no other line has, which may be names of "
                    "columns or a row, expected to be told which");
  CHECK(read_mixed("x,y,p\nu,y,q\nx,z,p\nu,z,q\n", words).labels.size() == 4);
  // A class with one row does not hide it.
  CHECK_THROWS_WITH(read_mixed("a,b,kind\nx,y,p\nu,y,q\nx,z,p\nu,z,r\nu,z,q\n", words),
                    Catch::Matchers::ContainsSubstring("which may be names of columns or a row"));
  const auto told =
      read_mixed("a,b,kind\nx,y,p\nu,y,q\n", {.header = Header::yes, .automatic_words = true});
  CHECK(told.feature_names == Names{"a", "b"});
  // A column that is asked for by its name is in a header.
  CHECK(read_mixed("a,b,kind\nx,y,p\nu,y,q\n", {.words = {std::string("a"), std::string("b")}})
            .labels.size() == 2);
}

TEST_CASE("a first line with a number beside a word is said to be names") {
  const auto data = read_mixed("n.a.,3.5,p\n4.9,3.0,q\n4.7,3.2,p\n", {});
  CHECK(data.inputs.rows() == 2);
  CHECK(data.notes ==
        Names{"f: the first line has numbers and 'n.a.', and is taken for names of columns"});
  CHECK(read_mixed("length,width,kind\n4.9,3.0,q\n4.7,3.2,p\n", {}).notes.empty());
  CHECK(read_mixed("length,nan,kind\n4.9,3.0,q\n4.7,3.2,p\n", {}).notes.empty());
}

TEST_CASE("between tabs a row of missing values is a row, and a blank line is none") {
  const auto data = read_mixed("a\tb\tc\n1\t2\t0\n \t\t\n\n\t\n3\t4\t1\n",
                               {.label = bpm::TableSettings::LabelColumn::none, .missing = true});
  CHECK(data.inputs.rows() == 3);
}

TEST_CASE("a feature that is asked for is not ignored") {
  CHECK_THROWS_WITH(read_mixed("a,b,kind\n1,2,p\n3,4,q\n",
                               {.features = {"a", "b"}, .ignored = {std::string("b")}}),
                    "f:1: found the feature 'b' among the ignored columns, expected it to be used");
}

TEST_CASE("read_mixed_table opens files as read_table does") {
  const test_support::TemporaryFolder folder;
  const auto path = folder.path() / "t.csv";
  std::ofstream(path) << "x,1,0\ny,2,1\n";
  CHECK(bpm::read_mixed_table(path, {.automatic_words = true}).inputs.rows() == 2);
}
