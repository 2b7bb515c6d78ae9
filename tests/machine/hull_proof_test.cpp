// SPDX-License-Identifier: MIT
#include "bpm/machine/hull_proof.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernels/dot_product.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/samplers/chains/largest_margin.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/version_space/cone.hpp"
#include "bpm/version_space/version_space.hpp"
#include "catch.hpp"
#include "hard.hpp"
#include "message_of.hpp"

namespace {

using bpm::detail::find_inseparability;
using bpm::detail::Inseparability;
using Catch::Matchers::ContainsSubstring;
using test_support::message_of;
using Doubles = bpm::RowMatrix<double>;
using Signs = std::vector<signed char>;

struct Problem {
  Doubles inputs;
  Signs signs;

  /// Of the linear kernel.
  [[nodiscard]] std::optional<Inseparability> proof(std::uint64_t most = 20'000) const {
    const Eigen::VectorXd norms = inputs.rowwise().squaredNorm();
    return find_inseparability(
        signs, std::span(norms.data(), static_cast<std::size_t>(norms.size())),
        [&](std::ptrdiff_t i, double scale, std::span<double> outputs) {
          for (std::size_t j = 0; j < outputs.size(); ++j) {
            outputs[j] += scale * inputs.row(i).dot(inputs.row(static_cast<Eigen::Index>(j)));
          }
        },
        most);
  }
  [[nodiscard]] std::vector<int> labels() const { return {signs.begin(), signs.end()}; }
};

/// Normal points labelled by a plane, a share of them wrongly.
Problem flipped(int points, int dimension, double share, std::uint64_t seed) {
  bpm::RandomEngine engine(seed);
  bpm::NormalDraws normal;
  Problem problem{Doubles(points, dimension), Signs(static_cast<std::size_t>(points))};
  for (int i = 0; i < points; ++i) {
    for (int j = 0; j < dimension; ++j) problem.inputs(i, j) = normal(engine);
    const bool wrong = bpm::uniform_unit(engine) < share;
    problem.signs[static_cast<std::size_t>(i)] = (problem.inputs(i, 0) > 0) != wrong ? 1 : -1;
  }
  return problem;
}

/// Points of the unit sphere, none nearer to a plane than `margin`: every `period`-th, or all, at
/// it.
Problem separable(int points, int dimension, double margin, int period, std::uint64_t seed) {
  bpm::RandomEngine engine(seed);
  bpm::NormalDraws normal;
  Problem problem{Doubles(points, dimension), Signs(static_cast<std::size_t>(points))};
  for (int i = 0; i < points; ++i) {
    Eigen::RowVectorXd x(dimension);
    for (double& feature : x) feature = normal(engine);
    const int label = x[0] > 0 ? 1 : -1;
    const double place = i % period == 0 ? margin : std::max(margin, std::abs(x[0]) / x.norm());
    x.tail(dimension - 1) *= std::sqrt(1 - place * place) / x.tail(dimension - 1).norm();
    x[0] = label * place;
    problem.inputs.row(i) = x;
    problem.signs[static_cast<std::size_t>(i)] = static_cast<signed char>(label);
  }
  return problem;
}

}  // namespace

TEST_CASE("equal points with two labels are a proof by two points", "[machine]") {
  Problem problem{Doubles(3, 2), {1, 1, -1}};
  problem.inputs << 3, 1, 2, 5, 2, 5;
  const auto proof = problem.proof();
  REQUIRE(proof);
  CHECK(proof->margin_bound < 1e-6);
  CHECK(proof->points == 2);
}

TEST_CASE("a triangle around zero is a proof by three points, by hand", "[machine]") {
  // Signed points at 90, 210 and 330 degrees: their mean is zero.
  Problem problem{Doubles(3, 2), {1, -1, 1}};
  const double side = std::sqrt(3.0) / 2;
  problem.inputs << 0, 2, side, 0.5, side, -0.5;
  const auto proof = problem.proof();
  REQUIRE(proof);
  CHECK(proof->margin_bound < 1e-6);
  CHECK(proof->points == 3);

  // Without the third a classifier is left: (-1, 1).
  problem.inputs.row(2) << -1, 0.1;
  CHECK_FALSE(problem.proof());
}

TEST_CASE("wrong labels of a linear kernel are proved, as the largest margin says",
          "[machine][at length]") {
  for (const auto& [points, dimension] : {std::pair{300, 2}, {1000, 5}, {1500, 20}}) {
    const Problem problem = flipped(points, dimension, 0.2, 5);
    CAPTURE(points, dimension);
    const auto proof = problem.proof();
    REQUIRE(proof);
    CHECK(proof->margin_bound < 1e-6);
    const bpm::detail::OnDemandGram gram(bpm::Linear{}, problem.inputs);
    const bpm::LargestMargin truth =
        bpm::LargestMargin::find(bpm::Cone(bpm::KernelVersionSpace(gram, problem.signs)));
    CHECK(truth.margin < 0);
  }
  CHECK(flipped(2000, 10, 0.002, 6).proof());
  CHECK_FALSE(flipped(2000, 10, 0, 6).proof());
}

TEST_CASE("separable points are never proved inseparable, all at the margin or some",
          "[machine][at length]") {
  for (const double margin : {1e-2, 1e-3, 3e-4, 1e-4, 1e-5}) {
    for (const auto& [points, dimension] : {std::pair{200, 2}, {200, 5}, {300, 20}}) {
      for (const int period : {1, 4}) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
          CAPTURE(margin, points, dimension, period, seed);
          CHECK_FALSE(separable(points, dimension, margin, period, seed).proof(2000));
        }
      }
    }
  }
}

TEST_CASE("no proof within too few steps, and none from a point without norm", "[machine]") {
  Problem problem = flipped(1000, 5, 0.2, 5);
  CHECK_FALSE(problem.proof(3));
  CHECK(problem.proof());
  problem.inputs.row(7).setZero();
  CHECK_FALSE(problem.proof());
}

TEST_CASE("fits end by the proof in any precision, and name the problem", "[machine]") {
  const Problem wrong = flipped(800, 5, 0.2, 8);
  const bpm::BayesPointMachine machine(bpm::Linear{}, bpm::PermutedPerceptron{},
                                       test_support::hard());
  const auto check_message = [](const std::string& message) {
    CHECK_THAT(message, ContainsSubstring("BayesPointMachine::fit: no classifier separates the "
                                          "points: a combination of ") &&
                            ContainsSubstring(" of them shows that none has a margin above ") &&
                            ContainsSubstring("; set a soft boundary lambda > 0"));
  };
  const std::vector<int> labels = wrong.labels();
  check_message(message_of([&] { (void)machine.fit(wrong.inputs, labels); }));
  const bpm::RowMatrix<float> floats = wrong.inputs.cast<float>();
  check_message(message_of([&] { (void)machine.fit(floats, labels); }));
  const bpm::SparseRowMatrix<double> sparse = wrong.inputs.sparseView();
  check_message(message_of([&] { (void)machine.fit(sparse, labels); }));

  // Class 0 lies apart; 1 and 2 are mixed.
  bpm::RowMatrix<double> three(wrong.inputs.rows(), 6);
  three << wrong.inputs, Eigen::VectorXd::Ones(wrong.inputs.rows());
  std::vector<int> classes = labels;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    classes[i] = i % 3 == 0 ? 0 : labels[i] > 0 ? 1 : 2;
    if (i % 3 == 0) three(static_cast<Eigen::Index>(i), 5) = -1000;
  }
  CHECK_THAT(
      message_of([&] { (void)bpm::OneVsRest(machine).fit(three, classes); }),
      ContainsSubstring("OneVsRest::fit: no classifier separates the points of problem 1: "));
}

TEST_CASE("one lambda above zero is enough for no proof to be looked for", "[machine]") {
  const Problem wrong = flipped(300, 2, 0.2, 5);
  const std::vector<int> labels = wrong.labels();
  bpm::detail::Subproblems problems({-1, 1}, labels);
  const auto message = [&](std::vector<double> lambda) {
    problems.lambda = std::make_shared<const std::vector<double>>(std::move(lambda));
    return message_of(
        [&] { bpm::detail::check_combinations(bpm::Linear{}, wrong.inputs, problems, "f"); });
  };
  CHECK_THAT(message(std::vector<double>(300, 0.0)),
             ContainsSubstring("f: no classifier separates the points: "));
  for (const std::size_t soft : {0U, 1U, 150U, 299U}) {
    std::vector<double> lambda(300, 0.0);
    lambda[soft] = 0.1;
    CAPTURE(soft);
    CHECK(message(lambda) == "nothing was thrown");
  }
}

TEST_CASE("a fit that takes long goes on where there is no proof, to the same model",
          "[machine][at length]") {
  // All points at the margin: consistent after more than the passes that come before the search.
  const Problem problem = separable(200, 5, 1e-3, 1, 1);
  const std::vector<int> labels = problem.labels();
  const auto fitted = bpm::BayesPointMachine(bpm::Linear{}, bpm::PermutedPerceptron{.draws = 4},
                                             test_support::hard())
                          .fit(problem.inputs, labels);
  REQUIRE(fitted.report().converged);
  CHECK(fitted.report().perceptron->passes > 4 * 200);
  CHECK(fitted.report().draws == 4);
  CHECK(fitted.report().perceptron->training_errors == 0);
  CHECK(fitted.report().mistaken_points.size() == 4);
  // By the sampler itself, which looks for no proof, and by kernel values, where the machine keeps
  // w: the same mistakes, norms to the 1e-9 that linear fits promise.
  const bpm::detail::OnDemandGram gram(bpm::Linear{}, problem.inputs);
  const bpm::KernelVersionSpace space(gram, problem.signs);
  bpm::RandomStreams streams{1, 0};
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(200);
  const auto report =
      bpm::sample_version_space(bpm::PermutedPerceptron{.draws = 4}, space, streams,
                                bpm::RunControl{}, [&](const bpm::Draw& draw) {
                                  for (std::size_t s = 0; s < draw.support.size(); ++s) {
                                    mean[draw.support[s]] += draw.coefficients[s] / 4;
                                  }
                                });
  CHECK(report.converged);
  for (std::size_t s = 0; s < fitted.support().size(); ++s) {
    CHECK(fitted.coefficients()(static_cast<Eigen::Index>(s), 0) ==
          Approx(mean[fitted.support()[s]]).epsilon(1e-9));
  }
}
