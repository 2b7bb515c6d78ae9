// SPDX-License-Identifier: MIT
#include "bpm/kernel_values/prepared_inputs.hpp"

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "catch.hpp"
#include "random_inputs.hpp"

namespace {

/// What prepared dense inputs promise, against the same numbers as doubles.
template <class I>
void check_prepared(const I& inputs) {
  using Scalar = bpm::detail::kernel_scalar_t<I>;
  const bpm::detail::PreparedInputs<I> prepared(inputs);
  const Eigen::MatrixXd expected = inputs.template cast<double>();
  REQUIRE(prepared.size() == expected.rows());
  REQUIRE(prepared.features() == expected.cols());
  REQUIRE(prepared.length() >= expected.cols());
  REQUIRE(prepared.length() < expected.cols() + bpm::detail::lane_count<Scalar>);
  REQUIRE(prepared.length() % bpm::detail::lane_count<Scalar> == 0);
  CHECK(prepared.bytes() == bpm::detail::PreparedInputs<I>::bytes_needed(inputs));
  bool same = true;
  double worst = 0;
  for (std::ptrdiff_t i = 0; i < prepared.size(); ++i) {
    for (std::ptrdiff_t k = 0; k < prepared.length(); ++k) {
      const double value = k < prepared.features() ? expected(i, k) : 0.0;
      same = same && static_cast<double>(prepared.row(i)[k]) == value;
    }
    same = same && prepared.one(i).template cast<double>() == expected.row(i);
    const double norm = expected.row(i).squaredNorm();
    worst = std::max(worst, std::abs(static_cast<double>(prepared.squared_norm(i)) - norm) / norm);
  }
  CHECK(same);
  CHECK(worst <= test_support::unit<Scalar>);
}

}  // namespace

TEMPLATE_TEST_CASE("dense rows of any form are padded with zeros", "[kernels]", float, double) {
  for (const Eigen::Index d : {1, 2, 5, 15, 16, 17, 21, 32, 64}) {
    const auto inputs = test_support::normal_inputs<TestType>(7, d, 1);
    check_prepared(inputs);
    const Eigen::Matrix<TestType, Eigen::Dynamic, Eigen::Dynamic> columns = inputs;
    check_prepared(columns);
    check_prepared(columns.transpose().transpose());
    const auto large = test_support::normal_inputs<TestType>(12, d + 9, 2);
    check_prepared(large.block(3, 4, 6, d));
    check_prepared(large.leftCols(d));
    using Strided = Eigen::Map<const bpm::RowMatrix<TestType>, 0, Eigen::OuterStride<>>;
    check_prepared(Strided(large.data(), 12, d, Eigen::OuterStride<>(d + 9)));
    using Spread = Eigen::Map<const bpm::RowMatrix<TestType>, 0,
                              Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;
    check_prepared(Spread(large.data(), 4, (d + 8) / 2, {d + 9, 2}));
    check_prepared(TestType{2} * inputs);
    check_prepared(inputs.rowwise().reverse());
  }
}

TEST_CASE("integers become floats", "[kernels]") {
  Eigen::Matrix<std::uint16_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> numbers(5, 16);
  for (auto& value : numbers.reshaped())
    value = static_cast<std::uint16_t>(&value - numbers.data() + 170);
  check_prepared(numbers);
  const Eigen::MatrixXi columns = numbers.cast<int>();
  check_prepared(columns);
  const Eigen::Matrix<std::int8_t, Eigen::Dynamic, Eigen::Dynamic> small =
      (columns.array() - 200).cast<std::int8_t>();
  check_prepared(small);
}

TEMPLATE_TEST_CASE("rows of whole registers are read in place", "[kernels]", float, double) {
  const Eigen::Index d = 3 * bpm::detail::lane_count<TestType>;
  const auto inputs = test_support::normal_inputs<TestType>(4, d + 2, 1);
  const bpm::RowMatrix<TestType> whole = inputs.leftCols(d);
  const bpm::detail::PreparedInputs<bpm::RowMatrix<TestType>> in_place(whole);
  CHECK(in_place.row(2) == whole.data() + 2 * d);
  CHECK(in_place.bytes() == 4 * sizeof(TestType));
  const auto block = inputs.leftCols(d);
  const bpm::detail::PreparedInputs<std::remove_cvref_t<decltype(block)>> part(block);
  CHECK(part.row(2) == inputs.data() + 2 * (d + 2));
  // Anything else is copied once.
  const bpm::detail::PreparedInputs<bpm::RowMatrix<TestType>> copied(inputs);
  CHECK(copied.row(0) != inputs.data());
  CHECK(copied.bytes() == static_cast<std::size_t>(4 * copied.length() + 4) * sizeof(TestType));
}

TEMPLATE_TEST_CASE("rows that are prepared some at a time are the same", "[kernels]", float,
                   std::uint8_t) {
  for (const Eigen::Index features : {5, 16}) {
    const bpm::RowMatrix<TestType> inputs =
        (20 * test_support::normal_inputs<float>(40, features, 1).cwiseAbs())
            .template cast<TestType>();
    using Prepared = bpm::detail::PreparedInputs<bpm::RowMatrix<TestType>>;
    const Prepared whole(inputs);
    Prepared parts(inputs, bpm::detail::AllocateOnly{});
    parts.prepare(inputs, 19, 21);
    parts.prepare(inputs, 0, 19);
    for (Eigen::Index i = 0; i < 40; ++i) {
      CHECK(parts.squared_norm(i) == whole.squared_norm(i));
      CHECK(parts.one(i) == whole.one(i));
      if constexpr (std::same_as<TestType, std::uint8_t>) CHECK(parts.sum(i) == whole.sum(i));
    }
  }
}

TEMPLATE_TEST_CASE("sparse rows scatter, clear and multiply", "[kernels]", float, double) {
  const auto dense = test_support::holey_inputs<TestType>(9, 21, 3);
  const bpm::SparseRowMatrix<TestType> sparse = dense.sparseView();
  const bpm::detail::PreparedInputs<bpm::SparseRowMatrix<TestType>> prepared(sparse);
  CHECK(prepared.size() == 9);
  CHECK(prepared.features() == 21);
  CHECK(prepared.bytes() == 9 * sizeof(TestType));
  CHECK(prepared.bytes() ==
        bpm::detail::PreparedInputs<bpm::SparseRowMatrix<TestType>>::bytes_needed(sparse));
  Eigen::Matrix<TestType, 1, Eigen::Dynamic> row(21);
  row.setZero();
  bool same = true;
  double worst = 0;
  for (std::ptrdiff_t i = 0; i < 9; ++i) {
    prepared.scatter(i, row.data());
    same = same && row == dense.row(i);
    for (std::ptrdiff_t j = 0; j < 9; ++j) {
      const double expected =
          dense.row(i).template cast<double>().dot(dense.row(j).template cast<double>());
      worst = std::max(worst,
                       std::abs(static_cast<double>(prepared.product(j, row.data())) - expected));
    }
    same = same && prepared.product(i, row.data()) == prepared.squared_norm(i);
    prepared.clear(i, row.data());
    same = same && row.isZero(0);
    same = same && Eigen::Matrix<TestType, 1, Eigen::Dynamic>(prepared.one(i)) == dense.row(i);
  }
  CHECK(same);
  CHECK(worst <= 10 * test_support::unit<TestType>);
}

TEST_CASE("inputs of the user's own type are used as they are", "[kernels]") {
  const std::vector<std::string> words{"one", "two"};
  const bpm::detail::PreparedInputs<std::vector<std::string>> prepared(words);
  CHECK(prepared.size() == 2);
  CHECK(&prepared.one(1) == &words[1]);
  CHECK(prepared.bytes() == 0);
  CHECK(bpm::detail::PreparedInputs<std::vector<std::string>>::bytes_needed(words) == 0);
}
