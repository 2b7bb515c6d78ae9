// SPDX-License-Identifier: MIT
#pragma once

#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/gaussian_process/selection/grid_search.hpp"

/// \file
/// Opt-in: needs NLopt (target bpm::nlopt).

namespace bpm { inline namespace BPM_TARGET {

/// Region, method and limits of `nlopt_search`.
struct NloptSettings {
  std::vector<double> lower;  ///< Lower bounds of the parameters, all finite.
  std::vector<double> upper;  ///< Upper bounds, finite and above the lower ones.
  /// BOBYQA builds a quadratic model and needs the fewest evaluations on smooth scores; Nelder and
  /// Mead's simplex or Subplex are hardier on rough ones.
  enum class Method {
    bobyqa,                             ///< A quadratic model (M. Powell, 2009).
    nelder_mead,                        ///< A simplex (J. Nelder, R. Mead, 1965).
    subplex                             ///< Simplices in subspaces (T. Rowan, 1990).
  } method = Method::bobyqa;            ///< Method of this search.
  double tolerance = 1e-3;              ///< Absolute tolerance of every parameter.
  std::uint64_t max_evaluations = 100;  ///< Most evaluations of the score, at least 1.
};

/// Searches for the parameters in a box that make `score(parameters)` largest, without derivatives,
/// from `start`, by NLopt. Kernel parameters are best given as logarithms. A score of -infinity or
/// NaN marks an infeasible point; the start must be feasible.
/// \throws std::invalid_argument on sizes that disagree, bounds that are not finite or not in
///         order, a start outside them or without a score, tolerance <= 0, max_evaluations < 1;
///         what `score` throws.
template <std::invocable<const std::vector<double>&> Score>
[[nodiscard]] SearchResult nlopt_search(Score&& score, const std::vector<double>& start,
                                        const NloptSettings& settings) {
  const char* const f = "nlopt_search";
  detail::check(!start.empty(), f, "start", "is empty, expected one number per parameter");
  detail::check_size(f, "lower", settings.lower.size(), start.size(), "one per parameter");
  detail::check_size(f, "upper", settings.upper.size(), start.size(), "one per parameter");
  for (std::size_t k = 0; k < start.size(); ++k) {
    const double low = settings.lower[k];
    const double high = settings.upper[k];
    detail::check(std::isfinite(low) && std::isfinite(high) && low < high, f, "lower",
                  "and upper of parameter ", k, " are ", low, " and ", high,
                  ", must be finite and in order");
    detail::check(start[k] >= low && start[k] <= high, f, "start", "of parameter ", k, " is ",
                  start[k], ", must lie in [", low, ", ", high, "]");
  }
  detail::check(settings.tolerance > 0, f, "tolerance", "is ", settings.tolerance,
                ", must be positive");
  detail::check_at_least(f, "max_evaluations", settings.max_evaluations, 1);

  using Method = NloptSettings::Method;
  const Method method = settings.method;
  detail::check(
      method == Method::bobyqa || method == Method::nelder_mead || method == Method::subplex, f,
      "method", "is ", static_cast<int>(method), ", must be bobyqa, nelder_mead or subplex");
  const nlopt_algorithm algorithm = method == Method::bobyqa        ? NLOPT_LN_BOBYQA
                                    : method == Method::nelder_mead ? NLOPT_LN_NELDERMEAD
                                                                    : NLOPT_LN_SBPLX;
  const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> handle(
      nlopt_create(algorithm, static_cast<unsigned>(start.size())), &nlopt_destroy);
  if (handle == nullptr) {
    throw std::bad_alloc();
  }
  SearchResult result;
  // The penalty of infeasible points scales with finite scores, so the start must have one.
  const double first = result.add(start, score);
  detail::check(std::isfinite(first), f, "start", "has the score ", first,
                ", must be a point that works");
  struct Call {
    std::remove_reference_t<Score>& score;
    SearchResult& result;
    nlopt_opt handle;
    double worst;  ///< Least value so far, the base of the penalty of infeasible points.
    std::exception_ptr error{};
  } call{score, result, handle.get(), first};
  const auto called = [](unsigned count, const double* at, double* /*gradient*/, void* data) {
    auto& [scored, found, search, worst, error] = *static_cast<Call*>(data);
    // No exception may pass through a C library.
    try {
      const std::vector<double> point(at, at + count);
      // Every method evaluates the start first, whose score is known.
      if (found.points.size() == 1 && point == found.points.front()) {
        return found.value;
      }
      const double got = found.add(point, scored);
      if (std::isfinite(got)) {
        worst = std::min(worst, got);
        return got;
      }
      // Interpolating methods need finite values: one below all values so far.
      return worst - 10 * (1 + std::abs(worst));
    } catch (...) {
      error = std::current_exception();
      nlopt_force_stop(search);
      return 0.0;
    }
  };
  nlopt_set_max_objective(handle.get(), called, &call);
  nlopt_set_lower_bounds(handle.get(), settings.lower.data());
  nlopt_set_upper_bounds(handle.get(), settings.upper.data());
  nlopt_set_xtol_abs1(handle.get(), settings.tolerance);
  nlopt_set_maxeval(handle.get(), static_cast<int>(std::min<std::uint64_t>(settings.max_evaluations,
                                                                           1'000'000'000)));
  std::vector<double> x = start;
  double value = 0;
  const nlopt_result code = nlopt_optimize(handle.get(), x.data(), &value);
  if (call.error) {
    std::rethrow_exception(call.error);
  }
  // Rounding can end a search at its optimum; its result stands.
  result.converged = code > 0 ? code != NLOPT_MAXEVAL_REACHED : code == NLOPT_ROUNDOFF_LIMITED;
  return result;
}

}}  // namespace bpm
