// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "bpm/core/check.hpp"
#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// The margin bound on the error of one linear classifier, by its terms (2 / m) (volume +
/// union + confidence + 2), in nats.
///
/// R. Herbrich, T. Graepel, "A PAC-Bayesian margin bound for linear classifiers", NIPS 13, 2001
/// (also IEEE Trans. Inf. Theory 48, 2002): with probability 1 - delta over m training examples,
/// every linear classifier w that makes no training error has error at most
///
///     (2 / m) (d log(1 / (1 - sqrt(1 - Gamma^2))) + 2 log m + log(1 / delta) + 2),
///
/// Gamma = min_i y_i <w, x_i> / (|w| |x_i|) > 0 and d = min(m, dimension). Logarithms are natural:
/// it is twice D. McAllester's bound for consistent classifiers, (log(1 / V) + log(1 / delta) +
/// 2 log m + 1) / m, with V >= (1 - sqrt(1 - Gamma^2))^d / 2 the share of the sphere within the
/// angle arcsin Gamma of w, all of which makes no training error; log 2 + 1 is rounded up to 2. The
/// caveat: where d = m, as for most kernels, margins below 0.91 never give less than 1. The prior
/// is even on the sphere of a kernel that was fixed before the data.
struct MarginBound {
  /// \throws std::invalid_argument unless 0 < margin <= 1, points and dimension are 1 or more, and
  ///         delta lies between 0 and 1.
  MarginBound(double normalised_margin, std::ptrdiff_t training_points,
              std::ptrdiff_t feature_dimension, double delta)
      : points(training_points),
        dimension(std::min(points, feature_dimension)),
        margin(normalised_margin) {
    const char* const f = "MarginBound";
    detail::check(margin > 0 && margin <= 1, f, "margin", "is ", margin, ", must lie in (0, 1]");
    detail::check_at_least(f, "points", points, 1);
    detail::check_at_least(f, "dimension", feature_dimension, 1);
    detail::check_delta(f, "delta", delta);
    // 1 - sqrt(1 - g^2) = g^2 / (1 + sqrt(1 - g^2)), which keeps the digits of a small margin.
    const double root = std::sqrt((1 - margin) * (1 + margin));
    volume_term = static_cast<double>(dimension) * (std::log1p(root) - 2 * std::log(margin));
    union_term = 2 * std::log(static_cast<double>(points));
    confidence_term = -std::log(delta);
  }

  std::ptrdiff_t points;       ///< m.
  std::ptrdiff_t dimension;    ///< d: the smaller of m and the features' dimension.
  double margin;               ///< Normalised, in (0, 1].
  double volume_term = 0;      ///< d log(1 / (1 - sqrt(1 - margin^2))).
  double union_term = 0;       ///< 2 log m.
  double confidence_term = 0;  ///< log(1 / delta).

  [[nodiscard]] double value() const noexcept {
    return 2 / static_cast<double>(points) * (volume_term + union_term + confidence_term + 2);
  }
  /// Whether it says nothing: 1 or more.
  [[nodiscard]] bool vacuous() const noexcept { return value() >= 1; }
};

}}  // namespace bpm
