// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <utility>

#include "bpm/core/lanes.hpp"
#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// The angle that a ball on great circles has flown since a mark, stored as cosine, sine and whole
/// turns, so that arcs known by cosine and sine add up without transcendental functions; and the
/// angle at which to stop.
class FlightClock {
 public:
  [[nodiscard]] double cosine() const noexcept { return cos_; }
  [[nodiscard]] double sine() const noexcept { return sin_; }

  [[nodiscard]] double angle() const {
    const double part = std::atan2(sin_, cos_);
    return (part < 0 ? part + 2 * std::numbers::pi : part) +
           2 * std::numbers::pi * static_cast<double>(turns_);
  }

  /// Adds an arc below half a turn.
  void turn(double cosine, double sine) noexcept {
    const double was = sin_;
    const double c = cos_ * cosine - sin_ * sine;
    sin_ = sin_ * cosine + cos_ * sine;
    cos_ = c;
    turns_ += was < 0 && sin_ >= 0 ? 1 : 0;
  }

  /// Sets a new mark here, with the stop `stop` radians ahead; infinity: no stop.
  void restart(double stop) {
    *this = FlightClock();
    set_stop(stop);
  }

  /// Sets the stop `stop` radians from the mark.
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

  /// True if an arc of this cosine and sine would reach the stop; then they become those of the
  /// part up to the stop.
  [[nodiscard]] bool reaches_stop(double& cosine, double& sine) const noexcept {
    const std::int64_t halves = 2 * turns_ + (sin_ < 0 ? 1 : 0);
    if (halves + 1 < stop_halves_) [[likely]] {
      return false;  // More than half a turn is left, and no arc is longer.
    }
    const double left_cos = stop_cos_ * cos_ + stop_sin_ * sin_;
    const double left_sin = stop_sin_ * cos_ - stop_cos_ * sin_;
    if (halves > stop_halves_ || (halves == stop_halves_ && left_sin < 0)) {
      cosine = 1;  // Rounding has put the ball behind the stop.
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

inline constexpr double no_distance = 1e-300;  ///< Where there is no plane; 0 is a corner.

/// The next plane in the path of a ball with signed outputs d and direction nu: that of the largest
/// towards / distance = -nu_i / d_i.
struct Facet {
  std::ptrdiff_t index = 0;
  double towards = -1;            ///< -nu_i; not positive: no plane lies ahead.
  double distance = no_distance;  ///< Distance d_i.
};

/// One flight and one reflection, computed on the outputs,
///
///     d  <- a d + b nu,
///     nu <- e nu - f d + scale row,
/// together with the search for the next plane in the same pass, which reads three streams of
/// `length` numbers and writes two. `length` is a multiple of the lane count; entries beyond the
/// last point are zero in all three and never chosen. Fractions are compared by
/// cross-multiplication: one division per point would cost more than all the rest.
struct FlightStep {
  double a = 1;
  double b = 0;
  double e = 1;
  double f = 0;
  double scale = 0;
};

#if defined(BPM_DETAIL_VECTOR_TYPES)

/// Candidates for the nearest plane, one per lane.
template <int N>
struct FacetLanes {
  Lanes<double, N> towards;
  Lanes<double, N> distance;
  Lanes<double, N> index;
};

/// Returns the nearest plane among the lanes of two candidates, by halving.
template <int N>
[[gnu::always_inline]] inline Facet nearest_of(const FacetLanes<N>& a, const FacetLanes<N>& b) {
  const auto nearer = b.towards * a.distance > a.towards * b.distance;
  const FacetLanes<N> best{nearer ? b.towards : a.towards, nearer ? b.distance : a.distance,
                           nearer ? b.index : a.index};
  if constexpr (N == 2) {
    const bool second = best.towards[1] * best.distance[0] > best.towards[0] * best.distance[1];
    const int k = second ? 1 : 0;
    return {static_cast<std::ptrdiff_t>(best.index[k]), best.towards[k], best.distance[k]};
  } else {
    const auto half = [](Lanes<double, N> v, auto first) __attribute__((always_inline)) {
      return [&]<int... I>(std::integer_sequence<int, I...>) {
        return __builtin_shufflevector(v, v, (I + decltype(first)::value)...);
      }(std::make_integer_sequence<int, N / 2>{});
    };
    constexpr std::integral_constant<int, 0> low{};
    constexpr std::integral_constant<int, N / 2> high{};
    return nearest_of<N / 2>(
        {half(best.towards, low), half(best.distance, low), half(best.index, low)},
        {half(best.towards, high), half(best.distance, high), half(best.index, high)});
  }
}

BPM_DETAIL_FULL_WIDTH inline Facet fly_and_search(double* d, double* nu, const double* row,
                                                  const FlightStep& step, std::ptrdiff_t length) {
  constexpr int width = lane_count<double>;
  using Vector = Lanes<double>;
  constexpr int streams = 2;  // Independent searches: one would wait for its comparisons.
  Vector towards[streams];
  Vector distance[streams];
  Vector index[streams];
  Vector here{};
  for (int l = 0; l < width; ++l) here[l] = l;
  for (int k = 0; k < streams; ++k) {
    towards[k] = Vector{} - 1.0;
    distance[k] = Vector{} + no_distance;
    index[k] = Vector{};
  }
  using Store = typename LanesType<double, width>::unaligned;
  const auto visit = [&](std::ptrdiff_t i, int k) __attribute__((always_inline)) {
    const Vector x = load_lanes(d + i);
    const Vector y = load_lanes(nu + i);
    const Vector moved = step.a * x + step.b * y;
    const Vector turned = step.e * y - step.f * x + step.scale * load_lanes(row + i);
    *reinterpret_cast<Store*>(d + i) = moved;
    *reinterpret_cast<Store*>(nu + i) = turned;
    // A ball that rounding has put behind a plane counts as at the plane.
    const Vector apart = moved < Vector{} ? Vector{} : moved;
    const auto nearer = -turned * distance[k] > towards[k] * apart;
    towards[k] = nearer ? -turned : towards[k];
    distance[k] = nearer ? apart : distance[k];
    index[k] = nearer ? here : index[k];
    here += static_cast<double>(width);
  };
  std::ptrdiff_t i = 0;
  for (; i + streams * width <= length; i += streams * width) {
    for (int k = 0; k < streams; ++k) visit(i + k * width, k);
  }
  for (; i < length; i += width) visit(i, 0);
  return nearest_of<width>({towards[0], distance[0], index[0]},
                           {towards[1], distance[1], index[1]});
}

#else

inline Facet fly_and_search(double* d, double* nu, const double* row, const FlightStep& step,
                            std::ptrdiff_t length) {
  Facet facet;
  for (std::ptrdiff_t i = 0; i < length; ++i) {
    const double moved = step.a * d[i] + step.b * nu[i];
    const double turned = step.e * nu[i] - step.f * d[i] + step.scale * row[i];
    d[i] = moved;
    nu[i] = turned;
    const double apart = moved < 0 ? 0 : moved;
    if (-turned * facet.distance > facet.towards * apart) {
      facet = {i, -turned, apart};
    }
  }
  return facet;
}

#endif

/// The arc of a great circle from a ball to the facet ahead, tan t = d / -nu: speed -nu at the
/// facet, which is 0 in a corner without a velocity, cosine and sine of t.
struct FacetArc {
  double speed, cosine, sine;
};
[[nodiscard]] inline FacetArc arc_to(const Facet& facet) {
  const double speed = std::sqrt(facet.towards * facet.towards + facet.distance * facet.distance);
  return {speed, facet.towards * (1 / speed), facet.distance * (1 / speed)};
}

/// Flies the arc to the facet, reflects there, nu -= 2 (nu_c / row_c) row, and finds the next
/// facet. `row`: the products of the facet's normal. Returns the multiple of `row` that was added.
inline double fly_and_bounce(double* d, double* nu, const double* row, const FacetArc& arc,
                             Facet& facet, std::ptrdiff_t length) {
  const std::ptrdiff_t hit = facet.index;
  const double jump = 2 * arc.speed / row[hit];
  facet = fly_and_search(d, nu, row, {arc.cosine, arc.sine, arc.cosine, arc.sine, jump}, length);
  d[hit] = 0;  // Exactly 0, so that this plane is not hit again first.
  return jump;
}

}}}  // namespace bpm::detail
