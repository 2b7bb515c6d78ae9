// SPDX-License-Identifier: MIT
#include "common/interrupt.hpp"

#include <signal.h>

#include "catch.hpp"

namespace {

int others = 0;

/// Gives SIGINT a handler that counts, and puts the old one back.
class CountInterrupts {
 public:
  explicit CountInterrupts(void (*handler)(int)) {
    others = 0;
    struct ::sigaction action = {};
    action.sa_handler = handler;
    ::sigaction(SIGINT, &action, &before_);
  }
  CountInterrupts(const CountInterrupts&) = delete;
  CountInterrupts& operator=(const CountInterrupts&) = delete;
  ~CountInterrupts() { ::sigaction(SIGINT, &before_, nullptr); }

 private:
  struct ::sigaction before_ = {};
};

}  // namespace

TEST_CASE("the first SIGINT under a guard is noted, and the second is deadly", "[examples]") {
  const CountInterrupts outer([](int) { ++others; });
  {
    const bpm_examples::InterruptGuard guard;
    CHECK_FALSE(guard.interrupted());
    ::raise(SIGINT);
    CHECK(guard.interrupted());
    CHECK(others == 0);
    struct ::sigaction now = {};
    ::sigaction(SIGINT, nullptr, &now);
    CHECK(now.sa_handler == SIG_DFL);
  }
  ::raise(SIGINT);
  CHECK(others == 1);
  const bpm_examples::InterruptGuard again;
  CHECK_FALSE(again.interrupted());
}

TEST_CASE("an ignored SIGINT stays ignored under a guard", "[examples]") {
  const CountInterrupts outer(SIG_IGN);
  const bpm_examples::InterruptGuard guard;
  ::raise(SIGINT);
  CHECK_FALSE(guard.interrupted());
}
