// SPDX-License-Identifier: MIT
#pragma once

namespace bpm::detail {

/// The two places where a Gibbs sampler's law is decided, as a policy, so that tests can put a
/// wrong one in and see it found out.
struct GibbsLaw {
  /// What an arc of a circle weighs beside its errors: the uniform law on the circle, its length.
  [[nodiscard]] static constexpr double arc_weight(double length) noexcept { return length; }

  /// Whether a step along one input draws a uniform angle on the circle through it. The circles
  /// through s_i are the meridians of one pole: the angle theta to s_i has the law
  /// |sin(theta)|^(r-2), not the uniform one.
  static constexpr bool uniform_input_angle = false;
};

}  // namespace bpm::detail
