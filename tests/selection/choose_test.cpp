// SPDX-License-Identifier: MIT
#include "bpm/selection/choose.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/decision/rejection.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "bpm/selection/cross_validate.hpp"
#include "catch.hpp"
#include "message_of.hpp"
#include "noisy_points.hpp"

using bpm::BayesPointMachine;
using bpm::ChoiceCandidate;
using bpm::Gaussian;
using bpm::OneVsRest;
using bpm::PermutedPerceptron;
using bpm::SoftBoundary;
using test_support::message_of;
using test_support::noisy_rings;

TEST_CASE("choose tries what the machine's boundary tries", "[selection]") {
  const auto [inputs, labels] = test_support::noisy_stripes(120, 2, 0.1);
  const BayesPointMachine machine(Gaussian::from_width(1),
                                  bpm::AutomaticBoundary{.relative_lambdas = {0.2, 0.7}});
  const auto choice = bpm::choose(machine, inputs, labels);
  for (const bpm::ChoiceCandidate& one : choice.candidates) {
    CHECK((one.relative_lambda == 0.2 || one.relative_lambda == 0.7));
  }
  CHECK(choice.machine.boundary().relative_lambdas == std::vector<double>{0.2, 0.7});
}

TEST_CASE("a kernel that cannot be assigned is chosen, and judged by nested folds", "[selection]") {
  const auto [inputs, labels] = noisy_rings(60, 2, 0.1);
  const double decay = 2;
  const auto kernel = [decay](const auto& a, const auto& b) {
    return std::exp(-decay * static_cast<double>((a - b).squaredNorm()));
  };
  using Kernel = std::remove_const_t<decltype(kernel)>;
  STATIC_REQUIRE_FALSE(std::is_copy_assignable_v<Kernel>);
  const BayesPointMachine machine(kernel, PermutedPerceptron{.draws = 2});
  const bpm::ChoiceGrid<Kernel> grid{.kernels = {kernel},
                                     .boundary = {.relative_lambdas = {0.1, 1}}};
  CHECK(bpm::choose(machine, grid, inputs, labels).chosen().consistent);
  CHECK(bpm::nested(machine, grid, inputs, labels, 2).points.size() == 60);
}

TEST_CASE("out-of-fold outputs are those of machines without the fold", "[selection]") {
  const int classes = GENERATE(2, 3);
  const auto [inputs, labels] = noisy_rings(160, classes, 0.1);
  bpm::FitSettings settings{.soft_boundary = bpm::SoftBoundary::relative(0.3), .seed = 5};
  const OneVsRest machine(
      BayesPointMachine(Gaussian::from_width(1), PermutedPerceptron{.draws = 3}, settings));
  const auto found = bpm::cross_validate(machine, inputs, labels, 4);
  REQUIRE(found.points.size() == 160);
  CHECK(found.labels == labels);
  double errors = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    const auto train = found.folds.points(k, false);
    const auto left_out = found.folds.points(k, true);
    bpm::RowMatrix<float> part = inputs(train, Eigen::all);
    bpm::RowMatrix<float> others = inputs(left_out, Eigen::all);
    std::vector<int> of_part;
    for (const auto i : train) of_part.push_back(labels[i]);
    const auto classifier = machine.fit(part, of_part);
    const Eigen::MatrixXd expected = classifier.decision_values(others);
    CHECK((found.decision_values(left_out, Eigen::all) - expected).cwiseAbs().maxCoeff() < 1e-6);
    const auto predicted = classifier.predict(others);
    for (std::size_t i = 0; i < left_out.size(); ++i) errors += predicted[i] != labels[left_out[i]];
  }
  CHECK(found.error() == Approx(errors / 160));
  // Where memory does not hold the matrix each fold fits by itself.
  settings.memory = 400'000;
  const OneVsRest small(
      BayesPointMachine(Gaussian::from_width(1), PermutedPerceptron{.draws = 3}, settings));
  const auto again = bpm::cross_validate(small, inputs, labels, 4);
  CHECK((found.decision_values - again.decision_values).cwiseAbs().maxCoeff() < 1e-6);
}

TEST_CASE("folds of an automatic boundary choose their own, of a user's matrix too",
          "[selection]") {
  const auto [inputs, labels] = noisy_rings(120, 2, 0.1);
  const Gaussian kernel = Gaussian::from_width(1);
  const BayesPointMachine machine(kernel, PermutedPerceptron{.draws = 3}, {.seed = 5, .bias = 0});
  const auto found = bpm::cross_validate(machine, inputs, labels, 3);
  const auto left_out = found.folds.points(1, true);
  const auto train = found.folds.points(1, false);
  std::vector<int> of_train;
  for (const auto i : train) of_train.push_back(labels[i]);
  const auto alone = machine.fit(bpm::RowMatrix<float>(inputs(train, Eigen::all)), of_train);
  CHECK(alone.notes.boundary->relative_lambda > 0);
  CHECK(found.decision_values(left_out, Eigen::all) ==
        alone.decision_values(bpm::RowMatrix<float>(inputs(left_out, Eigen::all))));
  const bpm::RowMatrix<float> values = bpm::kernel_matrix(kernel, inputs).cast<float>();
  const BayesPointMachine by_matrix(bpm::PrecomputedKernel{}, machine.sampler(), {.seed = 5});
  const auto brought = bpm::cross_validate(by_matrix, values, labels, 3);
  CHECK((brought.decision_values - found.decision_values).cwiseAbs().maxCoeff() < 1e-5);
}

TEST_CASE("the kernel and the soft boundary that suit the data are chosen", "[selection]") {
  const auto [inputs, labels] = noisy_rings(300, 2, 0.1);
  const bpm::ChoiceGrid<Gaussian> grid{
      .kernels = {Gaussian::from_width(0.02), Gaussian::from_width(1), Gaussian::from_width(50)}};
  const BayesPointMachine machine(Gaussian::from_width(7), PermutedPerceptron{.draws = 20},
                                  {.seed = 3, .threads = 1});
  const auto choice = bpm::choose(machine, grid, inputs, labels);
  REQUIRE(choice.candidates.size() == 24);
  CHECK(choice.chosen().kernel == 1);
  CHECK(choice.chosen().relative_lambda >= 0.1);
  CHECK(choice.selection_score == choice.chosen().loss);
  const auto ones = static_cast<double>(std::ranges::count(labels, 1));
  CHECK(choice.boundary.largest_class == std::max(ones, 300 - ones) / 300);
  CHECK(choice.machine.settings().boundary_choice->largest_class == choice.boundary.largest_class);
  // A tenth of the labels is flipped: no loss is below the entropy of that, 0.325, but by chance.
  CHECK(choice.chosen().error < 0.16);
  CHECK(choice.selection_score > 0.25);
  CHECK(choice.selection_score < 0.45);
  CHECK(choice.machine.sampler().draws == 20);
  CHECK(choice.machine.settings().seed == 3);
  CHECK(choice.machine.kernel().gamma() == 1);
  // With flipped labels nearly nothing is separable by a wide kernel.
  CHECK_FALSE(choice.candidates[16].consistent);
  CHECK(choice.candidates[16].relative_lambda == 0);

  // What is told of the winner is what `cross_validate` finds.
  auto settings = choice.machine.settings();
  CHECK(settings.soft_boundary.is_automatic());
  settings.soft_boundary = bpm::SoftBoundary::relative(choice.chosen().relative_lambda);
  const auto found = bpm::cross_validate(
      BayesPointMachine(choice.machine.kernel(), PermutedPerceptron{.draws = 5, .max_passes = 200},
                        settings),
      inputs, labels);
  CHECK(found.error() == choice.chosen().error);
  CHECK(found.slope().loss == choice.chosen().loss);

  settings.threads = 3;
  const auto threads = bpm::choose(
      BayesPointMachine(Gaussian::from_width(7), PermutedPerceptron{.draws = 20}, settings), grid,
      inputs, labels);
  CHECK(threads.best == choice.best);
  CHECK(threads.selection_score == choice.selection_score);
}

TEST_CASE("the chosen machine begins with the lambda chosen, raises it, and has probabilities",
          "[selection]") {
  const auto [inputs, labels] = noisy_rings(300, 2, 0.1);
  bpm::ChoiceGrid<Gaussian> grid{.kernels = {Gaussian::from_width(0.5), Gaussian::from_width(1)}};
  const BayesPointMachine machine(Gaussian::from_width(7), PermutedPerceptron{}, {.seed = 3});
  const auto choice = bpm::choose(machine, grid, inputs, labels);
  const auto fitted = choice.machine.fit(inputs, labels);
  const bpm::BoundaryChoice& boundary = *fitted.notes.boundary;
  CHECK(boundary.relative_lambda == choice.chosen().relative_lambda);
  CHECK(boundary.raised == 0);
  CHECK(boundary.slope == choice.chosen().slope);
  CHECK(boundary.points == 300);
  REQUIRE(boundary.candidates.size() == grid.boundary.relative_lambdas.size());
  CHECK(boundary.candidates[0].kernel == choice.chosen().kernel);
  CHECK(fitted.predict_probability(inputs).size() == 300);
  CHECK(fitted.forecast().choosing_bytes == 0);

  // What was found on few points does not have to suffice for all.
  auto settings = choice.machine.settings();
  settings.boundary_choice->relative_lambda = 0;
  const BayesPointMachine hard(choice.machine.kernel(), PermutedPerceptron{}, settings);
  CHECK(hard.fit(inputs, labels).notes.boundary->raised > 0);

  settings.boundary_choice->relative_lambda = -1;
  CHECK(message_of([&] {
          (void)BayesPointMachine(choice.machine.kernel(), PermutedPerceptron{}, settings)
              .fit(inputs, labels);
        }) == "BayesPointMachine::fit: boundary_choice is -1, must be finite and not negative");

  // Label noise keeps fits from choosing: lambda is the one that was chosen.
  const auto noisy = bpm::choose(
      BayesPointMachine(Gaussian::from_width(7), bpm::KernelGibbs{.label_noise = 0.1}, {.seed = 3}),
      bpm::ChoiceGrid<Gaussian>{.kernels = grid.kernels,
                                .boundary = {.relative_lambdas = {0.1, 1}, .points = 40}},
      inputs, labels);
  CHECK_FALSE(noisy.machine.settings().boundary_choice);
  CHECK_FALSE(noisy.machine.settings().soft_boundary.is_automatic());

  // A boundary that was given is replaced by the one chosen.
  settings.soft_boundary = bpm::SoftBoundary::relative(7);
  settings.boundary_choice.reset();
  grid.boundary.draws = 5;
  const auto given =
      bpm::choose(BayesPointMachine(Gaussian::from_width(7), PermutedPerceptron{}, settings), grid,
                  inputs, labels);
  CHECK(given.best == choice.best);
  CHECK_FALSE(given.machine.settings().soft_boundary.is_automatic());
  CHECK_FALSE(given.machine.settings().boundary_choice);
}

TEST_CASE("several classes and other samplers choose as well", "[selection]") {
  const auto [inputs, labels] = noisy_rings(90, 3, 0);
  const bpm::ChoiceGrid<Gaussian> grid{
      .kernels = {Gaussian::from_width(0.02), Gaussian::from_width(1)},
      .boundary = {.relative_lambdas = {0.01, 1}, .folds = 3}};
  CHECK(bpm::choose(OneVsRest(BayesPointMachine(Gaussian::from_width(7))), grid, inputs, labels)
            .chosen()
            .kernel == 1);
  const auto two = noisy_rings(60, 2, 0);
  CHECK(bpm::choose(BayesPointMachine(Gaussian::from_width(7), bpm::Billiard{}), grid, two.inputs,
                    two.labels)
            .chosen()
            .kernel == 1);
}

TEST_CASE("samplers that take label noise choose it in the place of lambda", "[selection]") {
  const auto [inputs, labels] = noisy_rings(120, 2, 0.15);
  const bpm::ChoiceGrid<Gaussian> grid{
      .kernels = {Gaussian::from_width(0.02), Gaussian::from_width(1)},
      .boundary = {.label_noises = {0, 0.1, 0.2}, .folds = 3}};
  const bpm::KernelGibbs sampler{.draws = 10};
  const auto choice = bpm::choose(BayesPointMachine(Gaussian::from_width(7), sampler, {.seed = 3}),
                                  grid, inputs, labels);
  REQUIRE(choice.candidates.size() == 6);
  CHECK(choice.candidates[5].label_noise == 0.2);
  CHECK(choice.chosen().kernel == 1);
  CHECK(choice.chosen().label_noise > 0);
  CHECK(choice.chosen().relative_lambda == 0);
  const auto fitted = choice.machine.fit(inputs, labels);
  CHECK(fitted.notes.boundary->label_noise == choice.chosen().label_noise);
  CHECK(fitted.notes.boundary->candidates.size() == 3);
  bpm::KernelGibbs named = sampler;
  named.label_noise = choice.chosen().label_noise;
  CHECK(fitted.coefficients() ==
        BayesPointMachine(choice.machine.kernel(), named, choice.machine.settings())
            .fit(inputs, labels)
            .coefficients());
  auto unsorted = grid;
  unsorted.boundary.label_noises = {0.2, 0.1};
  const BayesPointMachine machine(Gaussian::from_width(7), sampler);
  CHECK(message_of([&] { (void)bpm::choose(machine, unsorted, inputs, labels); }) ==
        "choose: boundary has label noises that do not ascend");
  unsorted.boundary.label_noises = {};
  CHECK(message_of([&] { (void)bpm::choose(machine, unsorted, inputs, labels); }) ==
        "choose: boundary has no label noise");
}

TEST_CASE("folds tell an observer, who can stop them", "[selection]") {
  const auto [inputs, labels] = noisy_rings(60, 2, 0.1);
  const bool chooses = GENERATE(false, true);
  const BayesPointMachine machine(
      Gaussian::from_width(1), PermutedPerceptron{.draws = 2},
      {.soft_boundary = chooses ? bpm::SoftBoundary::automatic() : bpm::SoftBoundary::relative(1)});
  std::vector<double> fractions;
  const auto watched = bpm::cross_validate(machine, inputs, labels, 3, [&](bpm::Progress p) {
    CHECK(p.stage == "folds");
    fractions.push_back(p.fraction);
  });
  CHECK(watched.decision_values == bpm::cross_validate(machine, inputs, labels, 3).decision_values);
  CHECK(std::is_sorted(fractions.begin(), fractions.end()));
  CHECK(fractions.front() == 0);
  CHECK(fractions.back() == 2.0 / 3);
  const auto until_second = [](bpm::Progress p) { return p.fraction == 0; };
  CHECK(message_of([&] { (void)bpm::cross_validate(machine, inputs, labels, 3, until_second); }) ==
        (chooses ? "BayesPointMachine::fit: stopped while choosing the soft boundary"
                 : "cross_validate: stopped in fold 1"));
  std::stop_source source;
  source.request_stop();
  CHECK_THROWS_AS(bpm::cross_validate(
                      machine, inputs, labels, 3, [](const bpm::Progress&) {}, source.get_token()),
                  bpm::Stopped);
  const bpm::ChoiceGrid<Gaussian> grid{.kernels = {Gaussian::from_width(1)}};
  CHECK_THROWS_AS(bpm::nested(machine, grid, inputs, labels, 3, until_second), bpm::Stopped);
}

TEST_CASE("of equal losses the larger lambda and the later kernel are taken", "[selection]") {
  const auto candidate = [](std::size_t kernel, double lambda, double loss,
                            bool consistent = true) {
    return ChoiceCandidate{.kernel = kernel,
                           .relative_lambda = lambda,
                           .consistent = consistent,
                           .loss = loss,
                           .standard_error = 0.1,
                           .slope = 1,
                           .error = 0.1};
  };
  using bpm::detail::best_candidate;
  // The least is 0.5, equal to it is what is at most 0.51.
  std::vector<ChoiceCandidate> all{candidate(0, 0.1, 0.5),  candidate(0, 0.3, 0.509),
                                   candidate(0, 1, 0.52),   candidate(1, 0.1, 0.505),
                                   candidate(1, 0.3, 0.51), candidate(1, 1, 0.4, false)};
  CHECK(best_candidate(all) == 4);
  all[4].loss = 0.511;
  CHECK(best_candidate(all) == 1);
  all[1].loss = 0.511;
  CHECK(best_candidate(all) == 3);
  all[3].first_fold_alone = true;  // Its loss is borrowed.
  CHECK(best_candidate(all) == 0);
  all[3].loss = 0.3;
  CHECK(best_candidate(all) == 0);
  for (auto& one : all) one.consistent = false;
  CHECK_FALSE(best_candidate(all));
}

namespace {

template <class Scores>
concept CanBeCertified = requires(const Scores& scores, const std::vector<bool>& correct) {
  bpm::certify_risk(scores, correct, 0.1, 0.1);
};

}  // namespace

TEST_CASE("outputs of points that trained are no calibration data", "[selection]") {
  STATIC_REQUIRE(CanBeCertified<std::vector<double>>);
  STATIC_REQUIRE_FALSE(CanBeCertified<bpm::OutOfFold>);
}

TEST_CASE("choose says what it cannot do", "[selection]") {
  const auto [inputs, labels] = noisy_rings(40, 2, 0.3);
  const BayesPointMachine machine(Gaussian::from_width(1));
  bpm::ChoiceGrid<Gaussian> grid;
  const auto message = [&] {
    return message_of([&] { (void)bpm::choose(machine, grid, inputs, labels); });
  };
  CHECK(message() == "choose: grid has no kernel that is tried in any case");
  grid.kernels = {Gaussian::from_width(1000)};
  grid.narrower = 1;
  CHECK(message() == "choose: grid has no kernel that is tried in any case");
  grid.narrower = 0;
  grid.boundary.relative_lambdas = {};
  CHECK(message() == "choose: boundary has no lambda");
  grid.boundary.relative_lambdas = {1, 0};
  CHECK(message() == "choose: boundary has lambdas that do not ascend");
  grid.boundary.relative_lambdas = {0, std::nan("")};
  CHECK(message() == "choose: boundary has the lambda nan, must be finite and not negative");
  bpm::ChoiceGrid<Gaussian> noises;
  noises.kernels = {Gaussian::from_width(1)};
  noises.boundary.label_noises = {0.1, 0.5};
  CHECK(message_of([&] {
          (void)bpm::choose(BayesPointMachine(Gaussian::from_width(1), bpm::KernelGibbs{}), noises,
                            inputs, labels);
        }) == "choose: boundary has the label noise 0.5, must be at least 0 and below 1/2");
  grid.boundary.relative_lambdas = {0};
  CHECK(message() ==
        "choose: none of 1 candidates found a classifier without training error; add larger "
        "lambdas to the grid");
  const BayesPointMachine small(Gaussian::from_width(1), PermutedPerceptron{}, {.memory = 1000});
  CHECK(
      message_of([&] { (void)bpm::choose(small, grid, inputs, labels); }) ==
      "choose: memory is 1000 bytes, 40 points need 38400; raise memory or choose on fewer points");
  CHECK(message_of([&] {
          (void)bpm::cross_validate(
              BayesPointMachine(Gaussian::from_width(1000), PermutedPerceptron{.max_passes = 10},
                                {.soft_boundary = bpm::SoftBoundary::hard()}),
              inputs, labels);
        }) ==
        "cross_validate: no classifier without training error was found in fold 0; set a soft "
        "boundary lambda > 0");
  CHECK(message_of([&] {
          grid.boundary.relative_lambdas = {1};
          (void)bpm::choose(machine, grid, inputs, labels,
                            [](const bpm::Progress&) { return false; });
        }) == "choose: stopped while choosing");
  const bpm::RowMatrix<double> narrow = bpm::RowMatrix<double>::Identity(40, 39);
  CHECK(message_of([&] {
          (void)bpm::cross_validate(BayesPointMachine(bpm::PrecomputedKernel{}), narrow, labels);
        }) == "PrecomputedGram: values is 40 x 39, must be square");
  const auto three = noisy_rings(30, 3, 0);
  CHECK(message_of([&] { (void)bpm::cross_validate(machine, three.inputs, three.labels); }) ==
        "cross_validate: labels have 3 classes, expected two; use OneVsRest for more");
}

TEST_CASE("each kernel is tried with a bias in its own units", "[selection]") {
  const auto [inputs, labels] = noisy_rings(120, 2, 0.1);
  const BayesPointMachine machine(bpm::Polynomial(1), PermutedPerceptron{},
                                  {.seed = 3, .bias = 0.5});
  const std::vector<bpm::Polynomial> kernels{bpm::Polynomial(2, 5, 0), bpm::Polynomial(2)};
  const bpm::ChoiceGrid<bpm::Polynomial> both{.kernels = kernels,
                                              .boundary = {.relative_lambdas = {0.3, 1}}};
  const auto together = bpm::choose(machine, both, inputs, labels);
  REQUIRE(together.candidates.size() == 4);
  for (std::size_t k = 0; k < 2; ++k) {
    // As `cross_validate` finds it, of a machine with that kernel and the bias as a number.
    double mean = 0;
    for (Eigen::Index i = 0; i < 120; ++i) {
      mean += kernels[k](inputs.row(i), inputs.row(i)) / 120;
    }
    const auto biased = bpm::biased(kernels[k], 0.5 * mean);
    for (std::size_t l = 0; l < 2; ++l) {
      const ChoiceCandidate& one = together.candidates[2 * k + l];
      REQUIRE(one.consistent);
      const auto found = bpm::cross_validate(
          BayesPointMachine(
              biased, PermutedPerceptron{.draws = 5, .max_passes = 200},
              {.soft_boundary = SoftBoundary::relative(one.relative_lambda), .seed = 3, .bias = 0}),
          inputs, labels);
      CAPTURE(k, l);
      CHECK(one.loss == Approx(found.slope().loss).epsilon(1e-4));
    }
  }
}

TEST_CASE("choose keeps class weights, and lambdas a class", "[selection]") {
  const auto [inputs, labels] = noisy_rings(200, 2, 0.15);
  const bpm::ChoiceGrid<Gaussian> grid{.kernels = {Gaussian::from_width(1)},
                                       .boundary = {.relative_lambdas = {0.3, 1}}};
  const auto folds_of = [&](const SoftBoundary& boundary) {
    return bpm::cross_validate(
        BayesPointMachine(grid.kernels[0], PermutedPerceptron{.draws = 5, .max_passes = 200},
                          {.soft_boundary = boundary, .seed = 3}),
        inputs, labels);
  };
  for (const SoftBoundary& asked : {SoftBoundary::automatic().with_class_weights({{0, 10.0}}),
                                    SoftBoundary::per_class({{0, 0.1}, {1, 1.0}})}) {
    const BayesPointMachine machine(grid.kernels[0], PermutedPerceptron{},
                                    {.soft_boundary = asked, .seed = 3});
    const auto choice = bpm::choose(machine, grid, inputs, labels);
    for (const bpm::ChoiceCandidate& one : choice.candidates) {
      REQUIRE(one.consistent);
      // Offsets move no labels where class weights do.
      bpm::FittedSlope with{.slope = one.slope, .offsets = one.offsets};
      if (asked.has_class_weights()) with.offsets.clear();
      CHECK(one.error == folds_of(asked.with_factor(one.relative_lambda)).error(with));
      CHECK(one.error != folds_of(SoftBoundary::relative(one.relative_lambda)).error(with));
    }
    const SoftBoundary& kept = choice.machine.settings().soft_boundary;
    CHECK(kept.with_factor(2).signature() == asked.with_factor(2).signature());
  }
}

TEST_CASE("choose without a grid tries three biases, unless the machine gives one", "[selection]") {
  const auto [points, labels] = noisy_rings(120, 2, 0.1);
  const auto biases_of = [&](const bpm::FitSettings& settings) {
    const auto choice = bpm::choose(
        BayesPointMachine(Gaussian::from_width(1), PermutedPerceptron{}, settings), points, labels);
    std::set<double> biases;
    for (const bpm::ChoiceCandidate& one : choice.candidates) biases.insert(one.bias);
    CHECK(choice.machine.settings().bias ==
          (settings.bias ? *settings.bias : choice.chosen().bias));
    return biases;
  };
  CHECK(biases_of({}) == std::set<double>{0, 0.3, 1});
  // Candidates of one bias, which is the machine's, do not say it.
  CHECK(biases_of({.bias = 2}) == std::set<double>{0});
}

TEST_CASE("what is far behind on the first fold is not taken for errors that it borrows",
          "[selection]") {
  // Nothing is wrong with either width, and the narrow one is not as sure of it.
  bpm::RandomEngine engine(2);
  bpm::RowMatrix<float> inputs(1200, 2);
  std::vector<int> labels;
  for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
    labels.push_back(i % 2 == 0 ? 1 : -1);
    inputs(i, 0) = static_cast<float>(bpm::uniform_unit(engine) + 1.1 * labels.back());
    inputs(i, 1) = static_cast<float>(bpm::uniform_unit(engine));
  }
  const BayesPointMachine machine(Gaussian::from_width(1), PermutedPerceptron{}, {.seed = 3});
  const auto choice = bpm::choose(
      machine,
      bpm::ChoiceGrid<Gaussian>{.kernels = {Gaussian::from_width(1), Gaussian::from_width(0.2)},
                                .boundary = {.relative_lambdas = {0.01}},
                                .by_error = true,
                                .more_points = 0},
      inputs, labels);
  REQUIRE(choice.candidates.size() == 2);
  CHECK_FALSE(choice.candidates[0].first_fold_alone);
  REQUIRE(choice.candidates[1].first_fold_alone);
  // Otherwise the later kernel would be taken.
  CHECK(choice.candidates[1].error == choice.candidates[0].error);
  CHECK(choice.best == 0);
}

TEST_CASE("what is far behind on few points and ahead on more is judged by its own scores",
          "[selection]") {
  // Cells of a grid, labelled by their half of it but for 7 %: on 1000 points, one in four
  // cells, the wide kernel sees the halves; from 6500 the narrow one knows the cells too.
  constexpr int side = 60;
  bpm::RandomEngine engine(4);
  std::vector<int> cells;
  for (int c = 0; c < side * side; ++c) {
    const int half = 2 * (c % side) < side ? -1 : 1;
    cells.push_back(bpm::uniform_unit(engine) < 0.07 ? -half : half);
  }
  bpm::RowMatrix<float> inputs(6500, 2);
  std::vector<int> labels;
  for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
    const double x = side * bpm::uniform_unit(engine);
    const double y = side * bpm::uniform_unit(engine);
    inputs.row(i) << static_cast<float>(x), static_cast<float>(y);
    labels.push_back(cells[static_cast<std::size_t>(x) + side * static_cast<std::size_t>(y)]);
  }
  const BayesPointMachine machine(Gaussian::from_width(1), PermutedPerceptron{}, {.seed = 3});
  const Gaussian wide = Gaussian::from_width(0.25 * side);
  const Gaussian narrow = Gaussian::from_width(0.7);
  const auto chosen = [&](std::vector<Gaussian> kernels, std::size_t more_points) {
    return bpm::choose(
        machine,
        bpm::ChoiceGrid<Gaussian>{.kernels = std::move(kernels),
                                  .boundary = {.relative_lambdas = {0.1}, .points = 1000},
                                  .more_points = more_points},
        inputs, labels);
  };
  const auto few = chosen({wide, narrow}, 0);
  CHECK(few.best == 0);
  REQUIRE(few.candidates[1].first_fold_alone);
  const auto more = chosen({wide, narrow}, 6500);
  REQUIRE(more.best == 1);
  CHECK(few.moved_by == 0);
  CHECK(more.moved_by == 1300);  // A fifth of 6500.
  CHECK_FALSE(more.chosen().first_fold_alone);
  const auto alone = chosen({narrow}, 0);
  CHECK(more.chosen().loss == alone.chosen().loss);
  CHECK(more.chosen().error == alone.chosen().error);
  CHECK(more.chosen().loss != few.candidates[1].loss);
}

TEST_CASE("choose goes on beyond the end of its kernels while that is best", "[selection]") {
  const auto [inputs, labels] = noisy_rings(300, 2, 0.1);
  const BayesPointMachine machine(Gaussian::from_width(1), PermutedPerceptron{}, {.seed = 3});
  bpm::ChoiceGrid<Gaussian> grid{.kernels = {}, .more_points = 0};
  for (double width = 0.03; width < 100; width *= 2) {
    grid.kernels.push_back(Gaussian::from_width(width));
  }
  const auto tried_by = [](const auto& choice) {
    std::set<std::size_t> kernels;
    for (const bpm::ChoiceCandidate& one : choice.candidates) kernels.insert(one.kernel);
    return kernels;
  };
  const auto all = bpm::choose(machine, grid, inputs, labels);
  CHECK(tried_by(all).size() == grid.kernels.size());
  const std::size_t best = all.chosen().kernel;
  REQUIRE((best > 1 && best + 2 < grid.kernels.size()));
  // From either side the walk ends one kernel after the best.
  for (const bool from_narrow : {true, false}) {
    grid.narrower = from_narrow ? 0 : grid.kernels.size() - 1;
    grid.wider = from_narrow ? grid.kernels.size() - 1 : 0;
    const auto choice = bpm::choose(machine, grid, inputs, labels);
    const std::set<std::size_t> tried = tried_by(choice);
    CHECK(choice.chosen().kernel == best);
    CHECK(choice.chosen().loss == all.chosen().loss);
    CHECK(*tried.begin() == (from_narrow ? 0 : best - 1));
    CHECK(*tried.rbegin() == (from_narrow ? best + 1 : grid.kernels.size() - 1));
  }
  // Where no kernel is consistent, a narrower one may be.
  const bpm::RowMatrix<float> line{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}};
  const std::vector<int> alternating{1, 2, 1, 2, 1, 2, 1, 2, 1, 2};
  bpm::ChoiceGrid<Gaussian> hard{.kernels = {Gaussian::from_width(0.5), Gaussian::from_width(1e4)},
                                 .narrower = 1,
                                 .boundary = {.relative_lambdas = {0}}};
  CHECK(bpm::choose(machine, hard, line, alternating).chosen().kernel == 0);
}

TEST_CASE("choose tries biases, judges by errors, and by more points", "[selection]") {
  // Two rings around the origin under a linear kernel of their squares: without a bias every point
  // is far out.
  const auto [points, labels] = noisy_rings(400, 2, 0.1);
  const bpm::RowMatrix<float> inputs = points.array().square();
  const BayesPointMachine machine(bpm::Polynomial(1, 1, 0), PermutedPerceptron{}, {.seed = 3});
  bpm::ChoiceGrid<bpm::Polynomial> grid{.kernels = {bpm::Polynomial(1, 1, 0)}, .biases = {0, 1, 3}};
  const auto choice = bpm::choose(machine, grid, inputs, labels);
  CHECK(choice.chosen().bias > 0);
  CHECK(choice.machine.settings().bias == choice.chosen().bias);
  double without = 1;
  for (const bpm::ChoiceCandidate& one : choice.candidates) {
    if (one.bias == 0 && one.consistent) without = std::min(without, one.loss);
  }
  CHECK(choice.chosen().loss < without - 0.1);

  grid.by_error = true;
  const auto by_error = bpm::choose(machine, grid, inputs, labels);
  for (const bpm::ChoiceCandidate& one : by_error.candidates) {
    CHECK((!one.consistent || one.error >= by_error.chosen().error));
  }
  // On a small part the choice differs from that on all points; the larger part brings it near.
  bpm::ChoiceGrid<Gaussian> widths{.kernels = {}, .boundary = {.points = 60}, .more_points = 0};
  for (const double width : {0.1, 0.3, 1.0, 3.0})
    widths.kernels.push_back(Gaussian::from_width(width));
  const BayesPointMachine rings(Gaussian::from_width(1), PermutedPerceptron{}, {.seed = 3});
  const auto small = bpm::choose(rings, widths, points, labels);
  widths.more_points = 400;
  const auto more = bpm::choose(rings, widths, points, labels);
  CHECK(small.candidates.size() == more.candidates.size());
  const auto loss_on_all = [&](const bpm::ChoiceCandidate& one) {
    return bpm::cross_validate(
               BayesPointMachine(
                   widths.kernels[one.kernel], PermutedPerceptron{.draws = 5},
                   {.soft_boundary = SoftBoundary::relative(one.relative_lambda), .seed = 3}),
               points, labels)
        .slope()
        .loss;
  };
  CHECK(loss_on_all(more.chosen()) <= loss_on_all(small.chosen()) + 0.01);
  grid.boundary.draws = 0;
  CHECK(message_of([&] { (void)bpm::choose(machine, grid, inputs, labels); }) ==
        "choose: boundary has 0 draws, must have 1 or more");
}

TEST_CASE("neighbours that a larger part finds better by chance do not move the choice",
          "[selection]") {
  // Rings with a fifth of the labels wrong: boundaries and widths beside the best are no better
  // than it, and each is ahead on one split of 120 points as often as not.
  const auto moved = [](std::uint64_t seed, std::size_t points) {
    const auto [inputs, labels] = noisy_rings(600, 2, 0.2, seed);
    const bpm::ChoiceGrid<Gaussian> grid{
        .kernels = {Gaussian::from_width(1), Gaussian::from_width(1.5)},
        .boundary = {.relative_lambdas = {0.3, 1, 3}, .draws = 2, .points = points}};
    const BayesPointMachine machine(Gaussian::from_width(1), PermutedPerceptron{},
                                    {.seed = seed, .threads = 1});
    const auto choice = bpm::choose(machine, grid, inputs, labels);
    CHECK((choice.moved_by == 0 || choice.moved_by == 120));
    return choice.moved_by > 0;
  };
  int moves = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) moves += moved(seed, 400) ? 1 : 0;
  CHECK(moves <= 9);  // Without the standard errors 19.
  // Fewer points than 3/2 of the part are no larger part.
  for (std::uint64_t seed = 1; seed <= 30; ++seed) CHECK_FALSE(moved(seed, 410));
}

TEST_CASE("clearly better is smaller by a standard error", "[selection]") {
  const ChoiceCandidate ahead{.loss = 0.5, .error = 0.2};
  using bpm::detail::is_clearly_better;
  CHECK(is_clearly_better({.loss = 0.45, .standard_error = 0.039}, ahead, false, 100));
  CHECK_FALSE(is_clearly_better({.loss = 0.45, .standard_error = 0.041}, ahead, false, 100));
  // Of errors among 100 points: 0.15 + sqrt(0.15 0.85 / 100) + 0.01 = 0.1957, 0.16 + 0.0467.
  CHECK(is_clearly_better({.error = 0.15}, ahead, true, 100));
  CHECK_FALSE(is_clearly_better({.error = 0.16}, ahead, true, 100));
  // Where nobody errs.
  CHECK_FALSE(
      is_clearly_better({.loss = 0.004, .standard_error = 1e-6}, {.loss = 0.006}, false, 240));
  // What is not consistent has no loss.
  CHECK_FALSE(is_clearly_better({}, ahead, false, 100));
  CHECK_FALSE(is_clearly_better({}, ahead, true, 100));
}
