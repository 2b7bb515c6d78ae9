// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// Version space of a two-class problem as samplers see it: the classifiers w = sum_i alpha_i
/// phi(x_i) with d_i = y_i <w, x_i> > 0 for all m training points. No inputs, no kernel.
///
/// Norms and outputs are those of the sampling kernel S = K + diag(lambda):
///
///  - `size()`: m; `label(i)`: y_i, +1 or -1; `lambda(i)`: lambda_i >= 0; `diagonal(i)`: S_ii;
///  - `row(i, scratch)` and `block(rows, cols, values, ld, scratch)`: values of K, *without*
///  lambda,
///    as in `Gram` (all label vectors of one training set share them);
///    `rows_in_memory()`: whether a row costs no kernel evaluation;
///  - `add_row(i, scale, outputs, scratch)`: outputs += scale S_i.: the primitive of a sampler that
///    changes one coefficient at a time;
///  - `outputs(coefficients, scratch)`: S times a block of coefficients, m x n.
///
/// Const and safe to call from several threads, each with a scratch of its own.
/// Satisfied by `KernelVersionSpace`.
template <class V>
concept VersionSpace = requires(const V& space, std::ptrdiff_t i,
                                std::span<const PointIndex> points, typename V::Scalar* values,
                                std::span<double> outputs, const Eigen::MatrixXd& coefficients,
                                detail::BlockScratch<typename V::Scalar>& scratch) {
  { space.size() } -> std::convertible_to<std::ptrdiff_t>;
  { space.label(i) } -> std::convertible_to<int>;
  { space.lambda(i) } -> std::convertible_to<double>;
  { space.diagonal(i) } -> std::convertible_to<double>;
  { space.row(i, scratch) } -> std::convertible_to<std::span<const typename V::Scalar>>;
  space.block(points, points, values, i, scratch);
  { space.rows_in_memory() } -> std::convertible_to<bool>;
  space.add_row(i, 1.0, outputs, scratch);
  { space.outputs(coefficients, scratch) } -> std::convertible_to<Eigen::MatrixXd>;
};

namespace detail {

/// y_i of every point.
template <VersionSpace Space>
[[nodiscard]] std::vector<signed char> labels_of(const Space& space) {
  std::vector<signed char> labels;
  for (std::ptrdiff_t i = 0; i < space.size(); ++i) {
    labels.push_back(static_cast<signed char>(space.label(i)));
  }
  return labels;
}

}  // namespace detail

}}  // namespace bpm
