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

/// A piece of a draw: some of its problems (classes), which are computed together.
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

/// The pieces that a run makes, by draw and problem.
class PieceTasks {
 public:
  /// The draws [begin, end), each whole.
  PieceTasks(std::uint64_t begin, std::uint64_t end, std::size_t problems)
      : begin_(begin), size_(end - begin), problems_(problems) {}
  explicit PieceTasks(std::vector<DrawPiece> pieces)
      : size_(pieces.size()), pieces_(std::move(pieces)) {}

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] DrawPiece operator[](std::uint64_t i) const {
    return pieces_.empty() ? DrawPiece{begin_ + i, 0, problems_} : pieces_[i];
  }
  /// Index of the first piece of draw `number` or a later one.
  [[nodiscard]] std::uint64_t first_of(std::uint64_t number) const {
    if (pieces_.empty()) return std::min(size_, number - std::min(number, begin_));
    const auto at =
        std::partition_point(pieces_.begin(), pieces_.end(),
                             [&](const DrawPiece& piece) { return piece.number < number; });
    return static_cast<std::uint64_t>(at - pieces_.begin());
  }

 private:
  std::uint64_t begin_ = 0;
  std::uint64_t size_ = 0;
  std::size_t problems_ = 0;
  std::vector<DrawPiece> pieces_;
};

/// Returns the draws [begin, end), one or more, in pieces: with more workers than draws each is
/// split into as many parts of nearly equal numbers of problems as there are workers for it.
[[nodiscard]] inline std::vector<DrawPiece> plan_pieces(std::uint64_t begin, std::uint64_t end,
                                                        std::size_t problems,
                                                        std::uint64_t workers) {
  std::vector<DrawPiece> pieces;
  const std::uint64_t draws = end - begin;
  for (std::uint64_t n = 0; n < draws; ++n) {
    const std::uint64_t sharers = workers / draws + (n < workers % draws ? 1 : 0);
    const auto parts = static_cast<std::size_t>(std::clamp<std::uint64_t>(sharers, 1, problems));
    for (std::size_t p = 0; p < parts; ++p) {
      const std::size_t from = problems * p / parts;
      pieces.push_back({begin + n, from, problems * (p + 1) / parts - from});
    }
  }
  return pieces;
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
                            const PieceTasks& tasks, const RunControl& control,
                            const AnySink& sink);

}}}  // namespace bpm::detail
