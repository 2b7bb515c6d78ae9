// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/samplers/billiard/billiard_chain.hpp"
#include "bpm/samplers/chains/chain_budget.hpp"
#include "bpm/samplers/chains/chain_run.hpp"
#include "bpm/samplers/chains/chain_start.hpp"
#include "bpm/samplers/chains/chain_state.hpp"
#include "bpm/samplers/chains/start.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm {

/// Billiards in version space ("Robust Bayes Point Machines"; "Convergence of the Bayes Point
/// Machine"): several balls side by side, whose paths are averaged. With the geodesic flight, the
/// default, the law is the uniform one and the average tends to the centre of mass; see
/// `BasicGeodesicChain` for how, `PublishedChain` for the flight of the papers, which is biased.
///
/// Draws are points at equal steps of the path, turn by turn of the chains. The centre of mass is
/// not the mean of the draws but that of the whole path between them; a machine predicts with it.
///
///     const bpm::BayesPointMachine machine(bpm::Gaussian::from_sigma(1.0), bpm::Billiard{});
///     const auto fitted = machine.fit(inputs, labels);
///     fitted.report().chain.standard_error;   // radians from the true centre, estimated
///
/// A run ends at the first of the budgets that are set (at the end of a round of draws). Cost: K
/// once, m r^2 for the factor and m^2 r for its products; then O(m) a bounce, and O(m r) at each
/// new direction. Memory: m^2 + 2 m r doubles, and while the factor is made up to twice that.
/// Threads work on different chains.
struct Billiard {
  /// Draws to hand over, at least 1. Empty: 100, or where another budget is set, as many as that
  /// allows.
  std::optional<std::uint64_t> draws{};
  std::uint64_t bounces_per_draw = 1000;  ///< Path between draws: so many mean free paths.
  std::uint64_t bounces = 0;  ///< Bounces of a run after the burn-in, all chains; 0: no limit.
  double seconds = 0;         ///< Wall clock of a run, the factor included; 0: no limit.
  /// Stop when the weight of a new arc in the average is below this, as the papers do: at
  /// 1 / tolerance bounces. It says nothing of the error; `accuracy` does. 0: not asked for.
  double tolerance = 0;
  double accuracy = 0;  ///< Stop when the estimated error of the Bayes point, rad, is below; 0: no.
  unsigned chains = 2;  ///< Balls; two or more show by their distance whether they have converged.
  Flight flight = Flight::geodesic;
  /// Geodesic flight: mean path between new directions. 0: chosen in the burn-in, then frozen;
  /// infinity: never, which does not mix where the planes are nearly orthogonal.
  double refresh_length = 0;
  /// Geodesic flight: bounces a chain to throw away first, at least; 0: 8192. Choosing the refresh
  /// length takes some 25 000 to 35 000 whatever is said here.
  std::uint64_t burn_in = 0;
  Start start = Start::largest_margin;
  /// Dual coefficients of a start inside; empty: searched.
  std::vector<double> start_coefficients{};
  double factor_tolerance = 0;  ///< Of the pivoted factor; 0: 1e-12, for float kernel values 1e-5.

  using State = ChainState<BilliardChain>;

  /// Makes draws from a new start. See `Sampler`.
  /// \throws std::invalid_argument on settings out of range, or a start outside version space.
  template <VersionSpace Space, DrawSink Sink>
  SamplerReport sample(const Space& space, RandomStreams& streams, const RunControl& control,
                       Sink&& sink) const {
    State state;
    return sample(space, streams, control, sink, state);
  }

  /// Goes on from `state`, or starts where it is empty; afterwards `state.centre()` is the centre
  /// of mass by all draws since. Where no classifier separates the data the report says so.
  template <VersionSpace Space, DrawSink Sink>
  SamplerReport sample(const Space& space, RandomStreams& streams, const RunControl& control,
                       Sink&& sink, State& state) const {
    check_settings();
    detail::check(space.size() > 0, "Billiard", "space", "has no points");
    const detail::ChainBudget budget = chain_budget();
    const auto stopped = [&](std::string_view stage) {
      return !control.go_on({.stage = stage, .draws_total = budget.draws.value_or(0)});
    };
    SamplerReport report;
    if (stopped("factor")) {
      return detail::stopped_early(report);
    }
    Cone cone = Cone(space, factor_tolerance);
    detail::check_state(state, cone, "Billiard");
    if (stopped("products")) {
      return detail::stopped_early(report);
    }
    cone.form_products();
    if (stopped("start")) {
      return detail::stopped_early(report);
    }
    detail::ChainStart start_point;
    if (state.empty()) {
      start_point = detail::find_start(cone, budget, streams.seed, "Billiard");
      if (start_point.position.empty()) {
        report.reason = start_point.reason;
        return report;
      }
      state.start_margin = start_point.margin;
    }
    const BilliardChainSettings settings{flight, refresh_length, bounces_per_draw, burn_in};
    const std::uint64_t first_stream = streams.next;
    detail::ChainRun<BilliardChain> run(cone, budget, control, state);
    report = run.go(
        [&](unsigned c) {
          // Stream 0 is the start search's; two runs share none.
          return BilliardChain(cone, settings, start_point.position,
                               streams.stream(detail::most_chains * first_stream + 1 + c));
        },
        streams.next, sink);
    report.mistakes = start_point.mistakes;
    return report;
  }

  /// The same sampler with `count` draws as its only budget: how a machine adds draws.
  [[nodiscard]] Billiard with_draws(std::uint64_t count) const {
    Billiard other = *this;
    other.draws = count;
    other.bounces = 0;
    other.seconds = 0;
    other.accuracy = 0;
    other.tolerance = 0;
    return other;
  }

  /// Bytes that a run holds beside the kernel values.
  [[nodiscard]] std::size_t bytes_needed(std::ptrdiff_t points, std::size_t problems,
                                         unsigned /*threads*/, std::size_t /*scalar_bytes*/) const {
    const auto m = static_cast<std::size_t>(detail::padded<double>(points));
    // Products, factor (which grows by doubling) and rows; a chain's numbers, directions and
    // batches, kept for each problem, and twice more for the one that runs; positions of a round.
    constexpr std::size_t chain = 24 + 32 + 64 + 16;
    return sizeof(double) * m * (5 * m + chains * (chain * (problems + 2) + 64));
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
    detail::check(flight == Flight::geodesic || flight == Flight::published, f, "flight", "is ",
                  static_cast<int>(flight), ", must be geodesic or published");
    chain_budget().check_settings(f, "bounces");
  }

 private:
  [[nodiscard]] detail::ChainBudget chain_budget() const {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t limit = bounces;
    if (tolerance > 0) {
      const double by_tolerance = std::min(1e18, std::ceil(1 / tolerance));
      limit = std::min(limit == 0 ? most : limit, static_cast<std::uint64_t>(by_tolerance));
    }
    detail::ChainBudget budget;
    budget.draws = draws;
    budget.steps_per_draw = bounces_per_draw;
    budget.steps = limit;
    budget.seconds = seconds;
    budget.accuracy = accuracy;
    budget.chains = chains;
    budget.start = start;
    budget.start_coefficients = start_coefficients;
    budget.factor_tolerance = factor_tolerance;
    budget.choose_draws();
    return budget;
  }
};

}  // namespace bpm
