// SPDX-License-Identifier: MIT
// What is refused, and with which message.
#include "bpm/gaussian_process/interpolation/kernel_interpolator.hpp"

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "interpolation_problems.hpp"

using namespace interpolation_tests;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("sizes, labels and numbers of a fit are checked") {
  const Inputs x = random_inputs(4, 2, 1);
  CHECK_THROWS_WITH(
      unit_interpolator.train(Inputs(0, 2), ClassLabels{}),
      "KernelInterpolator::train: inputs is empty, expected one input or more of each "
      "class");
  CHECK_THROWS_WITH(unit_interpolator.train(x, ClassLabels{1, 2}),
                    "KernelInterpolator::train: labels has 2 entries, expected 4 (one per input)");
  CHECK_THROWS_WITH(unit_interpolator.train(Inputs(x.topRows(1)), ClassLabels{5}),
                    "KernelInterpolator::train: labels are all 5, expected two classes or more");
  Inputs bad = x;
  bad(2, 1) = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(unit_interpolator.train(bad, ClassLabels{1, 1, 2, 2}),
                    "KernelInterpolator::train: inputs row 2, column 1 is inf, must be finite");
  CHECK_THROWS_WITH(
      bpm::KernelInterpolator(unit_gaussian, {.noise_variance = -1})
          .train(x, ClassLabels{1, 1, 2, 2}),
      "KernelInterpolator::train: noise_variance is -1, must be finite and not negative");
}

TEST_CASE("equal inputs with different labels are named") {
  Inputs x = random_inputs(6, 2, 2);
  x.row(4) = x.row(1);
  const ClassLabels different{0, 0, 0, 1, 1, 1};
  CHECK_THROWS_AS(unit_interpolator.train(x, different), bpm::NotSeparable);
  CHECK_THROWS_WITH(unit_interpolator.train(x, different),
                    "KernelInterpolator::train: points 1 and 4 are equal inputs with different "
                    "labels, so no function has both; set noise_variance > 0, or drop one of them");
  // Noise allows it, and the function passes between them.
  const auto noisy =
      bpm::KernelInterpolator(unit_gaussian, {.noise_variance = 0.1}).train(x, different);
  CHECK(noisy.jitter() == 0);
  CHECK(noisy.training_outputs()(1, 0) == Approx(noisy.training_outputs()(4, 0)).epsilon(1e-9));
  // With the same label K is singular: jitter, and nothing lost.
  const auto same = unit_interpolator.train(x, ClassLabels{0, 1, 0, 1, 1, 0});
  CHECK(same.jitter() == Approx(1e-12));
  CHECK(same.residual() < 1e-10);
  CHECK(same.residual() > 0);
  CHECK(largest(same.classifier().decision_values(x) - same.values()) < 1e-3);
}

TEST_CASE("values that are given are checked") {
  Inputs x = random_inputs(4, 2, 3);
  const ClassLabels labels{1, 2, 2, 1};
  const Eigen::VectorXd y = Eigen::Vector4d(-1, 0.5, 2, -3);
  CHECK(unit_interpolator.train(x, labels, y).residual() == 0);
  CHECK_THROWS_WITH(unit_interpolator.train(x, labels, Eigen::VectorXd::Ones(3)),
                    "KernelInterpolator::train: values has 3 entries, expected 4 (rows: one "
                    "per input)");
  CHECK_THROWS_WITH(unit_interpolator.train(x, labels, Eigen::MatrixXd::Ones(4, 2)),
                    "KernelInterpolator::train: values has 2 entries, expected 1 (columns: "
                    "one for two classes, else one per class)");
  CHECK_THROWS_WITH(unit_interpolator.train(x, labels, -y),
                    "KernelInterpolator::train: values at 0, 0 is 1, must be finite and "
                    "negative as its label says");
  Eigen::VectorXd zero = y;
  zero[1] = 0;
  CHECK_THROWS_WITH(unit_interpolator.train(x, labels, zero),
                    "KernelInterpolator::train: values at 1, 0 is 0, must be finite and "
                    "positive as its label says");
  zero[1] = std::nan("");
  CHECK_THROWS_WITH(unit_interpolator.train(x, labels, zero),
                    ContainsSubstring("must be finite and positive as its label says"));
  x.row(2) = x.row(1);
  CHECK_THROWS_WITH(unit_interpolator.train(x, labels, y),
                    "KernelInterpolator::train: values at 1 and 2 differ by 1.5, must be the "
                    "same: the inputs are equal; or set noise_variance > 0");
}

TEST_CASE("an input of norm zero is named by a kernel that divides by the norm") {
  Inputs x = random_inputs(5, 3, 4);
  x.row(3).setZero();
  const bpm::KernelInterpolator arc(bpm::ArcCosine(3));
  const ClassLabels labels{0, 1, 0, 1, 0};
  CHECK_THROWS_AS(arc.train(x, labels), bpm::KernelValueError);
  CHECK_THROWS_WITH(arc.train(x, labels),
                    ContainsSubstring("KernelInterpolator::train: kernel: k(x_3, x_3) is"));
  const auto fitted = arc.train(Inputs(random_inputs(5, 3, 4)), labels);
  CHECK_THROWS_AS(fitted.classifier().predict(x), bpm::KernelValueError);
  CHECK_THROWS_WITH(fitted.classifier().predict(x),
                    ContainsSubstring("Classifier::decision_values: of an input and "
                                      "itself or a support point, by number: kernel: k(x_3, "));
}

TEST_CASE("the memory budget is kept and told") {
  const Inputs x = random_inputs(50, 2, 5);
  const ClassLabels labels = random_labels(x, 2, 5);
  const std::size_t needed = bpm::KernelInterpolator<bpm::Gaussian>::bytes_needed(50, 2);
  CHECK(needed >= 16 * 50 * 50);
  CHECK_THROWS_AS(bpm::KernelInterpolator(unit_gaussian, {.memory = needed - 1}).train(x, labels),
                  bpm::BudgetTooSmall);
  CHECK_THROWS_WITH(
      bpm::KernelInterpolator(unit_gaussian, {.memory = 1000}).train(x, labels),
      "KernelInterpolator::train: memory is 1000 bytes, 50 points and 2 classes need " +
          std::to_string(needed) + "; raise memory or use fewer points");
  CHECK(
      bpm::KernelInterpolator(unit_gaussian, {.memory = needed}).train(x, labels).values().rows() ==
      50);
}

TEST_CASE("a matrix with no factor is refused at the top of the ladder") {
  // A "kernel" that is not positive definite.
  const auto distance = [](const std::string& a, const std::string& b) {
    return a == b ? 0.1 : 1.0;
  };
  const std::vector<std::string> words{"a", "b", "c"};
  CHECK_THROWS_AS(bpm::KernelInterpolator(distance).train(words, ClassLabels{0, 1, 1}),
                  bpm::NotPositiveDefinite);
  CHECK_THROWS_WITH(bpm::KernelInterpolator(distance).train(words, ClassLabels{0, 1, 1}),
                    ContainsSubstring("with a jitter of 1e-07 on its diagonal, 1e-06 of the mean"));
}

TEST_CASE("a kernel that does not tell the inputs apart is refused") {
  bpm::RowMatrix<double> inputs(4, 1);
  inputs << 0, 1, 2, 3;
  const std::vector<int> labels{0, 1, 0, 1};
  CHECK_THROWS_WITH(
      bpm::KernelInterpolator(bpm::Gaussian::from_sigma(1e6)).train(inputs, labels),
      Catch::Matchers::ContainsSubstring(
          "no function passes through these values: with a jitter") &&
          Catch::Matchers::ContainsSubstring(
              "; take a kernel that tells the inputs apart, or set noise_variance > 0"));
  CHECK_THROWS_AS(bpm::KernelInterpolator(bpm::Gaussian::from_sigma(1e6)).train(inputs, labels),
                  bpm::NotSeparable);
  const auto fitted = bpm::KernelInterpolator(bpm::Gaussian::from_sigma(1.0)).train(inputs, labels);
  CHECK(fitted.classifier().predict(inputs) == labels);
}

TEST_CASE("inputs to predict are checked") {
  const Inputs x = random_inputs(6, 2, 8);
  const auto fitted = unit_interpolator.train(x, ClassLabels{0, 1, 0, 1, 0, 1});
  CHECK_THROWS_WITH(fitted.classifier().decision_values(random_inputs(3, 4, 1)),
                    "Classifier::decision_values: inputs has 4 entries, expected 2 "
                    "(columns: one per feature of the training set)");
  Inputs bad = x;
  bad(1, 1) = std::nan("");
  CHECK_THROWS_WITH(fitted.variances(bad),
                    ContainsSubstring("InterpolatorTraining::variances: inputs row 1, column 1 "
                                      "is") &&
                        ContainsSubstring("must be finite"));
  CHECK_THROWS_WITH(fitted.classifier().labels_of(Eigen::MatrixXd::Zero(2, 3)),
                    "Classifier::labels_of: decision_values has 3 entries, expected "
                    "1 (columns: one for two classes, else one per class)");
  CHECK_THROWS_WITH(fitted.signs(1), "InterpolatorTraining::signs: column is 1, must be one of 1");
  CHECK(fitted.classifier().predict(Inputs(0, 2)).empty());
}
