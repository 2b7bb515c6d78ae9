// SPDX-License-Identifier: MIT
// Kernel values that the user brings, against the kernel itself.
#include "bpm/kernels/kernel.hpp"

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/one_vs_one.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "catch.hpp"
#include "data_sets.hpp"
#include "hard.hpp"

using namespace machine_tests;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;

namespace {

Doubles values(const Doubles& x, const Doubles& z) {
  return ((x * z.transpose()).array() + 1).cube();
}

const bpm::BayesPointMachine by_matrix(bpm::PrecomputedKernel{}, {}, test_support::hard());
const bpm::BayesPointMachine by_kernel(bpm::Polynomial(3), {}, test_support::hard());

}  // namespace

TEST_CASE("a matrix of the kernel's values is as good as the kernel") {
  const Doubles inputs = triangle(80, 1);
  const Doubles others = triangle(40, 2, 1.0);
  const Doubles gram = values(inputs, inputs);
  const Doubles cross = values(others, inputs);
  const Eigen::VectorXd diagonal = values(others, others).diagonal();
  const std::vector<int> labels = two_labels(80);

  const auto expected = by_kernel.fit(inputs, labels);
  const auto fitted = by_matrix.fit(gram, labels);
  CHECK(fitted.forecast().strategy == bpm::Strategy::precomputed);
  CHECK(fitted.report().kernel_evaluations == 0);
  CHECK(fitted.report().perceptron->mistakes == expected.report().perceptron->mistakes);
  REQUIRE(fitted.support() == expected.support());
  CHECK(fitted.coefficients().isApprox(expected.coefficients(), 1e-9));
  CHECK(std::abs(fitted.training_margin() - expected.training_margin()) < 1e-9);

  // With the diagonal: normalised by it; without: by the mean of the training points'. Labels are
  // the same.
  const Eigen::VectorXd wanted = expected.decision_values(others);
  const bpm::PrecomputedRows<double> rows{cross, diagonal};
  CHECK((fitted.decision_values(rows) - wanted).cwiseAbs().maxCoeff() < 1e-9);
  const double mean_diagonal = gram.diagonal().mean();
  CHECK(fitted.parts().mean_diagonal == mean_diagonal);
  const Eigen::VectorXd plain = wanted.cwiseProduct((diagonal / mean_diagonal).cwiseSqrt());
  CHECK((fitted.decision_values(cross) - plain).cwiseAbs().maxCoeff() < 1e-8);
  CHECK(fitted.predict(cross) == expected.predict(others));
  CHECK(fitted.predict(rows) == expected.predict(others));

  const std::vector<int> classes = three_labels(80);
  const auto several = bpm::OneVsRest(by_matrix).fit(gram, classes);
  const auto all = bpm::OneVsRest(by_kernel).fit(inputs, classes);
  CHECK((several.decision_values(rows) - all.decision_values(others)).cwiseAbs().maxCoeff() < 1e-9);
  CHECK(several.predict(rows) == all.predict(others));
}

TEST_CASE("where k(x, x) is one for all inputs, labels and probabilities do without it") {
  const Doubles inputs = triangle(90, 1);
  const Doubles others = triangle(40, 2, 1.0);
  constexpr double self = 2e4;
  const auto of = [&](const Doubles& x) {
    const Eigen::VectorXd z = inputs.rowwise().squaredNorm();
    const Doubles squares = (-2 * x * inputs.transpose()).rowwise() + z.transpose();
    const Doubles distances = squares.colwise() + x.rowwise().squaredNorm();
    return Doubles(self * (1 + (-4 * distances.array()).exp()) / 2);
  };
  const Doubles gram = of(inputs);
  const Doubles cross = of(others);
  const Eigen::VectorXd diagonal = Eigen::VectorXd::Constant(others.rows(), self);
  const bpm::PrecomputedRows<double> rows{cross, diagonal};
  std::vector<int> labels = three_labels(90);
  for (std::size_t i = 0; i < labels.size(); i += 9) labels[i] = labels[(i + 1) % labels.size()];
  const bpm::BayesPointMachine<bpm::PrecomputedKernel> machine({}, {}, {.keep_draws = true});
  for (const bool pairs : {false, true}) {
    CAPTURE(pairs);
    const auto fitted = pairs ? bpm::OneVsOne(machine).fit(gram, labels)
                              : bpm::OneVsRest(machine).fit(gram, labels);
    REQUIRE(fitted.parts().slope > 0);
    const auto close = [](const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
      return (a - b).cwiseAbs().maxCoeff() < 1e-9;
    };
    CHECK(close(fitted.decision_values(cross), fitted.decision_values(rows)));
    CHECK(close(fitted.draw_decision_values(cross), fitted.draw_decision_values(rows)));
    CHECK(close(fitted.predict_probability(cross), fitted.predict_probability(rows)));
    CHECK(fitted.predict(cross) == fitted.predict(rows));
  }
}

TEST_CASE("a matrix in another storage order, a part of one, or of floats") {
  const Doubles inputs = triangle(50, 1);
  const Doubles gram = values(inputs, inputs);
  const std::vector<int> labels = two_labels(50);
  const auto expected = by_matrix.fit(gram, labels);
  const Eigen::VectorXd wanted = expected.decision_values(gram);

  auto columns = by_matrix.train(Eigen::MatrixXd(gram), labels);
  CHECK(columns.classifier().decision_values(Eigen::MatrixXd(gram)) == wanted);
  Doubles larger = Doubles::Constant(60, 60, 99.0);
  larger.topLeftCorner(50, 50) = gram;
  CHECK(by_matrix.fit(larger.topLeftCorner(50, 50), labels).decision_values(gram) == wanted);
  const bpm::RowMatrix<float> floats = gram.cast<float>();
  const auto in_float = by_matrix.fit(floats, labels);
  CHECK((in_float.decision_values(floats) - wanted).cwiseAbs().maxCoeff() < 0.1);

  columns.add_draws(3);
  auto more = by_matrix.train(gram, labels);
  more.add_draws(3);
  CHECK(columns.classifier().coefficients() == more.classifier().coefficients());
}

TEST_CASE("matrices that are no kernel matrices are refused") {
  const Doubles inputs = triangle(6, 1);
  const Doubles gram = values(inputs, inputs);
  const std::vector<int> labels = two_labels(6);
  CHECK_THROWS_WITH(by_matrix.fit(Doubles(gram.leftCols(5)), labels),
                    Equals("PrecomputedGram: values is 6 x 5, must be square"));
  Doubles broken = gram;
  broken(2, 4) = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(by_matrix.fit(broken, labels),
                    Equals("BayesPointMachine::fit: inputs row 2, column 4 is nan, must be "
                           "finite"));
  broken = gram;
  broken(4, 2) += 1;
  CHECK_THROWS_WITH(by_matrix.fit(broken, labels),
                    ContainsSubstring("PrecomputedGram: values at (4, 2) is ") &&
                        ContainsSubstring("must be symmetric"));
  broken = gram;
  broken(3, 3) = -1;
  CHECK_THROWS_WITH(by_matrix.fit(broken, labels),
                    Equals("PrecomputedGram: values at (3, 3) is -1, must not be negative"));
  CHECK_THROWS_WITH(by_matrix.fit(gram, two_labels(5)),
                    Equals("BayesPointMachine::fit: labels has 5 entries, expected 6 (one per "
                           "input)"));
}

TEST_CASE("rows to predict must match the training set and their diagonal") {
  const Doubles inputs = triangle(30, 1);
  const Doubles others = triangle(4, 2);
  const Doubles gram = values(inputs, inputs);
  const auto fitted = by_matrix.fit(gram, two_labels(30));
  const std::string f = "Classifier::decision_values: ";
  CHECK_THROWS_WITH(fitted.decision_values(Doubles(gram.leftCols(29))),
                    Equals(f + "inputs has 29 entries, expected 30 (columns: one per training "
                               "point)"));
  Doubles cross = values(others, inputs);
  Eigen::VectorXd diagonal = Eigen::VectorXd::Ones(3);
  const bpm::PrecomputedRows<double> rows{cross, diagonal};
  CHECK_THROWS_WITH(fitted.decision_values(rows),
                    Equals(f + "diagonal has 3 entries, expected 4 (one per input)"));
  diagonal = Eigen::VectorXd::Ones(4);
  diagonal[1] = 0;
  CHECK_THROWS_WITH(fitted.decision_values(rows),
                    Equals(f + "diagonal at 1 is 0, must be positive and finite"));
  diagonal[1] = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(fitted.decision_values(rows),
                    Equals(f + "diagonal at 1 is inf, must be positive and finite"));
  diagonal[1] = 1;
  cross(2, 7) = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(fitted.decision_values(rows),
                    Equals(f + "inputs row 2, column 7 is inf, must be finite"));
}
