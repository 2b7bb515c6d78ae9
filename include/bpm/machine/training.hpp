// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/kernel_values/dense_gram.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernel_values/precomputed_gram.hpp"
#include "bpm/machine/draw_mean.hpp"
#include "bpm/machine/fingerprint.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/precomputed_kernel.hpp"
#include "bpm/machine/strategy.hpp"
#include "bpm/samplers/sample_version_space.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/kernel_version_space.hpp"

namespace bpm::detail {

/// The two-class problems of one training set, in the order in which a sampler gets them.
struct Problems {
  std::vector<int> classes;                     ///< Distinct labels, ascending.
  std::vector<std::vector<signed char>> signs;  ///< +1 or -1, a vector a problem.
};

struct NoMemory {};

/// Samplers of chains keep where they stand in a `State` of theirs; others need none.
template <class Sampler>
struct SamplerMemory {
  using type = NoMemory;
};
template <class Sampler>
  requires(Sampler::traits.sees == SamplerSees::cone)
struct SamplerMemory<Sampler> {
  using type = typename Sampler::State;
};
template <class Sampler>
inline constexpr bool has_chains = Sampler::traits.sees == SamplerSees::cone;

/// Samplers whose `State` holds a Gaussian posterior of the latent outputs: `EpPosterior`.
template <class Sampler>
concept PosteriorSampler = requires(const typename Sampler::State& state) {
  state.posterior().log_evidence;
  state.posterior().pivots;
};

/// What a fit leaves: sums over draws and how to go on. One entry a problem, where per problem.
template <class Sampler>
struct TrainingState {
  std::vector<DrawMean> means;
  std::vector<typename SamplerMemory<Sampler>::type> memories;
  std::vector<RandomStreams> streams;
  SamplerReport report;
  bool ran = false;
  std::uint64_t fingerprint = 0;
  MemoryForecast forecast;
  double seconds = 0;                                              ///< Wall clock of all runs.
  std::vector<std::shared_ptr<const std::vector<double>>> lambda;  ///< Null: zero.
};

[[nodiscard]] inline double lambda_at(const std::shared_ptr<const std::vector<double>>& lambda,
                                      std::ptrdiff_t i) {
  return lambda && !lambda->empty() ? lambda->data()[i] : 0.0;
}

/// Throws NotSeparable where two points or one can be seen to rule out every classifier.
template <GramAccess Gram, InputSet I, class State>
void check_separable(const Gram& gram, const I& inputs, std::span<const std::uint64_t> hashes,
                     const Problems& problems, const State& state, std::string_view function) {
  for (std::size_t p = 0; p < problems.signs.size(); ++p) {
    for (std::ptrdiff_t i = 0; i < gram.size(); ++i) {
      if (static_cast<double>(gram.diagonal(i)) + lambda_at(state.lambda[p], i) <= 0) {
        throw NotSeparable(
            join(function, ": point ", i,
                 " has k(x, x) = 0, so no classifier gives "
                 "it a sign; add a bias to the kernel or a soft boundary lambda > 0"));
      }
    }
  }
  for (const auto& group : equal_groups(inputs, hashes)) {
    for (std::size_t p = 0; p < problems.signs.size(); ++p) {
      PointIndex hard = -1;
      for (const PointIndex i : group) {
        if (lambda_at(state.lambda[p], i) > 0) {
          continue;
        }
        if (hard >= 0 && problems.signs[p].data()[i] != problems.signs[p].data()[hard]) {
          throw NotSeparable(join(function, ": points ", hard, " and ", i,
                                  " are equal inputs with different labels, so no classifier "
                                  "separates them; set a soft boundary lambda > 0, or label noise "
                                  "with KernelGibbs"));
        }
        hard = i;
      }
    }
  }
}

/// Hands the sampler's draws of every problem to the state's means and moves its streams on. A
/// sampler that sees cones runs problem by problem: the observer is asked anew in each.
template <class Sampler, GramAccess Gram>
[[nodiscard]] SamplerReport run_sampler(const Sampler& sampler, const Gram& gram,
                                        const Problems& problems, const RunControl& control,
                                        TrainingState<Sampler>& state) {
  using Space = KernelVersionSpace<Gram>;
  require_sampler<Sampler, Space>();
  std::vector<Space> spaces;
  spaces.reserve(problems.signs.size());
  for (std::size_t p = 0; p < problems.signs.size(); ++p) {
    spaces.emplace_back(gram, problems.signs[p], state.lambda[p]);
  }
  SamplerReport report;
  if constexpr (!has_chains<Sampler>) {
    report = sampler.sample(std::span<const Space>(spaces), state.streams[0], control,
                            [&](const Draw& draw) { state.means[draw.problem].add(draw); });
    std::fill(state.streams.begin(), state.streams.end(), state.streams[0]);
  } else {
    report.converged = true;
    std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t p = 0; p < spaces.size(); ++p) {
      const auto sink = [&](const Draw& draw) { state.means[p].add(draw); };
      const RunControl part{[&](Progress progress) {
                              const auto count = static_cast<double>(spaces.size());
                              progress.fraction =
                                  (static_cast<double>(p) + progress.fraction) / count;
                              return control.go_on(progress);
                            },
                            control.stop, control.threads};
      // By a clock or an accuracy the first class finds how many draws; the others make as many.
      const SamplerReport one =
          sample_version_space(p == 0 || fewest == 0 ? sampler : sampler.with_draws(fewest),
                               spaces[p], state.streams[p], part, sink, state.memories[p]);
      if (state.means[p].count() > 0) state.means[p].set_centre(state.memories[p].centre());
      fewest = std::min(fewest, one.draws);
      report.merge(one);
    }
    report.draws = fewest;
  }
  return report;
}

/// Runs the sampler on every problem, with kernel values by the forecast's strategy, and adds its
/// draws to the state.
/// \throws what `check_separable` throws, KernelValueError, NotSeparable if a draw found no
///         consistent classifier, NotConverged if an approximation did not reach its tolerance,
///         Stopped if a problem has no draw at all.
template <class Kernel, class Sampler, InputSet I>
void train(const Kernel& kernel, const Sampler& sampler, const FitSettings& settings,
           const I& inputs, std::span<const int> labels, const Problems& problems,
           std::span<const std::uint64_t> hashes, RunControl control, TrainingState<Sampler>& state,
           std::string_view function) {
  const auto start = std::chrono::steady_clock::now();
  control.draws_at_once = state.forecast.draws_at_once;
  control.threads = state.forecast.threads;
  SamplerReport report;
  const auto prepare = [&](const auto& gram) {
    if (state.lambda.empty()) {
      for (const auto& signs : problems.signs) {
        if (!state.lambda.empty() && settings.soft_boundary.same_for_all_classes()) {
          state.lambda.push_back(state.lambda.front());
        } else {
          state.lambda.push_back(
              std::make_shared<const std::vector<double>>(settings.soft_boundary.resolve(
                  [&](std::ptrdiff_t i) { return gram.diagonal(i); }, labels, signs)));
        }
      }
    }
    if (admits_training_errors(sampler)) {
      return;
    }
    if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
      check_separable(gram, inputs, {}, problems, state, function);
    } else {
      check_separable(gram, inputs, hashes, problems, state, function);
    }
  };
  if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
    static_assert(std::floating_point<typename I::Scalar>, "kernel values are float or double");
    // Another storage order than row-major is copied, and the copy lives as long as the name.
    const RowMatrix<typename I::Scalar>& values = inputs;
    const PrecomputedGram<typename I::Scalar> gram(values);
    prepare(gram);
    report = run_sampler(sampler, gram, problems, control, state);
  } else {
    using Scalar = kernel_scalar_t<I>;
    OnDemandGram<Kernel, I> values(kernel, inputs);
    KeptRows<Scalar> kept(values.size(),
                          state.forecast.kept_rows * KeptRows<Scalar>::row_bytes(values.size()));
    if (state.forecast.strategy == Strategy::windowed_rows) values.keep_rows_in(&kept);
    prepare(values);
    if (state.forecast.strategy == Strategy::dense) {
      using Dense = DenseGram<Scalar>;
      const Dense gram(values, control.threads, [&](double fraction) {
        return control.go_on({.stage = "kernel matrix", .fraction = fraction});
      });
      if (gram.complete()) {
        report = run_sampler(sampler, gram, problems, control, state);
      } else {
        report.stopped = true;
        report.reason = "stopped";
      }
      report.kernel_evaluations += gram.evaluations();
      report.kernel_seconds += gram.seconds();
    } else {
      report = run_sampler(sampler, values, problems, control, state);
    }
  }
  if (!report.converged && !report.stopped && report.advice == Advice::undecided) {
    throw NotConverged(join(function, ": ", report.reason,
                            "; set a soft boundary lambda > 0 or noise, or raise the limits"));
  }
  if (!report.converged && !report.stopped) {
    throw NotSeparable(join(function,
                            ": no classifier without training error was found: ", report.reason,
                            report.advice == Advice::soften_or_raise_limits
                                ? "; set a soft boundary lambda > 0, or raise the sampler's limits"
                                : ""));
  }
  if (state.ran) {
    state.report.append(report);
  } else {
    state.report = report;
    state.ran = true;
  }
  state.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (const DrawMean& mean : state.means) {
    if (mean.count() == 0) {
      throw Stopped(join(function, ": stopped before the first draw was finished"));
    }
  }
}

}  // namespace bpm::detail
