// SPDX-License-Identifier: MIT
#include "bpm/decision/class_probabilities.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/decision/evaluation.hpp"
#include "catch.hpp"
#include "message_of.hpp"

using test_support::message_of;

namespace {

const std::vector<int> plus_minus{-1, 1};

/// The loss that is minimised, as it is written.
double smoothed_loss(const Eigen::MatrixXd& outputs, const std::vector<int>& labels,
                     const std::vector<int>& classes, double s,
                     const std::vector<double>& offsets = {}) {
  const auto p = bpm::probabilities_of(outputs, s, offsets);
  const auto n = static_cast<double>(labels.size());
  double sum = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    for (std::size_t c = 0; c < classes.size(); ++c) {
      const double target = classes[c] == labels[i]
                                ? (n + 1) / (n + 2)
                                : 1 / (n + 2) / static_cast<double>(classes.size() - 1);
      sum -= target * std::log(bpm::detail::probability_at(p, static_cast<Eigen::Index>(i),
                                                           static_cast<Eigen::Index>(c)));
    }
  }
  return sum / n;
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

TEST_CASE("the slope that made the labels is found", "[decision][at length]") {
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
  // Targets 5/6 at 1 and 2: the derivative sum (logistic(s f) - 5/6) f vanishes.
  const auto logistic = [](double z) { return 1 / (1 + std::exp(-z)); };
  CHECK(logistic(right.slope) - 5.0 / 6 + 2 * (logistic(2 * right.slope) - 5.0 / 6) ==
        Approx(0).margin(1e-10));
  const auto wrong = bpm::fit_slope(outputs, std::vector<int>{1, 1, -1, -1}, plus_minus);
  CHECK(wrong.slope == Approx(1e-6 / std::sqrt(10.0 / 8)).epsilon(1e-12));
  const auto nothing =
      bpm::fit_slope(Eigen::MatrixXd::Zero(4, 1), std::vector<int>{1, 1, -1, 1}, plus_minus);
  CHECK(nothing.slope == 1);
  CHECK(nothing.loss == Approx(std::log(2.0)));
}

TEST_CASE("the standard error is the losses' deviation over the square root of n", "[decision]") {
  const Eigen::MatrixXd outputs{{-1.5}, {0.2}, {-0.3}, {2.0}};
  const std::vector<int> labels{-1, -1, 1, 1};
  const auto fitted = bpm::fit_slope(outputs, labels, plus_minus);
  // The loss of one input against its target, 5/6 for its own class.
  Eigen::ArrayXd losses(4);
  for (Eigen::Index i = 0; i < 4; ++i) {
    const double z = fitted.slope * outputs(i, 0) * labels[static_cast<std::size_t>(i)];
    losses[i] = 5.0 / 6 * std::log1p(std::exp(-z)) + 1.0 / 6 * std::log1p(std::exp(z));
  }
  CHECK(fitted.loss == Approx(losses.mean()).epsilon(1e-12));
  const double variance = (losses - losses.mean()).square().sum() / 3;
  CHECK(fitted.standard_error == Approx(std::sqrt(variance / 4)).epsilon(1e-9));
  CHECK(bpm::fit_slope(Eigen::MatrixXd{{1.0}}, std::vector<int>{1}, plus_minus).standard_error ==
        0);
}

TEST_CASE("many classes invent no more errors than one", "[decision]") {
  // 20 classes of 15 inputs, every output right by 0.1: smoothing by the class's own size would
  // have the loss of 20 / 17 errors in 300 inputs, not of one in 302.
  std::vector<int> classes(20);
  std::iota(classes.begin(), classes.end(), 0);
  Eigen::MatrixXd outputs = Eigen::MatrixXd::Zero(300, 20);
  std::vector<int> labels(300);
  for (Eigen::Index i = 0; i < 300; ++i) {
    labels[static_cast<std::size_t>(i)] = static_cast<int>(i % 20);
    outputs(i, i % 20) = 0.1;
  }
  const auto fitted = bpm::fit_slope(outputs, labels, classes);
  // The own class has 301/302 where all inputs look alike: e^(0.1 s) / 19 = 301.
  CHECK(fitted.slope == Approx(10 * std::log(301.0 * 19)).epsilon(1e-9));
}

TEST_CASE("offsets and slope together minimise the loss with its ridge", "[decision][at length]") {
  const Eigen::Index columns = GENERATE(1, 4);
  CAPTURE(columns);
  const std::vector<int> classes = columns == 1 ? plus_minus : std::vector<int>{0, 4, 9, 11};
  // Labels drawn from softmax(2 f + b); rows enough for a standard error of some 0.03.
  const std::vector<double> truth =
      columns == 1 ? std::vector<double>{-1.5} : std::vector<double>{1, -1, 0.5, -0.5};
  bpm::RandomEngine engine(11);
  bpm::NormalDraws normal;
  const Eigen::Index n = 20000;
  Eigen::MatrixXd outputs(n, columns);
  for (Eigen::Index i = 0; i < outputs.size(); ++i) outputs.data()[i] = normal(engine);
  const Eigen::MatrixXd p = bpm::probabilities_of(outputs, 2, truth);
  std::vector<int> labels;
  for (Eigen::Index i = 0; i < n; ++i) {
    double left = bpm::uniform_unit(engine);
    std::size_t c = 0;
    while (c + 1 < classes.size()) {
      left -= bpm::detail::probability_at(p, i, static_cast<Eigen::Index>(c));
      if (left < 0) break;
      ++c;
    }
    labels.push_back(classes[c]);
  }
  const auto fitted = bpm::fit_slope(outputs, labels, classes, true);
  CHECK(fitted.slope == Approx(2).margin(0.12));
  REQUIRE(fitted.offsets.size() == truth.size());
  for (std::size_t c = 0; c < truth.size(); ++c) {
    CHECK(fitted.offsets[c] == Approx(truth[c]).margin(0.12));
  }
  const auto objective = [&](double s, const std::vector<double>& b) {
    double ridge = 0;
    for (const double one : b) ridge += one * one / 2;
    return smoothed_loss(outputs, labels, classes, s, b) + ridge / static_cast<double>(n);
  };
  CHECK(
      fitted.loss ==
      Approx(smoothed_loss(outputs, labels, classes, fitted.slope, fitted.offsets)).epsilon(1e-12));
  const double least = objective(fitted.slope, fitted.offsets);
  for (const double step : {-1e-3, 1e-3}) {
    CHECK(objective(fitted.slope + step, fitted.offsets) > least);
    for (std::size_t c = 0; c < truth.size(); ++c) {
      auto moved = fitted.offsets;
      moved[c] += step;
      CHECK(objective(fitted.slope, moved) > least);
    }
  }
  CHECK(bpm::fit_slope(outputs, labels, classes).offsets.empty());
}

TEST_CASE("rows that fit offsets do not judge their ridge", "[decision]") {
  // Labels without a pattern, 12 classes of some 5 inputs each: offsets of any ridge fit their own
  // rows better, and others worse.
  std::vector<int> classes(12);
  std::iota(classes.begin(), classes.end(), 0);
  int kept = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    bpm::RandomEngine engine(seed);
    bpm::NormalDraws normal;
    Eigen::MatrixXd outputs(60, 12);
    std::vector<int> labels(60);
    for (Eigen::Index i = 0; i < 60; ++i) {
      for (Eigen::Index c = 0; c < 12; ++c) outputs(i, c) = normal(engine);
      labels[static_cast<std::size_t>(i)] = static_cast<int>(bpm::uniform_below(engine, 12U));
    }
    double largest = 0;
    for (const double offset : bpm::fit_slope(outputs, labels, classes, true).offsets) {
      largest = std::max(largest, std::abs(offset));
    }
    kept += largest < 0.1 ? 1 : 0;
  }
  CHECK(kept >= 7);
}

TEST_CASE("the ridge keeps the offset of a class that is never seen", "[decision]") {
  const Eigen::MatrixXd outputs = Eigen::MatrixXd::Zero(50, 3);
  std::vector<int> labels(50, 0);
  for (std::size_t i = 25; i < 50; ++i) labels[i] = 1;
  const auto fitted = bpm::fit_slope(outputs, labels, std::vector<int>{0, 1, 2}, true);
  // No output says anything: p_c - t_c summed over inputs equals -b_c, and the b_c sum to 0.
  const auto p = bpm::probabilities_of(Eigen::MatrixXd::Zero(1, 3), 1, fitted.offsets);
  const double e = 1 / 52.0;
  const std::vector<double> share{25 * (1 - e) + 25 * e / 2, 25 * (1 - e) + 25 * e / 2, 50 * e / 2};
  for (Eigen::Index c = 0; c < 3; ++c) {
    CHECK(50 * p(0, c) - share[static_cast<std::size_t>(c)] ==
          Approx(-fitted.offsets[static_cast<std::size_t>(c)]).margin(1e-6));
  }
}

TEST_CASE("probabilities judged on n rows stay 1 / (n + 2) away from 0 and 1", "[decision]") {
  const Eigen::MatrixXd sure{{-1e9}, {1e9}, {0.0}};
  const auto p = bpm::probabilities_of(sure, 1, {}, 98);
  CHECK(p(0, 0) == 0.01);
  CHECK(p(1, 0) == 0.99);
  CHECK(p(2, 0) == 0.5);
  const auto q = bpm::probabilities_of(Eigen::MatrixXd{{1e9, 0, 0, 0, 0}}, 1, {}, 98);
  CHECK(q(0, 0) == Approx(1 / 1.01).epsilon(1e-12));
  CHECK(q(0, 4) == Approx(0.0025 / 1.01).epsilon(1e-12));
  CHECK(bpm::probabilities_of(sure, 1)(1, 0) == 1);
}

TEST_CASE("slopes refuse what is none", "[decision]") {
  const Eigen::MatrixXd outputs{{1.0}, {2.0}};
  CHECK(message_of([&] { (void)bpm::probabilities_of(outputs, 0); }) ==
        "probabilities_of: slope is 0, must be positive and finite");
  CHECK(message_of([&] {
          (void)bpm::probabilities_of(outputs, 1, std::vector<double>{1, 2});
        }) == "probabilities_of: offsets has 2 entries, expected 1 (one a column, or none)");
  CHECK(message_of([&] {
          (void)bpm::probabilities_of(outputs, 1,
                                      std::vector<double>{std::numeric_limits<double>::infinity()});
        }) == "probabilities_of: offsets at 0 is inf, must be finite");
  CHECK(message_of([&] { (void)bpm::fit_slope(outputs, std::vector<int>{1}, plus_minus); }) ==
        "fit_slope: labels has 1 entries, expected 2 (one per input)");
  CHECK(message_of([&] {
          (void)bpm::fit_slope(outputs, std::vector<int>{1, 2}, plus_minus);
        }) == "fit_slope: labels[1] is 2, must be one of the given classes");
  const Eigen::MatrixXd bad{{std::numeric_limits<double>::quiet_NaN()}};
  CHECK(message_of([&] { (void)bpm::fit_slope(bad, std::vector<int>{1}, plus_minus); }) ==
        "fit_slope: decision_values(0, 0) is nan, must be finite");
}
