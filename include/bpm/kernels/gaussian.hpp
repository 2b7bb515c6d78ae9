// SPDX-License-Identifier: MIT
#pragma once

#include "bpm/core/check.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/kernels/median_distance.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// |x - x'|^2 from inner products; rounding may take it below zero, which no distance is.
template <class Array>
[[nodiscard]] Array squared_distances(const Array& xz, const Array& xx, const Array& zz) {
  using Scalar = typename Array::Scalar;
  return ((xx + zz) - Scalar{2} * xz).max(Scalar{0});
}

}  // namespace detail

/// The Gaussian (RBF) kernel k(x, x') = exp(-gamma |x - x'|^2).
///
/// Two conventions for a width are in use, so the constructors are named after theirs:
///  - `from_sigma(s)`: exp(-|x - x'|^2 / (2 s^2)), s the standard deviation of a normal density;
///  - `from_width(w)`: exp(-|x - x'|^2 / w^2), the convention of "Robust Bayes Point Machines";
///  - `from_gamma(g)`: exp(-g |x - x'|^2), the convention of LIBSVM.
/// All throw std::invalid_argument unless the parameter is positive and finite.
///
/// The distance is made of inner products, |x|^2 + |x'|^2 - 2 <x, x'>, and is wrong by the rounding
/// of |x|^2: centre inputs that lie far from the origin for their spread (years, kelvins), or give
/// them in double.
class Gaussian : public detail::CalledOnPairs<Gaussian> {
 public:
  [[nodiscard]] static Gaussian from_sigma(double sigma) {
    detail::check_positive("Gaussian::from_sigma", "sigma", sigma);
    return Gaussian(0.5 / (sigma * sigma));
  }
  [[nodiscard]] static Gaussian from_width(double width) {
    detail::check_positive("Gaussian::from_width", "width", width);
    return Gaussian(1 / (width * width));
  }
  [[nodiscard]] static Gaussian from_gamma(double gamma) {
    detail::check_positive("Gaussian::from_gamma", "gamma", gamma);
    return Gaussian(gamma);
  }

  /// The width by the inputs: `factor` times their median distance.
  /// \throws std::invalid_argument where that is 0: all inputs are nearly equal.
  template <class I>
  [[nodiscard]] static Gaussian from_median(const I& inputs, double factor = 1) {
    return from_width(factor * median_distance(inputs));
  }

  /// The factor g in exp(-g |x - x'|^2).
  [[nodiscard]] double gamma() const noexcept { return gamma_; }

  template <class Array>
  [[nodiscard]] Array from_inner_products(const Array& xz, const Array& xx, const Array& zz) const {
    using Scalar = typename Array::Scalar;
    return (static_cast<Scalar>(-gamma_) * detail::squared_distances(xz, xx, zz)).exp();
  }

 private:
  explicit Gaussian(double gamma) : gamma_(gamma) {
    detail::check_positive("Gaussian", "gamma, from the width given,", gamma);
  }

  double gamma_;
};

}}  // namespace bpm
