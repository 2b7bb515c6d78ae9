// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ostream>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/kernels/kernel.hpp"
#if BPM_BODIES
#include <Eigen/Eigenvalues>
#endif

/// Kernel matrices, and a test of the properties that a kernel must have, for authors of kernels.

namespace bpm { inline namespace BPM_TARGET {

/// Settings of `kernel_matrix`.
struct KernelMatrixSettings {
  unsigned threads = 0;  ///< Number of threads; 0: as many as the machine runs. Values do not
                         ///< depend on it.
  /// Limit in bytes, 8 per value, without buffers for blocks. Default 4 GiB.
  std::size_t memory = detail::four_gibibytes;
};

namespace detail {

/// Checks the inputs of the rows or the columns of a kernel matrix.
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

/// Returns a function of worker and tile that writes the tile and returns its block of the matrix.
/// Each of several threads is a worker.
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

/// Computes the symmetric matrix K_ij = k(x_i, x_j) of n inputs, in the inputs' precision (float
/// inputs: rounded to float), on all threads, at matrix-product speed where the kernel is a
/// function of inner products. A kernel on pairs is called once for each pair, except twice within
/// 16 inputs and for (x_i, x_i), at most n (n + 18) / 2 times; `normalised` calls it three times.
/// \throws std::invalid_argument on empty inputs and numbers that are not finite, KernelValueError
/// on kernel values that are not or a negative k(x, x), BudgetTooSmall beyond `memory`.
template <class Kernel, InputSet I>
  requires detail::KernelOn<Kernel, I>
[[nodiscard]] Eigen::MatrixXd kernel_matrix(const Kernel& kernel, const I& inputs,
                                            const KernelMatrixSettings& settings = {}) {
  detail::check_matrix_side(inputs, "inputs", "are empty, expected one or more");
  const std::ptrdiff_t n = detail::input_count(inputs);
  Eigen::MatrixXd matrix = detail::matrix_within(n, n, settings.memory);
  const detail::PreparedInputs<I> prepared(inputs, detail::origin_of(kernel, inputs));
  // The diagonal comes first, so that errors name a single bad input and not a pair with it.
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

/// Computes the matrix k(x_i, z_j), a row for each of the inputs x and a column for each of z, each
/// pair once. Errors are those of the symmetric matrix; \throws std::invalid_argument also where
/// the inputs' numbers of columns differ.
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
  const std::vector<double> origin = detail::origin_of(kernel, z);
  const detail::PreparedInputs<I> left(x, origin);
  const detail::PreparedInputs<J> right(z, origin);
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

/// Computes k(x_i, x_i) of every input. Errors are those of `kernel_matrix`.
template <class Kernel, InputSet I>
  requires detail::KernelOn<Kernel, I>
[[nodiscard]] Eigen::VectorXd kernel_diagonal_values(const Kernel& kernel, const I& inputs) {
  detail::check_inputs(inputs, "kernel_diagonal_values");
  detail::check(detail::input_count(inputs) > 0, "kernel_diagonal_values", "inputs",
                "are empty, expected one or more");
  const auto diagonal = detail::kernel_diagonal(kernel, detail::PreparedInputs<I>(inputs));
  return Eigen::VectorXd::NullaryExpr(diagonal.size(), [&](Eigen::Index i) { return diagonal[i]; });
}

/// Result of `check_kernel` for a kernel without a fault.
struct KernelReport {
  std::ptrdiff_t points = 0;       ///< Number of inputs tested.
  double smallest_eigenvalue = 0;  ///< Rounding may make it negative.
  double largest_eigenvalue = 0;   ///< Scales the tolerance of the smallest.
};

namespace detail {

/// Name of a pair of inputs, by their indices, for messages.
struct PairName {
  PointIndex i;
  PointIndex j;

  friend std::ostream& operator<<(std::ostream& out, const PairName& pair) {
    return out << "k(x_" << pair.i << ", x_" << pair.j << ")";
  }
};

/// Returns the smallest and the largest eigenvalue of the symmetric part of a matrix. Cost n^3.
template <class Scalar>
[[nodiscard]] std::pair<double, double> extreme_eigenvalues(const RowMatrix<Scalar>& given);

#if BPM_BODIES
template <class Scalar>
std::pair<double, double> extreme_eigenvalues(const RowMatrix<Scalar>& given) {
  const Eigen::MatrixXd values = given.template cast<double>();
  // Dividing by the largest value keeps its square from overflowing.
  const double size = values.cwiseAbs().maxCoeff();
  const Eigen::MatrixXd symmetric = (values / 2 + values.transpose() / 2) / (size > 0 ? size : 1);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(symmetric, Eigen::EigenvaluesOnly);
  return {size * solver.eigenvalues()[0], size * solver.eigenvalues()[values.rows() - 1]};
}
#endif

/// The kernel matrix of a few inputs, evaluated in different ways. `numbers` are the inputs'
/// indices in the caller's set, for messages.
template <class Kernel, InputSet I>
class KernelSample {
 public:
  using Scalar = kernel_scalar_t<I>;

  KernelSample(const Kernel& kernel, const I& inputs, const std::vector<PointIndex>& numbers)
      : kernel_(kernel),
        left_(inputs, origin_of(kernel, inputs)),
        right_(inputs, origin_of(kernel, inputs)),
        numbers_(numbers) {
    // Values of single pairs, with which all other evaluations are compared.
    values_.resize(size(), size());
    BlockScratch<Scalar> scratch;
    for (PointIndex i = 0; i < size(); ++i) {
      for (PointIndex j = 0; j < size(); ++j) {
        try {
          evaluate(std::span(&i, 1), std::span(&j, 1), &values_(i, j), 1, scratch);
        } catch (const KernelValueError& error) {
          throw KernelValueError(
              join("check_kernel: inputs ", numbers_[i], " and ", numbers_[j], ": ", error.what()));
        }
      }
    }
  }

  [[nodiscard]] PointIndex size() const { return numbers_.size(); }
  [[nodiscard]] const RowMatrix<Scalar>& values() const { return values_; }

  /// Evaluates each pair again and compares the bits.
  void check_repeatable() const {
    BlockScratch<Scalar> scratch;
    for (PointIndex i = 0; i < size(); ++i) {
      for (PointIndex j = 0; j < size(); ++j) {
        Scalar again{};
        evaluate(std::span(&i, 1), std::span(&j, 1), &again, 1, scratch);
        check(again == values_(i, j), "check_kernel", "kernel",
              "changes between calls: ", name(i, j), " was ", values_(i, j), ", is ", again);
      }
    }
  }

  /// Checks symmetry to `tolerance`; 0: to the last bit, which block evaluation guarantees.
  void check_symmetric(Scalar tolerance) const {
    for (PointIndex i = 0; i < size(); ++i) {
      for (PointIndex j = 0; j < i; ++j) {
        check(std::abs(values_(i, j) - values_(j, i)) <= tolerance, "check_kernel", "kernel",
              "is not symmetric: ", name(i, j), " is ", values_(i, j), ", ", name(j, i),
              " differs by ", values_(j, i) - values_(i, j));
      }
    }
  }

  /// Evaluates all pairs in blocks of `height` x `width` inputs, in the given order, and compares.
  void check_pointwise(std::span<const PointIndex> order, std::ptrdiff_t height,
                       std::ptrdiff_t width) const {
    BlockScratch<Scalar> scratch;
    RowMatrix<Scalar> block(height, width);
    // Columns in reverse order change the position of every pair.
    const std::vector<PointIndex> backwards(order.rbegin(), order.rend());
    for (std::ptrdiff_t a = 0; a < size(); a += height) {
      const auto rows = order.subspan(a, std::min(height, size() - a));
      for (std::ptrdiff_t b = 0; b < size(); b += width) {
        const auto columns = std::span(backwards).subspan(b, std::min(width, size() - b));
        evaluate(rows, columns, block.data(), width, scratch);
        for (std::ptrdiff_t i = 0; i < std::ssize(rows); ++i) {
          for (std::ptrdiff_t j = 0; j < std::ssize(columns); ++j) {
            const Scalar alone = values_(rows[i], columns[j]);
            check(block(i, j) == alone, "check_kernel", "kernel",
                  "is not pointwise: ", name(rows[i], columns[j]), " is ", alone,
                  " alone, differs by ", block(i, j) - alone, " in a block of ", rows.size(), " x ",
                  columns.size());
          }
        }
      }
    }
  }

  /// Compares the block form of a kernel with its pair form, to rounding.
  void check_pairs(Scalar tolerance) const {
    for (PointIndex i = 0; i < size(); ++i) {
      for (PointIndex j = 0; j < size(); ++j) {
        const auto pair = static_cast<Scalar>(kernel_(left_.one(i), right_.one(j)));
        check(std::abs(pair - values_(i, j)) <= tolerance, "check_kernel", "kernel",
              "has two forms that disagree: ", name(i, j), " is ", values_(i, j), " in a block, ",
              pair, " called on the pair");
      }
    }
  }

 private:
  [[nodiscard]] PairName name(PointIndex i, PointIndex j) const {
    return {numbers_[i], numbers_[j]};
  }

  /// Uses two prepared inputs, so that a pair kernel is really called in both orders.
  void evaluate(std::span<const PointIndex> rows, std::span<const PointIndex> columns,
                Scalar* values, std::ptrdiff_t ld, BlockScratch<Scalar>& scratch) const {
    kernel_block(kernel_, left_, rows, right_, columns, values, ld, scratch);
  }

  const Kernel& kernel_;
  PreparedInputs<I> left_;
  PreparedInputs<I> right_;
  const std::vector<PointIndex>& numbers_;
  RowMatrix<Scalar> values_;
};

}  // namespace detail

/// Tests on up to `points` of the inputs, evenly spaced, the properties that a kernel must have:
///
///  - values are finite and not near overflow, and the same in the next call;
///  - k(x, x') = k(x', x): to the last bit for kernels with a block form (`InnerProductKernel`,
///    `ManhattanKernel`), where it must not matter which input is the row, else to `tolerance`;
///  - a value depends on the two inputs alone: the same bits in any block, at any position;
///  - a pair form beside a block form gives the same value to `tolerance`;
///  - the kernel matrix has no negative eigenvalue: none below -`tolerance` times the largest.
///
/// `tolerance` is relative to the largest value. A kernel that passes may still be wrong on other
/// inputs; one that fails is wrong. Cost: 7 n^2 kernel values and n^3 for n points.
/// \throws std::invalid_argument naming what failed, and for which inputs; also if there are no
///         inputs, one is not finite, or points or tolerance is not positive.
/// \throws KernelValueError if a value is not finite or near overflow.
template <class Kernel, InputSet I>
  requires detail::KernelOn<Kernel, I>
KernelReport check_kernel(const Kernel& kernel, const I& inputs, std::ptrdiff_t points = 100,
                          double tolerance = 1e-5) {
  const char* const function = "check_kernel";
  const std::ptrdiff_t m = detail::input_count(inputs);
  detail::check(m > 0, function, "inputs", "is empty, must hold an input");
  detail::check(points > 0, function, "points", "is ", points, ", must be positive");
  detail::check_positive(function, "tolerance", tolerance);
  detail::check_inputs(inputs, function);

  const std::ptrdiff_t n = std::min(points, m);
  std::vector<PointIndex> chosen;
  std::vector<PointIndex> order(n);
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    chosen.push_back(static_cast<PointIndex>(i * m / n));
  }
  const detail::owned_inputs_t<I> few = detail::select_inputs(inputs, chosen);
  const detail::KernelSample<Kernel, detail::owned_inputs_t<I>> sample(kernel, few, chosen);
  using Scalar = detail::kernel_scalar_t<I>;
  const Scalar rounding = static_cast<Scalar>(tolerance) * sample.values().cwiseAbs().maxCoeff();

  constexpr bool by_blocks = !detail::by_pairs<Kernel, I>;
  sample.check_repeatable();
  sample.check_symmetric(by_blocks ? Scalar{0} : rounding);
  RandomEngine engine;
  for (const auto& [height, width] : {std::pair{n, n}, {1, n}, {7, 33}, {n, 5}}) {
    random_permutation(std::span(order), engine);
    sample.check_pointwise(order, height, width);
  }
  if constexpr (by_blocks &&
                PairKernel<Kernel, std::remove_cvref_t<typename detail::PreparedInputs<I>::One>>) {
    sample.check_pairs(rounding);
  }

  const auto [smallest, largest] = detail::extreme_eigenvalues(sample.values());
  detail::check(smallest >= -tolerance * std::max(largest, -smallest), function, "kernel",
                "is not positive semi-definite: the matrix of ", n, " inputs has the eigenvalue ",
                smallest, ", the largest is ", largest);
  return {n, smallest, largest};
}

}}  // namespace bpm
