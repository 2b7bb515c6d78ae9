// SPDX-License-Identifier: MIT
#include "bpm/kernels/vector_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "catch.hpp"
#include "random_inputs.hpp"

using test_support::distance_from_formula;
using test_support::unit;

namespace {

double layer(double t) {
  t = std::clamp(t, -1.0, 1.0);
  return (std::sqrt(1 - t * t) + t * (std::numbers::pi - std::acos(t))) / std::numbers::pi;
}

}  // namespace

TEMPLATE_TEST_CASE("arc-cosine: depth - 1 layers on the cosine", "[kernels]", float, double) {
  for (const int depth : {1, 2, 3, 7}) {
    const auto formula = [&](const auto& x, const auto& z) {
      double t = x.dot(z) / (x.norm() * z.norm());
      for (int l = 1; l < depth; ++l) t = layer(t);
      return t;
    };
    CHECK(distance_from_formula<TestType>(bpm::ArcCosine(depth), formula) <= 5 * unit<TestType>);
  }
}

TEST_CASE("arc-cosine has its closed values", "[kernels]") {
  // h(1) = 1, h(0) = 1 / pi, h(-1) = 0; h is applied twice at depth 3.
  const Eigen::RowVector2d x(2, 0);
  const Eigen::RowVector2d across(0, 5);
  const Eigen::RowVector2d back(-1, 0);
  const double pi = std::numbers::pi;
  CHECK(bpm::ArcCosine(1)(x, across) == 0);
  CHECK(bpm::ArcCosine(1)(x, back) == -1);
  CHECK(std::abs(bpm::ArcCosine(2)(x, across) - 1 / pi) <= 1e-15);
  CHECK(std::abs(bpm::ArcCosine(2)(x, back)) <= 1e-15);
  CHECK(std::abs(bpm::ArcCosine(3)(x, back) - 1 / pi) <= 1e-15);
  const double t = 1 / pi;
  CHECK(std::abs(bpm::ArcCosine(3)(x, across) -
                 (std::sqrt(1 - t * t) + t * (pi - std::acos(t))) / pi) <= 1e-15);
}

TEST_CASE("a layer is twice the mean product of rectified random projections", "[kernels]") {
  // k(x, z) = 2 E[max(0, <w, x>) max(0, <w, z>)] for unit x, z and normal w.
  Eigen::RowVector3d x(1, 2, -0.5);
  Eigen::RowVector3d z(0.3, -1, 2);
  x.normalize();
  z.normalize();
  bpm::RandomEngine engine(4);
  bpm::NormalDraws normal;
  constexpr int n = 200000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < n; ++i) {
    Eigen::RowVector3d w;
    for (double& value : w) value = normal(engine);
    const double product = 2 * std::max(0.0, w.dot(x)) * std::max(0.0, w.dot(z));
    sum += product;
    squares += product * product;
  }
  const double mean = sum / n;
  const double deviation = std::sqrt((squares / n - mean * mean) / n);
  CHECK(std::abs(bpm::ArcCosine(2)(x, z) - mean) <= 5 * deviation);
}

TEMPLATE_TEST_CASE("arc-cosine of an input with itself is 1 at any depth", "[kernels]", float,
                   double) {
  auto x = test_support::normal_inputs<TestType>(101, 19, 6);
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    x.row(i) *= static_cast<TestType>(std::pow(10.0, static_cast<double>(i % 9) - 4));
  }
  for (const int depth : {1, 2, 3, 7}) {
    const auto values = test_support::block_values(bpm::ArcCosine(depth), x, x);
    CHECK(test_support::largest_difference(values.diagonal(), Eigen::VectorXd::Ones(101)) <=
          unit<TestType>);
    CHECK(values.cwiseAbs().maxCoeff() <= 1 + static_cast<TestType>(unit<TestType>));
  }
}

TEST_CASE("arc-cosine refuses a depth below 1", "[kernels]") {
  CHECK(bpm::ArcCosine().depth() == 2);
  CHECK_THROWS_AS(bpm::ArcCosine(0), std::invalid_argument);
  CHECK_THROWS_WITH(bpm::ArcCosine(0), "ArcCosine: depth is 0, must be from 1 to 1000");
  CHECK_THROWS_WITH(bpm::ArcCosine(1001), "ArcCosine: depth is 1001, must be from 1 to 1000");
}
