// SPDX-License-Identifier: MIT
#include "bpm/selection/automatic_boundary.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/decision/evaluation.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "catch.hpp"
#include "message_of.hpp"
#include "noisy_points.hpp"

using bpm::BayesPointMachine;
using bpm::Gaussian;
using bpm::OneVsRest;
using bpm::PermutedPerceptron;
using bpm::SoftBoundary;
using test_support::message_of;
using test_support::noisy_stripes;

namespace {

bpm::FitSettings automatic(unsigned threads = 2) {
  return {.soft_boundary = SoftBoundary::automatic(), .seed = 4, .threads = threads};
}

}  // namespace

TEST_CASE("an automatic boundary is judged by points that are not alone in their class",
          "[selection]") {
  const bpm::RowMatrix<double> inputs = bpm::RowMatrix<double>::Random(12, 2);
  const std::vector<int> labels{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 2, 3};
  const auto fitted =
      OneVsRest(BayesPointMachine(Gaussian::from_width(1), PermutedPerceptron{}, automatic()))
          .fit(inputs, labels);
  REQUIRE(fitted.notes.boundary);
  CHECK(fitted.notes.boundary->points == 10);
  // A share of ten.
  const double errors = 10 * fitted.notes.boundary->candidates.back().error;
  CHECK(std::abs(errors - std::round(errors)) < 1e-9);
}

TEST_CASE("an automatic boundary fits what overlaps, and says how", "[selection]") {
  const int classes = GENERATE(2, 3);
  const auto [inputs, labels] = noisy_stripes(200, classes, 0.2);
  const PermutedPerceptron sampler{.draws = 3};
  // Wide enough that no hard boundary separates these labels.
  const Gaussian kernel = Gaussian::from_width(20);
  const auto fitted =
      OneVsRest(BayesPointMachine(kernel, sampler, automatic())).fit(inputs, labels);
  const auto& boundary = fitted.notes.boundary;
  REQUIRE(boundary);
  CHECK(boundary->points == 200);
  CHECK(boundary->candidates.size() == bpm::detail::default_relative_lambdas.size());
  CHECK_FALSE(boundary->candidates.front().consistent);
  CHECK(boundary->candidates.back().consistent);
  CHECK(boundary->relative_lambda > 0);
  CHECK(boundary->raised == 0);
  CHECK(boundary->fold_rows == 160);  // Four of five folds.

  // The classifier is that of the boundary it names, and does not depend on threads.
  auto settings = automatic();
  settings.soft_boundary = SoftBoundary::relative(boundary->relative_lambda);
  const auto named = OneVsRest(BayesPointMachine(kernel, sampler, settings)).fit(inputs, labels);
  CHECK(named.coefficients() == fitted.coefficients());
  CHECK_FALSE(named.notes.boundary);
  const auto one = OneVsRest(BayesPointMachine(kernel, sampler, automatic(1))).fit(inputs, labels);
  CHECK(one.coefficients() == fitted.coefficients());
}

TEST_CASE("a search tries the values that it has, on the points, folds and draws that it has",
          "[selection]") {
  const auto [inputs, labels] = noisy_stripes(400, 2, 0.1);
  const bpm::AutomaticBoundary boundary{
      .relative_lambdas = {0.1, 1}, .folds = 4, .draws = 2, .points = 120};
  const BayesPointMachine machine(Gaussian::from_width(0.3), boundary, automatic());
  CHECK(machine.forecast(inputs).choosing_bytes == 16 * 120 * 120);
  const auto found = machine.fit(inputs, labels).notes.boundary;
  REQUIRE(found);
  REQUIRE(found->candidates.size() == 2);
  CHECK(found->candidates[0].relative_lambda == 0.1);
  CHECK(found->candidates[1].relative_lambda == 1);
  CHECK((found->relative_lambda == 0.1 || found->relative_lambda == 1));
  CHECK(found->points > 110);  // Of each class its share, rounded down.
  CHECK(found->points <= 120);
  CHECK(found->fold_rows == 0.75 * static_cast<double>(found->points));
  CHECK(found->fold_draws == 2);
}

TEST_CASE("what a search cannot try is refused", "[selection]") {
  const auto [inputs, labels] = noisy_stripes(40, 2, 0.1);
  const auto message = [&, &inputs = inputs, &labels = labels](bpm::AutomaticBoundary boundary) {
    return message_of([&] {
      static_cast<void>(
          BayesPointMachine(Gaussian::from_width(0.3), std::move(boundary)).fit(inputs, labels));
    });
  };
  CHECK(message({.relative_lambdas = {}}) == "BayesPointMachine::fit: boundary has no lambda");
  CHECK(message({.relative_lambdas = {1, 0}}) ==
        "BayesPointMachine::fit: boundary has lambdas that do not ascend");
  CHECK(message({.relative_lambdas = {-1}}) ==
        "BayesPointMachine::fit: boundary has the lambda -1, must be finite and not negative");
  CHECK(message({.draws = 0}) ==
        "BayesPointMachine::fit: boundary has 0 draws, must have 1 or more");
  CHECK(message({.folds = 1}).starts_with("Folds::stratified: count is 1, must be 2 or more"));
}

TEST_CASE("a given boundary makes the machine of one in the settings, without a search",
          "[selection]") {
  const auto [inputs, labels] = noisy_stripes(200, 2, 0.1);
  const Gaussian kernel = Gaussian::from_width(0.3);
  const SoftBoundary soft = SoftBoundary::relative(0.1);
  bpm::FitSettings settings = automatic();
  settings.soft_boundary = soft;
  const BayesPointMachine searching(kernel, PermutedPerceptron{}, settings);
  const BayesPointMachine given(kernel, soft, automatic());
  static_assert(std::same_as<decltype(given),
                             const BayesPointMachine<Gaussian, PermutedPerceptron, SoftBoundary>>);
  CHECK(given.settings().soft_boundary.signature() == soft.signature());
  CHECK(given.boundary().signature() == soft.signature());
  const auto of_settings = searching.fit(inputs, labels);
  const auto fitted = given.fit(inputs, labels);
  CHECK(of_settings.coefficients() == fitted.coefficients());
  CHECK(OneVsRest(given).fit(inputs, labels).coefficients() == fitted.coefficients());
  auto training = given.train(inputs, labels);
  CHECK(training.classifier().coefficients() == fitted.coefficients());
  CHECK_FALSE(fitted.notes.boundary);
  CHECK(fitted.parts().slope == 0);
  CHECK(given.forecast(inputs).choosing_bytes == 0);

  const BayesPointMachine billiard(kernel, bpm::Billiard{.draws = 50}, soft, automatic());
  bpm::FitSettings of_billiard = automatic();
  of_billiard.soft_boundary = soft;
  CHECK(billiard.fit(inputs, labels).coefficients() ==
        BayesPointMachine(kernel, bpm::Billiard{.draws = 50}, of_billiard)
            .fit(inputs, labels)
            .coefficients());
}

TEST_CASE("a given boundary is one, not the wish for a search", "[selection]") {
  const auto [inputs, labels] = noisy_stripes(40, 2, 0.1);
  const BayesPointMachine machine(Gaussian::from_width(0.3), SoftBoundary::automatic());
  CHECK(message_of([&, &inputs = inputs, &labels = labels] {
          static_cast<void>(machine.fit(inputs, labels));
        }) ==
        "BayesPointMachine::fit: boundary is automatic, must be a lambda: a machine without a "
        "boundary chooses it");
}

TEST_CASE("draws added keep the boundary that was chosen", "[selection]") {
  const auto [inputs, labels] = noisy_stripes(120, 2, 0.2);
  const Gaussian kernel = Gaussian::from_width(2);
  auto training =
      BayesPointMachine(kernel, PermutedPerceptron{.draws = 2}, automatic()).train(inputs, labels);
  training.add_draws(3);
  const auto whole =
      BayesPointMachine(kernel, PermutedPerceptron{.draws = 5}, automatic()).fit(inputs, labels);
  CHECK(training.classifier().coefficients() == whole.coefficients());
}

TEST_CASE("a user's matrix and noisy samplers have their automatic boundary", "[selection]") {
  const auto [inputs, labels] = noisy_stripes(100, 2, 0.2);
  const Gaussian kernel = Gaussian::from_width(2);
  const bpm::RowMatrix<double> values = bpm::kernel_matrix(kernel, inputs);
  const auto brought =
      BayesPointMachine(bpm::PrecomputedKernel{}, PermutedPerceptron{}, automatic())
          .fit(values, labels);
  CHECK(brought.notes.boundary->relative_lambda ==
        BayesPointMachine(kernel, PermutedPerceptron{}, automatic())
            .fit(inputs, labels)
            .notes.boundary->relative_lambda);
  const bpm::KernelGibbs gibbs{.draws = 20, .label_noise = 0.2};
  const auto soft = BayesPointMachine(kernel, gibbs, automatic()).fit(inputs, labels);
  auto settings = automatic();
  settings.soft_boundary = SoftBoundary::hard();
  const auto hard = BayesPointMachine(kernel, gibbs, settings).fit(inputs, labels);
  CHECK_FALSE(soft.notes.boundary);
  CHECK(soft.coefficients() == hard.coefficients());
}

TEST_CASE("a Gibbs sampler without label noise has it chosen", "[selection][at length]") {
  const auto [inputs, labels] = noisy_stripes(150, 2, 0.2);
  const Gaussian kernel = Gaussian::from_width(3);
  const bpm::KernelGibbs gibbs{.draws = 20};
  auto training = BayesPointMachine(kernel, gibbs, automatic()).train(inputs, labels);
  const auto fitted = training.classifier();
  const auto& boundary = fitted.notes.boundary;
  REQUIRE(boundary);
  CHECK(boundary->relative_lambda == 0);
  // A fifth of the labels is wrong: without noise it cannot be as good.
  CHECK(boundary->label_noise > 0);
  CHECK(boundary->candidates.back().consistent);
  // A narrow kernel is consistent without noise as well, and says less of the others.
  const auto narrow =
      BayesPointMachine(Gaussian::from_width(1), gibbs, automatic()).fit(inputs, labels);
  const auto& all_consistent = narrow.notes.boundary->candidates;
  REQUIRE(all_consistent.front().consistent);
  const auto chosen = std::ranges::find(all_consistent, narrow.notes.boundary->label_noise,
                                        &bpm::ChoiceCandidate::label_noise);
  REQUIRE(chosen != all_consistent.end());
  CHECK(all_consistent.front().loss > chosen->loss + 0.02);
  CHECK(boundary->candidates.size() == bpm::detail::default_label_noises.size());
  CHECK(boundary->slope > 0);
  auto settings = automatic();
  settings.soft_boundary = SoftBoundary::hard();
  const auto named =
      BayesPointMachine(kernel, gibbs.with_label_noise(boundary->label_noise), settings)
          .train(inputs, labels);
  CHECK(named.classifier().coefficients() == fitted.coefficients());
  // Draws added have the same.
  training.add_draws(10);
  auto more = named;
  more.add_draws(10);
  CHECK(training.classifier().coefficients() == more.classifier().coefficients());

  // Nothing to choose by, and no consistent classifier without noise.
  const bpm::RowMatrix<float> same = bpm::RowMatrix<float>::Constant(2, 1, 1);
  const auto raised = BayesPointMachine(Gaussian::from_width(1), gibbs, automatic())
                          .fit(same, std::vector<int>{0, 1});
  CHECK(raised.notes.boundary->raised == 1);
  CHECK(raised.notes.boundary->label_noise == 0.003);
  CHECK(raised.notes.boundary->relative_lambda == 0);

  // Class weights are a lambda's: with them that is chosen.
  auto weighted = automatic();
  weighted.soft_boundary = weighted.soft_boundary.with_class_weights({{1, 5.0}});
  const auto by_lambda = BayesPointMachine(kernel, gibbs, weighted).fit(inputs, labels);
  CHECK(by_lambda.notes.boundary->label_noise == 0);
  CHECK(by_lambda.notes.boundary->relative_lambda > 0);
  CHECK(by_lambda.notes.boundary->candidates.size() ==
        bpm::detail::default_relative_lambdas.size());

  auto begun = automatic();
  begun.boundary_choice = bpm::BoundaryChoice{.label_noise = 0.1};
  CHECK(message_of([&] {
          (void)BayesPointMachine(kernel, PermutedPerceptron{}, begun).fit(inputs, labels);
        }) ==
        "BayesPointMachine::fit: boundary_choice has label noise, which the sampler does not take");
  begun.boundary_choice = bpm::BoundaryChoice{.label_noise = 0.5};
  CHECK(message_of([&] { (void)BayesPointMachine(kernel, gibbs, begun).fit(inputs, labels); }) ==
        "KernelGibbs: label_noise is 0.5, must be at least 0 and below 1/2");
}

TEST_CASE("where the whole is not consistent lambda is raised", "[selection]") {
  bpm::BoundaryChoice choice{.relative_lambda = 0};
  std::vector<double> raised;
  for (int i = 0; i < 9; ++i) {
    bpm::detail::raise_boundary(choice);
    raised.push_back(choice.relative_lambda);
  }
  CHECK(raised == std::vector<double>{0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 6, 12});
  CHECK(choice.raised == 9);

  // What was tried goes before the default grid.
  bpm::BoundaryChoice own{.relative_lambda = 0.1,
                          .candidates = {{.relative_lambda = 0.1}, {.relative_lambda = 0.7}}};
  bpm::detail::raise_boundary(own);
  CHECK(own.relative_lambda == 0.7);
  bpm::detail::raise_boundary(own);
  CHECK(own.relative_lambda == 1);

  // Slope and offsets are then those found at the lambda taken, or at the nearest smaller one.
  bpm::BoundaryChoice tried{.relative_lambda = 0, .slope = 1, .offsets = {0.5}};
  tried.candidates = {{.relative_lambda = 0, .slope = 1, .offsets = {0.5}},
                      {.relative_lambda = 0.003, .slope = 0},
                      {.relative_lambda = 0.01, .slope = 7, .offsets = {-2}}};
  std::vector<double> slopes;
  std::vector<double> offsets;
  for (int i = 0; i < 3; ++i) {
    bpm::detail::raise_boundary(tried);
    slopes.push_back(tried.slope);
    offsets.push_back(tried.offsets.at(0));
  }
  CHECK(slopes == std::vector<double>{1, 7, 7});
  CHECK(offsets == std::vector<double>{0.5, -2, -2});
  bpm::BoundaryChoice noisy{.slope = 1};
  noisy.candidates = {{.label_noise = 0, .slope = 1},
                      {.label_noise = bpm::detail::default_label_noises[1], .slope = 3},
                      {.label_noise = bpm::detail::default_label_noises[2], .slope = 5}};
  bpm::detail::raise_boundary(noisy, true);
  CHECK(noisy.slope == 3);

  // Two points of one place, each alone in its class: nothing to choose by, and hard boundaries
  // cannot separate them.
  const bpm::RowMatrix<float> same = bpm::RowMatrix<float>::Constant(2, 1, 1);
  const auto fitted = BayesPointMachine(Gaussian::from_width(1), PermutedPerceptron{}, automatic())
                          .fit(same, std::vector<int>{0, 1});
  CHECK(fitted.notes.boundary->raised == 1);
  CHECK(fitted.notes.boundary->relative_lambda == 0.003);
}

TEST_CASE("the part on which a boundary is chosen has shares of every class", "[selection]") {
  std::vector<int> labels(2000, 7);
  std::fill_n(labels.begin(), 500, -2);
  std::fill_n(labels.begin() + 700, 4, 100);
  const auto part = bpm::detail::ChoicePart(labels, 200, 1).points;
  CHECK(std::is_sorted(part.begin(), part.end()));
  const auto count = [&](int label) {
    return std::count_if(part.begin(), part.end(), [&](auto i) { return labels[i] == label; });
  };
  CHECK(count(-2) == 50);
  CHECK(count(7) == 149);  // 1496 / 2000 of 200, rounded down.
  CHECK(count(100) == 4);  // All there are.
  CHECK(bpm::detail::ChoicePart(labels, 2000, 1).points.size() == 2000);
}

TEST_CASE("the part on which a boundary is chosen is drawn, whatever the file's order",
          "[selection]") {
  // Of 2 000 points of one class 200: of the file's first half 100 with a deviation of 6.7, over
  // 50 seeds 5 000 with one of 47.
  const std::vector<int> labels(2000, 3);
  std::ptrdiff_t first_half = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto part = bpm::detail::ChoicePart(labels, 200, seed).points;
    REQUIRE(part.size() == 200);
    first_half += std::count_if(part.begin(), part.end(), [](auto i) { return i < 1000; });
  }
  CHECK(std::abs(first_half - 5000) < 5 * 47);
  CHECK(bpm::detail::ChoicePart(labels, 200, 1).points ==
        bpm::detail::ChoicePart(labels, 200, 1).points);
  CHECK(bpm::detail::ChoicePart(labels, 200, 1).points !=
        bpm::detail::ChoicePart(labels, 200, 2).points);
}

TEST_CASE("an automatic boundary says what it cannot do", "[selection]") {
  const auto [inputs, labels] = noisy_stripes(200, 2, 0.2);
  const BayesPointMachine machine(Gaussian::from_width(2), PermutedPerceptron{}, automatic());
  CHECK(message_of([&] {
          (void)machine.fit(inputs, labels, [](const bpm::Progress&) { return false; });
        }) == "BayesPointMachine::fit: stopped while choosing the soft boundary");
  const bpm::RowMatrix<double> narrow = bpm::RowMatrix<double>::Identity(200, 199);
  CHECK(message_of([&] {
          (void)BayesPointMachine(bpm::PrecomputedKernel{}, PermutedPerceptron{}, automatic())
              .fit(narrow, labels);
        }) == "PrecomputedGram: values is 200 x 199, must be square");
  auto settings = automatic(1);
  settings.memory = 500'000;
  const BayesPointMachine small(Gaussian::from_width(2), PermutedPerceptron{.draws = 1}, settings);
  CHECK(message_of([&] { (void)small.fit(inputs, labels); }) ==
        "BayesPointMachine::fit: memory is 500000 bytes, 200 points need 640000 to choose the soft "
        "boundary; raise memory or give a soft boundary");
  CHECK(message_of([&] { (void)small.forecast(inputs); }) ==
        "BayesPointMachine::forecast: memory is 500000 bytes, 200 points need 640000 to choose the "
        "soft boundary; raise memory or give a soft boundary");
  CHECK(message_of([&] {
          (void)SoftBoundary::automatic().resolve([](auto) { return 1.0; }, std::vector<int>{1});
        }) ==
        "SoftBoundary::automatic: lambda is chosen by BayesPointMachine and OneVsRest; give one "
        "here");
  const bpm::Billiard started{.start_coefficients = std::vector<double>(200, 1.0)};
  CHECK(
      message_of([&] {
        (void)BayesPointMachine(Gaussian::from_width(2), started, automatic()).fit(inputs, labels);
      }) ==
      "Billiard: soft_boundary is automatic, must be given with start_coefficients, which lie in "
      "its version space");
}

TEST_CASE("class weights move labels, and leave probabilities those of the classes",
          "[selection][at length]") {
  // One row in eight is of the rare class, which overlaps with the other: with weights most of it
  // is found, and the probabilities still say how often it comes.
  const auto make = [](int count, std::uint64_t seed) {
    bpm::RandomEngine engine(seed);
    bpm::NormalDraws normal;
    test_support::LabelledPoints points{bpm::RowMatrix<float>(count, 2), {}};
    for (int i = 0; i < count; ++i) {
      const int label = i % 8 == 0 ? 1 : 0;
      points.inputs.row(i) << static_cast<float>(normal(engine) + 1.2 * label),
          static_cast<float>(normal(engine));
      points.labels.push_back(label);
    }
    return points;
  };
  const int count = GENERATE(800, 6400);  // By folds, and by the fit's own draws.
  CAPTURE(count);
  const auto [inputs, labels] = make(count, 1);
  const auto [others, truth] = make(4000, 2);
  auto settings = automatic();
  settings.soft_boundary = settings.soft_boundary.with_class_weights({{1, 8.0}, {0, 1.0}});
  const auto weighted = BayesPointMachine(Gaussian::from_width(2), PermutedPerceptron{}, settings)
                            .fit(inputs, labels);
  const auto plain = BayesPointMachine(Gaussian::from_width(2), PermutedPerceptron{}, automatic())
                         .fit(inputs, labels);
  const auto recall = [&](const auto& fitted) {
    const std::vector<int> said = fitted.predict(others);
    double found = 0;
    for (std::size_t i = 0; i < said.size(); i += 8) found += said[i];
    return found / 500;
  };
  CHECK(recall(weighted) > recall(plain) + 0.2);
  REQUIRE(weighted.parts().offsets.size() == 1);
  CHECK_FALSE(weighted.parts().offsets_move_labels);
  settings.soft_boundary = SoftBoundary::relative(0.1).with_class_weights({{1, 8.0}});
  CHECK_FALSE(BayesPointMachine(Gaussian::from_width(2), PermutedPerceptron{}, settings)
                  .fit(inputs, labels)
                  .parts()
                  .offsets_move_labels);
  CHECK(weighted.shifted(weighted.decision_values(others)) == weighted.decision_values(others));
  CHECK(plain.parts().offsets.empty());
  const Eigen::MatrixXd p = weighted.predict_probability(others);
  // A slope alone would put it above 0.2; folds are of fewer points than the fit.
  CHECK(p.mean() == Approx(0.125).margin(count == 800 ? 0.03 : 0.02));
  CHECK(bpm::calibration_error(bpm::reliability_diagram(p, truth, weighted.classes())) < 0.03);
}
