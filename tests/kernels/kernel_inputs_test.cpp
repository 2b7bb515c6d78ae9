// SPDX-License-Identifier: MIT
#include "bpm/kernels/kernel.hpp"

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <list>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "catch.hpp"

namespace {

using Bytes = Eigen::Matrix<std::uint8_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The least a set of the user's own can be: begin, end, size, random access.
struct Numbers {
  std::array<int, 3> values{1, 2, 3};
  [[nodiscard]] const int* begin() const { return values.data(); }
  [[nodiscard]] const int* end() const { return values.data() + values.size(); }
};
struct NotConstNumbers {
  std::array<int, 3> values{1, 2, 3};
  int* begin() { return values.data(); }
  int* end() { return values.data() + values.size(); }
};

}  // namespace

TEST_CASE("DenseInputs: expressions of float, double and integers", "[kernels][concepts]") {
  STATIC_REQUIRE(bpm::DenseInputs<Eigen::MatrixXf>);
  STATIC_REQUIRE(bpm::DenseInputs<bpm::RowMatrix<double>>);
  STATIC_REQUIRE(bpm::DenseInputs<Bytes>);
  STATIC_REQUIRE(bpm::DenseInputs<Eigen::MatrixXi>);
  STATIC_REQUIRE(bpm::DenseInputs<Eigen::VectorXf>);
  STATIC_REQUIRE(bpm::DenseInputs<Eigen::Map<const Eigen::MatrixXd>>);
  STATIC_REQUIRE(bpm::DenseInputs<Eigen::Block<const Eigen::MatrixXd>>);
  STATIC_REQUIRE(bpm::DenseInputs<Eigen::Ref<const bpm::RowMatrix<float>>>);
  STATIC_REQUIRE_FALSE(bpm::DenseInputs<Eigen::MatrixXcd>);
  STATIC_REQUIRE_FALSE(bpm::DenseInputs<Eigen::Matrix<long double, 2, 2>>);
  STATIC_REQUIRE_FALSE(bpm::DenseInputs<Eigen::ArrayXXf>);
  STATIC_REQUIRE_FALSE(bpm::DenseInputs<bpm::SparseRowMatrix<float>>);
}

TEST_CASE("SparseInputs: rows that can be walked", "[kernels][concepts]") {
  STATIC_REQUIRE(bpm::SparseInputs<bpm::SparseRowMatrix<float>>);
  STATIC_REQUIRE(bpm::SparseInputs<Eigen::SparseMatrix<double, Eigen::RowMajor, std::int64_t>>);
  STATIC_REQUIRE(bpm::SparseInputs<Eigen::Map<const bpm::SparseRowMatrix<double>>>);
  STATIC_REQUIRE_FALSE(bpm::SparseInputs<Eigen::SparseMatrix<double>>);  // Column-major.
  STATIC_REQUIRE_FALSE(bpm::SparseInputs<bpm::SparseRowMatrix<int>>);
  STATIC_REQUIRE_FALSE(bpm::SparseInputs<bpm::RowMatrix<float>>);
}

TEST_CASE("RangeInputs: random-access ranges that are no matrix", "[kernels][concepts]") {
  STATIC_REQUIRE(bpm::RangeInputs<std::vector<std::string>>);
  STATIC_REQUIRE(bpm::RangeInputs<std::deque<int>>);
  STATIC_REQUIRE(bpm::RangeInputs<std::span<const std::string>>);
  STATIC_REQUIRE(bpm::RangeInputs<Numbers>);
  STATIC_REQUIRE_FALSE(bpm::RangeInputs<NotConstNumbers>);
  STATIC_REQUIRE_FALSE(bpm::RangeInputs<std::list<int>>);
  STATIC_REQUIRE_FALSE(bpm::RangeInputs<Eigen::VectorXd>);
  STATIC_REQUIRE_FALSE(bpm::RangeInputs<int>);
}

TEST_CASE("InputSet: one of the three kinds", "[kernels][concepts]") {
  STATIC_REQUIRE(bpm::InputSet<Eigen::MatrixXf>);
  STATIC_REQUIRE(bpm::InputSet<bpm::SparseRowMatrix<float>>);
  STATIC_REQUIRE(bpm::InputSet<std::vector<std::string>>);
  STATIC_REQUIRE_FALSE(bpm::InputSet<Eigen::SparseMatrix<float>>);
  STATIC_REQUIRE_FALSE(bpm::InputSet<Eigen::ArrayXXf>);
  STATIC_REQUIRE_FALSE(bpm::InputSet<double>);
}

TEST_CASE("kernel values are float on float and integers, else double", "[kernels]") {
  STATIC_REQUIRE(std::same_as<bpm::detail::kernel_scalar_t<Eigen::MatrixXf>, float>);
  STATIC_REQUIRE(std::same_as<bpm::detail::kernel_scalar_t<Bytes>, float>);
  STATIC_REQUIRE(std::same_as<bpm::detail::kernel_scalar_t<Eigen::MatrixXi>, float>);
  STATIC_REQUIRE(std::same_as<bpm::detail::kernel_scalar_t<Eigen::MatrixXd>, double>);
  STATIC_REQUIRE(std::same_as<bpm::detail::kernel_scalar_t<bpm::SparseRowMatrix<float>>, float>);
  STATIC_REQUIRE(std::same_as<bpm::detail::kernel_scalar_t<std::vector<std::string>>, double>);
  STATIC_REQUIRE(std::same_as<bpm::detail::owned_inputs_t<Eigen::MatrixXf>, bpm::RowMatrix<float>>);
  STATIC_REQUIRE(std::same_as<bpm::detail::owned_inputs_t<Bytes>, Bytes>);
  STATIC_REQUIRE(std::same_as<bpm::detail::owned_inputs_t<std::deque<int>>, std::vector<int>>);
}

TEST_CASE("input_count and select_inputs of dense inputs", "[kernels]") {
  Eigen::MatrixXd inputs(3, 2);
  inputs << 1, 2, 3, 4, 5, 6;
  CHECK(bpm::detail::input_count(inputs) == 3);
  const std::vector<bpm::PointIndex> chosen{2, 0, 2, 1};
  Eigen::MatrixXd expected(4, 2);
  expected << 5, 6, 1, 2, 5, 6, 3, 4;
  CHECK(bpm::detail::select_inputs(inputs, chosen) == expected);
  CHECK(bpm::detail::select_inputs(inputs.middleRows(0, 3), chosen) == expected);
  CHECK(bpm::detail::select_inputs(2 * inputs, chosen) == 2 * expected);
  CHECK(bpm::detail::select_inputs(inputs, {}).rows() == 0);
  CHECK(bpm::detail::select_inputs(inputs, {}).cols() == 2);
  const Bytes bytes = inputs.cast<std::uint8_t>();
  CHECK(bpm::detail::select_inputs(bytes, chosen) == expected.cast<std::uint8_t>());
}

TEST_CASE("input_count and select_inputs of sparse inputs", "[kernels]") {
  bpm::RowMatrix<float> dense(3, 4);
  dense << 0, 1, 0, 2, 0, 0, 0, 0, 3, 0, 4, 5;
  bpm::SparseRowMatrix<float> inputs = dense.sparseView();
  CHECK(bpm::detail::input_count(inputs) == 3);
  const std::vector<bpm::PointIndex> chosen{2, 1, 0, 2};
  bpm::RowMatrix<float> expected(4, 4);
  expected << 3, 0, 4, 5, 0, 0, 0, 0, 0, 1, 0, 2, 3, 0, 4, 5;
  CHECK(bpm::RowMatrix<float>(bpm::detail::select_inputs(inputs, chosen)) == expected);
  CHECK(bpm::detail::select_inputs(inputs, chosen).nonZeros() == 8);
  CHECK(bpm::detail::select_inputs(inputs, {}).rows() == 0);
  // Rows with room between them, as after an insertion.
  inputs.uncompress();
  inputs.coeffRef(1, 3) = 7;
  expected(1, 3) = 7;
  CHECK(bpm::RowMatrix<float>(bpm::detail::select_inputs(inputs, chosen)) == expected);
}

TEST_CASE("input_count and select_inputs of a range", "[kernels]") {
  const std::vector<std::string> words{"a", "bb", "ccc"};
  CHECK(bpm::detail::input_count(words) == 3);
  const std::vector<bpm::PointIndex> chosen{2, 0, 2};
  CHECK(bpm::detail::select_inputs(words, chosen) == std::vector<std::string>{"ccc", "a", "ccc"});
  CHECK(bpm::detail::select_inputs(Numbers{}, chosen) == std::vector<int>{3, 1, 3});
}

TEMPLATE_TEST_CASE("check_inputs names row and column of the first bad number", "[kernels]", float,
                   double) {
  using Limits = std::numeric_limits<TestType>;
  bpm::RowMatrix<TestType> inputs = bpm::RowMatrix<TestType>::Ones(5, 70);
  CHECK_NOTHROW(bpm::detail::check_inputs(inputs, "fit"));
  inputs(3, 69) = Limits::quiet_NaN();
  CHECK_THROWS_AS(bpm::detail::check_inputs(inputs, "fit"), std::invalid_argument);
  CHECK_THROWS_WITH(bpm::detail::check_inputs(inputs, "fit"),
                    "fit: inputs row 3, column 69 is nan, must be finite");
  inputs(3, 69) = 1;
  inputs(4, 0) = -Limits::infinity();
  inputs(2, 7) = Limits::infinity();
  CHECK_THROWS_WITH(bpm::detail::check_inputs(inputs, "fit"),
                    "fit: inputs row 2, column 7 is inf, must be finite");
  inputs(2, 7) = Limits::max();
  CHECK_THROWS_WITH(bpm::detail::check_inputs(inputs, "fit"),
                    "fit: inputs row 4, column 0 is -inf, must be finite");
  CHECK_THROWS_WITH(bpm::detail::check_inputs(inputs.transpose(), "fit"),
                    "fit: inputs row 0, column 4 is -inf, must be finite");
  const Eigen::Matrix<TestType, Eigen::Dynamic, Eigen::Dynamic> columns = inputs;
  CHECK_THROWS_WITH(bpm::detail::check_inputs(columns, "fit"),
                    "fit: inputs row 4, column 0 is -inf, must be finite");
}

TEST_CASE("check_inputs looks at what sparse rows hold, and not into other things", "[kernels]") {
  bpm::SparseRowMatrix<double> inputs(3, 4);
  inputs.insert(0, 3) = 1;
  inputs.insert(2, 1) = 2;
  CHECK_NOTHROW(bpm::detail::check_inputs(inputs, "predict"));
  inputs.coeffRef(2, 1) = std::nan("");
  CHECK_THROWS_WITH(bpm::detail::check_inputs(inputs, "predict"),
                    "predict: inputs row 2, column 1 is nan, must be finite");
  // Rows of a map of the user's own memory.
  const std::vector<int> starts{0, 2};
  const std::vector<double> values{1, 2};
  for (const std::vector<int>& columns : {std::vector<int>{3, 1}, {1, 1}}) {
    const Eigen::Map<const bpm::SparseRowMatrix<double>> map(1, 4, 2, starts.data(), columns.data(),
                                                             values.data());
    CHECK_THROWS_WITH(
        bpm::detail::check_inputs(map, "predict"),
        "predict: inputs row 0 has column 1 after " + std::to_string(columns[0]) + ", must ascend");
  }
  CHECK_NOTHROW(bpm::detail::check_inputs(std::vector<double>{std::nan("")}, "predict"));
  CHECK_THROWS_WITH(
      bpm::detail::check_inputs(Eigen::MatrixXf(std::ptrdiff_t{1} << 31, 0), "predict"),
      "predict: inputs has 2147483648 entries, must be fewer than 2^31");
  CHECK_NOTHROW(bpm::detail::check_inputs(Eigen::MatrixXi::Ones(2, 2), "predict"));
}
