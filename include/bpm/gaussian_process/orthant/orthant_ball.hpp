// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "bpm/core/buffer.hpp"
#include "bpm/core/random/draws.hpp"
#include "bpm/core/random/engine.hpp"
#include "bpm/core/random/ziggurat.hpp"
#include "bpm/core/vector_ops.hpp"
#include "bpm/gaussian_process/orthant/orthant_planes.hpp"
#include "bpm/samplers/billiard/flight_clock.hpp"
#include "bpm/samplers/billiard/wall_search.hpp"

namespace bpm::detail {

/// What makes the flights' law N(0, S) on the orthant. A parameter so that tests can break it.
struct OrthantFlightLaw {
  /// The reflection nu - reflection nu_c / S_cc S_c. at plane c.
  static constexpr double reflection = 2;
  /// Whether a draw is where the path length ends, and not the bounce before.
  static constexpr bool to_the_end = true;

  /// The path length of a trajectory with this mean: uniform within a half of it.
  static double path(double mean, RandomEngine& engine) {
    return mean * (0.5 + uniform_unit(engine));
  }
};

/// The state of one chain of flights in the positive orthant under N(0, S): position, generator,
/// and velocities made in advance. A value; the planes are handed to each call.
template <class Law = OrthantFlightLaw>
class OrthantBall {
 public:
  OrthantBall(const OrthantPlanes& planes, double path_length, RandomEngine engine)
      : stride_(planes.stride),
        path_length_(path_length),
        engine_(engine),
        d_(stride_, 0.0),
        nu_(stride_, 0.0) {}

  /// The position, signed outputs d_i > 0, `stride` long with zeros beyond the last point.
  [[nodiscard]] double* position() noexcept { return d_.data(); }
  [[nodiscard]] const double* position() const noexcept { return d_.data(); }
  [[nodiscard]] std::uint64_t bounces() const noexcept { return bounces_; }
  [[nodiscard]] std::uint64_t repairs() const noexcept { return repairs_; }

  /// For planes that have changed.
  void forget_velocities() noexcept { left_ = 0; }

  /// Independent half normals: a start, and exact draws where S is diagonal.
  void half_normals(const OrthantPlanes& planes) {
    Ziggurat::instance().fill(d_.data(), planes.points, engine_);
    for (std::ptrdiff_t i = 0; i < planes.points; ++i) {
      d_[i] = std::abs(d_[i]) * std::sqrt(planes.variance(i));
    }
    keep_inside(planes);
  }

  /// One trajectory with a fresh velocity.
  void fly(const OrthantPlanes& planes) {
    take_velocity(planes);
    Wall wall = fly_and_search(d_.data(), nu_.data(), nu_.data(), {}, stride_);
    while (true) {
      // The angle to the plane: tan t = d / -nu.
      const double across = std::sqrt(wall.towards * wall.towards + wall.distance * wall.distance);
      if (!(across > 0)) {
        break;  // In a corner without a velocity.
      }
      const double inverse = 1 / across;
      double cosine = wall.towards * inverse;
      double sine = wall.distance * inverse;
      if (clock_.reaches_stop(cosine, sine)) {
        if (Law::to_the_end) combine(d_.data(), cosine, d_.data(), sine, nu_.data(), stride_);
        break;
      }
      clock_.turn(cosine, sine);
      const std::ptrdiff_t hit = wall.index;
      const double* row = planes.row(hit);
      const double jump = Law::reflection * across / row[hit];  // nu is -across there.
      wall =
          fly_and_search(d_.data(), nu_.data(), row, {cosine, sine, cosine, sine, jump}, stride_);
      d_[hit] = 0;  // Exactly there: so it is not met again before another.
      ++bounces_;
    }
    keep_inside(planes);
  }

 private:
  static constexpr std::ptrdiff_t block = 16;  ///< Velocities made at once.

  void take_velocity(const OrthantPlanes& planes) {
    if (left_ == 0) {
      if (z_.size() == 0) {
        z_ = CopyableBuffer<double>(block * stride_, 0.0);
        velocities_ = CopyableBuffer<double>(block * stride_, 0.0);
        paths_ = CopyableBuffer<double>(block, 0.0);
      }
      for (std::ptrdiff_t k = 0; k < block; ++k) {
        Ziggurat::instance().fill(z_.data() + k * stride_, planes.points, engine_);
        paths_[k] = Law::path(path_length_, engine_);
      }
      planes.make_velocities(z_.data(), block, velocities_.data());
      left_ = block;
    }
    const std::ptrdiff_t k = block - left_--;
    std::copy_n(velocities_.data() + k * stride_, stride_, nu_.data());
    clock_.restart(paths_[k]);
  }

  /// Where rounding has put the ball at or behind a plane, it is just before it.
  void keep_inside(const OrthantPlanes& planes) {
    for (std::ptrdiff_t i = 0; i < planes.points; ++i) {
      if (!(d_[i] > 0)) [[unlikely]] {
        d_[i] = 1e-15 * std::sqrt(planes.variance(i));
        ++repairs_;
      }
    }
  }

  std::ptrdiff_t stride_;
  double path_length_;
  RandomEngine engine_;
  CopyableBuffer<double> d_;
  CopyableBuffer<double> nu_;
  CopyableBuffer<double> z_;
  CopyableBuffer<double> velocities_;
  CopyableBuffer<double> paths_;
  std::ptrdiff_t left_ = 0;
  FlightClock clock_;
  std::uint64_t bounces_ = 0;
  std::uint64_t repairs_ = 0;
};

}  // namespace bpm::detail
