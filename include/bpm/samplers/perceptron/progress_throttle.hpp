// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

namespace bpm::detail {

/// Observers are told of progress at most every 50 ms.
class ProgressThrottle {
 public:
  /// Whether it is time to tell; then the next 50 ms begin.
  [[nodiscard]] bool due() {
    const auto now = std::chrono::steady_clock::now();
    if (now - told_ < std::chrono::milliseconds(50)) return false;
    told_ = now;
    return true;
  }

 private:
  std::chrono::steady_clock::time_point told_{};
};

}  // namespace bpm::detail
