// SPDX-License-Identifier: MIT
// The optimiser, and that networks learn by it.
#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "bpm/core/random.hpp"
#include "catch.hpp"
#include "networks/nero.hpp"
#include "networks/network.hpp"
#include "networks/training.hpp"

using namespace bpm_examples;

namespace {

using Matrix = bpm::RowMatrix<double>;

std::vector<Matrix> random_gradient(const Network<double>& network, double scale,
                                    bpm::RandomEngine& engine) {
  bpm::NormalDraws normal;
  std::vector<Matrix> gradient;
  for (const Matrix& matrix : network.weights()) {
    gradient.emplace_back(matrix.rows(), matrix.cols());
    for (Eigen::Index k = 0; k < matrix.size(); ++k) {
      gradient.back().data()[k] = scale * normal(engine);
    }
  }
  return gradient;
}

/// 20 random points of norm^2 = 10 and labels by the sign of the first coordinate.
struct SignedPoints {
  explicit SignedPoints(double scale) : inputs(20, 10), labels(20) {
    bpm::RandomEngine engine(21);
    bpm::NormalDraws normal;
    for (Eigen::Index i = 0; i < 20; ++i) {
      for (Eigen::Index j = 0; j < 10; ++j) inputs(i, j) = static_cast<float>(normal(engine));
      inputs.row(i) *= std::sqrt(10.0F) / inputs.row(i).norm();
      labels[i] = static_cast<float>(std::copysign(scale * std::abs(normal(engine)), inputs(i, 0)));
    }
  }

  bpm::RowMatrix<float> inputs;
  Eigen::VectorXf labels;
};

constexpr auto always = [] { return true; };

}  // namespace

TEST_CASE("Nero keeps every neuron at mean zero and norm one", "[examples]") {
  bpm::RandomEngine engine(6);
  Network<double> network({.inputs = 12, .width = 9, .depth = 3}, engine);
  Nero<double> nero(network);
  for (int step = 0; step < 50; ++step) {
    const auto gradient = random_gradient(network, std::pow(10.0, step % 7 - 3), engine);
    nero.step(network, gradient, 0.2);
    for (const Matrix& matrix : network.weights()) {
      CHECK(matrix.rowwise().mean().cwiseAbs().maxCoeff() < 1e-15);
      CHECK((matrix.rowwise().norm().array() - 1).abs().maxCoeff() < 1e-14);
    }
  }
}

TEST_CASE("Nero's steps are those of its formula", "[examples]") {
  bpm::RandomEngine engine(7);
  Network<double> network({.inputs = 12, .width = 9, .depth = 3}, engine);
  constexpr double beta = 0.9;
  constexpr double rate = 0.03;
  Nero<double> nero(network, beta);
  std::vector<Eigen::RowVectorXd> row;
  std::vector<double> weighted;
  for (const Matrix& matrix : network.weights()) {
    row.emplace_back(matrix.row(0));
    weighted.push_back(0);
  }
  for (int step = 1; step <= 5; ++step) {
    const auto gradient = random_gradient(network, step, engine);
    nero.step(network, gradient, rate);
    for (std::size_t l = 0; l < row.size(); ++l) {
      const Eigen::RowVectorXd g = gradient[l].row(0);
      // The mean of |g|^2 with weights beta^(step - s), which add up to (1 - beta^t) / (1 - beta).
      weighted[l] = beta * weighted[l] + g.squaredNorm();
      const double mean = weighted[l] * (1 - beta) / (1 - std::pow(beta, step));
      Eigen::RowVectorXd moved = row[l] - rate * g / std::sqrt(mean);
      moved.array() -= moved.mean();
      row[l] = moved / moved.norm();
      CHECK((network.weights()[l].row(0) - row[l]).norm() < 1e-13);
    }
  }
}

TEST_CASE("Nero does not see the scale of the loss, and leaves neurons without gradient alone",
          "[examples]") {
  bpm::RandomEngine engine(8);
  const Network<double> start({.inputs = 12, .width = 9, .depth = 3}, engine);
  auto gradient = random_gradient(start, 1, engine);
  gradient[1].row(4).setZero();
  Network<double> small = start;
  Network<double> large = start;
  Nero<double> nero_small(small);
  Nero<double> nero_large(large);
  for (int step = 0; step < 3; ++step) {
    nero_small.step(small, gradient, 0.1);
    auto scaled = gradient;
    for (Matrix& matrix : scaled) matrix *= 1e5;
    nero_large.step(large, scaled, 0.1);
  }
  for (std::size_t l = 0; l < gradient.size(); ++l) {
    CHECK((small.weights()[l] - large.weights()[l]).norm() < 1e-12);
  }
  CHECK(small.weights()[1].row(4) == start.weights()[1].row(4));
  CHECK((small.weights()[1].row(3) - start.weights()[1].row(3)).norm() > 0.1);
}

TEST_CASE("The rate falls as the authors' does", "[examples]") {
  CHECK(rate_of({.epochs = 500, .rate = 0.01}, 0) == 0.01);
  CHECK(std::abs(rate_of({.epochs = 500, .rate = 0.01}, 1) - 0.0099) < 1e-15);
  CHECK(std::abs(rate_of({.epochs = 500, .rate = 0.01}, 499) - 0.01 * std::pow(0.99, 499)) < 1e-15);
  CHECK(std::abs(rate_of({.epochs = 100, .rate = 0.01}, 50) - 0.01 * std::pow(0.99, 250)) < 1e-15);
}

TEST_CASE("Networks fit labels of small and of large margin", "[examples]") {
  // Of the order of the outputs at the start, and far above.
  const auto [scale, least_fall] = GENERATE(table<double, double>({{0.4, 50.0}, {10.0, 10.0}}));
  CAPTURE(scale);
  const SignedPoints problem(scale);
  bpm::RandomEngine engine(9);
  Network<float> network({.inputs = 10, .width = 64, .depth = 4}, engine);
  const Fit fit = train_network(network, problem.inputs, problem.labels, {}, always);
  CHECK_FALSE(fit.stopped);
  CHECK(std::abs(fit.label_size - std::sqrt(problem.labels.squaredNorm() / 20)) < 1e-5);
  CHECK(fit.loss * least_fall < fit.label_size);
  CHECK(fit.errors <= 0.05);  // A label near zero may be missed.
  const Eigen::VectorXf outputs = network.outputs(problem.inputs);
  CHECK(std::abs(fit.loss - std::sqrt((outputs - problem.labels).squaredNorm() / 20)) <
        1e-4 * fit.label_size);
  const Eigen::ArrayXf margins = outputs.array() * problem.labels.array().sign();
  CHECK(std::abs(fit.mean_margin - margins.mean()) < 1e-4 * scale);
  CHECK(std::abs(fit.least_margin - margins.minCoeff()) < 1e-4 * scale);
  // The start does not: it is the training that fits.
  bpm::RandomEngine again(9);
  Network<float> untrained({.inputs = 10, .width = 64, .depth = 4}, again);
  const Fit none = train_network(untrained, problem.inputs, problem.labels, {.epochs = 0}, always);
  CHECK(none.loss * 2 > none.label_size);
  CHECK(none.errors > 0.1);
}

TEST_CASE("Training stops when told, and repeats itself", "[examples]") {
  const SignedPoints problem(0.4);
  const auto train = [&](int most) {
    bpm::RandomEngine engine(10);
    Network<float> network({.inputs = 10, .width = 16, .depth = 3}, engine);
    int epochs = 0;
    const Fit fit = train_network(network, problem.inputs, problem.labels, {.epochs = 20},
                                  [&] { return epochs++ < most; });
    return std::pair(fit, network.weights());
  };
  const auto [whole, weights] = train(1000);
  CHECK_FALSE(whole.stopped);
  CHECK(train(1000).second == weights);
  const auto [part, other] = train(5);
  CHECK(part.stopped);
  CHECK(other != weights);
}
