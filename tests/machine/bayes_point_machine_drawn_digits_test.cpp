// SPDX-License-Identifier: MIT
// The paper's machine on a small set of drawn digits: learning, not only arithmetic.
#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "../../examples/common/drawn_digits.hpp"
#include "bpm/decision/rejection.hpp"
#include "bpm/decision/scores.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "catch.hpp"
#include "data_sets.hpp"
#include "hard.hpp"

TEST_CASE("ten drawn digits against the rest with the paper's kernel") {
  const auto training = bpm_examples::draw_digits(1500, 1);
  const auto held_out = bpm_examples::draw_digits(500, 1, 60000);
  const bpm::RowMatrix<float> inputs = training.images.cast<float>() / 255;
  const bpm::RowMatrix<float> others = held_out.images.cast<float>() / 255;
  const bpm::OneVsRest machine(bpm::BayesPointMachine(
      bpm::Polynomial(5), bpm::PermutedPerceptron{.draws = 5}, test_support::hard()));
  const auto fitted = machine.fit(inputs, training.labels);
  CHECK(fitted.predict(inputs) == training.labels);
  for (std::size_t c = 0; c < 10; ++c) {
    CHECK(fitted.training_errors(c) == 0);
    CHECK(fitted.training_margin(c) > 0);
  }
  const Eigen::MatrixXd values = fitted.decision_values(others);
  const double error = 1 - machine_tests::accuracy(fitted.labels_of(values), held_out.labels);
  CAPTURE(error);
  CHECK(error < 0.16);
  CHECK(error > 0.03);

  // The least sure inputs hold most of the errors.
  const std::vector<std::size_t> rejected = bpm::rejected_indices(bpm::gap_scores(values), 0.2);
  std::vector<bool> kept(500, true);
  for (const std::size_t i : rejected) kept[i] = false;
  const std::vector<int> predicted = fitted.labels_of(values);
  double wrong = 0;
  for (std::size_t i = 0; i < 500; ++i) {
    wrong += kept[i] && predicted[i] != held_out.labels[i] ? 1 : 0;
  }
  CHECK(wrong / 400 < error / 2);
}
