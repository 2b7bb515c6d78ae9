// SPDX-License-Identifier: MIT
#include "bpm/kernel_values/on_demand_gram.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "random_inputs.hpp"

using bpm::PointIndex;

namespace {

std::vector<PointIndex> random_points(std::size_t count, std::ptrdiff_t size, std::uint64_t seed) {
  bpm::RandomEngine engine(seed);
  std::vector<PointIndex> points;
  for (std::size_t i = 0; i < count; ++i) {
    points.push_back(
        static_cast<PointIndex>(bpm::uniform_below(engine, static_cast<std::uint32_t>(size))));
  }
  return points;
}

/// How many values through prepared columns, from every possible first column on, differ from those
/// of the plain block; a value where none should be counts as well.
template <class Kernel, class I>
long column_bits_that_differ(const Kernel& kernel, const I& inputs, std::size_t column_count,
                             bool pack = true) {
  using Scalar = bpm::detail::kernel_scalar_t<I>;
  const bpm::detail::PreparedInputs<I> x(inputs);
  const auto rows = random_points(11, x.size(), 1);
  const auto points = random_points(column_count, x.size(), 2);
  bpm::detail::BlockScratch<Scalar> scratch;
  const auto all = static_cast<std::ptrdiff_t>(column_count);
  bpm::RowMatrix<Scalar> expected(11, all);
  bpm::detail::kernel_block(kernel, x, rows, x, points, expected.data(), all, scratch);
  bpm::detail::ReadyColumns<Scalar> columns;
  // Used before for more, and for fewer: what was there must not matter.
  const auto others = random_points(column_count + 70, x.size(), 3);
  bpm::detail::make_ready(x, others, pack, columns);
  bpm::detail::make_ready(x, std::span(others).first(1), pack, columns);
  bpm::detail::make_ready(x, points, pack, columns);
  CHECK(columns.packed == (pack && bpm::DenseInputs<I>));
  CHECK(std::ranges::equal(columns.points, points));
  long count = 0;
  for (std::ptrdiff_t first = 0; first < all; first += bpm::detail::column_step) {
    for (const std::ptrdiff_t wanted : {all - first, std::min<std::ptrdiff_t>(all - first, 5)}) {
      bpm::RowMatrix<Scalar> values = bpm::RowMatrix<Scalar>::Constant(12, wanted + 2, Scalar{-9});
      const std::uint64_t before = scratch.evaluations;
      bpm::detail::kernel_block(kernel, x, rows, x, columns, first, wanted, values.data(),
                                values.cols(), scratch);
      CHECK(scratch.evaluations - before == static_cast<std::uint64_t>(11 * wanted));
      count +=
          (values.topLeftCorner(11, wanted).array() != expected.middleCols(first, wanted).array())
              .count();
      count += (values.rightCols(2).array() != Scalar{-9}).count();
      count += (values.bottomRows(1).array() != Scalar{-9}).count();
    }
  }
  return count;
}

template <class I>
long all_kernels(const I& inputs, std::size_t column_count, double scale) {
  return column_bits_that_differ(bpm::Polynomial(5, scale), inputs, column_count) +
         column_bits_that_differ(bpm::Gaussian::from_gamma(scale), inputs, column_count) +
         column_bits_that_differ(bpm::ArcCosine(3), inputs, column_count) +
         column_bits_that_differ(bpm::on_unit_inputs(bpm::Polynomial(5)), inputs, column_count) +
         column_bits_that_differ(bpm::Laplacian(1 / scale), inputs, column_count, false);
}

bpm::RowMatrix<std::uint8_t> bytes(Eigen::Index m, Eigen::Index d) {
  return (test_support::holey_inputs<float>(m, d, 4).array().abs() * 80)
      .min(255.0F)
      .cast<std::uint8_t>()
      .max(std::uint8_t{1});
}

}  // namespace

TEMPLATE_TEST_CASE("blocks through prepared columns have the same bits", "[kernels]", float,
                   double) {
  const auto inputs = test_support::holey_inputs<TestType>(90, 21, 1);
  for (const std::size_t count : {1U, 63U, 64U, 65U, 130U, 256U, 300U}) {
    CAPTURE(count);
    CHECK(all_kernels(inputs, count, 0.1) == 0);
  }
  const auto wide = test_support::holey_inputs<TestType>(70, 1050, 2);
  CHECK(all_kernels(wide, 200, 0.01) == 0);
}

TEST_CASE("blocks of bytes through prepared columns have the same bits", "[kernels]") {
  for (const Eigen::Index d : {5, 196}) {
    for (const std::size_t count : {1U, 64U, 300U}) {
      CAPTURE(d, count);
      CHECK(all_kernels(bytes(90, d), count, 1e-5) == 0);
    }
  }
}

TEST_CASE("inputs that are not dense are listed, not packed", "[kernels]") {
  const bpm::SparseRowMatrix<double> sparse =
      test_support::holey_inputs<double>(50, 21, 1).sparseView();
  CHECK(column_bits_that_differ(bpm::Polynomial(5, 0.1), sparse, 130) == 0);
  CHECK(bpm::detail::packed_bytes(sparse, 1000) == 0);
  const std::vector<std::string> words{"one", "three", "seventeen"};
  const auto kernel = [](const std::string& a, const std::string& b) {
    return static_cast<double>(std::min(a.size(), b.size()));
  };
  CHECK(column_bits_that_differ(kernel, words, 70) == 0);
}

TEST_CASE("dense columns may be left unpacked", "[kernels]") {
  const auto inputs = test_support::normal_inputs<float>(30, 21, 1);
  CHECK(column_bits_that_differ(bpm::Polynomial(5, 0.1), inputs, 130, false) == 0);
}

TEST_CASE("the bytes of packed columns are those that were told", "[kernels]") {
  const auto check = [](const auto& inputs) {
    using I = std::remove_cvref_t<decltype(inputs)>;
    const bpm::detail::PreparedInputs<I> x(inputs);
    bpm::detail::ReadyColumns<bpm::detail::kernel_scalar_t<I>> columns;
    const auto bytes_of_columns = [&] {
      return static_cast<std::size_t>(columns.panels.size()) +
             static_cast<std::size_t>(columns.norms.size()) *
                 sizeof(bpm::detail::kernel_scalar_t<I>);
    };
    CHECK(bytes_of_columns() == 0);
    // Counts of whole panels and chunks.
    for (const std::size_t count : {64U, 256U, 512U}) {
      const auto points = random_points(count, x.size(), 5);
      bpm::detail::make_ready(x, points, true, columns);
      CHECK(bytes_of_columns() == bpm::detail::packed_bytes(inputs, count));
    }
    // Nothing allocated anew for fewer.
    const std::size_t held = bytes_of_columns();
    const auto fewer = random_points(100, x.size(), 6);
    bpm::detail::make_ready(x, fewer, true, columns);
    CHECK(bytes_of_columns() == held);
  };
  check(test_support::normal_inputs<float>(30, 21, 1));
  check(test_support::normal_inputs<double>(30, 64, 1));
  check(bytes(30, 45));
}

TEST_CASE("a value near overflow is an error through prepared columns too", "[kernels]") {
  bpm::RowMatrix<float> inputs = bpm::RowMatrix<float>::Ones(70, 3);
  inputs.row(66) *= 1e4F;
  const bpm::detail::PreparedInputs<bpm::RowMatrix<float>> x(inputs);
  const auto points = test_support::first_points(70);
  bpm::detail::ReadyColumns<float> columns;
  bpm::detail::make_ready(x, points, true, columns);
  bpm::detail::BlockScratch<float> scratch;
  bpm::RowMatrix<float> values(70, 70);
  const auto block = [&](std::ptrdiff_t first, std::ptrdiff_t count) {
    bpm::detail::kernel_block(bpm::Polynomial(5), x, points, x, columns, first, count,
                              values.data(), 70, scratch);
  };
  CHECK_THROWS_WITH(block(0, 70),
                    Catch::Matchers::ContainsSubstring("kernel: k(x_66, x_66) is inf"));
  CHECK_THROWS_WITH(block(64, 6),
                    Catch::Matchers::ContainsSubstring("kernel: k(x_66, x_66) is inf"));
  CHECK_NOTHROW(bpm::detail::kernel_block(bpm::Polynomial(5), x, std::span(points).first(60), x,
                                          columns, 0, 64, values.data(), 70, scratch));
}
