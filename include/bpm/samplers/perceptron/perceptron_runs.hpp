// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bpm/core/progress.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/samplers/perceptron/perceptron_passes.hpp"
#include "bpm/samplers/perceptron/perceptron_state.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Delivers results that threads finish in any order to one receiver in the order of their numbers.
/// A thread that is too far ahead waits, so that only a few results are held.
template <class Result>
class OrderedDelivery {
 public:
  OrderedDelivery(std::uint64_t end, std::uint64_t ahead) : end_(end), ahead_(ahead) {}

  /// Takes the next number to work on; returns false if none is left.
  [[nodiscard]] bool take(std::uint64_t& number) {
    number = next_++;
    return wanted(number);
  }

  /// True if result `number` is still wanted. Does not wait for the receiver.
  [[nodiscard]] bool wanted(std::uint64_t number) const { return number < end_; }

  /// Cancels the results from `number` on, which failed or was stopped.
  void end_at(std::uint64_t number) {
    const std::scoped_lock lock(mutex_);
    if (number < end_) end_ = number;
    changed_.notify_all();
  }

  /// Delivers a result; calls receive(number, result) for it and its successors once all earlier
  /// ones are delivered, under a lock. If that throws, this and all later results are cancelled.
  template <class Receive>
  void deliver(std::uint64_t number, Result result, Receive&& receive) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return number < delivered_ + ahead_ || number >= end_; });
    if (number >= end_) return;
    waiting_.emplace(number, std::move(result));
    try {
      while (!waiting_.empty() && waiting_.begin()->first == delivered_ && delivered_ < end_) {
        auto node = waiting_.extract(waiting_.begin());
        receive(node.key(), node.mapped());
        ++delivered_;
      }
    } catch (...) {
      end_ = delivered_;
      changed_.notify_all();
      throw;
    }
    changed_.notify_all();
  }

  [[nodiscard]] std::uint64_t delivered() const {
    const std::scoped_lock lock(mutex_);
    return delivered_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, Result> waiting_;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<std::uint64_t> end_;  ///< Changed under the lock.
  std::uint64_t delivered_ = 0;
  std::uint64_t ahead_;
};

/// A finished draw: its classifiers, one per problem, and its counts.
struct FinishedDraw {
  std::vector<PerceptronSolution> solutions;
  SamplerReport::Perceptron counts{};
};

/// Returns a problem's classifier as a draw, which refers to it.
[[nodiscard]] inline Draw draw_of(std::uint64_t number, std::size_t problem,
                                  const PerceptronSolution& solution) {
  return {.number = number,
          .problem = problem,
          .support = solution.support,
          .coefficients = solution.coefficients,
          .outputs = solution.outputs,
          .left_out = solution.left_out,
          .left_out_outputs = solution.left_out_outputs};
}

/// Reason why a run ended before its last draw.
struct DrawFailure {
  std::uint64_t number = 0;    ///< First missing draw.
  std::string reason{};        ///< Reason why it is missing; "stopped".
  bool stopped = false;        ///< Stopped by the observer or the stop token.
  std::uint64_t errors = 0;    ///< Mistakes in its last pass.
  std::exception_ptr error{};  ///< Exception, if one was thrown.
};

/// Makes draws on several threads; those without a draw of their own help the others. A failed draw
/// ends the run; earlier ones stay.
template <class T>
class PerceptronRuns {
 public:
  using Space = KernelVersionSpace<T>;
  /// Receives a finished draw with its number. (One type for all sinks, so that the code that makes
  /// draws is compiled once for each kind of kernel values.)
  using Receive = std::function<void(std::uint64_t number, FinishedDraw& draw)>;

  /// Makes `draws` draws, numbered from `streams.next` on in steps of `step`. `control` must
  /// outlive the object.
  PerceptronRuns(const PerceptronLimits& limits, std::span<const Space> spaces,
                 const RandomStreams& streams, std::uint64_t draws, const RunControl& control,
                 std::uint64_t step = 1)
      : limits_(limits),
        spaces_(spaces),
        streams_(streams),
        draws_(draws),
        control_(control),
        step_(step),
        threads_(std::max(1U, control.threads)),
        at_once_(draws_at_once(threads_, control.draws_at_once, draws)),
        delivery_(draws, at_once_ + results_ahead),
        fractions_(threads_, 0.0) {}

  /// Calls receive(number, draw), draw by draw, from one thread at a time; returns when the run has
  /// ended. An exception of `receive` ends it.
  void run(const Receive& receive) {
    try {
      const Gram<T>& gram = spaces_[0].gram();
      if (gram.linear_inputs() != nullptr) {
        run_by<LinearPerceptron<T>>(receive);
      } else if (gram.rows_in_memory() || gram.by_pairs()) {
        run_by<RowPerceptron<T>>(receive);
      } else {
        run_by<WindowedPerceptron<T>>(receive);
      }
    } catch (...) {  // A thread could not be started.
      if (const std::uint64_t n = delivery_.delivered(); n < draws_) {
        fail(n, {.error = std::current_exception()});
      }
    }
  }

  [[nodiscard]] std::optional<DrawFailure> failure() {
    const std::scoped_lock lock(mutex_);
    return failure_;
  }

  /// Report of the delivered draws; the kernel values are those of all draws.
  [[nodiscard]] SamplerReport report() const {
    SamplerReport report = report_;
    report.converged = delivery_.delivered() == draws_;
    if (failure_) {
      report.stopped = failure_->stopped;
      report.reason = failure_->reason;
      report.perceptron->training_errors += failure_->errors;
    }
    return report;
  }

 private:
  template <class Perceptron>
  void run_by(const Receive& receive) {
    std::vector<PassWorkspace<T>> workspaces(threads_);
    // The first threads make draws; the others help, and so do those without a draw left.
    parallel_for(threads_, threads_, [&](unsigned worker, std::ptrdiff_t role) {
      if (role < at_once_) {
        // A thread that cannot be started leaves no role that others wait for.
        if (role > 0) pool_.enter();
        work<Perceptron>({workspaces, worker, pool_}, receive);
        pool_.leave();
      }
      pool_.help(worker);
    });
    for (const auto& workspace : workspaces) {
      report_.kernel_evaluations += workspace.scratch.evaluations;
      report_.kernel_seconds += workspace.scratch.seconds / threads_;
    }
  }

  template <class Perceptron>
  void work(const PassThreads<T>& threads, const Receive& receive) {
    std::optional<Perceptron> perceptron;
    std::uint64_t n = 0;
    while (delivery_.take(n)) {
      try {
        if (!perceptron) perceptron.emplace(spaces_);
        const PerceptronOutcome outcome = make_draw(n, *perceptron, threads);
        PerceptronState& state = perceptron->state();
        if (outcome == PerceptronOutcome::stopped) {
          fail(n, {.reason = "stopped", .stopped = true});
        } else if (outcome == PerceptronOutcome::out_of_passes) {
          fail(n, {.reason = state.reason(number_of(n)),
                   .errors = state.problems[state.worst()].mistakes_in_pass});
        } else {
          FinishedDraw made;
          for (std::size_t c = 0; c < spaces_.size(); ++c) {
            made.solutions.push_back(state.normalised(c, spaces_[c]));
            made.counts += {state.problems[c].mistakes, state.problems[c].passes,
                            made.solutions.back().errors};
          }
          delivery_.deliver(n, std::move(made), [&](std::uint64_t done, FinishedDraw& draw) {
            hand_over(threads.worker, done, draw, receive);
          });
        }
      } catch (...) {  // Of a later draw where that was being delivered.
        fail(std::max(n, delivery_.delivered()), {.error = std::current_exception()});
      }
    }
  }

  /// Makes passes in draw n's order until one has no mistake.
  template <class Perceptron>
  PerceptronOutcome make_draw(std::uint64_t n, Perceptron& perceptron,
                              const PassThreads<T>& threads) {
    const std::uint64_t number = number_of(n);
    PerceptronState& state = perceptron.state();
    RandomEngine engine = streams_.stream(number);
    random_permutation(state.order.span(), engine);
    state.start(number < control_.left_out_draws ? state.size / 10 : 0);
    perceptron.begin();
    return state.run(
        limits_.max_passes,
        [&](std::uint64_t pass) {
          return perceptron.pass(limits_.margin, threads, [&](double part) {
            return proceed(threads.worker, n, static_cast<double>(pass) + part);
          });
        },
        [&](std::size_t c) { state.note(c, spaces_[c]); });
  }

  [[nodiscard]] std::uint64_t number_of(std::uint64_t n) const { return streams_.next + n * step_; }

  void fail(std::uint64_t n, DrawFailure failure) {
    keep(n, std::move(failure));
    delivery_.end_at(n);
  }
  /// Keeps the failure of the first draw among several.
  void keep(std::uint64_t n, DrawFailure failure) {
    const std::scoped_lock lock(mutex_);
    failure.number = number_of(n);
    if (!failure_ || failure.number < failure_->number) failure_ = std::move(failure);
  }

  /// Delivers a draw; called in order. An exception of `receive` ends the run.
  void hand_over(unsigned worker, std::uint64_t n, FinishedDraw& draw, const Receive& receive) {
    {
      const std::scoped_lock lock(mutex_);
      fractions_[worker] = 0;
      ++report_.draws;
      *report_.perceptron += draw.counts;
    }
    try {
      receive(number_of(n), draw);
    } catch (...) {
      keep(n, {.error = std::current_exception()});
      throw;
    }
  }

  /// Reports progress; returns false if draw n is not wanted any more.
  bool proceed(unsigned worker, std::uint64_t n, double passes) {
    if (!delivery_.wanted(n) || control_.stop.stop_requested()) return false;
    const std::scoped_lock lock(mutex_);
    // Mistakes about halve from pass to pass, and so does the time.
    fractions_[worker] = 1 - std::exp2(-passes);
    if (!halted_ && throttle_.due()) {
      auto done = static_cast<double>(report_.draws);
      for (const double fraction : fractions_) done += fraction;
      halted_ = !control_.go_on({.stage = "draws",
                                 .fraction = done / static_cast<double>(draws_),
                                 .draws = report_.draws,
                                 .draws_total = draws_,
                                 .passes = report_.perceptron->passes,
                                 .mistakes = report_.perceptron->mistakes});
    }
    return !halted_;
  }

  PerceptronLimits limits_;
  std::span<const Space> spaces_;
  RandomStreams streams_;
  std::uint64_t draws_;
  const RunControl& control_;
  std::uint64_t step_;
  unsigned threads_;
  unsigned at_once_;  ///< Number of draws in progress at a time.
  OrderedDelivery<FinishedDraw> delivery_;
  ThreadPool pool_{1};  ///< The first role is always taken.
  std::mutex mutex_;    ///< Guards the following; locked after the delivery's mutex.
  std::vector<double> fractions_;
  SamplerReport report_{.perceptron = SamplerReport::Perceptron{}};
  std::optional<DrawFailure> failure_;
  bool halted_ = false;
  ProgressThrottle throttle_;
};

template <class T>
SamplerReport sample_perceptrons(const PerceptronLimits& limits,
                                 std::span<const KernelVersionSpace<T>> spaces,
                                 RandomStreams& streams, std::uint64_t draws,
                                 const RunControl& control, const AnySink& sink) {
  PerceptronRuns<T> runs(limits, spaces, streams, draws, control);
  runs.run([&](std::uint64_t number, const FinishedDraw& draw) {
    for (std::size_t c = 0; c < draw.solutions.size(); ++c) {
      sink(draw_of(number, c, draw.solutions[c]));
    }
  });
  if (const auto failure = runs.failure(); failure && failure->error) {
    std::rethrow_exception(failure->error);
  }
  const SamplerReport report = runs.report();
  streams.next += report.draws;
  return report;
}

}}}  // namespace bpm::detail
