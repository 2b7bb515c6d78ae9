// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "bpm/core/check.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/kernels/inputs.hpp"

namespace bpm {

/// A kernel matrix that the user brings, m x m, kept by reference.
template <class T>
class PrecomputedGram {
 public:
  using Scalar = T;

  /// \throws std::invalid_argument unless the matrix is square, not empty, finite, symmetric to
  ///         sqrt(epsilon) of the largest entry, and nowhere negative on the diagonal; the message
  ///         names the first entry that is not.
  /// Cost: one pass over the matrix.
  explicit PrecomputedGram(const RowMatrix<T>& values) : values_(&values) {
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

  [[nodiscard]] std::ptrdiff_t size() const noexcept { return values_->rows(); }
  [[nodiscard]] T diagonal(std::ptrdiff_t i) const noexcept { return (*values_)(i, i); }
  [[nodiscard]] bool rows_in_memory() const noexcept { return true; }
  /// Nothing beyond the caller's matrix.
  [[nodiscard]] std::size_t bytes() const noexcept { return 0; }

  [[nodiscard]] std::span<const T> row(std::ptrdiff_t i,
                                       detail::BlockScratch<T>& /*scratch*/) const {
    return {values_->data() + i * size(), static_cast<std::size_t>(size())};
  }

  void block(std::span<const PointIndex> rows, std::span<const PointIndex> cols, T* values,
             std::ptrdiff_t ld, detail::BlockScratch<T>& /*scratch*/) const {
    for (std::size_t a = 0; a < rows.size(); ++a) {
      for (std::size_t b = 0; b < cols.size(); ++b) {
        values[static_cast<std::ptrdiff_t>(a) * ld + static_cast<std::ptrdiff_t>(b)] =
            (*values_)(rows[a], cols[b]);
      }
    }
  }

 private:
  const RowMatrix<T>* values_;
};

}  // namespace bpm
