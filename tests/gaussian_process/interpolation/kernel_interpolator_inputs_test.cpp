// SPDX-License-Identifier: MIT
// Strings, a callable of the user's own, floats, kernel values that the user brings.
#include <Eigen/Core>
#include <string>
#include <vector>

#include "bpm/gaussian_process/interpolation/kernel_interpolator.hpp"
#include "catch.hpp"
#include "interpolation_problems.hpp"

using namespace interpolation_tests;

TEST_CASE("strings, a callable of the user's own, and floats") {
  const auto common = [](const std::string& a, const std::string& b) {
    double sum = 0.5 * (a == b ? 1 : 0);
    for (std::size_t k = 0; k < std::min(a.size(), b.size()) && a[k] == b[k]; ++k) sum += 1;
    return sum;
  };
  const std::vector<std::string> words{"tea", "ten", "to", "inn", "in", "i"};
  const ClassLabels sides{1, 1, 1, 0, 0, 0};
  const auto by_words = bpm::KernelInterpolator(common).train(words, sides);
  CHECK(largest(by_words.classifier().decision_values(words) - by_words.values()) < 1e-12);
  CHECK(by_words.classifier().predict(std::vector<std::string>{"team", "inner"}) ==
        ClassLabels{1, 0});

  const Inputs x = random_inputs(30, 2, 6);
  const Inputs z = random_inputs(7, 2, 7);
  const ClassLabels labels = random_labels(x, 2, 6);
  using Floats = bpm::RowMatrix<float>;
  const auto by_floats = bpm::KernelInterpolator(unit_gaussian, {.noise_variance = 0.01})
                             .train(Floats(x.cast<float>()), labels);
  const auto by_doubles =
      bpm::KernelInterpolator(unit_gaussian, {.noise_variance = 0.01}).train(x, labels);
  CHECK(largest(by_floats.classifier().decision_values(Floats(z.cast<float>())) -
                by_doubles.classifier().decision_values(z)) < 1e-4);
}

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
