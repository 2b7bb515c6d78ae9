// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>

#include "bpm/core/check.hpp"

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

/// Throws unless there is a sign a point, 1 or -1.
inline void check_signs(std::string_view function, std::span<const signed char> signs,
                        std::ptrdiff_t points) {
  check_size(function, "signs", signs.size(), points, "one per row of the covariance");
  for (std::size_t i = 0; i < signs.size(); ++i) {
    check(signs[i] == 1 || signs[i] == -1, function, "signs", "at ", i, " is ", int{signs[i]},
          ", must be 1 or -1");
  }
}

}  // namespace bpm::detail
