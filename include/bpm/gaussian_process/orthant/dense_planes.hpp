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
#include "bpm/gaussian_process/orthant/orthant_planes.hpp"
#include "bpm/kernel_values/padded_inputs.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm::detail {

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

/// A mean path length, if it is one.
inline double checked_path_length(double path_length, std::string_view function) {
  check(path_length > 0 && path_length <= 100, function, "path_length", "is ", path_length,
        ", must be positive and at most 100 radians");
  return path_length;
}

/// The planes of N(0, K) with signs: rows y_i y_j K_ij, velocities y * (L z), K = L L' by Cholesky.
/// Empty `signs`: all 1. \throws NotPositiveDefinite where L has no digits left: some L_ii^2 below
/// 1e-12 K_ii. Cost: n^3 / 6 multiply-adds.
[[nodiscard]] inline OrthantPlanes dense_planes(std::string_view function,
                                                const Eigen::MatrixXd& covariance,
                                                std::span<const signed char> signs) {
  using Matrix = Eigen::MatrixXd;
  const Eigen::Index n = covariance.rows();
  const Eigen::LLT<Matrix> cholesky(covariance);
  const Matrix& packed = cholesky.matrixLLT();
  Eigen::Index bad = cholesky.info() == Eigen::Success ? n : 0;
  for (Eigen::Index i = 0; i < bad; ++i) {
    if (!(packed(i, i) * packed(i, i) >= 1e-12 * covariance(i, i))) bad = i;
  }
  if (bad < n) {
    throw NotPositiveDefinite(join(function, ": covariance is not positive definite to rounding (",
                                   cholesky.info() == Eigen::Success
                                       ? join("row ", bad, " depends on those before it")
                                       : join("it has no Cholesky factor"),
                                   "); add to its diagonal"));
  }
  OrthantPlanes planes(n);
  const auto sign = [&](Eigen::Index i) {
    return signs.empty() ? 1.0 : static_cast<double>(signs[i]);
  };
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) {
      planes.rows[i * planes.stride + j] = sign(i) * sign(j) * covariance(i, j);
    }
    for (Eigen::Index j = 0; j <= i; ++j)
      planes.factor[i * planes.stride + j] = sign(i) * packed(i, j);
  }
  return planes;
}

/// K + diag(lambda) of a version space, in double. Cost: n rows of kernel values.
template <VersionSpace Space>
[[nodiscard]] Eigen::MatrixXd sampling_covariance(const Space& space) {
  const auto n = static_cast<Eigen::Index>(space.size());
  Eigen::MatrixXd covariance(n, n);
  BlockScratch<typename Space::Scalar> scratch;
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto row = space.row(i, scratch);
    for (Eigen::Index j = 0; j < n; ++j) {
      covariance(i, j) = static_cast<double>(row[static_cast<std::size_t>(j)]);
    }
    covariance(i, i) = static_cast<double>(space.diagonal(i));
  }
  return covariance;
}

}  // namespace bpm::detail
