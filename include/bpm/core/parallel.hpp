// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace bpm::detail {

/// The number of threads to use when `wanted` are asked for; 0 means as many as the machine runs.
[[nodiscard]] inline unsigned thread_count(unsigned wanted) noexcept {
  return wanted != 0 ? wanted : std::max(1U, std::thread::hardware_concurrency());
}

/// Calls work(worker, i) once for every i in [0, count), on up to `threads` threads, in order of i
/// but not in step; `worker` in [0, threads) tells whose scratch memory to use. The first exception
/// thrown ends the hand-out of work and is rethrown here once every thread has ended.
template <class Work>
void parallel_for(unsigned threads, std::ptrdiff_t count, Work&& work) {
  const auto workers =
      static_cast<unsigned>(std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(threads), count));
  if (workers <= 1) {
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      work(0U, i);
    }
    return;
  }
  std::atomic<std::ptrdiff_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  const auto run = [&](unsigned worker) {
    try {
      for (std::ptrdiff_t i = next++; i < count; i = next++) {
        work(worker, i);
      }
    } catch (...) {
      next = count;
      const std::scoped_lock lock(mutex);
      if (!error) {
        error = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    helpers.reserve(workers - 1);
    for (unsigned worker = 1; worker < workers; ++worker) {
      helpers.emplace_back(run, worker);
    }
    run(0);
  }
  if (error) {
    std::rethrow_exception(error);
  }
}

}  // namespace bpm::detail
