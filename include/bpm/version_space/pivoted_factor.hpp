// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// A factor of the sampling kernel: K + diag(lambda) ~ L L'.
struct KernelFactor {
  Eigen::MatrixXd factor;          ///< L, m x r; row i are coordinates of training point i.
  std::vector<PointIndex> pivots;  ///< The r points whose features span the rest, in order.
  double residual = 0;  ///< Largest diagonal entry of K + diag(lambda) - L L', in absolute value.
};

/// The pivoted Cholesky factor of the sampling kernel S = K + diag(lambda): S ~ L L', L of size
/// m x r, the point with the largest remaining diagonal entry next, until that entry is at most
/// `tolerance` times the largest of S. With `tolerance` near the values' rounding, r is the
/// numerical rank.
///
/// With `norms`, S_ij / (norms_i norms_j) is factored instead, zero where a norm is.
///
/// Only the r rows of the pivots are read. Cost: r rows of kernel values and m r^2 multiply-adds;
/// memory m r doubles. Source: N. Higham, "Accuracy and Stability of Numerical Algorithms", SIAM
/// 2002, section 10.3.
/// \throws std::invalid_argument unless 0 < tolerance < 1.
template <class Space>
[[nodiscard]] KernelFactor pivoted_factor(const Space& space, double tolerance,
                                          std::span<const double> norms = {}) {
  check(tolerance > 0 && tolerance < 1, "pivoted_factor", "tolerance", "is ", tolerance,
        ", must lie between 0 and 1");
  const Eigen::Index m = space.size();
  Eigen::VectorXd remaining(m);
  for (Eigen::Index i = 0; i < m; ++i) {
    remaining[i] = norms.empty() ? space.diagonal(i) : norms[i] > 0 ? 1 : 0;
  }
  const double stop = m == 0 ? 0 : tolerance * remaining.maxCoeff();

  BlockScratch<typename Space::Scalar> scratch;
  KernelFactor result;
  Eigen::MatrixXd columns(m, std::min<Eigen::Index>(m, 16));
  Eigen::VectorXd column(m);
  Eigen::Index rank = 0;
  for (; rank < m; ++rank) {
    Eigen::Index pivot = 0;
    const double largest = remaining.maxCoeff(&pivot);
    if (!(largest > stop)) {
      break;
    }
    column.setZero();
    space.add_row(pivot, norms.empty() ? 1.0 : 1 / norms[pivot],
                  std::span(column.data(), static_cast<std::size_t>(m)), scratch);
    for (std::size_t j = 0; j < norms.size(); ++j) {
      column[j] = norms[j] > 0 ? column[j] / norms[j] : 0.0;
    }
    if (rank > 0) {
      column.noalias() -= columns.leftCols(rank) * columns.row(pivot).head(rank).transpose();
    }
    column /= std::sqrt(largest);
    // What was pivoted before is factored exactly: rounding must not pile up there.
    for (const PointIndex done : result.pivots) column[done] = 0;
    column[pivot] = std::sqrt(largest);
    if (rank == columns.cols()) {
      columns.conservativeResize(Eigen::NoChange, std::min(m, 2 * columns.cols()));
    }
    columns.col(rank) = column;
    remaining -= column.cwiseAbs2();
    result.pivots.push_back(static_cast<PointIndex>(pivot));
    for (const PointIndex done : result.pivots) remaining[done] = 0;
  }
  result.factor = columns.leftCols(rank);
  result.residual = m == 0 ? 0 : remaining.cwiseAbs().maxCoeff();
  return result;
}

}}}  // namespace bpm::detail
