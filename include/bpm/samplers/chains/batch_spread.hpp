// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "bpm/core/normal.hpp"

namespace bpm::detail {

/// Variance of the mean of correlated values, with the degrees of freedom of that estimate.
struct BatchSpread {
  double variance = 0;
  double freedom = 7;
};

/// The largest variance that 8, 16, 32 or 64 batches of the values tell (H. Flegal, G. Jones, Ann.
/// Statist. 38(2), 2010, for one number of batches). Values that do not fill the batches are left
/// out at the beginning, and the mean is that of the batches: against another one, of all values,
/// divisor b (b - 1) would be too small. Needs 8 values.
[[nodiscard]] inline BatchSpread batch_spread(std::span<const double> values) {
  BatchSpread largest;
  for (std::size_t batches = 8; batches <= 64 && batches <= values.size(); batches *= 2) {
    const std::size_t length = values.size() / batches;
    const double* first = values.data() + (values.size() - batches * length);
    const auto count = static_cast<double>(batches);
    double means[64];
    double all = 0;
    for (std::size_t b = 0; b < batches; ++b) {
      means[b] = 0;
      for (std::size_t k = 0; k < length; ++k) means[b] += first[b * length + k];
      means[b] /= static_cast<double>(length);
      all += means[b] / count;
    }
    double squares = 0;
    for (std::size_t b = 0; b < batches; ++b) squares += (means[b] - all) * (means[b] - all);
    const double variance = squares / (count * (count - 1));
    if (variance > largest.variance) {
      largest = {variance, count - 1};
    }
  }
  return largest;
}

/// The quantile of Student's t with `freedom` >= 5 degrees of freedom, from the normal one, to 1e-3
/// of itself for p in [0.001, 0.999] (Abramowitz, Stegun, 26.7.5).
[[nodiscard]] inline double student_quantile(double p, double freedom) {
  const double z = normal_quantile(p);
  if (std::isinf(freedom)) {
    return z;
  }
  const double v = freedom;
  const double z2 = z * z;
  const double g1 = z * (z2 + 1) / 4;
  const double g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
  const double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
  const double g4 = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
  return z + (g1 + (g2 + (g3 + g4 / v) / v) / v) / v;
}

}  // namespace bpm::detail
