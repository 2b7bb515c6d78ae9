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

#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/chains/chain_report.hpp"
#include "bpm/version_space/cone.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// What of a draw a call of the sink brings. Samplers spread over several processes hand over the
/// coefficients of each draw as it is finished, and its outputs, which are long, summed at the end.
enum class DrawPart {
  whole,         ///< Everything.
  coefficients,  ///< All but the outputs, which come in a later call.
  outputs,       ///< The sum of the weighted outputs of all draws of this run that came without,
                 ///< added in their order from zero; no draw of its own.
};

/// What perceptrons did: sums over draws and problems.
struct PerceptronCounts {
  std::uint64_t mistakes = 0;         ///< Updates.
  std::uint64_t passes = 0;           ///< Passes over the training set, the proving last one of
                                      ///< each problem included.
  std::uint64_t training_errors = 0;  ///< Mistakes in the last full pass of any draw; 0, or the
                                      ///< run did not converge.

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

/// One classifier of version space, as a sampler hands it to a sink. The spans are valid during the
/// call only.
struct Draw {
  std::uint64_t number = 0;              ///< Its stream: draws are numbered from 0 for a seed.
  std::size_t problem = 0;               ///< Which label vector, where several advance in step.
  std::span<const PointIndex> support;   ///< Points with a coefficient, ascending.
  std::span<const double> coefficients;  ///< Their dual coefficients alpha_i; norm(w) = 1.
  std::span<const double> outputs;       ///< <w, x_i> under the sampling kernel, all m points.
  double weight = 1;                     ///< Weight in the mean, positive.
  detail::DrawPart part = detail::DrawPart::whole;  ///< What this call hands over of it.
  /// Of a draw that left points out at first (`RunControl::left_out_draws`): these, ascending, and
  /// <w', x_i> of the classifier w' of norm 1 on the way that was consistent on the others.
  std::span<const PointIndex> left_out{};
  std::span<const double> left_out_outputs{};  ///< One for each of them.
};

/// What happened in a run. Counts are sums over draws and problems; a part that does not apply to
/// the sampler is empty.
struct SamplerReport {
  using Perceptron = detail::PerceptronCounts;  ///< Mistakes, passes and the like.

  /// What to do about a run that did not converge.
  enum class Advice {
    soften_or_raise_limits,  ///< Set a soft boundary, or raise the sampler's limits.
    in_reason,               ///< The reason says it.
  };

  std::uint64_t draws = 0;  ///< Draws handed to the sink, a problem.
  bool converged = false;   ///< Every draw that was asked for is there and is consistent.
  bool stopped = false;     ///< Ended by the observer or the stop token.
  std::string reason{};     ///< Why not, where not converged.
  Advice advice = Advice::soften_or_raise_limits;  ///< Where not converged and not stopped.
  std::uint64_t kernel_evaluations = 0;            ///< Kernel values computed.
  double kernel_seconds = 0;                       ///< Thread-seconds spent on them over threads.
  std::optional<Perceptron> perceptron{};          ///< Also of one that found the first start.
  /// Of perceptrons, for every draw that a machine took in: the points on which it made a mistake
  /// in any problem and pass. In permuted order they alone would have made it, so that their number
  /// k among N points bounds its error (`stable_compression_bound`); k / N estimates, from above,
  /// how often one more point would change it.
  std::vector<std::size_t> mistaken_points{};
  std::optional<ChainReport> chains{};  ///< Whether to believe a centre.

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

  /// Takes in the report of another problem.
  void merge(const SamplerReport& other) { add(other, &ChainReport::merge); }
  /// Takes in the report of a later run on the same problems: how it ended is how things stand.
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

/// What a run is given beside the version space: who watches it, who can stop it, and how many
/// threads it may use. The observer is called from one thread at a time.
struct RunControl {
  std::function<bool(const Progress&)> observer{};  ///< Empty: nobody watches. False: stop.
  StopToken stop{};                                 ///< Who stops the run, from any thread.
  unsigned threads = 1;                             ///< At most so many.
  unsigned draws_at_once = 0;  ///< Draws in progress at a time, for lack of memory; 0: no limit.
  /// lambda over k(x, x) where it was chosen: a run with the next lambda that is tried may share
  /// what this one keeps on disk.
  std::optional<double> chosen_lambda{};
  /// Permuted perceptrons: draws with a smaller number leave the last tenth of their permutation
  /// out until they are consistent on the rest, note their outputs there, and go on with all.
  std::uint64_t left_out_draws = 0;
  /// When the run began, for limits of time. Set by `sample_version_space`: the factor counts.
  std::chrono::steady_clock::time_point begin{};

  /// Tells the observer; false where it or `stop` wants the run to end.
  [[nodiscard]] bool go_on(const Progress& progress) const {
    return !stop.stop_requested() && (!observer || observer(progress));
  }
};

/// What is optional for a sampler, by name: `static constexpr SamplerTraits traits{...}`.
struct SamplerTraits {
  /// What a sampler sees of a problem.
  enum class Sees {
    kernel_values,  ///< Version spaces: rows, products and blocks of kernel values.
    cone,           ///< A `Cone`: coordinates in double precision.
  };

  Sees sees = Sees::kernel_values;  ///< Decides how `sample` is called.
  /// Tells the sampler's kind in the identity of a run. A sampler that sees a cone says it in its
  /// plan instead.
  std::string_view name = "sampler";
  /// Draws may make training errors, so that a fit does not refuse data that nothing separates. A
  /// sampler that sees a cone says it in its plan instead.
  bool admits_training_errors = false;
  bool computes_blocks = false;  ///< Needs no kernel rows in memory: windowed evaluation.
  /// It may have label noise. Where it has none, `SoftBoundary::automatic` chooses that for it in
  /// the place of lambda: needs `S with_label_noise(double) const`.
  bool takes_label_noise = false;
  /// Several processes run it together. What could fail in one of them is checked in all before
  /// they communicate, since none may leave the others waiting.
  bool collective = false;
  bool keeps_draws = false;  ///< Finished draws stay in a folder, which is of one run.
  /// It can give up early on what nothing separates, which is what most of the time goes to where a
  /// boundary is chosen: needs `trial`, `limit_as_trials` and `outlasts_trials`
  /// (`SamplerSettings`).
  bool has_trials = false;
};

/// The size of a run, for what it holds in memory.
struct RunSize {
  std::ptrdiff_t points = 0;                  ///< m.
  std::size_t problems = 1;                   ///< Label vectors that advance in step.
  unsigned threads = 1;                       ///< As in `RunControl`.
  std::size_t scalar_bytes = sizeof(double);  ///< Of a kernel value.
  unsigned draws_at_once = 0;                 ///< As in `RunControl`.
  /// Numbers of w where the kernel is linear in its inputs and a sampler may keep that; 0: it asks
  /// for kernel values.
  std::size_t features = 0;
};

/// What a run holds beside the kernel values.
struct MemoryNeed {
  std::size_t bytes = 0;       ///< Of all threads together.
  std::size_t columns = 0;     ///< Training points whose inputs are held as columns of blocks, at
                               ///< most, where there are no kernel rows in memory.
  bool keeps_weights = false;  ///< Of `features` there are: it keeps w, and needs no kernel values.
};

/// What a sampler that sees a cone wants done before it runs.
struct ConePlan {
  /// Where the first chain starts, if its caller does not say.
  enum class Start {
    largest_margin,  ///< Near the centre of the largest ball in version space.
    perceptron,      ///< A permuted kernel perceptron's solution.
    none,            ///< The sampler needs no start.
  };

  std::string_view name = "sampler";  ///< For messages.
  std::uint64_t draws = 0;            ///< For progress: draws asked for; 0: unknown.
  double factor_tolerance = 0;        ///< As for `Cone`.
  bool form_products = false;         ///< Call `Cone::form_products`: m^2 doubles.
  /// Where `start_coefficients` are empty.
  Start start = Start::largest_margin;
  std::span<const double> start_coefficients{};  ///< Dual coefficients of a start; empty: searched.
  bool may_be_outside = false;  ///< Label noise: the start and draws may make training errors, and
                                ///< a fit does not refuse data that nothing separates.
};

namespace detail {

/// Where draws go: called in order of their numbers, from one thread at a time.
template <class S>
concept DrawSink = std::invocable<S&, const Draw&>;

using AnySink = std::function<void(const Draw&)>;

template <class S>
concept HasTraits = requires {
  requires std::same_as<decltype(S::traits), const SamplerTraits>;
  typename std::bool_constant<S::traits.computes_blocks>;
};
template <class S>
concept HasDraws = requires(S& settings) { settings.draws = std::uint64_t{1}; };
template <class S>
concept HasCheckSettings = requires(const S& sampler) {
  { sampler.check_settings() } -> std::same_as<void>;
};
template <class S>
concept HasWithDraws = requires(const S& sampler) {
  { sampler.with_draws(std::uint64_t{1}) } -> std::same_as<S>;
};
template <class S>
concept HasMemoryNeed = requires(const S& sampler) {
  { sampler.memory_need(RunSize{}) } -> std::same_as<MemoryNeed>;
};
template <class S>
concept HasWithLabelNoise = requires(const S& sampler) {
  { sampler.with_label_noise(0.1) } -> std::same_as<S>;
};
template <class S>
concept HasTrials = requires(S& changed, const S& sampler) {
  sampler.trial(std::uint64_t{1});
  { changed.limit_as_trials() } -> std::same_as<void>;
  { sampler.outlasts_trials(std::ptrdiff_t{1}) } -> std::same_as<bool>;
};
template <class S, class V>
concept HasKernelSample = requires(const S& sampler, std::span<const V> spaces,
                                   RandomStreams& streams, const RunControl& control, AnySink& to) {
  { sampler.sample(spaces, streams, control, to) } -> std::same_as<SamplerReport>;
};
template <class S>
concept HasPlan = requires(const S& sampler) {
  { sampler.plan() } -> std::same_as<ConePlan>;
};
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

/// What all samplers have in common. A sampler is a plain value of settings with
///
///     static constexpr SamplerTraits traits{...};
///     std::uint64_t draws;                   // how many are wanted; may be an optional number
///     void check_settings() const;           // throws std::invalid_argument
///     S with_draws(std::uint64_t) const;     // the same sampler with that as its only budget
///     MemoryNeed memory_need(const RunSize&) const;
///
/// and a function `sample`, as `KernelSampler` or `ConeSampler` says. Its settings have been
/// checked. It hands draws to the sink, draw n from stream `streams.next + n` alone, and advances
/// `streams.next` by the draws handed over. A run that is stopped hands over the draws it has,
/// without a gap, and says so. A run that has every draw sets `converged`; one that fails says why
/// in `reason`, and does not throw.
///
/// With `traits.has_trials` it has three functions more. A trial limits its work, not its time, so
/// that what is chosen does not depend on the machine; it keeps nothing on disk. Where T is S, its
/// draws can be those of a fit.
///
///     T trial(std::uint64_t draws) const;                 // a sampler that gives up early
///     void limit_as_trials();                             // limits that are not set: a trial's
///     bool outlasts_trials(std::ptrdiff_t points) const;  // whether it goes on where one gives up
template <class S>
concept SamplerSettings =
    std::copyable<S> && HasTraits<S> && HasDraws<S> && HasCheckSettings<S> && HasWithDraws<S> &&
    HasMemoryNeed<S> && (HasTrials<S> || !S::traits.has_trials) &&
    (HasWithLabelNoise<S> || !S::traits.takes_label_noise);

}  // namespace detail

/// A sampler that sees kernel values:
///
///     SamplerReport sample(std::span<const V> spaces, RandomStreams& streams, const RunControl&,
///                          sink) const;
///
/// runs several label vectors of one training set (one or more) in step; draws are handed over by
/// number, then by problem. The result equals problem by problem. Satisfied by
/// `PermutedPerceptron`.
template <class S, class V>
concept KernelSampler =
    detail::SamplerSettings<S> && VersionSpace<V> &&
    S::traits.sees == SamplerTraits::Sees::kernel_values && detail::HasKernelSample<S, V>;

/// A sampler that sees one version space at a time, in coordinates. `State`, which can be copied,
/// is where it stands between runs: `empty()` before the first, and `centre()` is the centre of
/// mass by all draws since.
///
///     ConePlan plan() const;
///     SamplerReport sample(const Cone& cone, std::span<const double> start,
///                          RandomStreams& streams, const RunControl&, sink,
///                          State& state) const;
///
/// For trainings in files (storage/training_file.hpp) sampler and `State` have
///
///     template <class Self, class Visit> static void visit_members(Self& self, Visit&& visit);
///
/// which calls visit(name, member) for what draws depend on beside their number, and for what going
/// on needs: core/members.hpp says more.
///
/// `sample` goes on from `state`; where that is empty, `start` is a point of norm 1
/// (`cone.stride()` coordinates) inside version space, or anywhere if the plan allows it. Satisfied
/// by `Billiard` and `KernelGibbs`.
template <class S>
concept ConeSampler =
    detail::SamplerSettings<S> && S::traits.sees == SamplerTraits::Sees::cone &&
    detail::HasPlan<S> && detail::HasState<S> && detail::HasCentre<S> && detail::HasConeSample<S>;

/// Either kind; V is the version space it is to run on.
template <class S, class V>
concept Sampler = KernelSampler<S, V> || ConeSampler<S>;

namespace detail {

/// Whether draws may make training errors, so that data need not be separable.
template <SamplerSettings S>
[[nodiscard]] bool admits_training_errors(const S& sampler) {
  if constexpr (S::traits.sees == SamplerTraits::Sees::cone) {
    return sampler.plan().may_be_outside;
  } else {
    return S::traits.admits_training_errors;
  }
}

}  // namespace detail

}}  // namespace bpm
