// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/machine/draw_mean.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

template <class Sampler>
inline constexpr bool sees_cones = Sampler::traits.sees == SamplerTraits::Sees::cone;

/// Fails to compile with a message that names the missing member of a sampler.
template <class S, class V>
constexpr void require_sampler() {
  static_assert(std::copyable<S>, "a sampler must be a copyable value");
  static_assert(HasTraits<S>, "a sampler needs static constexpr bpm::SamplerTraits traits");
  static_assert(HasDraws<S>, "a sampler needs std::uint64_t draws");
  static_assert(HasCheckSettings<S>, "a sampler needs void check_settings() const");
  static_assert(HasWithDraws<S>, "a sampler S needs S with_draws(std::uint64_t) const");
  static_assert(HasMemoryNeed<S>,
                "a sampler needs bpm::MemoryNeed memory_need(const bpm::RunSize&) const");
  if constexpr (HasTraits<S>) {
    static_assert(TakesLabelNoiseIfTold<S>,
                  "a sampler S that takes label noise needs S with_label_noise(double) const");
    static_assert(
        TrialsIfTold<S>,
        "a sampler S with trials needs trial(std::uint64_t) const and void limit_as_trials()");
    if constexpr (S::traits.sees == SamplerTraits::Sees::kernel_values) {
      static_assert(std::convertible_to<decltype(S::draws), std::uint64_t>,
                    "a sampler that sees kernel values needs std::uint64_t draws, a number");
      static_assert(HasKernelSample<S, V>,
                    "a sampler that sees kernel values needs bpm::SamplerReport sample(std::span<"
                    "const V>, bpm::RandomStreams&, const bpm::RunControl&, sink) const");
    } else {
      static_assert(HasPlan<S>, "a sampler that sees a cone needs bpm::ConePlan plan() const");
      static_assert(HasState<S>,
                    "a sampler that sees a cone needs a type State, copyable and made empty");
      static_assert(HasCentre<S>,
                    "the State of a sampler that sees a cone needs bool empty() const and "
                    "bpm::CentreOfMass centre() const");
      static_assert(HasConeSample<S>,
                    "a sampler that sees a cone needs bpm::SamplerReport sample(const bpm::Cone&, "
                    "std::span<const double> start, bpm::RandomStreams&, const bpm::RunControl&, "
                    "sink, State&) const");
    }
  }
}

/// State of a sampler between runs; empty for a sampler without one.
template <class Sampler>
struct StateOf {
  struct type {};
};
template <class Sampler>
  requires sees_cones<Sampler>
struct StateOf<Sampler> {
  using type = typename Sampler::State;
};

/// Sums over draws and states of samplers; an entry per subproblem.
template <class Sampler>
struct TrainingState {
  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("means", self.means, PerProblem{});
    if constexpr (sees_cones<Sampler>) visit("states", self.states, PerProblem{});
    visit("streams", self.streams, PerProblem{});
    visit("draw_errors", self.draw_errors);
    visit("draws_seen", self.draws_seen);
    visit("report", self.report);
    visit("seconds", self.seconds);
  }

  std::vector<DrawMean> means;
  std::vector<typename StateOf<Sampler>::type> states;
  std::vector<RandomStreams> streams;
  std::uint64_t draw_errors = 0;  ///< Training errors under the plain kernel, of `draws_seen`.
  std::uint64_t draws_seen = 0;   ///< Draws of all problems whose errors were counted.
  SamplerReport report;           ///< Report of all runs.
  double seconds = 0;             ///< Duration of all runs.
};

/// Returns a state without draws, for so many points and subproblems.
template <class Sampler>
[[nodiscard]] TrainingState<Sampler> no_draws(std::ptrdiff_t points, std::size_t problems,
                                              std::uint64_t seed, bool keep_draws) {
  TrainingState<Sampler> state;
  state.means.assign(problems, DrawMean(points, keep_draws, !sees_cones<Sampler>));
  state.states.resize(problems);
  state.streams.assign(problems, RandomStreams{seed, 0});
  return state;
}

/// Counts the points with a coefficient in some problem of a draw, draw by draw.
class SupportCounts {
 public:
  explicit SupportCounts(std::ptrdiff_t points) : seen_(static_cast<std::size_t>(points)) {}

  void add(const Draw& draw) {
    if (draw.number != number_) end_draw();
    number_ = draw.number;
    for (const PointIndex i : draw.support) {
      if (seen_[i]) continue;
      seen_[i] = true;
      points_.push_back(i);
    }
  }

  /// Returns the counts of all draws so far.
  [[nodiscard]] std::vector<std::size_t> take() {
    end_draw();
    return std::exchange(counts_, {});
  }

 private:
  void end_draw() {
    if (!number_) return;
    counts_.push_back(points_.size());
    for (const PointIndex i : points_) seen_[i] = false;
    points_.clear();
    number_.reset();
  }

  std::vector<bool> seen_;
  std::vector<PointIndex> points_;  ///< Points of the current draw.
  std::optional<std::uint64_t> number_;
  std::vector<std::size_t> counts_;
};

/// Returns the training errors of a draw without its lambda. Cost: m.
template <class Space>
[[nodiscard]] std::uint64_t plain_errors(const Draw& draw, const Space& space) {
  std::uint64_t errors = 0;
  std::size_t s = 0;
  for (std::ptrdiff_t i = 0; i < space.size(); ++i) {
    double plain = draw.outputs[static_cast<std::size_t>(i)];
    if (s < draw.support.size() && std::cmp_equal(draw.support[s], i)) {
      plain -= static_cast<double>(space.lambda(i)) * draw.coefficients[s++];
    }
    errors += space.label(i) * plain <= 0 ? 1U : 0U;
  }
  return errors;
}

/// `sample_version_space` of samplers that see a cone is there: their headers include it.
template <class S, class Space>
concept RunsOnCones = requires(const S& sampler, const Space& space, RandomStreams& streams,
                               const RunControl& control, AnySink& sink, typename S::State& state) {
  sample_version_space(sampler, space, streams, control, sink, state);
};

/// Adds the sampler's draws of every subproblem to the state's means and advances its streams. A
/// sampler that sees cones runs one subproblem after the other, and calls the observer in each.
template <class Sampler, class T>
[[nodiscard]] SamplerReport run_sampler(const Sampler& sampler, const Gram<T>& gram,
                                        const Subproblems& problems, const RunControl& control,
                                        TrainingState<Sampler>& state) {
  using Space = KernelVersionSpace<T>;
  require_sampler<Sampler, Space>();
  std::vector<Space> spaces;
  spaces.reserve(problems.size());
  for (std::size_t p = 0; p < problems.size(); ++p) {
    spaces.emplace_back(gram, problems.signs[p], problems.lambda);
  }
  if constexpr (!sees_cones<Sampler>) {
    SupportCounts support(gram.size());
    SamplerReport report = sampler.sample(
        std::span<const Space>(spaces), state.streams[0], control, [&](const Draw& draw) {
          check(draw.problem < problems.size(), "sampler", "draw", draw.number, " is of problem ",
                draw.problem, ", must be below ", problems.size());
          // Divided by sqrt(k(x, x)), like decision values.
          std::vector<double> left_out(draw.left_out_outputs.begin(), draw.left_out_outputs.end());
          for (std::size_t i = 0; i < std::min(left_out.size(), draw.left_out.size()); ++i) {
            const auto self = static_cast<double>(gram.diagonal(draw.left_out[i]));
            if (self > 0) left_out[i] /= std::sqrt(self);
          }
          Draw scaled = draw;
          scaled.left_out_outputs = left_out;
          state.means[draw.problem].add(scaled);
          support.add(draw);
          state.draw_errors += plain_errors(draw, spaces[draw.problem]);
          ++state.draws_seen;
        });
    if (report.perceptron) report.mistaken_points = support.take();
    std::fill(state.streams.begin(), state.streams.end(), state.streams[0]);
    return report;
  } else {
    static_assert(RunsOnCones<Sampler, Space>,
                  "a machine with a sampler that sees a cone needs "
                  "bpm/samplers/sample_version_space.hpp: include it, or bpm/bpm.hpp");
    SamplerReport report;
    report.converged = true;
    std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t p = 0; p < spaces.size(); ++p) {
      const auto sink = [&](const Draw& draw) {
        state.means[p].add(draw);
        // Draws under label noise may err on training points: those errors are not counted.
        if (admits_training_errors(sampler)) return;
        state.draw_errors += plain_errors(draw, spaces[p]);
        ++state.draws_seen;
      };
      const RunControl part{
          [&](const Progress& now) { return control.go_on(now.of_part(p, spaces.size())); },
          control.stop, control.threads};
      // If a clock or an accuracy ends the draws of the first class, the others make as many.
      const SamplerReport one =
          sample_version_space(p == 0 || fewest == 0 ? sampler : sampler.with_draws(fewest),
                               spaces[p], state.streams[p], part, sink, state.states[p]);
      if (state.means[p].count() > 0) state.means[p].set_centre(state.states[p].centre());
      fewest = std::min(fewest, one.draws);
      report.merge(one);
    }
    report.draws = fewest;
    return report;
  }
}

}}}  // namespace bpm::detail
