// SPDX-License-Identifier: MIT
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/selection/automatic_boundary.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <stdexcept>
#include <vector>

#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "data_sets.hpp"
#include "hard.hpp"

using namespace machine_tests;
using Catch::Matchers::Equals;

namespace {

auto cubic_machine(bpm::FitSettings settings = {}, std::uint64_t draws = 5) {
  return bpm::OneVsRest(bpm::BayesPointMachine(bpm::Polynomial(3),
                                               bpm::PermutedPerceptron{.draws = draws},
                                               test_support::hard(std::move(settings))));
}

}  // namespace

TEST_CASE("one against the rest: values are the expansions, the largest wins") {
  const Doubles inputs = triangle(90, 1);
  const Doubles others = triangle(61, 2, 1.0);
  const std::vector<int> labels = three_labels(90);
  const auto fitted = cubic_machine().fit(inputs, labels);
  const Eigen::MatrixXd values = fitted.decision_values(others);
  REQUIRE(values.rows() == 61);
  REQUIRE(values.cols() == 3);
  const std::vector<int> predicted = fitted.predict(others);
  const Doubles kernel = ((others * inputs.transpose()).array() + 1).cube();
  const Eigen::ArrayXd self = (others.rowwise().squaredNorm().array() + 1).cube();
  for (Eigen::Index i = 0; i < 61; ++i) {
    int best = 0;
    double largest = -std::numeric_limits<double>::infinity();
    for (Eigen::Index c = 0; c < 3; ++c) {
      double sum = 0;
      for (std::size_t s = 0; s < fitted.support().size(); ++s) {
        sum +=
            fitted.coefficients()(static_cast<Eigen::Index>(s), c) * kernel(i, fitted.support()[s]);
      }
      CHECK(std::abs(values(i, c) - sum / std::sqrt(self[i])) < 1e-10);
      if (values(i, c) > largest) {
        largest = values(i, c);
        best = fitted.classes()[static_cast<std::size_t>(c)];
      }
    }
    CHECK(predicted[static_cast<std::size_t>(i)] == best);
  }
  // A batch of any size gives the same bits.
  CHECK(fitted.decision_values(Doubles(others.middleRows(20, 7))) == values.middleRows(20, 7));
}

TEST_CASE("the first of equal classes wins") {
  const auto fitted = cubic_machine().fit(triangle(30, 1), three_labels(30));
  Eigen::MatrixXd values(4, 3);
  values << 1, 1, 1,  //
      0, 1, 1,        //
      0, 0, 2,        //
      -3, -1, -2;
  CHECK(fitted.labels_of(values) == std::vector<int>{-3, 7, 40, 7});
  CHECK_THROWS_WITH(fitted.labels_of(Eigen::MatrixXd::Zero(2, 2)),
                    Equals("Classifier::labels_of: decision_values has 2 entries, expected 3 "
                           "(columns: one for two classes, else one per class)"));
}

TEST_CASE("many classes with any labels, one of them a single point") {
  const std::ptrdiff_t m = 61;
  Doubles inputs(m, 2);
  std::vector<int> labels;
  for (std::ptrdiff_t i = 0; i < m; ++i) {
    const double angle = 0.1 * static_cast<double>(i);
    inputs.row(i) << std::cos(angle), std::sin(angle);
    labels.push_back(i == 60 ? 1000 : -static_cast<int>(i / 10) * 17);
  }
  const auto fitted = bpm::OneVsRest(bpm::BayesPointMachine(bpm::Gaussian::from_sigma(0.1), {},
                                                            test_support::hard()))
                          .fit(inputs, labels);
  CHECK(fitted.classes() == std::vector<int>{-85, -68, -51, -34, -17, 0, 1000});
  CHECK(fitted.predict(inputs) == labels);
  CHECK(fitted.report().draws == 10);
}

TEST_CASE("two classes are as good as more") {
  const Doubles inputs = triangle(60, 1);
  const std::vector<int> labels = two_labels(60);
  const auto fitted = cubic_machine().fit(inputs, labels);
  CHECK(fitted.classes() == std::vector<int>{-3, 7});
  CHECK(fitted.predict(inputs) == labels);
  // One binary subproblem: the machine of two classes, to the bit.
  const auto alone = cubic_machine().machine().fit(inputs, labels);
  CHECK(fitted.columns() == 1);
  CHECK(fitted.coefficients() == alone.coefficients());
  CHECK(fitted.decision_values(inputs) == alone.decision_values(inputs));
  CHECK(fitted.report().perceptron->mistakes == alone.report().perceptron->mistakes);
}

TEST_CASE("lambda by class in one against the rest") {
  const Doubles inputs = triangle(90, 1, 0.9);
  const std::vector<int> labels = three_labels(90);
  const std::map<int, double> lambda{{-3, 0.5}, {7, 2.0}, {40, 5.0}};
  const auto by_class =
      cubic_machine({.soft_boundary = bpm::SoftBoundary::per_class({lambda.begin(), lambda.end()})})
          .fit(inputs, labels);
  std::vector<double> points;
  for (const int label : labels) points.push_back(lambda.at(label));
  const auto by_point =
      cubic_machine({.soft_boundary = bpm::SoftBoundary::per_point(points)}).fit(inputs, labels);
  CHECK(by_class.coefficients() == by_point.coefficients());
  CHECK_THROWS_AS(cubic_machine({.soft_boundary = bpm::SoftBoundary::per_class({{7, 1.0}})})
                      .fit(inputs, labels),
                  std::invalid_argument);
}

TEST_CASE("single draws and votes of all classes need keep_draws") {
  const Doubles inputs = triangle(60, 1);
  const std::vector<int> labels = three_labels(60);
  const auto without = cubic_machine().fit(inputs, labels);
  CHECK(without.parts().draw_numbers.empty());
  CHECK_THROWS_WITH(without.vote_fractions(inputs),
                    Equals("Classifier::draw_decision_values: keep_draws was false when the "
                           "machine was fitted, must be true for single draws"));
  CHECK_THROWS_WITH(without.mean_norm(3),
                    Equals("Classifier::mean_norm: column is 3, must be below 3"));
  CHECK_THROWS_WITH(without.training_margin(4),
                    Equals("Classifier::training_margin: column is 4, must be below 3"));
  CHECK_THROWS_WITH(without.training_errors(5),
                    Equals("Classifier::training_errors: column is 5, must be below 3"));
  const auto kept = cubic_machine({.keep_draws = true}).fit(inputs, labels);
  CHECK(kept.coefficients() == without.coefficients());
  const Eigen::MatrixXd votes = kept.vote_fractions(inputs);
  CHECK((votes.rowwise().sum().array() - 1).abs().maxCoeff() < 1e-12);
  CHECK(votes.minCoeff() >= 0);
  double error = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto c = std::find(kept.classes().begin(), kept.classes().end(), labels[i]);
    error += 1 - votes(static_cast<Eigen::Index>(i), c - kept.classes().begin());
  }
  CHECK(std::abs(kept.gibbs_error(inputs, labels) - error / 60) < 1e-12);
  // A label that no class has is always wrong.
  CHECK(kept.gibbs_error(inputs, std::vector<int>(60, 12345)) == 1);
  CHECK_THROWS_WITH(kept.gibbs_error(inputs, std::vector<int>(59, 7)),
                    Equals("Classifier::gibbs_error: labels has 59 entries, expected 60 (one "
                           "per input)"));
}

TEST_CASE("the kernel is evaluated once for all classes") {
  const Doubles inputs = triangle(60, 1);
  const auto three = cubic_machine().fit(inputs, three_labels(60));
  const auto two = cubic_machine().machine().fit(inputs, two_labels(60));
  REQUIRE(three.forecast().strategy == bpm::Strategy::dense);
  CHECK(three.report().kernel_evaluations == two.report().kernel_evaluations);
  CHECK(three.report().kernel_evaluations == 60 * 60);
}
