// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/lanes.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/version_space.hpp"

/// \file
/// A run of a sampler, and the means of its draws.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// A kept draw: a classifier of norm 1 by its dual coefficients.
struct KeptDraw {
  std::uint64_t number = 0;
  double weight = 1;
  std::vector<PointIndex> support;  ///< Training points, ascending.
  std::vector<double> coefficients;

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("number", self.number);
    visit("weight", self.weight, Bound::positive);
    visit("support", self.support, PointNumbers{});
    visit("coefficients", self.coefficients);
  }
  void after_reading(std::ptrdiff_t /*points*/) const {
    check_size("KeptDraw", "coefficients", coefficients.size(), support.size(),
               "one a support point");
  }
};

/// The mean of one binary subproblem: that of its draws with their weights, as sums in the order of
/// the draws, so that a run and its continuation give the same bits as one longer run; or the
/// centre of mass that a chain sampler reports.
class DrawMean {
 public:
  /// With `of_draws` false it only counts and keeps draws, and `set_centre` sets the mean.
  DrawMean(std::ptrdiff_t points, bool keep_draws, bool of_draws = true)
      : keep_(keep_draws),
        of_draws_(of_draws),
        coefficients_(static_cast<std::size_t>(points), 0.0),
        outputs_(static_cast<std::size_t>(points), 0.0) {}

  /// Adds a draw. Cost: as many additions and comparisons as the draw has numbers. \throws
  /// std::invalid_argument on an invalid draw of a sampler: sizes that disagree, points that do not
  /// ascend or do not exist, numbers not finite, a weight that is not positive.
  void add(const Draw& draw);

  /// Sets E[w] of all draws so far.
  /// \throws std::invalid_argument on a centre of other sizes, or with numbers that are not finite.
  void set_centre(const CentreOfMass& centre);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] const std::vector<KeptDraw>& kept() const noexcept { return kept_; }
  /// Held-out points of draws, with their outputs in place of coefficients.
  [[nodiscard]] const std::vector<KeptDraw>& left_out() const noexcept { return left_out_; }

  /// Returns the coefficient of training point i in the mean E[w].
  [[nodiscard]] double coefficient(std::ptrdiff_t i) const {
    return coefficients_[std::size_t(i)] / weight_;
  }
  /// Returns <E[w], x_i> under the sampling kernel.
  [[nodiscard]] double output(std::ptrdiff_t i) const { return outputs_[std::size_t(i)] / weight_; }

  /// Returns <E[w], x_i> under the plain kernel, for a point with this lambda.
  [[nodiscard]] double plain_output(std::ptrdiff_t i, double lambda) const {
    return output(i) - lambda * coefficient(i);
  }

  /// Returns norm(E[w]), at most 1.
  [[nodiscard]] double norm() const;

  [[nodiscard]] std::ptrdiff_t size() const noexcept { return std::ssize(coefficients_); }

  /// Returns the coefficients of the mean and its kept draws, over `unit`, among `all` points of
  /// which these are the mean's own; without outputs.
  [[nodiscard]] DrawMean on_points(std::span<const PointIndex> points, std::ptrdiff_t all,
                                   double unit) const;

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("coefficients", self.coefficients_, Bound::per_point);
    visit("outputs", self.outputs_, Bound::per_point);
    visit("weight", self.weight_, Bound::positive);
    visit("count", self.count_, Between{1, Bound::counted.most});
    visit("kept", self.kept_);
    visit("left_out", self.left_out_);
  }

  [[nodiscard]] static std::size_t bytes_needed(std::ptrdiff_t points) {
    return 2 * static_cast<std::size_t>(points) * sizeof(double);
  }

 private:
  void check_draw(const Draw& draw) const;

  bool keep_;
  bool of_draws_;
  std::vector<double> coefficients_;
  std::vector<double> outputs_;
  double weight_ = 0;
  std::uint64_t count_ = 0;
  std::vector<KeptDraw> kept_;
  std::vector<KeptDraw> left_out_;
};

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
    constexpr auto no_draw = std::numeric_limits<std::uint64_t>::max();
    // Points with a coefficient in some problem of a draw, draw by draw.
    std::vector<std::size_t> mistaken;
    std::vector<std::uint64_t> last_draw(static_cast<std::size_t>(gram.size()), no_draw);
    std::uint64_t counted = no_draw;
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
          if (std::exchange(counted, draw.number) != draw.number) mistaken.push_back(0);
          for (const PointIndex i : draw.support) {
            std::uint64_t& last = last_draw[static_cast<std::size_t>(i)];
            if (std::exchange(last, draw.number) != draw.number) ++mistaken.back();
          }
          state.draw_errors += plain_errors(draw, spaces[draw.problem]);
          ++state.draws_seen;
        });
    if (report.perceptron) report.mistaken_points = std::move(mistaken);
    std::fill(state.streams.begin(), state.streams.end(), state.streams[0]);
    return report;
  } else {
    // The headers of samplers that see a cone include it.
    static_assert(
        requires(AnySink& sink) {
          sample_version_space(sampler, spaces[0], state.streams[0], control, sink,
                               state.states[0]);
        },
        "a machine with a sampler that sees a cone needs "
        "bpm/samplers/sample_version_space.hpp: include it, or bpm/bpm.hpp");
    SamplerReport report{.converged = true};
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

#if BPM_BODIES

BPM_INLINE void DrawMean::add(const Draw& draw) {
  check_draw(draw);
  for (std::size_t s = 0; of_draws_ && s < draw.support.size(); ++s) {
    double& sum = coefficients_[std::size_t(draw.support[s])];
    sum = multiply_add(draw.weight, draw.coefficients[s], sum);
  }
  for (std::size_t i = 0; of_draws_ && i < outputs_.size(); ++i) {
    outputs_[i] = multiply_add(draw.weight, draw.outputs[i], outputs_[i]);
  }
  if (of_draws_) weight_ += draw.weight;
  ++count_;
  const auto of = [&](std::span<const PointIndex> at, std::span<const double> values) {
    return KeptDraw{
        draw.number, draw.weight, {at.begin(), at.end()}, {values.begin(), values.end()}};
  };
  if (!draw.left_out.empty()) left_out_.push_back(of(draw.left_out, draw.left_out_outputs));
  if (keep_) kept_.push_back(of(draw.support, draw.coefficients));
}

BPM_INLINE void DrawMean::set_centre(const CentreOfMass& centre) {
  for (const auto* numbers : {&centre.coefficients, &centre.outputs}) {
    check(std::ssize(*numbers) == size(), "sampler", "centre", "has ", centre.coefficients.size(),
          " coefficients and ", centre.outputs.size(), " outputs, expected ", size(), " of each");
    for (const double number : *numbers) {
      check(std::isfinite(number), "sampler", "centre", "has numbers that are not finite");
    }
  }
  coefficients_ = centre.coefficients;
  outputs_ = centre.outputs;
  weight_ = 1;
}

BPM_INLINE double DrawMean::norm() const {
  double squared = 0;
  for (std::ptrdiff_t i = 0; i < size(); ++i) squared += coefficient(i) * output(i);
  return std::sqrt(std::max(0.0, squared));
}

BPM_INLINE DrawMean DrawMean::on_points(std::span<const PointIndex> points, std::ptrdiff_t all,
                                        double unit) const {
  DrawMean result(0, keep_);
  result.coefficients_.assign(static_cast<std::size_t>(all), 0.0);
  for (std::size_t k = 0; k < points.size(); ++k) {
    result.coefficients_[std::size_t(points[k])] = coefficient(std::ptrdiff_t(k)) / unit;
  }
  result.weight_ = 1;
  result.count_ = count_;
  result.kept_ = kept_;
  for (KeptDraw& draw : result.kept_) {
    for (PointIndex& i : draw.support) i = points[std::size_t(i)];
    for (double& alpha : draw.coefficients) alpha /= unit;
  }
  return result;
}

BPM_INLINE void DrawMean::check_draw(const Draw& draw) const {
  const auto require = [&](bool holds, const auto&... what) {
    check(holds, "sampler", "draw", draw.number, " has ", what...);
  };
  require(std::ssize(draw.outputs) == size(), draw.outputs.size(), " outputs, expected ", size());
  for (std::size_t i = 0; i < draw.outputs.size(); ++i) {
    require(std::isfinite(draw.outputs[i]), "the output ", draw.outputs[i], " at ", i,
            ", must be finite");
  }
  require(std::isfinite(draw.weight) && draw.weight > 0, "the weight ", draw.weight,
          ", must be positive and finite");
  const auto check_points = [&](std::span<const PointIndex> points, std::span<const double> values,
                                const char* point, const char* value) {
    require(points.size() == values.size(), points.size(), " ", point, "s and ", values.size(), " ",
            value, "s");
    PointIndex last = -1;
    for (std::size_t s = 0; s < points.size(); ++s) {
      require(points[s] > last && points[s] < size(), "the ", point, " ", points[s], " after ",
              last, ", must ascend below ", size());
      require(std::isfinite(values[s]), "the ", value, " ", values[s], " at ", points[s],
              ", must be finite");
      last = points[s];
    }
  };
  check_points(draw.support, draw.coefficients, "support point", "coefficient");
  check_points(draw.left_out, draw.left_out_outputs, "point left out", "output");
}

#endif

}}}  // namespace bpm::detail
