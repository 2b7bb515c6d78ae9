// SPDX-License-Identifier: MIT
#include "bpm/gaussian_process/interpolation/kernel_complexity.hpp"

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <numbers>

#include "catch.hpp"
#include "interpolation_problems.hpp"

using namespace interpolation_tests;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("a positive definite matrix needs no jitter") {
  const Eigen::Index n = 150;  // Two blocks of the inverse's diagonal.
  const Inputs x = random_inputs(n, 6, 1);
  const Eigen::MatrixXd k = gaussian_matrix(x, x);
  const bpm::JitteredCholesky factor(k);
  CHECK(factor.jitter() == 0);
  CHECK(factor.relative_jitter() == 0);
  CHECK(factor.size() == n);
  CHECK(factor.rcond() > 1e-14);
  const Eigen::MatrixXd inverse = textbook_inverse(k);
  CHECK(largest(factor.solve(Eigen::MatrixXd::Identity(n, n)) - inverse) < 1e-9 * largest(inverse));
  CHECK(largest(factor.inverse_diagonal() - inverse.diagonal()) < 1e-9 * largest(inverse));
  const Eigen::VectorXd y = random_inputs(n, 1, 2).col(0);
  CHECK(largest(factor.solve(k * y) - y) < 1e-9);
}

TEST_CASE("log determinant by hand") {
  Eigen::MatrixXd k(2, 2);
  k << 4, 1, 1, 2;
  CHECK(bpm::JitteredCholesky(k).log_determinant() == Approx(std::log(7.0)).epsilon(1e-14));
  // exp of it would not be a double.
  const Eigen::MatrixXd small = 1e-40 * Eigen::MatrixXd::Identity(20, 20);
  CHECK(bpm::JitteredCholesky(small).log_determinant() ==
        Approx(-800 * std::numbers::ln10).epsilon(1e-14));
}

TEST_CASE("a singular matrix takes the first rung that makes it well conditioned") {
  // Eigenvalues 2 scale and 0; with jitter j of the diagonal's mean, rcond is about j / 2.
  for (const double scale : {1.0, 1e-5, 1e7}) {
    const Eigen::MatrixXd k = scale * Eigen::MatrixXd::Ones(2, 2);
    const bpm::JitteredCholesky factor(k);
    CHECK(factor.relative_jitter() == Approx(1e-12));
    CHECK(factor.jitter() == Approx(1e-12 * scale));
    // What it solves is the matrix with the jitter.
    Eigen::MatrixXd raised = k;
    raised.diagonal().array() += factor.jitter();
    const Eigen::MatrixXd rebuilt = factor.llt().reconstructedMatrix();
    CHECK(largest(rebuilt - raised) < 1e-15 * scale * 4);
    CHECK(bpm::JitteredCholesky(k, {.smallest_rcond = 1e-9}).relative_jitter() == Approx(1e-8));
    CHECK(bpm::JitteredCholesky(k, {.largest_jitter = 5e-7, .smallest_rcond = 1e-7})
              .relative_jitter() == 5e-7);
  }
}

TEST_CASE("a factor that only rounding has kept alive is not believed") {
  // Close points under a wide kernel: eigenvalues fall to 1e-20.
  Eigen::MatrixXd k(12, 12);
  for (Eigen::Index i = 0; i < 12; ++i) {
    for (Eigen::Index j = 0; j < 12; ++j) {
      k(i, j) = std::exp(-0.5 * std::pow(0.05 * static_cast<double>(i - j), 2));
    }
  }
  const bpm::JitteredCholesky factor(k);
  CHECK(factor.jitter() > 0);
  CHECK(factor.rcond() >= 1e-14);
  CHECK_THROWS_AS(bpm::JitteredCholesky(k, {.largest_jitter = 0}), bpm::NotPositiveDefinite);
  Eigen::Matrix2d close;
  close << 1, 1 - 0x1p-50, 1 - 0x1p-50, 1;
  CHECK_THROWS_WITH(bpm::JitteredCholesky(0x1p-100 * close, {.largest_jitter = 0}),
                    ContainsSubstring("has a reciprocal condition number of ") &&
                        ContainsSubstring(", below 1e-14 (smallest pivot "));
}

TEST_CASE("points of very different scale need no jitter") {
  const bpm::JitteredCholesky factor(Eigen::MatrixXd(Eigen::Vector2d(1e20, 1).asDiagonal()));
  CHECK(factor.jitter() == 0);
  CHECK((factor.solve(Eigen::Vector2d(1e20, 3)) - Eigen::Vector2d(1, 3)).norm() < 1e-12);
}

TEST_CASE("the least that a pivot may leave of its diagonal is the root of the least rcond") {
  // Points of correlation 1 - e, the second 1e-8 as long: rcond is below 1e-16 for every e, and the
  // second pivot leaves 1 - (1 - e)^2 = 2 e.
  const auto jitter = [](double e, double smallest_rcond) {
    constexpr double length = 1e-8;
    Eigen::Matrix2d k;
    k << 1, (1 - e) * length, (1 - e) * length, length * length;
    return bpm::JitteredCholesky(k, {.smallest_rcond = smallest_rcond}).jitter();
  };
  CHECK(jitter(0.6e-7, 1e-14) == 0);  // 1.2e-7 against 1e-7.
  CHECK(jitter(0.4e-7, 1e-14) > 0);
  CHECK(jitter(0.6e-5, 1e-10) == 0);
  CHECK(jitter(0.4e-5, 1e-10) > 0);
}

TEST_CASE("an indefinite matrix fails at the top of the ladder and says how far it went") {
  Eigen::MatrixXd k(2, 2);
  k << 2, 3, 3, 2;  // Eigenvalues 5 and -1.
  CHECK_THROWS_AS(bpm::JitteredCholesky(k), bpm::NotPositiveDefinite);
  CHECK_THROWS_WITH(
      bpm::JitteredCholesky(k),
      "JitteredCholesky: matrix (2 x 2) with a jitter of 2e-06 on its diagonal, 1e-06 of the mean "
      "there, has no Cholesky factor: a pivot is not positive; raise largest_jitter, add "
      "noise_variance to the diagonal, or take another kernel");
  // A ladder up to 1 reaches eigenvalues -1 + 2.
  CHECK(bpm::JitteredCholesky(k, {.largest_jitter = 1}).relative_jitter() == 1);
}

TEST_CASE("arguments of the jittered factor are checked") {
  const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(2, 2);
  CHECK_THROWS_WITH(bpm::JitteredCholesky(Eigen::MatrixXd(0, 0)),
                    "JitteredCholesky: matrix is 0 x 0, must be square and not empty");
  CHECK_THROWS_WITH(bpm::JitteredCholesky(Eigen::MatrixXd::Zero(2, 3)),
                    "JitteredCholesky: matrix is 2 x 3, must be square and not empty");
  Eigen::MatrixXd bad = identity;
  bad(1, 0) = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(bpm::JitteredCholesky(bad),
                    "JitteredCholesky: matrix at 1, 0 is inf, must be finite");
  bad(1, 0) = 0.25;
  CHECK_THROWS_WITH(bpm::JitteredCholesky(bad),
                    "JitteredCholesky: matrix at 1, 0 is 0.25 and at 0, 1 0, must be symmetric");
  // Far apart: in another tile.
  Eigen::MatrixXd large = Eigen::MatrixXd::Identity(200, 200);
  large(3, 170) = 0.5;
  CHECK_THROWS_WITH(bpm::JitteredCholesky(large),
                    "JitteredCholesky: matrix at 170, 3 is 0 and at 3, 170 0.5, must be symmetric");
  CHECK_THROWS_WITH(bpm::JitteredCholesky(-identity),
                    "JitteredCholesky: matrix has a diagonal of mean -1, must be positive");
  CHECK_THROWS_WITH(bpm::JitteredCholesky(identity, {.largest_jitter = 2}),
                    "JitteredCholesky: largest_jitter is 2, must lie in [0, 1]");
  CHECK_THROWS_WITH(bpm::JitteredCholesky(identity, {.smallest_rcond = 1}),
                    "JitteredCholesky: smallest_rcond is 1, must be at least 0 and below 1");
  const bpm::JitteredCholesky factor(identity);
  CHECK_THROWS_WITH(
      factor.solve(Eigen::MatrixXd::Zero(3, 1)),
      "JitteredCholesky::solve: columns has 3 entries, expected 2 (rows: one per point)");
}
