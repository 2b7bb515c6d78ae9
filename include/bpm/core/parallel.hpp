// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "bpm/core/crew.hpp"

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
  const auto workers = static_cast<unsigned>(std::min<std::ptrdiff_t>(threads, count));
  if (workers <= 1) {
    for (std::ptrdiff_t i = 0; i < count; ++i) work(0U, i);
    return;
  }
  Crew crew(1);
  std::vector<std::jthread> helpers;
  struct Leaving {
    Crew& crew;
    ~Leaving() { crew.leave(); }
  } const leaving{crew};  // Before the helpers are waited for.
  for (unsigned worker = 1; worker < workers; ++worker) {
    helpers.emplace_back([&crew, worker] { crew.help(worker); });
  }
  crew.share(0, count, std::ref(work));
}

}  // namespace bpm::detail
