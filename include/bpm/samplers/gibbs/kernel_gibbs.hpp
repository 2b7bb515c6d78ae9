// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/chains/chain_run.hpp"
#include "bpm/samplers/chains/chain_state.hpp"
#include "bpm/samplers/gibbs/gibbs_chain.hpp"
#include "bpm/samplers/sample_version_space.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm { inline namespace BPM_TARGET {

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
  using Direction = detail::GibbsDirection;  ///< Direction of a step.

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
    const detail::GibbsChainSettings settings{label_noise,   directions,
                                              rao_blackwell, steps_per_draw,
                                              burn_in,       start_coefficients.empty()};
    return detail::run_chains(plan(), budget(), settings, cone, start_point, streams, control, sink,
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

}}  // namespace bpm
