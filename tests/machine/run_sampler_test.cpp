// SPDX-License-Identifier: MIT
#include "bpm/machine/run_sampler.hpp"

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "bpm/core/random/draws.hpp"
#include "bpm/core/random/engine.hpp"
#include "bpm/kernels/gaussian.hpp"
#include "bpm/machine/one_vs_rest.hpp"
#include "catch.hpp"
#include "hard.hpp"

TEST_CASE("the report counts the points that made each draw", "[machine]") {
  const int classes = GENERATE(2, 3);
  bpm::RandomEngine engine(9);
  bpm::NormalDraws normal;
  bpm::RowMatrix<double> inputs(80, 2);
  std::vector<int> labels(80);
  for (int i = 0; i < 80; ++i) {
    inputs.row(i) << normal(engine), normal(engine);
    labels[i] = i % classes;
  }
  const bpm::OneVsRest machine(
      bpm::BayesPointMachine(bpm::Gaussian::from_width(0.5), bpm::PermutedPerceptron{.draws = 4},
                             test_support::hard({.threads = 3, .keep_draws = true})));
  auto training = machine.train(inputs, labels);
  training.add_draws(2);
  const auto fitted = training.classifier();
  const auto& counted = fitted.report().mistaken_points;
  REQUIRE(counted.size() == 6);
  // A perceptron adds to a coefficient at every mistake and never takes away: points with one are
  // those of the draws kept, in any class.
  const auto& draws = fitted.parts().draw_coefficients;
  for (std::size_t n = 0; n < counted.size(); ++n) {
    std::size_t points = 0;
    for (Eigen::Index s = 0; s < draws.rows(); ++s) {
      points += (draws.row(s)
                     .segment(static_cast<Eigen::Index>(n) * fitted.columns(), fitted.columns())
                     .array() != 0)
                    .any();
    }
    CHECK(counted[n] == points);
    CHECK(counted[n] > 0);
    CHECK(counted[n] < 80);
  }
}
