// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include "bpm/core/check.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/gaussian.hpp"
#include "bpm/kernels/kernel.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// The Laplacian kernel k(x, x') = exp(-|x - x'|_1 / sigma), of the Manhattan distance.
class Laplacian {
 public:
  /// \throws std::invalid_argument unless sigma is positive and finite.
  explicit Laplacian(double sigma) : sigma_(sigma) {
    detail::check_positive("Laplacian", "sigma", sigma);
  }

  [[nodiscard]] double sigma() const noexcept { return sigma_; }

  template <class Array>
  [[nodiscard]] Array from_manhattan_distances(const Array& distance) const {
    using Scalar = typename Array::Scalar;
    return (static_cast<Scalar>(-1 / sigma_) * distance).exp();
  }

  template <detail::EigenVector X, detail::EigenVector Z>
  [[nodiscard]] auto operator()(const X& x, const Z& z) const {
    using Scalar = detail::pair_scalar_t<X>;
    const Scalar distance =
        (x.template cast<Scalar>() - z.template cast<Scalar>()).cwiseAbs().sum();
    return std::exp(static_cast<Scalar>(-1 / sigma_) * distance);
  }

 private:
  double sigma_;
};

/// The exponential kernel k(x, x') = exp(-|x - x'| / sigma), of the Euclidean distance (some
/// libraries call this one Laplacian).
class Exponential : public detail::CalledOnPairs<Exponential> {
 public:
  /// \throws std::invalid_argument unless sigma is positive and finite.
  explicit Exponential(double sigma) : sigma_(sigma) {
    detail::check_positive("Exponential", "sigma", sigma);
  }

  [[nodiscard]] double sigma() const noexcept { return sigma_; }

  template <class Array>
  [[nodiscard]] Array from_inner_products(const Array& xz, const Array& xx, const Array& zz) const {
    using Scalar = typename Array::Scalar;
    return (static_cast<Scalar>(-1 / sigma_) * detail::squared_distances(xz, xx, zz).sqrt()).exp();
  }

 private:
  double sigma_;
};

}}  // namespace bpm
