// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/samplers/perceptron/draw_pieces.hpp"
#include "bpm/samplers/perceptron/perceptron_state.hpp"
#include "bpm/samplers/perceptron/row_perceptron.hpp"
#include "bpm/samplers/perceptron/windowed_perceptron.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Reason why a run ended before its last draw.
struct PieceFailure {
  DrawPiece piece;             ///< First missing piece.
  std::string reason{};        ///< Reason why it is missing; "stopped".
  bool stopped = false;        ///< Stopped by the observer or the stop token.
  std::uint64_t errors = 0;    ///< Mistakes in its last pass.
  std::exception_ptr error{};  ///< Exception, if one was thrown.
};

/// Makes pieces of draws (`DrawPiece`), in the order of the tasks, on several threads; those
/// without a draw of their own help the others. A failed piece ends the run; earlier ones stay.
template <class T>
class PieceRuns {
 public:
  using Space = KernelVersionSpace<T>;

  /// The references must outlive the object. Tasks from `allowed` on wait for `allow_below`.
  PieceRuns(const PerceptronLimits& limits, std::span<const Space> spaces, std::uint64_t seed,
            const PieceTasks& tasks, const RunControl& control,
            std::uint64_t allowed = std::numeric_limits<std::uint64_t>::max())
      : limits_(limits),
        spaces_(spaces),
        streams_{seed, 0},
        tasks_(tasks),
        control_(control),
        threads_(std::max(1U, control.threads)),
        at_once_(std::max(1U, draws_at_once(control, tasks.size()))),
        delivery_(tasks.size(), at_once_ + results_ahead, allowed),
        fractions_(threads_, 0.0) {}

  /// Receives the pieces of a finished draw. (One type for all sinks, so that the code that makes
  /// draws is compiled once for each kind of kernel values.)
  using Receive = std::function<void(std::span<FinishedPiece>)>;

  /// Calls receive(pieces of a draw), draw by draw, from one thread at a time; returns when the run
  /// has ended.
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
      const std::uint64_t n = delivery_.delivered();
      if (n < tasks_.size()) fail(n, {.piece = tasks_[n], .error = std::current_exception()});
    }
  }

  /// Allow draws below `number` to begin; cancel those from `number` on. Thread-safe.
  void allow_below(std::uint64_t number) { delivery_.allow_below(tasks_.first_of(number)); }
  void end_at(std::uint64_t number) {
    delivery_.end_at(tasks_.first_of(number), [] {});
  }
  [[nodiscard]] std::optional<PieceFailure> failure() {
    const std::scoped_lock lock(mutex_);
    return failure_;
  }

  /// Report of the delivered draws; the kernel values are those of all draws.
  [[nodiscard]] SamplerReport report() const {
    SamplerReport report = report_;
    report.perceptron = counts_;
    report.converged = delivery_.delivered() == tasks_.size();
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
    std::vector<typename Perceptron::Workspace> workspaces(threads_);
    // The first threads make draws; the others help, and so do those without a draw left.
    parallel_for(threads_, threads_, [&](unsigned worker, std::ptrdiff_t role) {
      if (role < at_once_) {
        // A thread that cannot be started leaves no role that others wait for.
        if (role > 0) pool_.enter();
        work<Perceptron>(worker, workspaces, receive);
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
  void work(unsigned worker, std::span<typename Perceptron::Workspace> workspaces,
            const Receive& receive) {
    std::optional<Perceptron> perceptron;
    std::pair<std::size_t, std::size_t> problems;  // Problems that it works on.
    std::uint64_t n = 0;
    while (delivery_.take(n)) {
      const DrawPiece piece = tasks_[n];
      try {
        if (!proceed(worker, n, 0)) {
          fail(n, {.piece = piece, .reason = "stopped", .stopped = true});
          continue;
        }
        if (std::pair wanted(piece.first, piece.count); !perceptron || problems != wanted) {
          perceptron.emplace(spaces_.subspan(piece.first, piece.count));
          problems = wanted;
        }
        PerceptronLimits limits = limits_;
        if (piece.number < control_.left_out_draws) limits.left_out = spaces_[0].size() / 10;
        const PerceptronOutcome outcome =
            perceptron->run(limits, streams_.stream(piece.number), workspaces, worker, pool_,
                            [&](double passes) { return proceed(worker, n, passes); });
        const PerceptronPasses& passes = perceptron->state().passes;
        if (outcome != PerceptronOutcome::consistent) {
          fail(n, failure_of(piece, outcome, passes));
          continue;
        }
        FinishedPiece made{piece, {}};
        for (std::size_t c = 0; c < passes.size(); ++c) {
          made.solutions.push_back(perceptron->solution(c));
          made.counts += {passes[c].mistakes, passes[c].passes, made.solutions.back().errors};
        }
        delivery_.deliver(n, std::move(made), [&](std::uint64_t number, FinishedPiece& finished) {
          hand_over(worker, number, finished, receive);
        });
      } catch (...) {
        fail(n, {.piece = piece, .error = std::current_exception()});
      }
      if (broken_) delivery_.end_at(0, [] {});
    }
  }

  [[nodiscard]] PieceFailure failure_of(const DrawPiece& piece, PerceptronOutcome outcome,
                                        const PerceptronPasses& passes) const {
    if (outcome == PerceptronOutcome::stopped) {
      return {.piece = piece, .reason = "stopped", .stopped = true};
    }
    std::string reason = passes.reason(piece.number);
    if (piece.count < spaces_.size()) {
      reason += join(" among problems ", piece.first, " to ", piece.first + piece.count - 1, " of ",
                     spaces_.size());
    }
    return {.piece = piece,
            .reason = std::move(reason),
            .errors = passes[passes.worst()].mistakes_in_pass};
  }

  /// Keeps the failure of the first draw among several.
  void fail(std::uint64_t n, PieceFailure failure) {
    delivery_.end_at(n, [&] {
      const std::scoped_lock lock(mutex_);
      if (!broken_) failure_ = std::move(failure);
    });
  }

  /// Delivers a piece; called in order. An exception of `receive` ends the run.
  void hand_over(unsigned worker, std::uint64_t n, FinishedPiece& finished,
                 const Receive& receive) {
    const DrawPiece piece = finished.piece;
    draw_.push_back(std::move(finished));
    const bool whole = n + 1 == tasks_.size() || tasks_[n + 1].number != piece.number;
    {
      const std::scoped_lock lock(mutex_);
      fractions_[worker] = 0;
      ++pieces_done_;
      if (!whole || broken_) return;
      ++report_.draws;
      for (const FinishedPiece& part : draw_) counts_ += part.counts;
    }
    try {
      receive(std::span<FinishedPiece>(draw_));
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      failure_ = {.piece = piece, .error = std::current_exception()};
      broken_ = true;
    }
    draw_.clear();
  }

  /// Reports progress; returns false if this piece is not wanted any more.
  bool proceed(unsigned worker, std::uint64_t n, double passes) {
    if (!delivery_.wanted(n) || control_.stop.stop_requested()) {
      return false;
    }
    const std::scoped_lock lock(mutex_);
    // Mistakes about halve from pass to pass, and so does the time.
    fractions_[worker] = 1 - std::exp2(-passes);
    if (!halted_ && throttle_.due()) {
      auto done = static_cast<double>(pieces_done_);
      for (const double fraction : fractions_) done += fraction;
      halted_ =
          !control_.go_on({.stage = "draws",
                           .fraction = done / static_cast<double>(tasks_.size()),
                           .draws = report_.draws,
                           .draws_total = tasks_[tasks_.size() - 1].number + 1 - tasks_[0].number,
                           .passes = counts_.passes,
                           .mistakes = counts_.mistakes});
    }
    return !halted_;
  }

  PerceptronLimits limits_;
  std::span<const Space> spaces_;
  RandomStreams streams_;
  const PieceTasks& tasks_;
  const RunControl& control_;
  unsigned threads_;
  unsigned at_once_;  ///< Number of draws in progress at a time.
  OrderedDelivery<FinishedPiece> delivery_;
  ThreadPool pool_{1};               ///< The first role is always taken.
  std::vector<FinishedPiece> draw_;  ///< The pieces of the next draw to hand over.
  std::mutex mutex_;                 ///< Guards the following; locked after the delivery's mutex.
  std::vector<double> fractions_;
  SamplerReport report_;
  SamplerReport::Perceptron counts_;
  std::uint64_t pieces_done_ = 0;
  std::optional<PieceFailure> failure_;
  std::atomic<bool> broken_ = false;  ///< Set if `receive` has thrown.
  bool halted_ = false;
  ProgressThrottle throttle_;
};

template <class T>
SamplerReport sample_pieces(const PerceptronLimits& limits,
                            std::span<const KernelVersionSpace<T>> spaces, RandomStreams& streams,
                            const PieceTasks& tasks, const RunControl& control,
                            const AnySink& sink) {
  PieceRuns<T> runs(limits, spaces, streams.seed, tasks, control);
  runs.run([&](std::span<FinishedPiece> draw) {
    for (const FinishedPiece& part : draw) {
      for (std::size_t c = 0; c < part.solutions.size(); ++c) {
        sink(Draw{.number = part.piece.number,
                  .problem = part.piece.first + c,
                  .support = part.solutions[c].support,
                  .coefficients = part.solutions[c].coefficients,
                  .outputs = part.solutions[c].outputs,
                  .left_out = part.solutions[c].left_out,
                  .left_out_outputs = part.solutions[c].left_out_outputs});
      }
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
