// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ostream>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/kernels/kernel.hpp"
#if BPM_BODIES
#include <Eigen/Eigenvalues>
#endif

/// \file
/// A test of the promises that a kernel makes, for the author of one.

namespace bpm { inline namespace BPM_TARGET {

/// What `check_kernel` saw of a kernel in which it found no fault.
struct KernelReport {
  std::ptrdiff_t points = 0;       ///< Inputs looked at.
  double smallest_eigenvalue = 0;  ///< Of their kernel matrix; rounding may take it below zero.
  double largest_eigenvalue = 0;
};

namespace detail {

/// A pair of inputs by their numbers, for messages.
struct PairName {
  PointIndex i;
  PointIndex j;

  friend std::ostream& operator<<(std::ostream& out, const PairName& pair) {
    return out << "k(x_" << pair.i << ", x_" << pair.j << ")";
  }
};

/// The smallest and the largest eigenvalue of the symmetric part of a square matrix. Cost n^3.
[[nodiscard]] BPM_INLINE std::pair<double, double> extreme_eigenvalues(
    const Eigen::MatrixXd& values);

#if BPM_BODIES
BPM_INLINE std::pair<double, double> extreme_eigenvalues(const Eigen::MatrixXd& values) {
  // Divided by the largest value: its square must not overflow.
  const double size = values.cwiseAbs().maxCoeff();
  const Eigen::MatrixXd symmetric = (values / 2 + values.transpose() / 2) / (size > 0 ? size : 1);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(symmetric, Eigen::EigenvaluesOnly);
  return {size * solver.eigenvalues()[0], size * solver.eigenvalues()[values.rows() - 1]};
}
#endif

/// The kernel matrix of a few inputs, evaluated in different ways. `numbers` are the inputs'
/// numbers in the caller's set, for messages.
template <class Kernel, InputSet I>
class KernelSample {
 public:
  using Scalar = kernel_scalar_t<I>;

  KernelSample(const Kernel& kernel, const I& inputs, const std::vector<PointIndex>& numbers)
      : kernel_(kernel), left_(inputs), right_(inputs), numbers_(numbers) {
    // One by one: what every other evaluation is compared with.
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

  /// Each pair once more.
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

  /// `tolerance` 0: to the last bit, as block evaluation promises its users.
  void check_symmetric(Scalar tolerance) const {
    for (PointIndex i = 0; i < size(); ++i) {
      for (PointIndex j = 0; j < i; ++j) {
        check(std::abs(values_(i, j) - values_(j, i)) <= tolerance, "check_kernel", "kernel",
              "is not symmetric: ", name(i, j), " is ", values_(i, j), ", ", name(j, i),
              " differs by ", values_(j, i) - values_(i, j));
      }
    }
  }

  /// Evaluates again in blocks of `height` x `width` inputs in the order given.
  void check_pointwise(std::span<const PointIndex> order, std::ptrdiff_t height,
                       std::ptrdiff_t width) const {
    BlockScratch<Scalar> scratch;
    RowMatrix<Scalar> block(height, width);
    // Columns backwards, so that no pair keeps its place.
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

  /// A kernel that has a form for blocks and one for pairs: to rounding the same function.
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

  /// Two prepared inputs and not one, so that a pair kernel is really called both ways round.
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

/// Tests on up to `points` of the inputs, evenly spaced, that a kernel keeps its promises:
///
///  - values are finite and not near overflow, and the same in the next call;
///  - k(x, x') = k(x', x): to the last bit for kernels that do blocks (`InnerProductKernel`,
///    `ManhattanKernel`), where it must not matter which input is the row, else to `tolerance`;
///  - a value depends on the two inputs alone: the same bits in any block, at any position;
///  - the pair call, where there is one beside the block form, gives the same value to `tolerance`;
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

  const auto [smallest, largest] =
      detail::extreme_eigenvalues(sample.values().template cast<double>());
  detail::check(smallest >= -tolerance * std::max(largest, -smallest), function, "kernel",
                "is not positive semi-definite: the matrix of ", n, " inputs has the eigenvalue ",
                smallest, ", the largest is ", largest);
  return {n, smallest, largest};
}

}}  // namespace bpm
