// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bpm/bounds/vote_bound.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/gaussian_process/expectation_propagation/expectation_propagation.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// Scores of a kernel on a training set, which need no other data.
struct KernelScore {
  KernelScore() = default;  ///< The worst score.
  /// Scores a kernel on inputs and signs (+1, -1). A kernel under which expectation propagation
  /// fails, which happens in searches, gets the worst score and a `failure`; bad arguments throw.
  /// Cost: the kernel matrix, its factor and the sweeps of expectation propagation. \throws as
  /// `OnDemandGram`, `KernelVersionSpace` and `ExpectationPropagation::check_settings`.
  template <class Kernel, InputSet I>
    requires detail::KernelOn<Kernel, I>
  KernelScore(const Kernel& kernel, const I& inputs, std::span<const signed char> signs,
              const ExpectationPropagation& settings = {}, unsigned threads = 0) {
    detail::check_inputs(inputs, "KernelScore");
    settings.check_settings();
    const detail::OnDemandGram<Kernel, I> values(kernel, inputs);
    const detail::DenseGram<detail::kernel_scalar_t<I>> gram(values, threads);
    const KernelVersionSpace<detail::kernel_scalar_t<I>> space(gram, {signs.begin(), signs.end()});
    try {
      const EpPosterior posterior = expectation_propagation(space, settings);
      const EpPosterior::LeaveOneOut left_out = posterior.leave_one_out();
      log_evidence = posterior.log_evidence;
      gibbs_error = left_out.gibbs_error;
      bayes_error = left_out.bayes_error;
      agreement = left_out.agreement;
      if (agreement > 0) c_bound = CBound(gibbs_error, agreement).value();
    } catch (const NotConverged& error) {
      failure = error.what();
    } catch (const NotSeparable& error) {
      failure = error.what();
    }
  }

  /// Evidence log P(labels) of the Gaussian process, by expectation propagation; -infinity where
  /// the kernel failed.
  double log_evidence = -std::numeric_limits<double>::infinity();
  /// The C-bound 1 - (1 - 2 e)^2 / alpha of the posterior's leave-one-out Gibbs error e and
  /// agreement alpha; 1 where it is vacuous. "Kernel interpolation as a Bayes point machine"
  /// suggests to choose by it, a bound of the majority; the evidence bounds the mean voter. An
  /// estimate, no certificate: the leave-one-out rates are those of the training set.
  double c_bound = 1;
  double gibbs_error = 0.5;  ///< Leave-one-out error of a voter.
  double bayes_error = 1;    ///< Leave-one-out error of the Bayes classifier.
  double agreement = 0;      ///< Leave-one-out agreement of two voters.
  std::string failure;       ///< Cause of failure; empty if the kernel has a score.
};

/// Returns `count` values from `low` to `high` in equal ratios.
/// \throws std::invalid_argument unless 0 < low <= high, both finite, and count >= 1.
[[nodiscard]] inline std::vector<double> geometric_values(double low, double high,
                                                          std::size_t count) {
  const char* const f = "geometric_values";
  detail::check_positive(f, "low", low);
  detail::check(high >= low && std::isfinite(high), f, "high", "is ", high,
                ", must be finite and at least ", low);
  detail::check_at_least(f, "count", count, 1);
  std::vector<double> values;
  for (std::size_t k = 0; k < count; ++k) {
    const double part = count == 1 ? 0.0 : static_cast<double>(k) / static_cast<double>(count - 1);
    values.push_back(k == 0 ? low
                     : k + 1 == count
                         ? high
                         : std::exp((1 - part) * std::log(low) + part * std::log(high)));
  }
  return values;
}

/// Result of a search for parameters.
struct SearchResult {
  std::vector<double> best;                                 ///< Parameters of the largest value.
  double value = -std::numeric_limits<double>::infinity();  ///< The largest value, at `best`.
  std::vector<std::vector<double>> points;                  ///< All evaluated parameters, in order.
  std::vector<double> values;                               ///< Values at `points`.
  bool converged = true;  ///< False where a limit of evaluations ended the search.

  /// Returns log(number of kernels), a PAC-Bayes bound's term for a kernel chosen on its own data
  /// from a grid fixed in advance. (Points that an adaptive search chose are no such grid.)
  [[nodiscard]] double log_size() const { return std::log(static_cast<double>(points.size())); }

  /// Scores a point and records it; returns its score, -infinity for a NaN.
  template <std::invocable<const std::vector<double>&> Score>
  double add(const std::vector<double>& point, Score&& score) {
    double found = std::invoke(score, point);
    if (std::isnan(found)) found = -std::numeric_limits<double>::infinity();
    points.push_back(point);
    values.push_back(found);
    if (found > value) {
      value = found;
      best = point;
    }
    return found;
  }
};

/// Returns the largest value of `score(parameters)`, the first of equal ones, over every
/// combination of the parameters' values, one list per parameter, the last one running fastest. A
/// NaN counts as -infinity.
/// \throws std::invalid_argument without parameters, if one has no value, or if no combination has
///         a score above -infinity.
template <std::invocable<const std::vector<double>&> Score>
[[nodiscard]] SearchResult grid_search(const std::vector<std::vector<double>>& values,
                                       Score&& score) {
  const char* const f = "grid_search";
  detail::check(!values.empty(), f, "values", "are empty, expected one list a parameter");
  std::vector<std::vector<double>> points{{}};
  for (std::size_t k = 0; k < values.size(); ++k) {
    detail::check(!values[k].empty(), f, "values", "of parameter ", k, " are empty");
    std::vector<std::vector<double>> longer;
    for (const auto& point : points) {
      for (const double value : values[k]) {
        longer.push_back(point);
        longer.back().push_back(value);
      }
    }
    points = std::move(longer);
  }
  SearchResult result;
  for (const auto& point : points) (void)result.add(point, score);
  detail::check(!result.best.empty(), f, "score", "is -infinity at all of ", result.points.size(),
                " points: none of them works");
  return result;
}

}}  // namespace bpm
