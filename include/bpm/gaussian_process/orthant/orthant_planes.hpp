// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>

#include "bpm/core/check.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/core/vector_ops.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// What a flight in an orthant needs of N(0, S): the rows of S, which reflections add, and the rows
/// of any F with S = F F', which make velocities F z. Rows are padded with zeros to whole
/// registers.
struct OrthantPlanes {
  explicit OrthantPlanes(std::ptrdiff_t n)
      : points(n),
        stride(padded<double>(n)),
        rows(RowMatrix<double>::Zero(n, stride)),
        factor(RowMatrix<double>::Zero(n, stride)) {}

  [[nodiscard]] const double* row(std::ptrdiff_t i) const noexcept { return &rows(i, 0); }
  [[nodiscard]] double variance(std::ptrdiff_t i) const noexcept { return rows(i, i); }

  /// velocities = F z for `count` vectors z, one every `stride` in both; their padding stays as it
  /// is. Cost: count n^2 multiply-adds; each velocity has the same bits in any block.
  void make_velocities(const double* z, std::ptrdiff_t count, double* velocities) const {
    row_products<ProductTerm, double>(row_pointers(z, count, stride).data(), count,
                                      row_pointers(factor.data(), points, stride).data(), points,
                                      stride, velocities, stride);
  }

  std::ptrdiff_t points;
  std::ptrdiff_t stride;
  RowMatrix<double> rows;
  RowMatrix<double> factor;
};

/// Throws unless the matrix is square, not empty, finite, symmetric to 1e-8 of the diagonal,
/// and positive on its diagonal. Cost: one pass.
inline void check_covariance(std::string_view function, const Eigen::MatrixXd& covariance) {
  const char* const name = "covariance";
  const Eigen::Index n = covariance.rows();
  check(n > 0, function, name, "is empty, must have a row and a column a point");
  check(covariance.cols() == n, function, name, "is ", n, " x ", covariance.cols(),
        ", must be square");
  for (Eigen::Index j = 0; j < n; ++j) {
    for (Eigen::Index i = 0; i < n; ++i) {
      check(std::isfinite(covariance(i, j)), function, name, "at (", i, ", ", j, ") is ",
            covariance(i, j), ", must be finite");
    }
    check(covariance(j, j) > 0, function, name, "at (", j, ", ", j, ") is ", covariance(j, j),
          ", must be positive");
  }
  for (Eigen::Index j = 0; j < n; ++j) {
    for (Eigen::Index i = 0; i < j; ++i) {
      const double tolerance = 1e-8 * std::sqrt(covariance(i, i)) * std::sqrt(covariance(j, j));
      check(std::abs(covariance(i, j) - covariance(j, i)) <= tolerance, function, name, "at (", i,
            ", ", j, ") is ", covariance(i, j), " but at (", j, ", ", i, ") ", covariance(j, i),
            ": must be symmetric");
    }
  }
}

/// Throws unless a mean path length is one.
inline void check_path_length(std::string_view function, double path_length) {
  check(path_length > 0 && path_length <= 100, function, "path_length", "is ", path_length,
        ", must be positive and at most 100 radians");
}

/// The planes of N(0, K) with signs: rows y_i y_j K_ij, velocities y * (L z), K = L L' by Cholesky.
/// \throws NotPositiveDefinite where L has no digits left: some L_ii^2 below 1e-12 K_ii. Cost: n^3
/// / 6 multiply-adds.
[[nodiscard]] inline OrthantPlanes dense_planes(std::string_view function,
                                                const Eigen::MatrixXd& covariance,
                                                const Eigen::VectorXd& signs) {
  const Eigen::Index n = covariance.rows();
  const Eigen::LLT<Eigen::MatrixXd> cholesky(covariance);
  const Eigen::MatrixXd& packed = cholesky.matrixLLT();
  const auto check_factor = [&](bool holds, const auto&... why) {
    if (!holds) {
      throw NotPositiveDefinite(join(function,
                                     ": covariance is not positive definite to rounding (", why...,
                                     "); add to its diagonal"));
    }
  };
  check_factor(cholesky.info() == Eigen::Success, "it has no Cholesky factor");
  for (Eigen::Index i = 0; i < n; ++i) {
    check_factor(packed(i, i) * packed(i, i) >= 1e-12 * covariance(i, i), "row ", i,
                 " depends on those before it");
  }
  OrthantPlanes planes(n);
  planes.rows.leftCols(n) = signs.asDiagonal() * covariance * signs.asDiagonal();
  planes.factor.leftCols(n).triangularView<Eigen::Lower>() = signs.asDiagonal() * packed;
  return planes;
}

/// The signs of labels as numbers.
[[nodiscard]] inline Eigen::VectorXd sign_vector(std::span<const signed char> signs) {
  using Signs = Eigen::Matrix<signed char, Eigen::Dynamic, 1>;
  return Signs::Map(signs.data(), std::ssize(signs)).cast<double>();
}

/// K + diag(lambda) of a version space, in double. Cost: n rows of kernel values.
template <VersionSpace Space>
[[nodiscard]] Eigen::MatrixXd sampling_covariance(const Space& space) {
  const auto n = static_cast<Eigen::Index>(space.size());
  Eigen::MatrixXd covariance(n, n);
  BlockScratch<typename Space::Scalar> scratch;
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto row = space.row(i, scratch);
    for (Eigen::Index j = 0; j < n; ++j) covariance(i, j) = static_cast<double>(row[j]);
    covariance(i, i) = static_cast<double>(space.diagonal(i));
  }
  return covariance;
}

}}}  // namespace bpm::detail
