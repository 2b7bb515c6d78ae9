// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>

#include "bpm/core/buffer.hpp"
#include "bpm/core/random/engine.hpp"
#include "bpm/core/random/ziggurat.hpp"
#include "bpm/core/vector_ops.hpp"
#include "bpm/gaussian_process/orthant/orthant_ball.hpp"
#include "bpm/gaussian_process/orthant/orthant_planes.hpp"

namespace bpm::detail {

/// The state of one chain of flights in the box lower <= x <= upper under N(0, S). Bounds are
/// `points` long, may be infinite, and outlive the ball.
///
/// On the path x cos t + v sin t, with tau = tan(t / 2), coordinate i meets u where
///
///     (u + x) tau^2 - 2 v tau + (u - x) = 0,
///
/// and its first positive root is (u - x) / (v + D) or, the same number, (v - D) / (u + x), with
/// D^2 = v^2 - (u - x) (u + x): no inverse trigonometric function a plane. For a lower bound l,
/// turn the signs of x, v and l. Flights end after at most a quarter turn, tau <= 1.
template <class Law = OrthantFlightLaw>
class BoxBall {
 public:
  BoxBall(const OrthantPlanes& planes, const double* lower, const double* upper,
          const double* start, double path_length, RandomEngine engine)
      : lower_(lower),
        upper_(upper),
        path_length_(path_length),
        engine_(engine),
        x_(planes.stride, 0.0),
        v_(planes.stride, 0.0),
        z_(planes.stride, 0.0) {
    std::copy_n(start, planes.points, x_.data());
  }

  [[nodiscard]] const double* position() const noexcept { return x_.data(); }
  [[nodiscard]] std::uint64_t bounces() const noexcept { return bounces_; }

  /// One trajectory with a fresh velocity.
  void fly(const OrthantPlanes& planes) {
    Ziggurat::instance().fill(z_.data(), planes.points, engine_);
    double left = Law::path(path_length_, engine_);
    planes.make_velocities(z_.data(), 1, v_.data());
    while (left > 0) {
      const double angle = std::min(left, std::numbers::pi / 2);
      const Meeting meeting = search(planes.points, std::tan(angle / 2));
      const double tau = meeting.tau;
      const double cosine = (1 - tau) * (1 + tau) / (1 + tau * tau);
      const double sine = 2 * tau / (1 + tau * tau);
      if (!Law::to_the_end && meeting.plane < 0 && left <= angle) {
        break;
      }
      move(cosine, sine, planes.stride);
      if (meeting.plane < 0) {
        left = left > angle ? left - angle : 0;
        continue;
      }
      left -= 2 * std::atan(tau);
      const std::ptrdiff_t c = meeting.plane;
      x_[c] = meeting.level;  // Exactly there.
      const double* row = planes.row(c);
      add_scaled(v_.data(), -Law::reflection * v_[c] / row[c], row, planes.stride);
      ++bounces_;
    }
    for (std::ptrdiff_t i = 0; i < planes.points; ++i) {
      x_[i] = std::clamp(x_[i], lower_[i], upper_[i]);  // Rounding.
    }
  }

 private:
  struct Meeting {
    double tau = 0;
    std::ptrdiff_t plane = -1;
    double level = 0;
  };

  /// The first plane met before tau = `end`.
  [[nodiscard]] Meeting search(std::ptrdiff_t points, double end) const {
    Meeting first{end};
    for (std::ptrdiff_t i = 0; i < points; ++i) {
      const double above = meeting_time(x_[i], v_[i], upper_[i]);
      const double below = meeting_time(-x_[i], -v_[i], -lower_[i]);
      if (above < first.tau) first = {above, i, upper_[i]};
      if (below < first.tau) first = {below, i, lower_[i]};
    }
    return first;
  }

  /// tau where x meets u from below; infinity: not within half a turn.
  [[nodiscard]] static double meeting_time(double x, double v, double u) {
    const double gap = std::max(0.0, u - x);
    const double sum = u + x;
    const double squared = v * v - gap * sum;
    if (!(squared > 0)) {
      return std::numeric_limits<double>::infinity();
    }
    const double root = std::sqrt(squared);
    if (v > 0) {
      return gap / (v + root);
    }
    return sum < 0 ? (v - root) / sum : std::numeric_limits<double>::infinity();
  }

  void move(double cosine, double sine, std::ptrdiff_t stride) {
    for (std::ptrdiff_t i = 0; i < stride; ++i) {
      const double x = x_[i];
      x_[i] = cosine * x + sine * v_[i];
      v_[i] = cosine * v_[i] - sine * x;
    }
  }

  const double* lower_;
  const double* upper_;
  double path_length_;
  RandomEngine engine_;
  Buffer<double> x_;
  Buffer<double> v_;
  Buffer<double> z_;
  std::uint64_t bounces_ = 0;
};

}  // namespace bpm::detail
