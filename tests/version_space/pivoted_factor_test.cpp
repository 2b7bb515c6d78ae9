// SPDX-License-Identifier: MIT
#include "bpm/version_space/pivoted_factor.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernel_values/precomputed_gram.hpp"
#include "bpm/kernels/gaussian.hpp"
#include "bpm/kernels/linear.hpp"
#include "bpm/version_space/kernel_version_space.hpp"
#include "catch.hpp"
#include "random_inputs.hpp"

namespace {

using Gram = bpm::PrecomputedGram<double>;
using Space = bpm::KernelVersionSpace<Gram>;

bpm::detail::KernelFactor factor_of(const bpm::RowMatrix<double>& kernel, double tolerance,
                                    std::vector<double> lambda = {}) {
  const Gram gram(kernel);
  const Space space(gram, std::vector<signed char>(static_cast<std::size_t>(kernel.rows()), 1),
                    std::make_shared<const std::vector<double>>(std::move(lambda)));
  return bpm::detail::pivoted_factor(space, tolerance);
}

/// What holds of every factor: sizes, pivots all different, L's diagonal falling from pivot to
/// pivot, zeros above it, S - L L' within the residual where S is exact.
void check_factor(const bpm::detail::KernelFactor& factor, const Eigen::MatrixXd& sampling,
                  double tolerance) {
  const Eigen::Index rank = factor.factor.cols();
  REQUIRE(factor.factor.rows() == sampling.rows());
  REQUIRE(static_cast<Eigen::Index>(factor.pivots.size()) == rank);
  REQUIRE(factor.factor.allFinite());
  CHECK(std::set<bpm::PointIndex>(factor.pivots.begin(), factor.pivots.end()).size() ==
        factor.pivots.size());
  bool triangular = true;
  bool falling = true;
  for (Eigen::Index c = 0; c < rank; ++c) {
    const auto pivot = factor.pivots[static_cast<std::size_t>(c)];
    const double entry = factor.factor(pivot, c);
    falling =
        falling && entry > 0 &&
        (c == 0 || entry <= factor.factor(factor.pivots[std::size_t(c - 1)], c - 1) * (1 + 1e-12));
    for (Eigen::Index later = c + 1; later < rank; ++later) {
      triangular = triangular && factor.factor(pivot, later) == 0;
    }
  }
  CHECK(triangular);
  CHECK(falling);
  const double largest = sampling.diagonal().maxCoeff();
  const Eigen::MatrixXd difference = sampling - factor.factor * factor.factor.transpose();
  CHECK(difference.cwiseAbs().maxCoeff() <= (tolerance + 1e-13) * largest);
  CHECK(factor.residual >= 0);
  CHECK(factor.residual <= tolerance * largest);
}

}  // namespace

TEST_CASE("a positive definite matrix is factored whole", "[version_space]") {
  for (const Eigen::Index m : {1, 2, 15, 16, 17, 40}) {
    const auto x = test_support::normal_inputs<double>(m, m + 3, 1);
    bpm::RowMatrix<double> kernel = x * x.transpose();
    kernel = ((kernel + kernel.transpose()) / 2).eval();
    const bpm::detail::KernelFactor factor = factor_of(kernel, 1e-14);
    CHECK(factor.factor.cols() == m);
    CHECK(factor.residual == 0);
    check_factor(factor, kernel, 1e-14);
  }
}

TEST_CASE("one point: its feature's norm", "[version_space]") {
  const bpm::RowMatrix<double> kernel = bpm::RowMatrix<double>::Constant(1, 1, 9);
  const bpm::detail::KernelFactor factor = factor_of(kernel, 1e-12, {7});
  CHECK(factor.factor.rows() == 1);
  CHECK(factor.factor.cols() == 1);
  CHECK(factor.factor(0, 0) == 4);
  CHECK(factor.pivots == std::vector<bpm::PointIndex>{0});
  CHECK(factor.residual == 0);
}

TEST_CASE("the largest remaining diagonal entry is the next pivot", "[version_space]") {
  const Eigen::MatrixXd diagonal = Eigen::Vector4d(2, 16, 1, 4).asDiagonal();
  const bpm::detail::KernelFactor factor = factor_of(diagonal, 1e-12);
  CHECK(factor.pivots == std::vector<bpm::PointIndex>{1, 3, 0, 2});
  // Point 1 takes with it what lies in its direction: 4 - 6^2 / 16 = 1.75 is then less than 2.
  Eigen::MatrixXd tilted = diagonal;
  tilted(1, 3) = tilted(3, 1) = 6;
  CHECK(factor_of(tilted, 1e-12).pivots == std::vector<bpm::PointIndex>{1, 0, 3, 2});
  // lambda counts: it is the sampling kernel that is factored.
  CHECK(factor_of(diagonal, 1e-12, {0, 0, 20, 0}).pivots ==
        std::vector<bpm::PointIndex>{2, 1, 3, 0});
}

TEST_CASE("a linear kernel in d dimensions has rank d", "[version_space]") {
  for (const Eigen::Index d : {1, 3, 20}) {
    const auto x = test_support::normal_inputs<double>(60, d, 1);
    const bpm::detail::OnDemandGram<bpm::Linear, bpm::RowMatrix<double>> gram(bpm::Linear{}, x);
    const bpm::KernelVersionSpace space(gram, std::vector<signed char>(60, 1));
    const bpm::detail::KernelFactor factor = bpm::detail::pivoted_factor(space, 1e-12);
    CHECK(factor.factor.cols() == d);
    check_factor(factor, x * x.transpose(), 1e-12);
  }
}

TEST_CASE("equal points count once, and apart with lambda", "[version_space]") {
  bpm::RowMatrix<double> x = test_support::normal_inputs<double>(10, 12, 1);
  x.bottomRows(5) = x.topRows(5).eval();
  bpm::RowMatrix<double> kernel = x * x.transpose();
  kernel = ((kernel + kernel.transpose()) / 2).eval();
  check_factor(factor_of(kernel, 1e-12), kernel, 1e-12);
  CHECK(factor_of(kernel, 1e-12).factor.cols() == 5);
  const bpm::detail::KernelFactor soft = factor_of(kernel, 1e-12, std::vector<double>(10, 0.5));
  CHECK(soft.factor.cols() == 10);
  Eigen::MatrixXd sampling = kernel;
  sampling.diagonal().array() += 0.5;
  check_factor(soft, sampling, 1e-12);
}

TEST_CASE("a matrix of zeros has rank 0", "[version_space]") {
  const bpm::RowMatrix<double> zero = bpm::RowMatrix<double>::Zero(4, 4);
  const bpm::detail::KernelFactor factor = factor_of(zero, 1e-12);
  CHECK(factor.factor.rows() == 4);
  CHECK(factor.factor.cols() == 0);
  CHECK(factor.pivots.empty());
  CHECK(factor.residual == 0);
}

TEST_CASE("near-singular Gaussian kernels stay finite and are reconstructed", "[version_space]") {
  // 80 points on a line: eigenvalues fall to rounding, condition beyond 1e15.
  for (const double sigma : {0.5, 3.0, 50.0}) {
    const auto x = test_support::normal_inputs<double>(80, 1, 3);
    const bpm::Gaussian kernel = bpm::Gaussian::from_sigma(sigma);
    const Eigen::MatrixXd values = test_support::block_values(kernel, x, x);
    Eigen::Index last = 80;
    for (const double tolerance : {1e-14, 1e-12, 1e-6, 1e-2}) {
      const bpm::detail::KernelFactor factor = factor_of(values, tolerance);
      check_factor(factor, values, std::max(tolerance, 1e-12));
      CHECK(factor.factor.cols() <= last);
      CHECK(factor.factor.cols() < 80);
      last = factor.factor.cols();
    }
    // A soft boundary makes it well conditioned.
    Eigen::MatrixXd sampling = values;
    sampling.diagonal().array() += 0.1;
    check_factor(factor_of(values, 1e-12, std::vector<double>(80, 0.1)), sampling, 1e-12);
  }
}

TEST_CASE("float values: the rank ends at their rounding", "[version_space]") {
  const auto x = test_support::normal_inputs<float>(50, 4, 1);
  const bpm::detail::OnDemandGram<bpm::Linear, bpm::RowMatrix<float>> gram(bpm::Linear{}, x);
  const bpm::KernelVersionSpace space(gram, std::vector<signed char>(50, 1));
  const bpm::detail::KernelFactor factor = bpm::detail::pivoted_factor(space, 1e-5);
  CHECK(factor.factor.cols() == 4);
  const Eigen::MatrixXd doubles = x.cast<double>();
  check_factor(factor, doubles * doubles.transpose(), 1e-5);
}

TEST_CASE("the tolerance lies between 0 and 1", "[version_space]") {
  const bpm::RowMatrix<double> kernel = bpm::RowMatrix<double>::Identity(2, 2);
  CHECK_THROWS_AS(factor_of(kernel, 0), std::invalid_argument);
  CHECK_THROWS_WITH(factor_of(kernel, 0),
                    "pivoted_factor: tolerance is 0, must lie between 0 and 1");
  CHECK_THROWS_WITH(factor_of(kernel, 1),
                    "pivoted_factor: tolerance is 1, must lie between 0 and 1");
  CHECK_THROWS_WITH(factor_of(kernel, std::numeric_limits<double>::quiet_NaN()),
                    "pivoted_factor: tolerance is nan, must lie between 0 and 1");
}
