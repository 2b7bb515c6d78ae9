// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Bytes that the machine, or the container that the process lives in, can still give, as Linux
/// tells them in files; the largest number where nothing is told.
[[nodiscard]] inline std::uint64_t available_memory() {
  constexpr auto unknown = std::numeric_limits<std::uint64_t>::max();
  const auto number_in = [](const char* file) {
    std::uint64_t number = 0;
    return std::ifstream(file) >> number ? number : unknown;  // "max": no limit.
  };
  std::uint64_t available = unknown;
  std::ifstream machine("/proc/meminfo");
  for (std::string word; machine >> word;) {
    if (word != "MemAvailable:") continue;
    std::uint64_t kibibytes = 0;
    if (machine >> kibibytes) available = kibibytes * 1024;
    break;
  }
  const std::uint64_t limit = number_in("/sys/fs/cgroup/memory.max");
  const std::uint64_t used = number_in("/sys/fs/cgroup/memory.current");
  if (limit != unknown && used != unknown) {
    available = std::min(available, limit - std::min(limit, used));
  }
  return available;
}

}}}  // namespace bpm::detail
