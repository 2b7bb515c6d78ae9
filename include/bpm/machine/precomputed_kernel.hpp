// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cstddef>

#include "bpm/core/target.hpp"
#include "bpm/kernels/inputs.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// Stands where a kernel stands when the user brings the kernel values. "Inputs" are then matrices
/// of type `RowMatrix<T>`: to fit, the m x m matrix K of the training set; to predict, the n x m
/// values k(x, x_i) between n inputs and all m training points, with k(x, x) where decision values
/// are to be normalised by it (`PrecomputedRows`).
struct PrecomputedKernel {};

/// Kernel values of n inputs with the m training points, and with themselves. Refers to both.
template <class T>
struct PrecomputedRows {
  const RowMatrix<T>& values;       ///< n x m.
  const Eigen::VectorXd& diagonal;  ///< n values k(x, x) > 0.
};

namespace detail {

/// How many inputs a classifier is asked about.
template <class Queries>
[[nodiscard]] std::ptrdiff_t query_count(const Queries& inputs) {
  if constexpr (InputSet<Queries>) {
    return input_count(inputs);
  } else {
    return inputs.values.rows();  // PrecomputedRows.
  }
}

}  // namespace detail

}}  // namespace bpm
