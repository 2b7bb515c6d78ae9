// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

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
      for (std::ptrdiff_t i = job.next++; i < job.count; i = job.next++) {
        job.work(worker, i);
      }
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

}}}  // namespace bpm::detail
