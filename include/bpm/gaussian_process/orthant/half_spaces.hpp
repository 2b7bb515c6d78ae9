// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <optional>

#include "bpm/core/points.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/gaussian_process/orthant/orthant_planes.hpp"

/// \file
/// Half spaces A x + b >= 0 as bounds of coordinates, and the search for a point inside.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Returns the planes of the coordinates y = (A (x - mean), x - mean) under N(mean, L L'): the
/// first m have a lower bound and a row of products each, the last n neither. L is lower
/// triangular, with zeros above. Cost: m n (m + 2 n) multiply-adds.
[[nodiscard]] inline OrthantPlanes half_space_planes(const Eigen::MatrixXd& normals,
                                                     const Eigen::MatrixXd& factor) {
  const Eigen::Index m = normals.rows();
  const Eigen::Index n = normals.cols();
  OrthantPlanes planes(m + n, m, n);
  const std::ptrdiff_t length = planes.latent_stride;
  // Sums whose bits do not depend on the number of threads.
  const auto products = [&](const RowMatrix<double>& a, const RowMatrix<double>& b, double* out,
                            std::ptrdiff_t stride) {
    row_products<ProductTerm, double>(row_pointers(a.data(), m, length).data(), m,
                                      row_pointers(b.data(), b.rows(), length).data(), b.rows(),
                                      length, out, stride);
  };
  RowMatrix<double> padded_normals = RowMatrix<double>::Zero(m, length);
  padded_normals.leftCols(n) = normals;
  RowMatrix<double> transposed = RowMatrix<double>::Zero(n, length);
  transposed.leftCols(n) = factor.transpose();
  products(padded_normals, transposed, planes.factor.data(), length);
  planes.factor.bottomLeftCorner(n, n) = factor;
  products(planes.factor, planes.factor, planes.rows.data(), planes.stride);
  return planes;
}

/// Returns a point w with <row_i, w> + at_zero_i > 0 for all i by at least a millionth of the row's
/// norm, or none if the search fails. Each pass projects onto the planes that are too close, one
/// after the other (S. Agmon, "The relaxation method for linear inequalities", Canad. J. Math. 6,
/// 1954). The margin is first a tenth of the norm, and ten times less after 200 passes without
/// success. Cost of a pass: m n multiply-adds.
[[nodiscard]] inline std::optional<Eigen::VectorXd> point_inside(
    const Eigen::Ref<const RowMatrix<double>, 0, Eigen::OuterStride<>>& rows,
    const Eigen::VectorXd& at_zero) {
  const Eigen::VectorXd norms = rows.rowwise().norm();
  Eigen::VectorXd w = Eigen::VectorXd::Zero(rows.cols());
  for (double kept = 0.1; kept > 0.9e-6; kept *= 0.1) {
    for (int pass = 0; pass < 200; ++pass) {
      bool moved = false;
      for (Eigen::Index i = 0; i < rows.rows(); ++i) {
        const double distance = (rows.row(i).dot(w) + at_zero[i]) / norms[i];
        if (distance >= kept) continue;
        w += (1.5 * kept - distance) / norms[i] * rows.row(i).transpose();
        moved = true;
      }
      if (!moved) return w;
    }
  }
  return std::nullopt;
}

}}}  // namespace bpm::detail
