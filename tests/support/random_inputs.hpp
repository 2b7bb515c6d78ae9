// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernels/kernel.hpp"

/// \file
/// Inputs and plain references for the tests of kernels.

namespace test_support {

/// m rows of d independent normal numbers.
template <class T>
bpm::RowMatrix<T> normal_inputs(Eigen::Index m, Eigen::Index d, std::uint64_t seed) {
  bpm::RandomEngine engine(seed, 77);
  bpm::NormalDraws normal;
  bpm::RowMatrix<T> inputs(m, d);
  for (Eigen::Index i = 0; i < m; ++i) {
    for (Eigen::Index k = 0; k < d; ++k) inputs(i, k) = static_cast<T>(normal(engine));
  }
  return inputs;
}

/// The same with about two thirds of the numbers zero, so that sparse rows leave some out. Column 0
/// is never zero: no row has norm zero.
template <class T>
bpm::RowMatrix<T> holey_inputs(Eigen::Index m, Eigen::Index d, std::uint64_t seed) {
  bpm::RowMatrix<T> inputs = normal_inputs<T>(m, d, seed);
  bpm::RandomEngine engine(seed, 78);
  for (Eigen::Index i = 0; i < m; ++i) {
    for (Eigen::Index k = 1; k < d; ++k) {
      if (bpm::uniform_below(engine, 3) != 0) inputs(i, k) = 0;
    }
  }
  return inputs;
}

inline std::vector<bpm::PointIndex> first_points(std::ptrdiff_t count) {
  std::vector<bpm::PointIndex> points(static_cast<std::size_t>(count));
  std::iota(points.begin(), points.end(), 0);
  return points;
}

/// All values between two input sets, by one block.
template <class Kernel, class X, class Z>
bpm::RowMatrix<bpm::detail::kernel_scalar_t<X>> block_values(const Kernel& kernel, const X& x,
                                                             const Z& z) {
  const bpm::detail::PreparedInputs<X> left(x);
  const bpm::detail::PreparedInputs<Z> right(z);
  const auto rows = first_points(left.size());
  const auto cols = first_points(right.size());
  bpm::RowMatrix<bpm::detail::kernel_scalar_t<X>> values(left.size(), right.size());
  bpm::detail::BlockScratch<bpm::detail::kernel_scalar_t<X>> scratch;
  bpm::detail::kernel_block(kernel, left, rows, right, cols, values.data(), values.cols(), scratch);
  return values;
}

/// f(x_i, z_j) in double for rows of any dense matrix.
template <class X, class Z, class Formula>
Eigen::MatrixXd formula_values(const X& x, const Z& z, Formula&& formula) {
  Eigen::MatrixXd values(x.rows(), z.rows());
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    for (Eigen::Index j = 0; j < z.rows(); ++j) {
      const Eigen::RowVectorXd a = x.row(i).template cast<double>();
      const Eigen::RowVectorXd b = z.row(j).template cast<double>();
      values(i, j) = formula(a, b);
    }
  }
  return values;
}

template <class Values>
double largest_difference(const Values& values, const Eigen::MatrixXd& expected) {
  return (values.template cast<double>() - expected).cwiseAbs().maxCoeff();
}

/// How far a kernel's values are from the formula on 23 x 37 holey inputs of dimension 21: the
/// worst of dense and sparse blocks and of pair calls on dense and sparse rows.
template <class T, class Kernel, class Formula>
double distance_from_formula(const Kernel& kernel, Formula&& formula) {
  const auto x = holey_inputs<T>(23, 21, 1);
  const auto z = holey_inputs<T>(37, 21, 2);
  const Eigen::MatrixXd expected = formula_values(x, z, formula);
  double worst = largest_difference(block_values(kernel, x, z), expected);
  const bpm::SparseRowMatrix<T> sparse_x = x.sparseView();
  const bpm::SparseRowMatrix<T> sparse_z = z.sparseView();
  const auto note = [&](double difference) { worst = std::max(worst, std::abs(difference)); };
  for (Eigen::Index i = 0; i < 5; ++i) {
    for (Eigen::Index j = 0; j < z.rows(); ++j) {
      note(static_cast<double>(kernel(x.row(i), z.row(j))) - expected(i, j));
    }
  }
  if constexpr (bpm::InnerProductKernel<Kernel>) {
    note(largest_difference(block_values(kernel, sparse_x, sparse_z), expected));
    for (Eigen::Index i = 0; i < 5; ++i) {
      for (Eigen::Index j = 0; j < z.rows(); ++j) {
        const Eigen::SparseVector<T, Eigen::RowMajor> a = sparse_x.row(i);
        const Eigen::SparseVector<T, Eigen::RowMajor> b = sparse_z.row(j);
        note(static_cast<double>(kernel(a, b)) - expected(i, j));
      }
    }
  }
  return worst;
}

/// Units of rounding of T: 1e-6 for float and 1e-14 for double, about eight epsilons.
template <class T>
inline constexpr double unit = sizeof(T) == 4 ? 1e-6 : 1e-14;

}  // namespace test_support
