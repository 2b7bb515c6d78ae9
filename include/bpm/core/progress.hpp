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
/// Progress reports of a run, and requests from another thread to stop it.

namespace bpm { inline namespace BPM_TARGET {

// Stop requests from another thread to a fit. libc++ before 20 has no `std::stop_token` (except
// with `-fexperimental-library`).

#if defined(__cpp_lib_jthread)

using StopToken = std::stop_token;
using StopSource = std::stop_source;

#else

/// Tells a fit whether to stop. A `StopSource` makes it; one without a source never asks to stop.
/// It is `std::stop_token` where the standard library has that; this is the part that fits need.
class StopToken {
 public:
  StopToken() noexcept = default;  ///< A token without a source.
  /// True if the source has requested a stop. Thread-safe.
  [[nodiscard]] bool stop_requested() const noexcept { return requested_ && requested_->load(); }

 private:
  friend class StopSource;
  explicit StopToken(std::shared_ptr<const std::atomic<bool>> requested) noexcept
      : requested_(std::move(requested)) {}

  std::shared_ptr<const std::atomic<bool>> requested_;
};

/// Requests stops, from any thread. It is `std::stop_source` where the standard library has that.
class StopSource {
 public:
  /// Returns a token that sees the requests of this source; any number can be made.
  [[nodiscard]] StopToken get_token() const noexcept { return StopToken(requested_); }
  /// Requests a stop, for good; returns false if one was requested before.
  bool request_stop() const noexcept { return !requested_->exchange(true); }
  /// True if this source has requested a stop.
  [[nodiscard]] bool stop_requested() const noexcept { return requested_->load(); }

 private:
  std::shared_ptr<std::atomic<bool>> requested_ = std::make_shared<std::atomic<bool>>(false);
};

#endif

/// Progress report of a running computation. Fields that do not apply are zero.
struct Progress {
  std::string_view stage;         ///< "kernel matrix", "draws", ...; a string literal.
  double fraction = 0;            ///< Estimated share of the stage that is done, 0 to 1.
  std::uint64_t draws = 0;        ///< Number of finished draws.
  std::uint64_t draws_total = 0;  ///< Number of requested draws.
  std::uint64_t passes = 0;       ///< Passes over the training set so far, summed over draws.
  std::uint64_t mistakes = 0;     ///< Mistakes (or bounces) so far, summed over draws and classes.
  /// For Markov chains: change of the Bayes point by one step, in the L1 norm of its coefficients
  /// at norm 1, over the last round of draws ("Convergence of the Bayes Point Machine", Figure 2).
  double change = 0;

  /// Converts the progress of a part to that of the whole, after `done` of `parts` equal parts.
  [[nodiscard]] Progress of_part(std::size_t done, std::size_t parts) const {
    Progress whole = *this;
    whole.fraction = (static_cast<double>(done) + fraction) / static_cast<double>(parts);
    return whole;
  }
};

/// A callable on `Progress` that returns nothing, or a bool that is false when the run should stop.
/// It is called from one thread at a time, but not always from the same. Satisfied by any such
/// lambda.
template <class O>
concept Observer = std::invocable<O&, const Progress&> &&
                   (std::is_void_v<std::invoke_result_t<O&, const Progress&>> ||
                    std::convertible_to<std::invoke_result_t<O&, const Progress&>, bool>);

namespace detail {

/// An observer that ignores all reports.
struct IgnoreProgress {
  void operator()(const Progress& /*progress*/) const noexcept {}
};

/// Calls the observer; returns false if the observer wants to stop.
template <Observer O>
[[nodiscard]] bool notify(O& observer, const Progress& progress) {
  if constexpr (std::is_void_v<std::invoke_result_t<O&, const Progress&>>) {
    observer(progress);
    return true;
  } else {
    return static_cast<bool>(observer(progress));
  }
}

/// An observer for a computation inside a stage: reports it under that stage's name, and remembers
/// whether `observer` wanted to stop. With `parts` > 0, the fraction is done / parts.
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

/// Limits progress reports to one every 50 ms.
class ProgressThrottle {
 public:
  /// Returns true if a report is due; the next 50 ms then begin.
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
