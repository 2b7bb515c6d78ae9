// SPDX-License-Identifier: MIT
#include "bpm/machine/input_encoding.hpp"

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "bpm/gaussian_process/expectation_propagation/machine.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "bpm/selection/choose.hpp"
#include "bpm/selection/cross_validate.hpp"
#include "catch.hpp"
#include "message_of.hpp"
#include "noisy_points.hpp"
#include "standardising.hpp"

using bpm::BayesPointMachine;
using bpm::Gaussian;
using bpm::OneVsRest;
using bpm::Standardisation;
using test_support::message_of;
using test_support::noisy_rings;
using test_support::standardising;

TEST_CASE("mean and deviation of listed numbers; constant columns are told", "[machine]") {
  bpm::RowMatrix<float> inputs(4, 3);
  inputs << 1, 7, -2, 3, 7, 0, 5, 7, 0, 7, 7, 2;
  const Standardisation found = Standardisation::of(inputs);
  CHECK(found.mean == Eigen::RowVector3d(4, 7, 0));
  CHECK(found.deviation[0] == Approx(std::sqrt(5.0)));
  CHECK(found.deviation[1] == 1);
  CHECK(found.deviation[2] == Approx(std::sqrt(2.0)));
  CHECK(found.constant == std::vector<Eigen::Index>{1});
  const bpm::RowMatrix<float> scaled = found.apply(inputs);
  CHECK(scaled(3, 0) == Approx(3 / std::sqrt(5.0)));
  CHECK(scaled.col(1).isZero(0));
  // A constant that no sum of shares gives exactly is one all the same.
  const bpm::RowMatrix<double> tenths = bpm::RowMatrix<double>::Constant(3, 1, 0.1);
  CHECK(Standardisation::of(tenths).constant.size() == 1);
  CHECK(Standardisation::of(tenths).apply(tenths).isZero(0));
}

TEST_CASE("a standardising machine is the machine on standardised inputs", "[machine][at length]") {
  auto [inputs, labels] = noisy_rings(90, 3, 0.1);
  const bpm::RowMatrix<float> plain = inputs;
  inputs.col(0) = (inputs.col(0).array() * 1000 + 50).matrix();
  const OneVsRest machine(BayesPointMachine(Gaussian::from_width(1), bpm::PermutedPerceptron{},
                                            {.seed = 3, .keep_draws = true}));
  const auto fitted = standardising(machine).fit(inputs, labels);
  const Standardisation scaling = Standardisation::of(inputs);
  const bpm::RowMatrix<float> scaled = scaling.apply(inputs);
  const auto by_hand = machine.fit(scaled, labels);
  CHECK(fitted.parts().standardisation->mean == scaling.mean);
  CHECK(fitted.decision_values(inputs) == by_hand.decision_values(scaled));
  CHECK(fitted.draw_decision_values(inputs) == by_hand.draw_decision_values(scaled));
  CHECK(fitted.predict_probability(inputs) == by_hand.predict_probability(scaled));
  const OneVsRest by_ep(BayesPointMachine(Gaussian::from_width(1), bpm::ExpectationPropagation{}));
  CHECK(standardising(by_ep).fit(inputs, labels).predict_probability(inputs) ==
        by_ep.fit(scaled, labels).predict_probability(scaled));

  // Choosing and folds see scaled inputs as well.
  const auto choice = bpm::choose(standardising(machine), inputs, labels);
  CHECK(choice.selection_score == bpm::choose(machine, scaled, labels).selection_score);
  CHECK(choice.machine.fit(inputs, labels).decision_values(inputs) ==
        bpm::choose(machine, scaled, labels).machine.fit(scaled, labels).decision_values(scaled));
  CHECK(bpm::cross_validate(standardising(machine), inputs, labels, 3).decision_values ==
        bpm::cross_validate(machine, scaled, labels, 3).decision_values);
}

TEST_CASE("choosing for a standardising machine says how many classes always train", "[machine]") {
  auto [inputs, labels] = noisy_rings(40, 2, 0);
  labels[7] = 5;
  labels[12] = 9;
  const auto machine = standardising(OneVsRest(BayesPointMachine(Gaussian::from_width(1))));
  CHECK(bpm::choose(machine, inputs, labels).always_train == 2);
  const bpm::ChoiceGrid<Gaussian> grid{.kernels = {Gaussian::from_width(1)}};
  CHECK(bpm::choose(machine, grid, inputs, labels).always_train == 2);
}

TEST_CASE("nested folds choose anew, by the other folds alone", "[machine]") {
  const auto [inputs, labels] = noisy_rings(90, 2, 0.15);
  const auto machine = standardising(BayesPointMachine(Gaussian::from_width(1)));
  const auto found = bpm::nested(machine, inputs, labels, 3);
  REQUIRE(found.points.size() == 90);
  const auto train = found.folds.points(2, false);
  const auto left_out = found.folds.points(2, true);
  std::vector<int> of_train;
  for (const auto i : train) of_train.push_back(labels[i]);
  const bpm::RowMatrix<float> part = inputs(train, Eigen::all);
  const auto choice = bpm::choose(machine, part, of_train);
  // Of two classes, log odds by the slope of the fit itself.
  const auto fitted = choice.machine.fit(part, of_train);
  const bpm::RowMatrix<float> queries = inputs(left_out, Eigen::all);
  CHECK(found.decision_values(left_out, Eigen::all) ==
        Eigen::MatrixXd(fitted.parts().slope * fitted.decision_values(queries)));
  const Eigen::ArrayXXd p = fitted.predict_probability(queries).array();
  CHECK(
      (found.decision_values(left_out, Eigen::all).array() - (p / (1 - p)).log()).abs().maxCoeff() <
      1e-9);
  const bpm::ChoiceGrid<Gaussian> grid{.kernels = {Gaussian::from_width(1)}};
  CHECK(bpm::nested(BayesPointMachine(Gaussian::from_width(1)), grid, inputs, labels, 3).error() <
        0.35);
}

TEST_CASE("standardising says what it cannot do", "[machine]") {
  CHECK(message_of([] { (void)Standardisation::of(bpm::RowMatrix<double>(0, 2)); }) ==
        "Standardisation::of: inputs is empty, expected one input or more");
  bpm::RowMatrix<double> bad = bpm::RowMatrix<double>::Zero(2, 2);
  bad(1, 0) = std::nan("");
  CHECK(message_of([&] { (void)Standardisation::of(bad); }) ==
        "Standardisation::of: inputs row 1, column 0 is nan, must be finite");
  for (const auto& [most, says] : {std::pair{1e-200, "0"}, std::pair{1e200, "inf"}}) {
    bpm::RowMatrix<double> far = bpm::RowMatrix<double>::Random(2, 2);
    far.col(1) << 0, most;
    CHECK(message_of([&] { (void)Standardisation::of(far); }) ==
          std::string("Standardisation::of: inputs have a deviation of ") + says +
              " in column 1, must be positive and finite: scale them");
  }
  const Standardisation two =
      Standardisation::of(bpm::RowMatrix<double>(Eigen::Matrix2d::Identity()));
  CHECK(message_of([&] { (void)two.apply(bpm::RowMatrix<double>(3, 3)); }) ==
        "Standardisation::apply: inputs has 3 entries, expected 2 (columns: one per feature)");
  const BayesPointMachine machine = standardising(BayesPointMachine(Gaussian::from_width(1)));
  const std::vector<int> labels{0, 1};
  const std::string refused =
      ": standardise is true, must be false of inputs that are no dense rows of float or double: "
      "bytes, sparse rows, types of your own and kernel values are taken as they are";
  const bpm::RowMatrix<std::uint8_t> bytes = bpm::RowMatrix<std::uint8_t>::Identity(2, 2);
  CHECK(message_of([&] { (void)machine.fit(bytes, labels); }) ==
        "BayesPointMachine::fit" + refused);
  CHECK(message_of([&] { (void)bpm::choose(machine, bytes, labels); }) == "choose" + refused);
  CHECK(message_of([&] { (void)bpm::cross_validate(machine, bytes, labels, 2); }) ==
        "cross_validate" + refused);
  const bpm::RowMatrix<float> floats = bytes.cast<float>();
  CHECK(message_of([&] { (void)machine.train(floats, labels); }) ==
        "BayesPointMachine::train: standardise is true, must be false of a training: give it "
        "Standardisation::of(inputs).apply(inputs)");
  Standardisation parts = two;
  parts.constant = {2};
  CHECK(message_of([&] { (void)parts.apply(bpm::RowMatrix<double>(3, 2)); }) ==
        "Standardisation::apply: constant names column 2, must be below 2");
  parts.deviation.resize(1);
  CHECK(message_of([&] { (void)parts.apply(bpm::RowMatrix<double>(3, 2)); }) ==
        "Standardisation::apply: deviation has 1 entries, expected 2 (one per feature)");
}

TEST_CASE("bytes and integers asked of a standardised machine are scaled as numbers", "[machine]") {
  const auto [inputs, labels] = noisy_rings(60, 2, 0.1);
  bpm::RowMatrix<float> whole = (inputs.array() * 20 + 100).matrix();
  for (float& value : whole.reshaped()) value = std::round(value);
  const auto fitted = standardising(BayesPointMachine(Gaussian::from_width(1))).fit(whole, labels);
  const Eigen::MatrixXd expected = fitted.decision_values(whole);
  CHECK(fitted.decision_values(bpm::RowMatrix<std::uint8_t>(whole.cast<std::uint8_t>())) ==
        expected);
  // A column that was constant says nothing, whatever it becomes.
  bpm::RowMatrix<float> padded(60, 3);
  padded << whole, Eigen::VectorXf::Constant(60, 5);
  const auto with_constant =
      standardising(BayesPointMachine(Gaussian::from_width(1))).fit(padded, labels);
  bpm::RowMatrix<float> other = padded;
  other.col(2).setConstant(1000);
  CHECK(with_constant.decision_values(other) == with_constant.decision_values(padded));
}
