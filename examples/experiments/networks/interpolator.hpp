// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "bpm/core/errors.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/kernels/arc_cosine.hpp"
#include "bpm/kernels/inputs.hpp"

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
    constexpr double pi = std::numbers::pi;
    const Array lengths = xx.sqrt() * zz.sqrt();
    const Array one = Array::Ones(xz.rows(), xz.cols());
    Array t = xz / lengths;
    for (int layer = 1; layer < depth_; ++layer) {
      t = (pi * bpm::ArcCosine(2).from_inner_products(t, one, one) - 1) / (pi - 1);
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

/// Values of the kernel between the rows of `a` and `b`, in double precision.
template <class Kernel, class A, class B>
[[nodiscard]] Eigen::MatrixXd kernel_values(const Kernel& kernel, const A& a, const B& b) {
  const bpm::RowMatrix<double> x = a.template cast<double>();
  const bpm::RowMatrix<double> z = b.template cast<double>();
  const Eigen::ArrayXXd xz = x * z.transpose();
  const Eigen::ArrayXXd xx = x.rowwise().squaredNorm().array().replicate(1, z.rows());
  const Eigen::ArrayXXd zz = z.rowwise().squaredNorm().transpose().array().replicate(x.rows(), 1);
  return kernel.from_inner_products(xz, xx, zz).matrix();
}

/// What the experiment needs of the kernel matrix K of a training set.
struct Interpolator {
  Eigen::VectorXd coefficients;  ///< K^-1 Y.
  double label_scale = 0;        ///< |K|^(1/(2n)).
};

/// The centroidal interpolator of the labels and the scale of the small-margin labels, from a
/// Cholesky factor of K; n^3 / 3 operations.
/// \throws bpm::NotPositiveDefinite if K has none, as with the same image twice.
[[nodiscard]] inline Interpolator interpolate(const Eigen::MatrixXd& kernel_matrix,
                                              const Eigen::VectorXd& labels) {
  const Eigen::LLT<Eigen::MatrixXd> factor(kernel_matrix);
  if (factor.info() != Eigen::Success) {
    throw bpm::NotPositiveDefinite(
        "the kernel matrix of " + std::to_string(kernel_matrix.rows()) +
        " training images has no Cholesky factor; are some of the images the same?");
  }
  Interpolator result;
  result.coefficients = factor.solve(labels);
  // log |K| = 2 sum log L_ii.
  result.label_scale = std::exp(factor.matrixLLT().diagonal().array().log().mean());
  return result;
}

/// K_xX K_XX^-1 Y of every row of `inputs`, in blocks over the threads.
template <class Kernel, class A, class B>
[[nodiscard]] Eigen::VectorXd interpolator_outputs(const Kernel& kernel, const Interpolator& model,
                                                   const A& inputs, const B& train,
                                                   unsigned threads) {
  constexpr Eigen::Index block = 256;
  Eigen::VectorXd all(inputs.rows());
  const Eigen::Index blocks = (inputs.rows() + block - 1) / block;
  bpm::detail::parallel_for(threads, blocks, [&](unsigned, std::ptrdiff_t k) {
    const Eigen::Index begin = k * block;
    const Eigen::Index count = std::min(block, inputs.rows() - begin);
    all.segment(begin, count) =
        kernel_values(kernel, inputs.middleRows(begin, count), train) * model.coefficients;
  });
  return all;
}

}  // namespace bpm_examples
