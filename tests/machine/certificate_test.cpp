// SPDX-License-Identifier: MIT
#include "bpm/machine/certificate.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bpm/bounds/gibbs_bound.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/random.hpp"
#include "bpm/decision/evaluation.hpp"
#include "bpm/decision/rejection.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/input_encoding.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "bpm/selection/choose.hpp"
#include "catch.hpp"
#include "message_of.hpp"
#include "noted.hpp"

using test_support::message_of;

namespace {

using Inputs = bpm::RowMatrix<double>;

struct Sample {
  Inputs inputs;
  std::vector<int> labels;
};

/// Points in a square; with two classes split by a circle, with three by angles too.
Sample sample(Eigen::Index n, std::uint64_t seed, int classes = 2) {
  bpm::RandomEngine engine(seed);
  Sample result{Inputs(n, 2), {}};
  for (Eigen::Index i = 0; i < n; ++i) {
    for (double& x : result.inputs.row(i)) x = 2 * bpm::uniform_unit(engine) - 1;
    const bool inside = result.inputs.row(i).squaredNorm() < 0.6;
    result.labels.push_back(!inside ? 5 : classes == 2 || result.inputs(i, 0) > 0 ? 1 : 3);
  }
  return result;
}

const bpm::FitSettings fixed{
    .soft_boundary = bpm::SoftBoundary::hard(), .seed = 2, .bias = 0, .keep_draws = true};

auto fit(const Sample& s, const bpm::FitSettings& settings = fixed, unsigned draws = 10) {
  return bpm::OneVsRest(bpm::BayesPointMachine(bpm::Gaussian::from_sigma(0.5),
                                               bpm::PermutedPerceptron{.draws = draws}, settings))
      .fit(s.inputs, s.labels);
}

}  // namespace

TEST_CASE("the certificate of a fit is its bound by compression", "[machine]") {
  const int classes = GENERATE(2, 3);
  const Sample train = sample(300, 1, classes);
  const auto machine = fit(train);
  // The points on which some draw was mistaken are those that a draw has a coefficient of.
  std::size_t in_some_draw = 0;
  std::size_t in_the_first = 0;
  const auto& draws = machine.parts().draw_coefficients;
  for (Eigen::Index s = 0; s < draws.rows(); ++s) {
    in_some_draw += (draws.row(s).array() != 0).any() ? 1 : 0;
    in_the_first += (draws.row(s).head(machine.columns()).array() != 0).any() ? 1 : 0;
  }
  const bpm::Certificate of_all = bpm::certificate(machine, 0.05);
  CHECK(of_all.points == 300);
  CHECK(of_all.mistaken == in_some_draw);
  CHECK(of_all.error == bpm::stable_compression_bound(in_some_draw, 300, 0.05));
  CHECK(of_all.delta == 0.05);
  CHECK(of_all.unlabelled == 0);

  const Sample others = sample(5000, 2, classes);
  const bpm::Certificate by_first = bpm::certificate(machine, others.inputs, 0.05);
  const std::vector<int> labels = machine.predict(others.inputs);
  const std::vector<int> first = fit(train, fixed, 1).predict(others.inputs);
  std::size_t apart = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) apart += labels[i] != first[i] ? 1 : 0;
  CHECK(apart > 0);
  CHECK(by_first.mistaken == in_the_first);
  CHECK(by_first.disagreements == apart);
  CHECK(by_first.unlabelled == 5000);
  CHECK(by_first.error == bpm::stable_compression_bound(in_the_first, 300, 0.025) +
                              bpm::binomial_upper_limit(apart, 5000, 0.025));
  CHECK(by_first.error < of_all.error);
  CHECK(bpm::error_rate(others.labels, labels) < by_first.error);
  const std::string conditions =
      "; for independent examples of one source, inputs without labels included, and kernel, "
      "width, features, lambda and number of draws fixed beforehand";
  using Catch::Matchers::ContainsSubstring;
  CHECK_THAT(
      of_all.message(),
      ContainsSubstring("with confidence 0.95, by stable compression (Campi, Garatti, JMLR 24, "
                        "2023): " +
                        std::to_string(in_some_draw) +
                        " of 300 training points were mistaken in some draw" + conditions));
  CHECK_THAT(
      by_first.message(),
      ContainsSubstring(
          std::to_string(in_the_first) +
          " of 300 training points were mistaken in the first draw, from which it differs on " +
          std::to_string(apart) + " of 5000 inputs without labels" + conditions));
}

TEST_CASE("the kernels of distances have one diagonal", "[machine]") {
  CHECK(bpm::detail::has_one_diagonal(bpm::Gaussian::from_width(2)));
  CHECK(bpm::detail::has_one_diagonal(bpm::Laplacian(2)));
  CHECK(bpm::detail::has_one_diagonal(bpm::Exponential(2)));
  CHECK(bpm::detail::has_one_diagonal(bpm::RuntimeKernel(bpm::Gaussian::from_width(2))));
  CHECK_FALSE(bpm::detail::has_one_diagonal(bpm::Linear{}));
  CHECK_FALSE(bpm::detail::has_one_diagonal(bpm::RuntimeKernel(bpm::Linear{})));
}

TEST_CASE("a certificate refuses what it sees to break its conditions", "[machine]") {
  const Sample train = sample(120, 3);
  const auto refusal = [](const auto& machine) {
    return message_of([&] { (void)bpm::certificate(machine, 0.1); });
  };
  const std::string is = "certificate: classifier ";
  bpm::FitSettings settings = fixed;
  settings.soft_boundary = bpm::SoftBoundary::automatic();
  CHECK(refusal(fit(train, settings)) ==
        is + "has a soft boundary that its training set chose; fix one beforehand");
  settings = fixed;
  settings.standardise = true;
  CHECK(refusal(fit(train, settings)) ==
        is + "has inputs standardised by the training set, whose means change when points go");
  // A bias is in units of the mean k(x, x): of kernels on distances that is 1 whatever the points.
  settings = fixed;
  settings.bias = 1;
  CHECK(bpm::certificate(fit(train, settings), 0.1).error < 1);
  const std::string of_bias =
      is + "has a bias in units of the mean k(x, x), which changes when points go; set it to 0";
  const auto with_kernel = [&](const auto& kernel) {
    return bpm::BayesPointMachine(kernel, bpm::PermutedPerceptron{}, settings)
        .fit(train.inputs, train.labels);
  };
  CHECK(refusal(with_kernel(bpm::Polynomial(5, 1.0))) == of_bias);
  CHECK(refusal(with_kernel(bpm::RuntimeKernel(bpm::Polynomial(5, 1.0)))) == of_bias);
  CHECK(
      bpm::certificate(with_kernel(bpm::RuntimeKernel(bpm::Gaussian::from_sigma(0.5))), 0.1).error <
      1);
  // What `choose` finds, also where it leaves a boundary that looks fixed.
  settings = fixed;
  const bpm::BayesPointMachine hard(bpm::Gaussian::from_sigma(0.5), bpm::PermutedPerceptron{},
                                    settings);
  CHECK(
      refusal(
          bpm::choose(hard, train.inputs, train.labels).machine.fit(train.inputs, train.labels)) ==
      is + "has settings that choose found; fix them beforehand");
  const auto chain =
      bpm::BayesPointMachine(bpm::Gaussian::from_sigma(0.5), bpm::Billiard{.draws = 10}, fixed)
          .fit(train.inputs, train.labels);
  const std::string none =
      is + "is not of permuted perceptrons on one training set: no compression makes it";
  CHECK(refusal(chain) == none);
  const auto with = [&](const auto& set) { return test_support::noted(fit(train), set); };
  CHECK(refusal(with([](bpm::Notes& notes) { notes.training_points = 0; })) == none);
  CHECK(refusal(with([](bpm::Notes& notes) { notes.report.stopped = true; })) ==
        is + "was stopped before the draws that were asked for; fix their number");
  // Categories and means of the training set; two columns of numbers are what they are.
  bpm::TableEncoding encoding{{{.name = "a"}, {.name = "b"}}};
  const auto encoded = [&](bpm::Notes& notes) { notes.encoding = encoding; };
  CHECK(bpm::certificate(with(encoded), 0.1).error < 1);
  encoding.columns[1].fill = 0.5;
  const std::string of_encoding =
      is +
      "has words or missing values encoded by the training set, whose categories and means change "
      "when points go; encode by other rows, and certify before notes.encoding is set";
  CHECK(refusal(with(encoded)) == of_encoding);
  encoding.columns = {{.kind = bpm::MixedTable::Kind::words, .categories = {"x", "y"}}};
  CHECK(refusal(with(encoded)) == of_encoding);
  CHECK(refusal(with([](bpm::Notes& notes) { notes.report.perceptron->training_errors = 1; })) ==
        is + "has draws with training errors left");
  auto parts = fit(train).parts();
  parts.slope = 1;
  parts.offsets = {0.1};
  CHECK(refusal(bpm::Classifier(parts, fit(train).notes)) ==
        is + "has labels that offsets of its probabilities move");
  CHECK(message_of([&] { (void)bpm::certificate(fit(train), 1); }) ==
        "stable_compression_bound: delta is 1, must lie between 0 and 1");
  CHECK(message_of([&] { (void)bpm::certificate(fit(train), train.inputs, 0); }) ==
        "certificate: delta is 0, must lie between 0 and 1");
  CHECK(message_of([&] { (void)bpm::certificate(fit(train), Inputs(0, 2), 0.1); }) ==
        "certificate: unlabelled are none, must be one or more");
}
