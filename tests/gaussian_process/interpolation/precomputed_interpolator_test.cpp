// SPDX-License-Identifier: MIT
// Kernel values that the user brings.
#include <Eigen/Core>
#include <vector>

#include "bpm/gaussian_process/interpolation/kernel_interpolator.hpp"
#include "catch.hpp"
#include "interpolation_problems.hpp"

using namespace interpolation_tests;

TEST_CASE("a matrix of kernel values that the user brings") {
  const Inputs x = random_inputs(30, 2, 6);
  const Inputs z = random_inputs(7, 2, 7);
  const ClassLabels labels = random_labels(x, 2, 6);
  const Eigen::MatrixXd inverse = textbook_inverse(gaussian_matrix(x, x));
  Eigen::VectorXd y(30);
  for (Eigen::Index i = 0; i < 30; ++i) y[i] = labels[static_cast<std::size_t>(i)] == 4 ? 1 : -1;
  const Inputs k = gaussian_matrix(x, x);
  const Inputs kz = gaussian_matrix(z, x);
  const bpm::KernelInterpolator brought{bpm::PrecomputedKernel{}};
  const auto by_matrix = brought.train(k, labels);
  CHECK(largest(by_matrix.classifier().decision_values(kz) - kz * (inverse * y)) < 1e-6);
  const Eigen::VectorXd diagonal = Eigen::VectorXd::Ones(7);
  const bpm::PrecomputedRows<double> rows{kz, diagonal};
  const Eigen::VectorXd variances = by_matrix.variances(rows);
  for (Eigen::Index i = 0; i < 7; ++i) {
    CHECK(variances[i] == Approx(1 - kz.row(i).dot(inverse * kz.row(i).transpose())).margin(1e-7));
  }
  CHECK(largest(by_matrix.classifier().decision_values(rows) -
                by_matrix.classifier().decision_values(kz)) == 0);
  CHECK_THROWS_WITH(by_matrix.variances(kz),
                    "InterpolatorTraining::variances: inputs are kernel values without k(x, "
                    "x), expected PrecomputedRows");
  CHECK_THROWS_WITH(by_matrix.classifier().decision_values(k.leftCols(3).eval()),
                    "Classifier::decision_values: inputs has 3 entries, expected 30 "
                    "(columns: one per training point)");
  const Eigen::VectorXd negative = -diagonal;
  CHECK_THROWS_WITH(by_matrix.variances(bpm::PrecomputedRows<double>{kz, negative}),
                    "InterpolatorTraining::variances: diagonal at 0 is -1, must be positive "
                    "and finite");
  const Eigen::VectorXd one = Eigen::VectorXd::Ones(1);
  CHECK_THROWS_WITH(by_matrix.variances(bpm::PrecomputedRows<double>{kz, one}),
                    "InterpolatorTraining::variances: diagonal has 1 entries, expected 7 (one "
                    "per input)");
  CHECK_THROWS_WITH(brought.train(kz, ClassLabels{0, 1, 0, 1, 0, 1, 0}),
                    "KernelInterpolator::train: inputs has 30 entries, expected 7 (columns: the "
                    "kernel matrix is square)");
}
