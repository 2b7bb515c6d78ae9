// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/crew.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/samplers/perceptron/ordered_delivery.hpp"
#include "bpm/samplers/perceptron/perceptron_state.hpp"
#include "bpm/samplers/perceptron/row_perceptron.hpp"
#include "bpm/samplers/perceptron/windowed_perceptron.hpp"
#include "bpm/samplers/sampler.hpp"

namespace bpm {

/// Which point a perceptron looks at next.
enum class PerceptronOrder {
  permuted,  ///< The next of a random permutation, over and over.
  greedy,    ///< The one with the smallest signed output; costs O(m) a mistake more.
};

/// Kernel perceptrons on random permutations of the training set ("Large Scale Bayes Point
/// Machines", section 3): draw n visits the points in a random order of its own until a full pass
/// makes no mistake; a mistake (d_i <= margin) adds y_i to alpha_i and y_i K_i. to the outputs. The
/// draw is w / norm(w).
///
/// The draws are not uniform on version space, but their mean is a good Bayes point, and they cost
/// little: by Novikoff's theorem a run makes at most (R^2 + 2 margin) / gamma^2 mistakes, R^2 the
/// largest S_ii and gamma the largest attainable min_i d_i / norm(w), and each costs one kernel row
/// and an axpy of length m. Where rows are not in memory, windowed evaluation computes the same
/// numbers at matrix-product speed in O(m) memory; both give the same bits.
///
/// Threads work on different draws, and where there are more of them than draws, in windowed
/// evaluation, on the windows of one. The result depends on the seed alone, not on their number.
struct PermutedPerceptron {
  std::uint64_t draws = 10;  ///< Classifiers to make; at least 1.
  /// Passes over the training set that a draw may take. 0: 1000, or on small sets as many as make
  /// 5e7 visits to a point, which is a second or so. In greedy order m mistakes count as a pass,
  /// and 0 means 20 passes, or 5e7 / m mistakes on small sets.
  std::uint64_t max_passes = 0;
  std::uint64_t max_mistakes = 0;  ///< Mistakes a draw may make in a problem; 0: no limit.
  double margin = 0;  ///< Signed output (of the w before scaling) up to which a point is a mistake.
  PerceptronOrder order = PerceptronOrder::permuted;

  static constexpr SamplerTraits traits{.computes_blocks = true};

  /// Makes the draws of problems that share their kernel values, on one permutation a draw; the
  /// result equals problem by problem, bit for bit. See `KernelSampler`.
  /// \throws std::invalid_argument on settings out of range or problems of different size.
  template <VersionSpace Space, DrawSink Sink>
  SamplerReport sample(std::span<const Space> spaces, RandomStreams& streams,
                       const RunControl& control, Sink&& sink) const {
    check_settings();
    detail::check(!spaces.empty(), "PermutedPerceptron", "spaces", "is empty, expected a problem");
    detail::check(spaces[0].size() > 0, "PermutedPerceptron", "spaces", "have no points");
    for (const Space& space : spaces) {
      detail::check_size("PermutedPerceptron", "spaces", space.size(), spaces[0].size(),
                         "as the first problem has");
    }
    Run<Space> run(*this, spaces, streams, control);
    return order == PerceptronOrder::permuted && !spaces[0].rows_in_memory()
               ? run.template go<detail::WindowedPerceptron<Space>>(sink)
               : run.template go<detail::RowPerceptron<Space>>(sink);
  }

  /// The same with this many draws.
  [[nodiscard]] PermutedPerceptron with_draws(std::uint64_t count) const {
    PermutedPerceptron other = *this;
    other.draws = count;
    return other;
  }

  /// Draws in progress at a time: as many as threads, or fewer if `draws_at_once` is not 0. Columns
  /// are those of their windows.
  [[nodiscard]] MemoryNeed memory_need(const RunSize& run) const {
    const auto [points, problems, threads, scalar_bytes, at_once] = run;
    const std::size_t workers =
        draws_at_once(*this, {.threads = threads, .draws_at_once = at_once});
    const auto m = static_cast<std::size_t>(points);
    const std::size_t state =
        problems * m * (sizeof(double) + sizeof(std::int32_t) + 1) + m * sizeof(PointIndex);
    const std::size_t solution = problems * m * sizeof(double);
    // The mistakes of two passes, which rarely are as many as the points.
    constexpr std::size_t mistake = 48;
    constexpr std::size_t block = 256 * 128;
    constexpr std::size_t step_lists = std::size_t{1} << 17U;
    const std::size_t windows = threads > 1 ? std::min(2 * threads, 16U) : 1U;
    return {.bytes = workers * (state + m * mistake) +
                     threads * (block * scalar_bytes + step_lists) +
                     (workers + results_ahead) * solution,
            .columns = workers * std::min(std::size_t{256} * windows, m)};
  }

  /// \throws std::invalid_argument on settings out of range.
  void check_settings() const {
    const char* const f = "PermutedPerceptron";
    detail::check(draws >= 1, f, "draws", "is ", draws, ", must be 1 or more");
    detail::check(std::isfinite(margin) && margin >= 0, f, "margin", "is ", margin,
                  ", must be finite and not negative");
    detail::check(order == PerceptronOrder::permuted || order == PerceptronOrder::greedy, f,
                  "order", "is ", static_cast<int>(order), ", must be permuted or greedy");
  }

 private:
  static constexpr std::size_t results_ahead = 2;

  /// Greedy order: a step costs 2 m operations and, without rows in memory, m kernel evaluations.
  [[nodiscard]] std::uint64_t step_limit(std::ptrdiff_t points) const {
    const auto m = static_cast<std::uint64_t>(points);
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    if (max_passes == 0) {
      return std::max(20 * m, 50'000'000 / m);
    }
    return max_passes > most / m ? most : max_passes * m;
  }

  [[nodiscard]] static unsigned draws_at_once(const PermutedPerceptron& settings,
                                              const RunControl& control) {
    std::uint64_t most = std::min<std::uint64_t>(std::max(1U, control.threads), settings.draws);
    if (control.draws_at_once != 0) most = std::min<std::uint64_t>(most, control.draws_at_once);
    return static_cast<unsigned>(most);
  }

  [[nodiscard]] std::uint64_t pass_limit(std::ptrdiff_t points) const {
    return max_passes != 0
               ? max_passes
               : std::max<std::uint64_t>(1000, 50'000'000 / static_cast<std::uint64_t>(points));
  }

  /// One call of sample.
  template <class Space>
  class Run {
   public:
    Run(const PermutedPerceptron& settings, std::span<const Space> spaces, RandomStreams& streams,
        const RunControl& control)
        : settings_(settings),
          spaces_(spaces),
          streams_(streams),
          control_(control),
          threads_(std::max(1U, control.threads)),
          at_once_(draws_at_once(settings, control)),
          delivery_(settings.draws, at_once_ + results_ahead),
          fractions_(threads_, 0.0) {}

    template <class Perceptron, class Sink>
    SamplerReport go(Sink& sink) {
      std::vector<typename Perceptron::Hand> hands(threads_);
      // The first threads make draws, all others help them, as those do that find none left.
      detail::parallel_for(threads_, threads_, [&](unsigned worker, std::ptrdiff_t role) {
        if (role < at_once_) {
          // An error ends the hand-out of roles: nobody waits for those that were not taken.
          if (role > 0) crew_.enter();
          try {
            work<Perceptron>(worker, hands, sink);
          } catch (...) {
            delivery_.end_at(0, [] {});
            crew_.leave();
            throw;
          }
          crew_.leave();
        }
        crew_.help(worker);
      });
      for (const auto& hand : hands) {
        report_.kernel_evaluations += hand.scratch.evaluations;
        report_.kernel_seconds += hand.scratch.seconds / threads_;
      }
      report_.perceptron = counts_;
      report_.draws = delivery_.delivered();
      streams_.next += report_.draws;
      report_.converged = report_.draws == settings_.draws;
      return report_;
    }

   private:
    /// A finished draw: a classifier a problem, and what they cost.
    struct Result {
      std::vector<detail::PerceptronSolution> solutions;
      std::uint64_t errors = 0;
      std::uint64_t mistakes = 0;
      std::uint64_t passes = 0;
    };

    template <class Perceptron, class Sink>
    void work(unsigned worker, std::span<typename Perceptron::Hand> hands, Sink& sink) {
      Perceptron perceptron(spaces_);
      const detail::PerceptronLimits limits{settings_.pass_limit(spaces_[0].size()),
                                            settings_.step_limit(spaces_[0].size()),
                                            settings_.max_mistakes, settings_.margin};
      std::uint64_t n = 0;
      while (delivery_.take(n)) {
        const RandomEngine engine = streams_.stream(streams_.next + n);
        const auto go_on = [&](double passes) { return proceed(worker, n, passes); };
        detail::PerceptronOutcome outcome{};
        if constexpr (requires { &Perceptron::is_greedy; }) {
          perceptron.is_greedy = settings_.order == PerceptronOrder::greedy;
        }
        outcome = perceptron.run(limits, engine, hands, worker, crew_, go_on);
        if (outcome != detail::PerceptronOutcome::consistent) {
          give_up(n, outcome, perceptron.state());
          continue;
        }
        Result result;
        for (std::size_t c = 0; c < spaces_.size(); ++c) {
          result.solutions.push_back(perceptron.solution(c));
          result.errors += result.solutions.back().errors;
          result.mistakes += perceptron.state().problems[c].mistakes;
          result.passes += perceptron.state().problems[c].passes;
        }
        delivery_.deliver(n, std::move(result), [&](std::uint64_t number, const Result& finished) {
          hand_over(worker, number, finished, sink);
        });
      }
    }

    template <class Sink>
    void hand_over(unsigned worker, std::uint64_t number, const Result& result, Sink& sink) {
      {
        const std::scoped_lock lock(mutex_);
        fractions_[worker] = 0;
        ++finished_;
        counts_.training_errors += result.errors;
        counts_.mistakes += result.mistakes;
        counts_.passes += result.passes;
      }
      const auto& solutions = result.solutions;
      for (std::size_t c = 0; c < solutions.size(); ++c) {
        sink(Draw{.number = streams_.next + number,
                  .problem = c,
                  .support = solutions[c].support,
                  .coefficients = solutions[c].coefficients,
                  .outputs = solutions[c].outputs.span()});
      }
    }

    /// A draw that did not become consistent ends the run there; draws before it stand.
    void give_up(std::uint64_t n, detail::PerceptronOutcome outcome,
                 detail::PerceptronState& state) {
      delivery_.end_at(n, [&] {
        const std::scoped_lock lock(mutex_);
        report_.stopped = outcome == detail::PerceptronOutcome::stopped;
        if (report_.stopped) {
          report_.reason = "stopped";
          return;
        }
        // Of the problems that are not done (there is one), the one with the most mistakes.
        std::size_t worst = state.problems.size();
        for (std::size_t c = 0; c < state.problems.size(); ++c) {
          if (!state.problems[c].done &&
              (worst == state.problems.size() ||
               state.problems[c].mistakes > state.problems[worst].mistakes)) {
            worst = c;
          }
        }
        const auto& problem = state.problems[worst];
        counts_.training_errors += problem.mistakes_in_pass;
        report_.reason = detail::join(
            "draw ", streams_.next + n, " still made ", problem.mistakes_in_pass,
            " mistakes in pass ", problem.passes, " (", problem.mistakes, " in all",
            outcome == detail::PerceptronOutcome::out_of_mistakes ? ", above max_mistakes"
                                                                  : ", the last of max_passes",
            state.problems.size() > 1 ? detail::join(", problem ", worst) : std::string(), ")");
      });
    }

    /// Reports progress at most every 50 ms. False: this draw is not wanted any more.
    bool proceed(unsigned worker, std::uint64_t n, double passes) {
      if (!delivery_.wanted(n) || control_.stop.stop_requested()) {
        return false;
      }
      const std::scoped_lock lock(mutex_);
      if (halted_) {
        return false;
      }
      // Mistakes about halve from pass to pass, and the time goes with them.
      fractions_[worker] = 1 - std::exp2(-passes);
      const auto now = std::chrono::steady_clock::now();
      if (now - last_progress_ < std::chrono::milliseconds(50)) {
        return true;
      }
      last_progress_ = now;
      auto done = static_cast<double>(finished_);
      for (const double fraction : fractions_) done += fraction;
      halted_ = !control_.go_on({.stage = "draws",
                                 .fraction = done / static_cast<double>(settings_.draws),
                                 .draws = finished_,
                                 .draws_total = settings_.draws,
                                 .passes = counts_.passes,
                                 .mistakes = counts_.mistakes});
      return !halted_;
    }

    const PermutedPerceptron& settings_;
    std::span<const Space> spaces_;
    RandomStreams& streams_;
    const RunControl& control_;
    unsigned threads_;
    unsigned at_once_;  ///< Draws in progress at a time.
    detail::OrderedDelivery<Result> delivery_;
    detail::Crew crew_{1};  ///< The first role is always taken.
    std::mutex mutex_;
    std::vector<double> fractions_;
    SamplerReport report_;
    PerceptronReport counts_;
    std::uint64_t finished_ = 0;
    bool halted_ = false;
    std::chrono::steady_clock::time_point last_progress_{};
  };
};

}  // namespace bpm
