// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/kernels/inputs.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// How a kernel matrix is computed.
struct KernelMatrixSettings {
  unsigned threads = 0;  ///< 0: as many as the machine runs. The values do not depend on it.
  /// Bytes that may be taken, 8 a value; buffers for blocks are not counted. 4 GiB.
  std::size_t memory = detail::four_gibibytes;
};

namespace detail {

/// Inputs that may be the rows or the columns of a kernel matrix.
template <InputSet I>
void check_matrix_side(const I& inputs, std::string_view argument, std::string_view what) {
  check_inputs(inputs, "kernel_matrix");
  check(input_count(inputs) > 0, "kernel_matrix", argument, what);
}

[[nodiscard]] inline Eigen::MatrixXd matrix_within(std::ptrdiff_t rows, std::ptrdiff_t columns,
                                                   std::size_t memory) {
  const double needed = 8.0 * static_cast<double>(rows) * static_cast<double>(columns);
  ensure<BudgetTooSmall>(needed <= static_cast<double>(memory),
                         "kernel_matrix: a kernel matrix of ", rows, " x ", columns, " needs ",
                         needed, " bytes, memory is ", memory,
                         "; raise memory or use fewer inputs");
  return {rows, columns};
}

/// A function of worker and tile that writes the tile and returns its place in the matrix. Each of
/// several threads is a worker.
template <class Kernel, class I, class J>
[[nodiscard]] auto tile_writer(const Kernel& kernel, const PreparedInputs<I>& x,
                               const PreparedInputs<J>& z, unsigned threads,
                               Eigen::MatrixXd& matrix) {
  using Scalar = kernel_scalar_t<I>;
  struct Worker {
    BlockScratch<Scalar> scratch;
    RowMatrix<Scalar> values;
  };
  return [&, rows = first_points(x.size()), columns = first_points(z.size()),
          workers = std::vector<Worker>(threads)](unsigned worker, const Tile& tile) mutable {
    auto& [scratch, values] = workers[worker];
    values.resize(tile.height, tile.width);
    kernel_block(kernel, x, std::span(rows).subspan(tile.row, tile.height), z,
                 std::span(columns).subspan(tile.column, tile.width), values.data(), tile.width,
                 scratch);
    auto place = matrix.block(tile.row, tile.column, tile.height, tile.width);
    place = values.template cast<double>();
    return place;
  };
}

}  // namespace detail

/// The symmetric matrix K_ij = k(x_i, x_j) of n inputs, for what works on whole matrices. Values
/// are computed in the inputs' precision (float inputs: rounded to float), on all threads, at
/// matrix-product speed where the kernel is a function of inner products. A kernel on pairs is
/// called once for each pair, but twice within 16 inputs and for (x_i, x_i), at most n (n + 18) / 2
/// times; `normalised` makes three calls of one.
/// \throws std::invalid_argument on empty inputs and numbers that are not finite, KernelValueError
///         on kernel values that are not, BudgetTooSmall where the matrix exceeds the budget.
template <class Kernel, InputSet I>
  requires detail::KernelOn<Kernel, I>
[[nodiscard]] Eigen::MatrixXd kernel_matrix(const Kernel& kernel, const I& inputs,
                                            const KernelMatrixSettings& settings = {}) {
  detail::check_matrix_side(inputs, "inputs", "are empty, expected one or more");
  const std::ptrdiff_t n = detail::input_count(inputs);
  Eigen::MatrixXd matrix = detail::matrix_within(n, n, settings.memory);
  const detail::PreparedInputs<I> prepared(inputs);
  // The diagonal first: an input that a kernel has no value for is named, not a pair with it.
  (void)detail::kernel_diagonal(kernel, prepared);
  constexpr std::ptrdiff_t side = detail::by_pairs<Kernel, I> ? 16 : 256;
  const unsigned threads = detail::thread_count(settings.threads, "kernel_matrix");
  auto write = detail::tile_writer(kernel, prepared, prepared, threads, matrix);
  detail::for_each_triangle_tile(
      threads, n, side, [&](unsigned worker, const detail::Tile& tile, auto) {
        const auto place = write(worker, tile);
        if (tile.row != tile.column) {
          matrix.block(tile.column, tile.row, tile.width, tile.height) = place.transpose();
        }
      });
  return matrix;
}

/// The matrix k(x_i, z_j), a row for each of the inputs x and a column for each of z. Each pair is
/// computed once. \throws as the other, and std::invalid_argument where the inputs' numbers of
/// columns differ.
template <class Kernel, InputSet I, InputSet J>
  requires detail::KernelOn<Kernel, I>
[[nodiscard]] Eigen::MatrixXd kernel_matrix(const Kernel& kernel, const I& x, const J& z,
                                            const KernelMatrixSettings& settings = {}) {
  if constexpr (!RangeInputs<I>) {
    detail::check_size("kernel_matrix", "z", z.cols(), x.cols(), "columns: one per feature of x");
  }
  detail::check_matrix_side(x, "x", "is empty, expected one input or more");
  detail::check_matrix_side(z, "z", "is empty, expected one input or more");
  const std::ptrdiff_t rows = detail::input_count(x);
  const std::ptrdiff_t columns = detail::input_count(z);
  Eigen::MatrixXd matrix = detail::matrix_within(rows, columns, settings.memory);
  const detail::PreparedInputs<I> left(x);
  const detail::PreparedInputs<J> right(z);
  constexpr std::ptrdiff_t height = 192;
  constexpr std::ptrdiff_t width = 384;
  const std::ptrdiff_t across = (columns + width - 1) / width;
  const std::ptrdiff_t tiles = (rows + height - 1) / height * across;
  const unsigned threads = detail::thread_count(settings.threads, "kernel_matrix");
  auto write = detail::tile_writer(kernel, left, right, threads, matrix);
  detail::parallel_for(threads, tiles, [&](unsigned worker, std::ptrdiff_t n) {
    const std::ptrdiff_t i = n / across * height;
    const std::ptrdiff_t j = n % across * width;
    write(worker, {i, j, std::min(height, rows - i), std::min(width, columns - j)});
  });
  return matrix;
}

/// k(x_i, x_i) of every input. \throws as `kernel_matrix`.
template <class Kernel, InputSet I>
  requires detail::KernelOn<Kernel, I>
[[nodiscard]] Eigen::VectorXd kernel_diagonal_values(const Kernel& kernel, const I& inputs) {
  detail::check_inputs(inputs, "kernel_diagonal_values");
  detail::check(detail::input_count(inputs) > 0, "kernel_diagonal_values", "inputs",
                "are empty, expected one or more");
  const auto diagonal = detail::kernel_diagonal(kernel, detail::PreparedInputs<I>(inputs));
  return Eigen::VectorXd::NullaryExpr(diagonal.size(), [&](Eigen::Index i) { return diagonal[i]; });
}

}}  // namespace bpm
