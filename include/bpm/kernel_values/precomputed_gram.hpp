// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <limits>

#include "bpm/core/check.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernel_values/gram.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// A kernel matrix that the user brings, m x m, kept by reference.
template <class T>
class PrecomputedGram : public detail::MatrixGram<T> {
 public:
  /// \throws std::invalid_argument unless the matrix is square, not empty, finite, symmetric to
  ///         sqrt(epsilon) of the largest entry, and nowhere negative on the diagonal; the message
  ///         names the first entry that is not.
  /// Cost: one pass over the matrix.
  explicit PrecomputedGram(const RowMatrix<T>& values)
      : detail::MatrixGram<T>(values.data(), values.rows()) {
    const char* const function = "PrecomputedGram";
    const Eigen::Index m = values.rows();
    detail::check(m > 0, function, "values", "is empty, must have a row and a column a point");
    detail::check(values.cols() == m, function, "values", "is ", m, " x ", values.cols(),
                  ", must be square");
    for (Eigen::Index i = 0; i < m; ++i) {
      for (Eigen::Index j = 0; j < m; ++j) {
        detail::check(std::abs(values(i, j)) <= detail::largest_kernel_value<T>, function, "values",
                      "at (", i, ", ", j, ") is ", values(i, j), ", must be finite and below ",
                      detail::largest_kernel_value<T>, " in size");
      }
    }
    const T tolerance = values.cwiseAbs().maxCoeff() * std::sqrt(std::numeric_limits<T>::epsilon());
    for (Eigen::Index i = 0; i < m; ++i) {
      detail::check(values(i, i) >= 0, function, "values", "at (", i, ", ", i, ") is ",
                    values(i, i), ", must not be negative");
      for (Eigen::Index j = 0; j < i; ++j) {
        detail::check(std::abs(values(i, j) - values(j, i)) <= tolerance, function, "values",
                      "at (", i, ", ", j, ") is ", values(i, j), " but at (", j, ", ", i, ") ",
                      values(j, i), ": must be symmetric");
      }
    }
  }

  /// A matrix that is about to end (a conversion from another type makes one) cannot be kept.
  explicit PrecomputedGram(const RowMatrix<T>&& values) = delete;
};

}}  // namespace bpm
