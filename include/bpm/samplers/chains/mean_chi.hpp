// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>

#include "bpm/core/check.hpp"

namespace bpm::detail {

/// E[chi_r] = sqrt(2) Gamma((r + 1) / 2) / Gamma(r / 2), the mean length of a normal vector of R^r:
/// 0.798 for r = 1, close to sqrt(r - 1/2) for large r. By E[chi_r] E[chi_(r + 1)] = r; cost: r.
/// \throws std::invalid_argument unless r >= 1.
[[nodiscard]] inline double mean_chi(std::ptrdiff_t r) {
  check(r >= 1, "mean_chi", "r", "is ", r, ", must be 1 or more");
  double mean = std::sqrt(2 / std::numbers::pi);
  for (std::ptrdiff_t k = 1; k < r; ++k) mean = static_cast<double>(k) / mean;
  return mean;
}

}  // namespace bpm::detail
