// SPDX-License-Identifier: MIT
// Whole kernel matrices against the kernel's own pairs.
#include "bpm/kernel_values/kernel_matrix.hpp"

#include <Eigen/Core>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "message_of.hpp"

using test_support::message_of;

namespace {

template <class Scalar>
bpm::RowMatrix<Scalar> random_inputs(Eigen::Index rows, Eigen::Index cols, std::uint64_t seed) {
  bpm::RandomEngine engine(seed, 0);
  bpm::RowMatrix<Scalar> inputs(rows, cols);
  for (Eigen::Index i = 0; i < inputs.size(); ++i) {
    inputs.data()[i] = static_cast<Scalar>(2 * bpm::uniform_unit(engine) - 1);
  }
  return inputs;
}

}  // namespace

TEMPLATE_TEST_CASE("kernel matrices hold every pair's kernel value", "", float, double) {
  const double bound = 100 * static_cast<double>(std::numeric_limits<TestType>::epsilon());
  const auto x = random_inputs<TestType>(201, 7, 1);
  const auto z = random_inputs<TestType>(390, 7, 2);
  const auto kernel = bpm::Gaussian::from_sigma(1.0);
  const unsigned threads = GENERATE(1U, 2U);
  const Eigen::MatrixXd symmetric = bpm::kernel_matrix(kernel, x, {.threads = threads});
  const Eigen::MatrixXd cross = bpm::kernel_matrix(kernel, x, z, {.threads = threads});
  REQUIRE(symmetric.rows() == 201);
  REQUIRE(symmetric.cols() == 201);
  REQUIRE(cross.rows() == 201);
  REQUIRE(cross.cols() == 390);
  CHECK(symmetric == symmetric.transpose());
  double worst = 0;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    for (Eigen::Index j = 0; j < z.rows(); ++j) {
      const auto value = static_cast<double>(kernel(x.row(i), z.row(j)));
      worst = std::max(worst, std::abs(cross(i, j) - value));
    }
    for (Eigen::Index j = 0; j < x.rows(); ++j) {
      const auto value = static_cast<double>(kernel(x.row(i), x.row(j)));
      worst = std::max(worst, std::abs(symmetric(i, j) - value));
    }
  }
  CHECK(worst < bound);
  const Eigen::VectorXd diagonal = bpm::kernel_diagonal_values(kernel, x);
  CHECK((diagonal - symmetric.diagonal()).cwiseAbs().maxCoeff() < bound);
}

TEST_CASE("kernel matrices of a user's own kernel on words") {
  const std::vector<std::string> words{"bayes", "point", "machine"};
  const auto kernel = [](const std::string& a, const std::string& b) {
    return static_cast<double>(a.size() * b.size());
  };
  const Eigen::MatrixXd matrix = bpm::kernel_matrix(kernel, words);
  CHECK(matrix(0, 2) == 35);
  CHECK(matrix(2, 0) == 35);
  CHECK(bpm::kernel_matrix(kernel, words, std::vector<std::string>{"kernel"})(1, 0) == 30);
  CHECK(bpm::kernel_diagonal_values(kernel, words)[2] == 49);
}

TEST_CASE("a kernel on pairs is called hardly more often than there are pairs") {
  std::vector<int> numbers(100);
  std::iota(numbers.begin(), numbers.end(), 1);
  std::ptrdiff_t calls = 0;
  const auto kernel = [&](int a, int b) {
    ++calls;
    return 1.0 * a * b;
  };
  const auto calls_of = [&](auto&& run) {
    calls = 0;
    run();
    return calls;
  };
  // Six squares of 16 and one of 4 on the diagonal, each pair of the rest once, the diagonal again.
  const std::ptrdiff_t symmetric = (100 * 100 + 6 * 16 * 16 + 4 * 4) / 2 + 100;
  CHECK(symmetric <= 100 * (100 + 18) / 2);
  CHECK(calls_of([&] {
          const Eigen::MatrixXd matrix = bpm::kernel_matrix(kernel, numbers, {.threads = 1});
          const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(100, 1, 100);
          CHECK(matrix == x * x.transpose());
        }) == symmetric);
  CHECK(calls_of([&] {
          (void)bpm::kernel_matrix(bpm::normalised(kernel), numbers, {.threads = 1});
        }) == 3 * symmetric);
  CHECK(calls_of([&] { (void)bpm::kernel_matrix(kernel, numbers, numbers, {.threads = 1}); }) ==
        100 * 100);
}

TEST_CASE("a kernel whose k(x, x) is negative has no matrix") {
  const std::vector<int> numbers{1, 2};
  const auto kernel = [](int a, int b) { return -1.0 * a * b; };
  CHECK(
      message_of([&] { (void)bpm::kernel_matrix(kernel, numbers); }) ==
      "kernel: k(x_0, x_0) is -1, must not be negative: the kernel is not positive semi-definite");
}

TEST_CASE("kernel matrices say what is wrong with the inputs") {
  const bpm::ArcCosine kernel(3);
  bpm::RowMatrix<double> x = random_inputs<double>(4, 3, 3);
  const bpm::RowMatrix<double> wide = random_inputs<double>(4, 5, 3);
  CHECK(message_of([&] { (void)bpm::kernel_matrix(kernel, x, wide); }) ==
        "kernel_matrix: z has 5 entries, expected 3 (columns: one per feature of x)");
  CHECK(message_of([&] { (void)bpm::kernel_matrix(kernel, x, {.memory = 127}); }) ==
        "kernel_matrix: a kernel matrix of 4 x 4 needs 128 bytes, memory is 127; raise memory or "
        "use fewer inputs");
  CHECK(message_of([&] { (void)bpm::kernel_matrix(kernel, x, x, {.memory = 100}); }) ==
        "kernel_matrix: a kernel matrix of 4 x 4 needs 128 bytes, memory is 100; raise memory or "
        "use fewer inputs");
  CHECK_THROWS_AS(bpm::kernel_matrix(kernel, x, {.memory = 127}), bpm::BudgetTooSmall);
  const std::string many =
      "kernel_matrix: threads is 4097, must be from 1 to 4096, or 0 for as many as there are";
  CHECK(message_of([&] { (void)bpm::kernel_matrix(kernel, x, {.threads = 4097}); }) == many);
  CHECK(message_of([&] { (void)bpm::kernel_matrix(kernel, x, x, {.threads = 4097}); }) == many);
  CHECK(bpm::kernel_matrix(kernel, x, {.memory = 128}).size() == 16);
  x.row(2).setZero();
  CHECK_THROWS_AS(bpm::kernel_matrix(kernel, x), bpm::KernelValueError);
  CHECK_THROWS_AS(bpm::kernel_matrix(kernel, wide.leftCols(3), x), bpm::KernelValueError);
  x(0, 0) = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(bpm::kernel_matrix(kernel, x), std::invalid_argument);
  CHECK(message_of([&] { (void)bpm::kernel_matrix(kernel, bpm::RowMatrix<double>(0, 3)); }) ==
        "kernel_matrix: inputs are empty, expected one or more");
  const bpm::RowMatrix<double> nothing(0, 3);
  CHECK(message_of([&] { (void)bpm::kernel_matrix(kernel, nothing, wide.leftCols(3)); }) ==
        "kernel_matrix: x is empty, expected one input or more");
  CHECK(message_of([&] { (void)bpm::kernel_matrix(kernel, wide.leftCols(3), nothing); }) ==
        "kernel_matrix: z is empty, expected one input or more");
  CHECK(message_of([&] { (void)bpm::kernel_diagonal_values(kernel, nothing); }) ==
        "kernel_diagonal_values: inputs are empty, expected one or more");
}
