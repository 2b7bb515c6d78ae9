// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/gaussian_process/interpolation/kernel_interpolator.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/kernels/vector_kernels.hpp"

/// \file
/// Small data sets, and a solver as in a textbook to compare with.

namespace interpolation_tests {

using Inputs = bpm::RowMatrix<double>;
using ClassLabels = std::vector<int>;

inline const auto unit_gaussian = bpm::Gaussian::from_sigma(1.0);
inline const bpm::KernelInterpolator unit_interpolator(unit_gaussian);

/// Normal points in R^d.
inline Inputs random_inputs(Eigen::Index n, Eigen::Index d, std::uint64_t seed) {
  bpm::RandomEngine engine(seed);
  bpm::NormalDraws normal;
  Inputs inputs(n, d);
  for (Eigen::Index i = 0; i < inputs.size(); ++i) inputs.data()[i] = normal(engine);
  return inputs;
}

/// Labels 3, 4, .. by the angle of the first two numbers, some at random.
inline ClassLabels random_labels(const Inputs& inputs, int classes, std::uint64_t seed) {
  bpm::RandomEngine engine(seed, 9);
  ClassLabels labels;
  for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
    const double turn = std::atan2(inputs(i, 1), inputs(i, 0)) / 6.2831853071795865 + 0.5;
    const double u = bpm::uniform_unit(engine) < 0.2 ? bpm::uniform_unit(engine) : turn;
    labels.push_back(3 + std::min(classes - 1, static_cast<int>(u * classes)));
  }
  return labels;
}

/// exp(-|x - z|^2 / 2), pair by pair.
template <class A, class B>
Eigen::MatrixXd gaussian_matrix(const A& x, const B& z) {
  Eigen::MatrixXd k(x.rows(), z.rows());
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    for (Eigen::Index j = 0; j < z.rows(); ++j) {
      k(i, j) = std::exp(-0.5 * (x.row(i) - z.row(j)).squaredNorm());
    }
  }
  return k;
}

/// The inverse by Gauss and Jordan with row pivots, in long double.
inline Eigen::MatrixXd textbook_inverse(const Eigen::MatrixXd& k) {
  const auto n = static_cast<std::size_t>(k.rows());
  std::vector<std::vector<long double>> rows(n, std::vector<long double>(2 * n, 0));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      rows[i][j] = k(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
    }
    rows[i][n + i] = 1;
  }
  for (std::size_t p = 0; p < n; ++p) {
    std::size_t best = p;
    for (std::size_t i = p; i < n; ++i) {
      if (std::abs(rows[i][p]) > std::abs(rows[best][p])) best = i;
    }
    std::swap(rows[p], rows[best]);
    const long double pivot = rows[p][p];
    for (long double& value : rows[p]) value /= pivot;
    for (std::size_t i = 0; i < n; ++i) {
      const long double factor = i == p ? 0 : rows[i][p];
      for (std::size_t j = 0; j < 2 * n && factor != 0; ++j) rows[i][j] -= factor * rows[p][j];
    }
  }
  Eigen::MatrixXd inverse(k.rows(), k.rows());
  for (Eigen::Index i = 0; i < k.rows(); ++i) {
    for (Eigen::Index j = 0; j < k.rows(); ++j) {
      inverse(i, j) =
          static_cast<double>(rows[static_cast<std::size_t>(i)][n + static_cast<std::size_t>(j)]);
    }
  }
  return inverse;
}

inline double largest(const Eigen::MatrixXd& a) { return a.cwiseAbs().maxCoeff(); }

}  // namespace interpolation_tests
