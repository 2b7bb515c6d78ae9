// SPDX-License-Identifier: MIT
#include "bpm/machine/fit_settings.hpp"

#include <Eigen/Core>
#include <limits>
#include <string>
#include <vector>

#include "bpm/gaussian_process/expectation_propagation/machine.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/selection/choose.hpp"
#include "catch.hpp"
#include "message_of.hpp"
#include "noisy_points.hpp"

using bpm::BayesPointMachine;
using bpm::OneVsRest;
using bpm::SoftBoundary;
using test_support::message_of;
using test_support::noisy_stripes;

TEST_CASE("a bias is a constant beside the kernel, in units of its mean", "[machine]") {
  const auto [inputs, labels] = noisy_stripes(60, 3, 0.1);
  const bpm::Polynomial kernel(2);
  double mean = 0;
  for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
    mean += kernel(inputs.row(i), inputs.row(i)) / static_cast<double>(inputs.rows());
  }
  bpm::FitSettings settings{.soft_boundary = SoftBoundary::uniform(20), .threads = 2, .bias = 0.5};
  CHECK(bpm::detail::absolute_bias(kernel, settings, inputs, "f") == Approx(0.5 * mean));
  const auto check_equal = [&](const auto& sampler) {
    const auto fitted = OneVsRest(BayesPointMachine(kernel, sampler, settings)).fit(inputs, labels);
    bpm::FitSettings without = settings;
    without.bias = 0;
    const auto composed =
        OneVsRest(BayesPointMachine(bpm::biased(kernel, fitted.parts().bias), sampler, without))
            .fit(inputs, labels);
    CHECK(fitted.parts().bias == Approx(0.5 * mean));
    CHECK(composed.parts().bias == 0);
    CHECK(fitted.coefficients() == composed.coefficients());
    CHECK(fitted.decision_values(inputs) == composed.decision_values(inputs));
  };
  check_equal(bpm::PermutedPerceptron{.draws = 2});
  check_equal(bpm::Billiard{.bounces = 2000});
  check_equal(bpm::ExpectationPropagation{});

  // What is left out is the default; two equal numbers of it make the same classifier.
  settings.bias = {};
  const auto by_default = OneVsRest(BayesPointMachine(kernel, {}, settings)).fit(inputs, labels);
  settings.bias = bpm::default_bias;
  CHECK(by_default.coefficients() ==
        OneVsRest(BayesPointMachine(kernel, {}, settings)).fit(inputs, labels).coefficients());
  CHECK(by_default.parts().bias == Approx(bpm::default_bias * mean));
}

TEST_CASE("a bias tells classes apart that differ in spread alone", "[machine]") {
  // Without a threshold a linear kernel of squares says "far out" of every point.
  bpm::RandomEngine engine(1);
  bpm::NormalDraws normal;
  bpm::RowMatrix<double> inputs(300, 2);
  std::vector<int> labels;
  for (int i = 0; i < 300; ++i) {
    labels.push_back(i % 2);
    for (int j = 0; j < 2; ++j) inputs(i, j) = normal(engine) * (i % 2 == 0 ? 0.3 : 3.0);
  }
  const auto errors = [&](double bias) {
    const auto fitted =
        BayesPointMachine(bpm::Polynomial(2, 1, 0), bpm::PermutedPerceptron{}, {.bias = bias})
            .fit(inputs, labels);
    const std::vector<int> predicted = fitted.predict(inputs);
    int wrong = 0;
    for (int i = 0; i < 300; ++i) wrong += predicted[i] != labels[i] ? 1 : 0;
    return wrong;
  };
  CHECK(errors(0) > 100);
  CHECK(errors(0.3) < 40);
}

TEST_CASE("choosing sees the bias of the machine", "[machine]") {
  const auto [inputs, labels] = noisy_stripes(80, 2, 0.1);
  const bpm::ChoiceGrid<bpm::Gaussian> grid{.kernels = {bpm::Gaussian::from_width(2)}};
  const auto losses = [&](double bias) {
    return bpm::choose(BayesPointMachine(grid.kernels[0], {}, {.bias = bias}), grid, inputs, labels)
        .chosen()
        .loss;
  };
  // As the choice among kernels with that constant, of a machine without a bias: k(x, x) is 1.
  const auto biased = bpm::biased(grid.kernels[0], 2);
  const bpm::ChoiceGrid<bpm::detail::Biased<bpm::Gaussian>> composed{.kernels = {biased}};
  CHECK(losses(2) ==
        bpm::choose(BayesPointMachine(biased, {}, {.bias = 0}), composed, inputs, labels)
            .chosen()
            .loss);
  CHECK(losses(0) != losses(2));
}

TEST_CASE("what is no bias is refused", "[machine]") {
  const bpm::RowMatrix<double> inputs = bpm::RowMatrix<double>::Identity(4, 4);
  const std::vector<int> labels{0, 1, 0, 1};
  const auto message = [&](const auto& kernel, double bias) {
    return message_of([&] {
      (void)BayesPointMachine(kernel, bpm::PermutedPerceptron{}, {.bias = bias})
          .fit(inputs, labels);
    });
  };
  CHECK(message(bpm::Gaussian::from_width(1), -1.0) ==
        "BayesPointMachine::fit: bias is -1, must be finite and not negative");
  CHECK(message(bpm::Gaussian::from_width(1), std::numeric_limits<double>::infinity()) ==
        "BayesPointMachine::fit: bias is inf, must be finite and not negative");
  CHECK(
      message(bpm::PrecomputedKernel{}, 0.5) ==
      "BayesPointMachine::fit: bias is 0.5, must be 0 or left out with a PrecomputedKernel; add it "
      "to the matrix");
  CHECK(message(bpm::PrecomputedKernel{}, 0.0) == "nothing was thrown");
}
