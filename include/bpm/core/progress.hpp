// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <version>

#include "bpm/core/target.hpp"

#if defined(__cpp_lib_jthread)
#include <stop_token>
#else
#include <atomic>
#include <memory>
#include <utility>
#endif

/// \file
/// What a run tells of its progress, and how another thread asks it to end.

namespace bpm { inline namespace BPM_TARGET {

// How another thread asks a fit to end. libc++ before 20 has no `std::stop_token` (except
// with `-fexperimental-library`).

#if defined(__cpp_lib_jthread)

using StopToken = std::stop_token;
using StopSource = std::stop_source;

#else

/// Tells a fit whether to stop. A `StopSource` makes them; one of its own never asks to stop. It is
/// `std::stop_token` where the standard library has that, of which this is the part that fits need.
class StopToken {
 public:
  StopToken() noexcept = default;  ///< One of no source.
  /// Whether its source has asked; any thread may look.
  [[nodiscard]] bool stop_requested() const noexcept { return requested_ && requested_->load(); }

 private:
  friend class StopSource;
  explicit StopToken(std::shared_ptr<const std::atomic<bool>> requested) noexcept
      : requested_(std::move(requested)) {}

  std::shared_ptr<const std::atomic<bool>> requested_;
};

/// Who asks, from any thread. It is `std::stop_source` where the standard library has that.
class StopSource {
 public:
  /// As many as are wanted; all of them see what is asked here.
  [[nodiscard]] StopToken get_token() const noexcept { return StopToken(requested_); }
  /// Asks, for good; false where somebody has before.
  bool request_stop() const noexcept { return !requested_->exchange(true); }
  /// Whether anybody has asked by this source.
  [[nodiscard]] bool stop_requested() const noexcept { return requested_->load(); }

 private:
  std::shared_ptr<std::atomic<bool>> requested_ = std::make_shared<std::atomic<bool>>(false);
};

#endif

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

  /// What a part of a stage told, as progress of the whole: parts `done` of `parts` came before it.
  [[nodiscard]] Progress of_part(std::size_t done, std::size_t parts) const {
    Progress whole = *this;
    whole.fraction = (static_cast<double>(done) + fraction) / static_cast<double>(parts);
    return whole;
  }
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

/// Tells an observer of whatever runs inside a stage as of that stage, and remembers whether it
/// wanted to stop. Given parts, the fraction is that of those that are done.
template <Observer O>
struct StageProgress {
  O& observer;
  std::string_view stage;
  std::size_t parts = 0;
  std::size_t done = 0;
  bool stopped = false;

  bool operator()(Progress now) {
    now.stage = stage;
    if (parts > 0) now.fraction = static_cast<double>(done) / static_cast<double>(parts);
    stopped = stopped || !notify(observer, now);
    return !stopped;
  }
};

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
