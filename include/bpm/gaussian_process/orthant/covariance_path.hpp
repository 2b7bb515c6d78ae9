// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <cmath>
#include <cstddef>

#include "bpm/core/points.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/core/vector_ops.hpp"
#include "bpm/gaussian_process/orthant/orthant_planes.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// The factor L D L' of the tridiagonal matrix t T + s I, t = 1 - s.
struct TridiagonalFactor {
  Eigen::VectorXd pivots;
  Eigen::VectorXd below;  ///< L's entries (k + 1, k); the last is 0.
  double log_determinant = 0;
};

/// The covariances S_s = (1 - s) S + s I between a correlation matrix S (s = 0) and independence
/// (s = 1), all of them by one tridiagonal form S = Q T Q': a factor, a determinant and quadratic
/// forms of S_s then cost O(n) each at any s, where a Cholesky factor of its own would cost n^3 /
/// 3.
///
/// Cost: 8/3 n^3 multiply-adds once. Memory: 3 n^2 doubles, 5 n^2 while it is made.
class CovariancePath {
 public:
  explicit CovariancePath(const Eigen::MatrixXd& correlation)
      : points_(correlation.rows()),
        stride_(padded<double>(points_)),
        correlation_(correlation),
        basis_(Eigen::MatrixXd::Identity(points_, points_)),
        diagonal_(Eigen::VectorXd::Ones(points_)),
        off_(Eigen::VectorXd::Zero(points_)) {
    if (points_ > 1) {
      const Eigen::Tridiagonalization<Eigen::MatrixXd> form(correlation);
      diagonal_ = form.diagonal();
      off_.head(points_ - 1) = form.subDiagonal();
      // In place, which Eigen does without a matrix product: the same bits on any number of
      // threads that the user's program gives Eigen.
      basis_ = form.packedMatrix();
      const Eigen::VectorXd coefficients = form.householderCoefficients();
      basis_ = Eigen::HouseholderSequence<Eigen::MatrixXd, Eigen::VectorXd>(basis_, coefficients)
                   .setLength(points_ - 1)
                   .setShift(1);
    }
    transposed_.setZero(points_, stride_);
    transposed_.leftCols(points_) = basis_.transpose();
  }

  [[nodiscard]] std::ptrdiff_t points() const noexcept { return points_; }
  [[nodiscard]] std::ptrdiff_t stride() const noexcept { return stride_; }

  /// How many eigenvalues of S lie below x (Sylvester's law of inertia on T - x I). Cost: O(n).
  [[nodiscard]] std::ptrdiff_t eigenvalues_below(double x) const {
    std::ptrdiff_t count = 0;
    double pivot = 1;
    double coupling = 0;
    for (Eigen::Index k = 0; k < points_; ++k) {
      pivot = diagonal_[k] - x - coupling * coupling / pivot;
      if (pivot == 0) pivot = 1e-300;
      count += pivot < 0 ? 1 : 0;
      coupling = off_[k];
    }
    return count;
  }

  /// The factor at s. S_s must be positive definite.
  [[nodiscard]] TridiagonalFactor factor(double s) const {
    TridiagonalFactor result{Eigen::VectorXd(points_), Eigen::VectorXd(points_)};
    double carried = 0;
    for (Eigen::Index k = 0; k < points_; ++k) {
      const double pivot = (1 - s) * diagonal_[k] + s - carried;
      const double coupling = (1 - s) * off_[k];
      result.pivots[k] = pivot;
      result.below[k] = coupling / pivot;
      carried = coupling * result.below[k];
      result.log_determinant += std::log(pivot);
    }
    return result;
  }

  /// Makes the planes those of S_s. Cost: O(n^2).
  void set_planes(double s, const TridiagonalFactor& factor, OrthantPlanes& planes) const {
    const Eigen::VectorXd root = factor.pivots.cwiseSqrt();
    const Eigen::VectorXd below = factor.below.cwiseProduct(root).head(points_ - 1);
    planes.rows.leftCols(points_) = (1 - s) * correlation_;
    planes.rows.diagonal().setOnes();
    planes.factor.leftCols(points_) = basis_ * root.asDiagonal();
    planes.factor.leftCols(points_ - 1) += basis_.rightCols(points_ - 1) * below.asDiagonal();
  }

  /// Q' d for `count` vectors d, one every `stride` numbers, in columns. Cost: count n^2
  /// multiply-adds.
  [[nodiscard]] RowMatrix<double> coordinates(const double* d, std::ptrdiff_t count) const {
    RowMatrix<double> result(points_, count);
    row_products<ProductTerm, double>(row_pointers(transposed_.data(), points_, stride_).data(),
                                      points_, row_pointers(d, count, stride_).data(), count,
                                      stride_, result.data(), count);
    return result;
  }

  /// log d' S_s^{-1} d for vectors given by `coordinates`. Cost: O(n) each.
  [[nodiscard]] static Eigen::ArrayXd log_quadratic_forms(const TridiagonalFactor& factor,
                                                          const RowMatrix<double>& coordinates) {
    Eigen::ArrayXd z = Eigen::ArrayXd::Zero(coordinates.cols());
    Eigen::ArrayXd sums = z;
    double below = 0;
    for (Eigen::Index k = 0; k < coordinates.rows(); ++k) {
      z = coordinates.row(k).transpose().array() - below * z;
      sums += 1 / factor.pivots[k] * z * z;
      below = factor.below[k];
    }
    return sums.log();
  }

 private:
  std::ptrdiff_t points_;
  std::ptrdiff_t stride_;
  RowMatrix<double> correlation_;
  Eigen::MatrixXd basis_;         ///< Q.
  RowMatrix<double> transposed_;  ///< Q', in padded rows.
  Eigen::VectorXd diagonal_;      ///< T.
  Eigen::VectorXd off_;
};

}}}  // namespace bpm::detail
