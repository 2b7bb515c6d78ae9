// SPDX-License-Identifier: MIT
#include "bpm/decision/evaluation.hpp"

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "message_of.hpp"

using test_support::message_of;

namespace {

const std::vector<int> two_classes{3, 8};
const std::vector<int> three_classes{1, 2, 5};
const Eigen::MatrixXd of_second{{0.8}, {0.4}, {0.1}};
const std::vector<int> three_labels{8, 8, 3};
const Eigen::MatrixXd of_three{{0.5, 0.25, 0.25}, {0.1, 0.2, 0.7}};

}  // namespace

TEST_CASE("losses of probabilities by hand", "[decision]") {
  const auto losses = bpm::log_losses(of_second, three_labels, two_classes);
  REQUIRE(losses.size() == 3);
  CHECK(losses[0] == Approx(-std::log(0.8)));
  CHECK(losses[1] == Approx(-std::log(0.4)));
  CHECK(losses[2] == Approx(-std::log(0.9)));
  CHECK(bpm::log_loss(of_second, three_labels, two_classes) ==
        Approx(-std::log(0.8 * 0.4 * 0.9) / 3).epsilon(1e-14));
  CHECK(bpm::brier_score(of_second, three_labels, two_classes) ==
        Approx(2 * (0.04 + 0.36 + 0.01) / 3).epsilon(1e-14));
  // Two columns say the same as one.
  Eigen::MatrixXd both(3, 2);
  both << 1 - of_second.array(), of_second;
  CHECK(bpm::log_loss(both, three_labels, two_classes) ==
        Approx(bpm::log_loss(of_second, three_labels, two_classes)));
  CHECK(bpm::brier_score(both, three_labels, two_classes) ==
        Approx(bpm::brier_score(of_second, three_labels, two_classes)));

  const std::vector<int> of{1, 2};
  CHECK(bpm::log_loss(of_three, of, three_classes) == Approx(-std::log(0.5 * 0.2) / 2));
  CHECK(bpm::brier_score(of_three, of, three_classes) ==
        Approx((0.25 + 2 * 0.0625 + 0.01 + 0.64 + 0.49) / 2));
  // A probability within rounding of one keeps its loss; none at all costs infinitely much.
  CHECK(bpm::log_losses(Eigen::MatrixXd{{1e-20}}, std::vector<int>{3}, two_classes)[0] ==
        Approx(1e-20));
  CHECK(bpm::log_losses(Eigen::MatrixXd{{0.0}}, std::vector<int>{8}, two_classes)[0] ==
        std::numeric_limits<double>::infinity());
}

TEST_CASE("a reliability diagram by hand", "[decision]") {
  // Largest probabilities 0.8 (right), 0.6 (wrong), 0.9 (right), in four bins.
  const auto diagram = bpm::reliability_diagram(of_second, three_labels, two_classes, 4);
  REQUIRE(diagram.size() == 4);
  CHECK(diagram[0].inputs == 0);
  CHECK(diagram[2].inputs == 1);
  CHECK(diagram[2].probability == Approx(0.6));
  CHECK(diagram[2].correct == 0);
  CHECK(diagram[3].inputs == 2);
  CHECK(diagram[3].probability == Approx(0.85));
  CHECK(diagram[3].correct == 1);
  CHECK(bpm::calibration_error(diagram) == Approx((0.6 + 2 * 0.15) / 3));

  // 1 is of the last bin; of equal probabilities the first class is taken.
  const Eigen::MatrixXd edges{{1.0}, {0.5}};
  const auto of_edges = bpm::reliability_diagram(edges, std::vector<int>{8, 3}, two_classes, 2);
  CHECK(of_edges[1].inputs == 2);
  CHECK(of_edges[1].correct == 1);
  CHECK(bpm::reliability_diagram(of_three, std::vector<int>{1, 2}, three_classes).size() == 15);
}

TEST_CASE("losses refuse what is no probability", "[decision]") {
  CHECK(message_of([&] { (void)bpm::log_loss(of_second, std::vector<int>{8}, two_classes); }) ==
        "log_losses: labels has 1 entries, expected 3 (one per input)");
  CHECK(message_of([&] { (void)bpm::log_loss(Eigen::MatrixXd(0, 1), {}, two_classes); }) ==
        "log_losses: inputs are none, must be at least one");
  CHECK(message_of([&] {
          (void)bpm::log_loss(of_three, std::vector<int>{1, 2}, two_classes);
        }) ==
        "log_losses: columns has 3 entries, expected 2 (one per class; of two classes one may do)");
  CHECK(message_of([&] {
          (void)bpm::log_loss(of_second, three_labels, std::vector<int>{8, 3});
        }) == "log_losses: classes must be at least two, and ascend");
  CHECK(message_of([&] {
          (void)bpm::brier_score(of_second, std::vector<int>{8, 8, 4}, two_classes);
        }) == "brier_score: labels[2] is 4, must be one of the given classes");
  CHECK(message_of([&] {
          (void)bpm::brier_score(Eigen::MatrixXd{{1.5}}, std::vector<int>{8}, two_classes);
        }) == "brier_score: probabilities at (0, 0) are 1.5, must lie in [0, 1]");
  CHECK(message_of([&] {
          (void)bpm::reliability_diagram(of_second, three_labels, two_classes, 0);
        }) == "reliability_diagram: bins is 0, must be at least 1");
  CHECK(message_of([&] { (void)bpm::calibration_error({}); }) ==
        "calibration_error: diagram has no input");
}
