// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// A factor of the sampling kernel: K + diag(lambda) ~ L L'.
struct KernelFactor {
  Eigen::MatrixXd factor;          ///< The r points whose features span the rest, in pivot order.
  std::vector<PointIndex> pivots;  ///< The r points whose features span the rest, in order.
  double residual = 0;  ///< Largest absolute diagonal entry of the factored matrix less L L'.
};

/// The pivoted Cholesky factor of the sampling kernel S = K + diag(lambda): S ~ L L', L of size
/// m x r, the point with the largest remaining diagonal entry next, until that entry is at most
/// `tolerance` times the largest of S. With `tolerance` near the values' rounding, r is the
/// numerical rank.
///
/// With `norms`, factors S_ij / (norms_i norms_j) instead, with zeros where a norm is zero.
///
/// Only the r rows of the pivots are read. Cost: r rows of kernel values, m r^2 / 2 multiply-adds;
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
    remaining[i] = norms.empty() ? space.diagonal(i) : norms[std::size_t(i)] > 0 ? 1 : 0;
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
    space.add_row(pivot, norms.empty() ? 1.0 : 1 / norms[std::size_t(pivot)],
                  std::span(column.data(), static_cast<std::size_t>(m)), scratch);
    for (std::size_t j = 0; j < norms.size(); ++j) {
      column[std::ptrdiff_t(j)] = norms[j] > 0 ? column[std::ptrdiff_t(j)] / norms[j] : 0.0;
    }
    if (rank > 0) {
      column.noalias() -= columns.leftCols(rank) * columns.row(pivot).head(rank).transpose();
    }
    column /= std::sqrt(largest);
    // Rows of earlier pivots are factored exactly: zeros keep rounding errors out of them.
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

/// Factors S scaled to a unit diagonal, so that the tolerance treats all points alike, and scales
/// back.
template <VersionSpace Space>
[[nodiscard]] KernelFactor cone_factor(const Space& space, double tolerance) {
  check(space.size() > 0, "Cone", "space", "has no points");
  std::vector<double> norms;
  for (std::ptrdiff_t i = 0; i < space.size(); ++i) {
    const double squared = space.diagonal(i);
    check(squared >= 0, "Cone", "space", "has k(x, x) + lambda = ", squared, " at point ", i,
          ", must not be negative");
    norms.push_back(std::sqrt(squared));
  }
  // The default exceeds the rounding of kernel values and of r columns.
  if (tolerance <= 0) tolerance = std::same_as<typename Space::Scalar, float> ? 1e-5 : 1e-12;
  KernelFactor factor = pivoted_factor(space, tolerance, norms);
  check(factor.residual <= 100 * tolerance, "Cone", "space",
        "has kernel values that are not positive semi-definite: a factor leaves ", factor.residual,
        " of a point's k(x, x) + lambda; no kernel gives such values");
  factor.factor.array().colwise() *=
      Eigen::Map<const Eigen::ArrayXd>(norms.data(), factor.factor.rows());
  return factor;
}

}  // namespace detail

/// Version space in coordinates, for samplers of the uniform law on it.
///
/// Let S = K + diag(lambda) ~ L L' be the pivoted factor of rank r. The rows
///
///     s_i = y_i L_i.
///
/// are the signed training features in an orthonormal basis of the span of the r pivots, and
/// version space is { x in R^r : norm(x) = 1, <s_i, x> > 0 for all i }: signed outputs are d_i =
/// <s_i, x>, norms are Euclidean norms, and a normal vector of R^r is isotropic in feature space.
/// However ill-conditioned S is, nothing is lost in these coordinates; a classifier found there has
/// dual coefficients on the pivots alone, and its outputs under S are *exactly* L x, also at points
/// that are no pivots, since S_.p = L L_p' holds without a residual. A residual above rounding
/// means that version space is intersected with the span of the pivots.
///
/// Memory: m r doubles, and m^2 more with `form_products`. Move-only, to prevent accidental copies.
class Cone {
 public:
  // Movable, not copyable, since it holds the whole factor.
  Cone(Cone&&) = default;             ///< Cheap: the factor is not copied.
  Cone& operator=(Cone&&) = default;  ///< Cheap: the factor is not copied.

  /// Factors the sampling kernel of a version space. `tolerance` is that of `pivoted_factor` on S
  /// scaled to a unit diagonal, so that points of small and large norm count alike; 0: 1e-12, for
  /// kernel values in float 1e-5. Cost: r rows of kernel values and m r^2 / 2 multiply-adds.
  /// \throws std::invalid_argument if no point has a feature, a diagonal entry is negative, the
  ///         tolerance is 1 or more, or the factor shows that values are not those of a kernel.
  template <VersionSpace Space>
  explicit Cone(const Space& space, double tolerance = 0)
      : Cone(detail::cone_factor(space, tolerance), detail::labels_of(space)) {}

  /// Uses a given factor of S and labels. \throws std::invalid_argument if sizes disagree, or if
  /// the factor has rank 0 (S = 0).
  Cone(const detail::KernelFactor& factor, std::span<const signed char> labels);

  /// Number of planes m.
  [[nodiscard]] std::ptrdiff_t points() const noexcept { return points_; }
  /// Dimension r.
  [[nodiscard]] std::ptrdiff_t rank() const noexcept { return rank_; }
  /// Length of a row of coordinates: r, padded with zeros to whole registers.
  [[nodiscard]] std::ptrdiff_t stride() const noexcept { return stride_; }
  /// Length of a row of outputs: m, padded to whole registers.
  [[nodiscard]] std::ptrdiff_t output_stride() const noexcept {
    return detail::padded<double>(points_);
  }
  /// Largest (S - L L')_ii / S_ii where the cone made the factor; else that of the given factor.
  [[nodiscard]] double residual() const noexcept { return residual_; }
  /// The r training points whose features span those of all points.
  [[nodiscard]] std::span<const PointIndex> pivots() const noexcept { return pivots_; }
  /// Label y_i, +1 or -1.
  [[nodiscard]] int label(std::ptrdiff_t i) const noexcept { return labels_[std::size_t(i)]; }

  /// Coordinates of s_i, `stride()` long, with zeros from `rank()` on.
  [[nodiscard]] const double* row(std::ptrdiff_t i) const noexcept {
    return rows_.data() + i * stride_;
  }
  /// Norm of s_i.
  [[nodiscard]] double row_norm(std::ptrdiff_t i) const noexcept { return norms_[std::size_t(i)]; }

  /// Computes the m x m matrix of <s_i, s_j>, whose rows a billiard or single-input steps add.
  /// Cost: m^2 r multiply-adds.
  void form_products();
  /// True if `form_products` was called.
  [[nodiscard]] bool has_products() const noexcept { return products_.size() > 0; }
  /// <s_i, s_j> for all j, `output_stride()` long, zeros from m on. Requires `form_products`.
  [[nodiscard]] const double* product_row(std::ptrdiff_t i) const noexcept {
    return products_.data() + i * output_stride();
  }

  /// Computes d_i = <s_i, x> for all points. `x` is `stride()` long. Cost: m r.
  void outputs(const double* x, double* d) const { outputs({&x, 1}, d, points_); }
  /// Computes the outputs d_i of several vectors, those of each vector at a distance of `ld` in
  /// `d`. Reads the rows once for all vectors.
  void outputs(std::span<const double* const> vectors, double* d, std::ptrdiff_t ld) const;

  /// Returns the smallest output min_i d_i at x, `stride()` long, and its index i.
  [[nodiscard]] std::pair<double, std::ptrdiff_t> smallest_output(std::span<const double> x) const;

  /// Computes x += scale sum_i weights_i s_i. Cost: r for each weight that is not zero.
  void add_rows(const double* weights, double* x, double scale = 1) const;

  /// Coordinates of w = sum_i alpha_i phi(x_i), projected onto the span of the pivots.
  /// \throws std::invalid_argument unless there is one coefficient per point.
  [[nodiscard]] std::vector<double> coordinates(std::span<const double> alpha) const;

  /// Adds `scale` times the dual coefficients of x, which are on the pivots, to `alpha` (m long).
  /// Solves L_p' alpha_p = x by substitution. For a near-singular S the coefficients are large, up
  /// to norm(x) over the square root of the factor's tolerance. Cost: r^2 / 2.
  void add_dual_coefficients(const double* x, double scale, double* alpha) const {
    std::vector<double> rest(x, x + stride_);
    for (std::ptrdiff_t a = rank_ - 1; a >= 0; --a) {
      const std::ptrdiff_t point = pivots_[std::size_t(a)];
      const double* s = row(point);
      const double weight = rest[std::size_t(a)] / s[a];
      detail::add_scaled(rest.data(), -weight, s, a);
      alpha[point] += scale * label(point) * weight;
    }
  }

 private:
  std::ptrdiff_t points_;
  std::ptrdiff_t rank_;
  std::ptrdiff_t stride_;
  double residual_;
  std::vector<PointIndex> pivots_;
  std::vector<signed char> labels_;
  detail::Buffer<double> rows_;
  std::vector<double> norms_;
  std::vector<const double*> row_pointers_;
  detail::Buffer<double> products_;
};

#if BPM_BODIES

BPM_INLINE Cone::Cone(const detail::KernelFactor& factor, std::span<const signed char> labels)
    : points_(factor.factor.rows()),
      rank_(factor.factor.cols()),
      stride_(detail::padded<double>(rank_)),
      residual_(factor.residual),
      pivots_(factor.pivots),
      labels_(labels.begin(), labels.end()),
      rows_(points_ * stride_),
      norms_(std::size_t(points_)) {
  detail::check_size("Cone", "labels", labels.size(), points_, "one per training point");
  detail::check(rank_ > 0, "Cone", "factor", "has rank 0: every kernel value is zero");
  for (std::ptrdiff_t i = 0; i < points_; ++i) {
    double* row = rows_.data() + i * stride_;
    for (std::ptrdiff_t k = 0; k < stride_; ++k) {
      row[k] = k < rank_ ? labels_[std::size_t(i)] * factor.factor(i, k) : 0.0;
    }
    row_pointers_.push_back(row);
    norms_[std::size_t(i)] = std::sqrt(detail::dot(row, row, stride_));
  }
}

BPM_INLINE void Cone::form_products() {
  if (products_.size() > 0) {
    return;
  }
  const std::ptrdiff_t ld = output_stride();
  products_ = detail::Buffer<double>(points_ * ld);
  for (std::ptrdiff_t i = 0; i < points_; ++i) {
    std::fill_n(products_.data() + i * ld + points_, ld - points_, 0.0);
  }
  outputs(row_pointers_, products_.data(), ld);
}

BPM_INLINE void Cone::outputs(std::span<const double* const> vectors, double* d,
                              std::ptrdiff_t ld) const {
  detail::row_products<detail::ProductTerm, double>(vectors.data(), std::ssize(vectors),
                                                    row_pointers_.data(), points_, stride_, d, ld);
}

BPM_INLINE std::pair<double, std::ptrdiff_t> Cone::smallest_output(
    std::span<const double> x) const {
  std::vector<double> d(static_cast<std::size_t>(points_));
  outputs(x.data(), d.data());
  const auto smallest = std::min_element(d.begin(), d.end());
  return {*smallest, smallest - d.begin()};
}

BPM_INLINE void Cone::add_rows(const double* weights, double* x, double scale) const {
  for (std::ptrdiff_t i = 0; i < points_; ++i) {
    if (weights[i] != 0) detail::add_scaled(x, scale * weights[i], row(i), stride_);
  }
}

BPM_INLINE std::vector<double> Cone::coordinates(std::span<const double> alpha) const {
  detail::check_size("Cone::coordinates", "alpha", alpha.size(), points_, "one per training point");
  std::vector<double> weights(alpha.begin(), alpha.end());
  for (std::ptrdiff_t i = 0; i < points_; ++i) weights[std::size_t(i)] *= label(i);
  std::vector<double> x(static_cast<std::size_t>(stride_), 0.0);
  add_rows(weights.data(), x.data());
  return x;
}

#endif

}}  // namespace bpm
