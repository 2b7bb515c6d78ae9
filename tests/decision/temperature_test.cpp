// SPDX-License-Identifier: MIT
#include "bpm/decision/temperature.hpp"

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <vector>

#include "bpm/core/random/draws.hpp"
#include "bpm/core/random/engine.hpp"
#include "catch.hpp"
#include "message_of.hpp"

using test_support::message_of;

namespace {

const std::vector<int> plus_minus{-1, 1};

/// The loss that is minimised, as it is written.
double smoothed_loss(const Eigen::MatrixXd& outputs, const std::vector<int>& labels,
                     const std::vector<int>& classes, double s) {
  const auto p = bpm::probabilities_of(outputs, s);
  double sum = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    double same = 0;
    for (const int label : labels) same += label == labels[i];
    for (std::size_t c = 0; c < classes.size(); ++c) {
      const double target = classes[c] == labels[i]
                                ? (same + 1) / (same + 2)
                                : 1 / (same + 2) / static_cast<double>(classes.size() - 1);
      sum -= target * std::log(bpm::detail::probability_at(p, static_cast<Eigen::Index>(i),
                                                           static_cast<Eigen::Index>(c)));
    }
  }
  return sum / static_cast<double>(labels.size());
}

}  // namespace

TEST_CASE("probabilities of outputs are logistic and softmax", "[decision]") {
  const Eigen::MatrixXd one{{0.0}, {std::log(3.0)}, {-std::log(3.0)}};
  const Eigen::MatrixXd p = bpm::probabilities_of(one, 2);
  CHECK(p(0, 0) == 0.5);
  CHECK(p(1, 0) == Approx(0.9).epsilon(1e-14));
  CHECK(p(2, 0) == Approx(0.1).epsilon(1e-14));
  const Eigen::MatrixXd three{{std::log(1.0), std::log(2.0), std::log(5.0)}, {800, 800, -800}};
  const Eigen::MatrixXd q = bpm::probabilities_of(three, 1);
  CHECK(q(0, 0) == Approx(0.125).epsilon(1e-14));
  CHECK(q(0, 2) == Approx(0.625).epsilon(1e-14));
  CHECK(q(1, 0) == 0.5);
  CHECK(q(1, 2) == 0);
  // Two outputs f and -f with the slope s are one output f with 2 s.
  const Eigen::MatrixXd pair{{-0.7, 0.7}};
  CHECK(bpm::probabilities_of(pair, 1.5)(0, 1) ==
        Approx(bpm::probabilities_of(Eigen::MatrixXd{{0.7}}, 3)(0, 0)).epsilon(1e-14));
}

TEST_CASE("the slope that made the labels is found", "[decision]") {
  // 100 000 labels drawn at slope 1.7: Fisher's information gives a standard error of 0.014.
  bpm::RandomEngine engine(5);
  bpm::NormalDraws normal;
  Eigen::MatrixXd outputs(100000, 1);
  std::vector<int> labels(100000);
  for (Eigen::Index i = 0; i < outputs.rows(); ++i) {
    outputs(i, 0) = 2 * normal(engine);
    const double p = 1 / (1 + std::exp(-1.7 * outputs(i, 0)));
    labels[static_cast<std::size_t>(i)] = bpm::uniform_unit(engine) < p ? 1 : -1;
  }
  const auto fitted = bpm::fit_slope(outputs, labels, plus_minus);
  CHECK(fitted.slope == Approx(1.7).margin(4 * 0.014));
  const auto p = bpm::probabilities_of(outputs, fitted.slope);
  CHECK(fitted.loss == Approx(bpm::log_loss(p, labels, plus_minus)).margin(1e-4));
  CHECK(fitted.standard_error == Approx(0.00173).margin(1e-4));
  // Well calibrated, where a slope twice as large is not.
  CHECK(bpm::calibration_error(bpm::reliability_diagram(p, labels, plus_minus)) < 0.006);
  CHECK(bpm::calibration_error(bpm::reliability_diagram(bpm::probabilities_of(outputs, 3.4), labels,
                                                        plus_minus)) > 0.03);
}

TEST_CASE("the slope minimises the smoothed loss", "[decision]") {
  const Eigen::Index columns = GENERATE(1, 3);
  const double scale = GENERATE(1e-8, 1.0, 1e8);
  CAPTURE(columns, scale);
  const std::vector<int> classes = columns == 1 ? plus_minus : std::vector<int>{0, 4, 9};
  bpm::RandomEngine engine(7);
  bpm::NormalDraws normal;
  Eigen::MatrixXd outputs(40, columns);
  std::vector<int> labels(40);
  for (Eigen::Index i = 0; i < 40; ++i) {
    const auto own = static_cast<std::size_t>(i) % classes.size();
    labels[static_cast<std::size_t>(i)] = classes[own];
    for (Eigen::Index c = 0; c < columns; ++c) {
      const bool positive = columns == 1 ? own == 1 : static_cast<std::size_t>(c) == own;
      outputs(i, c) = scale * (normal(engine) + (positive ? 1 : -0.5));
    }
  }
  const auto fitted = bpm::fit_slope(outputs, labels, classes);
  CHECK(fitted.loss ==
        Approx(smoothed_loss(outputs, labels, classes, fitted.slope)).epsilon(1e-12));
  for (const double factor : {0.99, 1.01}) {
    CHECK(smoothed_loss(outputs, labels, classes, factor * fitted.slope) > fitted.loss);
  }
}

TEST_CASE("a slope stays finite and positive", "[decision]") {
  const Eigen::MatrixXd outputs{{-2.0}, {-1.0}, {1.0}, {2.0}};
  const auto right = bpm::fit_slope(outputs, std::vector<int>{-1, -1, 1, 1}, plus_minus);
  // Targets 3/4 at 1 and 2: the derivative sum (logistic(s f) - 3/4) f vanishes.
  const auto logistic = [](double z) { return 1 / (1 + std::exp(-z)); };
  CHECK(logistic(right.slope) - 0.75 + 2 * (logistic(2 * right.slope) - 0.75) ==
        Approx(0).margin(1e-10));
  const auto wrong = bpm::fit_slope(outputs, std::vector<int>{1, 1, -1, -1}, plus_minus);
  CHECK(wrong.slope == Approx(1e-6 / std::sqrt(10.0 / 8)).epsilon(1e-12));
  const auto nothing =
      bpm::fit_slope(Eigen::MatrixXd::Zero(4, 1), std::vector<int>{1, 1, -1, 1}, plus_minus);
  CHECK(nothing.slope == 1);
  CHECK(nothing.loss == Approx(std::log(2.0)));
}

TEST_CASE("slopes refuse what is none", "[decision]") {
  const Eigen::MatrixXd outputs{{1.0}, {2.0}};
  CHECK(message_of([&] { (void)bpm::probabilities_of(outputs, 0); }) ==
        "probabilities_of: slope is 0, must be positive and finite");
  CHECK(message_of([&] { (void)bpm::fit_slope(outputs, std::vector<int>{1}, plus_minus); }) ==
        "fit_slope: labels has 1 entries, expected 2 (one per input)");
  CHECK(message_of([&] {
          (void)bpm::fit_slope(outputs, std::vector<int>{1, 2}, plus_minus);
        }) == "fit_slope: labels[1] is 2, must be one of the given classes");
  const Eigen::MatrixXd bad{{std::numeric_limits<double>::quiet_NaN()}};
  CHECK(message_of([&] { (void)bpm::fit_slope(bad, std::vector<int>{1}, plus_minus); }) ==
        "fit_slope: decision_values(0, 0) is nan, must be finite");
}
