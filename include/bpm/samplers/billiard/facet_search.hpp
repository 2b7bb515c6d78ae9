// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/lanes.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/version_space/cone.hpp"

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
    if (-turned * facet.distance > facet.towards * apart) facet = {i, -turned, apart};
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

/// Sums of the jumps of a billiard's direction at its bounces, plane by plane: all jumps, whose sum
/// is the centre of mass, and their part in position and direction since the last anchor. A bounce
/// costs O(1). A copyable value.
class JumpSums {
 public:
  explicit JumpSums(std::ptrdiff_t points = 0)
      : sums_(points, 0.0), cosines_(points, 0.0), sines_(points, 0.0) {}

  /// Visits the members of a chain at an anchor, where all jumps are settled.
  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("sums", self.sums_, Bound::per_point);
  }
  void after_reading(std::ptrdiff_t points) {
    cosines_ = Buffer<double>(points, 0.0);
    sines_ = cosines_;
  }

  /// Adds a jump of the direction by jump s_c at the angle of the clock.
  void add(std::ptrdiff_t c, double jump, const FlightClock& clock) noexcept {
    sums_[c] += jump;
    // Rotated back by the angle flown so far: later flights rotate all jumps alike.
    cosines_[c] += jump * clock.cosine();
    sines_[c] += jump * clock.sine();
  }

  /// Adds the jumps since the last call to position and direction at the angle of the clock: a jump
  /// at angle theta has grown to sin(now - theta) in b and cos(now - theta) in v. O(m), and r for
  /// each plane that was hit.
  void settle(const Cone& cone, const FlightClock& clock, double* b, double* v) {
    const double cosine = clock.cosine();
    const double sine = clock.sine();
    for (std::ptrdiff_t i = 0; i < cone.points(); ++i) {
      if (cosines_[i] != 0 || sines_[i] != 0) {
        add_scaled(b, cosines_[i] * sine - sines_[i] * cosine, cone.row(i), cone.stride());
        add_scaled(v, cosines_[i] * cosine + sines_[i] * sine, cone.row(i), cone.stride());
        cosines_[i] = 0;
        sines_[i] = 0;
      }
    }
  }

  /// Clears the sums; jumps that are not settled yet stay.
  void clear() { sums_.fill(0.0); }

  /// Computes x += scale sum_i sums_i s_i.
  void add_to(const Cone& cone, double scale, double* x) const {
    cone.add_rows(sums_.data(), x, scale);
  }
  /// Adds scale times the sums as dual coefficients: at the planes themselves, y_i alpha_i >= 0, if
  /// the factor is complete to rounding. Else the feature of a point that is no pivot has a part
  /// outside s_i; the sums of such points are then expressed by the pivots.
  void add_to_dual(const Cone& cone, double scale, double* alpha) const {
    const bool whole = cone.residual() <= 1e-14;
    std::vector<double> others(sums_.data(), sums_.data() + cone.points());
    for (std::ptrdiff_t i = 0; whole && i < cone.points(); ++i) {
      alpha[i] += scale * cone.label(i) * sums_[i];
    }
    if (whole) return;
    for (const PointIndex i : cone.pivots()) {
      alpha[i] += scale * cone.label(i) * sums_[i];
      others[std::size_t(i)] = 0;
    }
    std::vector<double> rest(static_cast<std::size_t>(cone.stride()), 0.0);
    cone.add_rows(others.data(), rest.data());
    cone.add_dual_coefficients(rest.data(), scale, alpha);
  }

 private:
  Buffer<double> sums_;
  Buffer<double> cosines_;
  Buffer<double> sines_;
};

/// Stages of a billiard's burn-in: it settles; then, if the refresh length is to be chosen,
/// candidates race for it at equal cost, and it settles with the winner. A copyable value.
///
/// Where the planes are nearly orthogonal, the billiard without refreshes is nearly integrable and
/// only new directions mix it; where version space is long and thin, new directions turn straight
/// travel along it into a random walk. Only the error itself shows which holds. So every candidate
/// flies for the same modelled time in each of a few rounds. The winner is the one whose means of
/// the rounds are nearest to the mean of all, in squared distance.
class BilliardBurnIn {
 public:
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::array<double, 4> candidates{2, 8, 32, 128};
  static constexpr std::size_t turns = 4 * candidates.size();

  /// `refresh_length` 0: choose it. `bounces`: at least so many; 0: 8192, or as the choice needs.
  BilliardBurnIn(double refresh_length, std::uint64_t bounces)
      : chosen_(refresh_length != 0),
        refresh_length_(chosen_ ? refresh_length : candidates[1]),
        wanted_(bounces),
        end_(!chosen_       ? settling_bounces
             : bounces == 0 ? 8 * settling_bounces
                            : bounces) {}

  /// Visits the members of a burn-in that has ended.
  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("refresh_length", self.refresh_length_,
          Between{1e-3, std::numeric_limits<double>::infinity()});
  }
  void after_reading(std::ptrdiff_t /*points*/) { end_ = never; }

  /// Number of bounces at which the stage ends; `never` if none is left.
  [[nodiscard]] std::uint64_t stage_end() const noexcept { return end_; }
  [[nodiscard]] double refresh_length() const noexcept { return refresh_length_; }

  /// Ends a stage that began with cleared sums. `bounces` and `total_path` count from the start;
  /// `mean` writes the mean position of the stage. The caller then clears the sums again.
  template <class Mean>
  void next_stage(const Cone& cone, std::uint64_t bounces, double total_path, Mean&& mean) {
    if (chosen_) {
      end_ = never;
      return;
    }
    if (!free_path_) {
      free_path_ = total_path / static_cast<double>(bounces);
    } else {
      means_.emplace_back(static_cast<std::size_t>(cone.stride()), 0.0);
      mean(means_.back().data());
    }
    if (means_.size() < turns) {
      refresh_length_ = candidates[means_.size() % candidates.size()];
      // In nanoseconds on one machine; only the ratio matters.
      const auto m = static_cast<double>(cone.points());
      const auto r = static_cast<double>(cone.rank());
      const double bounces_between = refresh_length_ / *free_path_;
      const double bounce = 30 + 0.85 * m;
      const double refresh =
          12 * r + 0.08 * m * r + 0.15 * r * std::min(m, std::max(1.0, bounces_between));
      const double turn = 2048 * bounce / (bounce + refresh / bounces_between);
      end_ = bounces + std::max<std::uint64_t>(16, static_cast<std::uint64_t>(turn));
      return;
    }
    const std::ptrdiff_t length = cone.stride();
    std::vector<double> centre(means_[0].size(), 0.0);
    for (const auto& x : means_) add_scaled(centre.data(), 1.0 / turns, x.data(), length);
    std::array<double, candidates.size()> errors{};
    for (std::size_t t = 0; t < turns; ++t) {
      add_scaled(means_[t].data(), -1.0, centre.data(), length);
      errors[t % candidates.size()] += dot(means_[t].data(), means_[t].data(), length);
    }
    // The first of equal ones wins.
    refresh_length_ =
        candidates[std::size_t(std::min_element(errors.begin(), errors.end()) - errors.begin())];
    chosen_ = true;
    end_ = std::max(bounces + settling_bounces, wanted_);
    means_.clear();
  }

 private:
  static constexpr std::uint64_t settling_bounces = 1024;

  bool chosen_;
  double refresh_length_;  ///< At least 0.001.
  std::uint64_t wanted_;
  std::uint64_t end_;
  std::optional<double> free_path_;         ///< Measured path between bounces, once it has settled.
  std::vector<std::vector<double>> means_;  ///< Mean positions of the turns.
};

}}}  // namespace bpm::detail
