// SPDX-License-Identifier: MIT
#include "bpm/kernel_values/prepared_inputs.hpp"

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "random_inputs.hpp"

using test_support::block_values;

namespace {

using ByteRows = bpm::RowMatrix<std::uint8_t>;
using ByteColumns = Eigen::Matrix<std::uint8_t, Eigen::Dynamic, Eigen::Dynamic>;

/// Bytes of an image: about half of them zero.
ByteRows image_rows(Eigen::Index m, Eigen::Index d, std::uint64_t seed) {
  bpm::RandomEngine engine(seed);
  ByteRows bytes(m, d);
  for (auto& value : bytes.reshaped()) {
    value =
        static_cast<std::uint8_t>(bpm::uniform_below(engine, 256) * bpm::uniform_below(engine, 2));
  }
  bytes.col(0).setConstant(255);  // No row has norm zero.
  return bytes;
}

/// What prepared bytes promise, against 64-bit integers.
template <class I>
bpm::detail::PreparedInputs<I> check_prepared_bytes(const I& inputs) {
  bpm::detail::PreparedInputs<I> prepared(inputs);
  const Eigen::Matrix<std::int64_t, Eigen::Dynamic, Eigen::Dynamic> expected =
      inputs.template cast<std::int64_t>();
  CHECK(prepared.size() == expected.rows());
  CHECK(prepared.features() == expected.cols());
  CHECK(prepared.length() == (expected.cols() + 3) / 4);
  CHECK(prepared.bytes() == bpm::detail::PreparedInputs<I>::bytes_needed(inputs));
  CHECK(bpm::detail::PreparedInputs<I>::row_bytes(inputs) ==
        4 * static_cast<std::size_t>(prepared.length()));
  bool same = true;
  for (std::ptrdiff_t i = 0; i < prepared.size(); ++i) {
    const auto* const units = reinterpret_cast<const std::uint8_t*>(prepared.row(i));
    for (std::ptrdiff_t k = 0; k < 4 * prepared.length(); ++k) {
      same = same && units[k] == (k < prepared.features() ? expected(i, k) : 0);
    }
    same = same && prepared.numbers(i) == units;
    same = same && prepared.one(i).template cast<std::int64_t>() == expected.row(i);
    same = same && prepared.sum(i) == expected.row(i).sum();
    same = same && prepared.squared_norm(i) == static_cast<float>(expected.row(i).squaredNorm());
  }
  CHECK(same);
  return prepared;
}

template <class Kernel>
double relative_difference(const Kernel& kernel, const ByteRows& x, const ByteRows& z) {
  const bpm::RowMatrix<float> left = x.cast<float>();
  const bpm::RowMatrix<float> right = z.cast<float>();
  const Eigen::MatrixXd expected = block_values(kernel, left, right).template cast<double>();
  return test_support::largest_difference(block_values(kernel, x, z), expected) /
         expected.cwiseAbs().maxCoeff();
}

}  // namespace

TEST_CASE("bytes of any form, padded to groups of four", "[kernels]") {
  STATIC_REQUIRE(bpm::detail::ByteInputs<ByteRows>);
  STATIC_REQUIRE(bpm::detail::ByteInputs<ByteColumns>);
  STATIC_REQUIRE_FALSE(bpm::detail::ByteInputs<bpm::RowMatrix<std::int8_t>>);
  STATIC_REQUIRE_FALSE(bpm::detail::ByteInputs<bpm::RowMatrix<float>>);
  STATIC_REQUIRE(std::is_same_v<bpm::detail::kernel_scalar_t<ByteRows>, float>);
  STATIC_REQUIRE(std::is_same_v<bpm::detail::owned_inputs_t<ByteColumns>, ByteRows>);
  for (const Eigen::Index d : {1, 2, 3, 4, 5, 8, 31, 32, 33, 49}) {
    const ByteRows bytes = image_rows(7, d, 1);
    (void)check_prepared_bytes(bytes);
    const ByteColumns columns = bytes;
    (void)check_prepared_bytes(columns);
    (void)check_prepared_bytes(columns.transpose().transpose());
    const ByteRows large = image_rows(12, d + 11, 2);
    for (const Eigen::Index offset : {0, 1, 4})
      (void)check_prepared_bytes(large.block(3, offset, 6, d));
    (void)check_prepared_bytes(bytes.rowwise().reverse());
    using Strided = Eigen::Map<const ByteRows, 0, Eigen::OuterStride<>>;
    (void)check_prepared_bytes(Strided(large.data(), 12, d, Eigen::OuterStride<>(d + 11)));
    using Spread = Eigen::Map<const ByteRows, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;
    (void)check_prepared_bytes(Spread(large.data(), 4, (d + 10) / 2, {d + 11, 2}));
  }
  (void)check_prepared_bytes(ByteRows(0, 4));
  (void)check_prepared_bytes(ByteRows(0, 3));
}

TEST_CASE("bytes in rows of whole groups are read in place, others are copied", "[kernels]") {
  const std::size_t beside = 6 * (sizeof(float) + sizeof(std::int64_t));
  const ByteRows whole = image_rows(6, 784, 1);
  const auto in_place = check_prepared_bytes(whole);
  CHECK(in_place.numbers(3) == whole.data() + 3 * 784);
  CHECK(in_place.bytes() == beside);
  const ByteRows large = image_rows(6, 40, 1);
  CHECK(check_prepared_bytes(large.middleCols(4, 8)).numbers(2) == large.data() + 2 * 40 + 4);
  // A row that begins off a group, rows that do, a width that is not whole groups, columns.
  CHECK(check_prepared_bytes(large.middleCols(2, 8)).bytes() == beside + 6 * 8);
  const ByteRows odd = image_rows(6, 41, 1);
  CHECK(check_prepared_bytes(odd.leftCols(8)).bytes() == beside + 6 * 8);
  CHECK(check_prepared_bytes(large.leftCols(7)).bytes() == beside + 6 * 8);
  const ByteColumns columns = large;
  CHECK(check_prepared_bytes(columns).bytes() == beside + 6 * 40);
}

TEST_CASE("sums and norms of long rows of 255 are exact", "[kernels]") {
  for (const Eigen::Index d : {32767, 32768, 32769, 100001}) {
    ByteRows bytes = ByteRows::Constant(2, d, 255);
    bytes(1, d - 1) = 254;
    const auto prepared = check_prepared_bytes(bytes);
    CHECK(prepared.sum(0) == 255 * std::int64_t{d});
    CHECK(prepared.squared_norm(0) == static_cast<float>(65025 * std::int64_t{d}));
    // The norm is the inner product of a block.
    CHECK(block_values(bpm::Linear{}, bytes, bytes)(0, 0) == prepared.squared_norm(0));
  }
}

TEST_CASE("kernels on bytes are those on the same numbers as floats", "[kernels]") {
  for (const Eigen::Index d : {3, 49, 784}) {
    const ByteRows x = image_rows(23, d, 1);
    const ByteRows z = image_rows(301, d, 2);
    const double scale = 1.0 / (65025.0 * static_cast<double>(d));
    CAPTURE(d);
    CHECK(relative_difference(bpm::Polynomial(5, scale), x, z) <= 2e-6);
    CHECK(relative_difference(bpm::Gaussian::from_gamma(2 * scale), x, z) <= 2e-6);
    CHECK(relative_difference(bpm::ArcCosine(3), x, z) <= 2e-6);
    CHECK(relative_difference(bpm::on_unit_inputs(bpm::Polynomial(5)), x, z) <= 2e-6);
    CHECK(relative_difference(bpm::normalised(bpm::Polynomial(2, scale)), x, z) <= 2e-6);
    CHECK(relative_difference(bpm::Laplacian(5 * std::sqrt(static_cast<double>(d) * 65025)), x,
                              z) <= 2e-6);
    const auto pairs = [](const auto& a, const auto& b) {
      return (a - b).cwiseAbs().maxCoeff() + 1;
    };
    CHECK(relative_difference(pairs, x, z) == 0);
    const Eigen::MatrixXi exact = x.cast<int>() * z.cast<int>().transpose();
    if (d < 784) {  // 49 * 255^2 is below 2^24.
      CHECK(block_values(bpm::Linear{}, x, z).cast<int>() == exact);
      CHECK(relative_difference(bpm::Linear{}, x, z) == 0);
    } else {
      CHECK((block_values(bpm::Linear{}, x, z).array() == exact.cast<float>().array()).all());
    }
  }
}

TEST_CASE("every form of bytes gives the same values", "[kernels]") {
  const ByteRows large = image_rows(40, 60, 3);
  const ByteRows plain = large.block(2, 3, 31, 50);
  const ByteColumns columns = plain;
  const auto check = [&](const auto& kernel) {
    const auto expected = block_values(kernel, plain, plain);
    CHECK(block_values(kernel, columns, columns) == expected);
    CHECK(block_values(kernel, large.block(2, 3, 31, 50), columns) == expected);
    CHECK(block_values(kernel, plain, columns.transpose().transpose()) == expected);
  };
  check(bpm::Polynomial(3, 1e-5));
  check(bpm::Laplacian(1000));
}

TEST_CASE("the diagonal of bytes has the bits of the blocks", "[kernels]") {
  const ByteRows bytes = image_rows(37, 49, 4);
  const bpm::detail::PreparedInputs<ByteRows> prepared(bytes);
  const auto check = [&](const auto& kernel) {
    const auto diagonal = bpm::detail::kernel_diagonal(kernel, prepared);
    const auto values = block_values(kernel, bytes, bytes);
    int different = 0;
    for (Eigen::Index i = 0; i < 37; ++i) different += values(i, i) != diagonal[i] ? 1 : 0;
    CHECK(different == 0);
  };
  check(bpm::Polynomial(5, 1e-6));
  check(bpm::ArcCosine(3));
  check(bpm::Gaussian::from_gamma(1e-6));
  check(bpm::Laplacian(3000));
}
