// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <type_traits>
#include <vector>

#include "bpm/core/progress.hpp"
#include "bpm/core/random/streams.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/samplers/chains/chain_report.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm {

/// What of a draw a call of the sink brings. Samplers spread over several processes hand over the
/// coefficients of each draw as it is finished, and its outputs, which are long, summed at the end.
enum class DrawPart {
  whole,         ///< Everything.
  coefficients,  ///< All but the outputs, which come in a later call.
  outputs,       ///< The sum of the weighted outputs of all draws of this run that came without,
                 ///< added in their order from zero; no draw of its own.
};

/// One classifier of version space, as a sampler hands it to a sink. The spans are valid during the
/// call only.
struct Draw {
  std::uint64_t number = 0;              ///< Its stream: draws are numbered from 0 for a seed.
  std::size_t problem = 0;               ///< Which label vector, where several advance in step.
  std::span<const PointIndex> support;   ///< Points with a coefficient, ascending.
  std::span<const double> coefficients;  ///< Their dual coefficients alpha_i; norm(w) = 1.
  std::span<const double> outputs;       ///< <w, x_i> under the sampling kernel, all m points.
  double weight = 1;                     ///< Weight in the mean, positive.
  DrawPart part = DrawPart::whole;
};

/// What happened in a run. Counts are sums over draws and problems. Fields that do not apply to a
/// sampler are zero.
struct SamplerReport {
  std::uint64_t draws = 0;  ///< Draws handed to the sink, a problem.
  bool converged = false;   ///< Every draw that was asked for is there and is consistent.
  bool stopped = false;     ///< Ended by the observer or the stop token.
  std::string reason;       ///< Why not, where not converged.
  /// Not converged, and that says nothing of whether the data can be separated: an approximation
  /// has not reached its tolerance.
  bool undecided = false;
  std::uint64_t mistakes = 0;  ///< Perceptron: updates.
  std::uint64_t passes = 0;    ///< Perceptron: passes over the training set, the proving last
                               ///< one of each problem included.
  std::uint64_t training_errors = 0;  ///< Mistakes in the last full pass of any draw; 0, or the run
                                      ///< did not converge.
  std::uint64_t bounces = 0;          ///< Billiard: reflections.
  std::uint64_t refreshes = 0;        ///< Billiard: new random directions.
  std::uint64_t steps = 0;            ///< Gibbs sampler: steps.
  std::uint64_t sweeps = 0;           ///< Expectation propagation: visits to every point.
  std::uint64_t repairs = 0;          ///< Outputs brought back from drift outside version space.
  std::uint64_t kernel_evaluations = 0;  ///< Kernel values computed.
  double kernel_seconds = 0;             ///< Thread-seconds spent on them over threads.
  ChainReport chain{};  ///< Markov chains: whether to believe the centre; all runs so far.

  /// Adds the counts of another run, later or of another problem. What chains tell of themselves is
  /// not a sum: see `ChainReport::merge`.
  void append(const SamplerReport& later) {
    draws += later.draws;
    converged = converged && later.converged;
    stopped = stopped || later.stopped;
    undecided = undecided || later.undecided;
    if (reason.empty()) reason = later.reason;
    mistakes += later.mistakes;
    passes += later.passes;
    training_errors += later.training_errors;
    bounces += later.bounces;
    refreshes += later.refreshes;
    steps += later.steps;
    sweeps += later.sweeps;
    repairs += later.repairs;
    kernel_evaluations += later.kernel_evaluations;
    kernel_seconds += later.kernel_seconds;
  }
};

/// What a run is given beside the version space: who watches it, who can stop it, and how many
/// threads it may use. The observer is called from one thread at a time.
struct RunControl {
  std::function<bool(const Progress&)> observer{};  ///< Empty: nobody watches. False: stop.
  std::stop_token stop{};
  unsigned threads = 1;
  unsigned draws_at_once = 0;  ///< Draws in progress at a time, for lack of memory; 0: no limit.

  [[nodiscard]] bool go_on(const Progress& progress) const {
    return !stop.stop_requested() && (!observer || observer(progress));
  }
};

/// Where draws go: called in order of their numbers, from one thread at a time.
template <class S>
concept DrawSink = std::invocable<S&, const Draw&>;

namespace detail {
struct AnySink {
  void operator()(const Draw& draw) const;
};
}  // namespace detail

/// Settings are a plain value, and the object that holds them can sample:
///
///     SamplerReport sample(const V& space, RandomStreams& streams, const RunControl&, sink) const;
///
/// hands `draws` classifiers of `space` to the sink, draw n from stream `streams.next + n` alone,
/// and advances `streams.next` by the draws handed over. A run that is stopped hands over the draws
/// it has, without a gap, and says so. A run that has every draw sets `converged`; one that
/// fails says why in `reason`; it throws only on
/// bad settings. The member `draws` is how many draws are wanted: a machine sets it to add some. It
/// is a whole number, or an optional one whose empty value leaves it to the sampler.
/// Satisfied by `PermutedPerceptron`.
template <class S, class V>
concept Sampler = std::copyable<S> && VersionSpace<V> &&
                  requires(const S& sampler, S& settings, const V& space, RandomStreams& streams,
                           const RunControl& control, detail::AnySink& sink) {
                    {
                      sampler.sample(space, streams, control, sink)
                    } -> std::same_as<SamplerReport>;
                    { settings.draws } -> std::convertible_to<std::optional<std::uint64_t>>;
                    settings.draws = std::uint64_t{1};
                  };

/// A sampler that can run several label vectors of one training set in step, sharing kernel values
/// and random order: `sample_in_step(spaces, ...)`, draws handed over by number, then by problem.
/// The result equals problem by problem.
template <class S, class V>
concept StepSampler =
    Sampler<S, V> && requires(const S& sampler, std::span<const V> spaces, RandomStreams& streams,
                              const RunControl& control, detail::AnySink& sink) {
      { sampler.sample_in_step(spaces, streams, control, sink) } -> std::same_as<SamplerReport>;
    };

}  // namespace bpm
