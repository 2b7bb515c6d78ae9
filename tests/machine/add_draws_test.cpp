// SPDX-License-Identifier: MIT
// add_draws on another training set, and where it fails: nothing is half done.
#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/kernels/gaussian.hpp"
#include "bpm/kernels/polynomial.hpp"
#include "bpm/machine/one_vs_rest.hpp"
#include "catch.hpp"
#include "data_sets.hpp"

using namespace machine_tests;
using Catch::Matchers::Equals;
using Labels = std::vector<int>;

namespace {

const bpm::BayesPointMachine machine(bpm::Polynomial(2), bpm::PermutedPerceptron{.draws = 3});

}  // namespace

TEST_CASE("add_draws refuses another training set and is then unchanged") {
  const Doubles inputs = triangle(30, 1);
  const Labels labels = two_labels(30);
  auto fitted = machine.fit(inputs, labels);
  const Eigen::VectorXd before = fitted.coefficients();
  const std::string f = "FittedBayesPointMachine::add_draws: ";
  const std::string differ = f + "inputs or labels differ from the training set, must be the same";
  CHECK_THROWS_WITH(fitted.add_draws(0, inputs, labels),
                    Equals(f + "draws is 0, must be 1 or more"));
  CHECK_THROWS_WITH(fitted.add_draws(1, triangle(29, 1), labels),
                    Equals(f + "inputs has 29 entries, expected 30 (as in the training set)"));
  CHECK_THROWS_WITH(fitted.add_draws(1, inputs, two_labels(29)),
                    Equals(f + "labels has 29 entries, expected 30 (as in the training set)"));
  CHECK_THROWS_WITH(fitted.add_draws(1, triangle(30, 2), labels), Equals(differ));
  Doubles nearly = inputs;
  nearly(17, 1) = std::nextafter(nearly(17, 1), 10.0);
  CHECK_THROWS_WITH(fitted.add_draws(1, nearly, labels), Equals(differ));
  Labels other = labels;
  std::swap(other[0], other[1]);
  CHECK_THROWS_WITH(fitted.add_draws(1, inputs, other), Equals(differ));
  Doubles longer = Doubles::Zero(30, 3);
  longer.leftCols(2) = inputs;
  CHECK_THROWS_AS(fitted.add_draws(1, longer, labels), std::invalid_argument);
  CHECK(fitted.coefficients() == before);
  CHECK(fitted.draw_count() == 3);
}

TEST_CASE("add_draws that fails leaves the machine as it was") {
  const Doubles inputs = triangle(90, 1, 0.8);
  const bpm::Gaussian kernel = bpm::Gaussian::from_sigma(0.3);
  const Labels labels = three_labels(90);
  const auto make = [&](std::uint64_t draws, std::uint64_t max_passes) {
    return bpm::OneVsRest(bpm::BayesPointMachine(
        kernel, bpm::PermutedPerceptron{.draws = draws, .max_passes = max_passes},
        {.threads = 1, .keep_draws = true}));
  };
  // The fewest passes that draw 0 needs are not enough for all of the next 50.
  std::uint64_t passes = 1;
  for (; passes < 1000; ++passes) {
    try {
      (void)make(1, passes).fit(inputs, labels);
      break;
    } catch (const bpm::NotSeparable&) {
      continue;
    }
  }
  REQUIRE(passes < 1000);
  auto fitted = make(1, passes).fit(inputs, labels);
  const auto before = fitted;
  const auto values = fitted.decision_values(inputs);
  CHECK_THROWS_AS(fitted.add_draws(50, inputs, labels), bpm::NotSeparable);
  CHECK(fitted.decision_values(inputs) == values);
  CHECK(fitted.coefficients() == before.coefficients());
  CHECK(fitted.support() == before.support());
  CHECK(fitted.draw_count() == 1);
  CHECK(fitted.draws(0).size() == 1);
  CHECK(fitted.report().perceptron->mistakes == before.report().perceptron->mistakes);
  CHECK(fitted.report().converged);
  // An observer's exception likewise.
  const auto thrower = [](const bpm::Progress&) { throw std::runtime_error("enough"); };
  CHECK_THROWS_WITH(fitted.add_draws(1, inputs, labels, thrower), Equals("enough"));
  CHECK(fitted.draw_count() == 1);
  CHECK(fitted.decision_values(inputs) == values);
  // Stopped at once: nothing new, and said so.
  std::stop_source source;
  source.request_stop();
  fitted.add_draws(1, inputs, labels, bpm::IgnoreProgress{}, source.get_token());
  CHECK(fitted.draw_count() == 1);
  CHECK(fitted.report().stopped);
  CHECK(fitted.decision_values(inputs) == values);
}
