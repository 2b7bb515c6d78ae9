// SPDX-License-Identifier: MIT
// Geometry on the sphere, against closed forms.
#include "decision_boundary/sphere.hpp"

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "catch.hpp"

using namespace bpm_examples;

TEST_CASE("decision_boundary: the version space is what its inputs say", "[examples]") {
  const SphereProblem problem = make_sphere_problem();
  REQUIRE(problem.inputs.size() == problem.labels.size());
  REQUIRE(problem.edge_of.size() == problem.corners.size());
  REQUIRE(problem.inputs.size() <= 8);
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    CHECK(std::abs(problem.inputs[i].norm() - 1) <= 1e-15);
    for (const Direction& corner : problem.corners) {
      CHECK(problem.labels[i] * problem.inputs[i].dot(corner) >= -1e-15);
    }
  }
  // A corner lies on its two edges and inside everything else.
  for (std::size_t c = 0; c < problem.corners.size(); ++c) {
    int touching = 0;
    for (const Direction& input : problem.inputs) {
      touching += std::abs(input.dot(problem.corners[c])) < 1e-9 ? 1 : 0;
    }
    CHECK(touching == 2);
    const Direction& next = problem.corners[(c + 1) % problem.corners.size()];
    CHECK(std::abs(problem.inputs[problem.edge_of[c]].dot(next)) <= 1e-15);
  }
}

TEST_CASE("decision_boundary: centres of spherical polygons", "[examples]") {
  const Direction x = Direction::UnitX();
  const Direction y = Direction::UnitY();
  const Direction z = Direction::UnitZ();
  CHECK((polygon_centre({x, y, z}) - Direction::Ones() / std::sqrt(3.0)).norm() <= 1e-15);
  // A square around the pole, and the same cut in two: mirror images.
  const std::vector<Direction> square{seen_at(0.5, 0), seen_at(0, 0.5), seen_at(-0.5, 0),
                                      seen_at(0, -0.5)};
  CHECK((polygon_centre(square) - z).norm() <= 1e-15);
  const Direction left = polygon_centre({square[0], square[1], square[3]});
  const Direction right = polygon_centre({square[2], square[3], square[1]});
  CHECK((left - Direction(-right.x(), right.y(), right.z())).norm() <= 1e-15);
  // Against the mean of points on a fine grid of the version space that is drawn.
  const SphereProblem problem = make_sphere_problem();
  Direction sum = Direction::Zero();
  constexpr int steps = 400;
  for (int i = -steps; i <= steps; ++i) {
    for (int j = -steps; j <= steps; ++j) {
      const double u = static_cast<double>(i) / steps;
      const double v = static_cast<double>(j) / steps;
      if (u * u + v * v >= 0.999) continue;
      const Direction w = seen_at(u, v);
      bool inside = true;
      for (std::size_t k = 0; k < problem.inputs.size(); ++k) {
        inside = inside && problem.labels[k] * problem.inputs[k].dot(w) > 0;
      }
      if (inside) sum += w / w.z();  // The area behind a cell of the picture.
    }
  }
  CHECK(angle_between(sum, polygon_centre(problem.corners)) <= 1e-3);
}

TEST_CASE("decision_boundary: arcs and circles", "[examples]") {
  const Direction x = Direction::UnitX();
  const Direction y = Direction::UnitY();
  CHECK(std::abs(angle_between(x, y) - std::numbers::pi / 2) <= 1e-15);
  CHECK(std::abs(angle_between(x, 3 * (x + 1e-9 * y)) - 1e-9) <= 1e-20);
  const auto arc = great_arc(x, y, 0.1);
  REQUIRE(arc.size() == 17);
  CHECK((arc.front() - x).norm() <= 1e-15);
  CHECK((arc.back() - y).norm() <= 1e-15);
  for (std::size_t k = 0; k < arc.size(); ++k) {
    const double t = std::numbers::pi / 2 * static_cast<double>(k) / 16;
    CHECK((arc[k] - Direction(std::cos(t), std::sin(t), 0)).norm() <= 1e-15);
  }
  const Direction centre = Direction(1, 2, 2) / 3;
  const auto circle = circle_on_sphere(centre, 0.3);
  CHECK((circle.front() - circle.back()).norm() <= 1e-15);
  for (const Direction& point : circle) {
    CHECK(std::abs(angle_between(point, centre) - 0.3) <= 1e-14);
    CHECK(std::abs(point.norm() - 1) <= 1e-14);
  }
}
