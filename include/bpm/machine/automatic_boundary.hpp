// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/random/draws.hpp"
#include "bpm/core/random/engine.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/machine/boundary_choice.hpp"
#include "bpm/machine/candidates.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/out_of_fold.hpp"
#include "bpm/machine/precomputed_kernel.hpp"
#include "bpm/samplers/sampler.hpp"

namespace bpm::detail {

/// At most some `most` points, ascending: of every class its share, and ten at least where it has
/// them.
[[nodiscard]] inline std::vector<PointIndex> stratified_part(std::span<const int> labels,
                                                             std::size_t most, std::uint64_t seed) {
  std::vector<PointIndex> order(labels.size());
  RandomEngine engine(seed, ~std::uint64_t{1});
  random_permutation(std::span(order), engine);
  std::stable_sort(order.begin(), order.end(),
                   [&](PointIndex a, PointIndex b) { return labels[a] < labels[b]; });
  std::vector<PointIndex> part;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && labels[order[end]] == labels[order[begin]]) ++end;
    const std::size_t count = end - begin;
    const std::size_t share = labels.size() <= most ? count : count * most / labels.size();
    const auto taken =
        static_cast<std::ptrdiff_t>(std::min(count, std::max<std::size_t>(10, share)));
    part.insert(part.end(), order.begin() + static_cast<std::ptrdiff_t>(begin),
                order.begin() + static_cast<std::ptrdiff_t>(begin) + taken);
  }
  std::sort(part.begin(), part.end());
  return part;
}

/// lambda over k(x, x) by the smallest out-of-fold log loss on a part of the points, as `choose`
/// does for one kernel: five folds, five draws each, 3 000 points, or 500 for samplers that see a
/// cone, whose cost grows with their cube.
/// \throws BudgetTooSmall unless the memory holds the part's kernel values, Stopped.
template <class Kernel, class Sampler, class I>
[[nodiscard]] BoundaryChoice choose_boundary(const Kernel& kernel, const Sampler& sampler,
                                             const FitSettings& settings, const I& inputs,
                                             const std::vector<int>& classes,
                                             std::span<const int> labels, const RunControl& control,
                                             std::string_view function) {
  const std::vector<PointIndex> part =
      stratified_part(labels, sees_cones<Sampler> ? 500 : 3000, settings.seed);
  std::vector<int> of_part;
  for (const PointIndex i : part) of_part.push_back(labels[i]);
  BoundaryChoice choice{.points = part.size()};
  for (const double lambda : default_relative_lambdas) {
    choice.candidates.push_back({.relative_lambda = lambda});
  }
  std::size_t left_out = 0;
  for (const int label : classes) {
    const auto count = static_cast<std::size_t>(std::count(of_part.begin(), of_part.end(), label));
    if (count > 1) left_out += count;
  }
  if (left_out < 2) return choice;  // Nothing to judge by: hard, and softer where that fails.
  const double needed = 16.0 * static_cast<double>(part.size() * part.size());
  ensure<BudgetTooSmall>(needed <= static_cast<double>(settings.memory), function, ": memory is ",
                         settings.memory, " bytes, choosing the soft boundary needs ", needed,
                         "; raise memory or give a soft boundary");
  const auto values = kernel_values_of(kernel, inputs, part, control.threads);
  bool stopped = false;
  const RunControl watched{[&](Progress progress) {
                             progress.stage = "choosing the soft boundary";
                             const bool go_on = control.go_on(progress);
                             stopped = stopped || !go_on;
                             return go_on;
                           },
                           control.stop, control.threads};
  const OutOfFold folds = empty_out_of_fold(
      of_part, classes,
      Folds::stratified(of_part, std::min<std::size_t>(5, left_out), settings.seed));
  try_lambdas<kernel_scalar_t<I>>(values, folds, of_part, to_try(sampler, 5), settings.seed,
                                  watched, choice.candidates);
  ensure<Stopped>(!stopped && !control.stop.stop_requested(), function,
                  ": stopped while choosing the soft boundary");
  if (const auto best = best_candidate(choice.candidates)) {
    choice.relative_lambda = choice.candidates[*best].relative_lambda;
  } else {
    choice.relative_lambda = choice.candidates.back().relative_lambda;
  }
  return choice;
}

/// The next larger lambda of the grid, beyond its end twice as much.
inline void raise_lambda(BoundaryChoice& choice) {
  const auto& grid = default_relative_lambdas;
  const auto larger = std::upper_bound(grid.begin(), grid.end(), choice.relative_lambda);
  choice.relative_lambda = larger == grid.end() ? 2 * choice.relative_lambda : *larger;
  ++choice.raised;
}

}  // namespace bpm::detail
