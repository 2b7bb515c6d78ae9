// SPDX-License-Identifier: MIT
// What a fitted machine says, against plain arithmetic on its coefficients.
#include "bpm/machine/fitted_bayes_point_machine.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bpm/kernels/gaussian.hpp"
#include "bpm/kernels/polynomial.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "catch.hpp"
#include "data_sets.hpp"

using namespace machine_tests;

namespace {

using Machine = bpm::BayesPointMachine<bpm::Polynomial>;

/// (<x, z> + 1)^3 in plain double.
double cubic(const Doubles& x, Eigen::Index i, const Doubles& z, Eigen::Index j) {
  const double base = x.row(i).dot(z.row(j)) + 1;
  return base * base * base;
}

Doubles gram_of(const Doubles& x) {
  Doubles gram(x.rows(), x.rows());
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    for (Eigen::Index j = 0; j < x.rows(); ++j) gram(i, j) = cubic(x, i, x, j);
  }
  return gram;
}

template <class Fitted>
Eigen::VectorXd all_coefficients(const Fitted& fitted, Eigen::Index m) {
  Eigen::VectorXd alpha = Eigen::VectorXd::Zero(m);
  const Eigen::VectorXd chosen = fitted.coefficients();
  for (std::size_t s = 0; s < fitted.support().size(); ++s) {
    alpha[fitted.support()[s]] = chosen[static_cast<Eigen::Index>(s)];
  }
  return alpha;
}

}  // namespace

TEST_CASE("decision values are the expansion over sqrt(k(x, x))") {
  const Doubles inputs = triangle(90, 1);
  const Doubles others = triangle(50, 2, 1.0);
  const auto fitted = Machine(bpm::Polynomial(3)).fit(inputs, two_labels(90));
  const Eigen::VectorXd alpha = all_coefficients(fitted, 90);
  const Eigen::VectorXd values = fitted.decision_values(others);
  const std::vector<int> predicted = fitted.predict(others);
  REQUIRE(values.size() == 50);
  for (Eigen::Index i = 0; i < 50; ++i) {
    double sum = 0;
    for (Eigen::Index j = 0; j < 90; ++j) sum += alpha[j] * cubic(others, i, inputs, j);
    sum /= std::sqrt(cubic(others, i, others, i));
    CHECK(std::abs(values[i] - sum) < 1e-10);
    CHECK(predicted[static_cast<std::size_t>(i)] == (values[i] > 0 ? 7 : -3));
    // <w, x> / (norm(w) norm(x)) is a cosine, and norm(E[w]) at most 1.
    CHECK(std::abs(values[i]) <= 1 + 1e-12);
  }
}

TEST_CASE("an input's value is the same bits in a batch of any size") {
  const Doubles inputs = triangle(60, 1);
  const Doubles others = triangle(203, 2, 1.0);
  const auto fitted =
      Machine(bpm::Polynomial(3), {}, {.keep_draws = true}).fit(inputs, two_labels(60));
  const Eigen::VectorXd all = fitted.decision_values(others);
  const Eigen::MatrixXd draws = fitted.draw_decision_values(others);
  for (const Eigen::Index size : {1, 2, 3, 5, 95, 96, 97, 202}) {
    CAPTURE(size);
    for (const Eigen::Index begin : {Eigen::Index{0}, (203 - size) / 2, 203 - size}) {
      const Doubles batch = others.middleRows(begin, size);
      CHECK(fitted.decision_values(batch) == all.segment(begin, size));
      CHECK(fitted.draw_decision_values(batch) == draws.middleRows(begin, size));
      // An Eigen expression is as good as a matrix.
      CHECK(fitted.decision_values(others.middleRows(begin, size)) == all.segment(begin, size));
    }
  }
  const Doubles none(0, 2);
  CHECK(fitted.decision_values(none).size() == 0);
  CHECK(fitted.predict(none).empty());
}

TEST_CASE("norm of the mean and training margin are those of the sampling kernel") {
  const Doubles inputs = triangle(60, 1, 0.7);
  const std::vector<int> labels = two_labels(60);
  const Doubles gram = gram_of(inputs);
  std::vector<double> lambda(60);
  for (std::size_t i = 0; i < 60; ++i) lambda[i] = 0.5 + 0.1 * static_cast<double>(i);
  const bool soft = GENERATE(false, true);
  bpm::FitSettings settings;
  Eigen::MatrixXd sampling = gram;
  if (soft) {
    settings.soft_boundary = bpm::SoftBoundary::per_point(lambda);
    for (Eigen::Index i = 0; i < 60; ++i) sampling(i, i) += lambda[static_cast<std::size_t>(i)];
  }
  const auto fitted = Machine(bpm::Polynomial(3), {}, settings).fit(inputs, labels);
  const Eigen::VectorXd alpha = all_coefficients(fitted, 60);
  const Eigen::VectorXd outputs = sampling * alpha;
  const double norm = std::sqrt(alpha.dot(outputs));
  CHECK(std::abs(fitted.mean_norm() - norm) < 1e-10);
  CHECK(norm < 1);
  double margin = std::numeric_limits<double>::infinity();
  std::size_t errors = 0;
  const Eigen::VectorXd plain = gram * alpha;
  for (Eigen::Index i = 0; i < 60; ++i) {
    const int sign = labels[static_cast<std::size_t>(i)] == 7 ? 1 : -1;
    margin = std::min(margin, sign * outputs[i] / norm);
    errors += sign * plain[i] <= 0 ? 1U : 0U;
  }
  CHECK(margin > 0);
  CHECK(std::abs(fitted.training_margin() - margin) < 1e-10);
  CHECK(fitted.plain_training_errors() == errors);
}

TEST_CASE("lambda by point, class, side and factor: the same where they mean the same") {
  const Doubles inputs = triangle(60, 1, 0.9);
  const std::vector<int> labels = two_labels(60);
  const Doubles gram = gram_of(inputs);
  std::vector<double> by_class(60);
  std::vector<double> by_factor(60);
  for (std::size_t i = 0; i < 60; ++i) {
    by_class[i] = labels[i] == 7 ? 3.0 : 0.25;
    by_factor[i] = 0.5 * gram(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(i));
  }
  const auto fit = [&](bpm::SoftBoundary boundary) {
    return Machine(bpm::Polynomial(3), {.draws = 4}, {.soft_boundary = std::move(boundary)})
        .fit(inputs, labels);
  };
  const auto model = fit(bpm::SoftBoundary::per_point(by_class));
  for (const auto& other : {fit(bpm::SoftBoundary::per_class({{7, 3.0}, {-3, 0.25}, {99, 1}})),
                            fit(bpm::SoftBoundary::per_side(3.0, 0.25))}) {
    CHECK(other.support() == model.support());
    CHECK(other.coefficients() == model.coefficients());
  }
  const auto other_side = fit(bpm::SoftBoundary::per_side(0.25, 3.0));
  CHECK_FALSE(all_coefficients(other_side, 60) == all_coefficients(model, 60));
  const auto relative = fit(bpm::SoftBoundary::relative(0.5));
  const auto same = fit(bpm::SoftBoundary::per_point(by_factor));
  REQUIRE(relative.support() == same.support());
  CHECK(relative.coefficients().isApprox(same.coefficients(), 1e-9));
  const auto uniform = fit(bpm::SoftBoundary::uniform(2.0));
  CHECK(uniform.coefficients() ==
        fit(bpm::SoftBoundary::per_point(std::vector<double>(60, 2.0))).coefficients());
}

TEST_CASE("equal inputs with opposite labels cost a plain training error, not the fit") {
  Doubles inputs = triangle(30, 1);
  std::vector<int> labels = two_labels(30);
  for (const Eigen::Index copy : {1, 5, 9}) inputs.row(copy + 1) = inputs.row(copy);
  for (const std::size_t copy : {1U, 5U, 9U}) labels[copy + 1] = labels[copy] == 7 ? -3 : 7;
  const auto fitted =
      Machine(bpm::Polynomial(3), {}, {.soft_boundary = bpm::SoftBoundary::relative(1.0)})
          .fit(inputs, labels);
  CHECK(fitted.report().converged);
  CHECK(fitted.training_margin() > 0);
  // One of each pair is wrong under the plain kernel, whatever the classifier; and that is what
  // prediction on the training set finds.
  CHECK(fitted.plain_training_errors() >= 3);
  std::size_t wrong = 0;
  const std::vector<int> predicted = fitted.predict(inputs);
  for (std::size_t i = 0; i < labels.size(); ++i) wrong += predicted[i] != labels[i] ? 1U : 0U;
  CHECK(fitted.plain_training_errors() == wrong);
}

TEST_CASE("labels are any two integers, the larger is the positive class") {
  const Doubles inputs = triangle(40, 1);
  const std::vector<int> first = two_labels(40);
  const auto model = Machine(bpm::Polynomial(3)).fit(inputs, first);
  std::vector<int> extreme;
  for (const int label : first) {
    extreme.push_back(label == 7 ? std::numeric_limits<int>::max()
                                 : std::numeric_limits<int>::min());
  }
  const auto other = Machine(bpm::Polynomial(3)).fit(inputs, extreme);
  CHECK(other.positive_class() == std::numeric_limits<int>::max());
  CHECK(other.negative_class() == std::numeric_limits<int>::min());
  CHECK(other.predict(inputs) == extreme);
  CHECK(other.coefficients() == model.coefficients());
  // The other class on top: the same classifier with its sign turned.
  std::vector<int> turned;
  for (const int label : first) turned.push_back(-label);
  const auto mirrored = Machine(bpm::Polynomial(3)).fit(inputs, turned);
  CHECK(mirrored.coefficients() == -model.coefficients());
  CHECK(mirrored.predict(inputs) == turned);
  // Zero counts as negative.
  Eigen::VectorXd signs(3);
  signs << -1, 0, 1;
  CHECK(model.labels_of(signs) == std::vector<int>{-3, -3, 7});
}

TEST_CASE("the smallest training set: two points") {
  const Doubles inputs{{1.0}, {-1.0}};
  const std::vector<int> labels{1, 2};
  const auto fitted = bpm::BayesPointMachine(bpm::Gaussian::from_sigma(1.0)).fit(inputs, labels);
  CHECK(fitted.predict(inputs) == labels);
  CHECK(fitted.draw_count() == 10);
  CHECK(fitted.training_margin() > 0);
}

TEST_CASE("a fitted machine can be copied, assigned and outlive everything else") {
  const Doubles others = triangle(20, 2);
  // A kernel that can be copied but not assigned, with memory of its own.
  const std::vector<double> widths{0.5, 0.25};
  const auto kernel = [widths](const auto& x, const auto& z) {
    return 1 / (widths[0] + (x - z).squaredNorm()) + 1 / (widths[1] + (x - z).squaredNorm());
  };
  const auto fit = [&](std::uint64_t seed) {
    const Doubles inputs = triangle(30, 1);
    return bpm::BayesPointMachine(kernel, bpm::PermutedPerceptron{.draws = 3}, {.seed = seed})
        .fit(inputs, two_labels(30));
  };
  auto one = fit(1);
  const auto two = fit(2);
  const auto copy = one;
  CHECK(copy.decision_values(others) == one.decision_values(others));
  one.add_draws(2, triangle(30, 1), two_labels(30));
  CHECK(one.draw_count() == 5);
  CHECK(copy.draw_count() == 3);
  CHECK_FALSE(copy.decision_values(others) == one.decision_values(others));
  one = two;
  CHECK(one.decision_values(others) == two.decision_values(others));
}

TEST_CASE("another seed gives other draws and about the same answers") {
  const Doubles inputs = triangle(60, 1);
  const Doubles others = triangle(300, 2);
  const auto fit = [&](std::uint64_t seed) {
    return Machine(bpm::Polynomial(3), {.draws = 20}, {.seed = seed}).fit(inputs, two_labels(60));
  };
  const Eigen::VectorXd one = fit(1).decision_values(others);
  const Eigen::VectorXd two = fit(2).decision_values(others);
  CHECK_FALSE(one == two);
  CHECK(fit(1).decision_values(others) == one);
  CHECK((one - two).cwiseAbs().maxCoeff() < 0.3);
}
