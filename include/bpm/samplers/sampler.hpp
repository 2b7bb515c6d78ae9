// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/chains/chain_report.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm { inline namespace BPM_TARGET {

class Cone;

namespace detail {

/// Counts of perceptrons: sums over draws and problems.
struct PerceptronCounts {
  std::uint64_t mistakes = 0;         ///< Number of updates.
  std::uint64_t passes = 0;           ///< Number of passes over the training set, with the last,
                                      ///< mistake-free one of each problem.
  std::uint64_t training_errors = 0;  ///< Mistakes in the last full pass of any draw; 0 if the run
                                      ///< converged.

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("mistakes", self.mistakes);
    visit("passes", self.passes);
    visit("training_errors", self.training_errors);
  }

  PerceptronCounts& operator+=(const PerceptronCounts& other) {
    mistakes += other.mistakes;
    passes += other.passes;
    training_errors += other.training_errors;
    return *this;
  }
};

}  // namespace detail

/// One classifier of version space, delivered by a sampler to a sink. The spans are valid only
/// during the call.
struct Draw {
  std::uint64_t number = 0;              ///< Number of its stream, from 0 for a seed.
  std::size_t problem = 0;               ///< Index of its label vector, if several advance in step.
  std::span<const PointIndex> support;   ///< Points with a nonzero coefficient, ascending.
  std::span<const double> coefficients;  ///< Their dual coefficients alpha_i; norm(w) = 1.
  std::span<const double> outputs;       ///< <w, x_i> under the sampling kernel, all m points.
  double weight = 1;                     ///< Weight in the mean, positive.
  /// Held-out points, ascending, of a draw that held points out (`RunControl::left_out_draws`);
  /// below, their outputs under the classifier of norm 1 that fitted all other points.
  std::span<const PointIndex> left_out{};
  std::span<const double> left_out_outputs{};  ///< <w', x_i> at these points.
};

/// Result of a run. Counts are sums over draws and problems; a part that does not apply to the
/// sampler is empty.
struct SamplerReport {
  using Perceptron = detail::PerceptronCounts;  ///< Counts of perceptrons.

  /// Advice for a run that did not converge.
  enum class Advice {
    soften_or_raise_limits,  ///< Set a soft boundary, or raise the sampler's limits.
    in_reason,               ///< The reason has the advice.
  };

  std::uint64_t draws = 0;  ///< Number of delivered draws per problem.
  bool converged = false;   ///< True if all requested draws exist and are consistent.
  bool stopped = false;     ///< True if the observer or the stop token ended the run.
  std::string reason{};     ///< Reason, if the run did not converge.
  Advice advice = Advice::soften_or_raise_limits;  ///< If neither converged nor stopped.
  std::uint64_t kernel_evaluations = 0;            ///< Number of computed kernel values.
  double kernel_seconds = 0;                       ///< Thread-seconds spent on them over threads.
  std::optional<Perceptron> perceptron{};          ///< Also of the search for the first start.
  /// For perceptrons, one number per draw that a machine has added: the points with a mistake in
  /// any problem and pass. These points alone would have given the same draw, so that their number
  /// k among N points bounds its error (`stable_compression_bound`); k / N estimates, from above,
  /// how often one more point would change it.
  std::vector<std::size_t> mistaken_points{};
  std::optional<ChainReport> chains{};  ///< Diagnostics of Markov chains.

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("draws", self.draws);
    visit("converged", self.converged);
    visit("stopped", self.stopped);
    visit("reason", self.reason);
    visit("advice", self.advice);
    visit("kernel_evaluations", self.kernel_evaluations);
    visit("kernel_seconds", self.kernel_seconds);
    visit("perceptron", self.perceptron);
    visit("mistaken_points", self.mistaken_points);
    visit("chains", self.chains);
  }

  /// Merges the report of another problem.
  void merge(const SamplerReport& other) { add(other, &ChainReport::merge); }
  /// Appends the report of a later run on the same problems, which decides how the run ended.
  void append(const SamplerReport& later) {
    add(later, &ChainReport::append);
    converged = later.converged;
    stopped = later.stopped;
    reason = later.reason;
    advice = later.advice;
  }

 private:
  void add(const SamplerReport& other, void (ChainReport::*take_in)(const ChainReport&)) {
    draws += other.draws;
    converged = converged && other.converged;
    stopped = stopped || other.stopped;
    if (reason.empty()) {
      reason = other.reason;
      advice = other.advice;
    }
    kernel_evaluations += other.kernel_evaluations;
    kernel_seconds += other.kernel_seconds;
    if (other.perceptron) {
      if (!perceptron) perceptron.emplace();
      *perceptron += *other.perceptron;
    }
    mistaken_points.insert(mistaken_points.end(), other.mistaken_points.begin(),
                           other.mistaken_points.end());
    if (other.chains && chains) {
      ((*chains).*take_in)(*other.chains);
    } else if (other.chains) {
      chains = other.chains;
    }
  }
};

/// Settings of a run besides the version space: its observer, its stop token, its number of
/// threads. The observer is called from one thread at a time.
struct RunControl {
  std::function<bool(const Progress&)> observer{};  ///< Empty: no observer. Returns false to stop.
  StopToken stop{};                                 ///< Stops the run, from any thread.
  unsigned threads = 1;                             ///< Largest number of threads.
  unsigned draws_at_once = 0;  ///< At most this many draws at once, to save memory. 0: no limit.
  /// Permuted perceptrons: draws with a smaller number hold out the last tenth of their permutation
  /// until consistent on the rest, record their outputs there, and continue with all points.
  std::uint64_t left_out_draws = 0;
  /// Start of the run, for time limits. Set by `sample_version_space`: the factor counts.
  std::chrono::steady_clock::time_point begin{};

  /// Calls the observer; returns false if the observer or `stop` requests the end.
  [[nodiscard]] bool go_on(const Progress& progress) const {
    return !stop.stop_requested() && (!observer || observer(progress));
  }
};

/// Optional properties of a sampler, by name: `static constexpr SamplerTraits traits{...}`.
struct SamplerTraits {
  /// Representation of a problem that a sampler receives.
  enum class Sees {
    kernel_values,  ///< Version spaces: rows, products and blocks of kernel values.
    cone,           ///< A `Cone`: coordinates in double precision.
  };

  Sees sees = Sees::kernel_values;  ///< Determines the arguments of `sample`.
  /// Name of the sampler in the identity of a run. A sampler that receives a cone has it in its
  /// plan instead.
  std::string_view name = "sampler";
  /// True if draws may make training errors, so that a fit does not refuse data that nothing
  /// separates. A sampler that receives a cone has this in its plan instead.
  bool admits_training_errors = false;
  bool computes_blocks = false;  ///< True for windowed evaluation, without kernel rows in memory.
  /// True if it can have label noise. If it has none, `SoftBoundary::automatic` chooses that
  /// instead of lambda. Needs `S with_label_noise(double) const`.
  bool takes_label_noise = false;
  /// True if several processes run it together. Errors that may occur in one are then checked in
  /// all before they communicate, since none may leave the others waiting.
  bool collective = false;
  /// True if it can give up early on data that nothing separates, where most of the time of
  /// choosing a boundary is spent. Needs `trial` and `limit_as_trials` (`SamplerSettings`).
  bool has_trials = false;
};

/// Size of a run, which determines its memory.
struct RunSize {
  std::ptrdiff_t points = 0;                  ///< Number of training points m.
  std::size_t problems = 1;                   ///< Number of label vectors in step.
  unsigned threads = 1;                       ///< Threads of the run, see `RunControl`.
  std::size_t scalar_bytes = sizeof(double);  ///< Bytes of a kernel value.
  unsigned draws_at_once = 0;                 ///< Limit, see `RunControl`.
  /// Length of w if the kernel is linear in its inputs and a sampler may update w; 0: the sampler
  /// reads kernel values.
  std::size_t features = 0;
};

/// Memory of a run, without the kernel values.
struct MemoryNeed {
  std::size_t bytes = 0;       ///< Bytes of all threads together.
  std::size_t columns = 0;     ///< Largest number of training points whose inputs are held as
                               ///< columns of blocks, if no kernel rows are in memory.
  bool keeps_weights = false;  ///< With `features`: the sampler updates w, without kernel values.
};

/// Requirements of a sampler that receives a cone.
struct ConePlan {
  /// Start of the first chain, unless the caller gives one.
  enum class Start {
    largest_margin,  ///< Near the centre of the largest ball in version space.
    perceptron,      ///< A permuted kernel perceptron's solution.
    none,            ///< The sampler needs no start.
  };

  std::string_view name = "sampler";  ///< Name of the sampler in messages.
  std::uint64_t draws = 0;            ///< Number of requested draws, for progress; 0: unknown.
  double factor_tolerance = 0;        ///< Tolerance of the `Cone`.
  bool form_products = false;         ///< Call `Cone::form_products`: m^2 doubles.
  /// Kind of start if `start_coefficients` are empty.
  Start start = Start::largest_margin;
  std::span<const double> start_coefficients{};  ///< Dual coefficients of a start; empty: searched.
  bool may_be_outside = false;  ///< Label noise: the start and draws may make training errors, and
                                ///< a fit does not refuse data that nothing separates.
};

namespace detail {

/// A callable that receives draws, in order of their numbers, from one thread at a time.
template <class S>
concept DrawSink = std::invocable<S&, const Draw&>;

using AnySink = std::function<void(const Draw&)>;

template <class S>
concept HasTraits = std::same_as<decltype(S::traits), const SamplerTraits> &&
                    requires { typename std::bool_constant<S::traits.computes_blocks>; };
template <class S>
concept HasDraws = requires(S& settings) { settings.draws = std::uint64_t{1}; };
template <class S>
concept HasCheckSettings = std::is_void_v<decltype(std::declval<const S&>().check_settings())>;
template <class S>
concept HasWithDraws =
    std::same_as<decltype(std::declval<const S&>().with_draws(std::uint64_t{1})), S>;
template <class S>
concept HasMemoryNeed =
    std::same_as<decltype(std::declval<const S&>().memory_need(RunSize{})), MemoryNeed>;
template <class S>
concept TakesLabelNoiseIfTold =
    !S::traits.takes_label_noise ||
    std::same_as<decltype(std::declval<const S&>().with_label_noise(0.1)), S>;
template <class S>
concept TrialsIfTold = !S::traits.has_trials || requires(S& changed, const S& sampler) {
  sampler.trial(std::uint64_t{1});
  { changed.limit_as_trials() } -> std::same_as<void>;
};
template <class S, class V>
concept HasKernelSample = requires(const S& sampler, std::span<const V> spaces,
                                   RandomStreams& streams, const RunControl& control, AnySink& to) {
  { sampler.sample(spaces, streams, control, to) } -> std::same_as<SamplerReport>;
};
template <class S>
concept HasPlan = std::same_as<decltype(std::declval<const S&>().plan()), ConePlan>;
template <class S>
concept HasState =
    std::copyable<typename S::State> && std::default_initializable<typename S::State>;
template <class S>
concept HasCentre = requires(const typename S::State& state) {
  { state.empty() } -> std::same_as<bool>;
  { state.centre() } -> std::convertible_to<CentreOfMass>;
};
template <class S>
concept HasConeSample = requires(const S& sampler, const Cone& cone, std::span<const double> start,
                                 RandomStreams& streams, const RunControl& control, AnySink& to,
                                 typename S::State& at) {
  { sampler.sample(cone, start, streams, control, to, at) } -> std::same_as<SamplerReport>;
};

/// Requirements on all samplers. A sampler is a plain value of settings with
///
///     static constexpr SamplerTraits traits{...};
///     std::uint64_t draws;                   // how many are wanted; may be an optional number
///     void check_settings() const;           // throws std::invalid_argument
///     S with_draws(std::uint64_t) const;     // the same sampler with that as its only budget
///     MemoryNeed memory_need(const RunSize&) const;
///
/// and a function `sample`, see `KernelSampler` and `ConeSampler`, which is called with checked
/// settings. It passes draws to the sink, draw n from stream `streams.next + n` alone, and advances
/// `streams.next` by their number. A run that is stopped delivers the draws it has, without a gap,
/// and sets `stopped`. A run with all draws sets `converged`; a run that fails gives the reason in
/// `reason`, and does not throw.
///
/// With `traits.has_trials` it has two more functions. A trial limits its work, not its time, so
/// that choices do not depend on the machine.
///
///     T trial(std::uint64_t draws) const;  // a sampler that gives up early
///     void limit_as_trials();              // limits that are not set: a trial's
template <class S>
concept SamplerSettings =
    std::copyable<S> && HasTraits<S> && HasDraws<S> && HasCheckSettings<S> && HasWithDraws<S> &&
    HasMemoryNeed<S> && TrialsIfTold<S> && TakesLabelNoiseIfTold<S>;

/// True if draws may make training errors, so that data need not be separable.
template <SamplerSettings S>
[[nodiscard]] bool admits_training_errors(const S& sampler) {
  if constexpr (S::traits.sees == SamplerTraits::Sees::cone) {
    return sampler.plan().may_be_outside;
  } else {
    return S::traits.admits_training_errors;
  }
}

}  // namespace detail

/// A sampler that receives kernel values:
///
///     SamplerReport sample(std::span<const V> spaces, RandomStreams& streams, const RunControl&,
///                          sink) const;
///
/// It runs several label vectors of one training set (one or more) in step; draws are delivered by
/// number, then by problem. The result is that of each problem alone. Satisfied by
/// `PermutedPerceptron`.
template <class S, class V>
concept KernelSampler =
    detail::SamplerSettings<S> && VersionSpace<V> &&
    S::traits.sees == SamplerTraits::Sees::kernel_values && detail::HasKernelSample<S, V>;

/// A sampler that receives one version space at a time, in coordinates. `State`, a copyable type,
/// is its state between runs: `empty()` before the first, and `centre()` is the centre of mass by
/// all draws since.
///
///     ConePlan plan() const;
///     SamplerReport sample(const Cone& cone, std::span<const double> start,
///                          RandomStreams& streams, const RunControl&, sink,
///                          State& state) const;
///
/// For trainings in files (storage/training_file.hpp) sampler and `State` must have
///
///     template <class Self, class Visit> static void visit_members(Self& self, Visit&& visit);
///
/// which calls visit(name, member) for the settings on which draws depend, besides their number,
/// and for the members needed to continue: see core/errors.hpp.
///
/// `sample` continues from `state`; if that is empty, `start` is a point of norm 1 (`cone.stride()`
/// coordinates) inside version space, or anywhere if the plan allows it. Satisfied by `Billiard`
/// and `KernelGibbs`.
template <class S>
concept ConeSampler =
    detail::SamplerSettings<S> && S::traits.sees == SamplerTraits::Sees::cone &&
    detail::HasPlan<S> && detail::HasState<S> && detail::HasCentre<S> && detail::HasConeSample<S>;

/// A sampler of either kind; V is its type of version space.
template <class S, class V>
concept Sampler = KernelSampler<S, V> || ConeSampler<S>;

}}  // namespace bpm
