// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bpm/core/progress.hpp"
#include "bpm/core/random/streams.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/storage/draw_store.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm::detail {

/// A piece to make, or to read from the store.
struct PieceTask {
  DrawPiece piece;
  bool stored = false;
};

/// What became of one.
struct PieceResult {
  StoredPiece made;            ///< Complete if neither of the next two is set.
  std::string reason;          ///< Why there is no consistent classifier.
  std::exception_ptr error{};  ///< What was thrown.

  [[nodiscard]] bool finished() const { return !error && reason.empty(); }
};

/// Runs pieces of draws on threads of its own, in the order of the tasks, while the caller's thread
/// looks after them: takes what is finished, tells of progress, says stop.
template <VersionSpace Space>
class PieceRuns {
 public:
  /// `ahead`: a task begins only if its draw is below the last `allow_below`.
  /// The references must outlive the object; `store` may be null.
  PieceRuns(const PermutedPerceptron& settings, std::span<const Space> spaces, std::uint64_t seed,
            std::vector<PieceTask> tasks, const RunControl& control, const DrawStore* store,
            std::uint64_t allowed)
      : settings_(settings),
        spaces_(spaces),
        seed_(seed),
        tasks_(std::move(tasks)),
        store_(store),
        allowed_(allowed) {
    settings_.draws = 1;
    const unsigned threads = std::max(1U, control.threads);
    auto workers = static_cast<unsigned>(
        std::min<std::size_t>(threads, std::max<std::size_t>(1, tasks_.size())));
    if (control.draws_at_once != 0) workers = std::min(workers, control.draws_at_once);
    threads_each_ = threads / workers;
    fractions_.assign(workers, 0.0);
    try {
      for (unsigned worker = 0; worker < workers; ++worker) {
        threads_.emplace_back([this, worker] { work(worker); });
      }
    } catch (...) {
      stop();  // Those that have started would wait for leave to begin.
      throw;
    }
  }

  PieceRuns(const PieceRuns&) = delete;
  PieceRuns& operator=(const PieceRuns&) = delete;
  ~PieceRuns() { stop(); }  // The threads end before what they use.

  /// Sleeps until something is finished or the time is over.
  void wait(std::chrono::milliseconds most) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, most, [&] { return !finished_.empty() || idle_locked(); });
  }

  /// Takes what was finished since the last call.
  [[nodiscard]] std::vector<PieceResult> take() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(finished_, {});
  }

  /// Tasks of draws below `number` may begin.
  void allow_below(std::uint64_t number) {
    const std::scoped_lock lock(mutex_);
    allowed_ = std::max(allowed_, number);
    may_begin_.notify_all();
  }

  /// Draws from `number` on are not wanted.
  void end_at(std::uint64_t number) {
    const std::scoped_lock lock(mutex_);
    end_ = std::min(end_, number);
    may_begin_.notify_all();
  }

  /// Ends the runs in progress; begins none.
  void stop() {
    end_at(0);
    stop_.request_stop();
  }

  /// Whether no task runs and none will begin.
  [[nodiscard]] bool idle() {
    const std::scoped_lock lock(mutex_);
    return idle_locked();
  }

  /// Pieces finished and, estimated, parts of those in progress.
  [[nodiscard]] double pieces_done() {
    const std::scoped_lock lock(mutex_);
    auto done = static_cast<double>(pieces_made_);
    for (const double fraction : fractions_) done += fraction;
    return done;
  }
  [[nodiscard]] std::uint64_t evaluations() {
    const std::scoped_lock lock(mutex_);
    return evaluations_;
  }
  [[nodiscard]] double kernel_seconds() {
    const std::scoped_lock lock(mutex_);
    return kernel_seconds_;
  }
  [[nodiscard]] unsigned workers() const noexcept {
    return static_cast<unsigned>(fractions_.size());
  }

 private:
  [[nodiscard]] bool idle_locked() const {
    return running_ == 0 && (next_ >= tasks_.size() || tasks_[next_].piece.number >= end_);
  }

  bool take_task(PieceTask& task) {
    std::unique_lock lock(mutex_);
    may_begin_.wait(lock, [&] {
      return next_ >= tasks_.size() || tasks_[next_].piece.number >= end_ ||
             tasks_[next_].piece.number < allowed_;
    });
    if (next_ >= tasks_.size() || tasks_[next_].piece.number >= end_) {
      return false;
    }
    task = tasks_[next_++];
    ++running_;
    return true;
  }

  void work(unsigned worker) {
    PieceTask task;
    while (take_task(task)) {
      PieceResult result;
      result.made.piece = task.piece;
      bool made = true;
      try {
        if (task.stored) {
          result.made = store_->read(task.piece);
        } else {
          made = make(worker, result);
          if (made && result.reason.empty() && store_ != nullptr) store_->write(result.made);
        }
      } catch (...) {
        result.error = std::current_exception();
      }
      const std::scoped_lock lock(mutex_);
      --running_;
      fractions_[worker] = 0;
      pieces_made_ += made && result.finished() ? 1U : 0U;
      if (!made) {
        end_ = std::min(end_, task.piece.number);  // Stopped: those after it make no difference.
      } else {
        if (!result.finished()) end_ = std::min(end_, task.piece.number);
        finished_.push_back(std::move(result));
      }
      changed_.notify_all();
      may_begin_.notify_all();
    }
  }

  /// False if the run was stopped.
  bool make(unsigned worker, PieceResult& result) {
    const DrawPiece piece = result.made.piece;
    RandomStreams streams{seed_, piece.number};
    const RunControl control{[&](const Progress& now) {
                               const std::scoped_lock lock(mutex_);
                               fractions_[worker] = now.fraction;
                               return piece.number < end_;
                             },
                             stop_.get_token(), threads_each_};
    const auto sink = [&](const Draw& draw) {
      result.made.solutions.push_back({{draw.support.begin(), draw.support.end()},
                                       {draw.coefficients.begin(), draw.coefficients.end()},
                                       {draw.outputs.begin(), draw.outputs.end()}});
    };
    const SamplerReport report =
        settings_.sample(spaces_.subspan(piece.first, piece.count), streams, control, sink);
    result.made.mistakes = report.perceptron->mistakes;
    result.made.passes = report.perceptron->passes;
    result.made.training_errors = report.perceptron->training_errors;
    {
      const std::scoped_lock lock(mutex_);
      evaluations_ += report.kernel_evaluations;
      kernel_seconds_ += report.kernel_seconds;
    }
    if (report.stopped) {
      return false;
    }
    if (!report.converged) {
      result.reason = report.reason;
      if (piece.count < spaces_.size()) {
        result.reason += join(" among problems ", piece.first, " to ",
                              piece.first + piece.count - 1, " of ", spaces_.size());
      }
    }
    return true;
  }

  PermutedPerceptron settings_;
  std::span<const Space> spaces_;
  std::uint64_t seed_;
  std::vector<PieceTask> tasks_;
  const DrawStore* store_;
  std::uint64_t allowed_;
  unsigned threads_each_ = 1;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable may_begin_;
  std::stop_source stop_;
  std::size_t next_ = 0;
  std::size_t running_ = 0;
  std::uint64_t end_ = std::numeric_limits<std::uint64_t>::max();
  std::vector<PieceResult> finished_;
  std::vector<double> fractions_;
  std::uint64_t pieces_made_ = 0;
  std::uint64_t evaluations_ = 0;
  double kernel_seconds_ = 0;
  std::vector<std::jthread> threads_;  ///< Last: gone before the rest.
};

/// The tasks of draws [begin, end) of `problems` problems: what is stored as it is stored, and of
/// each draw the rest, cut into as many parts of about the same number of problems as there are
/// workers for a draw.
[[nodiscard]] inline std::vector<PieceTask> plan_pieces(std::uint64_t begin, std::uint64_t end,
                                                        std::size_t problems,
                                                        std::span<const DrawPiece> stored,
                                                        std::uint64_t workers) {
  std::vector<PieceTask> tasks;
  std::vector<DrawPiece> gaps;
  std::size_t s = 0;
  for (std::uint64_t number = begin; number < end; ++number) {
    while (s < stored.size() && stored[s].number < number) ++s;
    std::size_t done = 0;
    for (; s < stored.size() && stored[s].number == number; ++s) {
      if (stored[s].first < done || stored[s].count == 0 ||
          stored[s].first + stored[s].count > problems) {
        continue;  // Overlaps with one that is taken.
      }
      if (stored[s].first > done) gaps.push_back({number, done, stored[s].first - done});
      tasks.push_back({stored[s], true});
      done = stored[s].first + stored[s].count;
    }
    if (done < problems) gaps.push_back({number, done, problems - done});
  }
  // More workers than gaps: each gap is shared by as many as there are for it.
  const std::uint64_t sharers =
      gaps.empty() ? 1 : std::max<std::uint64_t>(1, workers / gaps.size());
  const std::uint64_t extra = gaps.empty() || workers < gaps.size() ? 0 : workers % gaps.size();
  for (std::size_t g = 0; g < gaps.size(); ++g) {
    const std::size_t parts = static_cast<std::size_t>(
        std::min<std::uint64_t>(gaps[g].count, sharers + (g < extra ? 1 : 0)));
    for (std::size_t p = 0; p < parts; ++p) {
      const std::size_t from = gaps[g].count * p / parts;
      const std::size_t to = gaps[g].count * (p + 1) / parts;
      tasks.push_back({{gaps[g].number, gaps[g].first + from, to - from}, false});
    }
  }
  std::sort(tasks.begin(), tasks.end(),
            [](const PieceTask& a, const PieceTask& b) { return a.piece < b.piece; });
  return tasks;
}

}  // namespace bpm::detail
