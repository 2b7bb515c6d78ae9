// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "bpm/core/buffer.hpp"
#include "bpm/core/check.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernel_values/dense_gram.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/kernels/inputs.hpp"

namespace bpm {

/// How a kernel matrix is computed.
struct KernelMatrixSettings {
  unsigned threads = 0;  ///< 0: as many as the machine runs. The values do not depend on it.
  /// Bytes that may be taken: 8 a value, and twice that for a symmetric matrix of doubles while it
  /// is made; buffers for blocks are not counted.
  std::size_t memory = detail::four_gibibytes;
};

namespace detail {

inline void check_matrix_memory(std::ptrdiff_t rows, std::ptrdiff_t cols, std::size_t value_bytes,
                                std::size_t memory, std::string_view function) {
  const double needed =
      static_cast<double>(rows) * static_cast<double>(cols) * static_cast<double>(value_bytes);
  if (needed > static_cast<double>(memory)) {
    throw BudgetTooSmall(join(function, ": a kernel matrix of ", rows, " x ", cols, " needs ",
                              needed, " bytes, memory is ", memory,
                              "; raise memory or use fewer inputs"));
  }
}

[[nodiscard]] inline std::vector<PointIndex> first_points(std::ptrdiff_t count) {
  std::vector<PointIndex> points(static_cast<std::size_t>(count));
  std::iota(points.begin(), points.end(), PointIndex{0});
  return points;
}

}  // namespace detail

/// The symmetric matrix K_ij = k(x_i, x_j) of n inputs, for what works on whole matrices. Values
/// are computed in the inputs' precision (float inputs: rounded to float). Each pair is computed
/// once, on all threads, at matrix-product speed where the kernel is a function of inner products.
/// \throws std::invalid_argument on empty inputs and numbers that are not finite, KernelValueError
///         on kernel values that are not, BudgetTooSmall where the matrix exceeds the budget.
template <class Kernel, InputSet I>
  requires detail::KernelOn<Kernel, I>
[[nodiscard]] Eigen::MatrixXd kernel_matrix(const Kernel& kernel, const I& inputs,
                                            const KernelMatrixSettings& settings = {}) {
  using Scalar = detail::kernel_scalar_t<I>;
  detail::check_inputs(inputs, "kernel_matrix");
  const std::ptrdiff_t n = detail::input_count(inputs);
  detail::check(n > 0, "kernel_matrix", "inputs", "are empty, expected one or more");
  // While values in float are widened, both are there.
  constexpr std::size_t value_bytes =
      sizeof(double) + (std::same_as<Scalar, double> ? sizeof(double) : sizeof(Scalar));
  detail::check_matrix_memory(n, n, value_bytes, settings.memory, "kernel_matrix");
  const detail::OnDemandGram<Kernel, I> values(kernel, inputs);
  const detail::DenseGram<Scalar> gram(values, settings.threads);
  detail::BlockScratch<Scalar> scratch;
  Eigen::MatrixXd matrix(n, n);
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const std::span<const Scalar> row = gram.row(i, scratch);
    std::copy(row.begin(), row.end(), matrix.data() + i * n);
  }
  return matrix;
}

/// The matrix k(x_i, z_j), a row for each of the inputs x and a column for each of z.
/// \throws as the other, and std::invalid_argument where the inputs' numbers of columns differ.
template <class Kernel, InputSet I, InputSet J>
  requires detail::KernelOn<Kernel, I>
[[nodiscard]] Eigen::MatrixXd kernel_matrix(const Kernel& kernel, const I& x, const J& z,
                                            const KernelMatrixSettings& settings = {}) {
  using Scalar = detail::kernel_scalar_t<I>;
  if constexpr (!RangeInputs<I>) {
    detail::check_size("kernel_matrix", "z", z.cols(), x.cols(), "columns: one per feature of x");
  }
  detail::check_inputs(x, "kernel_matrix");
  detail::check_inputs(z, "kernel_matrix");
  const std::ptrdiff_t rows = detail::input_count(x);
  const std::ptrdiff_t cols = detail::input_count(z);
  detail::check(rows > 0, "kernel_matrix", "x", "is empty, expected one input or more");
  detail::check(cols > 0, "kernel_matrix", "z", "is empty, expected one input or more");
  detail::check_matrix_memory(rows, cols, sizeof(double), settings.memory, "kernel_matrix");
  const detail::PreparedInputs<I> left(x);
  const detail::PreparedInputs<J> right(z);
  const std::vector<PointIndex> all_rows = detail::first_points(rows);
  const std::vector<PointIndex> all_cols = detail::first_points(cols);
  Eigen::MatrixXd matrix(rows, cols);
  constexpr std::ptrdiff_t height = 192;
  constexpr std::ptrdiff_t width = 384;
  const std::ptrdiff_t across = (cols + width - 1) / width;
  const std::ptrdiff_t tiles = (rows + height - 1) / height * across;
  const unsigned threads = detail::thread_count(settings.threads);
  struct Worker {
    detail::BlockScratch<Scalar> scratch;
    detail::Buffer<Scalar> values;
  };
  std::vector<Worker> workers(threads);
  detail::parallel_for(threads, tiles, [&](unsigned number, std::ptrdiff_t tile) {
    Worker& worker = workers[number];
    worker.values.reserve_discarding(height * width);
    const std::ptrdiff_t i = tile / across * height;
    const std::ptrdiff_t j = tile % across * width;
    const std::ptrdiff_t tall = std::min(height, rows - i);
    const std::ptrdiff_t wide = std::min(width, cols - j);
    detail::kernel_block(
        kernel, left,
        std::span(all_rows).subspan(static_cast<std::size_t>(i), static_cast<std::size_t>(tall)),
        right,
        std::span(all_cols).subspan(static_cast<std::size_t>(j), static_cast<std::size_t>(wide)),
        worker.values.data(), width, worker.scratch);
    for (std::ptrdiff_t b = 0; b < wide; ++b) {
      double* const column = matrix.data() + (j + b) * rows + i;
      for (std::ptrdiff_t a = 0; a < tall; ++a) {
        column[a] = static_cast<double>(worker.values[a * width + b]);
      }
    }
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
  const detail::PreparedInputs<I> prepared(inputs);
  const auto diagonal = detail::kernel_diagonal(kernel, prepared);
  Eigen::VectorXd values(prepared.size());
  for (std::ptrdiff_t i = 0; i < prepared.size(); ++i) {
    values[i] = static_cast<double>(diagonal[i]);
  }
  return values;
}

}  // namespace bpm
