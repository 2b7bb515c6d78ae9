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

/// Finished draws that may wait for one before them, beside one for each draw in progress.
inline constexpr unsigned results_ahead = 2;

/// Draws in progress at a time.
[[nodiscard]] inline unsigned draws_at_once(const RunControl& control, std::uint64_t draws) {
  std::uint64_t most = std::min<std::uint64_t>(std::max(1U, control.threads), draws);
  if (control.draws_at_once != 0) most = std::min<std::uint64_t>(most, control.draws_at_once);
  return static_cast<unsigned>(most);
}

/// Some of the problems of one draw: what is worked on, and kept, at a time.
struct DrawPiece {
  std::uint64_t number = 0;  ///< The stream of the draw.
  std::size_t first = 0;     ///< Its first problem here.
  std::size_t count = 0;     ///< How many.

  friend auto operator<=>(const DrawPiece&, const DrawPiece&) = default;
};

/// A finished piece with what it cost.
struct FinishedPiece {
  DrawPiece piece;
  std::vector<PerceptronSolution> solutions;  ///< One per problem.
  SamplerReport::Perceptron counts{};
};

/// Where finished pieces are kept and those of an earlier run lie. Empty functions: nowhere.
struct PieceKeeper {
  std::function<FinishedPiece(const DrawPiece&)> read{};
  std::function<void(const FinishedPiece&)> write{};
};

/// A piece to make, or to read from where it is kept.
struct PieceTask {
  DrawPiece piece;
  bool stored = false;
};

/// What is to be done for some draws, by draw and problem.
class PieceTasks {
 public:
  /// Draws [begin, end), each whole.
  PieceTasks(std::uint64_t begin, std::uint64_t end, std::size_t problems)
      : begin_(begin), size_(end - begin), problems_(problems) {}
  explicit PieceTasks(std::vector<PieceTask> tasks)
      : size_(tasks.size()), tasks_(std::move(tasks)) {}

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] PieceTask operator[](std::uint64_t i) const {
    return tasks_.empty() ? PieceTask{{begin_ + i, 0, problems_}} : tasks_[i];
  }
  /// The first task of draw `number` or a later one.
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
      if (stored[s].first < done || stored[s].count == 0 || stored[s].first > problems ||
          stored[s].count > problems - stored[s].first) {
        continue;  // Overlaps with one that is taken, or is none of these problems.
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

/// Hands results that threads finish in any order to one receiver in the order of their numbers.
/// A thread that is too far ahead waits, so that only a few results are ever held.
template <class Result>
class OrderedDelivery {
 public:
  /// Numbers below `allowed` may be taken; see `allow_below`.
  OrderedDelivery(std::uint64_t end, std::uint64_t ahead,
                  std::uint64_t allowed = std::numeric_limits<std::uint64_t>::max())
      : end_(end), ahead_(ahead), allowed_(allowed) {}

  /// The next number to work on, once it may be taken, or false when there is none (any more).
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

  /// Whether result `number` is still wanted.
  [[nodiscard]] bool wanted(std::uint64_t number) const {
    const std::scoped_lock lock(mutex_);
    return number < end_;
  }

  /// Results from `number` on are not wanted: it failed, or was stopped. `why` is kept for the
  /// smallest such number.
  template <class Why>
  void end_at(std::uint64_t number, Why&& why) {
    const std::scoped_lock lock(mutex_);
    if (number < end_) {
      end_ = number;
      why();
    }
    changed_.notify_all();
  }

  /// Takes a result; calls receive(number, result) for it and its successors once all before it are
  /// there, under a lock.
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

/// Makes the draws of `tasks`, hands them to the sink, and moves the streams on. The body, for
/// kernel values of type float or double, is in piece_runs.hpp.
template <class T>
SamplerReport sample_pieces(const PerceptronLimits& limits,
                            std::span<const KernelVersionSpace<T>> spaces, RandomStreams& streams,
                            const PieceTasks& tasks, const RunControl& control, const AnySink& sink,
                            PieceKeeper keeper = {});

}}}  // namespace bpm::detail
