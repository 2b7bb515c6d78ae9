// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include "bpm/core/members.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/billiard/facet_search.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// What a billiard's bounces have added to its direction, plane by plane: their sum, which is the
/// centre of mass, and their part in position and direction since the last anchor. A bounce costs
/// O(1). A value.
class JumpSums {
 public:
  explicit JumpSums(std::ptrdiff_t points)
      : sums_(points, 0.0), cosines_(points, 0.0), sines_(points, 0.0) {}

  JumpSums() = default;  ///< To be read into.

  /// Of a chain at an anchor, where all is settled.
  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("sums", self.sums_, Bound::per_point);
  }
  void after_reading(std::ptrdiff_t points) {
    cosines_ = Buffer<double>(points, 0.0);
    sines_ = cosines_;
  }

  /// The direction jumps by jump s_c at the angle of the clock.
  void add(std::ptrdiff_t c, double jump, const FlightClock& clock) noexcept {
    sums_[c] += jump;
    // Turned back by the angle flown before it: the flights after it turn all jumps alike.
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

  /// Forgets the sums; what is not settled yet stays.
  void clear() { sums_.fill(0.0); }

  /// x += scale sum_i sums_i s_i.
  void add_to(const Cone& cone, double scale, double* x) const {
    for (std::ptrdiff_t i = 0; i < cone.points(); ++i) {
      if (sums_[i] != 0) add_scaled(x, scale * sums_[i], cone.row(i), cone.stride());
    }
  }
  /// The same in dual coefficients: at the planes themselves, y_i alpha_i >= 0, where the factor is
  /// whole to rounding. Where it has left something out, that is in the feature of a point that is
  /// no pivot but not in s_i: what such points have goes to the pivots.
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

}}}  // namespace bpm::detail
