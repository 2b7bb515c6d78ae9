// SPDX-License-Identifier: MIT
#pragma once

#include "bpm/core/check.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/kernel.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// The polynomial kernel k(x, x') = (scale <x, x'> + offset)^degree.
///
/// The default is the kernel of "Large Scale Bayes Point Machines", (5): degree 5, scale 1,
/// offset 1. Integer powers by repeated multiplication: no pow(), the same bits everywhere.
class Polynomial : public detail::CalledOnPairs<Polynomial> {
 public:
  /// \throws std::invalid_argument unless 1 <= degree <= 64, scale > 0 and offset >= 0 (a negative
  ///         offset is not positive semi-definite), both finite.
  explicit Polynomial(int degree = 5, double scale = 1, double offset = 1)
      : degree_(degree), scale_(scale), offset_(offset) {
    detail::check(degree >= 1 && degree <= 64, "Polynomial", "degree", "is ", degree,
                  ", must be 1 to 64");
    detail::check_positive("Polynomial", "scale", scale);
    detail::check_not_negative("Polynomial", "offset", offset);
  }

  [[nodiscard]] int degree() const noexcept { return degree_; }
  [[nodiscard]] double scale() const noexcept { return scale_; }
  [[nodiscard]] double offset() const noexcept { return offset_; }

  template <class Array>
  [[nodiscard]] Array from_inner_products(const Array& xz, const Array& /*xx*/,
                                          const Array& /*zz*/) const {
    using Scalar = typename Array::Scalar;
    Array base = xz * static_cast<Scalar>(scale_) + static_cast<Scalar>(offset_);
    // Binary powering from the lowest bit; the first factor is copied, not multiplied by one.
    int rest = degree_;
    while (rest % 2 == 0) {
      base *= base;
      rest /= 2;
    }
    Array power = base;
    for (rest /= 2; rest > 0; rest /= 2) {
      base *= base;
      if (rest % 2 == 1) {
        power *= base;
      }
    }
    return power;
  }

 private:
  int degree_;
  double scale_;
  double offset_;
};

}}  // namespace bpm
