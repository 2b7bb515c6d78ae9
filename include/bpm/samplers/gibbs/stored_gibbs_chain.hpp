// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "bpm/core/errors.hpp"
#include "bpm/core/normal.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/chains/stored_chain.hpp"
#include "bpm/samplers/gibbs/gibbs_chain.hpp"
#include "bpm/samplers/gibbs/gibbs_normal.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// A Gibbs chain on a draw, or behind its burn-in before the first one: its state is settled,
/// with the outputs of its position, and a hard one was last seen inside where it stands.
template <>
struct StoredChain<GibbsChain> {
  using Chain = GibbsChain;

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("engine", self.engine_);
    visit("normal", self.normal_);
    visit("position", self.state_.x);
    visit("sum", self.sum_);
    visit("directions", self.directions_);
    visit("steps", self.steps_);
    visit("errors", self.errors_);
    visit("repairs", self.state_.repairs);
    visit("burnt", self.burnt_);
    visit("steps_to_settle", self.steps_to_settle_);
  }

  static void check(const Chain& chain, std::ptrdiff_t /*points*/, std::ptrdiff_t rank) {
    const std::ptrdiff_t stride = padded<double>(rank);
    check_rows("position", chain.state_.x, 1, stride, rank);
    check_rows("sum", chain.sum_, 1, stride, rank);
    chain.directions_.block().check_read(rank);
    for (const auto& [name, count] :
         {std::pair("steps", chain.steps_), std::pair("errors", chain.errors_),
          std::pair("repairs", chain.state_.repairs), std::pair("burnt", chain.burnt_)}) {
      check_counted(name, count);
    }
    const std::ptrdiff_t most = std::max<std::ptrdiff_t>(32, rank);
    detail::check(chain.steps_to_settle_ >= 0 && chain.steps_to_settle_ <= most, "chain",
                  "steps_to_settle", "is ", chain.steps_to_settle_, ", must be from 0 to ", most);
  }

  static void take_up(Chain& chain, const Cone& cone, const GibbsChainSettings& settings) {
    GibbsState& state = chain.state_;
    chain.settings_ = settings;
    chain.burn_in_left_ = 0;
    chain.mean_chi_ = mean_chi(cone.rank());
    check_unit("position", state.x);
    state.d.assign(static_cast<std::size_t>(cone.output_stride()), 0.0);
    cone.outputs(state.x.data(), state.d.data());
    chain.directions_.block().take_up(cone, true);
    state.hard = settings.label_noise == 0;
    state.next_d = state.d;
    if (!state.hard) {
      chain.penalty_ = {GibbsPenalty::beta_of(settings.label_noise), cone.points()};
      return;
    }
    for (std::ptrdiff_t i = 0; i < cone.points(); ++i) {
      const double d = state.d[static_cast<std::size_t>(i)];
      detail::check(d > 0, "chain", "position", "has the signed output ", d, " at point ", i,
                    ", must be positive without noise");
    }
    state.remember();
  }
};

}}}  // namespace bpm::detail
