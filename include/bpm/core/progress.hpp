// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// What a running computation tells an observer. Fields that do not apply are zero.
struct Progress {
  std::string_view stage;         ///< "kernel matrix", "draws", ...; a string literal.
  double fraction = 0;            ///< Estimated part of the stage that is done, 0 to 1.
  std::uint64_t draws = 0;        ///< Draws finished.
  std::uint64_t draws_total = 0;  ///< Draws asked for.
  std::uint64_t passes = 0;       ///< Passes over the training set so far, all draws together.
  std::uint64_t mistakes = 0;     ///< Mistakes (or bounces) so far, all draws and classes together.
  /// Markov chains: by how much a step changes the Bayes point, in the L1 norm of its coefficients
  /// at norm 1, over the last round of draws ("Convergence of the Bayes Point Machine", Figure 2).
  double change = 0;
};

/// Progress out, "stop" in: a callable on `Progress` that returns nothing, or a bool that is false
/// when the run should stop. It is called from one thread at a time, but not always from the same.
/// Satisfied by any such lambda.
template <class O>
concept Observer = std::invocable<O&, const Progress&> &&
                   (std::is_void_v<std::invoke_result_t<O&, const Progress&>> ||
                    std::convertible_to<std::invoke_result_t<O&, const Progress&>, bool>);

namespace detail {

/// The observer that looks away.
struct IgnoreProgress {
  void operator()(const Progress& /*progress*/) const noexcept {}
};

/// Calls the observer; true: go on.
template <Observer O>
[[nodiscard]] bool notify(O& observer, const Progress& progress) {
  if constexpr (std::is_void_v<std::invoke_result_t<O&, const Progress&>>) {
    observer(progress);
    return true;
  } else {
    return static_cast<bool>(observer(progress));
  }
}

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

}  // namespace detail

}}  // namespace bpm
