// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <future>
#include <mutex>
#include <vector>

/// \file
/// Tasks that know nothing of each other, on several threads.

namespace bpm_examples {

/// Calls work(i) once for every i below `count`, on up to `threads` threads. An exception ends the
/// hand-out of tasks and is thrown here once every thread has ended.
template <class Work>
void run_tasks(int threads, std::size_t count, const Work& work) {
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      next = count;
      throw;
    }
  };
  std::vector<std::future<void>> others;  // Which wait for their threads when they end.
  for (int t = 1; t < threads && static_cast<std::size_t>(t) < count; ++t) {
    others.push_back(std::async(std::launch::async, run));
  }
  run();
  for (auto& other : others) other.get();
}

/// The same, and calls observer(tasks done), from one thread at a time, after each. Once that says
/// false no more tasks are begun. Whether all were done.
template <class Work, class Observer>
[[nodiscard]] bool run_tasks(int threads, std::size_t count, const Work& work,
                             const Observer& observer) {
  std::mutex mutex;
  std::atomic<bool> go_on{true};
  std::size_t done = 0;
  run_tasks(threads, count, [&](std::size_t task) {
    if (!go_on) return;
    work(task);
    const std::scoped_lock lock(mutex);
    if (!observer(++done)) go_on = false;
  });
  return done == count;
}

}  // namespace bpm_examples
