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

#include "bpm/core/errors.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/chains/largest_margin.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Start of the chains.
struct ChainStart {
  std::vector<double> position;  ///< Coordinates of norm 1; empty: none was found.
  std::string reason;            ///< Why none was found.
  std::uint64_t mistakes = 0;    ///< Mistakes of the perceptron that searched it.
};

/// Finds a solution of norm 1 by a perceptron in coordinates: passes in one random order of the
/// points until one makes no mistake. Empty after `passes` passes. Cost: m r a pass, r a mistake.
[[nodiscard]] inline std::vector<double> find_by_perceptron(const Cone& cone, RandomEngine& engine,
                                                            std::int64_t passes,
                                                            std::uint64_t& mistakes) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(cone.points()));
  random_permutation(std::span<std::int64_t>(order), engine);
  std::vector<double> x(static_cast<std::size_t>(cone.stride()), 0.0);
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
      scale_to_unit(x.data(), cone.stride());
      return x;
    }
  }
  return {};
}

/// Finds the start that the plan requests: the caller's, a perceptron's, or that of the largest
/// margin, which is also the fallback of the perceptron. \throws std::invalid_argument on a
/// caller's start of wrong size, zero or, unless allowed, outside; and unless outside is allowed,
/// on a point with k(x, x) + lambda = 0.
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
    RandomEngine engine(seed, 0);
    const std::int64_t passes = std::max<std::int64_t>(1000, 5'000'000 / cone.points());
    start.position = find_by_perceptron(cone, engine, passes, start.mistakes);
    if (!start.position.empty()) return start;
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
    start.position[0] = 1;  // With noise, and no direction is better than another.
  }
  return start;
}

/// Finds the start of a chain after the first: a perceptron's solution of its own, so that chains
/// begin apart and their agreement means something. Returns `start` if the caller chose it, with
/// label noise, where version space may be empty, and if 100 passes (20 000 visits on small sets)
/// find no solution. Cost: at most so many passes, m r each.
[[nodiscard]] inline std::vector<double> chain_start(const Cone& cone, const ConePlan& plan,
                                                     std::span<const double> start,
                                                     RandomEngine& engine) {
  std::vector<double> own;
  if (plan.start_coefficients.empty() && !plan.may_be_outside) {
    std::uint64_t mistakes = 0;
    own = find_by_perceptron(cone, engine, std::max<std::int64_t>(100, 20'000 / cone.points()),
                             mistakes);
  }
  const bool inside = !own.empty() && cone.smallest_output(own).first > 0;
  return inside ? own : std::vector<double>(start.begin(), start.end());
}

}}}  // namespace bpm::detail
