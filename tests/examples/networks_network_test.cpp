// SPDX-License-Identifier: MIT
// The networks, their gradient, and what wide ones are.
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numbers>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "networks/interpolator.hpp"
#include "networks/network.hpp"
#include "networks/training.hpp"

using namespace bpm_examples;

namespace {

using Matrix = bpm::RowMatrix<double>;
using Vector = Eigen::VectorXd;

/// Rows of norm^2 = columns.
Matrix random_inputs(Eigen::Index rows, Eigen::Index columns, bpm::RandomEngine& engine) {
  bpm::NormalDraws normal;
  Matrix inputs(rows, columns);
  for (Eigen::Index i = 0; i < rows; ++i) {
    for (Eigen::Index j = 0; j < columns; ++j) inputs(i, j) = normal(engine);
    inputs.row(i) *= std::sqrt(static_cast<double>(columns)) / inputs.row(i).norm();
  }
  return inputs;
}

/// Largest relative difference between `gradient` and central differences of the loss.
double gradient_error(Network<double> network, const Matrix& inputs, const Vector& labels,
                      const std::vector<Matrix>& gradient) {
  Network<double>::Activations kept;
  Vector slopes;
  const auto loss = [&] {
    return root_mean_square_loss(Vector(network.forward(inputs, kept)), labels, slopes);
  };
  double worst = 0;
  for (std::size_t l = 0; l < gradient.size(); ++l) {
    const double size = gradient[l].cwiseAbs().maxCoeff();
    for (Eigen::Index k = 0; k < gradient[l].size(); ++k) {
      constexpr double step = 1e-6;
      double& weight = network.weights()[l].data()[k];
      const double before = weight;
      weight = before + step;
      const double above = loss();
      weight = before - step;
      const double below = loss();
      weight = before;
      worst =
          std::max(worst, std::abs((above - below) / (2 * step) - gradient[l].data()[k]) / size);
    }
  }
  return worst;
}

/// Mean products of outputs of `count` random networks.
Matrix covariance_of_networks(
    const Matrix& inputs, Eigen::Index width, int depth, int count,
    const std::function<void(Network<double>&, bpm::RandomEngine&)>& make) {
  Matrix covariance = Matrix::Zero(inputs.rows(), inputs.rows());
  bpm::RandomEngine engine(11);
  for (int k = 0; k < count; ++k) {
    Network<double> network({.inputs = inputs.cols(), .width = width, .depth = depth}, engine);
    make(network, engine);
    const Vector f = network.outputs(inputs);
    covariance += f * f.transpose() / count;
  }
  return covariance;
}

/// Normal weights of variance 1 / fan-in, as in the paper's section 4.2.
void make_free(Network<double>& network, bpm::RandomEngine& engine) {
  bpm::NormalDraws normal;
  for (Matrix& matrix : network.weights()) {
    const double scale = 1 / std::sqrt(static_cast<double>(matrix.cols()));
    for (Eigen::Index k = 0; k < matrix.size(); ++k) matrix.data()[k] = scale * normal(engine);
  }
}

}  // namespace

TEST_CASE("A network is its formula", "[examples]") {
  bpm::RandomEngine engine(1);
  const Network<double> network({.inputs = 5, .width = 4, .depth = 3}, engine);
  const auto& w = network.weights();
  REQUIRE(w.size() == 3);
  CHECK((w[0].rows() == 4 && w[0].cols() == 5));
  CHECK((w[1].rows() == 4 && w[1].cols() == 4));
  CHECK((w[2].rows() == 1 && w[2].cols() == 4));
  const Matrix inputs = random_inputs(700, 5, engine);  // More than one block of `outputs`.
  const Vector f = network.outputs(inputs);
  for (const Eigen::Index i : {0, 511, 512, 699}) {
    Vector h = inputs.row(i).transpose();
    for (std::size_t l = 0; l < 2; ++l) h = std::sqrt(2.0) * (w[l] * h).cwiseMax(0);
    CHECK(std::abs((w[2] * h)(0) - f[i]) < 1e-13);
  }
}

TEST_CASE("Neurons start balanced", "[examples]") {
  bpm::RandomEngine engine(2);
  const Network<float> network({.inputs = 30, .width = 20, .depth = 4}, engine);
  for (const auto& matrix : network.weights()) {
    for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
      CHECK(std::abs(matrix.row(i).mean()) < 1e-7F);
      CHECK(std::abs(matrix.row(i).norm() - 1) < 1e-6F);
    }
  }
  Eigen::RowVectorXd row(3);
  row << 1, 2, 6;
  CHECK(balance(row));
  CHECK(row.isApprox(Eigen::RowVector3d(-2, -1, 3) / std::sqrt(14.0)));
  row.setConstant(5);
  CHECK_FALSE(balance(row));
  CHECK(row.isZero());
}

TEST_CASE("The gradient is that of finite differences", "[examples]") {
  const int depth = GENERATE(2, 3, 5);
  CAPTURE(depth);
  bpm::RandomEngine engine(3, static_cast<std::uint64_t>(depth));
  const Network<double> network({.inputs = 6, .width = 5, .depth = depth}, engine);
  const Matrix inputs = random_inputs(7, 6, engine);
  const Vector labels = random_inputs(1, 7, engine).row(0).transpose();
  Network<double>::Activations kept;
  std::vector<Matrix> gradient;
  Vector slopes;
  const double loss = root_mean_square_loss(Vector(network.forward(inputs, kept)), labels, slopes);
  CHECK(std::abs(loss - std::sqrt((network.outputs(inputs) - labels).squaredNorm() / 7)) < 1e-14);
  network.backward(inputs, slopes, kept, gradient);
  CHECK(gradient_error(network, inputs, labels, gradient) < 1e-7);
  // A derivative that forgets the factor of one relu does not pass.
  gradient[0] /= std::sqrt(2.0);
  CHECK(gradient_error(network, inputs, labels, gradient) > 0.1);
}

TEST_CASE("The loss of a perfect fit has no slope", "[examples]") {
  const Vector labels = Vector::LinSpaced(4, -1, 1);
  Vector slopes;
  CHECK(root_mean_square_loss(labels, labels, slopes) == 0);
  CHECK(slopes.isZero());
}

TEST_CASE("Wide random networks have the arc-cosine kernel", "[examples]") {
  // Standard errors of means of f f': at most sqrt(2 / 4000) = 0.022 where k(x, x) is 1, a little
  // more at finite width (5 standard errors with the excess kurtosis: 0.13); the means themselves
  // do not depend on the width where the weights are free.
  constexpr int count = 4000;
  constexpr int depth = 3;
  bpm::RandomEngine engine(4);
  Matrix inputs = random_inputs(4, 24, engine);
  inputs.row(1) = (inputs.row(0) + 0.5 * inputs.row(1)).eval();
  inputs.row(1) *= std::sqrt(24.0) / inputs.row(1).norm();
  inputs.row(3) = -inputs.row(2);
  const Eigen::MatrixXd free = bpm::kernel_matrix(bpm::ArcCosine(depth), inputs);
  CHECK((free.diagonal().array() - 1).abs().maxCoeff() < 1e-12);
  const Matrix measured = covariance_of_networks(inputs, 48, depth, count, make_free);
  CHECK((measured - free).cwiseAbs().maxCoeff() < 0.13);

  // Balanced neurons do not see the mean of the hidden layer: another kernel, and one in which
  // opposite inputs are not alike. Finite width shifts it by about 1 / 48.
  const Matrix centred = inputs.colwise() - inputs.rowwise().mean();
  const double factor = std::pow(1 - 1 / std::numbers::pi, depth - 1) / 24;
  const Eigen::MatrixXd balanced = factor * bpm::kernel_matrix(BalancedArcCosine(depth), centred);
  const Matrix start =
      covariance_of_networks(inputs, 48, depth, count, [](Network<double>&, bpm::RandomEngine&) {});
  CHECK((start - balanced).cwiseAbs().maxCoeff() < 0.09);
  // The two kernels are far apart for this to tell.
  CHECK((start - free).cwiseAbs().maxCoeff() > 0.3);
  CHECK((measured - balanced).cwiseAbs().maxCoeff() > 0.3);
}

TEST_CASE("Shapes that are no network", "[examples]") {
  bpm::RandomEngine engine(5);
  const auto make = [&](Eigen::Index inputs, Eigen::Index width, int depth) {
    return Network<float>({.inputs = inputs, .width = width, .depth = depth}, engine);
  };
  CHECK_THROWS_WITH(make(1, 4, 3), "Network: inputs is 1, must be 2 or more");
  CHECK_THROWS_WITH(make(4, 1, 3), "Network: width is 1, must be 2 or more");
  CHECK_THROWS_WITH(make(4, 4, 1), "Network: depth is 1, must be 2 or more");
  CHECK_NOTHROW(make(2, 2, 2));
}
