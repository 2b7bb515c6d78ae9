// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/lanes.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"
#include "bpm/gaussian_process/expectation_propagation/expectation_propagation.hpp"
#include "bpm/machine/automatic_boundary.hpp"
#include "bpm/machine/boundary_choice.hpp"
#include "bpm/machine/candidates.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/out_of_fold.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/cone.hpp"
#include "bpm/version_space/kernel_version_space.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// What `forecast_memory` asks of a method.
struct EpDemand {
  double noise_deviation = 0;
  static constexpr SamplerTraits traits{.sees = SamplerTraits::Sees::cone};
  [[nodiscard]] MemoryNeed memory_need(const RunSize& run) const {
    const auto m = static_cast<std::size_t>(padded<double>(run.points));
    // Rows, covariance, factor and its inverse, with a block's panels; the factor and its copy
    // while the cone is made are fewer. Of each problem two factors and some vectors stay.
    return {.bytes = sizeof(double) * m * (4 * m + 512 + run.problems * (2 * m + 16))};
  }
};

/// Without noise a lambda is wanted.
[[nodiscard]] inline bool chooses_boundary(const EpDemand& demand, const FitSettings& settings) {
  return settings.soft_boundary.is_automatic() && demand.noise_deviation == 0;
}

/// lambda over k(x, x) by the largest evidence of a part of the points, summed over the binary
/// subproblems. A candidate's loss is minus that, a point.
/// Memory: `bytes_to_choose`, and of the method. \throws Stopped.
template <class Kernel, class I>
[[nodiscard]] BoundaryChoice choose_boundary_by_evidence(
    const Kernel& kernel, const ExpectationPropagation& method, const FitSettings& settings,
    const I& inputs, const std::vector<int>& classes, std::span<const int> labels,
    const RunControl& control, std::string_view function) {
  const ChoicePart part(labels, classes, points_to_choose_on<EpDemand>, settings.seed);
  BoundaryChoice choice{.points = part.points.size()};
  const auto values = kernel_values_of(kernel, inputs, part.points, control.threads);
  using Gram = std::remove_cvref_t<decltype(values)>;
  bool stopped = false;
  const auto go_on = [&](double fraction) {
    stopped =
        stopped || !control.go_on({.stage = "choosing the soft boundary", .fraction = fraction});
    return !stopped;
  };
  for (const double lambda : default_relative_lambdas) {
    const double done = static_cast<double>(choice.candidates.size()) /
                        static_cast<double>(default_relative_lambdas.size());
    ChoiceCandidate& candidate = choice.candidates.emplace_back();
    candidate.relative_lambda = lambda;
    Subproblems problems(classes, part.labels);
    problems.resolve_lambda(values, settings.soft_boundary.with_factor(lambda), part.labels);
    double evidence = 0;
    candidate.consistent = true;
    for (std::size_t p = 0; p < problems.size() && candidate.consistent; ++p) {
      const KernelVersionSpace<typename Gram::Scalar> space(values, problems.signs[p],
                                                            problems.lambda[p]);
      const EpOutcome outcome =
          run_expectation_propagation(Cone(space, method.factor_tolerance), method,
                                      [&](std::uint64_t, double) { return go_on(done); });
      candidate.consistent = outcome.posterior.has_value();
      if (outcome.posterior) evidence += outcome.posterior->log_evidence;
    }
    ensure<Stopped>(!stopped, function, ": stopped while choosing the soft boundary");
    if (candidate.consistent) candidate.loss = -evidence / static_cast<double>(part.points.size());
  }
  const auto best = best_candidate(choice.candidates);
  choice.relative_lambda =
      best ? choice.candidates[*best].relative_lambda : default_relative_lambdas.back();
  return choice;
}

}}}  // namespace bpm::detail
