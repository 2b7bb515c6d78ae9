// SPDX-License-Identifier: MIT
#include "bpm/data/csv.hpp"

#include <algorithm>
#include <clocale>
#include <cstddef>
#include <sstream>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <vector>

#include "catch.hpp"
#include "data.hpp"
#include "temporary_folder.hpp"

namespace {

template <class Scalar = double>
auto read(const std::string& content, const bpm::CsvSettings& settings = {}) {
  std::istringstream stream(content);
  return bpm::read_csv<Scalar>(stream, "f", settings);
}

}  // namespace

TEST_CASE("read_csv takes the last column as the label by default") {
  const auto data = read("1,2.5,+1\n-3e2,.25,-1\n");
  REQUIRE(data.inputs.rows() == 2);
  REQUIRE(data.inputs.cols() == 2);
  CHECK(data.inputs(0, 0) == 1.0);
  CHECK(data.inputs(0, 1) == 2.5);
  CHECK(data.inputs(1, 0) == -300.0);
  CHECK(data.inputs(1, 1) == 0.25);
  CHECK(data.labels == std::vector<int>{1, -1});
}

TEST_CASE("read_csv reads numbers too small for double as 0, and refuses those too large") {
  CHECK(read("1e-400,1\n").inputs(0, 0) == 0);
  CHECK_THROWS_AS(read("1e400,1\n"), bpm::DataError);
}

TEST_CASE("read_csv takes the first column as the label, or none") {
  bpm::CsvSettings settings;
  settings.label = bpm::CsvSettings::LabelColumn::first;
  const auto first = read("7,1,2\n8,3,4\n", settings);
  CHECK(first.labels == std::vector<int>{7, 8});
  CHECK(first.inputs == (Eigen::MatrixXd(2, 2) << 1, 2, 3, 4).finished());
  settings.label = bpm::CsvSettings::LabelColumn::none;
  const auto none = read("7\n8\n", settings);
  CHECK(none.labels.empty());
  CHECK(none.inputs == (Eigen::MatrixXd(2, 1) << 7, 8).finished());
}

TEST_CASE("read_csv accepts labels written as signed and as decimal integers") {
  CHECK(read("0,+1\n0,-1\n0,1.0\n0,-1.000\n0,2e1\n0,2147483647\n0,-2147483648\n").labels ==
        std::vector<int>{1, -1, 1, -1, 20, 2147483647, -2147483647 - 1});
}

TEST_CASE("read_csv skips blank lines and comments, and reads CR LF and a last line without end") {
  const auto data = read("\xef\xbb\xbf# made by hand\r\n\r\n1, 2 ,1\r\n   \n\t# more\n +3\t,4,-1");
  CHECK(data.inputs == (Eigen::MatrixXd(2, 2) << 1, 2, 3, 4).finished());
  CHECK(data.labels == std::vector<int>{1, -1});
}

TEST_CASE("read_csv treats the comment character as the settings say") {
  bpm::CsvSettings settings;
  settings.comment = '%';
  CHECK(read("% text\n1,1\n", settings).labels.size() == 1);
  settings.comment = '\0';
  CHECK_THROWS_WITH(read("#\n", settings),
                    "f:1: found 1 field, expected 2 or more (a label and at least one value), "
                    "separated by ','");
  // Without comments a line is data whatever it begins with.
  CHECK_THROWS_WITH(read(std::string("1,1\n\0,1\n", 8), settings),
                    "f:2: column 1: found '?', expected a finite number");
}

TEST_CASE("read_csv skips a header where there is one") {
  bpm::CsvSettings settings;
  settings.header = true;
  const auto data = read("# comment\nwidth,height,class\n1,2,3\n", settings);
  CHECK(data.inputs.rows() == 1);
  CHECK(data.labels == std::vector<int>{3});
  CHECK_THROWS_WITH(read("a,b\n1,1\n"), "f:1: column 1: found 'a', expected a finite number");
}

TEST_CASE("read_csv splits at other delimiters") {
  bpm::CsvSettings settings;
  for (const char delimiter : {';', '\t', '|'}) {
    settings.delimiter = delimiter;
    const std::string d(1, delimiter);
    CHECK(read("1" + d + "2" + d + "1\n", settings).inputs.cols() == 2);
  }
  settings.delimiter = ' ';
  const auto data = read("  1.5   2e0\t 1 \n 3 4 -1\n", settings);
  CHECK(data.inputs == (Eigen::MatrixXd(2, 2) << 1.5, 2, 3, 4).finished());
  CHECK(data.labels == std::vector<int>{1, -1});
}

TEMPLATE_TEST_CASE("read_csv rounds to the scalar type asked for", "", float, double) {
  const auto data = read<TestType>("0.1,1e-60,3.25,1\n");
  CHECK(data.inputs(0, 0) == static_cast<TestType>(0.1));
  CHECK(data.inputs(0, 1) == static_cast<TestType>(1e-60));
  CHECK(data.inputs(0, 2) == TestType{3.25});
}

TEST_CASE("read_csv refuses what is not a finite number, with line and column") {
  CHECK_THROWS_AS(read("1,x,1\n"), bpm::DataError);
  CHECK_THROWS_WITH(read("1,2,1\n\n1,x,1\n"), "f:3: column 2: found 'x', expected a finite number");
  for (const std::string bad : {"nan", "inf", "-inf", "+inf", "1e999", "", "1 2", "1.5x", "++1",
                                "+-1", "-+1", "+", "0x10", "\"1\"", "1.2.3"}) {
    CHECK_THROWS_WITH(read("1,2,1\n" + bad + ",2,1\n"),
                      "f:2: column 1: found '" + bad + "', expected a finite number");
  }
  CHECK_NOTHROW(read<double>("1e300,1\n"));
  CHECK_THROWS_WITH(read<float>("1e300,1\n"),
                    "f:1: column 1: found '1e300', expected a finite number");
}

TEST_CASE("read_csv keeps messages short and printable") {
  CHECK_THROWS_WITH(
      read("\x01\x7f" + std::string(50, 'y') + ",1\n"),
      "f:1: column 1: found '??" + std::string(38, 'y') + "'..., expected a finite number");
}

TEST_CASE("read_csv refuses labels that are not integers") {
  for (const std::string bad : {"0.5", "one", "", "nan", "inf", "2147483648", "-2147483649"}) {
    CHECK_THROWS_WITH(read("1,1\n2," + bad + "\n"),
                      "f:2: column 2: found '" + bad + "', expected an integer label");
  }
}

TEST_CASE("read_csv refuses lines of different length and files without data") {
  CHECK_THROWS_WITH(read("# c\n1,2,1\n1,1\n"), "f:3: found 2 fields, expected 3 as in line 2");
  CHECK_THROWS_WITH(read("1,1\n1,2,3,1\n"), "f:2: found 4 fields, expected 2 as in line 1");
  CHECK_THROWS_WITH(read("1\n"),
                    "f:1: found 1 field, expected 2 or more (a label and at least one value), "
                    "separated by ','");
  CHECK_THROWS_WITH(read(""), "f:0: found the end, expected a line of data");
  CHECK_THROWS_WITH(read("# c\n\n"), "f:2: found the end, expected a line of data");
}

TEST_CASE("read_csv reports a stream that fails") {
  struct Broken : std::streambuf {
    int_type underflow() override { throw std::runtime_error("disk"); }
  } broken;
  std::istream stream(&broken);
  CHECK_THROWS_WITH(bpm::read_csv(stream, "f"), "f:1: reading failed");
}

TEST_CASE("read_csv reads files by path and names them") {
  const test_support::TemporaryFolder folder;
  const auto good = folder.write("good.csv", "1,2,1\n");
  const auto bad = folder.write("bad.csv", "1,2,1\n1,2\n");
  CHECK(bpm::read_csv<float>(good).inputs.cols() == 2);
  CHECK_THROWS_WITH(bpm::read_csv(bad),
                    bad.string() + ":2: found 2 fields, expected 3 as in line 1");
  const auto absent = folder.path() / "absent";
  CHECK_THROWS_WITH(bpm::read_csv(absent), absent.string() + ": cannot be opened for reading");
}

TEST_CASE("read_csv reads numbers alike in every locale") {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "C"}) {
    std::setlocale(LC_ALL, name);  // keeps the present one where there is no such locale
    CHECK(read("1.5,1\n").inputs(0, 0) == 1.5);
  }
  std::setlocale(LC_ALL, before.c_str());
}

TEST_CASE("read_csv reads the seven two-class benchmark sets") {
  const auto folder = test_support::data_dir();
  if (!folder) {
    return test_support::skip_without_data("read_csv reads the seven two-class benchmark sets");
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
    const auto data = bpm::read_csv(*folder / "benchmarks" / (set.name + ".csv"));
    CHECK(data.inputs.rows() == set.rows);
    CHECK(data.inputs.cols() == set.columns);
    CHECK(std::count(data.labels.begin(), data.labels.end(), 1) == set.positive);
    CHECK(std::count(data.labels.begin(), data.labels.end(), -1) == set.negative);
  }
}
