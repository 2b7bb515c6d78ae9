// SPDX-License-Identifier: MIT
// What is refused, and with which message.
#include "bpm/gaussian_process/interpolation/kernel_interpolator.hpp"

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/kernels/arc_cosine.hpp"
#include "bpm/kernels/gaussian.hpp"
#include "catch.hpp"
#include "interpolation_problems.hpp"

using namespace interpolation_tests;
using Catch::Matchers::ContainsSubstring;
using Labels = std::vector<int>;

namespace {

const auto gaussian = bpm::Gaussian::from_sigma(1.0);
const bpm::KernelInterpolator machine(gaussian);

}  // namespace

TEST_CASE("sizes, labels and numbers of a fit are checked") {
  const Inputs x = random_inputs(4, 2, 1);
  CHECK_THROWS_WITH(machine.fit(Inputs(0, 2), Labels{}),
                    "KernelInterpolator::fit: inputs is empty, expected one input or more of each "
                    "class");
  CHECK_THROWS_WITH(machine.fit(x, Labels{1, 2}),
                    "KernelInterpolator::fit: labels has 2 entries, expected 4 (one per input)");
  CHECK_THROWS_WITH(machine.fit(Inputs(x.topRows(1)), Labels{5}),
                    "KernelInterpolator::fit: labels are all 5, expected two classes or more");
  Inputs bad = x;
  bad(2, 1) = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(machine.fit(bad, Labels{1, 1, 2, 2}),
                    "KernelInterpolator::fit: inputs row 2, column 1 is inf, must be finite");
  CHECK_THROWS_WITH(
      bpm::KernelInterpolator(gaussian, {.noise_variance = -1}).fit(x, Labels{1, 1, 2, 2}),
      "KernelInterpolator::fit: noise_variance is -1, must be finite and not negative");
}

TEST_CASE("equal inputs with different labels are named") {
  Inputs x = random_inputs(6, 2, 2);
  x.row(4) = x.row(1);
  const Labels different{0, 0, 0, 1, 1, 1};
  CHECK_THROWS_AS(machine.fit(x, different), bpm::NotSeparable);
  CHECK_THROWS_WITH(machine.fit(x, different),
                    "KernelInterpolator::fit: points 1 and 4 are equal inputs with different "
                    "labels, so no function has both; set noise_variance > 0, or drop one of them");
  // Noise allows it, and the function passes between them.
  const auto noisy = bpm::KernelInterpolator(gaussian, {.noise_variance = 0.1}).fit(x, different);
  CHECK(noisy.jitter() == 0);
  CHECK(noisy.training_outputs()(1, 0) == Approx(noisy.training_outputs()(4, 0)).epsilon(1e-9));
  // With the same label K is singular: jitter, and nothing lost.
  const auto same = machine.fit(x, Labels{0, 1, 0, 1, 1, 0});
  CHECK(same.jitter() == Approx(1e-12));
  CHECK(same.residual() < 1e-10);
  CHECK(same.residual() > 0);
  CHECK(largest(same.decision_values(x) - same.values()) < 1e-3);
}

TEST_CASE("values that are given are checked") {
  Inputs x = random_inputs(4, 2, 3);
  const Labels labels{1, 2, 2, 1};
  const Eigen::VectorXd y = Eigen::Vector4d(-1, 0.5, 2, -3);
  CHECK(machine.fit_values(x, labels, y).residual() == 0);
  CHECK_THROWS_WITH(machine.fit_values(x, labels, Eigen::VectorXd::Ones(3)),
                    "KernelInterpolator::fit_values: values has 3 entries, expected 4 (rows: one "
                    "per input)");
  CHECK_THROWS_WITH(machine.fit_values(x, labels, Eigen::MatrixXd::Ones(4, 2)),
                    "KernelInterpolator::fit_values: values has 2 entries, expected 1 (columns: "
                    "one for two classes, else one per class)");
  CHECK_THROWS_WITH(machine.fit_values(x, labels, -y),
                    "KernelInterpolator::fit_values: values at 0, 0 is 1, must be finite and "
                    "negative as its label says");
  Eigen::VectorXd zero = y;
  zero[1] = 0;
  CHECK_THROWS_WITH(machine.fit_values(x, labels, zero),
                    "KernelInterpolator::fit_values: values at 1, 0 is 0, must be finite and "
                    "positive as its label says");
  zero[1] = std::nan("");
  CHECK_THROWS_WITH(machine.fit_values(x, labels, zero),
                    ContainsSubstring("must be finite and positive as its label says"));
  x.row(2) = x.row(1);
  CHECK_THROWS_WITH(machine.fit_values(x, labels, y),
                    "KernelInterpolator::fit_values: values at 1 and 2 differ by 1.5, must be the "
                    "same: the inputs are equal; or set noise_variance > 0");
}

TEST_CASE("an input of norm zero is named by a kernel that divides by the norm") {
  Inputs x = random_inputs(5, 3, 4);
  x.row(3).setZero();
  const bpm::KernelInterpolator arc(bpm::ArcCosine(3));
  const Labels labels{0, 1, 0, 1, 0};
  CHECK_THROWS_AS(arc.fit(x, labels), bpm::KernelValueError);
  CHECK_THROWS_WITH(arc.fit(x, labels),
                    ContainsSubstring("KernelInterpolator::fit: kernel: k(x_3, x_3) is"));
  const auto fitted = arc.fit(Inputs(random_inputs(5, 3, 4)), labels);
  CHECK_THROWS_AS(fitted.predict(x), bpm::KernelValueError);
  CHECK_THROWS_WITH(fitted.predict(x),
                    ContainsSubstring("FittedKernelInterpolator::decision_values: of an input and "
                                      "itself or a training point, by number: kernel: k(x_3, "));
}

TEST_CASE("the memory budget is kept and told") {
  const Inputs x = random_inputs(50, 2, 5);
  const Labels labels = random_labels(x, 2, 5);
  const std::size_t needed = bpm::KernelInterpolator<bpm::Gaussian>::bytes_needed(50, 2);
  CHECK(needed >= 16 * 50 * 50);
  CHECK_THROWS_AS(bpm::KernelInterpolator(gaussian, {.memory = needed - 1}).fit(x, labels),
                  bpm::BudgetTooSmall);
  CHECK_THROWS_WITH(bpm::KernelInterpolator(gaussian, {.memory = 1000}).fit(x, labels),
                    "KernelInterpolator::fit: memory is 1000 bytes, 50 points and 2 classes need " +
                        std::to_string(needed) + "; raise memory or use fewer points");
  CHECK(bpm::KernelInterpolator(gaussian, {.memory = needed}).fit(x, labels).points() == 50);
}

TEST_CASE("a matrix with no factor is refused at the top of the ladder") {
  // A "kernel" that is not positive definite.
  const auto distance = [](const std::string& a, const std::string& b) {
    return a == b ? 0.1 : 1.0;
  };
  const std::vector<std::string> words{"a", "b", "c"};
  CHECK_THROWS_AS(bpm::KernelInterpolator(distance).fit(words, Labels{0, 1, 1}),
                  bpm::NotPositiveDefinite);
  CHECK_THROWS_WITH(bpm::KernelInterpolator(distance).fit(words, Labels{0, 1, 1}),
                    ContainsSubstring("with a jitter of 1e-07 on its diagonal, 1e-06 of the mean"));
}

TEST_CASE("a kernel that does not tell the inputs apart is refused") {
  bpm::RowMatrix<double> inputs(4, 1);
  inputs << 0, 1, 2, 3;
  const std::vector<int> labels{0, 1, 0, 1};
  CHECK_THROWS_WITH(
      bpm::KernelInterpolator(bpm::Gaussian::from_sigma(1e6)).fit(inputs, labels),
      Catch::Matchers::ContainsSubstring("no function passes through these values: with a jitter"));
  CHECK_THROWS_AS(bpm::KernelInterpolator(bpm::Gaussian::from_sigma(1e6)).fit(inputs, labels),
                  bpm::NotSeparable);
  const auto fitted = bpm::KernelInterpolator(bpm::Gaussian::from_sigma(1.0)).fit(inputs, labels);
  CHECK(fitted.predict(inputs) == labels);
}

TEST_CASE("inputs to predict are checked") {
  const Inputs x = random_inputs(6, 2, 8);
  const auto fitted = machine.fit(x, Labels{0, 1, 0, 1, 0, 1});
  CHECK_THROWS_WITH(fitted.decision_values(random_inputs(3, 4, 1)),
                    "FittedKernelInterpolator::decision_values: inputs has 4 entries, expected 2 "
                    "(columns: one per feature of the training set)");
  Inputs bad = x;
  bad(1, 1) = std::nan("");
  CHECK_THROWS_WITH(fitted.variances(bad),
                    ContainsSubstring("FittedKernelInterpolator::variances: inputs row 1, column 1 "
                                      "is") &&
                        ContainsSubstring("must be finite"));
  CHECK_THROWS_WITH(fitted.labels_of(Eigen::MatrixXd::Zero(2, 3)),
                    "FittedKernelInterpolator::labels_of: decision_values has 3 entries, expected "
                    "1 (columns: as the machine gives them)");
  CHECK_THROWS_WITH(fitted.signs(1),
                    "FittedKernelInterpolator::signs: column is 1, must be one of 1");
  CHECK(fitted.predict(Inputs(0, 2)).empty());
}
