// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <numbers>
#include <optional>
#include <type_traits>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/kernel.hpp"

/// \file
/// Kernels of inner products: linear, polynomial, arc-cosine; and the linear forms of kernels.

namespace bpm { inline namespace BPM_TARGET {

/// The linear kernel k(x, x') = <x, x'>. Its classifiers pass through the origin;
/// `biased(Linear{})` adds a constant feature.
struct Linear : detail::CalledOnPairs<Linear> {
  /// Returns xz itself, a block of <x, x'>: see `InnerProductKernel`.
  template <class Array>
  [[nodiscard]] Array from_inner_products(const Array& xz, const Array& /*xx*/,
                                          const Array& /*zz*/) const {
    return xz;
  }
};

/// The polynomial kernel k(x, x') = (scale <x, x'> + offset)^degree.
///
/// The default is the kernel of "Large Scale Bayes Point Machines", (5): degree 5, scale 1, offset
/// 1. Powers are computed by repeated multiplication, without pow(): the same bits everywhere.
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

  [[nodiscard]] int degree() const noexcept { return degree_; }   ///< Power, from 1 to 64.
  [[nodiscard]] double scale() const noexcept { return scale_; }  ///< Factor of <x, x'>.
  /// Constant added before taking the power.
  [[nodiscard]] double offset() const noexcept { return offset_; }

  /// Returns powers of a block of <x, x'>: see `InnerProductKernel`.
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

/// The arc-cosine kernel of a network with L layers of rectified linear units in the limit of
/// infinite width: k(x, x') = h o ... o h (L - 1 times) of the cosine t = <x, x'> / (|x| |x'|),
/// with
///
///     h(t) = (sqrt(1 - t^2) + t (pi - arccos t)) / pi,
///
/// as in "Kernel interpolation as a Bayes point machine" (there the inputs are scaled to
/// norm^2 = d, which is the same) after Y. Cho, L. Saul, "Kernel methods for deep learning",
/// NIPS 22, 2009. Depth 1 is the cosine itself; k(x, x) = 1 to rounding, at any depth.
/// Kernel values of an input of norm zero are not finite; their use is an error.
class ArcCosine : public detail::CalledOnPairs<ArcCosine> {
 public:
  /// \throws std::invalid_argument unless depth is from 1 to 1000: beyond, all inputs are alike.
  explicit ArcCosine(int depth = 2) : depth_(depth) {
    detail::check(depth >= 1 && depth <= 1000, "ArcCosine", "depth", "is ", depth,
                  ", must be from 1 to 1000");
  }

  [[nodiscard]] int depth() const noexcept { return depth_; }  ///< Number of layers L.

  /// Computes values from blocks of <x, x'>, <x, x> and <x', x'>: see `InnerProductKernel`.
  template <class Array>
  [[nodiscard]] Array from_inner_products(const Array& xz, const Array& xx, const Array& zz) const {
    using Scalar = typename Array::Scalar;
    constexpr auto pi = std::numbers::pi_v<Scalar>;
    // Two roots: the product of two squared norms leaves the range of float for inputs that do not.
    Array t = xz / (xx.sqrt() * zz.sqrt());
    for (int layer = 1; layer < depth_; ++layer) {
      // NaN (a zero norm) must survive the clamp, so comparisons select instead of min and max.
      t = (t > Scalar{1}).select(Scalar{1}, (t < Scalar{-1}).select(Scalar{-1}, t)).eval();
      t = (((Scalar{1} - t) * (Scalar{1} + t)).sqrt() + t * (pi - t.acos())) / pi;
    }
    return t;
  }

 private:
  int depth_;
};

namespace detail {

/// Form of a kernel whose features are the inputs: k(x, z) = factor <x, z> + constant; with `unit`,
/// x and z are divided by their norms. Its classifiers need only one number per feature.
struct LinearForm {
  double factor = 1;
  double constant = 0;
  bool unit = false;
};

/// `possible`: true if a kernel of this type can be linear; of(kernel): its form, or nothing.
template <class Kernel>
struct LinearFormOf {
  static constexpr bool possible = false;
};

template <>
struct LinearFormOf<Linear> {
  static constexpr bool possible = true;
  [[nodiscard]] static std::optional<LinearForm> of(const Linear& /*kernel*/) {
    return LinearForm{};
  }
};

template <class Inner, class Combine>
struct LinearFormOf<WithConstant<Inner, Combine>> {
  static constexpr bool possible = LinearFormOf<Inner>::possible;
  [[nodiscard]] static std::optional<LinearForm> of(const WithConstant<Inner, Combine>& kernel)
    requires possible
  {
    std::optional<LinearForm> form = LinearFormOf<Inner>::of(kernel.inner);
    if (form) {
      form->constant = Combine{}(form->constant, kernel.constant);
      if constexpr (std::is_same_v<Combine, std::multiplies<>>) form->factor *= kernel.constant;
    }
    return form;
  }
};

template <class Inner>
struct LinearFormOf<UnitInputs<Inner>> {
  static constexpr bool possible = LinearFormOf<Inner>::possible;
  [[nodiscard]] static std::optional<LinearForm> of(const UnitInputs<Inner>& kernel)
    requires possible
  {
    std::optional<LinearForm> form = LinearFormOf<Inner>::of(kernel.inner);
    if (form) form->unit = true;
    return form;
  }
};

template <class Inner>
struct LinearFormOf<Normalised<Inner>> {
  static constexpr bool possible = LinearFormOf<Inner>::possible;
  [[nodiscard]] static std::optional<LinearForm> of(const Normalised<Inner>& kernel)
    requires possible
  {
    const std::optional<LinearForm> form = LinearFormOf<Inner>::of(kernel.inner);
    if (!form || form->constant != 0) return std::nullopt;
    return LinearForm{.unit = true};
  }
};

/// A kernel chosen at run time.
template <VisitedKernel Kernel>
struct LinearFormOf<Kernel> {
  static constexpr bool possible = true;
  [[nodiscard]] static std::optional<LinearForm> of(const Kernel& kernel) {
    return kernel.visit([]<class One>(const One& one) -> std::optional<LinearForm> {
      if constexpr (LinearFormOf<One>::possible) {
        return LinearFormOf<One>::of(one);
      } else {
        return std::nullopt;
      }
    });
  }
};

/// Returns the form of a kernel that is linear in its inputs, or nothing.
template <class Kernel>
[[nodiscard]] std::optional<LinearForm> linear_form(const Kernel& kernel) {
  if constexpr (LinearFormOf<Kernel>::possible) {
    return LinearFormOf<Kernel>::of(kernel);
  } else {
    return std::nullopt;
  }
}

}  // namespace detail
}}  // namespace bpm
