// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

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

}}}  // namespace bpm::detail
