// SPDX-License-Identifier: MIT
#include "bpm/version_space/cone.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <set>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/version_space/version_space.hpp"
#include "catch.hpp"
#include "random_inputs.hpp"

namespace {

using Gram = bpm::PrecomputedGram<double>;
using Space = bpm::KernelVersionSpace<double>;
using Kernel = bpm::RowMatrix<double>;
using Labels = std::vector<signed char>;

Kernel symmetric(Kernel kernel) { return ((kernel + kernel.transpose()) / 2).eval(); }

/// m points with a kernel of rank r, and signs by turns.
struct Problem {
  Kernel kernel;
  Labels labels;
  std::vector<double> lambda;

  Problem(std::ptrdiff_t m, std::ptrdiff_t r, std::vector<double> soft = {})
      : lambda(std::move(soft)) {
    const auto x = test_support::normal_inputs<double>(m, r, 5);
    kernel = symmetric(x * x.transpose());
    for (std::ptrdiff_t i = 0; i < m; ++i) {
      labels.push_back(static_cast<signed char>(i % 3 == 0 ? -1 : 1));
    }
  }
  [[nodiscard]] bpm::Cone cone(double tolerance = 0) const {
    const Gram gram(kernel);
    return bpm::Cone(Space(gram, labels, std::make_shared<const std::vector<double>>(lambda)),
                     tolerance);
  }
  /// y_i y_j (K + diag(lambda))_ij.
  [[nodiscard]] double product(std::ptrdiff_t i, std::ptrdiff_t j) const {
    const double soft = lambda.empty() || i != j ? 0.0 : lambda[static_cast<std::size_t>(i)];
    return labels[static_cast<std::size_t>(i)] * labels[static_cast<std::size_t>(j)] *
           (kernel(i, j) + soft);
  }
};

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

TEST_CASE("cone: products of rows are signed kernel values, lambda included") {
  for (const auto& [m, r, soft] : {std::tuple<std::ptrdiff_t, std::ptrdiff_t, double>{1, 3, 0},
                                   {7, 3, 0},
                                   {16, 20, 0},
                                   {17, 5, 0},
                                   {33, 33, 0},
                                   {9, 2, 0.5}}) {
    const Problem problem(m, r, std::vector<double>(static_cast<std::size_t>(m), soft));
    bpm::Cone cone = problem.cone();
    CHECK(cone.points() == m);
    CHECK(cone.rank() == (soft > 0 ? m : std::min(m, r)));
    CHECK(cone.stride() >= cone.rank());
    CHECK(cone.output_stride() >= m);
    CHECK(cone.residual() <= 1e-11 * problem.kernel.diagonal().maxCoeff());
    CHECK(std::ssize(cone.pivots()) == cone.rank());
    CHECK_FALSE(cone.has_products());
    cone.form_products();
    cone.form_products();  // Once is enough, twice no harm.
    CHECK(cone.has_products());
    bool padded = true;
    double off = 0;
    for (std::ptrdiff_t i = 0; i < m; ++i) {
      CHECK(cone.label(i) == problem.labels[static_cast<std::size_t>(i)]);
      off = std::max(off, std::abs(cone.row_norm(i) - std::sqrt(problem.product(i, i))));
      for (std::ptrdiff_t k = cone.rank(); k < cone.stride(); ++k) {
        padded = padded && cone.row(i)[k] == 0;
      }
      for (std::ptrdiff_t j = 0; j < m; ++j) {
        off = std::max(off, std::abs(cone.product_row(i)[j] - problem.product(i, j)));
      }
      for (std::ptrdiff_t j = m; j < cone.output_stride(); ++j) {
        padded = padded && cone.product_row(i)[j] == 0;
      }
    }
    INFO(m << " points, rank " << cone.rank());
    CHECK(off <= 1e-11 * (1 + problem.kernel.diagonal().maxCoeff()));
    CHECK(padded);
  }
}

TEST_CASE("cone: outputs, one vector or several, and sums of rows") {
  const Problem problem(17, 6);
  const bpm::Cone cone = problem.cone();
  const auto stride = static_cast<std::size_t>(cone.stride());
  std::vector<double> x(3 * stride, 0.0);
  for (std::size_t v = 0; v < 3; ++v) {
    for (std::size_t k = 0; k < 6; ++k) x[v * stride + k] = 1.0 / static_cast<double>(1 + v + k);
  }
  const std::ptrdiff_t ld = cone.output_stride() + 3;
  std::vector<double> d(static_cast<std::size_t>(3 * ld), -7.0);
  const std::vector<const double*> vectors{x.data(), x.data() + stride, x.data() + 2 * stride};
  cone.outputs(vectors, d.data(), ld);
  std::vector<double> single(17);
  std::vector<double> weights(17, 0.0);
  for (std::size_t v = 0; v < 3; ++v) {
    cone.outputs(x.data() + v * stride, single.data());
    for (std::ptrdiff_t i = 0; i < 17; ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < 6; ++k) sum += cone.row(i)[k] * x[v * stride + k];
      CHECK(std::abs(single[static_cast<std::size_t>(i)] - sum) <= 1e-13);
      CHECK(std::abs(d[v * static_cast<std::size_t>(ld) + static_cast<std::size_t>(i)] - sum) <=
            1e-13);
    }
  }
  weights[3] = 2;
  weights[11] = -0.5;
  std::vector<double> y(stride, 0.25);
  cone.add_rows(weights.data(), y.data());
  for (std::size_t k = 0; k < 6; ++k) {
    CHECK(std::abs(y[k] - (0.25 + 2 * cone.row(3)[k] - 0.5 * cone.row(11)[k])) <= 1e-14);
  }
}

TEST_CASE("cone: dual coefficients to coordinates and back give the same classifier") {
  for (const auto& [m, r] : {std::pair<std::ptrdiff_t, std::ptrdiff_t>{12, 12}, {25, 4}, {5, 1}}) {
    const Problem problem(m, r);
    const bpm::Cone cone = problem.cone();
    Eigen::VectorXd alpha(m);
    for (Eigen::Index i = 0; i < m; ++i) alpha[i] = std::sin(static_cast<double>(i) + 1);
    const std::vector<double> given(alpha.data(), alpha.data() + m);
    const std::vector<double> x = cone.coordinates(given);
    REQUIRE(std::ssize(x) == cone.stride());
    // Its outputs are those of K alpha, its norm that of alpha' K alpha.
    const Eigen::VectorXd outputs = problem.kernel * alpha;
    std::vector<double> d(static_cast<std::size_t>(m));
    cone.outputs(x.data(), d.data());
    double squared = 0;
    for (const double value : x) squared += value * value;
    CHECK(std::abs(squared - alpha.dot(outputs)) <= 1e-10 * (1 + squared));
    std::vector<double> back(static_cast<std::size_t>(m), 0.0);
    cone.add_dual_coefficients(x.data(), 0.5, back.data());
    cone.add_dual_coefficients(x.data(), 0.5, back.data());
    const Eigen::VectorXd again =
        problem.kernel * Eigen::Map<const Eigen::VectorXd>(back.data(), m);
    for (Eigen::Index i = 0; i < m; ++i) {
      CHECK(std::abs(d[static_cast<std::size_t>(i)] * cone.label(i) - outputs[i]) <= 1e-9);
      CHECK(std::abs(again[i] - outputs[i]) <= 1e-8);
    }
    std::ptrdiff_t carried = 0;
    for (const double value : back) carried += value != 0 ? 1 : 0;
    CHECK(carried <= cone.rank());  // They stand on the pivots.
  }
}

TEST_CASE("cone: a point of small norm counts as much as one of large") {
  for (const double small : {1e-3, 1e-13, 1e-200}) {
    Kernel kernel = Kernel::Identity(3, 3);
    kernel(2, 2) = small;
    const Gram gram(kernel);
    const bpm::Cone cone = bpm::Cone(Space(gram, {1, 1, 1}));
    CHECK(cone.rank() == 3);
    CHECK(std::abs(cone.row_norm(2) / std::sqrt(small) - 1) < 1e-12);
  }
}

TEST_CASE("cone: the tolerance of the factor decides the rank; float values bear a coarser one") {
  // Points 1 and 2 are the same but for 1e-8, whatever their lengths.
  Kernel kernel = Kernel::Identity(3, 3);
  kernel(1, 2) = kernel(2, 1) = std::sqrt(1 - 1e-8);
  kernel.row(2) *= 1e-3;
  kernel.col(2) *= 1e-3;
  const Gram gram(kernel);
  const Space space(gram, {1, 1, 1});
  CHECK(bpm::Cone(space).rank() == 3);
  CHECK(bpm::Cone(space, 1e-6).rank() == 2);
  CHECK(std::abs(bpm::Cone(space, 1e-6).residual() - 1e-8) < 1e-14);
  const bpm::RowMatrix<float> single = kernel.cast<float>();
  const bpm::PrecomputedGram<float> single_gram(single);
  CHECK(bpm::Cone(bpm::KernelVersionSpace(single_gram, {1, 1, 1})).rank() == 2);
}

TEST_CASE("cone: what it refuses") {
  bpm::detail::KernelFactor factor;
  factor.factor = Eigen::MatrixXd::Identity(3, 3);
  factor.pivots = {0, 1, 2};
  CHECK_THROWS_WITH(bpm::Cone(factor, Labels{1, 1}),
                    "Cone: labels has 2 entries, expected 3 (one per training point)");
  factor.factor.resize(3, 0);
  factor.pivots.clear();
  CHECK_THROWS_WITH(bpm::Cone(factor, Labels{1, 1, 1}),
                    "Cone: factor has rank 0: every kernel value is zero");
  Problem zero(4, 2);
  zero.kernel.row(1).setZero();
  zero.kernel.col(1).setZero();
  CHECK(zero.cone().row_norm(1) == 0);
  zero.lambda = {0, 0.25, 0, 0};
  CHECK(zero.cone().rank() == 3);
  // Ones on the diagonal and 2 beside it: no kernel.
  Problem indefinite(4, 2);
  indefinite.kernel.setIdentity();
  indefinite.kernel(0, 1) = indefinite.kernel(1, 0) = 2;
  CHECK_THROWS_WITH(indefinite.cone(),
                    "Cone: space has kernel values that are not positive semi-definite: a "
                    "factor leaves 3 of a point's k(x, x) + lambda; no kernel gives such values");
  const bpm::Cone cone = Problem(4, 2).cone();
  CHECK_THROWS_AS(cone.coordinates(std::vector<double>(3)), std::invalid_argument);
  CHECK_THROWS_WITH(cone.coordinates(std::vector<double>(3)),
                    "Cone::coordinates: alpha has 3 entries, expected 4 (one per training point)");
  static_assert(!std::is_copy_constructible_v<bpm::Cone>);
  static_assert(std::is_move_constructible_v<bpm::Cone>);
}
