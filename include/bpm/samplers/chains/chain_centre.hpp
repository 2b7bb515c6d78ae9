// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "bpm/core/vector_ops.hpp"
#include "bpm/samplers/chains/chain_report.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm::detail {

/// Angle between two vectors of `length` numbers, accurate for small ones.
[[nodiscard]] inline double angle_between(const double* a, const double* b, std::ptrdiff_t length) {
  const double aa = dot(a, a, length);
  const double bb = dot(b, b, length);
  if (!(aa > 0) || !(bb > 0)) {
    return 0;
  }
  double difference = 0;
  double sum = 0;
  for (std::ptrdiff_t k = 0; k < length; ++k) {
    const double x = a[k] / std::sqrt(aa);
    const double y = b[k] / std::sqrt(bb);
    difference += (x - y) * (x - y);
    sum += (x + y) * (x + y);
  }
  return 2 * std::atan2(std::sqrt(difference), std::sqrt(sum));
}

/// The centre of mass that chains have found together. Their estimate of E[w] is unbiased but not
/// bound to lie inside; where noise has put it outside version space it is drawn back towards the
/// mean of the chains' points, which is inside, until it is in. `inside`: whether that is asked
/// for.
template <class Chain>
[[nodiscard]] CentreOfMass centre_of(const Cone& cone, std::span<const Chain> chains,
                                     bool inside = true) {
  const auto m = static_cast<std::size_t>(cone.points());
  const std::ptrdiff_t stride = cone.stride();
  CentreOfMass centre{std::vector<double>(m, 0.0), std::vector<double>(m, 0.0), 0};
  double weight = 0;
  for (const Chain& chain : chains) weight += chain.weight();
  if (!(weight > 0)) {
    return centre;
  }
  std::vector<double> x(static_cast<std::size_t>(stride), 0.0);
  for (const Chain& chain : chains) {
    chain.add_sum(cone, 1 / weight, x.data());
    chain.add_dual_sum(cone, 1 / weight, centre.coefficients.data());
  }
  cone.outputs(x.data(), centre.outputs.data());
  if (inside && !(*std::min_element(centre.outputs.begin(), centre.outputs.end()) > 0)) {
    std::vector<double> rest(static_cast<std::size_t>(stride), 0.0);
    for (const Chain& chain : chains) chain.add_inside_sum(cone, 1 / weight, rest.data());
    std::vector<double> there(m);
    cone.outputs(rest.data(), there.data());
    double back = 0;  // The part of the way that it is drawn back.
    for (std::size_t i = 0; i < m; ++i) {
      const double here = centre.outputs[i];
      if (!(here > 0)) {
        const double gap = there[i] - here;
        back = std::max(back, gap > 0 ? -here / gap : 1.0);
      }
    }
    back = std::min(1.0, back + 0.1 * (1 - back));
    add_scaled(rest.data(), -1.0, x.data(), stride);
    cone.add_dual_coefficients(rest.data(), back, centre.coefficients.data());
    add_scaled(x.data(), back, rest.data(), stride);
    cone.outputs(x.data(), centre.outputs.data());
  }
  for (std::size_t i = 0; i < m; ++i) {
    centre.outputs[i] *= cone.label(static_cast<std::ptrdiff_t>(i));
  }
  centre.norm = std::sqrt(dot(x.data(), x.data(), stride));
  return centre;
}

}  // namespace bpm::detail
