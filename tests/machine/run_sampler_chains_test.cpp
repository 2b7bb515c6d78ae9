// SPDX-License-Identifier: MIT
// What a machine does with samplers of chains: the model it predicts with is the one it reports.
#include <cmath>
#include <cstdint>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "catch.hpp"
#include "data_sets.hpp"
#include "hard.hpp"

namespace {

using namespace machine_tests;

template <class Scalar>
bpm::RowMatrix<Scalar> random_points(std::ptrdiff_t m, double size) {
  bpm::RandomEngine engine(3);
  bpm::RowMatrix<Scalar> inputs(m, 3);
  for (std::ptrdiff_t i = 0; i < inputs.size(); ++i) {
    inputs.data()[i] = static_cast<Scalar>(size * (2 * bpm::uniform_unit(engine) - 1));
  }
  return inputs;
}

/// Fits and holds the report against predictions on the training set, made with fresh kernel
/// values.
template <class Kernel, class Sampler, class Inputs>
void check_report_is_model(const Kernel& kernel, const Sampler& sampler, const Inputs& inputs) {
  std::vector<int> labels;
  for (std::ptrdiff_t i = 0; i < inputs.rows(); ++i) {
    labels.push_back(inputs(i, 0) + inputs(i, 1) * inputs(i, 2) > 0 ? 1 : 0);
  }
  const auto fitted =
      bpm::BayesPointMachine(kernel, sampler, test_support::hard()).fit(inputs, labels);
  CAPTURE(fitted.report().chains->rank, fitted.report().chains->residual);
  CHECK(fitted.report().chains->rank < inputs.rows());
  CHECK(fitted.training_errors() == 0);
  CHECK(fitted.training_margin() > 0);
  CHECK(fitted.predict(inputs) == labels);
}

}  // namespace

TEST_CASE("chains: where the factor leaves something out, the model is still the one reported") {
  const bpm::Billiard billiard{.draws = 20};
  const auto wide = random_points<float>(120, 1.0);
  check_report_is_model(bpm::Gaussian::from_sigma(5.0), billiard, wide);
  check_report_is_model(bpm::Gaussian::from_sigma(5.0), bpm::KernelGibbs{.draws = 20}, wide);
  check_report_is_model(bpm::Polynomial(5), billiard, random_points<float>(120, 2.0));
  check_report_is_model(bpm::Gaussian::from_sigma(30.0), billiard, random_points<double>(120, 1.0));
}

TEST_CASE("chains: inputs of very different lengths are separated as well") {
  bpm::RowMatrix<float> inputs(3, 2);
  inputs << 1, 0, -1, 0, 0, 0.003F;
  const std::vector<int> labels{1, 0, 1};
  const auto fitted =
      bpm::BayesPointMachine(bpm::Linear{}, bpm::Billiard{.draws = 10}, test_support::hard())
          .fit(inputs, labels);
  CHECK(fitted.predict(inputs) == labels);
  CHECK(fitted.report().chains->rank == 2);
}

TEST_CASE("chains: one lambda may be far larger than the others") {
  const Doubles inputs = triangle(12, 1);
  const std::vector<int> labels = two_labels(12);
  std::vector<double> lambda(12, 0.0);
  lambda[4] = 1e14;
  bpm::FitSettings settings;
  settings.soft_boundary = bpm::SoftBoundary::per_point(lambda);
  const auto fitted =
      bpm::BayesPointMachine(bpm::Gaussian::from_sigma(0.7), bpm::Billiard{.draws = 10},
                             test_support::hard(settings))
          .fit(inputs, labels);
  CHECK(fitted.training_margin() > 0);
}

TEST_CASE("chains: draws are added by number whatever ended the fit") {
  const Doubles inputs = triangle(30, 1);
  const std::vector<int> labels = two_labels(30);
  auto training =
      bpm::BayesPointMachine(bpm::Gaussian::from_sigma(0.7), bpm::Billiard{.accuracy = 0.05},
                             test_support::hard({.keep_draws = true}))
          .train(inputs, labels);
  const std::uint64_t before = training.report().draws;
  CHECK(training.report().chains->standard_error <= 0.05);
  training.add_draws(300);
  CHECK(training.report().draws == before + 300);
  CHECK(training.classifier().parts().draw_numbers.size() == before + 300);
}

TEST_CASE("chains: by a clock all classes make as many draws, and that many make the same model") {
  const Doubles inputs = triangle(30, 1);
  const std::vector<int> labels = three_labels(30);
  const auto machine = [](const bpm::Billiard& sampler) {
    return bpm::OneVsRest(bpm::BayesPointMachine(bpm::Gaussian::from_sigma(0.7), sampler,
                                                 test_support::hard({.keep_draws = true})));
  };
  const auto timed =
      machine({.bounces_per_draw = 100, .seconds = 0.02, .refresh_length = 8}).fit(inputs, labels);
  const std::uint64_t draws = timed.report().draws;
  CHECK(timed.parts().draw_numbers.size() == draws);
  CHECK(timed.parts().draw_weights.size() == 3 * draws);
  CHECK(timed.report().draws == draws);
  const auto counted =
      machine({.draws = draws, .bounces_per_draw = 100, .refresh_length = 8}).fit(inputs, labels);
  CHECK(counted.coefficients() == timed.coefficients());
}

TEST_CASE("chains: noise admits what no classifier separates") {
  Doubles inputs = triangle(20, 1);
  std::vector<int> labels = two_labels(20);
  inputs.row(7) = inputs.row(3);
  labels[7] = -3;
  labels[3] = 7;
  const auto fitted =
      bpm::BayesPointMachine(bpm::Gaussian::from_sigma(0.7), bpm::KernelGibbs{.label_noise = 0.05},
                             test_support::hard())
          .fit(inputs, labels);
  CHECK(fitted.report().converged);
  CHECK(fitted.report().chains->mean_errors >= 1);
}

TEST_CASE("chains: draws that were stopped before they began leave what the chains have told") {
  const Doubles inputs = triangle(30, 1);
  const std::vector<int> labels = two_labels(30);
  auto fitted = bpm::BayesPointMachine(bpm::Gaussian::from_sigma(0.7), bpm::Billiard{.draws = 40},
                                       test_support::hard())
                    .train(inputs, labels);
  const double error = fitted.report().chains->standard_error;
  REQUIRE(std::isfinite(error));
  fitted.add_draws(5, [](const bpm::Progress&) { return false; });
  CHECK(fitted.report().stopped);
  CHECK(fitted.report().draws == 40);
  CHECK(fitted.report().chains->chains == 4);
  CHECK(fitted.report().chains->standard_error == error);
}

TEST_CASE("chains: an automatic boundary where a point has k(x, x) = 0") {
  bpm::RowMatrix<double> inputs = random_points<double>(30, 1.0);
  std::vector<int> labels;
  for (std::ptrdiff_t i = 0; i < 30; ++i) labels.push_back(inputs(i, 0) > 0 ? 1 : 0);
  inputs.row(3).setZero();
  const bpm::FitSettings settings{.bias = 0};
  const auto noisy = bpm::BayesPointMachine(bpm::Linear{}, bpm::KernelGibbs{.draws = 40}, settings)
                         .fit(inputs, labels);
  CHECK(noisy.notes.boundary->label_noise > 0);
  CHECK_THROWS_WITH(bpm::BayesPointMachine(bpm::Linear{}, bpm::Billiard{.draws = 20}, settings)
                        .fit(inputs, labels),
                    Catch::Matchers::ContainsSubstring(
                        ": point 3 has k(x, x) = 0, so no classifier gives it a sign"));
}

TEST_CASE("chains: mean errors are those of the chains that have made steps") {
  const auto inputs = random_points<double>(40, 1.0);
  std::vector<int> labels;
  for (std::ptrdiff_t i = 0; i < 40; ++i) {
    labels.push_back((inputs(i, 0) > 0) != (i % 5 == 0) ? 1 : 0);  // A fifth is wrong.
  }
  const auto mean_errors = [&](std::uint64_t draws, std::uint64_t steps) {
    const bpm::KernelGibbs gibbs{.draws = draws, .steps_per_draw = steps, .label_noise = 0.1};
    return bpm::BayesPointMachine(bpm::Linear{}, gibbs, test_support::hard())
        .fit(inputs, labels)
        .report()
        .chains->mean_errors;
  };
  const double expected = mean_errors(400, 100);
  REQUIRE(expected > 1);
  CHECK(std::abs(mean_errors(1, 20'000) - expected) < 0.2 * expected);
}

TEST_CASE("chains: on a line of one dimension they stand on one point, and agree") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto inputs = random_points<double>(6, 1.0 + 0.1 * static_cast<double>(seed));
    const bpm::RowMatrix<double> line = inputs.col(0);
    std::vector<int> labels;
    for (std::ptrdiff_t i = 0; i < 6; ++i) labels.push_back(line(i, 0) > 0 ? 1 : 0);
    const auto fitted = bpm::BayesPointMachine(bpm::Linear{}, bpm::KernelGibbs{.draws = 100},
                                               test_support::hard({.seed = seed}))
                            .fit(line, labels);
    CHECK(fitted.report().chains->rank == 1);
    CHECK(fitted.report().chains->r_hat == 1);
    for (const bpm::FitWarning& warning : fitted.notes.warnings) {
      CHECK(warning.kind != bpm::FitWarning::Kind::chains_disagree);
    }
  }
}
