// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// The angle that a ball on great circles has flown since a mark, kept as its cosine, sine and
/// whole turns, so that arcs whose angles are known by cosine and sine alone add up without a
/// transcendental function; and the angle at which to stop.
class FlightClock {
 public:
  [[nodiscard]] double cosine() const noexcept { return cos_; }
  [[nodiscard]] double sine() const noexcept { return sin_; }

  [[nodiscard]] double angle() const {
    const double part = std::atan2(sin_, cos_);
    return (part < 0 ? part + 2 * std::numbers::pi : part) +
           2 * std::numbers::pi * static_cast<double>(turns_);
  }

  /// Flies an arc below half a turn.
  void turn(double cosine, double sine) noexcept {
    const double was = sin_;
    const double c = cos_ * cosine - sin_ * sine;
    sin_ = sin_ * cosine + cos_ * sine;
    cos_ = c;
    turns_ += was < 0 && sin_ >= 0 ? 1 : 0;
  }

  /// A new mark here, with the stop `stop` radians ahead; infinity: none.
  void restart(double stop) {
    *this = FlightClock();
    set_stop(stop);
  }

  /// Stop at `stop` radians from the mark.
  void set_stop(double stop) {
    stop = std::max(0.0, stop);
    if (!(stop < 1e9)) {
      stop_halves_ = std::numeric_limits<std::int64_t>::max();
      return;
    }
    stop_halves_ = static_cast<std::int64_t>(stop / std::numbers::pi);
    stop_cos_ = std::cos(stop);
    stop_sin_ = std::sin(stop);
  }

  /// Whether an arc of this cosine and sine would reach the stop; then they become those of the
  /// part up to it.
  [[nodiscard]] bool reaches_stop(double& cosine, double& sine) const noexcept {
    const std::int64_t halves = 2 * turns_ + (sin_ < 0 ? 1 : 0);
    if (halves + 1 < stop_halves_) [[likely]] {
      return false;  // More than half a turn to go, and no arc is longer.
    }
    const double left_cos = stop_cos_ * cos_ + stop_sin_ * sin_;
    const double left_sin = stop_sin_ * cos_ - stop_cos_ * sin_;
    if (halves > stop_halves_ || (halves == stop_halves_ && left_sin < 0)) {
      cosine = 1;  // Behind it by rounding.
      sine = 0;
      return true;
    }
    if (left_sin < 0 || sine * left_cos < cosine * left_sin) {
      return false;
    }
    cosine = left_cos;
    sine = left_sin;
    return true;
  }

 private:
  double cos_ = 1;
  double sin_ = 0;
  std::int64_t turns_ = 0;
  std::int64_t stop_halves_ = std::numeric_limits<std::int64_t>::max();
  double stop_cos_ = 1;
  double stop_sin_ = 0;
};

}}}  // namespace bpm::detail
