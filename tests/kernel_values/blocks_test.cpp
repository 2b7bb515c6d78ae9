// SPDX-License-Identifier: MIT
#include "bpm/kernel_values/blocks.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "random_inputs.hpp"

using Catch::Matchers::ContainsSubstring;
using test_support::block_values;

namespace {

/// The number of substrings of length 2 that two strings share, counted with multiplicity.
double shared_pairs(const std::string& a, const std::string& b) {
  int count = 0;
  for (std::size_t i = 0; i + 2 <= a.size(); ++i) {
    for (std::size_t j = 0; j + 2 <= b.size(); ++j) {
      count += static_cast<int>(a.compare(i, 2, b, j, 2) == 0);
    }
  }
  return count;
}

/// Whether the inputs in this form give the same values as the plain matrix.
template <class Kernel, class I, class T>
bool same_values(const Kernel& kernel, const I& inputs, const bpm::RowMatrix<T>& plain) {
  return block_values(kernel, inputs, inputs) == block_values(kernel, plain, plain);
}

}  // namespace

TEMPLATE_TEST_CASE("every form of dense inputs gives the same values", "[kernels]", float, double) {
  using Columns = Eigen::Matrix<TestType, Eigen::Dynamic, Eigen::Dynamic>;
  const auto large = test_support::normal_inputs<TestType>(19, 40, 1);
  const bpm::RowMatrix<TestType> plain = large.block(2, 3, 11, 21);
  const Columns columns = plain;
  const auto check = [&](const auto& kernel) {
    CHECK(same_values(kernel, columns, plain));
    CHECK(same_values(kernel, large.block(2, 3, 11, 21), plain));
    CHECK(same_values(kernel, Eigen::Map<const Columns>(columns.data(), 11, 21), plain));
    CHECK(same_values(kernel, TestType{1} * plain, plain));
    const Columns across = plain.transpose();
    CHECK(same_values(kernel, across.transpose(), plain));
  };
  check(bpm::Polynomial(3));
  check(bpm::Laplacian(2));
}

TEST_CASE("bytes give the values of the same numbers as floats", "[kernels]") {
  bpm::RandomEngine engine(3);
  Eigen::Matrix<std::uint8_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> bytes(13, 100);
  for (auto& value : bytes.reshaped()) {
    value = static_cast<std::uint8_t>(bpm::uniform_below(engine, 256));
  }
  const bpm::RowMatrix<float> floats = bytes.cast<float>();
  CHECK(same_values(bpm::Linear{}, bytes, floats));
  CHECK(same_values(bpm::Polynomial(2, 1.0 / 65025), bytes, floats));
  // Exact: 100 * 255^2 is below 2^24.
  const Eigen::MatrixXi numbers = bytes.cast<int>();
  CHECK(block_values(bpm::Linear{}, bytes, bytes).cast<int>() == numbers * numbers.transpose());
}

TEMPLATE_TEST_CASE("chosen rows and columns land where they should", "[kernels]", float, double) {
  const auto x = test_support::normal_inputs<TestType>(50, 7, 1);
  const auto z = test_support::normal_inputs<TestType>(60, 7, 2);
  const bpm::Gaussian kernel = bpm::Gaussian::from_gamma(0.1);
  const auto all = block_values(kernel, x, z);
  const bpm::detail::PreparedInputs<bpm::RowMatrix<TestType>> left(x);
  const bpm::detail::PreparedInputs<bpm::RowMatrix<TestType>> right(z);
  const std::vector<bpm::PointIndex> rows{49, 0, 7, 7, 30};
  const std::vector<bpm::PointIndex> cols{59, 3, 58, 0, 1, 2, 3};
  bpm::detail::BlockScratch<TestType> scratch;
  bpm::RowMatrix<TestType> values = bpm::RowMatrix<TestType>::Constant(5, 10, -9);
  bpm::detail::kernel_block(kernel, left, rows, right, cols, values.data(), 10, scratch);
  CHECK(scratch.evaluations == 35);
  bool right_place = true;
  for (Eigen::Index a = 0; a < 5; ++a) {
    for (Eigen::Index b = 0; b < 10; ++b) {
      const TestType expected = b < 7 ? all(rows[std::size_t(a)], cols[std::size_t(b)]) : -9;
      right_place = right_place && values(a, b) == expected;
    }
  }
  CHECK(right_place);
  // Nothing asked for, nothing written.
  bpm::detail::kernel_block(kernel, left, {}, right, cols, values.data(), 10, scratch);
  bpm::detail::kernel_block(kernel, left, rows, right, {}, values.data(), 10, scratch);
  CHECK(scratch.evaluations == 35);
}

TEST_CASE("sparse rows of any width give the bits of narrow ones, and take no more", "[kernels]") {
  using Sparse = bpm::SparseRowMatrix<double>;
  const Sparse narrow = test_support::holey_inputs<double>(30, 20, 5).sparseView();
  Sparse wide(narrow.rows(), 2147483647);
  for (Eigen::Index i = 0; i < narrow.rows(); ++i) {
    wide.startVec(i);
    for (Sparse::InnerIterator entry(narrow, i); entry; ++entry) {
      wide.insertBack(i, entry.col() * 113'000'000 + 17) = entry.value();
    }
  }
  wide.finalize();
  const bpm::Polynomial kernel(3, 0.1);
  CHECK(block_values(kernel, wide, wide) == block_values(kernel, narrow, narrow));
  CHECK(bpm::detail::PreparedInputs<Sparse>::scattered_bytes(wide) == 0);
  CHECK(bpm::detail::PreparedInputs<Sparse>::scattered_bytes(narrow) == 20 * sizeof(double));
}

TEST_CASE("sparse and dense inputs agree to rounding", "[kernels]") {
  const auto dense = test_support::holey_inputs<double>(30, 50, 4);
  const bpm::SparseRowMatrix<double> sparse = dense.sparseView();
  const bpm::Polynomial kernel(4, 0.1);
  const Eigen::MatrixXd expected = block_values(kernel, dense, dense);
  CHECK(test_support::largest_difference(block_values(kernel, sparse, sparse), expected) <=
        1e-13 * expected.cwiseAbs().maxCoeff());
}

TEST_CASE("one scratch serves inputs of several sizes in turn", "[kernels]") {
  const auto narrow = test_support::holey_inputs<double>(9, 5, 1);
  const auto wide = test_support::holey_inputs<double>(12, 80, 2);
  const bpm::SparseRowMatrix<double> sparse_narrow = narrow.sparseView();
  const bpm::SparseRowMatrix<double> sparse_wide = wide.sparseView();
  using Sparse = bpm::SparseRowMatrix<double>;
  const bpm::detail::PreparedInputs<Sparse> first(sparse_narrow);
  const bpm::detail::PreparedInputs<Sparse> second(sparse_wide);
  bpm::detail::BlockScratch<double> scratch;
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (const auto* inputs : {&first, &second}) {
      const auto points = test_support::first_points(inputs->size());
      bpm::RowMatrix<double> values(inputs->size(), inputs->size());
      bpm::detail::kernel_block(bpm::Linear{}, *inputs, points, *inputs, points, values.data(),
                                values.cols(), scratch);
      const auto& dense = inputs == &first ? narrow : wide;
      CHECK(test_support::largest_difference(values, dense * dense.transpose()) <= 1e-12);
    }
  }
}

TEST_CASE("a kernel on strings", "[kernels]") {
  const std::vector<std::string> words{"banana", "bandana", "an", "", "cab"};
  const auto values = block_values(shared_pairs, words, words);
  // banana: ba an na an na; bandana: ba an nd da an na.
  CHECK(values(0, 0) == 9);
  CHECK(values(0, 1) == 7);
  CHECK(values(1, 0) == 7);
  CHECK(values(2, 2) == 1);
  CHECK(values(0, 2) == 2);
  CHECK(values.row(3).isZero(0));
  CHECK(values(4, 0) == 0);
}

TEST_CASE("a user's lambda on rows agrees with the formula", "[kernels]") {
  const auto x = test_support::normal_inputs<double>(12, 6, 1);
  const auto z = test_support::normal_inputs<double>(8, 6, 2);
  const auto kernel = [](const auto& a, const auto& b) {
    return std::exp(-(a - b).cwiseAbs().maxCoeff());
  };
  CHECK(test_support::largest_difference(block_values(kernel, x, z),
                                         test_support::formula_values(x, z, kernel)) <= 1e-15);
  const bpm::SparseRowMatrix<double> sparse = x.sparseView();
  const auto dots = [](const auto& a, const auto& b) { return a.dot(b); };
  CHECK(test_support::largest_difference(block_values(dots, sparse, sparse), x * x.transpose()) <=
        1e-13);
}

TEST_CASE("a pair of one set is called in one order, so that its value is one", "[kernels]") {
  // Not symmetric to the last bit, as a user's function may be.
  const auto kernel = [](const auto& a, const auto& b) {
    return a(0) + 1e-17 * b(0) + 1e-9 * a(0);
  };
  const auto x = test_support::normal_inputs<double>(10, 1, 1);
  const bpm::detail::PreparedInputs<bpm::RowMatrix<double>> prepared(x);
  const auto points = test_support::first_points(10);
  bpm::RowMatrix<double> values(10, 10);
  bpm::detail::BlockScratch<double> scratch;
  bpm::detail::kernel_block(kernel, prepared, points, prepared, points, values.data(), 10, scratch);
  CHECK(values == values.transpose());
}

TEMPLATE_TEST_CASE("kernel_diagonal gives the bits of the blocks", "[kernels]", float, double) {
  const auto x = test_support::holey_inputs<TestType>(37, 21, 2);
  const bpm::SparseRowMatrix<TestType> sparse = x.sparseView();
  const auto check = [&](const auto& kernel, const auto& inputs) {
    using I = std::remove_cvref_t<decltype(inputs)>;
    const auto diagonal =
        bpm::detail::kernel_diagonal(kernel, bpm::detail::PreparedInputs<I>(inputs));
    const auto values = block_values(kernel, inputs, inputs);
    int different = 0;
    for (Eigen::Index i = 0; i < 37; ++i) {
      different += static_cast<int>(values(i, i) != diagonal[i]);
    }
    CHECK(different == 0);
  };
  check(bpm::Polynomial(5), x);
  check(bpm::ArcCosine(3), x);
  check(bpm::Laplacian(3), x);
  check(bpm::Polynomial(5), sparse);
  check(bpm::normalised(bpm::Polynomial(5)), sparse);
}

TEST_CASE("the diagonal of a kernel is not negative", "[kernels]") {
  const std::vector<double> numbers{1, 2, -3};
  const auto kernel = [](double a, double b) { return a + b; };
  const bpm::detail::PreparedInputs<std::vector<double>> prepared(numbers);
  CHECK_THROWS_AS(bpm::detail::kernel_diagonal(kernel, prepared), bpm::KernelValueError);
  CHECK_THROWS_WITH(bpm::detail::kernel_diagonal(kernel, prepared),
                    "kernel: k(x_2, x_2) is -6, must not be negative: the kernel is not positive "
                    "semi-definite");
}

// --- Values that are refused -------------------------------------------------------------------

TEST_CASE("a value near overflow is an error that names the pair", "[kernels]") {
  bpm::RowMatrix<float> x = bpm::RowMatrix<float>::Ones(40, 3);
  x.row(35) *= 1e4F;
  const bpm::Polynomial kernel(5);  // 3e8^5 overflows; 3e4^5 = 2e22 does not.
  CHECK_THROWS_AS(block_values(kernel, x, x), bpm::KernelValueError);
  CHECK_THROWS_WITH(block_values(kernel, x, x),
                    "kernel: k(x_35, x_35) is inf, must be finite and below 4.056481679e+31 in "
                    "size; scale the inputs or normalise the kernel");
  // Not infinite yet, and still refused: sums of such values would be.
  x.row(35) /= 1e2F;
  x.row(35) *= 1.5F;
  CHECK_THROWS_WITH(block_values(bpm::Polynomial(7, 1, 0), x, x),
                    ContainsSubstring("kernel: k(x_35, x_35) is") && !ContainsSubstring("inf"));
  CHECK_NOTHROW(block_values(bpm::Polynomial(7, 1e-2, 0), x, x));
  // The same in double is far from any limit.
  CHECK_NOTHROW(
      block_values(bpm::Polynomial(7, 1, 0), x.cast<double>().eval(), x.cast<double>().eval()));
}

TEST_CASE("an inner product that overflows is an error, not a silent number", "[kernels]") {
  bpm::RowMatrix<float> x = bpm::RowMatrix<float>::Ones(3, 4);
  x.row(1) *= 1e19F;  // 4e38 overflows.
  CHECK_THROWS_WITH(block_values(bpm::Linear{}, x, x), ContainsSubstring("k(x_1, x_1) is inf"));
  // inf - inf: the distance of an input from itself.
  CHECK_THROWS_WITH(block_values(bpm::Gaussian::from_gamma(1), x, x),
                    ContainsSubstring("k(x_1, x_1) is") && ContainsSubstring("nan"));
}

TEMPLATE_TEST_CASE("an input of norm zero has no cosine", "[kernels]", float, double) {
  bpm::RowMatrix<TestType> x = test_support::normal_inputs<TestType>(6, 5, 1);
  x.row(4).setZero();
  const bpm::SparseRowMatrix<TestType> sparse = x.sparseView();
  const auto check = [&](const auto& kernel) {
    CHECK_THROWS_AS(block_values(kernel, x, x), bpm::KernelValueError);
    CHECK_THROWS_WITH(block_values(kernel, x, x),
                      ContainsSubstring("k(x_0, x_4) is") && ContainsSubstring("nan"));
    CHECK_THROWS_WITH(block_values(kernel, sparse, sparse), ContainsSubstring("k(x_0, x_4) is"));
  };
  check(bpm::ArcCosine(1));
  check(bpm::ArcCosine(2));
  check(bpm::ArcCosine(5));
  check(bpm::normalised(bpm::Linear{}));
  check(bpm::normalised(bpm::Polynomial(3, 1, 0)));
  check(bpm::on_unit_inputs(bpm::Polynomial(5)));
}

TEST_CASE("arc-cosine of inputs whose norms' product leaves the range of float", "[kernels]") {
  bpm::RowMatrix<float> x(2, 2);
  x << 1, 0, 1, 1;
  for (const int depth : {1, 2, 4}) {
    const bpm::ArcCosine kernel(depth);
    const float expected = block_values(kernel, x, x)(0, 1);
    for (const float scale : {1e-15F, 1e15F}) {
      const bpm::RowMatrix<float> scaled = x * scale;
      CHECK(std::abs(block_values(kernel, scaled, scaled)(0, 1) - expected) <= 1e-6F);
    }
  }
}

TEST_CASE("a user's kernel that returns NaN or infinity is refused", "[kernels]") {
  const std::vector<int> numbers{0, 1, 2};
  const auto not_a_number = [](int a, int b) { return a + b == 3 ? std::nan("") : 1.0; };
  const auto infinite = [](int a, int b) {
    return a * b == 4 ? -std::numeric_limits<double>::infinity() : 1.0;
  };
  CHECK_THROWS_WITH(block_values(not_a_number, numbers, numbers),
                    ContainsSubstring("kernel: k(x_1, x_2) is nan, must be finite"));
  CHECK_THROWS_WITH(block_values(infinite, numbers, numbers),
                    ContainsSubstring("kernel: k(x_2, x_2) is -inf, must be finite"));
}
