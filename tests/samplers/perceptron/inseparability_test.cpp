// SPDX-License-Identifier: MIT
#include "bpm/samplers/perceptron/inseparability.hpp"

#include <Eigen/Core>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "bpm/core/random/draws.hpp"
#include "bpm/core/random/engine.hpp"
#include "bpm/kernel_values/dense_gram.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernels/linear.hpp"
#include "bpm/samplers/chains/largest_margin.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/version_space/cone.hpp"
#include "bpm/version_space/kernel_version_space.hpp"
#include "catch.hpp"
#include "problems.hpp"

namespace {

using bpm::detail::find_inseparability;
using bpm::detail::Inseparability;
using Catch::Matchers::ContainsSubstring;
using sampler_tests::Labels;

constexpr std::uint64_t steps = 20'000;

template <class Scalar>
struct LinearProblem {
  bpm::RowMatrix<Scalar> inputs;
  Labels labels;

  /// f(version space) of the linear kernel.
  template <class F>
  auto with_space(F&& f) const {
    const bpm::detail::OnDemandGram gram(bpm::Linear{}, inputs);
    return f(bpm::KernelVersionSpace(gram, labels));
  }
  [[nodiscard]] std::optional<Inseparability> proof(std::uint64_t most = steps) const {
    return with_space([&](const auto& space) { return find_inseparability(space, most); });
  }
};

/// Normal points labelled by a plane, a share of them wrongly.
template <class Scalar>
LinearProblem<Scalar> flipped(int points, int dimension, double share, std::uint64_t seed) {
  bpm::RandomEngine engine(seed);
  bpm::NormalDraws normal;
  LinearProblem<Scalar> problem{bpm::RowMatrix<Scalar>(points, dimension), Labels(points)};
  for (int i = 0; i < points; ++i) {
    for (int j = 0; j < dimension; ++j) problem.inputs(i, j) = static_cast<Scalar>(normal(engine));
    const bool wrong = bpm::uniform_unit(engine) < share;
    problem.labels[i] = (problem.inputs(i, 0) > 0) != wrong ? 1 : -1;
  }
  return problem;
}

/// Points of the unit sphere, none nearer to a plane than `margin` and every fourth at it.
template <class Scalar>
LinearProblem<Scalar> separable(int points, int dimension, double margin, std::uint64_t seed) {
  bpm::RandomEngine engine(seed);
  bpm::NormalDraws normal;
  LinearProblem<Scalar> problem{bpm::RowMatrix<Scalar>(points, dimension), Labels(points)};
  for (int i = 0; i < points; ++i) {
    Eigen::VectorXd x(dimension);
    for (double& feature : x) feature = normal(engine);
    const int label = x[0] > 0 ? 1 : -1;
    const double place = i % 4 == 0 ? margin : std::max(margin, std::abs(x[0]) / x.norm());
    x.tail(dimension - 1) *= std::sqrt(1 - place * place) / x.tail(dimension - 1).norm();
    x[0] = label * place;
    problem.inputs.row(i) = x.cast<Scalar>().transpose();
    problem.labels[i] = static_cast<signed char>(label);
  }
  return problem;
}

}  // namespace

TEST_CASE("equal points with two labels are a proof by two points") {
  LinearProblem<double> problem{bpm::RowMatrix<double>(3, 2), {1, 1, -1}};
  problem.inputs << 3, 1, 2, 5, 2, 5;
  const auto proof = problem.proof();
  REQUIRE(proof);
  CHECK(proof->largest_output <= 8e-9);
  CHECK(proof->points == 2);
}

TEST_CASE("a triangle around zero is a proof by three points, by hand") {
  // Signed points at 90, 210 and 330 degrees: their mean is zero.
  LinearProblem<double> problem{bpm::RowMatrix<double>(3, 2), {1, -1, 1}};
  const double side = std::sqrt(3.0) / 2;
  problem.inputs << 0, 2, side, 0.5, side, -0.5;
  const auto proof = problem.proof();
  REQUIRE(proof);
  CHECK(proof->largest_output <= 8e-9);
  CHECK(proof->points == 3);

  // Without the third a classifier is left: (-1, 1).
  problem.inputs.row(2) << -1, 0.1;
  CHECK_FALSE(problem.proof());
}

TEMPLATE_TEST_CASE("wrong labels of a linear kernel are proved, as the largest margin says", "",
                   double, float) {
  for (const auto& [points, dimension] : {std::pair{300, 2}, {2000, 5}, {5000, 20}}) {
    const auto problem = flipped<TestType>(points, dimension, 0.2, 5);
    CAPTURE(points, dimension);
    const auto proof = problem.proof();
    REQUIRE(proof);
    CHECK(proof->largest_output <= (std::same_as<TestType, float> ? 1e-6 : 8e-9));
    const bpm::LargestMargin truth = problem.with_space(
        [](const auto& space) { return bpm::LargestMargin::find(bpm::Cone(space)); });
    CHECK(truth.margin < 0);
  }
}

TEST_CASE("in double a thousandth of wrong labels is enough") {
  CHECK(flipped<double>(5000, 20, 0.001, 6).proof());
  CHECK_FALSE(flipped<double>(5000, 20, 0, 6).proof());
}

TEMPLATE_TEST_CASE("separable data are never proved inseparable, down to margins of 1e-4", "",
                   double, float) {
  for (const double margin : {1e-2, 1e-3, 3e-4, 1e-4}) {
    for (const auto& [points, dimension] : {std::pair{200, 2}, {300, 5}, {400, 20}}) {
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        CAPTURE(margin, points, dimension, seed);
        CHECK_FALSE(separable<TestType>(points, dimension, margin, seed).proof());
      }
    }
  }
}

TEST_CASE("no proof within too few steps, and none from a point without norm") {
  auto problem = flipped<double>(2000, 5, 0.2, 5);
  CHECK_FALSE(problem.proof(3));
  CHECK(problem.proof());
  problem.inputs.row(7).setZero();
  CHECK_FALSE(problem.proof());
}

TEST_CASE("perceptrons end by the proof, alike on any threads, and name the problem") {
  const auto wrong = flipped<float>(2000, 5, 0.2, 8);
  Labels right = wrong.labels;
  for (std::ptrdiff_t i = 0; i < wrong.inputs.rows(); ++i)
    right[i] = wrong.inputs(i, 0) > 0 ? 1 : -1;
  const bpm::detail::OnDemandGram gram(bpm::Linear{}, wrong.inputs);
  const bpm::detail::DenseGram<float> matrix(gram);
  using Windows =
      bpm::KernelVersionSpace<bpm::detail::OnDemandGram<bpm::Linear, sampler_tests::Inputs>>;
  const std::vector<Windows> windows{Windows(gram, right), Windows(gram, wrong.labels)};
  const std::vector<bpm::KernelVersionSpace<bpm::detail::DenseGram<float>>> rows{
      {matrix, right}, {matrix, wrong.labels}};
  const auto expected =
      sampler_tests::run_in_step(bpm::PermutedPerceptron{.draws = 3}, rows).report;
  CHECK_FALSE(expected.converged);
  CHECK_FALSE(expected.stopped);
  CHECK(expected.draws == 0);
  CHECK(expected.advice == bpm::SamplerReport::Advice::in_reason);
  CHECK_THAT(
      expected.reason,
      ContainsSubstring("the outputs of a combination of ") &&
          ContainsSubstring(" points of problem 1 are all within ") &&
          ContainsSubstring(" of zero, so none separates them; set a soft boundary lambda > 0"));
  for (const unsigned threads : {1U, 2U, 5U}) {
    CAPTURE(threads);
    CHECK(sampler_tests::run_in_step(bpm::PermutedPerceptron{.draws = 3}, windows,
                                     sampler_tests::on_threads(threads))
              .report.reason == expected.reason);
  }
  // Limits that come first say so.
  CHECK_THAT(
      sampler_tests::run_in_step(bpm::PermutedPerceptron{.draws = 1, .max_passes = 100}, rows)
          .report.reason,
      ContainsSubstring("the last of max_passes"));
}
