// SPDX-License-Identifier: MIT
#pragma once

#include <version>

#if defined(__cpp_lib_jthread)
#include <stop_token>
#else
#include <atomic>
#include <memory>
#include <utility>
#endif

#include "bpm/core/target.hpp"

/// \file
/// How another thread asks a fit to end. libc++ before 20 has no `std::stop_token` (except
/// with `-fexperimental-library`).

namespace bpm { inline namespace BPM_TARGET {

#if defined(__cpp_lib_jthread)

using StopToken = std::stop_token;
using StopSource = std::stop_source;

#else

/// Tells a fit whether to stop. A `StopSource` makes them; one of its own never asks to stop. It is
/// `std::stop_token` where the standard library has that, of which this is the part that fits need.
class StopToken {
 public:
  StopToken() noexcept = default;
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
  [[nodiscard]] StopToken get_token() const noexcept { return StopToken(requested_); }
  bool request_stop() const noexcept { return !requested_->exchange(true); }
  [[nodiscard]] bool stop_requested() const noexcept { return requested_->load(); }

 private:
  std::shared_ptr<std::atomic<bool>> requested_ = std::make_shared<std::atomic<bool>>(false);
};

#endif

}}  // namespace bpm
