// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/perceptron/perceptron_state.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Number of finished draws that may wait for an earlier one, plus one for each draw in progress.
inline constexpr unsigned results_ahead = 2;

/// Number of draws in progress at a time.
[[nodiscard]] inline unsigned draws_at_once(const RunControl& control, std::uint64_t draws) {
  std::uint64_t most = std::min<std::uint64_t>(std::max(1U, control.threads), draws);
  if (control.draws_at_once != 0) most = std::min<std::uint64_t>(most, control.draws_at_once);
  return static_cast<unsigned>(most);
}

/// A piece of a draw: some of its problems (classes), which are computed and stored together.
struct DrawPiece {
  std::uint64_t number = 0;  ///< Number of the draw, and of its stream.
  std::size_t first = 0;     ///< First problem of the piece.
  std::size_t count = 0;     ///< Number of problems.

  friend auto operator<=>(const DrawPiece&, const DrawPiece&) = default;
};

/// A finished piece with its counts.
struct FinishedPiece {
  DrawPiece piece;
  std::vector<PerceptronSolution> solutions;  ///< One per problem.
  SamplerReport::Perceptron counts{};
};

/// Storage for finished pieces, with those of an earlier run. Empty functions: no storage.
struct PieceKeeper {
  std::function<FinishedPiece(const DrawPiece&)> read{};
  std::function<void(const FinishedPiece&)> write{};
};

/// A task: compute a piece, or read it from storage.
struct PieceTask {
  DrawPiece piece;
  bool stored = false;
};

/// Tasks for some draws, by draw and problem.
class PieceTasks {
 public:
  /// Tasks to compute the draws [begin, end), each whole.
  PieceTasks(std::uint64_t begin, std::uint64_t end, std::size_t problems)
      : begin_(begin), size_(end - begin), problems_(problems) {}
  explicit PieceTasks(std::vector<PieceTask> tasks)
      : size_(tasks.size()), tasks_(std::move(tasks)) {}

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] PieceTask operator[](std::uint64_t i) const {
    return tasks_.empty() ? PieceTask{{begin_ + i, 0, problems_}} : tasks_[i];
  }
  /// Index of the first task of draw `number` or a later one.
  [[nodiscard]] std::uint64_t first_of(std::uint64_t number) const {
    if (tasks_.empty()) return std::min(size_, number - std::min(number, begin_));
    const auto at = std::partition_point(tasks_.begin(), tasks_.end(), [&](const PieceTask& task) {
      return task.piece.number < number;
    });
    return static_cast<std::uint64_t>(at - tasks_.begin());
  }

 private:
  std::uint64_t begin_ = 0;
  std::uint64_t size_ = 0;
  std::size_t problems_ = 0;
  std::vector<PieceTask> tasks_;
};

/// Plans the tasks of draws [begin, end) of `problems` problems. Stored pieces are read; the rest
/// of each draw is split into as many parts of nearly equal numbers of problems as there are
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
      if (stored[s].first < done || stored[s].count == 0 || stored[s].first > problems ||
          stored[s].count > problems - stored[s].first) {
        continue;  // Overlaps with a piece that is used, or has no such problem.
      }
      if (stored[s].first > done) gaps.push_back({number, done, stored[s].first - done});
      tasks.push_back({stored[s], true});
      done = stored[s].first + stored[s].count;
    }
    if (done < problems) gaps.push_back({number, done, problems - done});
  }
  // More workers than gaps: several workers share a gap.
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

/// Delivers results that threads finish in any order to one receiver in the order of their numbers.
/// A thread that is too far ahead waits, so that only a few results are held.
template <class Result>
class OrderedDelivery {
 public:
  /// Only numbers below `allowed` may be taken; `allow_below` raises it.
  OrderedDelivery(std::uint64_t end, std::uint64_t ahead,
                  std::uint64_t allowed = std::numeric_limits<std::uint64_t>::max())
      : end_(end), ahead_(ahead), allowed_(allowed) {}

  /// Takes the next number to work on, once it is allowed; returns false if none is left.
  [[nodiscard]] bool take(std::uint64_t& number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return next_ < allowed_ || next_ >= end_; });
    if (next_ >= end_) {
      return false;
    }
    number = next_++;
    return true;
  }

  void allow_below(std::uint64_t number) {
    const std::scoped_lock lock(mutex_);
    allowed_ = std::max(allowed_, number);
    changed_.notify_all();
  }

  /// True if result `number` is still wanted.
  [[nodiscard]] bool wanted(std::uint64_t number) const {
    const std::scoped_lock lock(mutex_);
    return number < end_;
  }

  /// Cancels the results from `number` on, which failed or was stopped. Calls `why` if `number` is
  /// the smallest so far.
  template <class Why>
  void end_at(std::uint64_t number, Why&& why) {
    const std::scoped_lock lock(mutex_);
    if (number < end_) {
      end_ = number;
      why();
    }
    changed_.notify_all();
  }

  /// Delivers a result; calls receive(number, result) for it and its successors once all earlier
  /// ones are delivered, under a lock.
  template <class Receive>
  void deliver(std::uint64_t number, Result result, Receive&& receive) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return number < delivered_ + ahead_ || number >= end_; });
    if (number >= end_) {
      return;
    }
    waiting_.emplace(number, std::move(result));
    while (!waiting_.empty() && waiting_.begin()->first == delivered_ && delivered_ < end_) {
      auto node = waiting_.extract(waiting_.begin());
      receive(node.key(), node.mapped());
      ++delivered_;
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
  std::uint64_t next_ = 0;
  std::uint64_t delivered_ = 0;
  std::uint64_t end_;
  std::uint64_t ahead_;
  std::uint64_t allowed_;
};

/// \throws std::invalid_argument unless there are problems, all with as many points, 1 or more.
template <VersionSpace Space>
void check_spaces(std::span<const Space> spaces, const char* function) {
  check(!spaces.empty(), function, "spaces", "is empty, expected a problem");
  check(spaces[0].size() > 0, function, "spaces", "have no points");
  for (const Space& space : spaces) {
    check_size(function, "spaces", space.size(), spaces[0].size(), "as the first problem has");
  }
}

/// Makes the draws of `tasks`, passes them to the sink, and advances the streams. The body, for
/// kernel values of type float or double, is in piece_runs.hpp.
template <class T>
SamplerReport sample_pieces(const PerceptronLimits& limits,
                            std::span<const KernelVersionSpace<T>> spaces, RandomStreams& streams,
                            const PieceTasks& tasks, const RunControl& control, const AnySink& sink,
                            PieceKeeper keeper = {});

}}}  // namespace bpm::detail
