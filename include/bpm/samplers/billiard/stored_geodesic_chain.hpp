// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "bpm/core/errors.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/billiard/facet_search.hpp"
#include "bpm/samplers/billiard/geodesic_chain.hpp"
#include "bpm/samplers/chains/stored_chain.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// A ball on a draw, or behind its burn-in before the first one: it stands at an anchor, where
/// jumps are settled, the clock begins anew, and a whole spacing lies before the next draw.
template <>
struct StoredChain<GeodesicChain> {
  using Chain = GeodesicChain;

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("engine", self.engine_);
    visit("position", self.b_);
    visit("direction", self.v_);
    visit("inside", self.inside_);
    visit("outputs", self.outputs_);
    visit("rest", self.rest_);
    visit("jumps", self.jumps_);
    visit("burn_in", self.burn_in_);
    visit("directions", self.directions_);
    visit("facet_index", self.facet_.index);
    visit("facet_towards", self.facet_.towards);
    visit("facet_distance", self.facet_.distance);
    visit("until_refresh", self.until_refresh_);
    visit("spacing", self.spacing_);
    visit("path", self.path_);
    visit("bounces", self.bounces_);
    visit("refreshes", self.refreshes_);
    visit("repairs", self.repairs_);
    visit("burnt", self.burnt_);
    visit("events", self.events_);
    visit("refreshes_since", self.refreshes_since_);
  }

  static void check(const Chain& chain, std::ptrdiff_t points, std::ptrdiff_t rank) {
    const std::ptrdiff_t stride = padded<double>(rank);
    check_rows("position", chain.b_.span(), 1, stride, rank);
    check_rows("direction", chain.v_.span(), 1, stride, rank);
    check_rows("inside", chain.inside_.span(), 1, stride, rank);
    check_rows("outputs", chain.outputs_.span(), 2, padded<double>(points), points);
    check_rows("rest", chain.rest_.span(), 1, stride, rank);
    chain.directions_.block().check_read(rank);
    const Facet& facet = chain.facet_;
    detail::check(facet.index >= 0 && facet.index < points, "chain", "facet", "is the plane ",
                  facet.index, ", must be below ", points);
    detail::check(
        std::isfinite(facet.towards) && std::isfinite(facet.distance) && facet.distance >= 0,
        "chain", "facet", "lies at ", facet.distance, " and is met by ", facet.towards,
        ", must be finite, and not behind");
    detail::check(chain.until_refresh_ >= -1, "chain", "until_refresh", "is ", chain.until_refresh_,
                  ", must not lie behind");
    detail::check(chain.spacing_ > 0 && std::isfinite(chain.spacing_), "chain", "spacing", "is ",
                  chain.spacing_, ", must be positive and finite");
    check_not_negative("chain", "path", chain.path_);
    for (const auto& [name, count] :
         {std::pair("bounces", chain.bounces_), std::pair("refreshes", chain.refreshes_),
          std::pair("repairs", chain.repairs_), std::pair("burnt", chain.burnt_),
          std::pair("events", chain.events_), std::pair("refreshes", chain.refreshes_since_)}) {
      check_counted(name, count);
    }
  }

  static void take_up(Chain& chain, const Cone& cone, const GeodesicSettings& settings) {
    chain.settings_ = settings;
    chain.still_ = cone.rank() == 1;
    chain.sampling_ = true;
    chain.until_draw_ = chain.spacing_;
    chain.clock_.restart(chain.stop());
    check_unit("position", chain.position());
    if (chain.still_) return;
    check_unit("direction", chain.direction());
    check_unit("inside", chain.inside_.span());
    const double along = dot(chain.b_.data(), chain.v_.data(), cone.stride());
    detail::check(std::abs(along) <= 1e-6, "chain", "direction", "has the part ", along,
                  " along the position, must be across");
    check_outputs("outputs", cone, chain.b_.data(), chain.d());
    check_outputs("outputs of the direction", cone, chain.v_.data(), chain.nu());
    chain.directions_.block().take_up(cone, false);
    // A ball outside may be thrown to and fro for ever, and so may one whose path to the next draw
    // is longer than half a turn per bounce.
    for (const double* x : {chain.b_.data(), chain.inside_.data()}) {
      const auto [smallest, where] = cone.smallest_output({x, chain.position().size()});
      detail::check(smallest >= -1e-9 * cone.row_norm(where), "chain", "position",
                    "has the signed output ", smallest, " at point ", where,
                    ", must not be negative");
    }
    detail::check(chain.spacing_ <= 4 * static_cast<double>(settings.bounces_per_draw), "chain",
                  "spacing", "is ", chain.spacing_, ", must be below half a turn a bounce");
    const Facet& facet = chain.facet_;
    const double scale = 1e-6 * cone.row_norm(facet.index);
    detail::check(
        facet.towards < 0 || (std::abs(facet.towards + chain.nu()[facet.index]) <= scale &&
                              std::abs(facet.distance - chain.d()[facet.index]) <= scale),
        "chain", "facet", "lies at ", facet.distance, ", but the output there is ",
        chain.d()[facet.index]);
  }
};

}}}  // namespace bpm::detail
