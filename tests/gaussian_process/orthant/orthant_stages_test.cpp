// SPDX-License-Identifier: MIT
// The tridiagonal form against dense factors.
#include "bpm/gaussian_process/orthant/orthant_stages.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <cmath>
#include <cstddef>
#include <vector>

#include "bpm/kernels/kernel.hpp"
#include "catch.hpp"
#include "orthant_problems.hpp"

using namespace orthant_tests;

TEST_CASE("covariance path: planes, determinants and quadratic forms at every s") {
  const std::ptrdiff_t n = GENERATE(1, 2, 3, 9, 60);
  const double s = GENERATE(1.0, 0.4, 1e-3, 0.0);
  const std::ptrdiff_t given =
      GENERATE_COPY(0, n / 3, n - 1);  // Points that the path leaves alone.
  CAPTURE(n, s, given);
  Eigen::MatrixXd correlation = random_covariance(n, n, 0.2, 1);
  const Eigen::VectorXd scale = correlation.diagonal().cwiseSqrt().cwiseInverse();
  correlation = (scale.asDiagonal() * correlation * scale.asDiagonal()).eval();
  const bpm::detail::CovariancePath path(correlation, given);
  Eigen::MatrixXd base = Eigen::MatrixXd::Identity(n, n);
  base.topLeftCorner(given, given) = correlation.topLeftCorner(given, given);
  const Eigen::MatrixXd dense = (1 - s) * correlation + s * base;
  const Eigen::LLT<Eigen::MatrixXd> cholesky(dense);
  const bpm::detail::TridiagonalFactor factor = path.factor(s);
  const Eigen::MatrixXd l = cholesky.matrixL();
  const double of_base = std::log(base.determinant());
  CHECK(factor.log_determinant + of_base ==
        Approx(2 * l.diagonal().array().log().sum()).margin(1e-10));
  CHECK(path.given() == given);

  bpm::detail::OrthantPlanes planes(n);
  path.set_planes(s, factor, planes);
  const auto rows = Eigen::Map<const bpm::RowMatrix<double>, 0, Eigen::OuterStride<>>(
      planes.rows.data(), n, n, Eigen::OuterStride<>(planes.stride));
  const auto f = Eigen::Map<const bpm::RowMatrix<double>, 0, Eigen::OuterStride<>>(
      planes.factor.data(), n, n, Eigen::OuterStride<>(planes.stride));
  CHECK((Eigen::MatrixXd(rows) - dense).cwiseAbs().maxCoeff() < 1e-12);
  CHECK((Eigen::MatrixXd(f * f.transpose()) - dense).cwiseAbs().maxCoeff() < 1e-12);

  const std::ptrdiff_t count = 5;
  Eigen::MatrixXd d = Eigen::MatrixXd::Zero(path.stride(), count);
  d.topRows(n) = random_covariance(n + count, 3, 0.5, 2).block(0, n, n, count);
  const Eigen::ArrayXd logs = path.log_quadratic_forms(factor, path.coordinates(d.data(), count));
  for (Eigen::Index j = 0; j < count; ++j) {
    const Eigen::VectorXd x = d.col(j).head(n);
    CHECK(logs[j] == Approx(std::log(x.dot(cholesky.solve(x)))).margin(1e-10));
  }
  const Eigen::VectorXd values =
      Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd>(correlation, base).eigenvalues();
  for (const double x : {-1.0, 0.1, 0.7, 1.5, 1e3}) {
    CHECK(path.eigenvalues_below(x) == (values.array() < x).count());
  }
}
