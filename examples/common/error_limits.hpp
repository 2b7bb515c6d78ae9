// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <iomanip>
#include <sstream>
#include <string>

#include "bpm/decision/rejection.hpp"

namespace bpm_examples {

/// The two-sided limits of 95 % of an error rate (Clopper, Pearson 1934), 0 to 1.
struct ErrorLimits {
  double low = 0;
  double high = 1;
};

/// After `wrong` of n independent inputs were classified wrongly.
[[nodiscard]] inline ErrorLimits error_limits(std::uint64_t wrong, std::uint64_t n) {
  return {1 - bpm::binomial_upper_limit(n - wrong, n, 0.025),
          bpm::binomial_upper_limit(wrong, n, 0.025)};
}

/// "150 of 10000, 1.27 to 1.76 % at 95 %": what an error rate is made of.
[[nodiscard]] inline std::string counted_text(std::uint64_t wrong, std::uint64_t n) {
  const ErrorLimits limits = error_limits(wrong, n);
  std::ostringstream text;
  text << wrong << " of " << n << std::fixed << std::setprecision(2) << ", " << 100 * limits.low
       << " to " << 100 * limits.high << " % at 95 %";
  return text.str();
}

}  // namespace bpm_examples
