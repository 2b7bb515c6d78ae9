// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <cmath>
#include <cstddef>
#include <vector>

#include "bpm/core/buffer.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/vector_ops.hpp"
#include "bpm/gaussian_process/orthant/orthant_planes.hpp"

namespace bpm::detail {

/// The factor L D L' of the tridiagonal matrix t T + s I, t = 1 - s.
struct TridiagonalFactor {
  std::vector<double> pivots;
  std::vector<double> below;  ///< L's entries (k + 1, k).
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
        correlation_(points_ * stride_, 0.0),
        basis_(points_ * stride_, 0.0),
        transposed_(points_ * stride_, 0.0) {
    using Matrix = Eigen::MatrixXd;
    using Vector = Eigen::VectorXd;
    const auto n = static_cast<std::size_t>(points_);
    diagonal_.assign(n, 1.0);
    off_.assign(n, 0.0);
    Matrix q = Matrix::Identity(points_, points_);
    if (points_ > 1) {
      const Eigen::Tridiagonalization<Matrix> form(correlation);
      Vector::Map(diagonal_.data(), points_) = form.diagonal();
      Vector::Map(off_.data(), points_ - 1) = form.subDiagonal();
      // In place, which Eigen does without a matrix product: the same bits on any number of
      // threads that the user's program gives Eigen.
      q = form.packedMatrix();
      const Vector coefficients = form.householderCoefficients();
      q = Eigen::HouseholderSequence<Matrix, Vector>(q, coefficients)
              .setLength(points_ - 1)
              .setShift(1);
    }
    for (std::ptrdiff_t i = 0; i < points_; ++i) {
      for (std::ptrdiff_t k = 0; k < points_; ++k) {
        basis_[i * stride_ + k] = q(i, k);
        transposed_[k * stride_ + i] = q(i, k);
        correlation_[i * stride_ + k] = correlation(i, k);
      }
      transposed_rows_.push_back(transposed_.data() + i * stride_);
    }
  }

  [[nodiscard]] std::ptrdiff_t points() const noexcept { return points_; }
  [[nodiscard]] std::ptrdiff_t stride() const noexcept { return stride_; }

  /// How many eigenvalues of S lie below x (Sylvester's law of inertia on T - x I). Cost: O(n).
  [[nodiscard]] std::ptrdiff_t eigenvalues_below(double x) const {
    std::ptrdiff_t count = 0;
    double pivot = 1;
    double coupling = 0;
    for (std::size_t k = 0; k < diagonal_.size(); ++k) {
      pivot = diagonal_[k] - x - coupling * coupling / pivot;
      if (pivot == 0) pivot = 1e-300;
      count += pivot < 0 ? 1 : 0;
      coupling = off_[k];
    }
    return count;
  }

  /// The factor at s. S_s must be positive definite.
  [[nodiscard]] TridiagonalFactor factor(double s) const {
    TridiagonalFactor result{std::vector<double>(diagonal_.size()),
                             std::vector<double>(diagonal_.size(), 0.0)};
    double carried = 0;
    for (std::size_t k = 0; k < diagonal_.size(); ++k) {
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
    std::vector<double> root(factor.pivots.size());
    std::vector<double> below(factor.pivots.size());
    for (std::size_t k = 0; k < root.size(); ++k) {
      root[k] = std::sqrt(factor.pivots[k]);
      below[k] = factor.below[k] * root[k];
    }
    for (std::ptrdiff_t i = 0; i < points_; ++i) {
      const double* values = correlation_.data() + i * stride_;
      const double* q = basis_.data() + i * stride_;
      double* row = planes.rows.data() + i * stride_;
      double* f = planes.factor.data() + i * stride_;
      for (std::ptrdiff_t k = 0; k < points_; ++k) row[k] = (1 - s) * values[k];
      row[i] = 1;
      for (std::ptrdiff_t k = 0; k + 1 < points_; ++k) {
        f[k] = q[k] * root[k] + q[k + 1] * below[k];
      }
      f[points_ - 1] = q[points_ - 1] * root[points_ - 1];
    }
  }

  /// Q' d for `count` vectors d, one every `stride` numbers: number k of vector j is put to
  /// coordinates[k * ld + j]. Cost: count n^2 multiply-adds.
  void coordinates(const double* d, std::ptrdiff_t count, double* coordinates,
                   std::ptrdiff_t ld) const {
    std::vector<const double*> vectors;
    for (std::ptrdiff_t j = 0; j < count; ++j) vectors.push_back(d + j * stride_);
    row_products<ProductTerm, double>(transposed_rows_.data(), points_, vectors.data(), count,
                                      stride_, coordinates, ld);
  }

  /// log d' S_s^{-1} d for vectors given by `coordinates`. Cost: O(n) each.
  void log_quadratic_forms(const TridiagonalFactor& factor, const double* coordinates,
                           std::ptrdiff_t count, std::ptrdiff_t ld, double* values) const {
    std::vector<double> z(static_cast<std::size_t>(count), 0.0);
    std::vector<double> sums(static_cast<std::size_t>(count), 0.0);
    double below = 0;
    for (std::ptrdiff_t k = 0; k < points_; ++k) {
      const double* c = coordinates + k * ld;
      const double inverse = 1 / factor.pivots[k];
      for (std::ptrdiff_t j = 0; j < count; ++j) {
        const double next = c[j] - below * z[j];
        z[j] = next;
        sums[j] += inverse * next * next;
      }
      below = factor.below[k];
    }
    for (std::ptrdiff_t j = 0; j < count; ++j) values[j] = std::log(sums[j]);
  }

 private:
  std::ptrdiff_t points_;
  std::ptrdiff_t stride_;
  Buffer<double> correlation_;
  Buffer<double> basis_;       ///< Q.
  Buffer<double> transposed_;  ///< Q'.
  std::vector<const double*> transposed_rows_;
  std::vector<double> diagonal_;  ///< T.
  std::vector<double> off_;
};

}  // namespace bpm::detail
