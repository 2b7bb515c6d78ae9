// SPDX-License-Identifier: MIT
#pragma once

#include <signal.h>

#include <atomic>

namespace bpm_examples {

/// While one lives, the first SIGINT (Ctrl-C) is only noted, so that a run can end in good order;
/// the second ends the program at once. Where SIGINT is ignored (nohup) it stays ignored.
class InterruptGuard {
 public:
  InterruptGuard() {
    noted().store(false);
    struct ::sigaction action = {};
    action.sa_handler = [](int) { noted().store(true); };
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    ::sigemptyset(&action.sa_mask);
    ::sigaction(SIGINT, nullptr, &before_);
    if (before_.sa_handler != SIG_IGN) {
      ::sigaction(SIGINT, &action, nullptr);
    }
  }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard() { ::sigaction(SIGINT, &before_, nullptr); }

  /// Whether SIGINT came since the guard was made.
  [[nodiscard]] bool interrupted() const noexcept { return noted().load(); }

 private:
  /// The one thing a handler may touch.
  static std::atomic<bool>& noted() noexcept {
    static_assert(std::atomic<bool>::is_always_lock_free);
    static constinit std::atomic<bool> flag{false};
    return flag;
  }

  struct ::sigaction before_ = {};
};

}  // namespace bpm_examples
