// SPDX-License-Identifier: MIT
// Votes and their rates on ensembles small enough to count by hand.
#include "bpm/decision/votes.hpp"

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "bpm/core/random.hpp"
#include "catch.hpp"
#include "message_of.hpp"

using test_support::message_of;

using bpm::Votes;

TEST_CASE("votes are the shares of classifiers with a positive output") {
  Eigen::MatrixXd outputs(3, 4);
  outputs << 1, 2, -1, 3,  //
      -1, 0, -2, 5,        //
      -1, -1, -1, -1;
  const Votes votes = bpm::Votes::of_outputs(outputs);
  CHECK(votes.positive == Eigen::Vector3d(0.75, 0.25, 0));
  CHECK(votes.voters == 4);
  CHECK(votes.majority(0) == 1);
  CHECK(votes.majority(1) == -1);
  const std::vector<double> weights{0, 1, 0, 1};
  CHECK(bpm::Votes::of_outputs(outputs, weights).positive == Eigen::Vector3d(1, 0.5, 0));
  CHECK(bpm::Votes::of_outputs(outputs, weights).voters == 2);
  const std::vector<double> one{5, 1e-3, 1e-3, 1e-3};
  CHECK(bpm::Votes::of_outputs(outputs, one).voters == 1);
}

TEST_CASE("error rates of an ensemble counted by hand") {
  // Inputs with shares 0.75, 0.25, 0, 0.5 for the positive class.
  const Votes votes{.positive = Eigen::Vector4d(0.75, 0.25, 0, 0.5), .voters = 4};
  const std::vector<signed char> labels{1, 1, -1, 1};
  CHECK(votes.gibbs_error(labels) == Approx((0.25 + 0.75 + 0 + 0.5) / 4));
  CHECK(votes.bayes_error(labels) == Approx(0.5));  // One half is no majority.
  // s^2 = 1/4, 1/4, 1, 0; with 4 voters (4 s^2 - 1) / 3 = 0, 0, 1, -1/3.
  CHECK(votes.agreement() == Approx((1.0 - 1.0 / 3) / 4));
  Votes exact = votes;
  exact.voters = 0;
  CHECK(exact.agreement() == Approx(1.5 / 4));
  CHECK(votes.disagreement(Eigen::Vector4d(1, 1, -1, 0)) == Approx(0.25));
  // The last input's vote is tied.
  CHECK(votes.disagreement(Eigen::Vector4d(1, -1, -1, -1)) == 0);
  CHECK(votes.disagreement(Eigen::Vector4d(1, -1, -1, -1), 0.1) == Approx(0.25));
  CHECK(bpm::error_of_outputs(Eigen::Vector4d(1, 1, 1, 0), labels) == Approx(0.5));
}

TEST_CASE("the agreement of few voters has no bias, and the plain square has one") {
  const double share = 0.6;
  const double truth = (2 * share - 1) * (2 * share - 1);
  constexpr Eigen::Index inputs = 40'000;
  constexpr Eigen::Index voters = 5;
  bpm::RandomEngine engine(7, 0);
  Eigen::MatrixXd outputs(inputs, voters);
  for (Eigen::Index i = 0; i < outputs.size(); ++i) {
    outputs.data()[i] = bpm::uniform_unit(engine) < share ? 1 : -1;
  }
  Votes votes = bpm::Votes::of_outputs(outputs);
  const double bound = 5 / std::sqrt(static_cast<double>(inputs));
  CHECK(std::abs(votes.agreement() - truth) < bound);
  votes.voters = 0;  // The mutant: taken for exact shares.
  CHECK(std::abs(votes.agreement() - truth) > bound);
}

TEST_CASE("votes and rates say what is wrong with their arguments") {
  Eigen::MatrixXd outputs = Eigen::MatrixXd::Ones(2, 2);
  CHECK(message_of([&] { (void)bpm::Votes::of_outputs(Eigen::MatrixXd(2, 0)); }) ==
        "Votes::of_outputs: outputs have no column, expected one per classifier");
  const std::vector<double> three{1, 1, 1};
  CHECK(message_of([&] { (void)bpm::Votes::of_outputs(outputs, three); }) ==
        "Votes::of_outputs: weights has 3 entries, expected 2 (one per classifier)");
  const std::vector<double> negative{1, -1};
  CHECK(message_of([&] { (void)bpm::Votes::of_outputs(outputs, negative); }) ==
        "Votes::of_outputs: weights hold -1 at classifier 1, must be 0, or from 1e-100 to 1e100");
  const std::vector<double> huge{1, 1e200};
  CHECK(
      message_of([&] { (void)bpm::Votes::of_outputs(outputs, huge); }) ==
      "Votes::of_outputs: weights hold 1e+200 at classifier 1, must be 0, or from 1e-100 to 1e100");
  const std::vector<double> zero{0, 0};
  CHECK(message_of([&] { (void)bpm::Votes::of_outputs(outputs, zero); }) ==
        "Votes::of_outputs: weights are all zero");
  outputs(0, 0) = std::numeric_limits<double>::infinity();
  CHECK(message_of([&] { (void)bpm::Votes::of_outputs(outputs); }) ==
        "Votes::of_outputs: outputs hold a number that is not finite");

  const Votes votes{.positive = Eigen::Vector2d(1, 0), .voters = 2};
  const std::vector<signed char> one{1};
  const std::vector<signed char> wrong{1, 0};
  CHECK(message_of([&] { (void)votes.gibbs_error(one); }) ==
        "Votes::gibbs_error: signs has 1 entries, expected 2 (one per input)");
  CHECK(message_of([&] { (void)votes.bayes_error(wrong); }) ==
        "Votes::bayes_error: signs at 1 is 0, must be 1 or -1");
  CHECK(message_of([&] { (void)Votes{}.agreement(); }) ==
        "Votes::agreement: votes are of no input");
  CHECK(message_of([&] { (void)Votes{}.gibbs_error({}); }) ==
        "Votes::gibbs_error: votes are of no input");
  CHECK(message_of([&] { (void)votes.disagreement(Eigen::Vector3d::Ones()); }) ==
        "Votes::disagreement: outputs has 3 entries, expected 2 (one per input)");
  CHECK(message_of([&] { (void)votes.disagreement(Eigen::Vector2d::Ones(), -1); }) ==
        "Votes::disagreement: doubt is -1, must not be negative");
  CHECK(message_of([&] { (void)bpm::error_of_outputs(Eigen::Vector2d::Ones(), one); }) ==
        "error_of_outputs: signs has 1 entries, expected 2 (one per input)");
  const Eigen::Vector2d no_number(1, std::numeric_limits<double>::quiet_NaN());
  CHECK(message_of([&] { (void)votes.disagreement(no_number); }) ==
        "Votes::disagreement: outputs hold a number that is not finite");
  CHECK(message_of([&] { (void)bpm::error_of_outputs(no_number, wrong); }) ==
        "error_of_outputs: outputs hold a number that is not finite");
  CHECK(message_of([&] { (void)bpm::error_of_outputs(Eigen::Vector2d::Ones(), wrong); }) ==
        "error_of_outputs: signs at 1 is 0, must be 1 or -1");
  CHECK(message_of([&] { (void)bpm::error_of_outputs(Eigen::VectorXd(), {}); }) ==
        "error_of_outputs: outputs are of no input");
}
