// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/normal.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/chains/chain_report.hpp"
#include "bpm/samplers/chains/chain_run.hpp"
#include "bpm/samplers/chains/chain_state.hpp"
#include "bpm/samplers/gibbs/gibbs_line.hpp"
#include "bpm/samplers/gibbs/gibbs_step.hpp"
#include "bpm/samplers/sample_version_space.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {
class GibbsChain;
}  // namespace detail

/// The kernel Gibbs sampler (T. Graepel, R. Herbrich, "The kernel Gibbs sampler", NIPS 13, 2001):
/// classifiers from the posterior of label noise q,
///
///     density proportional to (1 - q)^#{i : d_i > 0} q^#{i : d_i <= 0} on the unit sphere.
///
/// q = 0 is the uniform law on version space, by hit-and-run. With q > 0 there need not be a
/// version space: the sampler suits data that no classifier separates. See `detail::GibbsChain` for
/// the steps and the proof of their law, `log_evidence` for the choice of q.
///
/// Draws are positions of the chains every `steps_per_draw` steps, from the chains in turn; the
/// centre of mass is the mean over all steps, by default of the exact mean of each. With q > 0
/// draws make training errors; `ChainReport::mean_errors` has their mean number.
///
///     const bpm::BayesPointMachine machine(bpm::Gaussian::from_sigma(1.0),
///                                          bpm::KernelGibbs{.label_noise = 0.05});
///     const auto fitted = machine.fit(inputs, labels);
///     fitted.report().chains->mean_errors;  // training errors of a draw
///
/// A run ends at the first of the budgets that are set (at the end of a round of draws). Cost: K
/// once and m r^2 for its factor; an isotropic step m r and, with noise, O(m log m); a step along
/// an input O(m + r), with noise O(m log m + r), and m^2 r once. Isotropic steps go further: where
/// inputs are far from orthogonal, steps along them are short. Memory: m r doubles, along
/// inputs m^2 more. Threads work on different chains.
struct KernelGibbs {
  /// Start of the first chain, unless the caller gives one.
  using Start = ConePlan::Start;
  /// Direction of a step.
  enum class Direction {
    isotropic,  ///< A random tangent direction of R^r.
    input,      ///< One training input, uniformly chosen: O(m) a step, needs `Cone::form_products`.
  };

  /// Number of draws, at least 1. Empty: 100, or with another budget as many as that budget allows.
  std::optional<std::uint64_t> draws{};
  std::uint64_t steps_per_draw = 100;  ///< Steps between draws, at least 1.
  std::uint64_t steps = 0;  ///< Steps of a run after the burn-in, all chains; 0: no limit.
  double seconds = 0;       ///< Wall clock of a run, the factor included; 0: no limit.
  /// Stops when the estimated error of the Bayes point, rad, is below this, after at least 20 draws
  /// of each of 4 chains or more. 0: no such limit.
  double accuracy = 0;
  /// Number of chains. The distance between several shows whether they have converged: without
  /// noise all but the first start at solutions of different perceptrons, if these are found and no
  /// start is given. Chains make draws in turn: more chains make fewer each, and each has a burn-in
  /// of its own.
  unsigned chains = 4;
  double label_noise = 0;  ///< q in [0, 1/2): the probability that a label is wrong.
  Direction directions = Direction::isotropic;  ///< Isotropic steps are longer.
  bool rao_blackwell = true;  ///< Average the mean of each step's law, not the drawn point.
  /// Number of steps per chain to discard. 0: 1000 + 20 r, r the rank; along inputs 1000 + 20 m.
  std::uint64_t burn_in = 0;
  Start start = Start::largest_margin;  ///< Start of the first chain, unless given.
  /// Dual coefficients of a start, inside version space if q = 0; empty: a start is searched, and
  /// with noise forgotten, since the noise falls from 1/2 to q in the first half of the burn-in.
  std::vector<double> start_coefficients{};
  double factor_tolerance = 0;  ///< Tolerance of the pivoted factor; 0: 1e-12, float 1e-5.

  using State = detail::ChainState<detail::GibbsChain>;  ///< State of the chains of a run.

  /// The sampler receives a `Cone`, no kernel values, and models label noise.
  static constexpr SamplerTraits traits{.sees = SamplerTraits::Sees::cone,
                                        .takes_label_noise = true};

  /// Visits the settings on which draws depend, besides their number: see `ConeSampler`.
  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("steps_per_draw", self.steps_per_draw);
    visit("chains", self.chains);
    visit("label_noise", self.label_noise);
    visit("directions", self.directions);
    visit("rao_blackwell", self.rao_blackwell);
    visit("burn_in", self.burn_in);
    visit("start", self.start);
    visit("start_coefficients", self.start_coefficients);
    visit("factor_tolerance", self.factor_tolerance);
  }

  /// Implements `ConeSampler`.
  template <detail::DrawSink Sink>
  SamplerReport sample(const Cone& cone, std::span<const double> start_point,
                       RandomStreams& streams, const RunControl& control, Sink&& sink,
                       State& state) const {
    return detail::run_chains(plan(), budget(), *this, cone, start_point, streams, control, sink,
                              state);
  }

  /// Returns the requirements on the cone: products for steps along inputs.
  [[nodiscard]] ConePlan plan() const {
    return {.name = "KernelGibbs",
            .draws = budget().draws.value_or(0),
            .factor_tolerance = factor_tolerance,
            .form_products = directions == Direction::input,
            .start = start,
            .start_coefficients = start_coefficients,
            .may_be_outside = label_noise > 0};
  }

  /// Returns this sampler with `count` draws as its only budget; a machine adds draws with it.
  [[nodiscard]] KernelGibbs with_draws(std::uint64_t count) const {
    KernelGibbs other = *this;
    other.draws = count;
    other.steps = 0;
    other.seconds = 0;
    other.accuracy = 0;
    return other;
  }

  /// Returns this sampler with this q, which a fit may choose.
  [[nodiscard]] KernelGibbs with_label_noise(double q) const {
    KernelGibbs other = *this;
    other.label_noise = q;
    return other;
  }

  /// Upper bound on the memory of cone and chains, since the rank is not known yet.
  [[nodiscard]] MemoryNeed memory_need(const RunSize& run) const {
    // Factor (which grows by doubling), rows and products; per chain directions with outputs, and
    // batches.
    return detail::chain_memory(run, directions == Direction::input ? 5 : 4, chains,
                                2 * 33 + 64 + 24);
  }

  /// \throws std::invalid_argument on settings out of range.
  void check_settings() const {
    const char* const f = "KernelGibbs";
    detail::check(label_noise >= 0 && label_noise < 0.5, f, "label_noise", "is ", label_noise,
                  ", must be at least 0 and below 1/2");
    detail::check(directions == Direction::isotropic || directions == Direction::input, f,
                  "directions", "is ", static_cast<int>(directions),
                  ", must be isotropic or input");
    detail::check_count(f, "burn_in", burn_in);
    budget().check_settings(plan(), "steps");
  }

 private:
  [[nodiscard]] detail::ChainBudget budget() const {
    return detail::ChainBudget::of(*this, steps_per_draw, steps);
  }
};

namespace detail {

/// A Markov chain of the law that `KernelGibbs` states, d the signed outputs: isotropic steps on
/// circles (gibbs_step.hpp), or steps along an input (gibbs_line.hpp).
///
/// **Sums** for E[b] use the exact mean of the law of a step given its circle or line
/// (Rao-Blackwell: the same expectation, no larger variance in one step), or the points drawn. On a
/// line that is the mean of w, and since norm and direction are independent E[w] = E[chi_r] E[b].
///
/// A copyable value; calls receive the cone it was made with. Equal settings, start and engine give
/// the same chain, however the calls divide it.
class GibbsChain {
 public:
  GibbsChain() = default;  ///< For reading a file.
  /// `start`: r coordinates or `cone.stride()`, any positive norm, inside version space if q = 0.
  /// Steps along inputs need `Cone::form_products`.
  GibbsChain(const Cone& cone, const KernelGibbs& settings, std::span<const double> start,
             RandomEngine engine)
      : settings_(settings),
        engine_(engine),
        burn_in_left_(settings.burn_in),
        mean_chi_(mean_chi(cone.rank())),
        state_(cone, start, settings.label_noise == 0),
        sum_(static_cast<std::size_t>(cone.stride()), 0.0) {
    if (burn_in_left_ == 0) {
      const bool input = settings.directions == KernelGibbs::Direction::input;
      burn_in_left_ = 1000 + 20 * static_cast<std::uint64_t>(input ? cone.points() : cone.rank());
    }
    set_penalty(cone, 1);
  }

  /// Makes at most `limit` steps of the burn-in; returns true when it is over.
  bool burn_in(const Cone& cone, std::uint64_t limit) {
    for (; burn_in_left_ > 0 && limit > 0; --limit) {
      if (settings_.start_coefficients.empty() && !state_.hard) lower_noise(cone);
      step(cone);
      ++burnt_;
      if (--burn_in_left_ == 0) {
        state_.settle(cone);
        std::fill(sum_.begin(), sum_.end(), 0.0);
        steps_ = 0;
        errors_ = 0;
        state_.repairs = 0;
      }
    }
    return burn_in_left_ == 0;
  }

  /// Makes at most `limit` steps towards the next draw, after the burn-in. Returns true when the
  /// chain is on the draw; the next call continues to the following one.
  bool advance(const Cone& cone, std::uint64_t limit) {
    for (; limit > 0; --limit) {
      step(cone);
      if (++steps_of_draw_ == settings_.steps_per_draw) {
        steps_of_draw_ = 0;
        state_.settle(cone);
        return true;
      }
    }
    return false;
  }

  /// Coordinates of the current state, `stride()` long, norm 1.
  [[nodiscard]] std::span<const double> position() const noexcept { return state_.x; }
  /// Divisor of the sums: steps since the burn-in.
  [[nodiscard]] double weight() const noexcept { return static_cast<double>(steps_); }
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
  /// Estimated cost of a step, in units of 0.5 ns, for callers that check the clock between slices.
  [[nodiscard]] std::uint64_t step_work(const Cone& cone) const noexcept {
    const auto m = static_cast<std::uint64_t>(cone.points());
    const auto r = static_cast<std::uint64_t>(cone.rank());
    const bool input = settings_.directions == KernelGibbs::Direction::input;
    return 200 + (input ? r : m * r / 16) + (state_.hard ? 8U : 300U) * m;
  }
  void add_to(ChainReport& report) const {
    report.steps += steps_;
    report.repairs += state_.repairs;
    report.burn_in += burnt_;
    if (steps_ > 0) report.mean_errors += static_cast<double>(errors_) / weight();
  }

  /// Computes x += scale * sum, `stride()` long: E[b] is sum / weight().
  void add_sum(const Cone& cone, double scale, double* x) const {
    add_scaled(x, scale, sum_.data(), cone.stride());
  }
  /// Adds the same sum as `add_sum`: none of its terms lies outside the cone's hull.
  void add_inside_sum(const Cone& cone, double scale, double* x) const { add_sum(cone, scale, x); }
  /// Computes alpha += scale * dual coefficients of the sum, m long.
  void add_dual_sum(const Cone& cone, double scale, double* alpha) const {
    cone.add_dual_coefficients(sum_.data(), scale, alpha);
  }

  /// Visits a chain on a draw, or after its burn-in before the first draw: the state is settled,
  /// with the outputs of its position, which if q = 0 is the last one known to be inside.
  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("engine", self.engine_);
    visit("normal", self.normal_);
    visit("position", self.state_.x, Bound::per_coordinate);
    visit("sum", self.sum_, Bound::per_coordinate);
    visit("directions", self.state_.directions);
    visit("steps", self.steps_, Bound::counted);
    visit("errors", self.errors_, Bound::counted);
    visit("repairs", self.state_.repairs, Bound::counted);
    visit("burnt", self.burnt_, Bound::counted);
    visit("steps_to_settle", self.steps_to_settle_, Bound::counted);
  }

  /// Completes a chain that was read. \throws std::invalid_argument on an invalid position.
  void take_up(const Cone& cone, const KernelGibbs& settings) {
    settings_ = settings;
    burn_in_left_ = 0;
    mean_chi_ = mean_chi(cone.rank());
    state_.hard = settings.label_noise == 0;
    check_position(cone, state_.x, state_.hard);
    state_.prepare(cone);
    state_.directions.take_up(cone);
    set_penalty(cone, 1);
  }

 private:
  /// Sets the weights of errors by a share of log((1 - q) / q).
  void set_penalty(const Cone& cone, double share) {
    penalty_ = {GibbsPenalty::beta_of(settings_.label_noise) * share, cone.points()};
  }

  /// Sets the noise of this step of the burn-in: log((1 - q) / q) rises in equal stages. At a low q
  /// a chain is slow to leave the training errors of its start.
  void lower_noise(const Cone& cone) {
    constexpr std::uint64_t stages = 32;
    const std::uint64_t total = burnt_ + burn_in_left_;
    const std::uint64_t stage = std::min(stages, 2 * stages * (burnt_ + 1) / total);
    if (stage != stage_ || burnt_ == 0) {
      stage_ = stage;
      set_penalty(cone, static_cast<double>(stage) / static_cast<double>(stages));
    }
  }

  void step(const Cone& cone) {
    if (cone.rank() == 1) {
      const GibbsMove to = state_.draw_of_two(penalty_, engine_);
      state_.add_to(sum_, settings_.rao_blackwell ? to.mean_b : to.of_b, 0, state_.x.data());
      if (to.of_b < 0) state_.flip();
    } else if (settings_.directions == KernelGibbs::Direction::input) {
      step_along_input(cone);
    } else {
      step_on_circle(cone, state_.next_direction(cone, engine_));
    }
    ++steps_;
    if (!state_.hard) errors_ += std::uint64_t(count_errors(state_.d.data(), cone.points()));
  }

  void step_on_circle(const Cone& cone, const RandomDirections::Direction& z) {
    const std::ptrdiff_t m = cone.points();
    const Arc arc = state_.hard ? free_arc(state_.d.data(), z, m) : Arc{};
    if (!state_.hard) circle_.cut(state_.d.data(), z, m);
    // Converts multiples of b and v to multiples of b and z.
    const auto of_b = [&](double c, double s) { return c - s * z.along / z.across; };
    make_step(m, z.vector, z.outputs, [&]() -> GibbsMove {
      const CirclePoint to =
          state_.hard ? point_of_arc(arc, engine_) : circle_.draw(penalty_, engine_);
      return {of_b(to.cosine, to.sine), to.sine / z.across, of_b(to.mean_cosine, to.mean_sine),
              to.mean_sine / z.across};
    });
  }

  void step_along_input(const Cone& cone) {
    if (steps_to_settle_ == 0) {
      state_.settle(cone);
      steps_to_settle_ = std::max<std::ptrdiff_t>(32, cone.rank());
    }
    --steps_to_settle_;
    std::ptrdiff_t i = 0;
    do {
      i = uniform_below(engine_, static_cast<std::uint32_t>(cone.points()));
    } while (!(cone.row_norm(i) > 0));
    const double feature = cone.row_norm(i);
    const double* s = cone.row(i);
    const double* p = cone.product_row(i);
    const std::ptrdiff_t m = cone.points();
    // The angle theta to s_i has the law |sin theta|^(r-2), not the uniform one: the circles
    // through s_i are the meridians of one pole.
    const double rho = chi_draw(cone.rank(), normal_, engine_);
    const double at = rho * state_.d[std::size_t(i)] / feature;
    make_step(m, s, p, [&]() -> GibbsMove {
      const LinePoint to =
          state_.hard
              ? point_of_free_line(state_.d.data(), p, m, at, rho * feature, normal_, engine_)
              : pieces_.draw(state_.d.data(), p, m, at, rho * feature, penalty_, normal_, engine_);
      const double rest = std::max(0.0, (rho - at) * (rho + at));
      const double norm = std::sqrt(rest + to.place * to.place);
      return {rho / norm, (to.place - at) / (feature * norm), rho / mean_chi_,
              (to.mean - at) / (feature * mean_chi_)};
    });
  }

  /// Moves to draw() and updates the sums; p are the outputs of z.
  template <class DrawMove>
  void make_step(std::ptrdiff_t points, const double* z, const double* p, DrawMove&& draw) {
    GibbsMove to{};
    const bool moved = state_.try_outputs(points, p, draw, to);
    if (settings_.rao_blackwell) state_.add_to(sum_, to.mean_b, to.mean_z, z);
    if (moved) combine(state_.x.data(), to.of_b, state_.x.data(), to.of_z, z, std::ssize(state_.x));
    if (!settings_.rao_blackwell) state_.add_to(sum_, 1, 0, state_.x.data());
  }

  KernelGibbs settings_;
  RandomEngine engine_;
  NormalDraws normal_;
  std::uint64_t burn_in_left_ = 0;
  std::uint64_t burnt_ = 0;
  std::uint64_t stage_ = 0;  ///< Stage of the falling noise.
  GibbsPenalty penalty_;
  double mean_chi_ = 1;
  GibbsState state_;
  std::vector<double> sum_;
  std::uint64_t steps_ = 0;
  std::uint64_t errors_ = 0;
  std::uint64_t steps_of_draw_ = 0;
  std::ptrdiff_t steps_to_settle_ = 0;
  GibbsCircle circle_;
  GibbsPieces pieces_;
};

}  // namespace detail
}}  // namespace bpm
