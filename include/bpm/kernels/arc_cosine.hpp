// SPDX-License-Identifier: MIT
#pragma once

#include <numbers>

#include "bpm/core/check.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/kernel.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// The arc-cosine kernel of a network with L layers of rectified linear units in the limit of
/// infinite width: k(x, x') = h o ... o h (L - 1 times) of the cosine t = <x, x'> / (|x| |x'|),
/// with
///
///     h(t) = (sqrt(1 - t^2) + t (pi - arccos t)) / pi,
///
/// as in "Kernel interpolation as a Bayes point machine" (there the inputs are scaled to
/// norm^2 = d, which is the same) after Y. Cho, L. Saul, "Kernel methods for deep learning",
/// NIPS 22, 2009. Depth 1 is the cosine itself; k(x, x) = 1 to rounding, at any depth.
/// An input of norm zero has no cosine: its kernel values are not finite, and an error where the
/// values are used.
class ArcCosine : public detail::CalledOnPairs<ArcCosine> {
 public:
  /// \throws std::invalid_argument unless depth is from 1 to 1000: beyond all inputs are alike.
  explicit ArcCosine(int depth = 2) : depth_(depth) {
    detail::check(depth >= 1 && depth <= 1000, "ArcCosine", "depth", "is ", depth,
                  ", must be from 1 to 1000");
  }

  [[nodiscard]] int depth() const noexcept { return depth_; }

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

}}  // namespace bpm
