// SPDX-License-Identifier: MIT
// One set of inputs in every type that holds it.
#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <vector>

#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "catch.hpp"
#include "data_sets.hpp"
#include "hard.hpp"

using namespace machine_tests;

TEST_CASE("float, double, integer and sparse inputs tell the same story") {
  // Whole numbers, so that all four hold the same inputs.
  const Doubles inputs = (triangle(60, 1, 0.4) * 100).array().round();
  const Doubles others = (triangle(60, 2, 1.0) * 100).array().round();
  const std::vector<int> labels = two_labels(60);
  const bpm::BayesPointMachine machine(bpm::Polynomial(3, 1e-4, 1.0), bpm::PermutedPerceptron{},
                                       test_support::hard());
  const auto reference = machine.fit(inputs, labels);
  const Eigen::VectorXd values = reference.decision_values(others);

  const auto in_float = machine.fit(bpm::RowMatrix<float>(inputs.cast<float>()), labels);
  const Eigen::VectorXd floats =
      in_float.decision_values(bpm::RowMatrix<float>(others.cast<float>()));
  CHECK((floats - values).cwiseAbs().maxCoeff() < 0.05);  // A mistake may go the other way.

  // Integers are taken as float.
  const auto in_int = machine.fit(bpm::RowMatrix<int>(inputs.cast<int>()), labels);
  CHECK(in_int.decision_values(bpm::RowMatrix<int>(others.cast<int>())) == floats);

  const bpm::SparseRowMatrix<double> sparse = inputs.sparseView();
  const bpm::SparseRowMatrix<double> sparse_others = others.sparseView();
  const auto in_sparse = machine.fit(sparse, labels);
  REQUIRE(in_sparse.support() == reference.support());
  CHECK((in_sparse.decision_values(sparse_others) - values).cwiseAbs().maxCoeff() < 1e-10);

  // Column-major storage and expressions are read as they are.
  const Eigen::MatrixXd columns = inputs;
  CHECK(machine.fit(columns, labels).decision_values(others) == values);
  CHECK(machine.fit(inputs.topRows(60), labels).decision_values(Eigen::MatrixXd(others)) == values);
}
