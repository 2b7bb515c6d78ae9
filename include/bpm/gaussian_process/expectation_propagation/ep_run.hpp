// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/gaussian_process/expectation_propagation/ep_iteration.hpp"
#include "bpm/gaussian_process/expectation_propagation/ep_posterior.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm::detail {

/// How expectation propagation ended.
struct EpOutcome {
  EpPosterior posterior{};  ///< Where converged.
  bool converged = false;
  bool stopped = false;
  bool not_separable = false;  ///< A step likelihood of an output that is always 0.
  std::uint64_t sweeps = 0;
  std::string reason{};  ///< Why not, where neither converged nor stopped.
};

/// What the posterior takes from the cone and the iteration.
[[nodiscard]] inline EpPosterior make_posterior(const Cone& cone, EpIteration& iteration) {
  EpPosterior result;
  iteration.evaluate(result.outputs, result.variances);
  result.log_evidence = iteration.log_evidence();
  std::vector<double> x(static_cast<std::size_t>(cone.stride()), 0.0);
  std::copy_n(iteration.mean().data(), cone.rank(), x.begin());
  result.coefficients.assign(static_cast<std::size_t>(cone.points()), 0.0);
  cone.add_dual_coefficients(x.data(), 1.0, result.coefficients.data());
  x.resize(static_cast<std::size_t>(cone.rank()));
  result.mean = std::move(x);
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

/// Damping is not halved below this.
inline constexpr double smallest_damping = 1.0 / 16;

/// Sweeps until converged; `go_on(sweeps, change)` is asked before each. Does not throw.
template <class Settings, class GoOn>
[[nodiscard]] EpOutcome run_expectation_propagation(const Cone& cone, const Settings& settings,
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
  std::uint64_t& sweep = outcome.sweeps;
  const auto so_far = [&] {
    return join("after ", sweep, " sweeps with damping ", damping,
                ", where a site still changes by ", std::max(iteration.change(), last_change),
                " and the tolerance is ", settings.tolerance);
  };
  while (sweep < settings.max_sweeps) {
    if (!go_on(sweep, change)) {
      outcome.stopped = true;
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
      outcome.posterior = make_posterior(cone, iteration);
      outcome.posterior.noise_deviation = settings.noise_deviation;
      outcome.posterior.sweeps = sweep;
      outcome.posterior.change = change;
      outcome.posterior.damping = damping;
      outcome.converged = true;
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

}  // namespace bpm::detail
