// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// The Rademacher bound on the error of the interpolator of the signs, to compare with:
/// 4 sqrt(Y' K^-1 Y / n), as section 6.1 of "Kernel Interpolation as a Bayes Point Machine" has it
/// after P. Bartlett, S. Mendelson, "Rademacher and Gaussian complexities", JMLR 3, 2002, theorem
/// 21, for k(x, x) = 1. Times sqrt(tr K / n) where the diagonal is another, so that a multiple of K
/// gives the same. Without a confidence term, which the paper neglects, it is no bound that holds
/// with a known probability; what the caller gives as one is added.
struct RademacherBound {
  /// \throws std::invalid_argument unless points is 1 or more, the norm and the diagonal positive,
  ///         the term not negative, and all finite.
  RademacherBound(double label_norm_squared, std::ptrdiff_t points, double mean_diagonal = 1,
                  double added = 0)
      : confidence_term(added) {
    const char* const f = "RademacherBound";
    detail::check_positive(f, "label_norm_squared", label_norm_squared);
    detail::check_at_least(f, "points", points, 1);
    detail::check_positive(f, "mean_diagonal", mean_diagonal);
    detail::check_not_negative(f, "confidence_term", confidence_term);
    complexity_term =
        4 * std::sqrt(label_norm_squared * mean_diagonal / static_cast<double>(points));
  }

  double complexity_term = 0;  ///< 4 sqrt(Y' K^-1 Y tr K) / n.
  double confidence_term;      ///< Whatever the caller has added.

  [[nodiscard]] double value() const { return complexity_term + confidence_term; }
  /// Whether it says nothing: 1 or more.
  [[nodiscard]] bool vacuous() const { return value() >= 1; }
};

}}  // namespace bpm
