// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/billiard/geodesic_chain.hpp"
#include "bpm/samplers/chains/chain_run.hpp"
#include "bpm/samplers/chains/chain_state.hpp"
#include "bpm/samplers/sample_version_space.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// Billiards in version space ("Robust Bayes Point Machines"; "Convergence of the Bayes Point
/// Machine"): several balls move independently, and their paths are averaged. They fly on great
/// circles and take new directions from time to time, so that the law is uniform and the average
/// tends to the centre of mass (the straight flight of the papers is biased); see
/// `detail::GeodesicChain`.
///
/// Draws are points at equal steps of the path, from the chains in turn. The centre of mass is the
/// mean of the whole path, not of the draws; a machine predicts with it.
///
///     const bpm::BayesPointMachine machine(bpm::Gaussian::from_sigma(1.0), bpm::Billiard{});
///     const auto fitted = machine.fit(inputs, labels);
///     fitted.report().chains->standard_error;   // radians from the true centre, estimated
///
/// A run ends at the first of the budgets that are set (at the end of a round of draws). Cost: K
/// once, m r^2 for the factor and m^2 r for its products; then O(m) a bounce, and O(m r) at each
/// new direction. Memory: m^2 + m r doubles, and while the factor is made up to 3 m r.
/// Threads work on different chains.
struct Billiard {
  /// Start of the first chain, unless the caller gives one.
  using Start = ConePlan::Start;

  /// Number of draws, at least 1. Empty: 100, or with another budget as many as that budget allows.
  std::optional<std::uint64_t> draws{};
  std::uint64_t bounces_per_draw = 1000;  ///< Path between draws, in mean free paths.
  std::uint64_t bounces = 0;  ///< Bounces of a run after the burn-in, all chains; 0: no limit.
  double seconds = 0;         ///< Wall clock of a run, the factor included; 0: no limit.
  /// Stops when the weight of a new arc in the average is below this, as the papers do: at 1 /
  /// tolerance bounces. It does not bound the error; `accuracy` does. 0: no such limit.
  double tolerance = 0;
  /// Stops when the estimated error of the Bayes point, rad, is below this, after at least 20 draws
  /// of each of 4 chains or more. 0: no such limit.
  double accuracy = 0;
  /// Number of chains. The distance between several shows whether they have converged: all but the
  /// first start at solutions of different perceptrons, if these are found and no start is given.
  /// Chains make draws in turn: more chains make fewer each, and each has a burn-in of its own.
  unsigned chains = 4;
  /// Mean path between new directions. 0: chosen in the burn-in, then fixed; infinity: no new
  /// directions, which does not mix where the planes are nearly orthogonal.
  double refresh_length = 0;
  /// Least number of bounces per chain to discard first; 0: 8192. The choice of the refresh length
  /// takes some 25 000 to 35 000 in any case.
  std::uint64_t burn_in = 0;
  Start start = Start::largest_margin;  ///< Start of the first chain, unless given.
  /// Dual coefficients of a start inside version space; empty: a start is searched.
  std::vector<double> start_coefficients{};
  double factor_tolerance = 0;  ///< Tolerance of the pivoted factor; 0: 1e-12, float 1e-5.

  using State = detail::ChainState<detail::GeodesicChain>;  ///< State of the chains of a run.

  /// The sampler receives a `Cone`, no kernel values.
  static constexpr SamplerTraits traits{.sees = SamplerTraits::Sees::cone};

  /// Visits the settings on which draws depend, besides their number: see `ConeSampler`.
  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("bounces_per_draw", self.bounces_per_draw);
    visit("chains", self.chains);
    visit("refresh_length", self.refresh_length);
    visit("burn_in", self.burn_in);
    visit("start", self.start);
    visit("start_coefficients", self.start_coefficients);
    visit("factor_tolerance", self.factor_tolerance);
  }

  /// Implements `ConeSampler`. The cone must have products.
  template <detail::DrawSink Sink>
  SamplerReport sample(const Cone& cone, std::span<const double> start_point,
                       RandomStreams& streams, const RunControl& control, Sink&& sink,
                       State& state) const {
    const detail::GeodesicSettings settings{refresh_length, bounces_per_draw, burn_in};
    return detail::run_chains(plan(), budget(), settings, cone, start_point, streams, control, sink,
                              state);
  }

  /// Returns the requirements on the cone: among others its products, whose rows are used.
  [[nodiscard]] ConePlan plan() const {
    return {.name = "Billiard",
            .draws = budget().draws.value_or(0),
            .factor_tolerance = factor_tolerance,
            .form_products = true,
            .start = start,
            .start_coefficients = start_coefficients};
  }

  /// Returns this sampler with `count` draws as its only budget; a machine adds draws with it.
  [[nodiscard]] Billiard with_draws(std::uint64_t count) const {
    Billiard other = *this;
    other.draws = count;
    other.bounces = 0;
    other.seconds = 0;
    other.accuracy = 0;
    other.tolerance = 0;
    return other;
  }

  /// Upper bound on the memory of cone and balls, since the rank is not known yet.
  [[nodiscard]] MemoryNeed memory_need(const RunSize& run) const {
    // Products, factor (which grows by doubling) and rows; per chain numbers, directions, batches.
    return detail::chain_memory(run, 5, chains, 24 + 32 + 64 + 16);
  }

  /// \throws std::invalid_argument on settings out of range.
  void check_settings() const {
    const char* const f = "Billiard";
    detail::check(std::isfinite(tolerance) && tolerance >= 0 && tolerance < 1, f, "tolerance",
                  "is ", tolerance, ", must be at least 0 and below 1");
    detail::check(refresh_length >= 0, f, "refresh_length", "is ", refresh_length,
                  ", must be positive, or 0 to have it chosen");
    detail::check(refresh_length == 0 || refresh_length >= 1e-3, f, "refresh_length", "is ",
                  refresh_length, ", must be at least 0.001, or 0 to have it chosen");
    detail::check_count(f, "burn_in", burn_in);
    budget().check_settings(plan(), "bounces");
  }

 private:
  [[nodiscard]] detail::ChainBudget budget() const {
    std::uint64_t limit = bounces;
    if (tolerance > 0) {
      const auto told = static_cast<std::uint64_t>(std::min(1e18, std::ceil(1 / tolerance)));
      limit = bounces > 0 ? std::min(bounces, told) : told;
    }
    return detail::ChainBudget::of(*this, bounces_per_draw, limit);
  }
};

}}  // namespace bpm
