// SPDX-License-Identifier: MIT
#include "bpm/kernel_values/on_demand_gram.hpp"

#if defined(__linux__)
#include <malloc.h>
#endif

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "random_inputs.hpp"

namespace {

/// What the program's allocations hold; 0 where the C library does not tell.
std::size_t bytes_in_use() {
#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 33)
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
#endif
#endif
  return 0;
}

}  // namespace

TEST_CASE("values on demand are the kernel's", "[gram]") {
  const auto inputs = test_support::normal_inputs<double>(30, 4, 1);
  const bpm::detail::OnDemandGram<bpm::Polynomial, bpm::RowMatrix<double>> gram(
      bpm::Polynomial(3, 0.1), inputs);
  const Eigen::MatrixXd expected = (0.1 * (inputs * inputs.transpose()).array() + 1).cube();
  bpm::detail::BlockScratch<double> scratch;
  double worst = 0;
  for (Eigen::Index i = 0; i < 30; ++i) {
    const auto row = gram.row(i, scratch);
    REQUIRE(row.size() == 30);
    for (Eigen::Index j = 0; j < 30; ++j) {
      worst = std::max(worst, std::abs(row[static_cast<std::size_t>(j)] - expected(i, j)));
    }
    CHECK(gram.diagonal(i) == row[static_cast<std::size_t>(i)]);
  }
  CHECK(worst <= 1e-12);
  CHECK(scratch.evaluations == 900);
  CHECK(scratch.seconds > 0);
  CHECK(gram.size() == 30);
  CHECK_FALSE(gram.rows_in_memory());
  CHECK(gram.kernel().degree() == 3);
  CHECK(gram.inputs().size() == 30);
}

TEST_CASE("memory on demand grows with the number of points, not its square", "[gram]") {
  const auto taken = [](Eigen::Index points) {
    const auto inputs = test_support::normal_inputs<float>(points, 16, 1);
    const std::size_t before = bytes_in_use();
    const bpm::detail::OnDemandGram<bpm::Polynomial, bpm::RowMatrix<float>> gram(bpm::Polynomial(),
                                                                                 inputs);
    return bytes_in_use() - before;
  };
  // At most a copy of the inputs, two numbers of a point and its index; a row of the matrix has
  // 4000 bytes and more.
  CHECK(taken(1000) <= 1000 * (64 + 16) + 1024);
  CHECK(taken(4000) <= 4000 * (64 + 16) + 1024);
}

TEST_CASE("columns made ready give the same bits, and count", "[gram]") {
  const auto check = [](const auto& kernel, const auto& inputs) {
    using Inputs = std::remove_cvref_t<decltype(inputs)>;
    using Gram = bpm::detail::OnDemandGram<std::remove_cvref_t<decltype(kernel)>, Inputs>;
    using Scalar = typename Gram::Scalar;
    const Gram gram(kernel, inputs);
    const std::vector<bpm::PointIndex> rows{3, 0, 19, 3};
    std::vector<bpm::PointIndex> points;
    for (bpm::PointIndex i = 0; i < 90; ++i) points.push_back(i * 7 % 20);
    bpm::detail::BlockScratch<Scalar> scratch;
    bpm::RowMatrix<Scalar> expected(4, 90);
    gram.block(rows, points, expected.data(), 90, scratch);
    CHECK(scratch.evaluations == 360);
    bpm::detail::ReadyColumns<Scalar> columns;
    gram.prepare(points, columns);
    bpm::RowMatrix<Scalar> values(4, 91);
    const double seconds = scratch.seconds;
    gram.block(rows, columns, 0, 90, values.data(), 91, scratch);
    CHECK(scratch.evaluations == 720);
    CHECK(scratch.seconds > seconds);
    CHECK(values.leftCols(90) == expected);
  };
  const auto inputs = test_support::normal_inputs<double>(20, 21, 1);
  check(bpm::Polynomial(3, 0.1), inputs);
  check(bpm::Laplacian(3), inputs);
  check(bpm::Polynomial(3, 0.1), bpm::SparseRowMatrix<double>(inputs.sparseView()));
}

TEST_CASE("rows are kept where one says, and nowhere else", "[gram]") {
  const auto inputs = test_support::normal_inputs<float>(20, 5, 1);
  bpm::detail::OnDemandGram<bpm::Polynomial, bpm::RowMatrix<float>> gram(bpm::Polynomial(), inputs);
  CHECK(gram.kept_rows() == nullptr);
  const auto rows = std::make_shared<bpm::detail::KeptRows<float>>(20, 160);
  gram.set_kept_rows(rows);
  CHECK(gram.kept_rows() == rows.get());
  gram.set_kept_rows(nullptr);
  CHECK(gram.kept_rows() == nullptr);
}

TEST_CASE("a bad diagonal is found at once", "[gram]") {
  bpm::RowMatrix<double> inputs = bpm::RowMatrix<double>::Ones(5, 3);
  inputs.row(3).setZero();
  using Gram = bpm::detail::OnDemandGram<bpm::ArcCosine, bpm::RowMatrix<double>>;
  CHECK_THROWS_AS(Gram(bpm::ArcCosine(), inputs), bpm::KernelValueError);
  const std::vector<double> numbers{1, -1};
  const auto kernel = [](double a, double) { return a; };
  using Numbers = bpm::detail::OnDemandGram<decltype(kernel), std::vector<double>>;
  CHECK_THROWS_WITH(Numbers(kernel, numbers),
                    Catch::Matchers::ContainsSubstring("k(x_1, x_1) is -1, must not be negative"));
}

TEST_CASE("a kernel on strings has rows and blocks like any other", "[gram]") {
  const std::vector<std::string> words{"tea", "ten", "on"};
  const auto kernel = [](const std::string& a, const std::string& b) {
    double common = 0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      common += static_cast<double>(a[i] == b[i]);
    }
    return common;
  };
  const bpm::detail::OnDemandGram<decltype(kernel), std::vector<std::string>> gram(kernel, words);
  bpm::detail::BlockScratch<double> scratch;
  const auto row = gram.row(1, scratch);
  CHECK(std::vector<double>(row.begin(), row.end()) == std::vector<double>{2, 3, 0});
  CHECK(gram.diagonal(2) == 2);
}
