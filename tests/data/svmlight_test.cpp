// SPDX-License-Identifier: MIT
#include "bpm/data/svmlight.hpp"

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "catch.hpp"
#include "temporary_folder.hpp"

namespace {

template <class Scalar = double>
auto dense(const std::string& content, Eigen::Index columns = 0) {
  std::istringstream stream(content);
  return bpm::read_svmlight_dense<Scalar>(stream, "f", columns);
}

template <class Scalar = double>
auto sparse(const std::string& content, Eigen::Index columns = 0) {
  std::istringstream stream(content);
  return bpm::read_svmlight_sparse<Scalar>(stream, "f", columns);
}

/// Rows (0.5, 0, -2, 0), (0, 0, 0, 0), (0, 3, 0, 4).
const std::string three_rows =
    "# head\n"
    "+1 1:0.5 3:-2 # tail 7:7\r\n"
    "\n"
    "-1\n"
    "  1.0\t2:+3  4:4e0  ";

}  // namespace

TEMPLATE_TEST_CASE("SVMlight rows are read alike as dense and sparse", "", float, double) {
  Eigen::Matrix<TestType, 3, 4> expected;
  expected << TestType(0.5), 0, -2, 0, 0, 0, 0, 0, 0, 3, 0, 4;
  const auto whole = dense<TestType>(three_rows);
  CHECK(whole.inputs == expected);
  CHECK(whole.labels == std::vector<int>{1, -1, 1});
  const auto thin = sparse<TestType>(three_rows);
  CHECK(thin.inputs.isCompressed());
  CHECK(thin.inputs.nonZeros() == 4);
  REQUIRE(thin.inputs.rows() == 3);
  REQUIRE(thin.inputs.cols() == 4);
  CHECK(Eigen::Matrix<TestType, 3, 4>(thin.inputs.toDense()) == expected);
  CHECK(thin.labels == whole.labels);
}

TEST_CASE("SVMlight data can be given the number of columns") {
  CHECK(dense("1 2:1\n", 5).inputs.cols() == 5);
  CHECK(sparse("1 2:1\n", 5).inputs.cols() == 5);
  CHECK(dense("1\n", 5).inputs.cols() == 5);
  CHECK_THROWS_WITH(dense("1 0:1\n", 5),
                    "f:1: found index '0', expected an integer from 1 to 2147483647");
}

TEST_CASE("SVMlight rows without values give an empty width") {
  CHECK(dense("1\n-1\n").inputs.rows() == 2);
  CHECK(dense("1\n-1\n").inputs.cols() == 0);
  CHECK(sparse("1\n-1\n").inputs.rows() == 2);
  CHECK(sparse("1\n-1\n").inputs.nonZeros() == 0);
}

TEST_CASE("SVMlight zeros that are written out widen the data but are not stored") {
  CHECK(sparse("1 1:1 9:0\n").inputs.nonZeros() == 1);
  CHECK(sparse("1 1:1 9:0\n").inputs.cols() == 9);
  CHECK(dense("1 1:1 9:0\n").inputs.cols() == 9);
}

TEST_CASE("SVMlight ranking groups are skipped, in their place only") {
  CHECK(dense("1 qid:3 1:2\n").inputs(0, 0) == 2);
  CHECK_THROWS_WITH(dense("1 1:2 qid:3\n"),
                    "f:1: found index 'qid', expected an integer from 1 to 2147483647");
}

TEST_CASE("SVMlight indices count from 1 and ascend") {
  CHECK_THROWS_AS(dense("1 0:1\n"), bpm::DataError);
  for (const std::string bad : {"0", "-1", "x", "", "1.0", "2147483648", "99999999999999999999"}) {
    CHECK_THROWS_WITH(dense("1 1:1\n1 " + bad + ":1\n"),
                      "f:2: found index '" + bad + "', expected an integer from 1 to 2147483647");
  }
  CHECK_THROWS_WITH(dense("1 3:1 2:1\n"), "f:1: found index 2 after 3, expected ascending indices");
  CHECK_THROWS_WITH(sparse("1 3:1 3:1\n"),
                    "f:1: found index 3 after 3, expected ascending indices");
}

TEST_CASE("SVMlight lines that are broken are named") {
  CHECK_THROWS_WITH(dense("1 1:1\n\n1 2\n"), "f:3: found '2', expected index:value");
  CHECK_THROWS_WITH(dense("1 1: 1\n"), "f:1: index 1: found '', expected a finite number");
  for (const std::string bad : {"x", "nan", "inf", "1e999", "1:2"}) {
    CHECK_THROWS_WITH(sparse("1 4:" + bad + "\n"),
                      "f:1: index 4: found '" + bad + "', expected a finite number");
  }
  for (const std::string bad : {"a", "0.5", "1,2", "1:1", "nan"}) {
    CHECK_THROWS_WITH(dense(bad + " 1:1\n"), "f:1: found '" + bad + "', expected an integer label");
  }
  CHECK_THROWS_WITH(dense(""), "f:0: found the end, expected a line of data");
  CHECK_THROWS_WITH(sparse("# nothing\n"), "f:1: found the end, expected a line of data");
}

TEST_CASE("SVMlight numbers out of range are too large or 0, however they are spelt") {
  const std::string zeros(400, '0');
  for (const std::string& small :
       std::vector<std::string>{"1e-400", "0." + zeros + "1", "1" + zeros + "e-800"}) {
    CHECK(dense("1 1:" + small + "\n").inputs(0, 0) == 0);
    CHECK_THROWS_AS(dense(small + " 1:1\n"), bpm::DataError);
  }
  CHECK_THROWS_WITH(dense("1e-400 1:1\n"), "f:1: found '1e-400', expected an integer label");
  for (const std::string& large : {"1" + zeros, "1" + zeros + "e-5", "0." + zeros + "1e800"}) {
    CHECK_THROWS_AS(dense("1 1:" + large + "\n"), bpm::DataError);
    CHECK_THROWS_AS(dense(large + " 1:1\n"), bpm::DataError);
  }
}

TEST_CASE("read_svmlight refuses impossible numbers of columns") {
  CHECK_THROWS_AS(dense("1 1:1\n", -1), std::invalid_argument);
  CHECK_THROWS_WITH(dense("1 1:1\n", -1),
                    "read_svmlight: columns is -1, must be 0 (as in the file) or a number "
                    "of columns below 2^31");
  CHECK_THROWS_WITH(sparse("1 1:1\n", Eigen::Index{1} << 31),
                    "read_svmlight: columns is 2147483648, must be 0 (as in the file) or "
                    "a number of columns below 2^31");
}

TEST_CASE("read_svmlight_dense does not let an index decide how much memory it takes") {
  std::istringstream wide("1 2147483647:1\n-1 1:1\n");
  CHECK_THROWS_WITH(
      bpm::read_svmlight_dense(wide, "f"),
      "f: found 2 rows of 2147483647 columns, which dense take more than 1073741824 bytes, the "
      "limit; read them sparse, or give a larger one");
  std::istringstream exact("1 4:1\n-1 1:1\n");
  CHECK(bpm::read_svmlight_dense<float>(exact, "f", 0, 32).inputs.size() == 8);
  std::istringstream above("1 4:1\n-1 1:1\n");
  CHECK_THROWS_AS(bpm::read_svmlight_dense<float>(above, "f", 0, 31), bpm::DataError);
  std::istringstream sparse("1 2147483647:1\n-1 1:1\n");
  CHECK(bpm::read_svmlight_sparse(sparse).inputs.nonZeros() == 2);
}

TEST_CASE("SVMlight files are read by path and named in messages") {
  const test_support::TemporaryFolder folder;
  const auto good = folder.write("good", three_rows);
  const auto bad = folder.write("bad", "1 x\n");
  CHECK(bpm::read_svmlight_dense<float>(good).inputs.rows() == 3);
  CHECK(bpm::read_svmlight_sparse<float>(good, 9).inputs.cols() == 9);
  CHECK_THROWS_WITH(bpm::read_svmlight_dense(bad),
                    bad.string() + ":1: found 'x', expected index:value");
  const auto absent = folder.path() / "absent";
  CHECK_THROWS_WITH(bpm::read_svmlight_sparse(absent),
                    absent.string() + ": cannot be opened for reading");
}
