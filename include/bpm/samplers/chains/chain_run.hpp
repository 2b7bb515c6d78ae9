// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/chains/chain_state.hpp"
#include "bpm/samplers/chains/largest_margin.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Least number of chains, and of draws of each, for an `accuracy`.
inline constexpr unsigned least_chains = 4;
inline constexpr unsigned least_draws = 20;

/// Budget of a run of chains: the settings that chain samplers have in common.
struct ChainBudget {
  std::optional<std::uint64_t> draws;  ///< Empty: 100, or with another budget no limit.
  std::uint64_t steps_per_draw = 0;
  std::uint64_t steps = 0;  ///< Limit of all chains of this run; 0: none.
  double seconds = 0;       ///< Limit of time; 0: none.
  double accuracy = 0;      ///< Limit of the standard error, rad; 0: none.
  unsigned chains = 1;

  /// Budget of a sampler's settings. `draws` is empty only if another budget ends the run.
  template <class Settings>
  [[nodiscard]] static ChainBudget of(const Settings& settings, std::uint64_t steps_per_draw,
                                      std::uint64_t steps) {
    ChainBudget all{settings.draws,   steps_per_draw,    steps,
                    settings.seconds, settings.accuracy, settings.chains};
    if (!all.draws && steps == 0 && all.seconds == 0 && all.accuracy == 0) all.draws = 100;
    return all;
  }

  /// \throws std::invalid_argument on settings out of range; `step_name`: "bounces" or "steps".
  void check_settings(const ConePlan& plan, std::string_view step_name) const {
    const std::string_view function = plan.name;
    check(draws != 0U, function, "draws", "is 0, must be 1 or more, or empty to leave it to ",
          step_name, ", seconds or accuracy");
    check(steps_per_draw >= 1, function, join(step_name, "_per_draw"), "is 0, must be 1 or more");
    check_count(function, "draws", draws.value_or(0));
    check_count(function, join(step_name, "_per_draw"), steps_per_draw);
    check_count(function, step_name, steps);
    check_not_negative(function, "seconds", seconds);
    check_not_negative(function, "accuracy", accuracy);
    check(chains >= 1 && chains <= most_chains, function, "chains", "is ", chains,
          ", must be from 1 to 1024");
    check(accuracy == 0 || chains >= least_chains, function, "chains", "is ", chains,
          ", must be at least ", least_chains, " where accuracy ends the run");
    check(
        plan.start == ConePlan::Start::largest_margin || plan.start == ConePlan::Start::perceptron,
        function, "start", "is ", static_cast<int>(plan.start),
        ", must be largest_margin or perceptron");
    check(plan.factor_tolerance >= 0 && plan.factor_tolerance < 1, function, "factor_tolerance",
          "is ", plan.factor_tolerance,
          ", must lie between 0 and 1 (0: chosen by the kernel's precision)");
    for (std::size_t i = 0; i < plan.start_coefficients.size(); ++i) {
      check(std::isfinite(plan.start_coefficients[i]), function, "start_coefficients", "at ", i,
            " is ", plan.start_coefficients[i], ", must be finite");
    }
  }
};

/// Memory of a run: m x m `matrices`; per chain `numbers` per point, once for each problem and
/// twice more for the running one; positions of a round; series of outputs, in the same multiples.
[[nodiscard]] inline MemoryNeed chain_memory(const RunSize& run, std::size_t matrices,
                                             unsigned chains, std::size_t numbers) {
  const auto m = static_cast<std::size_t>(padded<double>(run.points));
  const std::size_t series = OutputSeries::most_numbers(run.points) * (run.problems + 2);
  return {.bytes =
              sizeof(double) * (m * (matrices * m + chains * (numbers * (run.problems + 2) + 64)) +
                                chains * series)};
}

/// Runs chains in parallel, hands over their draws in order, and estimates the error of the centre.
///
/// Draw n is the next of chain n mod C, for any number of threads; a round makes a few draws of
/// each chain. The observer and the clock are checked between slices of a round. A run that ends
/// early goes back to the end of the last whole round, so that it equals a run of that many draws.
/// The state must have chains; only new ones have a burn-in.
///
/// A chain is a copyable value with a position in a cone, and has
///
///     bool burn_in(cone, limit);                    // At most so many steps; true when over.
///     bool advance(cone, limit);                    // At most so many steps; true when on a draw.
///     std::span<const double> position() const;
///     std::uint64_t step_work(cone) const;          // In units of about 0.5 ns.
///     void add_to(ChainReport& report) const;       // Adds its counts.
///     double weight() const;
///     void add_sum(cone, scale, x) const;           // x += scale weight() E[w], estimated,
///     void add_inside_sum(cone, scale, x) const;    // by a mean of points that are inside,
///     void add_dual_sum(cone, scale, alpha) const;  // and in dual coefficients.
///
/// and where trainings have it in files, `take_up(cone, settings)`, which completes it.
template <class Chain>
class ChainRun {
 public:
  ChainRun(const Cone& cone, const ChainBudget& budget, const RunControl& control,
           ChainState<Chain>& state)
      : cone_(cone), budget_(budget), control_(control), state_(state) {
    // A slice is some 20 ms of work; a round is a slice, or one draw per chain.
    constexpr std::uint64_t slice_work = 40'000'000;
    const auto threads = std::min<std::uint64_t>(std::max(1U, control_.threads), chain_count());
    const std::uint64_t turns = (chain_count() + threads - 1) / threads;
    slice_ = std::max<std::uint64_t>(16, slice_work / state_.chains[0].step_work(cone_) / turns);
    round_ = std::clamp<std::uint64_t>(slice_ / budget_.steps_per_draw, 1, 64);
    state_.series.resize(chain_count());
  }

  template <class Sink>
  SamplerReport go(bool fresh, std::uint64_t& next_draw, Sink& sink) {
    if (fresh && !in_slices("burn-in", [&](std::size_t c) {
          return state_.chains[c].burn_in(cone_, slice_);
        })) {
      state_ = {};
      report_.stopped = true;
      report_.reason = "stopped in the burn-in, before the first draw";
      return report_;
    }
    const ChainReport before = counts();
    while (!report_.converged && !report_.stopped) {
      round(next_draw, sink);
      steps_ = counts().steps - before.steps;
      if (!report_.stopped && !report_.converged) report_.converged = enough();
    }
    if (state_.draws > 0) {
      state_.centre_of_mass = centre_of(cone_, std::span<const Chain>(state_.chains));
    }
    report_.chains = judge_chains(cone_, state_);
    const ChainAgreement agreement = agreement_of(state_.series, series_points_.size());
    report_.chains->r_hat = agreement.r_hat;
    report_.chains->bulk_effective_draws = agreement.effective_draws;
    report_.chains->steps = steps_;
    report_.chains->refreshes -= before.refreshes;
    if (!fresh) report_.chains->repairs -= before.repairs;
    return report_;
  }

 private:
  [[nodiscard]] std::size_t chain_count() const noexcept { return state_.chains.size(); }
  /// Sums the counts of the chains.
  [[nodiscard]] ChainReport counts() const {
    ChainReport sums;
    for (const Chain& chain : state_.chains) chain.add_to(sums);
    return sums;
  }

  [[nodiscard]] double seconds_used() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - control_.begin).count();
  }
  [[nodiscard]] bool out_of_time() const {
    return budget_.seconds > 0 && seconds_used() >= budget_.seconds;
  }

  /// Works on every chain until `part(c)` returns true. Returns false if the run was stopped, or is
  /// out of time after at least one draw.
  template <class Part>
  [[nodiscard]] bool in_slices(std::string_view stage, Part&& part) {
    std::vector<char> done(chain_count(), 0);
    while (true) {
      if (!control_.go_on({.stage = stage,
                           .fraction = fraction(),
                           .draws = report_.draws,
                           .draws_total = budget_.draws.value_or(0),
                           .mistakes = steps_,
                           .change = change_})) {
        return false;
      }
      if (report_.draws > 0 && out_of_time()) {
        report_.converged = true;
        return false;
      }
      parallel_for(control_.threads, std::ssize(done), [&](unsigned /*worker*/, std::ptrdiff_t c) {
        if (done[std::size_t(c)] == 0 && part(std::size_t(c))) done[std::size_t(c)] = 1;
      });
      if (std::find(done.begin(), done.end(), 0) == done.end()) return true;
    }
  }

  /// Makes a few draws of each chain, and hands them over.
  template <class Sink>
  void round(std::uint64_t& next_draw, Sink& sink) {
    const auto chains = static_cast<std::uint64_t>(chain_count());
    std::uint64_t count = round_ * chains;
    if (budget_.draws) count = std::min(count, *budget_.draws - report_.draws);
    if (budget_.steps > 0) {
      const std::uint64_t left = budget_.steps - std::min(budget_.steps, steps_);
      count = std::min(count, std::max<std::uint64_t>(
                                  1, (left + budget_.steps_per_draw - 1) / budget_.steps_per_draw));
    }
    // Draws first .. first + count - 1; draws_below(n, c) of chain c have numbers below n.
    const std::uint64_t first = state_.draws;
    const auto draws_below = [&](std::uint64_t n, std::uint64_t c) {
      return (n + chains - 1 - c) / chains;
    };
    ChainState<Chain> before = state_;
    std::vector<std::vector<std::vector<double>>> positions(chain_count());
    const bool whole = in_slices("draws", [&](std::size_t c) {
      Chain& chain = state_.chains[c];
      auto& mine = positions[c];
      std::uint64_t left = slice_;
      const std::uint64_t earlier = draws_below(first, c);
      const std::uint64_t wanted = draws_below(first + count, c) - earlier;
      while (mine.size() < wanted && left > 0) {
        // Short draws: a slice has several whole ones, and the clock is not checked in between.
        if (chain.advance(cone_, left)) {
          const auto here = chain.position();
          mine.emplace_back(here.begin(), here.end());
          state_.series[c].add(earlier + mine.size(), cone_, here.data(), series_points_);
          BatchMeans& batches = state_.batches[c];
          if (batches.wanted(earlier + mine.size())) {
            std::vector<double> sum(static_cast<std::size_t>(cone_.stride()), 0.0);
            chain.add_sum(cone_, 1.0, sum.data());
            batches.add(std::move(sum), chain.weight());
          }
          left -= std::min(left, budget_.steps_per_draw);
        } else {
          left = 0;
        }
      }
      return mine.size() >= wanted;
    });
    if (!whole) {
      state_ = std::move(before);
      if (!report_.converged) {
        report_.stopped = true;
        report_.reason = "stopped";
      }
      return;
    }
    std::vector<PointIndex> support(cone_.pivots().begin(), cone_.pivots().end());
    std::sort(support.begin(), support.end());
    std::vector<double> outputs(static_cast<std::size_t>(cone_.points()));
    for (std::uint64_t n = first; n < first + count; ++n) {
      const double* position = positions[n % chains][(n - first) / chains].data();
      std::vector<double> alpha(outputs.size(), 0.0);
      cone_.add_dual_coefficients(position, 1.0, alpha.data());
      std::vector<double> coefficients;
      for (const PointIndex i : support) coefficients.push_back(alpha[std::size_t(i)]);
      cone_.outputs(position, outputs.data());
      for (std::ptrdiff_t i = 0; i < cone_.points(); ++i) outputs[std::size_t(i)] *= cone_.label(i);
      sink(Draw{.number = next_draw++,
                .support = support,
                .coefficients = coefficients,
                .outputs = outputs});
    }
    state_.draws += count;
    report_.draws += count;
  }

  /// Estimated used part of the budget.
  [[nodiscard]] double fraction() const {
    double part = 0;
    if (budget_.draws) {
      part = static_cast<double>(report_.draws) / static_cast<double>(*budget_.draws);
    }
    if (budget_.steps > 0) {
      part = std::max(part, static_cast<double>(steps_) / static_cast<double>(budget_.steps));
    }
    if (budget_.seconds > 0) part = std::max(part, seconds_used() / budget_.seconds);
    return std::min(1.0, part);
  }

  [[nodiscard]] bool enough() {
    trace();
    if ((budget_.draws && report_.draws >= *budget_.draws) ||
        (budget_.steps > 0 && steps_ >= budget_.steps) || out_of_time()) {
      return true;
    }
    if (budget_.accuracy > 0 && state_.draws >= least_draws * chain_count()) {
      return judge_chains(cone_, state_).standard_error <= budget_.accuracy;
    }
    return false;
  }

  /// Computes the change per step reported to the observer: see `Progress::change`.
  void trace() {
    if (!control_.observer) {
      return;
    }
    CentreOfMass now = centre_of(cone_, std::span<const Chain>(state_.chains), false);
    if (!last_.coefficients.empty() && steps_ > last_steps_) {
      double sum = 0;
      for (std::size_t i = 0; i < now.coefficients.size(); ++i) {
        sum += std::abs(now.coefficients[i] / now.norm - last_.coefficients[i] / last_.norm);
      }
      change_ = sum / static_cast<double>(steps_ - last_steps_);
    }
    last_ = std::move(now);
    last_steps_ = steps_;
  }

  const Cone& cone_;
  const ChainBudget& budget_;
  const RunControl& control_;
  ChainState<Chain>& state_;
  std::vector<std::ptrdiff_t> series_points_ = OutputSeries::points_of(cone_.points());
  std::uint64_t slice_ = 0;
  std::uint64_t round_ = 1;
  SamplerReport report_;
  std::uint64_t steps_ = 0;  ///< Steps of this run, after the burn-in.
  CentreOfMass last_;
  std::uint64_t last_steps_ = 0;
  double change_ = 0;
};

/// Continues `state`, or starts new chains of `settings` if it is empty, the first from `start`,
/// each with a stream of its own: stream 0 is for the search for a start, and two runs share none.
/// \throws std::invalid_argument if the state evidently belongs to another version space, or has
/// another number of chains; on a start of another size or outside version space, and without
/// products that the plan asks for.
template <class Chain, class Settings, class Sink>
SamplerReport run_chains(const ConePlan& plan, const ChainBudget& budget, const Settings& settings,
                         const Cone& cone, std::span<const double> start, RandomStreams& streams,
                         const RunControl& control, Sink& sink, ChainState<Chain>& state) {
  const bool fresh = state.empty();
  check(fresh || (state.points == cone.points() && state.rank == cone.rank()), plan.name, "state",
        "belongs to a version space of ", state.points, " points and rank ", state.rank,
        ", not of ", cone.points(), " and ", cone.rank(), "; use an empty state for another one");
  check(fresh || state.chains.size() == budget.chains, plan.name, "chains", "is ", budget.chains,
        ", the state that goes on has ", state.chains.size());
  if (fresh) {
    const std::ptrdiff_t entries = std::ssize(start);
    check(entries == cone.rank() || entries == cone.stride(), plan.name, "start", "has ", entries,
          " entries, must have ", cone.rank(), ", the rank of the cone");
    check(!plan.form_products || cone.has_products(), plan.name, "cone",
          "has no products, which steps along inputs need: call Cone::form_products");
    state.start_margin = cone.smallest_output(start).first;
    check(plan.may_be_outside || state.start_margin > 0, plan.name, "start",
          "lies outside version space");
    std::vector<RandomEngine> engines;
    for (unsigned c = 0; c < budget.chains; ++c) {
      engines.push_back(streams.stream(most_chains * streams.next + 1 + c));
    }
    std::vector<std::vector<double>> starts(budget.chains, {start.begin(), start.end()});
    parallel_for(thread_count(control.threads), std::ssize(starts),
                 [&](unsigned /*worker*/, std::ptrdiff_t c) {
                   if (c > 0)
                     starts[std::size_t(c)] =
                         chain_start(cone, plan, start, engines[std::size_t(c)]);
                 });
    for (unsigned c = 0; c < budget.chains; ++c) {
      state.chains.emplace_back(cone, settings, starts[c], engines[c]);
    }
    state.batches.resize(budget.chains);
    state.points = cone.points();
    state.rank = cone.rank();
  }
  if constexpr (requires(Chain& chain) { chain.take_up(cone, settings); }) {
    for (Chain& chain : state.chains) {
      if (state.read) chain.take_up(cone, settings);
    }
    state.read = false;
  }
  return ChainRun<Chain>(cone, budget, control, state).go(fresh, streams.next, sink);
}

}}}  // namespace bpm::detail
