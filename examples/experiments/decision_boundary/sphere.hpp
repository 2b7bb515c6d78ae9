// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

/// \file
/// Version spaces in three dimensions: convex polygons of great circles on the unit sphere.

namespace bpm_examples {

using Direction = Eigen::Vector3d;

/// A training set of the linear kernel in three dimensions, inputs of norm 1.
struct SphereProblem {
  std::vector<Direction> inputs;
  std::vector<int> labels;           ///< 1 or -1.
  std::vector<Direction> corners;    ///< Of version space, in order; edge e joins e and e + 1.
  std::vector<std::size_t> edge_of;  ///< The input whose plane makes edge e.
};

/// The point of the sphere that is seen at (x, y) from far out on the third axis.
[[nodiscard]] inline Direction seen_at(double x, double y) {
  return {x, y, std::sqrt(std::max(0.0, 1 - x * x - y * y))};
}

/// A version space with a blunt and a sharp end: six inputs make its edges, two more cut nothing.
[[nodiscard]] inline SphereProblem make_sphere_problem() {
  SphereProblem problem;
  constexpr std::array<std::array<double, 2>, 6> outline{
      {{-0.64, -0.02}, {-0.46, -0.46}, {-0.02, -0.55}, {0.86, 0.10}, {-0.10, 0.52}, {-0.48, 0.42}}};
  for (const auto& [x, y] : outline) problem.corners.push_back(seen_at(x, y));
  const auto add = [&problem](const Direction& inward) {
    const int label = problem.inputs.size() % 2 == 0 ? 1 : -1;
    problem.inputs.emplace_back(label * inward.normalized());
    problem.labels.push_back(label);
  };
  for (std::size_t e = 0; e < outline.size(); ++e) {
    problem.edge_of.push_back(problem.inputs.size());
    // Corners turn left, so the inside is on the left of each edge.
    add(problem.corners[e].cross(problem.corners[(e + 1) % outline.size()]));
  }
  add(Direction(0.15, -0.93, 0.75));
  add(Direction(0.35, 0.80, 0.75));
  return problem;
}

/// The angle between two directions of any norm, exact for small ones too.
[[nodiscard]] inline double angle_between(const Direction& a, const Direction& b) {
  return std::atan2(a.cross(b).norm(), a.dot(b));
}

/// The centre of mass of a convex spherical polygon with corners in order, projected to the sphere:
/// half the sum of the edges' lengths times their inward normals, by Stokes' theorem.
[[nodiscard]] inline Direction polygon_centre(const std::vector<Direction>& corners) {
  Direction sum = Direction::Zero();
  for (std::size_t e = 0; e < corners.size(); ++e) {
    const Direction& from = corners[e];
    const Direction& to = corners[(e + 1) % corners.size()];
    sum += angle_between(from, to) * from.cross(to).normalized();
  }
  return sum.normalized();
}

/// Points of the great circle from `from` to `to`, the short way, ends included, a step at most
/// `step` rad.
[[nodiscard]] inline std::vector<Direction> great_arc(const Direction& from, const Direction& to,
                                                      double step = 0.03) {
  const double angle = angle_between(from, to);
  const int steps = std::max(1, static_cast<int>(std::ceil(angle / step)));
  const Direction across = from.cross(to).cross(from).normalized();
  std::vector<Direction> arc;
  for (int k = 0; k < steps; ++k) {
    const double t = angle * k / steps;
    arc.emplace_back(from * std::cos(t) + across * std::sin(t));
  }
  arc.push_back(to);
  return arc;
}

/// Points of the circle of angular radius `radius` around a centre, closed; pi / 2: a great circle.
[[nodiscard]] inline std::vector<Direction> circle_on_sphere(const Direction& centre,
                                                             double radius) {
  const Direction a = centre.unitOrthogonal();
  const Direction b = centre.cross(a);
  constexpr int steps = 180;
  std::vector<Direction> circle;
  for (int k = 0; k <= steps; ++k) {
    const double t = 2 * std::numbers::pi * k / steps;
    circle.emplace_back(std::cos(radius) * centre +
                        std::sin(radius) * (std::cos(t) * a + std::sin(t) * b));
  }
  return circle;
}

}  // namespace bpm_examples
