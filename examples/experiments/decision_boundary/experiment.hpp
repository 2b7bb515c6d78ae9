// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "options.hpp"
#include "sphere.hpp"
#include "toy.hpp"

namespace bpm_examples {

/// What is reported of a classifier, w = sum_i coefficients_i phi(x_i) at norm 1.
struct BoundaryClassifier {
  Eigen::VectorXd coefficients;
  double accuracy = 0;  ///< On the fresh sample; a fraction.
  double margin = 0;    ///< min_i y_i <w, phi(x_i)>.
};

/// Values of <w, phi(x)> on a grid of the plane, row by row from below.
struct GridValues {
  std::vector<double> svm;
  std::vector<double> bayes;
};

/// The grid that is drawn.
struct PlaneGrid {
  double x_from = -3.7;
  double x_to = 3.7;
  double y_from = -2.8;
  double y_to = 2.8;
  int columns = 149;
  int rows = 113;

  [[nodiscard]] double x(int column) const {
    return x_from + (x_to - x_from) * column / (columns - 1);
  }
  [[nodiscard]] double y(int row) const { return y_from + (y_to - y_from) * row / (rows - 1); }
};

/// The two classifiers of the toy data.
struct BoundaryResult {
  ToyData training;
  std::ptrdiff_t test_size = 0;
  BoundaryClassifier svm;
  BoundaryClassifier bayes;
  std::size_t support_vectors = 0;
  double angle = 0;  ///< Between the two in feature space, rad.
  PlaneGrid grid;
  GridValues values;
};

/// The width sigma of the Gaussian exp(-|x - x'|^2 / sigma^2), as in the paper.
inline constexpr double kernel_width = 1;

/// Learns the toy data and tests on a fresh sample of 10 000 points.
[[nodiscard]] BoundaryResult run_boundary(const BoundaryOptions& options);

/// The version space in three dimensions.
struct SphereResult {
  SphereProblem problem;
  Direction svm;
  double radius = 0;  ///< Angle of the largest circle inside, around `svm`.
  Direction bayes;
  Direction centre;  ///< The true centre, in closed form.
  /// The start, then the first bounces and what lies between them: a point wherever the path turns.
  std::vector<Direction> path;
  std::size_t early = 0;  ///< How many of these there are up to the tenth bounce.
};

/// Bounces of the billiard that are drawn.
inline constexpr int drawn_bounces = 300;
inline constexpr int early_bounces = 10;  ///< Of these, those that are drawn strongly.

/// Runs the billiard on the version space in three dimensions.
[[nodiscard]] SphereResult run_sphere(const BoundaryOptions& options);

}  // namespace bpm_examples
