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
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "catch.hpp"
#include "data_sets.hpp"
#include "hard.hpp"

using namespace machine_tests;
using Catch::Matchers::Equals;
using Labels = std::vector<int>;

namespace {

const bpm::BayesPointMachine three_draws(bpm::Polynomial(2), bpm::PermutedPerceptron{.draws = 3},
                                         test_support::hard());

}  // namespace

TEST_CASE("add_draws refuses a changed training set and is then unchanged") {
  Doubles inputs = triangle(30, 1);
  Labels labels = two_labels(30);
  auto training = three_draws.train(inputs, labels);
  const auto before = training.classifier();
  const std::string f = "Training::add_draws: ";
  const std::string differ = f + "inputs or labels differ from the training set, must be the same";
  CHECK_THROWS_WITH(training.add_draws(0), Equals(f + "draws is 0, must be 1 or more"));
  const Doubles same = inputs;
  inputs = triangle(29, 1);
  CHECK_THROWS_WITH(training.add_draws(1),
                    Equals(f + "inputs has 29 entries, expected 30 (as in the training set)"));
  inputs = triangle(30, 2);
  CHECK_THROWS_WITH(training.add_draws(1), Equals(differ));
  inputs = same;
  inputs(17, 1) = std::nextafter(inputs(17, 1), 10.0);
  CHECK_THROWS_WITH(training.add_draws(1), Equals(differ));
  inputs = same;
  std::swap(labels[0], labels[1]);
  CHECK_THROWS_WITH(training.add_draws(1), Equals(differ));
  std::swap(labels[0], labels[1]);
  inputs = Doubles::Zero(30, 3);
  inputs.leftCols(2) = same;
  CHECK_THROWS_AS(training.add_draws(1), std::invalid_argument);
  inputs = same;
  CHECK(training.classifier().coefficients() == before.coefficients());
  CHECK(training.report().draws == 3);
  training.add_draws(2);
  const bpm::BayesPointMachine five(three_draws.kernel(), bpm::PermutedPerceptron{.draws = 5},
                                    test_support::hard());
  CHECK(training.classifier().coefficients() == five.fit(inputs, labels).coefficients());
  CHECK(before.report().draws == 3);
}

TEST_CASE("what is given as an rvalue is kept, also as an expression or a list") {
  const Doubles inputs = triangle(30, 1);
  const Labels labels = two_labels(30);
  auto kept = three_draws.train(triangle(30, 1), two_labels(30));
  auto part = three_draws.train(Doubles(triangle(40, 1)).topRows(30), labels);
  std::vector<std::string> text = words(30, 1);
  auto words_kept = bpm::BayesPointMachine(CommonPairs{}, {}, test_support::hard())
                        .train(std::vector(text), two_labels(30));
  auto referred = three_draws.train(inputs, labels);
  auto copy = kept;
  for (auto* training : {&kept, &copy}) training->add_draws(2);
  part.add_draws(2);
  referred.add_draws(2);
  words_kept.add_draws(1);
  CHECK(kept.classifier().coefficients() == referred.classifier().coefficients());
  CHECK(copy.classifier().coefficients() == referred.classifier().coefficients());
  CHECK(part.report().draws == 5);
  CHECK(words_kept.report().draws == 11);
  const bpm::BayesPointMachine eleven(CommonPairs{}, bpm::PermutedPerceptron{.draws = 11},
                                      test_support::hard());
  CHECK(words_kept.classifier().coefficients() == eleven.fit(text, two_labels(30)).coefficients());
}

TEST_CASE("add_draws that fails leaves the machine as it was") {
  const Doubles inputs = triangle(90, 1, 0.8);
  const bpm::Gaussian kernel = bpm::Gaussian::from_sigma(0.3);
  const Labels labels = three_labels(90);
  const auto make = [&](std::uint64_t draws, std::uint64_t max_passes) {
    return bpm::OneVsRest(bpm::BayesPointMachine(
        kernel, bpm::PermutedPerceptron{.draws = draws, .max_passes = max_passes},
        test_support::hard({.threads = 1, .keep_draws = true})));
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
  auto training = make(1, passes).train(inputs, labels);
  const auto before = training.classifier();
  const auto unchanged = [&] {
    const auto now = training.classifier();
    return now.decision_values(inputs) == before.decision_values(inputs) &&
           now.coefficients() == before.coefficients() && now.support() == before.support() &&
           now.parts().draw_numbers.size() == 1 && now.report().draws == 1 &&
           now.report().perceptron->mistakes == before.report().perceptron->mistakes;
  };
  CHECK_THROWS_AS(training.add_draws(50), bpm::NotSeparable);
  CHECK(unchanged());
  CHECK(training.report().converged);
  // An observer's exception likewise.
  const auto thrower = [](const bpm::Progress&) { throw std::runtime_error("enough"); };
  CHECK_THROWS_WITH(training.add_draws(1, thrower), Equals("enough"));
  CHECK(unchanged());
  CHECK(training.report().converged);
  // Stopped at once: nothing new, and said so.
  std::stop_source source;
  source.request_stop();
  training.add_draws(1, bpm::detail::IgnoreProgress{}, source.get_token());
  CHECK(unchanged());
  CHECK(training.report().stopped);
}
