// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "bpm/core/errors.hpp"
#include "bpm/core/members.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/billiard/billiard_burn_in.hpp"
#include "bpm/samplers/billiard/facet_search.hpp"
#include "bpm/samplers/billiard/jump_sums.hpp"
#include "bpm/samplers/chains/chain_state.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// How a geodesic chain flies.
struct GeodesicSettings {
  double refresh_length = 0;  ///< Mean path between new directions; 0: chosen in the burn-in.
  std::uint64_t bounces_per_draw = 1000;
  std::uint64_t burn_in = 0;  ///< Bounces; 0: 8192, and more while the length is chosen.
};

/// The ball of a geodesic chain and what it has done so far. Files hold it on a draw, or behind its
/// burn-in before the first one: there it stands at an anchor, where jumps are settled, the clock
/// begins anew, and a whole spacing lies before the next draw.
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
    visit("facet_towards", self.facet_.towards, Bound::finite);
    visit("facet_distance", self.facet_.distance, Bound::not_negative);
    visit("until_refresh", self.until_refresh_,
          Between{-1, std::numeric_limits<double>::infinity()});
    visit("spacing", self.spacing_, Bound::positive);
    visit("path", self.path_, Bound::not_negative);
    visit("bounces", self.bounces_, Bound::counted);
    visit("refreshes", self.refreshes_, Bound::counted);
    visit("repairs", self.repairs_, Bound::counted);
    visit("burnt", self.burnt_, Bound::counted);
    visit("events", self.events_, Bound::counted);
    visit("refreshes_since", self.refreshes_since_, Bound::counted);
  }

  /// Of a ball that was read. \throws std::invalid_argument on numbers that do not belong together:
  /// with some a chain would never end. Cost: the products of its vectors.
  void check_ball(const Cone& cone, const GeodesicSettings& settings) {
    check_unit("position", b_.span());
    if (cone.rank() == 1) return;
    check_unit("direction", v_.span());
    check_unit("inside", inside_.span());
    const double along = dot(b_.data(), v_.data(), cone.stride());
    check(std::abs(along) <= 1e-6, "chain", "direction", "has the part ", along,
          " along the position, must be across");
    check_outputs("outputs", cone, b_.data(), d());
    check_outputs("outputs of the direction", cone, v_.data(), nu());
    // A ball outside may be thrown to and fro for ever, and so may one whose path to the next draw
    // is longer than half a turn per bounce.
    for (const Buffer<double>* x : {&b_, &inside_}) {
      const auto [smallest, where] = cone.smallest_output(x->span());
      check(smallest >= -1e-9 * cone.row_norm(where), "chain", "position", "has the signed output ",
            smallest, " at point ", where, ", must not be negative");
    }
    check(spacing_ <= 4 * static_cast<double>(settings.bounces_per_draw), "chain", "spacing", "is ",
          spacing_, ", must be below half a turn a bounce");
    const double scale = 1e-6 * cone.row_norm(facet_.index);
    check(facet_.towards < 0 || (std::abs(facet_.towards + nu()[facet_.index]) <= scale &&
                                 std::abs(facet_.distance - d()[facet_.index]) <= scale),
          "chain", "facet", "lies at ", facet_.distance, ", but the output there is ",
          d()[facet_.index]);
  }

  /// Signed outputs of the ball and of its direction, up to date.
  [[nodiscard]] double* d() noexcept { return outputs_.data(); }
  [[nodiscard]] double* nu() noexcept { return outputs_.data() + outputs_.size() / 2; }

  Buffer<double> b_;        ///< Position at the anchor.
  Buffer<double> v_;        ///< Direction there.
  Buffer<double> inside_;   ///< The start: a point well inside.
  Buffer<double> outputs_;  ///< Signed outputs of the ball, then those of its direction.
  Buffer<double> rest_;     ///< Sum over flights between anchors of v_begin - v_end.
  JumpSums jumps_;
  BilliardBurnIn burn_in_{0, 0};
  Facet facet_;
  double until_refresh_ = 0;  ///< Path from the anchor.
  double spacing_ = std::numeric_limits<double>::infinity();
  double path_ = 0;
  std::uint64_t bounces_ = 0;
  std::uint64_t refreshes_ = 0;
  std::uint64_t repairs_ = 0;
  std::uint64_t burnt_ = 0;
  std::uint64_t events_ = 0;  ///< Bounces since the outputs were computed anew.
  std::uint64_t refreshes_since_ = 0;
};

}}}  // namespace bpm::detail
