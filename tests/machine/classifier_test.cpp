// SPDX-License-Identifier: MIT
// What a classifier says, against plain arithmetic on its coefficients.
#include "bpm/machine/classifier.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/input_encoding.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/run_sampler.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "catch.hpp"
#include "data_sets.hpp"
#include "hard.hpp"
#include "noted.hpp"

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

/// Of no inputs the answers are empty, with the columns that they have of any.
template <class Fitted, class Queries>
void check_no_inputs(const Fitted& fitted, const Queries& none, Eigen::Index columns) {
  const Eigen::MatrixXd values = fitted.decision_values(none);
  const Eigen::MatrixXd probabilities = fitted.predict_probability(none);
  CHECK(values.rows() == 0);
  CHECK(values.cols() == columns);
  CHECK(probabilities.rows() == 0);
  CHECK(probabilities.cols() == columns);
  CHECK(fitted.predict(none).empty());
}

/// As `check_no_inputs`, of classifiers of two classes, of three, and of three by their pairs.
template <class Kernel, class Inputs>
void check_no_inputs(const Kernel& kernel, const Inputs& inputs, const Inputs& none) {
  using Fitted = bpm::Classifier<Kernel, Inputs>;
  typename Fitted::Parts parts{kernel, inputs, {0, 1}, bpm::RowMatrix<double>::Ones(2, 1), {3, 5}};
  parts.slope = 2;
  check_no_inputs(Fitted(parts), none, 1);
  parts.coefficients = bpm::RowMatrix<double>::Ones(2, 3);
  parts.classes = {3, 5, 7};
  check_no_inputs(Fitted(parts), none, 3);
  parts.one_against_one = true;
  check_no_inputs(Fitted(parts), none, 3);
}

}  // namespace

TEST_CASE("decision values are the expansion over sqrt(k(x, x))") {
  const Doubles inputs = triangle(90, 1);
  const Doubles others = triangle(50, 2, 1.0);
  const auto fitted =
      Machine(bpm::Polynomial(3), {}, test_support::hard()).fit(inputs, two_labels(90));
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
  const auto fitted = Machine(bpm::Polynomial(3), {}, test_support::hard({.keep_draws = true}))
                          .fit(inputs, two_labels(60));
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
  const auto fitted =
      Machine(bpm::Polynomial(3), {}, test_support::hard(settings)).fit(inputs, labels);
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
  CHECK(fitted.training_errors() == errors);
}

TEST_CASE("lambda by point, class and factor: the same where they mean the same") {
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
    return Machine(bpm::Polynomial(3), {.draws = 4},
                   test_support::hard({.soft_boundary = std::move(boundary)}))
        .fit(inputs, labels);
  };
  const auto model = fit(bpm::SoftBoundary::per_point(by_class));
  const auto other = fit(bpm::SoftBoundary::per_class({{7, 3.0}, {-3, 0.25}, {99, 1}}));
  CHECK(other.support() == model.support());
  CHECK(other.coefficients() == model.coefficients());
  const auto other_way = fit(bpm::SoftBoundary::per_class({{7, 0.25}, {-3, 3.0}}));
  CHECK_FALSE(all_coefficients(other_way, 60) == all_coefficients(model, 60));
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
      Machine(bpm::Polynomial(3), {},
              test_support::hard({.soft_boundary = bpm::SoftBoundary::relative(1.0)}))
          .fit(inputs, labels);
  CHECK(fitted.report().converged);
  CHECK(fitted.training_margin() > 0);
  // One of each pair is wrong under the plain kernel, whatever the classifier; and that is what
  // prediction on the training set finds.
  CHECK(fitted.training_errors() >= 3);
  std::size_t wrong = 0;
  const std::vector<int> predicted = fitted.predict(inputs);
  for (std::size_t i = 0; i < labels.size(); ++i) wrong += predicted[i] != labels[i] ? 1U : 0U;
  CHECK(fitted.training_errors() == wrong);
}

TEST_CASE("labels are any two integers, the larger is the positive class") {
  const Doubles inputs = triangle(40, 1);
  const std::vector<int> first = two_labels(40);
  const auto model = Machine(bpm::Polynomial(3), {}, test_support::hard()).fit(inputs, first);
  std::vector<int> extreme;
  for (const int label : first) {
    extreme.push_back(label == 7 ? std::numeric_limits<int>::max()
                                 : std::numeric_limits<int>::min());
  }
  const auto other = Machine(bpm::Polynomial(3), {}, test_support::hard()).fit(inputs, extreme);
  CHECK(other.classes()[1] == std::numeric_limits<int>::max());
  CHECK(other.classes()[0] == std::numeric_limits<int>::min());
  CHECK(other.predict(inputs) == extreme);
  CHECK(other.coefficients() == model.coefficients());
  // The other class on top: the same classifier with its sign turned.
  std::vector<int> turned;
  for (const int label : first) turned.push_back(-label);
  const auto mirrored = Machine(bpm::Polynomial(3), {}, test_support::hard()).fit(inputs, turned);
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
  const auto fitted =
      bpm::BayesPointMachine(bpm::Gaussian::from_sigma(1.0), {}, test_support::hard())
          .fit(inputs, labels);
  CHECK(fitted.predict(inputs) == labels);
  CHECK(fitted.report().draws == 10);
  CHECK(fitted.training_margin() > 0);
}

TEST_CASE("a classifier can be copied, assigned and outlive everything else") {
  const Doubles others = triangle(20, 2);
  // A kernel that can be copied but not assigned, with memory of its own.
  const std::vector<double> widths{0.5, 0.25};
  const auto kernel = [widths](const auto& x, const auto& z) {
    return 1 / (widths[0] + (x - z).squaredNorm()) + 1 / (widths[1] + (x - z).squaredNorm());
  };
  const auto fit = [&](std::uint64_t seed) {
    const Doubles inputs = triangle(30, 1);
    return bpm::BayesPointMachine(kernel, bpm::PermutedPerceptron{.draws = 3},
                                  test_support::hard({.seed = seed}))
        .fit(inputs, two_labels(30));
  };
  auto one = fit(1);
  const auto two = fit(2);
  const auto copy = one;
  CHECK(copy.decision_values(others) == one.decision_values(others));
  CHECK_FALSE(one.decision_values(others) == two.decision_values(others));
  one = two;
  CHECK(one.decision_values(others) == two.decision_values(others));
}

TEST_CASE("another seed gives other draws and about the same answers") {
  const Doubles inputs = triangle(60, 1);
  const Doubles others = triangle(300, 2);
  const auto fit = [&](std::uint64_t seed) {
    return Machine(bpm::Polynomial(3), {.draws = 20}, test_support::hard({.seed = seed}))
        .fit(inputs, two_labels(60));
  };
  const Eigen::VectorXd one = fit(1).decision_values(others);
  const Eigen::VectorXd two = fit(2).decision_values(others);
  CHECK_FALSE(one == two);
  CHECK(fit(1).decision_values(others) == one);
  CHECK((one - two).cwiseAbs().maxCoeff() < 0.3);
}

namespace {

/// x1 + 2 x2 for inputs of two numbers, by hand: support e1 and e2 under the linear kernel.
auto by_hand() {
  return bpm::ClassifierParts<bpm::Linear, Doubles>{.kernel = {},
                                                    .inputs = Doubles{{1, 0}, {0, 1}},
                                                    .support = {3, 8},
                                                    .coefficients = Doubles{{1}, {2}},
                                                    .classes = {-1, 4},
                                                    .divide_by_self = false};
}

template <class Change>
std::string refusal_of_parts(Change&& change) {
  auto parts = by_hand();
  change(parts);
  try {
    (void)bpm::Classifier(parts);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing thrown";
}

}  // namespace

TEST_CASE("a classifier made from parts: outputs, votes and labels by hand") {
  auto parts = by_hand();
  parts.draw_coefficients = Doubles{{1, 0, -1}, {0, 1, -1}};
  parts.draw_numbers = {0, 1, 5};
  parts.draw_weights = {1, 2, 5};
  const bpm::Classifier linear(parts);
  const Doubles inputs{{3, 4}, {-4, 2}, {-3, 1}};
  CHECK(linear.decision_values(inputs) == Eigen::Vector3d(11, 0, -1));
  CHECK(linear.predict(inputs) == std::vector<int>{4, -1, -1});
  Eigen::Matrix3d draws;
  draws << 3, 4, -7, -4, 2, 2, -3, 1, 2;
  CHECK(linear.draw_decision_values(inputs) == draws);
  CHECK(linear.vote_fractions(inputs) == Eigen::Vector3d(0.375, 0.875, 0.875));
  CHECK(linear.gibbs_error(inputs, std::vector<int>{4, -1, 7}) == (0.625 + 0.875 + 1) / 3);
  parts.divide_by_self = true;
  CHECK(std::abs(bpm::Classifier(parts).decision_values(inputs)(0, 0) - 11.0 / 5) < 1e-15);

  // Three classes, columns of their own; equal outputs are the first one's.
  parts.classes = {-1, 4, 9};
  parts.coefficients = Doubles{{1, 0, 1}, {0, 1, 0}};
  parts.draw_coefficients = Doubles{{1, 0, 0, 0, 1, 0}, {0, 1, 0, 0, 0, 1}};
  parts.draw_numbers = {0, 1};
  parts.draw_weights = {1, 8, 8, 3, 8, 8};
  const bpm::Classifier several(parts);
  CHECK(several.columns() == 3);
  CHECK(several.predict(inputs) == std::vector<int>{4, 4, 4});
  CHECK(several.predict(Doubles{{2, 1}}) == std::vector<int>{-1});
  // Of (3, 4), draw 0 has the outputs 3, 4, 0 and draw 1 has 0, 3, 4.
  CHECK(several.vote_fractions(Doubles{{3, 4}}) == Eigen::RowVector3d(0, 0.25, 0.75));
  CHECK(several.gibbs_error(Doubles{{3, 4}}, std::vector<int>{9}) == 0.25);
}

TEST_CASE("outputs beyond double are refused, not compared") {
  auto parts = by_hand();
  parts.coefficients *= 1e306;
  const bpm::Classifier linear(parts);
  CHECK_THROWS_AS(linear.predict(Doubles{{1e10, 1e10}}), bpm::KernelValueError);
  CHECK_THROWS_WITH(linear.predict(Doubles{{1e10, 1e10}}),
                    "Classifier::decision_values: a sum over the support points is beyond double; "
                    "scale the inputs, or normalise the kernel");
  // Values of the user's as well: as they are, and over sqrt(k(x, x)).
  const bpm::Classifier<bpm::PrecomputedKernel, Doubles> precomputed(
      {.kernel = bpm::PrecomputedKernel{},
       .inputs = Doubles(0, 1),
       .support = {0},
       .coefficients = Doubles{{1e300}},
       .classes = {0, 1}});
  const Doubles values{{1e5}};
  CHECK(precomputed.decision_values(values)(0, 0) == Approx(1e305));
  const auto sum_is_beyond =
      Catch::Matchers::ContainsSubstring("a sum over the support points is beyond double; ");
  CHECK_THROWS_WITH(precomputed.decision_values(Doubles{{1e10}}), sum_is_beyond);
  const Eigen::VectorXd tiny = Eigen::VectorXd::Constant(1, 1e-10);
  CHECK_THROWS_WITH(precomputed.decision_values(bpm::PrecomputedRows<double>{values, tiny}),
                    sum_is_beyond);
  CHECK_THROWS_WITH(linear.labels_of(Eigen::MatrixXd::Constant(1, 1, std::nan(""))),
                    "Classifier::labels_of: decision_values hold a number that is not finite");
}

TEST_CASE("a chosen rejection is kept and changes no prediction") {
  const bpm::Classifier plain(by_hand());
  const Doubles others = triangle(20, 2);
  const auto with = test_support::noted(plain, [](bpm::Notes& notes) {
    notes.rejection = {"gap", {0.5}};
  });
  CHECK_FALSE(plain.notes.rejection);
  REQUIRE(with.notes.rejection);
  CHECK(with.notes.rejection->score == "gap");
  CHECK(with.notes.rejection->rejector.accepts(0.5));
  CHECK_FALSE(with.notes.rejection->rejector.accepts(0.4));
  CHECK(with.decision_values(others) == plain.decision_values(others));
  CHECK_THROWS_WITH(
      bpm::Classifier(by_hand(), {.rejection = bpm::Rejection{"gap", {std::nan("")}}}),
      "Classifier: rejection has the threshold nan, must be a number or infinite");
  CHECK_THROWS_WITH(bpm::Classifier(by_hand(), {.rejection = bpm::Rejection{"", {0.5}}}),
                    "Classifier: rejection does not say which score its threshold is one of");
}

TEST_CASE("a text on how inputs are made is kept and changes no prediction") {
  const bpm::Classifier plain(by_hand());
  const Doubles others = triangle(20, 2);
  const auto with = test_support::noted(
      plain, [](bpm::Notes& notes) { notes.inputs_made_by = "heights in metres"; });
  CHECK_FALSE(plain.notes.inputs_made_by);
  CHECK(with.notes.inputs_made_by == "heights in metres");
  CHECK(with.decision_values(others) == plain.decision_values(others));
}

TEST_CASE("a classifier from its own parts is the same") {
  const Doubles others = triangle(20, 2);
  const auto fitted = Machine(bpm::Polynomial(3), {}, test_support::hard({.keep_draws = true}))
                          .fit(triangle(60, 1), two_labels(60));
  const bpm::Classifier again(fitted.parts());
  CHECK(again.decision_values(others) == fitted.decision_values(others));
  CHECK(again.draw_decision_values(others) == fitted.draw_decision_values(others));
  CHECK(again.training_margin() == fitted.training_margin());
  // Only support points are kept.
  CHECK(fitted.parts().inputs.rows() == std::ssize(fitted.support()));
  CHECK(fitted.support().size() < 60);
}

TEST_CASE("parts that do not fit together are refused, each by its name") {
  const std::string f = "Classifier: ";
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(refusal_of_parts([](auto&) {}) == "nothing thrown");
  CHECK(refusal_of_parts([](auto& p) { p.classes = {3}; }) ==
        f + "classes has 1 entries, must have two or more");
  CHECK(refusal_of_parts([](auto& p) {
          p.classes = {4, -1};
        }) == f + "classes at 1 is -1 after 4, must ascend");
  CHECK(refusal_of_parts([](auto& p) {
          p.classes = {4, 4};
        }) == f + "classes at 1 is 4 after 4, must ascend");
  CHECK(refusal_of_parts([](auto& p) {
          p.support = {8, 3};
        }) == f + "support at 1 is 3, must ascend from 0 on");
  CHECK(refusal_of_parts([](auto& p) {
          p.support = {-1, 3};
        }) == f + "support at 0 is -1, must ascend from 0 on");
  CHECK(refusal_of_parts([](auto& p) { p.support = {3}; }) ==
        f + "inputs has 2 entries, expected 1 (one per support point)");
  CHECK(refusal_of_parts([&](auto& p) { p.inputs(1, 0) = inf; }) ==
        f + "inputs row 1, column 0 is inf, must be finite");
  CHECK(refusal_of_parts([](auto& p) { p.coefficients = Doubles{{1}}; }) ==
        f + "coefficients has 1 entries, expected 2 (rows: one per support point)");
  CHECK(refusal_of_parts([](auto& p) {
          p.classes = {1, 2, 3};
        }) ==
        f + "coefficients has 1 entries, expected 3 (columns: one for two classes, else one per "
            "class)");
  const auto of_pairs = [](auto& p) {
    p.one_against_one = true;
    p.classes = {1, 2, 3, 4};
    p.coefficients = Doubles::Ones(2, 6);
  };
  CHECK(refusal_of_parts(of_pairs) == "nothing thrown");
  CHECK(refusal_of_parts([&](auto& p) { of_pairs(p), p.coefficients = Doubles::Ones(2, 4); }) ==
        f + "coefficients has 4 entries, expected 6 (columns: one per pair of classes)");
  CHECK(refusal_of_parts([&](auto& p) {
          of_pairs(p), p.classes = {1, 2};
        }) == f + "one_against_one is true, must be false of two classes, which are one pair");
  CHECK(refusal_of_parts([&](auto& p) { of_pairs(p), p.mean_norms.assign(4, 1.0); }) ==
        f + "mean_norms has 4 entries, expected 6 (one per column, or none)");
  CHECK(refusal_of_parts([&](auto& p) { of_pairs(p), p.slope = 1, p.offsets.assign(6, 0.0); }) ==
        f + "offsets has 6 entries, expected 4 (one per decision value, or none)");
  CHECK(refusal_of_parts([&](auto& p) { p.coefficients(0, 0) = -inf; }) ==
        f + "coefficients at 0, 0 is -inf, must be finite");
  CHECK(refusal_of_parts([](auto& p) { p.draw_numbers = {0}; }) ==
        f + "draw_coefficients has 0 entries, expected 2 (rows: one per support point)");
  const auto with_draw = [](auto& p) {
    p.draw_numbers = {0};
    p.draw_coefficients = Doubles{{1}, {1}};
    p.draw_weights = {1};
  };
  CHECK(refusal_of_parts(with_draw) == "nothing thrown");
  CHECK(refusal_of_parts([&](auto& p) {
          with_draw(p), p.draw_coefficients = Doubles{{1, 2}, {1, 2}};
        }) ==
        f + "draw_coefficients has 2 entries, expected 1 (columns: as coefficients, per draw)");
  CHECK(refusal_of_parts([&](auto& p) { with_draw(p), p.draw_coefficients(1, 0) = inf; }) ==
        f + "draw_coefficients at 1, 0 is inf, must be finite");
  CHECK(refusal_of_parts([&](auto& p) { with_draw(p), p.draw_weights = {}; }) ==
        f + "draw_weights has 0 entries, expected 1 (one per column of draw_coefficients)");
  CHECK(refusal_of_parts([](auto& p) {
          p.origin = {1, 2, 3};
        }) == f + "origin has 3 entries, expected 2 (one per feature, or none)");
  CHECK(refusal_of_parts([&](auto& p) {
          p.origin = {1, inf};
        }) == f + "origin has a inf, must be finite");
  CHECK(refusal_of_parts([&](auto& p) { with_draw(p), p.draw_weights = {0}; }) ==
        f + "draw_weights has a 0, must be positive and finite");
  CHECK(refusal_of_parts([](auto& p) {
          p.mean_norms = {1, 1};
        }) == f + "mean_norms has 2 entries, expected 1 (one per column, or none)");
  CHECK(refusal_of_parts([](auto& p) {
          p.training_margins = {1, 1};
        }) == f + "training_margins has 2 entries, expected 1 (one per column, or none)");
  CHECK(refusal_of_parts([](auto& p) {
          p.training_errors = {1, 1};
        }) == f + "training_errors has 2 entries, expected 1 (one per column, or none)");
  const bpm::Classifier without(by_hand());
  CHECK_THROWS_WITH(without.mean_norm(),
                    Catch::Matchers::Equals("Classifier::mean_norm: column is 0, must be below 0"));
  bpm::ClassifierParts<bpm::PrecomputedKernel, Doubles> brought{.kernel = {},
                                                                .inputs = Doubles(0, 9),
                                                                .support = {3, 8},
                                                                .coefficients = Doubles{{1}, {2}},
                                                                .classes = {-1, 4}};
  CHECK(bpm::Classifier(brought).decision_values(Doubles(Doubles::Constant(1, 9, 2.0)))(0, 0) == 6);
  brought.inputs = Doubles(0, 8);
  CHECK_THROWS_WITH(
      bpm::Classifier(brought),
      Catch::Matchers::Equals(f + "support ends with 8, must be below 8, the columns of inputs"));
}

TEST_CASE("every number that is kept beside the coefficients is looked at", "[machine]") {
  const std::string f = "Classifier: ";
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(refusal_of_parts([](auto& p) { p.origin = {1}; }) ==
        f + "origin has 1 entries, expected 2 (one per feature, or none)");
  CHECK(refusal_of_parts([&](auto& p) { p.slope = 1, p.offsets = {inf}; }) ==
        f + "offsets have a inf, must be finite");
  const auto with_draw = [](auto& p) {
    p.draw_numbers = {0};
    p.draw_coefficients = Doubles{{1}, {1}};
    p.draw_weights = {1};
  };
  for (const double weight : {inf, -1.0, std::nan("")}) {
    CHECK(refusal_of_parts([&](auto& p) {
            with_draw(p), p.draw_weights = {weight};
          }).starts_with(f + "draw_weights has a "));
  }
  const auto scaled = [](auto& p) {
    p.standardisation =
        bpm::Standardisation{Eigen::RowVectorXd::Zero(2), Eigen::RowVectorXd::Ones(2), {0, 1}};
  };
  CHECK(refusal_of_parts(scaled) == "nothing thrown");
  CHECK(refusal_of_parts([&](auto& p) { scaled(p), p.standardisation->deviation.setOnes(3); }) ==
        f + "standardisation has 3 entries, expected 2 (one per feature)");
  CHECK(refusal_of_parts([&](auto& p) { scaled(p), p.standardisation->constant = {-1}; }) ==
        f + "standardisation has the constant column -1, must be below 2");
  bpm::ClassifierParts<bpm::PrecomputedKernel, Doubles> brought{.kernel = {},
                                                                .inputs = Doubles(0, 9),
                                                                .support = {3, 8},
                                                                .coefficients = Doubles{{1}, {2}},
                                                                .classes = {-1, 4}};
  brought.standardisation =
      bpm::Standardisation{Eigen::RowVectorXd::Zero(9), Eigen::RowVectorXd::Ones(9)};
  CHECK_THROWS_WITH(bpm::Classifier(brought),
                    f + "standardisation is given for inputs that are no dense numbers, or for "
                        "kernel values");
}

TEST_CASE("places in a table are those of its columns, not of the inputs that words become",
          "[machine]") {
  // One column of two words and the label: two columns of a table, two of inputs.
  bpm::Notes notes{.encoding = bpm::TableEncoding{}};
  notes.encoding->columns = {
      {.name = "kind", .kind = bpm::MixedTable::Kind::words, .categories = {"a", "b"}}};
  REQUIRE(notes.encoding->size() == 2);
  notes.label_column = 1;
  CHECK_NOTHROW(bpm::Classifier(by_hand(), notes));
  notes.label_column = 2;
  CHECK_THROWS_WITH(bpm::Classifier(by_hand(), notes),
                    "Classifier: label_column is 2, must be below 2, the columns of the table, and "
                    "not ignored");
  notes.ignored_columns = {0};
  CHECK_NOTHROW(bpm::Classifier(by_hand(), notes));
}

TEST_CASE("an output of zero at a training point is an error", "[machine]") {
  // Labels +, +, +, -: outputs 2, 0, -1, -4 of a mean of norm sqrt(1 + 4).
  bpm::detail::Subproblems problems({0, 1}, std::vector<int>{1, 1, 1, 0});
  problems.lambda = std::make_shared<const std::vector<double>>();
  std::vector<bpm::detail::DrawMean> means;
  means.emplace_back(4, false);
  means[0].set_centre({.coefficients = {0.5, 0, 0, -1}, .outputs = {2, 0, -1, -4}});
  bpm::ClassifierParts<bpm::Linear, Doubles> numbers{};
  bpm::detail::set_means(bpm::detail::numbers_of(numbers), means, &problems, {});
  CHECK(numbers.training_errors == std::vector<std::size_t>{2});
  CHECK(numbers.support == std::vector<bpm::PointIndex>{0, 3});
  CHECK(numbers.mean_norms.at(0) == Approx(std::sqrt(5)));
  CHECK(numbers.training_margins.at(0) == Approx(-1 / std::sqrt(5)));
}

TEST_CASE("of single draws those are kept that every subproblem has", "[machine]") {
  // Three classes; a run that was stopped while the second had one draw less.
  bpm::detail::Subproblems problems({0, 1, 2}, std::vector<int>{0, 1, 2});
  problems.lambda = std::make_shared<const std::vector<double>>();
  std::vector<bpm::detail::DrawMean> means(3, bpm::detail::DrawMean(3, true));
  const std::vector<double> outputs{1, 1, 1};
  for (const std::size_t problem : {0U, 1U, 2U}) {
    for (std::uint64_t number = 0; number < (problem == 1 ? 1U : 2U); ++number) {
      const std::vector<bpm::PointIndex> support{static_cast<bpm::PointIndex>(problem)};
      const std::vector<double> coefficients{1.0 + static_cast<double>(number)};
      means[problem].add({.number = number,
                          .problem = problem,
                          .support = support,
                          .coefficients = coefficients,
                          .outputs = outputs});
    }
  }
  bpm::ClassifierParts<bpm::Linear, Doubles> numbers{};
  bpm::detail::set_means(bpm::detail::numbers_of(numbers), means, &problems, {});
  CHECK(numbers.draw_numbers == std::vector<std::uint64_t>{0});
  CHECK(numbers.draw_weights == std::vector<double>{1, 1, 1});
  CHECK(numbers.draw_coefficients == Doubles::Identity(3, 3));
}

TEST_CASE("probabilities are those of the outputs at the slope", "[machine]") {
  const Doubles inputs = triangle(60, 1);
  const auto fitted =
      Machine(bpm::Polynomial(3), {}, test_support::hard()).fit(inputs, two_labels(60));
  CHECK(fitted.parts().slope == 0);
  CHECK_THROWS_WITH(fitted.predict_probability(inputs),
                    "Classifier::probabilities: slope is not known: fit with an automatic "
                    "soft boundary, or give one by with_slope");
  CHECK_THROWS_WITH(fitted.with_slope(0),
                    "Classifier::with_slope: slope is 0, must be positive and finite");
  const auto sloped = fitted.with_slope(3);
  CHECK(sloped.parts().slope == 3);
  const Eigen::MatrixXd values = fitted.decision_values(inputs);
  const Eigen::MatrixXd found = sloped.predict_probability(inputs);
  for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
    CHECK(found(i, 0) == Approx(1 / (1 + std::exp(-3 * values(i, 0)))));
  }
  // A fit that chooses its boundary knows its slope.
  const auto chosen = Machine(bpm::Polynomial(3)).fit(inputs, two_labels(60));
  const bpm::BoundaryChoice& choice = *chosen.notes.boundary;
  CHECK(choice.slope > 0);
  // Folds are of 48 points and five draws, the fit of 60 and ten.
  CHECK(choice.fold_rows == 48);
  CHECK(choice.fold_draws == 5);
  CHECK(chosen.parts().slope ==
        Approx(choice.slope * std::pow(60.0 / 48, choice.growth) *
               std::sqrt((1 - 0.8 * choice.draw_chance) / (1 - 0.9 * choice.draw_chance))));
  CHECK(chosen.parts().probability_rows == 60);
  CHECK(chosen.with_slope(2).parts().probability_rows == 0);
  CHECK((chosen.predict_probability(inputs).array() > 0.5).matrix() ==
        (chosen.decision_values(inputs).array() > 0).matrix());
}

TEST_CASE("no inputs have an empty answer", "[machine]") {
  const Doubles inputs = triangle(2, 1);
  const Doubles none(0, inputs.cols());
  check_no_inputs(bpm::Linear(), inputs, none);  // By w.
  check_no_inputs(bpm::Gaussian::from_width(1), inputs, none);
  check_no_inputs(bpm::PrecomputedKernel(), Doubles(0, 2), Doubles(0, 2));
  const auto prefix = [](const std::string& a, const std::string& b) {
    return a.substr(0, 1) == b.substr(0, 1) ? 2.0 : 1.0;
  };
  check_no_inputs(prefix, std::vector<std::string>{"a", "b"}, std::vector<std::string>{});
  const bpm::BayesPointMachine machine(bpm::Linear(), {}, bpm::FitSettings{.standardise = true});
  check_no_inputs(machine.fit(triangle(60, 1), two_labels(60)), none, 1);
}

TEST_CASE("classes have names where they were given", "[machine]") {
  const Doubles inputs = triangle(30, 1);
  std::vector<int> labels = two_labels(30);
  for (int& label : labels) label = label == 7 ? 2 : 0;
  const auto fitted = Machine(bpm::Polynomial(3), {}, test_support::hard()).fit(inputs, labels);
  CHECK_THROWS_WITH(fitted.predict_names(inputs),
                    "Classifier::predict_names: class_names are not known: set "
                    "notes.class_names");
  auto named = fitted;
  named.notes.name_classes(named.classes(), {});
  CHECK(named.notes.class_names.empty());
  CHECK_THROWS_WITH(named.notes.name_classes(named.classes(), {"a", "b"}),
                    "Notes::name_classes: names has none for the class 2");
  named.notes.class_names = {"a"};
  CHECK_THROWS_WITH(
      named.predict_names(inputs),
      "Classifier::predict_names: class_names has 1 entries, expected 2 (one per class)");
  named.notes.name_classes(named.classes(), {"a", "b", "c"});
  const std::vector<std::string> names = named.predict_names(inputs);
  for (std::size_t i = 0; i < labels.size(); ++i) CHECK(names[i] == (labels[i] == 2 ? "c" : "a"));
  auto parts = fitted.parts();
  CHECK_THROWS_WITH(bpm::Classifier(parts, {.class_names = {"one"}}),
                    "Classifier: class_names has 1 entries, expected 2 (one per class, or none)");
  parts = fitted.parts();
  parts.slope = -1;
  CHECK_THROWS_WITH(bpm::Classifier(parts),
                    "Classifier: slope is -1, must be finite and not negative");
  parts = fitted.parts();
  parts.bias = -1;
  CHECK_THROWS_WITH(bpm::Classifier(parts),
                    "Classifier: bias is -1, must be finite and not negative");
  parts = fitted.parts();
  parts.mean_diagonal = -1;
  CHECK_THROWS_WITH(bpm::Classifier(parts),
                    "Classifier: mean_diagonal is -1, must be finite and not negative");
  parts = fitted.parts();
  parts.standardisation =
      bpm::Standardisation{Eigen::RowVectorXd::Zero(3), Eigen::RowVectorXd::Ones(3)};
  CHECK_THROWS_WITH(bpm::Classifier(parts),
                    "Classifier: standardisation has 3 entries, expected 2 (one per feature)");
  parts.standardisation =
      bpm::Standardisation{Eigen::RowVectorXd::Zero(2), Eigen::RowVectorXd::Zero(2)};
  CHECK_THROWS_WITH(bpm::Classifier(parts),
                    "Classifier: standardisation is 0, must be positive and finite");
  parts.standardisation->deviation.setOnes();
  parts.standardisation->mean[1] = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(bpm::Classifier(parts),
                    "Classifier: standardisation has a mean of inf, must be finite");
  parts.standardisation->mean.setZero();
  parts.standardisation->constant = {2};
  CHECK_THROWS_WITH(bpm::Classifier(parts),
                    "Classifier: standardisation has the constant column 2, must be below 2");
  parts = fitted.parts();
  parts.offsets = {0.5};
  CHECK_THROWS_WITH(bpm::Classifier(parts), "Classifier: offsets are given without a slope");
  parts = fitted.parts();
  CHECK_THROWS_WITH(
      bpm::Classifier(parts, {.feature_names = {"one"}}),
      "Classifier: feature_names has 1 entries, expected 2 (one per feature, or none)");
  bpm::Notes notes{.label_column = 3};
  CHECK_THROWS_WITH(bpm::Classifier(parts, notes),
                    "Classifier: label_column is 3, must be below 3, the columns of the table, and "
                    "not ignored");
  notes.label_column = -1;
  CHECK_THROWS_WITH(bpm::Classifier(parts, notes),
                    Catch::Matchers::StartsWith("Classifier: label_column is -1, must be"));
  notes.label_column = 3;
  notes.ignored_columns = {0};
  CHECK_NOTHROW(bpm::Classifier(parts, notes));
  notes.label_column = 0;
  CHECK_THROWS_WITH(bpm::Classifier(parts, notes),
                    Catch::Matchers::StartsWith("Classifier: label_column is 0, must be"));
  for (const Eigen::Index column : {-1, 4}) {
    notes.ignored_columns = {column};
    CHECK_THROWS_WITH(bpm::Classifier(parts, notes),
                      "Classifier: ignored_columns at 0 is " + std::to_string(column) +
                          ", must ascend from 0 to below 4, the columns of the table");
  }
  notes.ignored_columns = {1, 1};
  CHECK_THROWS_WITH(bpm::Classifier(parts, notes),
                    "Classifier: ignored_columns at 1 is 1, must ascend from 0 to below 5, the "
                    "columns of the table");
}

TEST_CASE("a classifier of strings has no columns that could be named, scaled or encoded",
          "[machine]") {
  auto kernel = [](const std::string& a, const std::string& b) { return a == b ? 2.0 : 1.0; };
  using Words = bpm::ClassifierParts<decltype(kernel), std::vector<std::string>>;
  const Words parts{.kernel = kernel,
                    .inputs = {"a", "b"},
                    .support = {0, 1},
                    .coefficients = bpm::RowMatrix<double>::Ones(2, 1),
                    .classes = {0, 1}};
  CHECK_NOTHROW(bpm::Classifier(parts));
  CHECK_THROWS_WITH(bpm::Classifier(parts, {.feature_names = {"word"}}),
                    "Classifier: feature_names are given for inputs without columns");
  CHECK_THROWS_WITH(bpm::Classifier(parts, {.encoding = bpm::TableEncoding{}}),
                    "Classifier: encoding is given for inputs without columns");
  Words scaled = parts;
  scaled.standardisation.emplace();
  CHECK_THROWS_WITH(bpm::Classifier(scaled),
                    "Classifier: standardisation is given for inputs that are no dense numbers, "
                    "or for kernel values");
}
