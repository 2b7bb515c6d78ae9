// SPDX-License-Identifier: MIT
#include "bpm/machine/one_vs_one.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bpm/decision/evaluation.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/input_encoding.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "bpm/selection/choose.hpp"
#include "bpm/selection/cross_validate.hpp"
#include "catch.hpp"
#include "data_sets.hpp"
#include "message_of.hpp"
#include "noisy_points.hpp"
#include "standardising.hpp"

using bpm::BayesPointMachine;
using bpm::FitSettings;
using bpm::Gaussian;
using bpm::OneVsOne;
using bpm::OneVsRest;
using bpm::PermutedPerceptron;
using bpm::Polynomial;
using bpm::SoftBoundary;
using machine_tests::Doubles;
using test_support::message_of;
using test_support::noisy_rings;
using test_support::standardising;

namespace {

/// Decision values by machines fitted pair by pair: the mean of tanh(f / u) over the pairs of a
/// class, u = sum_i alpha_i f_i / sum_i |alpha_i|. Of the mean, or of the draw with this number.
template <class Kernel, class Sampler>
[[nodiscard]] Eigen::MatrixXd values_of_pairs(const Kernel& kernel, const Sampler& sampler,
                                              const FitSettings& settings, const Doubles& inputs,
                                              const std::vector<int>& labels,
                                              const std::vector<int>& classes,
                                              const Doubles& others, int draw = -1) {
  const Eigen::Index count = std::ssize(classes);
  Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(others.rows(), count);
  for (Eigen::Index a = 0; a < count; ++a) {
    for (Eigen::Index b = a + 1; b < count; ++b) {
      std::vector<Eigen::Index> rows;
      std::vector<int> of_pair;
      for (std::size_t i = 0; i < labels.size(); ++i) {
        if (labels[i] != classes[static_cast<std::size_t>(a)] &&
            labels[i] != classes[static_cast<std::size_t>(b)]) {
          continue;
        }
        rows.push_back(static_cast<Eigen::Index>(i));
        of_pair.push_back(labels[i]);
      }
      const auto fitted = BayesPointMachine(kernel, sampler, settings)
                              .fit(Doubles(inputs(rows, Eigen::all)), of_pair);
      const Eigen::VectorXd alpha = fitted.coefficients().col(0);
      const Eigen::VectorXd at_support = fitted.decision_values(fitted.parts().inputs);
      const double unit = alpha.dot(at_support) / alpha.cwiseAbs().sum();
      Eigen::MatrixXd values = fitted.decision_values(others);
      if (draw >= 0) values = fitted.draw_decision_values(others).col(draw);
      const Eigen::VectorXd says = (values.array() / unit).tanh();
      sums.col(b) += says;
      sums.col(a) -= says;
    }
  }
  return sums / static_cast<double>(count - 1);
}

/// Four clusters, and what a machine of pairs is asked for.
struct Clusters {
  Doubles inputs{80, 2};
  std::vector<int> labels;
  std::vector<int> classes{-5, 0, 2, 9};

  Clusters() {
    const auto [points, places] = test_support::noisy_stripes(80, 4, 0.1);
    inputs = points.leftCols(2).cast<double>();
    for (const int place : places) labels.push_back(classes[static_cast<std::size_t>(place)]);
  }
};

/// Perceptrons that several processes would make together.
struct SharedPerceptron : PermutedPerceptron {
  static constexpr bpm::SamplerTraits traits{.computes_blocks = true, .collective = true};
  [[nodiscard]] SharedPerceptron with_draws(std::uint64_t count) const {
    return {PermutedPerceptron::with_draws(count)};
  }
};

static_assert(bpm::detail::fits_pairs<PermutedPerceptron>);
static_assert(bpm::detail::fits_pairs<bpm::Billiard>);
static_assert(!bpm::detail::fits_pairs<SharedPerceptron>);

}  // namespace

TEST_CASE("one against one: a class's value is the mean of what its pairs say", "[machine]") {
  const Clusters set;
  const FitSettings settings{
      .soft_boundary = SoftBoundary::relative(0.5), .bias = 0, .keep_draws = true, .chosen = true};
  const Polynomial kernel(3);
  const PermutedPerceptron sampler{.draws = 4};
  const OneVsOne machine(BayesPointMachine(kernel, sampler, settings));
  const auto fitted = machine.fit(set.inputs, set.labels);
  const Doubles others = set.inputs.topRows(30).array() + 0.1;
  const Eigen::MatrixXd values = fitted.decision_values(others);
  const Eigen::MatrixXd expected =
      values_of_pairs(kernel, sampler, settings, set.inputs, set.labels, set.classes, others);
  CHECK((values - expected).cwiseAbs().maxCoeff() < 1e-9);
  CHECK(values.cwiseAbs().maxCoeff() > 0.01);
  // An input's values are the same bits in a batch of any size.
  CHECK(fitted.decision_values(Doubles(others.middleRows(11, 5))) == values.middleRows(11, 5));
  CHECK(fitted.classes() == set.classes);
  CHECK(fitted.parts().one_against_one);
  CHECK(fitted.notes.chosen);
  CHECK(fitted.parts().slope == 0);  // Nothing was left out.
  CHECK(fitted.parts().training_errors.empty());
  CHECK(fitted.report().draws == 4);
  CHECK(fitted.report().converged);

  // Draws that are kept, in the units of the mean.
  for (int n = 0; n < 4; ++n) {
    const Eigen::MatrixXd draw =
        values_of_pairs(kernel, sampler, settings, set.inputs, set.labels, set.classes, others, n);
    CHECK((fitted.draw_decision_values(others).middleCols(n * 4, 4) - draw).cwiseAbs().maxCoeff() <
          1e-9);
  }
  const Eigen::MatrixXd votes = fitted.vote_fractions(others);
  CHECK(votes.cols() == 4);
  CHECK((votes.rowwise().sum().array() - 1).abs().maxCoeff() < 1e-12);

  // Kernel values that the user brings.
  const Doubles matrix = bpm::kernel_matrix(kernel, set.inputs);
  FitSettings brought = settings;
  brought.bias.reset();
  const auto by_matrix = OneVsOne(BayesPointMachine(bpm::PrecomputedKernel{}, sampler, brought))
                             .fit(matrix, set.labels);
  CHECK(by_matrix.support() == fitted.support());
  CHECK((by_matrix.coefficients() - fitted.coefficients()).cwiseAbs().maxCoeff() < 1e-9);

  // Two classes are one pair.
  std::vector<int> two = set.labels;
  for (int& label : two) label = label > 0 ? 1 : 0;
  const auto pair = machine.fit(set.inputs, two);
  const auto alone = OneVsRest(BayesPointMachine(kernel, sampler, settings)).fit(set.inputs, two);
  CHECK(pair.coefficients() == alone.coefficients());
  CHECK_FALSE(pair.parts().one_against_one);
}

TEST_CASE("pairs have the bias of all points", "[machine]") {
  const Clusters set;
  const Polynomial kernel(2);
  const PermutedPerceptron sampler{.draws = 2};
  const FitSettings settings{.soft_boundary = SoftBoundary::relative(0.5), .bias = 0.7};
  const auto fitted =
      OneVsOne(BayesPointMachine(kernel, sampler, settings)).fit(set.inputs, set.labels);
  const double mean = bpm::kernel_matrix(kernel, set.inputs).diagonal().mean();
  CHECK(fitted.parts().bias == Approx(0.7 * mean));
  // The same constant beside a kernel of one's own.
  const double bias = fitted.parts().bias;
  const auto own = [bias](const auto& x, const auto& z) {
    const double one = x.dot(z) + 1;
    return one * one + bias;
  };
  FitSettings none = settings;
  none.bias = 0;
  const Eigen::MatrixXd expected =
      values_of_pairs(own, sampler, none, set.inputs, set.labels, set.classes, set.inputs);
  CHECK((fitted.decision_values(set.inputs) - expected).cwiseAbs().maxCoeff() < 1e-9);
}

TEST_CASE("pairs by other samplers", "[machine][at length]") {
  const Clusters set;
  const FitSettings settings{.soft_boundary = SoftBoundary::relative(0.5)};
  const bpm::Billiard billiard{.draws = 20};
  const auto fitted = OneVsOne(BayesPointMachine(Gaussian::from_width(1), billiard, settings))
                          .fit(set.inputs, set.labels);
  const Eigen::MatrixXd expected = values_of_pairs(Gaussian::from_width(1), billiard, settings,
                                                   set.inputs, set.labels, set.classes, set.inputs);
  CHECK((fitted.decision_values(set.inputs) - expected).cwiseAbs().maxCoeff() < 1e-9);
  // Label noise in lambda's place, one for all pairs.
  FitSettings with_noise;
  with_noise.boundary_choice = bpm::BoundaryChoice{.label_noise = 0.1};
  const auto noisy =
      OneVsOne(BayesPointMachine(Gaussian::from_width(1), bpm::KernelGibbs{.draws = 5}, with_noise))
          .fit(set.inputs, set.labels);
  CHECK(noisy.notes.boundary->label_noise == 0.1);
  FitSettings given = settings;
  given.soft_boundary = SoftBoundary::hard();
  const auto alike =
      OneVsOne(BayesPointMachine(Gaussian::from_width(1),
                                 bpm::KernelGibbs{.draws = 5, .label_noise = 0.1}, given))
          .fit(set.inputs, set.labels);
  CHECK(alike.coefficients() == noisy.coefficients());
}

TEST_CASE("folds of pairs are fits of pairs", "[machine]") {
  const auto [inputs, labels] = noisy_rings(160, 3, 0.1);
  FitSettings settings{.soft_boundary = SoftBoundary::relative(0.3), .seed = 5};
  const PermutedPerceptron sampler{.draws = 3};
  const Gaussian kernel = Gaussian::from_width(1);
  const auto found = bpm::cross_validate(OneVsOne(BayesPointMachine(kernel, sampler, settings)),
                                         inputs, labels, 4);
  // Where memory does not hold the matrix each fold fits by itself.
  settings.memory = 400'000;
  const auto again = bpm::cross_validate(OneVsOne(BayesPointMachine(kernel, sampler, settings)),
                                         inputs, labels, 4);
  CHECK((found.decision_values - again.decision_values).cwiseAbs().maxCoeff() < 1e-6);
  const auto rest = bpm::cross_validate(OneVsRest(BayesPointMachine(kernel, sampler, settings)),
                                        inputs, labels, 4);
  CHECK((found.decision_values - rest.decision_values).cwiseAbs().maxCoeff() > 0.01);
}

TEST_CASE("an automatic boundary is one for all pairs, with slope and offsets",
          "[machine][at length]") {
  const auto [inputs, labels] = noisy_rings(400, 4, 0.05);
  const auto [others, truth] = noisy_rings(800, 4, 0.05, 2);
  const PermutedPerceptron sampler{.draws = 3};
  const auto fitted =
      OneVsOne(BayesPointMachine(Gaussian::from_width(1), sampler)).fit(inputs, labels);
  const bpm::BoundaryChoice& choice = fitted.notes.boundary.value();
  CHECK(choice.relative_lambda > 0);
  CHECK(fitted.parts().slope == Approx(choice.slope * choice.slope_factor(400, 3)));
  CHECK(fitted.parts().offsets == choice.offsets);
  CHECK(fitted.parts().offsets.size() == 4);
  CHECK(fitted.parts().probability_rows == 400);
  const Eigen::MatrixXd probabilities = fitted.predict_probability(others);
  const double error = bpm::error_rate(truth, fitted.predict(others));
  CHECK(error < 0.15);
  CHECK(bpm::log_loss(probabilities, truth, fitted.classes()) < 0.6);
  // The fit of given lambda is the same machine.
  const auto given =
      OneVsOne(BayesPointMachine(Gaussian::from_width(1),
                                 PermutedPerceptron{.draws = 3, .max_passes = 200},
                                 {.soft_boundary = SoftBoundary::relative(choice.relative_lambda)}))
          .fit(inputs, labels);
  CHECK(given.coefficients() == fitted.coefficients());
  // A choice that is too hard is raised, for all pairs.
  FitSettings hard;
  hard.boundary_choice = bpm::BoundaryChoice{};
  const auto raised =
      OneVsOne(BayesPointMachine(Gaussian::from_width(3), sampler, hard)).fit(inputs, labels);
  CHECK(raised.notes.boundary->raised > 0);
  CHECK(raised.notes.boundary->relative_lambda > 0);
}

TEST_CASE("choose takes pairs where classes lie in one another", "[machine][at length]") {
  const auto [inputs, labels] = noisy_rings(600, 4, 0.1);
  const auto [others, truth] = noisy_rings(2000, 4, 0.1, 2);
  const OneVsRest machine(
      BayesPointMachine(Gaussian::from_width(1), PermutedPerceptron{.draws = 5}, {.bias = 1}));
  bpm::ChoiceGrid<Gaussian> grid{.kernels = {Gaussian::from_width(2), Gaussian::from_width(4)},
                                 .boundary = {.relative_lambdas = {0.03, 0.3, 3}}};
  const auto rest = bpm::choose(machine, grid, inputs, labels);
  CHECK(rest.candidates.size() == 6);
  CHECK_FALSE(rest.chosen().one_against_one);
  grid.one_against_one = true;
  const auto both = bpm::choose(machine, grid, inputs, labels);
  REQUIRE(both.candidates.size() == 12);
  for (std::size_t i = 0; i < 12; ++i) CHECK(both.candidates[i].one_against_one == (i >= 6));
  CHECK(both.candidates[6].kernel == rest.chosen().kernel);
  for (const std::size_t kernel : {0U, 1U}) {
    for (const double lambda : grid.boundary.relative_lambdas) {
      CHECK(std::ranges::count_if(both.candidates, [&](const bpm::ChoiceCandidate& one) {
              return one.one_against_one && one.kernel == kernel && one.relative_lambda == lambda;
            }) == 1);
    }
  }
  REQUIRE(both.chosen().one_against_one);
  CHECK(both.chosen().loss + both.chosen().standard_error < rest.chosen().loss);
  for (const auto& one : both.boundary.candidates) CHECK(one.one_against_one);
  CHECK(
      std::ranges::is_sorted(both.boundary.candidates, {}, &bpm::ChoiceCandidate::relative_lambda));
  CHECK(both.boundary.candidates.size() == 3);
  const auto pairs = both.fit(inputs, labels);
  CHECK(pairs.parts().one_against_one);
  const auto loss = [&, &asked = others, &right = truth](const auto& fitted) {
    return bpm::log_loss(fitted.predict_probability(asked), right, fitted.classes());
  };
  CHECK(loss(pairs) < loss(rest.fit(inputs, labels)));
  // Its boundary is not that of machines of a class against the rest, nor the other way round.
  CHECK(message_of([&, &x = inputs, &y = labels] { (void)both.machine.fit(x, y); }) ==
        "OneVsRest::fit: boundary_choice is of pairs of classes: fit them by Choice::fit, or "
        "OneVsOne");
  // So it is where the boundary was with_lambda.
  const auto with_lambda = bpm::choose(
      OneVsRest(BayesPointMachine(Gaussian::from_width(1), PermutedPerceptron{.draws = 5},
                                  {.soft_boundary = bpm::SoftBoundary::relative(1), .bias = 1})),
      grid, inputs, labels);
  REQUIRE(with_lambda.chosen().one_against_one);
  CHECK(with_lambda.fit(inputs, labels).parts().one_against_one);
  CHECK(message_of([&, &x = inputs, &y = labels] {
          (void)with_lambda.machine.fit(x, y);
        }).starts_with("OneVsRest::fit: boundary_choice is of pairs of classes"));
  CHECK(message_of(
            [&, &x = inputs, &y = labels] { (void)OneVsOne(rest.machine.machine()).fit(x, y); }) ==
        "OneVsOne::fit: boundary_choice is of a class against the rest, must be of pairs of "
        "classes");

  // A machine that is of pairs already, and one whose lambda is not one for any points.
  FitSettings settings = machine.settings();
  const auto given =
      bpm::choose(OneVsOne(BayesPointMachine(Gaussian::from_width(1),
                                             PermutedPerceptron{.draws = 5}, settings)),
                  grid, inputs, labels);
  CHECK(given.candidates.size() == 6);
  CHECK(given.chosen().one_against_one);
  settings.soft_boundary = SoftBoundary::automatic().with_class_weights({{0, 2.0}});
  const auto weighted =
      bpm::choose(OneVsRest(BayesPointMachine(Gaussian::from_width(1),
                                              PermutedPerceptron{.draws = 5}, settings)),
                  grid, inputs, labels);
  CHECK(weighted.candidates.size() == 6);
}

TEST_CASE("choose leaves clusters as they are, and tries no pairs of many classes", "[machine]") {
  const Doubles inputs = machine_tests::triangle(120, 1, 0.9);
  const std::vector<int> labels = machine_tests::three_labels(120);
  const OneVsRest machine(
      BayesPointMachine(Gaussian::from_width(1), PermutedPerceptron{.draws = 5}, {.bias = 1}));
  bpm::ChoiceGrid<Gaussian> grid{.kernels = {Gaussian::from_width(1), Gaussian::from_width(2)},
                                 .boundary = {.relative_lambdas = {0.1, 1}},
                                 .one_against_one = true};
  const auto found = bpm::choose(machine, grid, inputs, labels);
  CHECK(found.candidates.size() == 6);  // With the better kernel alone.
  CHECK_FALSE(found.chosen().one_against_one);
  CHECK_FALSE(found.fit(inputs, labels).parts().one_against_one);
  for (const int classes : {30, 31}) {
    std::vector<int> many;
    for (int i = 0; i < 120; ++i) many.push_back(i % classes);
    grid.boundary.folds = 2;
    grid.boundary.draws = 1;
    CHECK((bpm::choose(machine, grid, inputs, many).candidates.size() > 4) == (classes == 30));
  }
}

TEST_CASE("one against one says what it does not take", "[machine]") {
  const Clusters set;
  const auto fit = [&](SoftBoundary boundary) {
    return message_of([&] {
      (void)OneVsOne(BayesPointMachine(Polynomial(2), PermutedPerceptron{},
                                       {.soft_boundary = std::move(boundary)}))
          .fit(set.inputs, set.labels);
    });
  };
  const std::string boundary =
      "OneVsOne::fit: soft_boundary must be one for any points with pairs of classes: automatic, "
      "or a lambda that is the same for all, relative or per class";
  CHECK(fit(SoftBoundary::per_point(std::vector<double>(80, 1.0))) == boundary);
  CHECK(fit(SoftBoundary::automatic().with_class_weights({{0, 2.0}})) == boundary);
  CHECK(fit(SoftBoundary::per_class({{-5, 1}, {0, 2}, {2, 1}, {9, 3}})) == "nothing was thrown");
  const OneVsOne machine(BayesPointMachine(Polynomial(2), PermutedPerceptron{},
                                           {.soft_boundary = SoftBoundary::relative(1)}));
  // The observer is told of all pairs, and may stop: none may be missing.
  double furthest = 0;
  (void)machine.fit(set.inputs, set.labels,
                    [&](const bpm::Progress& now) { furthest = std::max(furthest, now.fraction); });
  CHECK(furthest == Approx(1));
  CHECK(message_of([&] {
          (void)machine.fit(set.inputs, set.labels,
                            [](const bpm::Progress& now) { return now.fraction < 0.5; });
        }) ==
        "OneVsOne::fit of the classes 0 and 2, whose points alone are counted: stopped before the "
        "first draw was finished");
  // So do folds and choices.
  const OneVsOne by_point(
      BayesPointMachine(Polynomial(2), PermutedPerceptron{},
                        {.soft_boundary = SoftBoundary::per_point(std::vector<double>(80, 1.0))}));
  CHECK(message_of([&] { (void)bpm::cross_validate(by_point, set.inputs, set.labels, 3); }) ==
        "cross_validate" + boundary.substr(boundary.find(": ")));
  CHECK(message_of([&] {
          (void)bpm::choose(by_point, bpm::ChoiceGrid<Polynomial>{.kernels = {Polynomial(2)}},
                            set.inputs, set.labels);
        }) == "choose" + boundary.substr(boundary.find(": ")));
  // A matrix that is none of these points.
  const Doubles narrow = Doubles::Ones(80, 79);
  CHECK(message_of([&] {
          (void)OneVsOne(BayesPointMachine(bpm::PrecomputedKernel{}, PermutedPerceptron{},
                                           {.soft_boundary = SoftBoundary::relative(1)}))
              .fit(narrow, set.labels);
        }) == "PrecomputedGram: values is 80 x 79, must be square");
}

TEST_CASE("what no pair of classes can have names the two", "[machine]") {
  Doubles inputs(6, 1);
  inputs << 1, 2, 3, 4, 2, 6;
  const std::vector<int> labels{7, 7, 8, 8, 9, 9};
  const auto fit = [&](FitSettings settings) {
    return message_of([&] {
      (void)OneVsOne(
          BayesPointMachine(Gaussian::from_width(1), PermutedPerceptron{}, std::move(settings)))
          .fit(inputs, labels);
    });
  };
  CHECK(fit({.soft_boundary = SoftBoundary::hard()}) ==
        "OneVsOne::fit of the classes 7 and 9, whose points alone are counted: points 1 and 2 are "
        "equal inputs with different labels, so no classifier separates them; set a soft boundary "
        "lambda > 0, or "
        "label noise with KernelGibbs");
  CHECK(fit({.soft_boundary = SoftBoundary::relative(1), .memory = 100})
            .starts_with("OneVsOne::fit: memory is 100 bytes, 6 points and 3 problems need"));
  // Kernel values beyond double.
  inputs(5, 0) = 1e200;
  CHECK(message_of([&] {
          (void)OneVsOne(BayesPointMachine(Polynomial(3), PermutedPerceptron{},
                                           {.soft_boundary = SoftBoundary::hard(), .bias = 0}))
              .fit(inputs, labels);
        }).starts_with("OneVsOne::fit of the classes 7 and 9, whose points alone are counted: "));
  // To choose lambda takes half as much again as against the rest.
  const auto [many, of_many] = noisy_rings(500, 3, 0.1);
  CHECK(message_of([&, &x = many, &y = of_many] {
          (void)OneVsOne(BayesPointMachine(Gaussian::from_width(1), PermutedPerceptron{},
                                           {.memory = 5'000'000}))
              .fit(x, y);
        }) ==
        "OneVsOne::fit: memory is 5000000 bytes, 500 points need 6000000 to choose the soft "
        "boundary; raise memory or give a soft boundary");
}

TEST_CASE("pairs in what is made of machines", "[machine][at length]") {
  const auto [inputs, labels] = noisy_rings(600, 4, 0.05);
  const PermutedPerceptron sampler{.draws = 2};
  const auto machine = standardising(OneVsOne(BayesPointMachine(
      Gaussian::from_width(4), sampler, {.soft_boundary = SoftBoundary::relative(0.3)})));
  const auto scaled = machine.fit(inputs, labels);
  CHECK(scaled.parts().one_against_one);
  CHECK(bpm::error_rate(labels, scaled.predict(inputs)) < 0.25);
  bpm::ChoiceGrid<Gaussian> grid{.kernels = {Gaussian::from_width(4)},
                                 .boundary = {.relative_lambdas = {0.03, 0.3}, .draws = 2},
                                 .one_against_one = true};
  const auto found = bpm::nested(OneVsRest(BayesPointMachine(Gaussian::from_width(4), sampler)),
                                 grid, inputs, labels, 2);
  CHECK(found.decision_values.cols() == 4);
  bpm::ChoiceGrid<Gaussian> alone_grid = grid;
  alone_grid.one_against_one = false;
  const auto of_rest = bpm::nested(OneVsRest(BayesPointMachine(Gaussian::from_width(4), sampler)),
                                   alone_grid, inputs, labels, 2);
  CHECK((found.decision_values - of_rest.decision_values).cwiseAbs().maxCoeff() > 0.01);
  // A class of one point; and where larger parts judge once more.
  const Clusters set;
  std::vector<int> alone = set.labels;
  alone[0] = 1000;
  const auto fitted = OneVsOne(BayesPointMachine(Polynomial(2), sampler)).fit(set.inputs, alone);
  CHECK(fitted.classes().back() == 1000);
  grid.boundary.points = 300;
  const auto more = bpm::choose(OneVsRest(BayesPointMachine(Gaussian::from_width(4), sampler)),
                                grid, inputs, labels);
  CHECK(more.boundary.points < 600);
  REQUIRE(more.chosen().one_against_one);
  CHECK(more.fit(inputs, labels).parts().one_against_one);
}
