// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

namespace bpm::detail {

/// Threads that help each other: one with work to share has it done by those that are idle. Who
/// takes which piece depends on the clock, so a piece's result must not.
class Crew {
 public:
  using Work = std::function<void(unsigned worker, std::ptrdiff_t i)>;

  /// `busy`: how many threads will call `leave` when they have no work of their own any more. Count
  /// only threads that are sure to come; others call `enter`.
  explicit Crew(unsigned busy) : busy_(busy) {}

  /// This thread has work of its own, and will call `leave`.
  void enter() {
    const std::scoped_lock lock(mutex_);
    ++busy_;
  }

  /// How many threads wait for work now.
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

  /// This thread has no work of its own any more.
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
      Job* job = open_job();
      if (job == nullptr) {
        if (busy_ == 0) {
          return;
        }
        ++idle_;
        offered_.wait(lock, [&] { return (job = open_job()) != nullptr || busy_ == 0; });
        --idle_;
        if (job == nullptr) {
          return;
        }
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
    unsigned helpers = 0;  ///< Under the mutex, as is the next.
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

}  // namespace bpm::detail
