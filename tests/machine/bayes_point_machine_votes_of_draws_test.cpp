// SPDX-License-Identifier: MIT
// Rates of an ensemble of perceptrons, as of any draws.
#include <Eigen/Core>
#include <cmath>
#include <numbers>
#include <vector>

#include "bpm/bounds/vote_bound.hpp"
#include "bpm/core/random.hpp"
#include "bpm/decision/votes.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "catch.hpp"
#include "hard.hpp"

TEST_CASE("votes, rates and bounds of an ensemble of permuted perceptrons") {
  bpm::RandomEngine engine(3, 0);
  const auto draw = [&](Eigen::Index count) {
    bpm::RowMatrix<double> x(count, 2);
    for (Eigen::Index i = 0; i < x.size(); ++i) x.data()[i] = 2 * bpm::uniform_unit(engine) - 1;
    return x;
  };
  const auto label = [](const auto& x) { return x[0] * x[1] > 0 ? 1 : -1; };
  const bpm::RowMatrix<double> train = draw(60);
  const bpm::RowMatrix<double> test = draw(300);
  std::vector<int> labels;
  for (Eigen::Index i = 0; i < train.rows(); ++i) labels.push_back(label(train.row(i)));
  std::vector<signed char> truth;
  for (Eigen::Index i = 0; i < test.rows(); ++i) {
    truth.push_back(static_cast<signed char>(label(test.row(i))));
  }
  bpm::PermutedPerceptron sampler;
  sampler.draws = 25;
  bpm::FitSettings settings;
  settings.keep_draws = true;
  const auto fitted =
      bpm::BayesPointMachine(bpm::Gaussian::from_sigma(0.5), sampler, test_support::hard(settings))
          .fit(train, labels);
  const Eigen::MatrixXd outputs = fitted.draw_decision_values(test);
  const bpm::Votes votes = bpm::Votes::of_outputs(outputs);
  CHECK((votes.positive - fitted.vote_fractions(test)).cwiseAbs().maxCoeff() < 1e-12);
  const std::vector<int> as_ints(truth.begin(), truth.end());
  const double gibbs = votes.gibbs_error(truth);
  CHECK(gibbs == Approx(fitted.gibbs_error(test, as_ints)));
  // Lemmas 1, 4 and 5 hold for any ensemble; the agreement is the plain square here, as they mean
  // it.
  const Eigen::VectorXd centre = fitted.decision_values(test);
  const double bayes = votes.bayes_error(truth);
  const double difference = votes.disagreement(centre);
  CHECK(bayes <= 2 * gibbs + 1e-12);
  CHECK(bpm::error_of_outputs(centre, truth) <= bayes + difference + 1e-12);
  bpm::Votes exact = votes;
  exact.voters = 0;
  CHECK(bayes <= bpm::CBound(gibbs, exact.agreement()).value() + 1e-12);
  // Lemma 2 is for log-concave laws, which perceptrons need not have; here it is close to holding.
  for (Eigen::Index i = 0; i < outputs.rows(); ++i) {
    const auto agree = (outputs.row(i).array() * centre[i] >= 0).count();
    CHECK(static_cast<double>(agree) > 0.2 * static_cast<double>(outputs.cols()));
  }
}
