// SPDX-License-Identifier: MIT
#include "bpm/selection/automatic_boundary.hpp"

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bpm/decision/evaluation.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/train.hpp"
#include "catch.hpp"
#include "noisy_points.hpp"

using bpm::BayesPointMachine;
using bpm::Gaussian;
using bpm::OneVsRest;
using bpm::PermutedPerceptron;
using test_support::noisy_rings;

TEST_CASE("so many draws leave points out that 3000 outputs are noted, but two at most",
          "[selection]") {
  CHECK(bpm::detail::left_out_draws(5999) == 0);
  CHECK(bpm::detail::left_out_draws(6000) == 2);
  CHECK(bpm::detail::left_out_draws(12000) == 2);
  CHECK(bpm::detail::left_out_draws(29999) == 2);
  CHECK(bpm::detail::left_out_draws(30000) == 1);
  CHECK(bpm::detail::left_out_draws(60000) == 1);
}

TEST_CASE("offsets of fewer outputs than 3000 count for less", "[selection]") {
  const auto plain = bpm::SoftBoundary::automatic();
  CHECK(bpm::detail::share_of_offsets(750, plain) == 0.5);
  CHECK(bpm::detail::share_of_offsets(3000, plain) == 1);
  CHECK(bpm::detail::share_of_offsets(6000, plain) == 1);
  CHECK(bpm::detail::share_of_offsets(750, plain.with_class_weights({{3, 2.0}})) == 1);
}

TEST_CASE("what all problems noted is a row, what one did not is left away", "[selection]") {
  const std::vector<double> outputs(4, 0.5);
  const std::vector<bpm::PointIndex> some{0, 2};
  const std::vector<double> noted{0.25, -1};
  std::vector<bpm::detail::DrawMean> means(2, bpm::detail::DrawMean(4, false));
  for (std::uint64_t number = 0; number < 3; ++number) {
    for (std::size_t c = 0; c < 2; ++c) {
      bpm::Draw draw{
          .number = number, .problem = c, .support = {}, .coefficients = {}, .outputs = outputs};
      if (number == 0 || (number == 1 && c == 0)) {
        draw.left_out = some;
        draw.left_out_outputs = noted;
      }
      means[c].add(draw);
    }
  }
  const bpm::OutOfFold found =
      bpm::detail::outputs_held_out(means, std::vector<int>{7, 8, 9, 7}, {7, 8, 9});
  CHECK(found.labels == std::vector<int>{7, 9});
  CHECK(found.decision_values == Eigen::MatrixXd{{0.25, 0.25}, {-1, -1}});
}

TEST_CASE("a fit's probabilities are by what its own draws noted", "[selection][at length]") {
  const int classes = GENERATE(2, 3);
  CAPTURE(classes);
  const auto [inputs, labels] = noisy_rings(6000, classes, 0.1);
  const auto [others, truth] = noisy_rings(1500, classes, 0.1, 2);
  const OneVsRest machine(
      BayesPointMachine(Gaussian::from_width(1), PermutedPerceptron{.draws = 2}, {.seed = 3}));
  auto training = OneVsRest(BayesPointMachine(Gaussian::from_width(1),
                                              PermutedPerceptron{.draws = 1}, {.seed = 3}))
                      .train(inputs, labels);
  CHECK(training.classifier().parts().probability_rows == 600);
  training.add_draws(1);
  const auto resumed = training.classifier();
  const auto fitted = machine.fit(inputs, labels);
  // Each draw left 600 points out, whenever it was made.
  CHECK(fitted.parts().probability_rows == 1200);
  CHECK(resumed.coefficients() == fitted.coefficients());
  CHECK(resumed.parts().slope == fitted.parts().slope);
  CHECK(resumed.parts().offsets == fitted.parts().offsets);
  CHECK(fitted.parts().offsets.size() == (classes == 2 ? 0U : 3U));
  // With class weights, all of them 1 here, the same offsets count in full: sqrt(1200 / 3000).
  const auto weighted =
      OneVsRest(BayesPointMachine(
                    Gaussian::from_width(1), PermutedPerceptron{.draws = 2},
                    {.soft_boundary = bpm::SoftBoundary::automatic().with_class_weights({{0, 1.0}}),
                     .seed = 3}))
          .fit(inputs, labels);
  for (std::size_t c = 0; classes > 2 && c < 3; ++c) {
    const double full = weighted.parts().offsets[c];
    CHECK(full != 0);
    CHECK(std::abs(fitted.parts().offsets[c] - std::sqrt(0.4) * full) <= 1e-9 * std::abs(full));
  }

  const auto p = fitted.predict_probability(others);
  // The loss is that of the best slope on these rows, but for chance.
  const Eigen::MatrixXd values = fitted.decision_values(others);
  const bpm::FittedSlope best = bpm::fit_slope(values, truth, fitted.classes(), classes > 2);
  CHECK(bpm::log_loss(p, truth, fitted.classes()) < best.loss + 0.02);
  // Offsets move labels as they move probabilities, and a new slope clears them.
  const std::vector<int> said = fitted.predict(others);
  for (Eigen::Index i = 0; classes > 2 && i < p.rows(); ++i) {
    Eigen::Index largest = 0;
    p.row(i).maxCoeff(&largest);
    REQUIRE(said[static_cast<std::size_t>(i)] ==
            fitted.classes()[static_cast<std::size_t>(largest)]);
  }
  CHECK(fitted.with_slope(1).parts().offsets.empty());
  // A boundary that is given asks for none of it.
  const auto given =
      OneVsRest(BayesPointMachine(Gaussian::from_width(1), PermutedPerceptron{.draws = 2},
                                  {.soft_boundary = bpm::SoftBoundary::relative(
                                       fitted.notes.boundary->relative_lambda),
                                   .seed = 3}))
          .fit(inputs, labels);
  CHECK(given.parts().slope == 0);
  CHECK(given.parts().offsets.empty());
  CHECK(given.decision_values(others) != values);
}
