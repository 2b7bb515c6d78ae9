// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>
#include <version>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"

#if defined(__cpp_lib_jthread)
#include <stop_token>
#else
#include <memory>
#endif

/// \file
/// Progress reports of a run, requests from another thread to stop it, and the threads that share
/// its work.

namespace bpm { inline namespace BPM_TARGET {

// Stop requests from another thread to a fit. libc++ before 20 has no `std::stop_token` (except
// with `-fexperimental-library`).

#if defined(__cpp_lib_jthread)

using StopToken = std::stop_token;
using StopSource = std::stop_source;

#else

/// Tells a fit whether to stop. A `StopSource` makes it; one without a source never asks to stop.
/// It is `std::stop_token` where the standard library has that; this is the part that fits need.
class StopToken {
 public:
  StopToken() noexcept = default;  ///< A token without a source.
  /// True if the source has requested a stop. Thread-safe.
  [[nodiscard]] bool stop_requested() const noexcept { return requested_ && requested_->load(); }

 private:
  friend class StopSource;
  explicit StopToken(std::shared_ptr<const std::atomic<bool>> requested) noexcept
      : requested_(std::move(requested)) {}

  std::shared_ptr<const std::atomic<bool>> requested_;
};

/// Requests stops, from any thread. It is `std::stop_source` where the standard library has that.
class StopSource {
 public:
  /// Returns a token that sees the requests of this source; any number can be made.
  [[nodiscard]] StopToken get_token() const noexcept { return StopToken(requested_); }
  /// Requests a stop, for good; returns false if one was requested before.
  bool request_stop() const noexcept { return !requested_->exchange(true); }
  /// True if this source has requested a stop.
  [[nodiscard]] bool stop_requested() const noexcept { return requested_->load(); }

 private:
  std::shared_ptr<std::atomic<bool>> requested_ = std::make_shared<std::atomic<bool>>(false);
};

#endif

/// Progress report of a running computation. Fields that do not apply are zero.
struct Progress {
  std::string_view stage;         ///< "kernel matrix", "draws", ...; a string literal.
  double fraction = 0;            ///< Estimated share of the stage that is done, 0 to 1.
  std::uint64_t draws = 0;        ///< Number of finished draws.
  std::uint64_t draws_total = 0;  ///< Number of requested draws.
  std::uint64_t passes = 0;       ///< Passes over the training set so far, summed over draws.
  std::uint64_t mistakes = 0;     ///< Mistakes (or bounces) so far, summed over draws and classes.
  /// For Markov chains: change of the Bayes point by one step, in the L1 norm of its coefficients
  /// at norm 1, over the last round of draws ("Convergence of the Bayes Point Machine", Figure 2).
  double change = 0;

  /// Converts the progress of a part to that of the whole, after `done` of `parts` equal parts.
  [[nodiscard]] Progress of_part(std::size_t done, std::size_t parts) const {
    Progress whole = *this;
    whole.fraction = (static_cast<double>(done) + fraction) / static_cast<double>(parts);
    return whole;
  }
};

/// A callable on `Progress` that returns nothing, or a bool that is false when the run should stop.
/// It is called from one thread at a time, but not always from the same. Satisfied by any such
/// lambda.
template <class O>
concept Observer = std::invocable<O&, const Progress&> &&
                   (std::is_void_v<std::invoke_result_t<O&, const Progress&>> ||
                    std::convertible_to<std::invoke_result_t<O&, const Progress&>, bool>);

namespace detail {

/// An observer that ignores all reports.
struct IgnoreProgress {
  void operator()(const Progress& /*progress*/) const noexcept {}
};

/// Calls the observer; returns false if the observer wants to stop.
template <Observer O>
[[nodiscard]] bool notify(O& observer, const Progress& progress) {
  if constexpr (std::is_void_v<std::invoke_result_t<O&, const Progress&>>) {
    observer(progress);
    return true;
  } else {
    return static_cast<bool>(observer(progress));
  }
}

/// An observer for a computation inside a stage: reports it under that stage's name, and remembers
/// whether `observer` wanted to stop. With `parts` > 0, the fraction is done / parts.
struct StageProgress {
  const std::function<bool(const Progress&)>& observer;
  std::string_view stage;
  std::size_t parts = 0;
  std::size_t done = 0;
  bool stopped = false;

  bool operator()(Progress now) {
    now.stage = stage;
    if (parts > 0) now.fraction = static_cast<double>(done) / static_cast<double>(parts);
    stopped = stopped || (observer && !observer(now));
    return !stopped;
  }
};

/// Limits progress reports to one every 50 ms.
class ProgressThrottle {
 public:
  /// Returns true if a report is due; the next 50 ms then begin.
  [[nodiscard]] bool due() {
    const auto now = std::chrono::steady_clock::now();
    if (now - told_ < std::chrono::milliseconds(50)) return false;
    told_ = now;
    return true;
  }

 private:
  std::chrono::steady_clock::time_point told_{};
};

// Threads.

/// A thread that is joined at the end of its scope. (Not std::jthread, which libc++ has from
/// version 20 on.)
class JoinedThread {
 public:
  template <class Work>
    requires(!std::same_as<std::remove_cvref_t<Work>, JoinedThread>)
  explicit JoinedThread(Work&& work) : thread_(std::forward<Work>(work)) {}
  JoinedThread(JoinedThread&&) noexcept = default;
  JoinedThread& operator=(JoinedThread&&) = delete;
  JoinedThread(const JoinedThread&) = delete;
  JoinedThread& operator=(const JoinedThread&) = delete;
  ~JoinedThread() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::thread thread_;
};

/// A pool in which idle threads help a thread that shares its work. The clock decides which thread
/// does which piece, so a piece's result must not depend on the thread.
class ThreadPool {
 public:
  using Work = std::function<void(unsigned worker, std::ptrdiff_t i)>;

  /// `busy`: number of threads that start with work of their own and call `leave` when it is done.
  /// Count only threads that are sure to start; others call `enter`.
  explicit ThreadPool(unsigned busy) : busy_(busy) {}

  /// Declares that this thread has work of its own, and will call `leave`.
  void enter() {
    const std::scoped_lock lock(mutex_);
    ++busy_;
  }

  /// Number of threads that wait for work now.
  [[nodiscard]] unsigned idle() const noexcept { return idle_.load(std::memory_order_relaxed); }

  /// Calls work(worker, i) once for every i in [0, count), on this thread, as `worker`, and on the
  /// idle ones, each with its own number; returns when all is done. The first exception ends the
  /// hand-out and is rethrown here.
  void share(unsigned worker, std::ptrdiff_t count, const Work& work) {
    Job job{count, work};
    {
      const std::scoped_lock lock(mutex_);
      jobs_.push_back(&job);
    }
    offered_.notify_all();
    take_part(job, worker);
    std::unique_lock lock(mutex_);
    jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
    done_.wait(lock, [&] { return job.helpers == 0; });
    if (job.error) {
      std::rethrow_exception(job.error);
    }
  }

  /// Declares that this thread has no work of its own any more.
  void leave() {
    {
      const std::scoped_lock lock(mutex_);
      --busy_;
    }
    offered_.notify_all();
  }

  /// Helps the others, as `worker`, until all of them have left.
  void help(unsigned worker) {
    std::unique_lock lock(mutex_);
    while (true) {
      Job* job = nullptr;
      ++idle_;
      offered_.wait(lock, [&] { return (job = open_job()) != nullptr || busy_ == 0; });
      --idle_;
      if (job == nullptr) {
        return;
      }
      ++job->helpers;
      lock.unlock();
      take_part(*job, worker);
      lock.lock();
      --job->helpers;
      done_.notify_all();
    }
  }

 private:
  struct Job {
    std::ptrdiff_t count;
    const Work& work;
    std::atomic<std::ptrdiff_t> next{0};
    unsigned helpers = 0;  ///< Guarded by the mutex, as is `error`.
    std::exception_ptr error{};
  };

  [[nodiscard]] Job* open_job() const {
    for (Job* job : jobs_) {
      if (job->next.load(std::memory_order_relaxed) < job->count) {
        return job;
      }
    }
    return nullptr;
  }

  void take_part(Job& job, unsigned worker) {
    try {
      for (std::ptrdiff_t i = job.next++; i < job.count; i = job.next++) job.work(worker, i);
    } catch (...) {
      job.next = job.count;
      const std::scoped_lock lock(mutex_);
      if (!job.error) {
        job.error = std::current_exception();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable offered_;
  std::condition_variable done_;
  std::vector<Job*> jobs_;
  std::atomic<unsigned> idle_{0};
  unsigned busy_;
};

/// Number of threads to use: `wanted`, or 0 for as many as the machine runs. An error names
/// `function`. \throws std::invalid_argument on more than 4096 threads, which -1 becomes when
/// converted to an unsigned type.
[[nodiscard]] inline unsigned thread_count(unsigned wanted,
                                           std::string_view function = "settings") {
  check(wanted <= 4096, function, "threads", "is ", wanted,
        ", must be from 1 to 4096, or 0 for as many as there are");
  return wanted != 0 ? wanted : std::max(1U, std::thread::hardware_concurrency());
}

/// parallel_for for 2 or more threads. (`Work` is one type, so this compiles once.)
inline void work_on_threads(unsigned threads, std::ptrdiff_t count, const ThreadPool::Work& work) {
  ThreadPool pool(1);
  std::vector<JoinedThread> helpers;
  struct Leaving {
    ThreadPool& pool;
    ~Leaving() { pool.leave(); }
  } const leaving{pool};  // Leaves before the helpers are joined.
  for (unsigned worker = 1; worker < threads; ++worker) {
    helpers.emplace_back([&pool, worker] { pool.help(worker); });
  }
  pool.share(0, count, work);
}

/// Calls work(worker, i) once for every i in [0, count), on up to `threads` threads, started in
/// order of i; `worker` in [0, threads) says whose scratch memory to use. After the first exception
/// no work is started; it is rethrown here once every thread has ended.
template <class Work>
void parallel_for(unsigned threads, std::ptrdiff_t count, Work&& work) {
  const auto workers = static_cast<unsigned>(std::min<std::ptrdiff_t>(threads, count));
  if (workers <= 1) {
    for (std::ptrdiff_t i = 0; i < count; ++i) work(0U, i);
    return;
  }
  work_on_threads(workers, count, std::ref(work));
}

}  // namespace detail
}}  // namespace bpm
