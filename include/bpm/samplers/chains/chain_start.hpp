// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/random/draws.hpp"
#include "bpm/core/random/engine.hpp"
#include "bpm/core/vector_ops.hpp"
#include "bpm/samplers/chains/largest_margin.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm::detail {

/// Where chains start.
struct ChainStart {
  std::vector<double> position;  ///< Coordinates of norm 1; empty: none was found.
  std::string reason;            ///< Why none was found.
  std::uint64_t mistakes = 0;    ///< What the perceptron did for it.
};

/// A perceptron in coordinates, on one random order of the points, repeated until a pass makes no
/// mistake. Empty after 1000 passes, or 5e6 visits on small sets. Cost: m r a pass, r a mistake.
[[nodiscard]] inline std::vector<double> find_by_perceptron(const Cone& cone, RandomEngine engine,
                                                            std::uint64_t& mistakes) {
  const std::ptrdiff_t m = cone.points();
  std::vector<std::int64_t> order(static_cast<std::size_t>(m));
  random_permutation(std::span<std::int64_t>(order), engine);
  std::vector<double> x(static_cast<std::size_t>(cone.stride()), 0.0);
  const std::int64_t passes = std::max<std::int64_t>(1000, 5'000'000 / m);
  for (std::int64_t pass = 0; pass < passes; ++pass) {
    bool consistent = true;
    for (const std::int64_t i : order) {
      if (dot(x.data(), cone.row(i), cone.stride()) <= 0) {
        add_scaled(x.data(), 1.0, cone.row(i), cone.stride());
        consistent = false;
        ++mistakes;
      }
    }
    if (consistent) {
      return x;
    }
  }
  return {};
}

/// The start that the plan asks for: the caller's, a perceptron's, or the largest margin's, which
/// also serves where the perceptron finds none.
/// \throws std::invalid_argument on a caller's start of the wrong size or, unless it may be,
/// outside.
[[nodiscard]] inline ChainStart find_start(const Cone& cone, const ConePlan& plan,
                                           std::uint64_t seed) {
  const std::string_view function = plan.name;
  ChainStart start;
  for (std::ptrdiff_t i = 0; !plan.may_be_outside && i < cone.points(); ++i) {
    check(
        cone.row_norm(i) > 0, function, "space", "has k(x, x) + lambda = 0 at point ", i,
        ", so no classifier gives it a sign; add a bias to the kernel, a soft boundary lambda > 0, "
        "or label noise");
  }
  if (!plan.start_coefficients.empty()) {
    check_size(function, "start_coefficients", plan.start_coefficients.size(), cone.points(),
               "one per training point");
    start.position = cone.coordinates(plan.start_coefficients);
    check(scale_to_unit(start.position.data(), cone.stride()) > 0, function, "start_coefficients",
          "are the zero classifier, must have a direction");
    const auto [margin, where] = cone.smallest_output(start.position);
    check(plan.may_be_outside || margin > 0, function, "start_coefficients",
          "lie outside version space: at norm 1 the signed output at point ", where, " is ", margin,
          ", must be positive; start inside, or allow label noise");
    return start;
  }
  if (plan.start == ConePlan::Start::perceptron) {
    start.position = find_by_perceptron(cone, RandomEngine(seed, 0), start.mistakes);
    if (!start.position.empty()) {
      scale_to_unit(start.position.data(), cone.stride());
      return start;
    }
  }
  LargestMargin found = LargestMargin::find(cone);
  start.position = std::move(found.position);
  if (!(found.margin > 0) && !plan.may_be_outside) {
    start.position.clear();
    start.reason =
        join("a search for the largest margin ended after ", found.steps,
             " steps with a smallest signed output of ", found.margin,
             " at norm 1, and no margin can be above ", found.upper_bound, " (rank ", cone.rank(),
             " of ", cone.points(), " points, ", cone.residual(),
             " of a kernel value left out); a soft boundary lambda > 0, or label noise q > 0 "
             "in KernelGibbs, admits training errors; kernel values in double or a smaller "
             "factor_tolerance tell thin version spaces from empty ones");
  } else if (dot(start.position.data(), start.position.data(), cone.stride()) <= 0) {
    start.position[0] = 1;  // Noise, and no direction is better than another.
  }
  return start;
}

}  // namespace bpm::detail
