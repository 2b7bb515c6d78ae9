// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/random/draws.hpp"
#include "bpm/core/random/engine.hpp"
#include "bpm/kernels/gaussian.hpp"
#include "bpm/machine/out_of_fold.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"

namespace bpm {

/// What `choose` tries: every kernel with every soft boundary.
template <class Kernel>
struct ChoiceGrid {
  std::vector<Kernel> kernels;  ///< From narrow to wide: of equals the last is taken.
  /// lambda over k(x, x), ascending.
  std::vector<double> relative_lambdas{0, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3};
  std::size_t folds = 5;
  std::uint64_t draws = 5;  ///< Of each fold's machine.
};

/// A candidate and what became of it.
struct ChoiceCandidate {
  std::size_t kernel = 0;      ///< In the grid's list.
  double relative_lambda = 0;  ///< Likewise.
  /// Whether every fold's machine found a consistent classifier within the work allowed; all that
  /// follows is of those that did.
  bool consistent = false;
  double loss = std::numeric_limits<double>::infinity();  ///< Out-of-fold log loss, in nats.
  double standard_error = 0;                              ///< Of the loss.
  double slope = 0;                                       ///< Of the probabilities.
  double error = 1;                                       ///< Out-of-fold share of errors.
};

/// What `choose` found.
template <class Machine>
struct Choice {
  Machine machine;  ///< The one given, with the kernel and the soft boundary chosen.
  std::vector<ChoiceCandidate> candidates;  ///< All, in the grid's order: kernels, then lambdas.
  std::size_t best = 0;
  /// The winner's loss: smaller than what it will be on other data, since it was chosen for it. For
  /// an estimate put `choose` inside other folds (`nested`).
  double selection_score = 0;
  /// Each class whose only point always trained; see `Folds`.
  std::size_t always_train = 0;

  [[nodiscard]] const ChoiceCandidate& chosen() const { return candidates[best]; }
};

namespace detail {

/// A sampler that tries: few draws, and a perceptron that gives up early. Passes are counted, so
/// that what is chosen does not depend on the machine it runs on.
template <class Sampler>
[[nodiscard]] Sampler to_try(const Sampler& sampler, std::uint64_t draws) {
  Sampler brief = sampler.with_draws(draws);
  if constexpr (std::same_as<Sampler, PermutedPerceptron>) {
    brief.max_passes = 60;
  }
  return brief;
}

/// The same machine with another kernel and soft boundary.
template <class K, class S>
[[nodiscard]] BayesPointMachine<K, S> with_choice(const BayesPointMachine<K, S>& machine,
                                                  const K& kernel, SoftBoundary boundary) {
  FitSettings settings = machine.settings();
  settings.soft_boundary = std::move(boundary);
  return BayesPointMachine<K, S>(kernel, machine.sampler(), std::move(settings));
}
template <class K, class S>
[[nodiscard]] OneVsRest<K, S> with_choice(const OneVsRest<K, S>& machine, const K& kernel,
                                          SoftBoundary boundary) {
  return OneVsRest<K, S>(with_choice(machine.machine(), kernel, std::move(boundary)));
}

[[nodiscard]] inline SoftBoundary boundary_of(double relative_lambda) {
  return relative_lambda == 0 ? SoftBoundary() : SoftBoundary::relative(relative_lambda);
}

/// The out-of-fold scores of all lambdas for one kernel, from large to small: beyond the first that
/// is not consistent none is tried, since a smaller lambda asks for more.
template <class Scalar, class Sampler>
void try_lambdas(const Eigen::MatrixXd& values, const OutOfFold& folds, std::span<const int> labels,
                 const Sampler& sampler, std::uint64_t seed, const RunControl& control,
                 std::span<ChoiceCandidate> candidates) {
  std::vector<FoldValues<Scalar>> parts;
  for (std::size_t k = 0; k < folds.folds.count; ++k) {
    parts.emplace_back(values, folds.folds, k, labels);
  }
  for (std::size_t l = candidates.size(); l-- > 0;) {
    ChoiceCandidate& candidate = candidates[l];
    OutOfFold outputs = folds;
    candidate.consistent = true;
    for (const FoldValues<Scalar>& part : parts) {
      const auto found = outputs_of_left_out(part, sampler, boundary_of(candidate.relative_lambda),
                                             folds.classes, seed, control);
      if (!found) {
        candidate.consistent = false;
        return;
      }
      put_outputs(outputs, part.left_out, *found);
    }
    const FittedSlope slope = outputs.slope();
    candidate.loss = slope.loss;
    candidate.standard_error = slope.standard_error;
    candidate.slope = slope.slope;
    candidate.error = outputs.error();
  }
}

/// Of losses that are equal to a tenth of their standard error the larger lambda, then the later
/// kernel. Empty where no candidate is consistent.
[[nodiscard]] inline std::optional<std::size_t> best_candidate(
    std::span<const ChoiceCandidate> candidates) {
  std::optional<std::size_t> least;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].consistent && (!least || candidates[i].loss < candidates[*least].loss)) {
      least = i;
    }
  }
  if (!least) return least;
  const double enough = candidates[*least].loss + 0.1 * candidates[*least].standard_error;
  std::size_t best = *least;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const ChoiceCandidate& one = candidates[i];
    if (!one.consistent || one.loss > enough) continue;
    if (std::pair(one.relative_lambda, one.kernel) >
        std::pair(candidates[best].relative_lambda, candidates[best].kernel)) {
      best = i;
    }
  }
  return best;
}

}  // namespace detail

/// The kernel and the soft boundary with the smallest out-of-fold log loss: for every kernel and
/// lambda of the grid, machines of the sampler's kind with few draws are fitted to all but one
/// fold, and the outputs at the points left out are judged by the likelihood of their labels, at
/// the slope that suits them best (`fit_slope`). Kernel values are computed once a kernel. A
/// candidate that is not consistent within 60 passes is dropped. Same seed, same choice, at any
/// number of threads. Cost: folds times candidates fits of few draws, n^2 kernel values a kernel.
///
/// What `machine` has beside kernel and boundary is kept. \throws NotSeparable where no candidate
/// is consistent, BudgetTooSmall unless `settings().memory` holds 24 n^2 bytes, Stopped,
/// std::invalid_argument on an empty grid; as `fit` and `Folds::stratified`.
template <class Machine, class Kernel, InputSet I, Observer O = detail::IgnoreProgress>
[[nodiscard]] Choice<Machine> choose(const Machine& machine, const ChoiceGrid<Kernel>& grid,
                                     const I& inputs, std::span<const int> labels,
                                     O&& observer = {}, std::stop_token stop = {}) {
  const char* const f = "choose";
  const auto& binary = detail::binary_machine(machine);
  const FitSettings& settings = binary.settings();
  detail::check(!grid.kernels.empty(), f, "grid", "has no kernel");
  detail::check(!grid.relative_lambdas.empty(), f, "grid", "has no lambda");
  detail::check(std::ranges::is_sorted(grid.relative_lambdas), f, "grid",
                "has lambdas that do not ascend");
  const std::ptrdiff_t n = detail::input_count(inputs);
  std::vector<int> classes = detail::check_labels(n, labels, f);
  detail::check(detail::takes_any_number<Machine> || classes.size() == 2, f, "labels", "have ",
                classes.size(), " classes, expected two; use OneVsRest for more");
  detail::check_inputs(inputs, f);
  if (const double needed = 24.0 * static_cast<double>(n) * static_cast<double>(n);
      needed > static_cast<double>(settings.memory)) {
    throw BudgetTooSmall(detail::join(f, ": memory is ", settings.memory, " bytes, ", n,
                                      " points need ", needed,
                                      "; raise memory or choose on a part of the points"));
  }
  const OutOfFold folds = detail::empty_out_of_fold(
      labels, std::move(classes), Folds::stratified(labels, grid.folds, settings.seed));
  std::vector<ChoiceCandidate> candidates;
  double done = 0;
  const auto fraction = [&](double part) {
    return (done + part) / static_cast<double>(grid.kernels.size());
  };
  const RunControl control{[&](Progress progress) {
                             progress.stage = "choosing";
                             progress.fraction = fraction(0);
                             return detail::notify(observer, progress);
                           },
                           stop, detail::thread_count(settings.threads)};
  for (std::size_t k = 0; k < grid.kernels.size(); ++k) {
    const std::size_t first = candidates.size();
    for (const double lambda : grid.relative_lambdas) {
      candidates.push_back({.kernel = k, .relative_lambda = lambda});
    }
    const Eigen::MatrixXd values = detail::all_kernel_values(grid.kernels[k], inputs, settings);
    detail::try_lambdas<detail::kernel_scalar_t<I>>(
        values, folds, labels, detail::to_try(binary.sampler(), grid.draws), settings.seed, control,
        std::span(candidates).subspan(first));
    ++done;
    if (stop.stop_requested()) throw Stopped(detail::join(f, ": stopped while choosing"));
  }
  const auto best = detail::best_candidate(candidates);
  if (!best) {
    throw NotSeparable(detail::join(f, ": none of ", candidates.size(),
                                    " candidates found a classifier without training error; add "
                                    "larger lambdas to the grid"));
  }
  const ChoiceCandidate& winner = candidates[*best];
  return {detail::with_choice(machine, grid.kernels[winner.kernel],
                              detail::boundary_of(winner.relative_lambda)),
          candidates, *best, winner.loss, folds.folds.always_train};
}

}  // namespace bpm
