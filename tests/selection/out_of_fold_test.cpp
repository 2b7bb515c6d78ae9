// SPDX-License-Identifier: MIT
#include "bpm/selection/out_of_fold.hpp"

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <vector>

#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/classifier.hpp"
#include "bpm/selection/cross_validate.hpp"
#include "catch.hpp"
#include "noisy_points.hpp"

TEST_CASE("an output of 0 is of the first of two classes, as a classifier says", "[selection]") {
  const bpm::OutOfFold two{.folds = {},
                           .classes = {-3, 7},
                           .points = {0, 1, 2, 3},
                           .labels = {-3, 7, 7, 7},
                           .decision_values = Eigen::MatrixXd{{0.0}, {0.0}, {1e-300}, {-1.0}}};
  CHECK(two.predicted(0) == -3);
  CHECK(two.predicted(1) == -3);
  CHECK(two.predicted(2) == 7);
  CHECK(two.error() == 0.5);
  const bpm::Classifier<bpm::Polynomial, bpm::RowMatrix<double>> classifier(
      {bpm::Polynomial(1, 1, 0),
       bpm::RowMatrix<double>::Ones(1, 1),
       {0},
       bpm::RowMatrix<double>::Ones(1, 1),
       {-3, 7}});
  for (Eigen::Index i = 0; i < 4; ++i) {
    CHECK(two.predicted(i) == classifier.labels_of(two.decision_values.row(i)).at(0));
  }
  // Of several equal ones the first.
  const bpm::OutOfFold three{.folds = {},
                             .classes = {1, 2, 5},
                             .points = {0},
                             .labels = {2},
                             .decision_values = Eigen::MatrixXd{{0.0, 3.0, 3.0}}};
  CHECK(three.predicted(0) == 2);
  CHECK(three.error() == 0);
}

TEST_CASE("a fold's bias is in units of those that train it", "[selection]") {
  // k(x, x) = 1, 4, 9, ...: those left out have another mean.
  constexpr std::ptrdiff_t m = 6;
  bpm::detail::Buffer<double> values(m * m);
  for (std::ptrdiff_t i = 0; i < m; ++i) {
    for (std::ptrdiff_t j = 0; j < m; ++j) {
      values[i * m + j] = static_cast<double>((i + 1) * (j + 1));
    }
  }
  const bpm::detail::DenseGram<double> gram(std::move(values), m);
  const bpm::Folds folds{.count = 2, .of_point = {0, 1, 1, 0, -1, 1}};
  const std::vector<int> labels{1, 2, 1, 2, 1, 2};
  const bpm::detail::Fold fold(folds, 0, labels);
  CHECK(fold.left_out == std::vector<bpm::PointIndex>{0, 3});
  CHECK(fold.train == std::vector<bpm::PointIndex>{1, 2, 4, 5});
  CHECK(fold.labels == std::vector<int>{2, 1, 1, 2});
  const double added = 0.5 * bpm::detail::mean_diagonal(gram, fold.train);
  CHECK(added == 0.5 * (4 + 9 + 25 + 36) / 4);
  const bpm::detail::FoldValues<double> of_fold(gram, fold, added);
  CHECK(of_fold.gram.diagonal(2) == 25 + added);
  CHECK(of_fold.others(1, 3) == 4 * 6 + added);
  CHECK(of_fold.self[1] == std::sqrt(16 + added));
}

TEST_CASE("out-of-fold errors are those of labels that offsets move", "[selection]") {
  const bpm::OutOfFold three{.folds = {},
                             .classes = {1, 2, 5},
                             .points = {0, 1},
                             .labels = {5, 1},
                             .decision_values = Eigen::MatrixXd{{0.1, 0.4, 0.2}, {0.5, 0.2, 0.1}}};
  const bpm::FittedSlope with{.slope = 10, .offsets = {0, -1, 1.5}};
  // 10 f + b: 1, 3, 3.5 and 5, 1, 2.5.
  CHECK(three.predicted(0) == 2);
  CHECK(three.error() == 0.5);
  CHECK(three.predicted(0, with) == 5);
  CHECK(three.predicted(1, with) == 1);
  CHECK(three.error(with) == 0);
  const bpm::OutOfFold two{.folds = {},
                           .classes = {0, 1},
                           .points = {0},
                           .labels = {1},
                           .decision_values = Eigen::MatrixXd{{-0.1}}};
  CHECK(two.error() == 1);
  CHECK(two.error({.slope = 10, .offsets = {1.5}}) == 0);
}
