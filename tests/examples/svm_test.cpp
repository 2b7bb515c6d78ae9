// SPDX-License-Identifier: MIT
#include "common/svm.hpp"

#include <Eigen/Core>
#include <Eigen/LU>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bpm/core/random.hpp"
#include "catch.hpp"

using bpm_examples::SvmBias;
using bpm_examples::SvmClassifier;
using bpm_examples::SvmSettings;
using bpm_examples::train_svm;

namespace {

using Matrix = bpm::RowMatrix<double>;

Matrix inner_products(const Matrix& inputs) { return inputs * inputs.transpose(); }

/// K near the identity: every point is a support vector, so that the solution is that of a linear
/// system.
Matrix nearly_diagonal(Eigen::Index m) {
  bpm::RandomEngine engine(7);
  Matrix features(m, 3 * m);
  for (double& x : features.reshaped()) x = 2 * bpm::uniform_unit(engine) - 1;
  Matrix kernel = features * features.transpose() / static_cast<double>(m);
  kernel.diagonal().array() += 2;
  return kernel;
}

std::vector<int> alternating(Eigen::Index m) {
  std::vector<int> labels;
  for (Eigen::Index i = 0; i < m; ++i) labels.push_back(i % 3 == 0 ? 1 : -1);
  return labels;
}

Eigen::VectorXd as_vector(const std::vector<int>& labels) {
  return Eigen::Map<const Eigen::VectorXi>(labels.data(), static_cast<Eigen::Index>(labels.size()))
      .cast<double>();
}

}  // namespace

TEST_CASE("a hard margin between points on a line", "[examples]") {
  // The hyperplane halfway between 1 and 3: f(x) = x - 2, whichever class comes first.
  Matrix inputs(4, 1);
  inputs << 3, 1, 7, -4;
  const Matrix kernel = inner_products(inputs);
  for (const int sign : {1, -1}) {
    const std::vector<int> labels{sign, -sign, sign, -sign};
    const SvmClassifier fitted = train_svm(kernel, labels);
    CHECK(std::abs(fitted.bias - sign * -2) <= 0.01);
    CHECK(std::abs(fitted.norm - 1) <= 0.01);
    CHECK(std::abs(fitted.margin - 1) <= 0.01);
    CHECK(std::abs(fitted.margin_bound - 1) <= 0.01);
    CHECK(fitted.support_vectors == 2);
    CHECK(fitted.at_bound == 0);
    CHECK(fitted.training_errors == 0);

    // f(5) = 3 for the class of 3.
    Matrix values(1, 4);
    values << 15, 5, 35, -20;
    CHECK(std::abs(fitted.decision_values(values)[0] - sign * 3) <= 0.03);
  }
}

TEST_CASE("the largest margin through the origin, in the plane", "[examples]") {
  // Signed points (1, 2) and (2, 1) on a circle: w halfway between, margin 3 / sqrt 2. A further
  // one behind them changes nothing.
  Matrix inputs(3, 2);
  inputs << 1, 2, -2, -1, 4, 4;
  const std::vector<int> labels{1, -1, 1};
  const SvmClassifier fitted =
      train_svm(inner_products(inputs), labels, {.bias = SvmBias::none, .tolerance = 1e-6});
  CHECK(fitted.bias == 0);
  CHECK(std::abs(fitted.margin - 3 / std::sqrt(2.0)) <= 1e-4);
  CHECK(std::abs(fitted.margin_bound - 3 / std::sqrt(2.0)) <= 1e-4);
  CHECK(fitted.support_vectors == 2);
  const Eigen::Vector2d w = inputs.transpose() * fitted.coefficients;
  CHECK(std::abs(w[0] - w[1]) <= 1e-4 * w.norm());
}

TEST_CASE("where every point supports, the machine solves a linear system", "[examples]") {
  const Eigen::Index m = 20;
  const Matrix kernel = nearly_diagonal(m);
  const std::vector<int> labels = alternating(m);
  const Eigen::VectorXd y = as_vector(labels);

  SECTION("with a bias") {
    Eigen::MatrixXd system(m + 1, m + 1);
    system << kernel, Eigen::VectorXd::Ones(m), Eigen::RowVectorXd::Ones(m), 0;
    Eigen::VectorXd right(m + 1);
    right << y, 0;
    const Eigen::VectorXd solution = system.partialPivLu().solve(right);
    REQUIRE((solution.head(m).array() * y.array()).minCoeff() > 0);
    const SvmClassifier fitted = train_svm(kernel, labels, {.tolerance = 1e-6});
    CHECK((fitted.coefficients - solution.head(m)).cwiseAbs().maxCoeff() <= 1e-5);
    CHECK(std::abs(fitted.bias - solution[m]) <= 1e-5);
    CHECK(std::abs(fitted.margin - 1 / fitted.norm) <= 1e-5);
    CHECK(std::abs(fitted.margin_bound - fitted.margin) <= 1e-5);
  }
  SECTION("through the origin") {
    const Eigen::VectorXd solution = kernel.partialPivLu().solve(y);
    REQUIRE((solution.array() * y.array()).minCoeff() > 0);
    const SvmClassifier fitted =
        train_svm(kernel, labels, {.bias = SvmBias::none, .tolerance = 1e-5});
    const Eigen::VectorXd scaled = solution / solution.cwiseAbs().sum();
    CHECK((fitted.coefficients - scaled).cwiseAbs().maxCoeff() <= 1e-5);
    CHECK(std::abs(fitted.margin_bound - fitted.margin) <= 1e-4 * fitted.margin);
  }
}

TEST_CASE("the margin through the origin does not depend on the scale of the kernel",
          "[examples]") {
  const Matrix kernel = nearly_diagonal(15);
  const std::vector<int> labels = alternating(15);
  const SvmSettings settings{.bias = SvmBias::none, .tolerance = 1e-5};
  const SvmClassifier plain = train_svm(kernel, labels, settings);
  for (const double scale : {1e-6, 1e6}) {
    const SvmClassifier scaled = train_svm(scale * kernel, labels, settings);
    CHECK(std::abs(scaled.margin / std::sqrt(scale) - plain.margin) <= 1e-4 * plain.margin);
  }
}

TEST_CASE("a cost bounds the coefficients", "[examples]") {
  // A point of the wrong class among the others: no hyperplane separates them.
  Matrix inputs(5, 1);
  inputs << 1, 2, 3, 4, 2.5;
  const std::vector<int> labels{-1, -1, 1, 1, 1};
  Matrix kernel = inner_products(inputs);
  inputs(4, 0) = 0;
  const Matrix crossed = inner_products(inputs);
  CHECK(train_svm(kernel, labels).training_errors == 0);
  const SvmClassifier soft = train_svm(crossed, labels, {.cost = 1});
  CHECK(soft.training_errors >= 1);
  CHECK(soft.margin < 0);
  CHECK(soft.at_bound >= 1);
  CHECK(soft.coefficients.cwiseAbs().maxCoeff() <= 1);
  CHECK(std::abs(soft.coefficients.sum()) <= 1e-9);
}

TEST_CASE("machines are trained in several threads at once", "[examples]") {
  const Matrix kernel = nearly_diagonal(30);
  const std::vector<int> labels = alternating(30);
  const SvmClassifier alone = train_svm(kernel, labels);
  std::vector<SvmClassifier> results(4);
  {
    std::vector<std::jthread> threads;
    for (SvmClassifier& result : results) {
      threads.emplace_back([&] { result = train_svm(kernel, labels); });
    }
  }
  for (const SvmClassifier& result : results) {
    CHECK(result.coefficients == alone.coefficients);
    CHECK(result.bias == alone.bias);
  }
}

TEST_CASE("what cannot be trained on is refused", "[examples]") {
  using Catch::Matchers::ContainsSubstring;
  const Matrix kernel = Matrix::Identity(3, 3);
  const std::vector<int> labels{1, -1, 1};
  const auto refused = [](const Matrix& k, const std::vector<int>& y, const SvmSettings& settings,
                          const std::string& message) {
    CHECK_THROWS_AS(train_svm(k, y, settings), std::invalid_argument);
    CHECK_THROWS_WITH(train_svm(k, y, settings), ContainsSubstring(message));
  };
  refused(Matrix::Zero(3, 2), labels, {}, "train_svm: kernel is 3 x 2, must be square");
  Matrix broken = kernel;
  broken(1, 2) = std::numeric_limits<double>::quiet_NaN();
  refused(broken, labels, {}, "kernel has values that are not finite");
  refused(kernel, {1, -1}, {}, "labels has 2 entries, expected 3");
  refused(kernel, {1, -1, 0}, {}, "labels hold 0, must be 1 or -1");
  refused(kernel, {1, 1, 1}, {}, "labels hold no point of class -1");
  refused(kernel, labels, {.cost = 0}, "cost is 0, must be positive");
  refused(kernel, labels, {.tolerance = 0}, "tolerance is 0, must be positive and finite");
  refused(kernel, labels, {.bias = SvmBias::none, .cost = 5},
          "cost is 5, must be infinite for hyperplanes through the origin");
}
