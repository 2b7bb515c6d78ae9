// SPDX-License-Identifier: MIT
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>

namespace bpm_examples {

/// The largest resident set this process has had, in bytes.
[[nodiscard]] inline std::size_t peak_resident_bytes() {
#ifdef __linux__
  // Where it is there, the kernel's own account: getrusage may count what ran before exec.
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) {
      std::istringstream fields(line.substr(6));
      std::size_t kibibytes = 0;
      if (fields >> kibibytes) {
        return kibibytes * 1024;
      }
    }
  }
#endif
  struct ::rusage usage = {};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) {
    return 0;
  }
#ifdef __APPLE__
  return static_cast<std::size_t>(usage.ru_maxrss);  // Bytes there, KiB elsewhere.
#else
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
#endif
}

/// Wall-clock seconds since it was made or restarted.
class WallTimer {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }
  /// The seconds so far; counting starts again at zero.
  double restart() {
    const double passed = seconds();
    start_ = Clock::now();
    return passed;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace bpm_examples
