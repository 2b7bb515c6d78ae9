// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>

#include "bpm/core/check.hpp"

namespace bpm {

/// E[chi_r] = sqrt(2) Gamma((r + 1) / 2) / Gamma(r / 2), the mean length of a normal vector of R^r:
/// 0.798 for r = 1, close to sqrt(r - 1/2) for large r. By E[chi_(r + 2)] = E[chi_r] (r + 1) / r.
/// \throws std::invalid_argument unless r >= 1.
[[nodiscard]] inline double mean_chi(std::ptrdiff_t r) {
  detail::check(r >= 1, "mean_chi", "r", "is ", r, ", must be 1 or more");
  const double half_pi = std::numbers::pi / 2;
  double mean = r % 2 == 1 ? 1 / std::sqrt(half_pi) : std::sqrt(half_pi);
  for (std::ptrdiff_t k = r % 2 == 1 ? 1 : 2; k < r; k += 2) {
    mean *= static_cast<double>(k + 1) / static_cast<double>(k);
  }
  return mean;
}

}  // namespace bpm
