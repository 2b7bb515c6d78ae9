// SPDX-License-Identifier: MIT

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <vector>

#include "bpm/gaussian_process/interpolation/kernel_interpolator.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "interpolation_problems.hpp"

using namespace interpolation_tests;

namespace {

Eigen::VectorXd signs_of(const ClassLabels& labels, int positive) {
  Eigen::VectorXd y(static_cast<Eigen::Index>(labels.size()));
  for (Eigen::Index i = 0; i < y.size(); ++i) {
    y[i] = labels[static_cast<std::size_t>(i)] == positive ? 1 : -1;
  }
  return y;
}

}  // namespace

TEST_CASE("an interpolator against a dense solver, and exact at its points") {
  const Inputs x = random_inputs(40, 4, 1);
  const Inputs z = random_inputs(250, 4, 2);  // Blocks of 96.
  const ClassLabels labels = random_labels(x, 2, 1);
  const auto fitted = unit_interpolator.train(x, labels);
  const Eigen::MatrixXd k = gaussian_matrix(x, x);
  const Eigen::MatrixXd inverse = textbook_inverse(k);
  const Eigen::VectorXd y = signs_of(labels, 4);
  const Eigen::MatrixXd kz = gaussian_matrix(z, x);
  const Eigen::VectorXd expected = kz * (inverse * y);

  CHECK(fitted.jitter() == 0);
  CHECK(fitted.residual() == 0);
  CHECK(fitted.classifier().classes() == ClassLabels{3, 4});
  CHECK(fitted.classifier().columns() == 1);
  CHECK(largest(fitted.values() - y) == 0);
  CHECK(largest(fitted.classifier().decision_values(x) - y) < 1e-9);
  CHECK(fitted.classifier().predict(x) == labels);
  const Eigen::MatrixXd values = fitted.classifier().decision_values(z);
  CHECK(largest(values - expected) < 1e-8);
  CHECK(largest(fitted.coefficients() - inverse * y) < 1e-8 * largest(inverse * y));
  CHECK(fitted.norms_squared()[0] == Approx(y.dot(inverse * y)).epsilon(1e-8));
  CHECK(largest(fitted.training_outputs() - y) == 0);
  const Eigen::VectorXd variances = fitted.variances(z);
  for (Eigen::Index i = 0; i < z.rows(); ++i) {
    CHECK(variances[i] == Approx(1 - kz.row(i).dot(inverse * kz.row(i).transpose())).margin(1e-9));
  }
  CHECK(largest(fitted.variances(x)) < 1e-9);
  CHECK(fitted.variances(x).minCoeff() >= 0);
  const std::vector<signed char> signs = fitted.signs(0);
  for (std::size_t i = 0; i < signs.size(); ++i) CHECK(signs[i] == (labels[i] == 4 ? 1 : -1));
  const std::vector<int> predicted = fitted.classifier().predict(z);
  for (Eigen::Index i = 0; i < z.rows(); ++i) {
    CHECK(predicted[static_cast<std::size_t>(i)] == (values(i, 0) > 0 ? 4 : 3));
  }
}

TEST_CASE("an input's value is the same bits in a batch of any size and on any threads") {
  const Inputs x = random_inputs(60, 3, 3);
  const Inputs z = random_inputs(130, 3, 4);
  const ClassLabels labels = random_labels(x, 3, 3);
  const Eigen::MatrixXd all = unit_interpolator.train(x, labels).classifier().decision_values(z);
  const auto one =
      bpm::KernelInterpolator(unit_interpolator.kernel(), {.threads = 1}).train(x, labels);
  const auto two =
      bpm::KernelInterpolator(unit_interpolator.kernel(), {.threads = 2}).train(x, labels);
  CHECK(one.classifier().decision_values(z) == all);
  CHECK(two.classifier().decision_values(z) == all);
  for (const Eigen::Index i : {0, 7, 95, 96, 129}) {
    CHECK(one.classifier().decision_values(Inputs(z.row(i))) == all.row(i));
  }
}

TEST_CASE("leave one out against refits without the point") {
  for (const double noise : {0.0, 0.3}) {
    const Inputs x = random_inputs(25, 3, 5);
    const bpm::KernelInterpolator noisy(unit_interpolator.kernel(), {.noise_variance = noise});
    for (const int classes : {2, 3}) {
      const ClassLabels labels = random_labels(x, classes, 6);
      const auto fitted = noisy.train(x, labels);
      const Eigen::MatrixXd outputs = fitted.leave_one_out_outputs();
      int errors = 0;
      for (Eigen::Index i = 0; i < x.rows(); ++i) {
        Inputs rest(x.rows() - 1, x.cols());
        rest << x.topRows(i), x.bottomRows(x.rows() - 1 - i);
        ClassLabels rest_labels = labels;
        rest_labels.erase(rest_labels.begin() + i);
        const auto refit = noisy.train(rest, rest_labels);
        REQUIRE(refit.classifier().classes() == fitted.classifier().classes());
        const Inputs left_out = x.row(i);
        CAPTURE(noise, classes, i);
        CHECK(largest(refit.classifier().decision_values(left_out) - outputs.row(i)) < 1e-7);
        errors +=
            refit.classifier().predict(left_out)[0] != labels[static_cast<std::size_t>(i)] ? 1 : 0;
      }
      CHECK(errors > 0);
      CHECK(fitted.leave_one_out_error() == Approx(errors / 25.0));
    }
  }
}

TEST_CASE("many classes equal separate fits, and do not depend on how they are called") {
  const Inputs x = random_inputs(50, 4, 7);
  const Inputs z = random_inputs(20, 4, 8);
  const ClassLabels labels = random_labels(x, 4, 7);
  const auto fitted = unit_interpolator.train(x, labels);
  CHECK(fitted.classifier().classes() == ClassLabels{3, 4, 5, 6});
  CHECK(fitted.classifier().columns() == 4);
  const Eigen::MatrixXd values = fitted.classifier().decision_values(z);
  for (int c = 0; c < 4; ++c) {
    ClassLabels against(labels.size());
    std::transform(labels.begin(), labels.end(), against.begin(),
                   [&](int label) { return label == 3 + c ? 1 : 0; });
    const auto one = unit_interpolator.train(x, against);
    CHECK(largest(one.classifier().decision_values(z) - values.col(c)) < 1e-9);
    CHECK(one.signs(0) == fitted.signs(c));
    CHECK(one.norms_squared()[0] == Approx(fitted.norms_squared()[c]).epsilon(1e-9));
  }
  const std::vector<int> predicted = fitted.classifier().predict(z);
  for (Eigen::Index i = 0; i < z.rows(); ++i) {
    Eigen::Index best = 0;
    values.row(i).maxCoeff(&best);
    CHECK(predicted[static_cast<std::size_t>(i)] == 3 + best);
  }
  CHECK(fitted.classifier().predict(x) == labels);
  CHECK(largest(fitted.training_outputs() - fitted.values()) == 0);

  // Other names, in another order: the same columns, permuted.
  const ClassLabels names{30, -5, 8, 2};  // Of 3, 4, 5, 6; ascending -5, 2, 8, 30.
  const ClassLabels order{1, 3, 2, 0};
  ClassLabels renamed(labels.size());
  std::transform(labels.begin(), labels.end(), renamed.begin(),
                 [&](int label) { return names[static_cast<std::size_t>(label - 3)]; });
  const Eigen::MatrixXd permuted =
      unit_interpolator.train(x, renamed).classifier().decision_values(z);
  for (Eigen::Index c = 0; c < 4; ++c) {
    CHECK(largest(permuted.col(c) - values.col(order[static_cast<std::size_t>(c)])) < 1e-9);
  }
  // Two classes exchanged: the sign.
  const ClassLabels two = random_labels(x, 2, 7);
  ClassLabels exchanged(two.size());
  std::transform(two.begin(), two.end(), exchanged.begin(), [](int label) { return -label; });
  CHECK(unit_interpolator.train(x, exchanged).classifier().decision_values(z) ==
        -unit_interpolator.train(x, two).classifier().decision_values(z));
}

TEST_CASE("points in another order give the same function") {
  const Inputs x = random_inputs(30, 3, 9);
  const ClassLabels labels = random_labels(x, 3, 9);
  Inputs turned = x.colwise().reverse();
  ClassLabels turned_labels(labels.rbegin(), labels.rend());
  const Inputs z = random_inputs(10, 3, 10);
  CHECK(largest(unit_interpolator.train(x, labels).classifier().decision_values(z) -
                unit_interpolator.train(turned, turned_labels).classifier().decision_values(z)) <
        1e-8);
}

TEST_CASE("orthogonal inputs, K = I: everything by hand") {
  const Inputs x = Inputs::Identity(4, 4);
  const ClassLabels labels{0, 1, 1, 0};
  const auto fitted = bpm::KernelInterpolator(bpm::Linear{}).train(x, labels);
  const Eigen::VectorXd y = Eigen::Vector4d(-1, 1, 1, -1);
  CHECK(largest(fitted.coefficients() - y) < 1e-15);
  CHECK(fitted.log_determinant() == 0);
  CHECK(fitted.norms_squared()[0] == Approx(4));
  // The others say nothing of a point: 0, which counts as the negative class.
  CHECK(largest(fitted.leave_one_out_outputs()) < 1e-15);
  CHECK(fitted.leave_one_out_error() == 0.5);
  Inputs z(1, 4);
  z << 0.5, 0.25, 0, 0;
  CHECK(fitted.classifier().decision_values(z)(0, 0) == Approx(-0.25));
  CHECK(fitted.variances(z)[0] == Approx(0).margin(1e-15));
  const Inputs small = Inputs::Identity(2, 2);
  CHECK(bpm::KernelInterpolator(bpm::Linear{}).train(small, ClassLabels{0, 1}).log_determinant() ==
        0);
}

TEST_CASE("noise on the labels is a ridge") {
  const Inputs x = random_inputs(30, 3, 11);
  const ClassLabels labels = random_labels(x, 2, 11);
  const bpm::KernelInterpolator ridge(unit_interpolator.kernel(), {.noise_variance = 0.5});
  const auto fitted = ridge.train(x, labels);
  Eigen::MatrixXd s = gaussian_matrix(x, x);
  const Eigen::MatrixXd k = s;
  s.diagonal().array() += 0.5;
  const Eigen::VectorXd y = signs_of(labels, 4);
  const Eigen::VectorXd alpha = textbook_inverse(s) * y;
  CHECK(largest(fitted.classifier().decision_values(x) - k * alpha) < 1e-10);
  CHECK(largest(fitted.training_outputs() - k * alpha) < 1e-10);
  CHECK(fitted.residual() == Approx(0.5 * largest(alpha)).epsilon(1e-9));
  CHECK(fitted.jitter() == 0);
}

TEST_CASE("values of the caller's own") {
  const Inputs x = random_inputs(20, 3, 12);
  const Inputs z = random_inputs(5, 3, 13);
  const ClassLabels labels = random_labels(x, 3, 12);
  const auto fitted = unit_interpolator.train(x, labels);
  // Twice the labels: twice the function.
  const auto twice = unit_interpolator.train(x, labels, 2 * fitted.values());
  CHECK(largest(twice.classifier().decision_values(z) -
                2 * fitted.classifier().decision_values(z)) < 1e-9);
  Eigen::MatrixXd values = fitted.values();
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    values.data()[i] *= 0.1 + 0.05 * static_cast<double>(i);
  }
  const auto other = unit_interpolator.train(x, labels, values);
  CHECK(largest(other.classifier().decision_values(x) - values) < 1e-9);
  CHECK(largest(other.classifier().decision_values(z) -
                gaussian_matrix(z, x) * (textbook_inverse(gaussian_matrix(x, x)) * values)) < 1e-8);
}
