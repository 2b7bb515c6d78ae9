// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/lanes.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"
#include "bpm/gaussian_process/expectation_propagation/ep_iteration.hpp"
#include "bpm/gaussian_process/expectation_propagation/ep_posterior.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "bpm/selection/candidates.hpp"
#include "bpm/selection/out_of_fold.hpp"
#include "bpm/version_space/cone.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// Settings of expectation propagation for Gaussian process classification: for the function
/// `expectation_propagation` and, in place of a sampler, for machines that find their Bayes point
/// with it (expectation_propagation/machine.hpp).
///
///     const bpm::BayesPointMachine machine(bpm::Gaussian::from_sigma(1.0),
///                                          bpm::ExpectationPropagation{});
///     const auto classifier = machine.fit(inputs, labels);
///     classifier.predict_probability(others);   // P(positive class)
///     classifier.log_evidence();                // to choose a kernel by
///
/// It is deterministic and fast; samplers are unbiased and slow. Its centre of mass was 0.0126,
/// 0.0201, 0.0004 and 0.0108 rad off on the four cones of a benchmark.
///
/// The direction of the posterior mean is in version space whenever the iteration has converged
/// without noise. Draws from the Gaussian posterior would not all be, so the library offers none;
/// probabilities come in closed form instead.
///
/// Cost: the kernel matrix, m r^2 for the factor; then about 2 m r^2 + r^3 / 2 multiply-adds a
/// sweep, on one thread. Memory: 2 m r + 3 r^2 doubles, of which 2 r^2 stay with the model.
struct ExpectationPropagation {
  /// Deviation of the likelihood's noise, in units of the outputs. 0: the step 1[d > 0]; else the
  /// probit Phi(d / noise_deviation), the probability that d plus a normal number of this standard
  /// deviation is positive. On K it equals the step on K + diag(noise_deviation^2), a soft boundary
  /// with lambda = noise_deviation^2.
  double noise_deviation = 0;
  /// Converged when in a sweep no site changes by more, nor the log evidence: precisions relative
  /// to the posterior precision of the point's output, shifts to its root, the evidence to 1 + its
  /// size. The log evidence is then right to about the square of the tolerance.
  double tolerance = 1e-4;
  std::uint64_t max_sweeps = 100;  ///< Most passes over all sites, at least 1.
  double damping = 1;  ///< Part of a site's change that is made, in (0, 1]; halved on divergence.
  double factor_tolerance = 0;  ///< Tolerance of `Cone`, where the method makes the cone.

  /// \throws std::invalid_argument on settings out of range.
  void check_settings() const {
    const char* const f = "ExpectationPropagation";
    detail::check(std::isfinite(noise_deviation) && noise_deviation >= 0 && noise_deviation < 1e100,
                  f, "noise_deviation", "is ", noise_deviation,
                  ", must be at least 0 and below 1e100");
    detail::check_delta(f, "tolerance", tolerance);
    detail::check_at_least(f, "max_sweeps", max_sweeps, 1);
    detail::check(damping > 0 && damping <= 1, f, "damping", "is ", damping,
                  ", must be above 0 and at most 1");
    detail::check(factor_tolerance >= 0 && factor_tolerance < 1, f, "factor_tolerance", "is ",
                  factor_tolerance, ", must be at least 0 and below 1");
  }
};

namespace detail {

/// Result of a run of expectation propagation.
struct EpOutcome {
  std::optional<EpPosterior> posterior{};  ///< Set where the sites converged.
  bool not_separable = false;              ///< Step likelihood, and an output is always 0.
  std::string reason{};                    ///< Cause of failure; empty if converged or stopped.
};

/// Copies the results of the cone and the iteration to a posterior.
[[nodiscard]] inline EpPosterior make_posterior(const Cone& cone, EpIteration& iteration) {
  EpPosterior result;
  Eigen::VectorXd means;
  Eigen::VectorXd variances;
  iteration.evaluate(means, variances);
  result.outputs.assign(means.begin(), means.end());
  result.variances.assign(variances.begin(), variances.end());
  result.log_evidence = iteration.log_evidence();
  result.mean.assign(iteration.mean().begin(), iteration.mean().end());
  result.mean.resize(static_cast<std::size_t>(cone.stride()), 0.0);  // Padded for the cone.
  result.coefficients.assign(static_cast<std::size_t>(cone.points()), 0.0);
  cone.add_dual_coefficients(result.mean.data(), 1.0, result.coefficients.data());
  result.mean.resize(static_cast<std::size_t>(cone.rank()));
  for (std::ptrdiff_t i = 0; i < cone.points(); ++i) {
    result.site_precision.push_back(iteration.site(i).precision);
    result.site_shift.push_back(iteration.site(i).shift);
    result.signs.push_back(static_cast<signed char>(cone.label(i)));
  }
  result.pivots.assign(cone.pivots().begin(), cone.pivots().end());
  result.precision_factor = iteration.factor();
  result.pivot_factor.setZero(cone.rank(), cone.rank());
  for (std::ptrdiff_t a = 0; a < cone.rank(); ++a) {
    const PointIndex point = result.pivots[a];
    for (std::ptrdiff_t k = 0; k <= a; ++k) {
      result.pivot_factor(a, k) = cone.label(point) * cone.row(point)[k];
    }
  }
  return result;
}

/// Least damping: it is halved only while it is larger.
inline constexpr double smallest_damping = 1.0 / 16;

/// Sweeps until converged, calling `go_on(sweeps, change)` before each. Does not throw.
template <class GoOn>
[[nodiscard]] EpOutcome run_expectation_propagation(const Cone& cone,
                                                    const ExpectationPropagation& settings,
                                                    GoOn&& go_on) {
  EpOutcome outcome;
  for (std::ptrdiff_t i = 0; settings.noise_deviation == 0 && i < cone.points(); ++i) {
    if (!(cone.row_norm(i) > 0)) {
      outcome.not_separable = true;
      outcome.reason = join("point ", i,
                            " has k(x, x) + lambda = 0, so no classifier gives it a sign; set "
                            "noise_deviation > 0 or a soft boundary lambda > 0");
      return outcome;
    }
  }
  EpIteration iteration(cone, settings.noise_deviation);
  double damping = settings.damping;
  double change = 0;
  double last_change = 0;
  double last_evidence = 0;
  std::uint64_t sweep = 0;
  const auto so_far = [&] {
    return join("after ", sweep, " sweeps with damping ", damping,
                ", where a site still changes by ", std::max(iteration.change(), last_change),
                " and the tolerance is ", settings.tolerance);
  };
  while (sweep < settings.max_sweeps) {
    if (!go_on(sweep, change)) {
      return outcome;
    }
    iteration.sweep(damping);
    ++sweep;
    if (iteration.thin() >= 0) {
      outcome.reason = join("the output of point ", iteration.thin(), " has no variance left ",
                            so_far(), ": version space is empty, or thinner than can be told");
      return outcome;
    }
    if (!iteration.factorise()) {
      outcome.reason = join("the precision has no Cholesky factor ", so_far());
      return outcome;
    }
    const double evidence = iteration.log_evidence();
    const double evidence_change = std::abs(evidence - last_evidence) / (1 + std::abs(evidence));
    change = std::max(iteration.change(), evidence_change);
    if (iteration.refused() == 0 && change <= settings.tolerance) {
      EpPosterior& posterior = outcome.posterior.emplace(make_posterior(cone, iteration));
      posterior.noise_deviation = settings.noise_deviation;
      posterior.sweeps = sweep;
      posterior.change = change;
      posterior.damping = damping;
      return outcome;
    }
    const bool grows = sweep > 2 && iteration.change() > last_change;
    if ((grows || iteration.refused() > 0) && damping > smallest_damping) {
      damping /= 2;
    }
    last_change = iteration.change();
    last_evidence = evidence;
    iteration.invert();
  }
  outcome.reason = join("the sites have not converged ", so_far(),
                        settings.noise_deviation > 0 ? "" : "; version space may be empty");
  return outcome;
}

}  // namespace detail

/// Runs expectation propagation (T. Minka, UAI 2001; C. Rasmussen, C. Williams, "Gaussian Processes
/// for Machine Learning", MIT Press 2006, section 3.6) on a cone. The model is w ~ N(0, I_r), which
/// is f ~ N(0, S) on the training set; every point's likelihood is the step 1[d_i > 0] or Phi(d_i /
/// noise_deviation), d_i = <s_i, w>. It replaces each likelihood by a site exp(nu_i d_i - tau_i
/// d_i^2 / 2) such that every d_i has the mean and variance that it would have with its own
/// likelihood in place of its site, given the others.
///
/// For one point, and for points with orthogonal features, it is exact; otherwise the log evidence
/// is slightly biased: -5.746 in place of -log(301) = -5.707 for 300 points of correlation 1/2.
///
/// Cost: see `ExpectationPropagation`. The result does not depend on seeds and threads, and on the
/// order of the points only up to the tolerance.
/// \throws std::invalid_argument on settings out of range.
/// \throws NotSeparable if noise_deviation = 0 and a point has no features, so that d = 0 for every
///         w.
/// \throws NotConverged if `max_sweeps` are not enough, or an output has hardly any variance left,
///         as in an empty version space.
[[nodiscard]] inline EpPosterior expectation_propagation(
    const Cone& cone, const ExpectationPropagation& settings = {}) {
  settings.check_settings();
  detail::EpOutcome outcome = detail::run_expectation_propagation(
      cone, settings, [](std::uint64_t, double) { return true; });
  if (outcome.not_separable) {
    throw NotSeparable(detail::join("expectation_propagation: ", outcome.reason));
  }
  if (!outcome.posterior) {
    throw NotConverged(detail::join("expectation_propagation: ", outcome.reason));
  }
  return *std::move(outcome.posterior);
}

/// Runs expectation propagation on the cone of a version space.
template <VersionSpace Space>
[[nodiscard]] EpPosterior expectation_propagation(const Space& space,
                                                  const ExpectationPropagation& settings = {}) {
  settings.check_settings();
  return expectation_propagation(Cone(space, settings.factor_tolerance), settings);
}

namespace detail {

/// The memory model of expectation propagation, which `forecast_memory` reads.
struct EpDemand {
  double noise_deviation = 0;
  static constexpr SamplerTraits traits{.sees = SamplerTraits::Sees::cone};
  [[nodiscard]] MemoryNeed memory_need(const RunSize& run) const {
    const auto m = static_cast<std::size_t>(padded<double>(run.points));
    // Rows, covariance, factor and its inverse, with a block's panels; making the cone takes fewer.
    // Each problem keeps two factors and some vectors.
    return {.bytes = sizeof(double) * m * (4 * m + 512 + run.problems * (2 * m + 16))};
  }
};

/// Returns whether the fit chooses lambda: only without noise.
[[nodiscard]] inline bool chooses_boundary(const EpDemand& demand, const FitSettings& settings) {
  return settings.soft_boundary.is_automatic() && demand.noise_deviation == 0;
}

/// Chooses lambda / k(x, x) by the largest evidence of a part of the points, summed over the binary
/// subproblems. A candidate's loss is minus the log evidence per point. \throws Stopped; as
/// `checked_values`.
template <class Kernel, class I>
[[nodiscard]] BoundaryChoice choose_boundary_by_evidence(
    const AutomaticBoundary& boundary, const Kernel& kernel, const ExpectationPropagation& method,
    const FitSettings& settings, const I& inputs, const std::vector<int>& classes,
    std::span<const int> labels, const RunControl& control, std::string_view function) {
  const ChoicePart part(labels, classes,
                        BoundarySearch<AutomaticBoundary>::points<EpDemand>(boundary),
                        settings.seed);
  BoundaryChoice choice{.points = part.points.size()};
  const auto values = kernel_values_of(kernel, inputs, part.points, control.threads);
  bool stopped = false;
  const auto go_on = [&](double fraction) {
    stopped =
        stopped || !control.go_on({.stage = "choosing the soft boundary", .fraction = fraction});
    return !stopped;
  };
  const std::vector<double>& lambdas = checked_values(boundary, false, function);
  for (const double lambda : lambdas) {
    const double done =
        static_cast<double>(choice.candidates.size()) / static_cast<double>(lambdas.size());
    ChoiceCandidate& candidate = choice.candidates.emplace_back();
    candidate.relative_lambda = lambda;
    Subproblems problems(classes, part.labels);
    problems.resolve_lambda(values, settings.soft_boundary.with_factor(lambda), part.labels);
    double evidence = 0;
    candidate.consistent = true;
    for (std::size_t p = 0; p < problems.size() && candidate.consistent; ++p) {
      const KernelVersionSpace space(values, problems.signs[p], problems.lambda);
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
  choice.relative_lambda = best ? choice.candidates[*best].relative_lambda : lambdas.back();
  return choice;
}

}  // namespace detail
}}  // namespace bpm
