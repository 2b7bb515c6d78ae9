// SPDX-License-Identifier: MIT
#pragma once

#include "bpm/samplers/gibbs/gibbs_chain.hpp"
#include "bpm/samplers/gibbs/gibbs_circle.hpp"

/// \file
/// Gibbs samplers with a wrong law, which the tests of law must find out.

namespace sampler_tests {

/// Arcs are drawn by their errors alone, however long they are.
struct UnweightedArcs : bpm::detail::GibbsLaw {
  [[nodiscard]] static constexpr double arc_weight(double /*length*/) noexcept { return 1; }
};

/// Steps along inputs draw a uniform angle to them.
struct UniformInputAngle : bpm::detail::GibbsLaw {
  static constexpr bool uniform_input_angle = true;
};

using UnweightedArcsChain = bpm::detail::BasicGibbsChain<UnweightedArcs>;
using UniformInputAngleChain = bpm::detail::BasicGibbsChain<UniformInputAngle>;

}  // namespace sampler_tests
