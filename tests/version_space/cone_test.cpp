// SPDX-License-Identifier: MIT
#include "bpm/version_space/cone.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/kernel_values/precomputed_gram.hpp"
#include "bpm/version_space/kernel_version_space.hpp"
#include "catch.hpp"
#include "random_inputs.hpp"

namespace {

using Gram = bpm::PrecomputedGram<double>;
using Space = bpm::KernelVersionSpace<Gram>;
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

}  // namespace

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
