// SPDX-License-Identifier: MIT
#include "bpm/version_space/version_space.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "random_inputs.hpp"

namespace {

using Gram = bpm::PrecomputedGram<double>;
using Space = bpm::KernelVersionSpace<double>;

/// A random problem of m points: K, labels, lambda and S = K + diag(lambda).
struct SoftProblem {
  bpm::RowMatrix<double> kernel;
  std::vector<signed char> labels;
  std::shared_ptr<const std::vector<double>> lambda;
  Eigen::MatrixXd sampling;

  explicit SoftProblem(Eigen::Index m, bool soft = true) {
    const auto inputs = test_support::normal_inputs<double>(m, 3, 1);
    kernel = (inputs * inputs.transpose()).array() + 1;
    kernel = ((kernel + kernel.transpose()) / 2).eval();
    sampling = kernel;
    std::vector<double> values;
    for (Eigen::Index i = 0; i < m; ++i) {
      labels.push_back(i % 3 == 0 ? 1 : -1);
      values.push_back(0.25 * static_cast<double>(i % 5));
      if (soft) sampling(i, i) += values.back();
    }
    if (soft) lambda = std::make_shared<const std::vector<double>>(values);
  }
};

Eigen::VectorXd signs(const SoftProblem& problem) {
  Eigen::VectorXd y(problem.kernel.rows());
  for (Eigen::Index i = 0; i < y.size(); ++i) y[i] = problem.labels[static_cast<std::size_t>(i)];
  return y;
}

Eigen::MatrixXd coefficients(Eigen::Index m, Eigen::Index n) {
  Eigen::MatrixXd values = test_support::normal_inputs<double>(m, n, 2);
  // Every third point has none, as points without a mistake.
  for (Eigen::Index i = 0; i < m; i += 3) values.row(i).setZero();
  return values;
}

}  // namespace

TEST_CASE("a version space says what it is made of", "[version_space]") {
  const SoftProblem problem(7);
  const Gram gram(problem.kernel);
  const Space space(gram, problem.labels, problem.lambda);
  CHECK(space.size() == 7);
  CHECK(&space.gram() == &gram);
  CHECK(space.rows_in_memory());
  bpm::detail::BlockScratch<double> scratch;
  for (Eigen::Index i = 0; i < 7; ++i) {
    CHECK(space.label(i) == (i % 3 == 0 ? 1 : -1));
    CHECK(space.lambda(i) == 0.25 * static_cast<double>(i % 5));
    CHECK(space.diagonal(i) == problem.sampling(i, i));
    // Rows and blocks are those of K.
    CHECK(space.row(i, scratch)[static_cast<std::size_t>(i)] == problem.kernel(i, i));
  }
  const std::vector<bpm::PointIndex> rows{1, 6};
  const std::vector<bpm::PointIndex> cols{6, 1, 0};
  bpm::RowMatrix<double> block(2, 3);
  space.block(rows, cols, block.data(), 3, scratch);
  CHECK(block(0, 1) == problem.kernel(1, 1));
  CHECK(block(1, 0) == problem.kernel(6, 6));
  CHECK(block(1, 2) == problem.kernel(6, 0));
}

TEST_CASE("no lambda and an empty one are hard boundaries", "[version_space]") {
  const SoftProblem problem(4, false);
  const Gram gram(problem.kernel);
  const Space none(gram, problem.labels);
  const Space empty(gram, problem.labels, std::make_shared<const std::vector<double>>());
  for (Eigen::Index i = 0; i < 4; ++i) {
    CHECK(none.lambda(i) == 0);
    CHECK(empty.lambda(i) == 0);
    CHECK(empty.diagonal(i) == problem.kernel(i, i));
  }
}

TEST_CASE("outputs of a block of coefficients are S times the block", "[version_space]") {
  // Around the 64 rows that are read at a time.
  for (const Eigen::Index m : {1, 5, 63, 64, 65, 150}) {
    for (const Eigen::Index n : {1, 3}) {
      const SoftProblem problem(m);
      const Gram gram(problem.kernel);
      const Space space(gram, problem.labels, problem.lambda);
      bpm::detail::BlockScratch<double> scratch;
      const Eigen::MatrixXd alpha = coefficients(m, n);
      const Eigen::MatrixXd expected = problem.sampling * alpha;
      CHECK((space.outputs(alpha, scratch) - expected).norm() <= 1e-13 * (1 + expected.norm()));
      // Without lambda: K alone.
      const Space hard(gram, problem.labels);
      CHECK((hard.outputs(alpha, scratch) - problem.kernel * alpha).norm() <=
            1e-13 * (1 + expected.norm()));
    }
  }
}

TEST_CASE("outputs of nothing", "[version_space]") {
  const SoftProblem problem(5);
  const Gram gram(problem.kernel);
  const Space space(gram, problem.labels, problem.lambda);
  bpm::detail::BlockScratch<double> scratch;
  CHECK(space.outputs(Eigen::MatrixXd(5, 0), scratch).cols() == 0);
  CHECK(space.outputs(Eigen::MatrixXd::Zero(5, 2), scratch) == Eigen::MatrixXd::Zero(5, 2));
}

TEST_CASE("add_row adds a multiple of a row of S", "[version_space]") {
  const SoftProblem problem(11);
  const Gram gram(problem.kernel);
  const Space space(gram, problem.labels, problem.lambda);
  bpm::detail::BlockScratch<double> scratch;
  std::vector<double> outputs(11, 1.0);
  space.add_row(4, -2, outputs, scratch);
  space.add_row(9, 0.5, outputs, scratch);
  double worst = 0;
  for (Eigen::Index j = 0; j < 11; ++j) {
    const double expected = 1 - 2 * problem.sampling(4, j) + 0.5 * problem.sampling(9, j);
    worst = std::max(worst, std::abs(outputs[static_cast<std::size_t>(j)] - expected));
  }
  CHECK(worst <= 1e-13);
}

TEST_CASE("signed outputs, membership and margin against dense algebra", "[version_space]") {
  const SoftProblem problem(40);
  const Gram gram(problem.kernel);
  const Space space(gram, problem.labels, problem.lambda);
  bpm::detail::BlockScratch<double> scratch;
  const Eigen::VectorXd y = signs(problem);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Eigen::VectorXd alpha = test_support::normal_inputs<double>(40, 1, seed);
    const Eigen::VectorXd d = y.cwiseProduct(problem.sampling * alpha);
    CHECK((space.signed_outputs(alpha, scratch) - d).norm() <= 1e-12 * d.norm());
    CHECK(space.contains(alpha, scratch) == (d.minCoeff() > 0));
    const double margin = d.minCoeff() / std::sqrt(alpha.dot(problem.sampling * alpha));
    CHECK(std::abs(space.margin(alpha, scratch) - margin) <= 1e-12 * std::abs(margin));
  }
}

TEST_CASE("a classifier that separates is inside, one on a plane is not", "[version_space]") {
  // K = I: the outputs are the coefficients.
  const bpm::RowMatrix<double> kernel = bpm::RowMatrix<double>::Identity(3, 3);
  const Gram gram(kernel);
  const Space space(gram, {1, -1, 1});
  bpm::detail::BlockScratch<double> scratch;
  CHECK(space.contains(Eigen::Vector3d(3, -4, 12), scratch));
  CHECK(std::abs(space.margin(Eigen::Vector3d(3, -4, 12), scratch) - 3.0 / 13) <= 1e-15);
  CHECK_FALSE(space.contains(Eigen::Vector3d(3, 0, 12), scratch));
  CHECK(space.margin(Eigen::Vector3d(3, 0, 12), scratch) == 0);
  CHECK_FALSE(space.contains(Eigen::Vector3d(3, 4, 12), scratch));
  CHECK(std::abs(space.margin(Eigen::Vector3d(3, 4, 12), scratch) + 4.0 / 13) <= 1e-15);
  CHECK_FALSE(space.contains(Eigen::Vector3d::Zero(), scratch));
  CHECK(std::isnan(space.margin(Eigen::Vector3d::Zero(), scratch)));
}

TEST_CASE("lambda separates equal points with opposite labels", "[version_space]") {
  const bpm::RowMatrix<double> kernel = bpm::RowMatrix<double>::Ones(2, 2);
  const Gram gram(kernel);
  const auto half = std::make_shared<const std::vector<double>>(2, 0.5);
  bpm::detail::BlockScratch<double> scratch;
  const Eigen::Vector2d alpha(1, -1);
  CHECK_FALSE(Space(gram, {1, -1}).contains(alpha, scratch));
  const Space soft(gram, {1, -1}, half);
  CHECK(soft.contains(alpha, scratch));
  // S alpha = (0.5, -0.5), alpha' S alpha = 1.
  CHECK(std::abs(soft.margin(alpha, scratch) - 0.5) <= 1e-15);
}

TEST_CASE("kernel values on demand give the same version space", "[version_space]") {
  const auto inputs = test_support::normal_inputs<double>(30, 3, 1);
  const bpm::Gaussian kernel = bpm::Gaussian::from_sigma(1);
  using OnDemand = bpm::detail::OnDemandGram<bpm::Gaussian, bpm::RowMatrix<double>>;
  const OnDemand gram(kernel, inputs);
  const bpm::KernelVersionSpace<double> space(gram, std::vector<signed char>(30, 1));
  CHECK_FALSE(space.rows_in_memory());
  bpm::detail::BlockScratch<double> scratch;
  const Eigen::MatrixXd alpha = coefficients(30, 2);
  const Eigen::MatrixXd expected = test_support::block_values(kernel, inputs, inputs) * alpha;
  CHECK((space.outputs(alpha, scratch) - expected).norm() <= 1e-13 * expected.norm());
}

TEST_CASE("a version space refuses labels and lambdas that do not fit", "[version_space]") {
  const SoftProblem problem(3);
  const Gram gram(problem.kernel);
  const auto lambda = [](std::vector<double> values) {
    return std::make_shared<const std::vector<double>>(std::move(values));
  };
  CHECK_THROWS_AS(Space(gram, {1, -1}), std::invalid_argument);
  CHECK_THROWS_WITH(
      Space(gram, {1, -1}),
      "KernelVersionSpace: labels has 2 entries, expected 3 (one per training point)");
  CHECK_THROWS_WITH(Space(gram, {1, 0, -1}),
                    "KernelVersionSpace: labels at 1 is 0, must be 1 or -1");
  CHECK_THROWS_WITH(
      Space(gram, {1, 1, -1}, lambda({1})),
      "KernelVersionSpace: lambda has 1 entries, expected 3 (one per training point)");
  CHECK_THROWS_WITH(Space(gram, {1, 1, -1}, lambda({1, 2, -3})),
                    "KernelVersionSpace: lambda at 2 is -3, must be finite and not negative");
  CHECK_THROWS_WITH(Space(gram, {1, 1, -1}, lambda({std::nan(""), 0, 0})),
                    "KernelVersionSpace: lambda at 0 is nan, must be finite and not negative");
  const Space space(gram, problem.labels);
  bpm::detail::BlockScratch<double> scratch;
  CHECK_THROWS_WITH(space.outputs(Eigen::MatrixXd::Zero(2, 1), scratch),
                    "KernelVersionSpace::outputs: coefficients has 2 entries, expected 3 (rows: "
                    "one per training point)");
}

TEST_CASE("a version space needs a point", "[version_space]") {
  const bpm::RowMatrix<double> none(0, 2);
  using Empty = bpm::detail::OnDemandGram<bpm::Gaussian, bpm::RowMatrix<double>>;
  const Empty gram(bpm::Gaussian::from_sigma(1), none);
  CHECK_THROWS_WITH(bpm::KernelVersionSpace<double>(gram, {}),
                    "KernelVersionSpace: gram has no points");
}
