// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/billiard/billiard_burn_in.hpp"
#include "bpm/samplers/billiard/facet_search.hpp"
#include "bpm/samplers/chains/chain_state.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Sums of the jumps of a billiard's direction at its bounces, plane by plane: all jumps, whose sum
/// is the centre of mass, and their part in position and direction since the last anchor. A bounce
/// costs O(1). A copyable value.
class JumpSums {
 public:
  explicit JumpSums(std::ptrdiff_t points)
      : sums_(points, 0.0), cosines_(points, 0.0), sines_(points, 0.0) {}

  JumpSums() = default;  ///< For reading a file.

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
    for (std::ptrdiff_t i = 0; i < cone.points(); ++i) {
      if (sums_[i] != 0) add_scaled(x, scale * sums_[i], cone.row(i), cone.stride());
    }
  }
  /// Adds scale times the sums as dual coefficients: at the planes themselves, y_i alpha_i >= 0, if
  /// the factor is complete to rounding. Else the feature of a point that is no pivot has a part
  /// outside s_i; the sums of such points are then expressed by the pivots.
  void add_to_dual(const Cone& cone, double scale, double* alpha) const {
    const bool whole = cone.residual() <= 1e-14;
    std::vector<char> stays(static_cast<std::size_t>(cone.points()), whole ? 1 : 0);
    for (const PointIndex i : cone.pivots()) stays[i] = 1;
    std::vector<double> rest(static_cast<std::size_t>(cone.stride()), 0.0);
    for (std::ptrdiff_t i = 0; i < cone.points(); ++i) {
      if (stays[i] != 0) {
        alpha[i] += scale * cone.label(i) * sums_[i];
      } else if (sums_[i] != 0) {
        add_scaled(rest.data(), sums_[i], cone.row(i), cone.stride());
      }
    }
    if (!whole) cone.add_dual_coefficients(rest.data(), scale, alpha);
  }

 private:
  Buffer<double> sums_;
  Buffer<double> cosines_;
  Buffer<double> sines_;
};

/// Settings of a geodesic chain.
struct GeodesicSettings {
  double refresh_length = 0;  ///< Mean path between new directions; 0: chosen in the burn-in.
  std::uint64_t bounces_per_draw = 1000;
  std::uint64_t burn_in = 0;  ///< Least bounces; 0: 8192, and more for the choice of the length.
};

/// The ball of a geodesic chain and its history. Files hold it on a draw, or after its burn-in
/// before the first draw: there it is at an anchor, where jumps are settled, the clock restarts,
/// and a whole spacing lies before the next draw.
class GeodesicBall {
 protected:
  GeodesicBall() = default;
  GeodesicBall(const Cone& cone, const GeodesicSettings& settings)
      : b_(cone.stride(), 0.0),
        v_(cone.stride(), 0.0),
        outputs_(2 * cone.output_stride(), 0.0),
        rest_(cone.stride(), 0.0),
        jumps_(cone.points()),
        burn_in_(settings.refresh_length, settings.burn_in) {}

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("position", self.b_, Bound::per_coordinate);
    visit("direction", self.v_, Bound::per_coordinate);
    visit("inside", self.inside_, Bound::per_coordinate);
    visit("outputs", self.outputs_, Rows{Rows::Of::points, 2});
    visit("rest", self.rest_, Bound::per_coordinate);
    visit("jumps", self.jumps_);
    visit("burn_in", self.burn_in_);
    visit("facet_index", self.facet_.index, PointNumbers{});
    visit("facet_towards", self.facet_.towards);
    visit("facet_distance", self.facet_.distance);
    visit("until_refresh", self.until_refresh_);
    visit("spacing", self.spacing_, Bound::positive);
    visit("path", self.path_);
    visit("bounces", self.bounces_, Bound::counted);
    visit("refreshes", self.refreshes_, Bound::counted);
    visit("repairs", self.repairs_, Bound::counted);
    visit("burnt", self.burnt_, Bound::counted);
    visit("events", self.events_, Bound::counted);
    visit("refreshes_since", self.refreshes_since_, Bound::counted);
  }

  /// Signed outputs of the ball and of its direction, up to date.
  [[nodiscard]] double* d() noexcept { return outputs_.data(); }
  [[nodiscard]] double* nu() noexcept { return outputs_.data() + outputs_.size() / 2; }

  Buffer<double> b_;        ///< Position at the last anchor.
  Buffer<double> v_;        ///< Direction at the last anchor.
  Buffer<double> inside_;   ///< Start position, well inside version space.
  Buffer<double> outputs_;  ///< Signed outputs of the ball, then those of its direction.
  Buffer<double> rest_;     ///< Sum over flights between anchors of v_begin - v_end.
  JumpSums jumps_;
  BilliardBurnIn burn_in_{0, 0};
  Facet facet_;
  double until_refresh_ = 0;  ///< Path from the anchor to the next direction.
  double spacing_ = std::numeric_limits<double>::infinity();
  double path_ = 0;
  std::uint64_t bounces_ = 0;
  std::uint64_t refreshes_ = 0;
  std::uint64_t repairs_ = 0;
  std::uint64_t burnt_ = 0;
  std::uint64_t events_ = 0;  ///< Bounces since the outputs were recomputed.
  std::uint64_t refreshes_since_ = 0;
};

}}}  // namespace bpm::detail
