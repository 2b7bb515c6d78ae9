// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>

#include "bpm/gaussian_process/interpolation/kernel_interpolator.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/kernels/vector_kernels.hpp"

/// \file
/// The kernels of infinitely wide networks, and their interpolators.

namespace bpm_examples {

/// The kernel of random networks whose neurons are balanced, as Nero has them from the start. A row
/// of mean zero does not see the mean of its inputs, so that
///
///     k_1(x, x') = <x_c, x'_c> / d0,  x_c = x less the mean of its numbers,
///     k_{l+1} = sqrt(k_l(x, x) k_l(x', x')) (h(t) - 1 / pi),  t the cosine by k_l,
///
/// with h of `bpm::ArcCosine`: 1 / pi is the product of the means of sqrt(2) max(0, u) and of
/// sqrt(2) max(0, u') for standard normal u, u'. Without it this is the arc-cosine kernel, the one
/// that the paper compares networks with; that is the limit of networks with free weights, not of
/// balanced ones. The inputs given here must be centred. Constant factors are left out, as
/// interpolation does not see them: k(x, x) = |x_c|^2.
class BalancedArcCosine {
 public:
  explicit BalancedArcCosine(int depth) : depth_(depth) {}

  template <class Array>
  [[nodiscard]] Array from_inner_products(const Array& xz, const Array& xx, const Array& zz) const {
    using Scalar = typename Array::Scalar;
    constexpr auto pi = std::numbers::pi_v<Scalar>;
    const Array lengths = xx.sqrt() * zz.sqrt();
    const Array one = Array::Ones(xz.rows(), xz.cols());
    Array t = xz / lengths;
    for (int layer = 1; layer < depth_; ++layer) {
      t = (pi * bpm::ArcCosine(2).from_inner_products(t, one, one) - Scalar{1}) / (pi - 1);
    }
    return t * lengths;
  }

 private:
  int depth_;
};

/// Every row less the mean of its numbers.
[[nodiscard]] inline bpm::RowMatrix<double> centre_rows(const bpm::RowMatrix<float>& inputs) {
  bpm::RowMatrix<double> centred = inputs.cast<double>();
  centred.colwise() -= centred.rowwise().mean().eval();
  return centred;
}

/// Trains the interpolator of the labels 1 and -1.
/// \throws bpm::NotPositiveDefinite where the kernel matrix K has no factor, as with the same image
///         twice; bpm::NotSeparable where those have different labels.
template <class Kernel>
[[nodiscard]] auto interpolate(const Kernel& kernel, const bpm::RowMatrix<double>& inputs,
                               const Eigen::VectorXf& labels, unsigned threads) {
  const Eigen::VectorXi signs = labels.cast<int>();
  return bpm::KernelInterpolator(kernel, {.jitter = {.largest_jitter = 0}, .threads = threads})
      .train(inputs, std::span(signs.data(), static_cast<std::size_t>(signs.size())));
}

/// |K|^(1/(2n)), the scale of the small-margin labels.
template <class Training>
[[nodiscard]] double label_scale(const Training& training) {
  return std::exp(training.log_determinant() / static_cast<double>(2 * training.values().rows()));
}

}  // namespace bpm_examples
