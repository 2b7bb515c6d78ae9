// SPDX-License-Identifier: MIT
// The centre of mass of version space, with its error bar. Three points of R^3 leave a triangle on
// the sphere, whose centre of mass is known; a billiard finds it, and says how far off it may be.
#include <Eigen/Geometry>
#include <algorithm>
#include <bpm/bpm.hpp>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <vector>

namespace {

double angle(const Eigen::Vector3d& a, const Eigen::Vector3d& b) {
  return std::atan2(a.cross(b).norm(), a.dot(b));
}

// The triangle where <n_i, w> > 0, n_i the rows of `normals`: by the theorem of Gauss, its centre
// of mass is sum_i (length of side i) n_i / 2 over its area.
Eigen::Vector3d centre_of_triangle(const Eigen::Matrix3d& normals) {
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (int i = 0; i < 3; ++i) {
    const Eigen::Vector3d n = normals.row(i);
    const Eigen::Vector3d next = normals.row((i + 1) % 3);
    const Eigen::Vector3d last = normals.row((i + 2) % 3);
    // The corners of side i lie on two planes each; both orders of a cross product, one inside.
    const Eigen::Vector3d one = n.cross(next) * (n.cross(next).dot(last) > 0 ? 1 : -1);
    const Eigen::Vector3d two = n.cross(last) * (n.cross(last).dot(next) > 0 ? 1 : -1);
    sum += angle(one, two) * n;
  }
  return sum.normalized();
}

}  // namespace

int main() {
  // Unit vectors, one per row, and their labels; label times input is a plane's normal.
  bpm::RowMatrix<double> inputs(3, 3);
  inputs << 1, 0, 0, 0.6, 0.8, 0, -0.48, 0.36, 0.8;
  const std::vector<int> labels{1, -1, 1};
  Eigen::Matrix3d normals = inputs;
  for (int i = 0; i < 3; ++i) normals.row(i) *= labels[i];
  const Eigen::Vector3d centre = centre_of_triangle(normals);

  // The triangle itself: neither softened, nor with one dimension more for a threshold.
  const bpm::FitSettings exact{.soft_boundary = bpm::SoftBoundary::hard(), .bias = 0};
  std::cout << "bounces    error bar, rad   true error\n";
  Eigen::Vector3d found;
  for (const unsigned bounces : {1'000U, 10'000U, 100'000U, 1'000'000U}) {
    const bpm::BayesPointMachine machine(bpm::Linear{}, bpm::Billiard{.bounces = bounces}, exact);
    const auto fitted = machine.fit(inputs, labels);
    // The outputs at the unit vectors are the classifier's coordinates.
    found = fitted.decision_values(bpm::RowMatrix<double>::Identity(3, 3));
    std::cout << std::setw(7) << bounces << std::setw(17) << std::setprecision(2)
              << fitted.report().chains->standard_error << std::setw(13) << angle(found, centre)
              << '\n';
  }

  // A support vector machine takes the point of the triangle that is farthest from the sides.
  const Eigen::Vector3d svm = normals.partialPivLu().solve(Eigen::Vector3d::Ones());
  std::cout << "\nThe largest margin is " << angle(svm, centre)
            << " rad from the centre. Instead of bounces, ask for an error:\n";
  const auto fitted = bpm::BayesPointMachine(bpm::Linear{}, bpm::Billiard{.accuracy = 0.001}, exact)
                          .fit(inputs, labels);
  found = fitted.decision_values(bpm::RowMatrix<double>::Identity(3, 3));
  std::cout << fitted.report().chains->steps << " bounces, error bar "
            << fitted.report().chains->standard_error << ", true error " << angle(found, centre)
            << '\n';
}
