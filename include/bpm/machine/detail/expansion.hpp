// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "bpm/detail/buffer.hpp"
#include "bpm/detail/check.hpp"
#include "bpm/detail/multiply_add.hpp"
#include "bpm/detail/parallel.hpp"
#include "bpm/errors.hpp"
#include "bpm/kernels/blocks.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/machine/precomputed_kernel.hpp"

namespace bpm::detail {

/// Coefficients of several classifiers on one list of training points, a row a point.
using Coefficients = RowMatrix<double>;

/// sums[r * classifiers + c] += values[r * ld + j] coefficients(first + j, c), over j in order.
/// The order of the sums does not depend on how many rows there are: an input's outputs are the
/// same bits in a batch of any size.
template <class Scalar>
void add_outputs(const Scalar* values, std::ptrdiff_t rows, std::ptrdiff_t cols, std::ptrdiff_t ld,
                 const Coefficients& coefficients, std::ptrdiff_t first, double* sums) {
  const std::ptrdiff_t classifiers = coefficients.cols();
  constexpr std::ptrdiff_t together = 4;  // Independent sums, so that additions overlap.
  for (std::ptrdiff_t r = 0; r < rows; r += together) {
    const std::ptrdiff_t end = std::min(rows, r + together);
    for (std::ptrdiff_t j = 0; j < cols; ++j) {
      const double* const column = coefficients.data() + (first + j) * classifiers;
      for (std::ptrdiff_t row = r; row < end; ++row) {
        const auto value = static_cast<double>(values[row * ld + j]);
        double* const sum = sums + row * classifiers;
        for (std::ptrdiff_t c = 0; c < classifiers; ++c) {
          sum[c] = multiply_add(value, column[c], sum[c]);
        }
      }
    }
  }
}

/// The support inputs of one or several classifiers, kept by value, and how to evaluate kernels
/// with them. `norm` says whether outputs are divided by sqrt(k(x, x)).
template <class Kernel, class Owned>
class Expansion {
 public:
  using Scalar = kernel_scalar_t<Owned>;

  template <InputSet I>
  Expansion(Kernel kernel, const I& training, std::vector<PointIndex> support)
      : kernel_(std::move(kernel)),
        support_(std::move(support)),
        inputs_(std::make_shared<const Inputs>(select_inputs(training, support_))) {}

  [[nodiscard]] const std::vector<PointIndex>& support() const noexcept { return support_; }
  [[nodiscard]] const Owned& inputs() const noexcept { return inputs_->owned; }
  [[nodiscard]] const Kernel& kernel() const noexcept { return kernel_; }

  /// n x classifiers: sum_j coefficients(j, c) k(x_j, x) / sqrt(k(x, x)); 0 where k(x, x) = 0.
  template <InputSet I>
  [[nodiscard]] Eigen::MatrixXd outputs(const I& inputs, const Coefficients& coefficients,
                                        unsigned threads, std::string_view function) const {
    if constexpr (!RangeInputs<I>) {
      check_size(function, "inputs", inputs.cols(), inputs_->owned.cols(),
                 "columns: one per feature of the training set");
    }
    check_inputs(inputs, function);
    const PreparedInputs<I> x(inputs);
    const PreparedInputs<Owned>& z = inputs_->prepared;
    std::vector<PointIndex> all_x(static_cast<std::size_t>(x.size()));
    std::iota(all_x.begin(), all_x.end(), PointIndex{0});

    RowMatrix<double> result(x.size(), coefficients.cols());
    std::fill_n(result.data(), result.size(), 0.0);
    constexpr std::ptrdiff_t height = 96;
    constexpr std::ptrdiff_t width = 768;
    const std::ptrdiff_t blocks = (x.size() + height - 1) / height;
    struct Worker {
      BlockScratch<Scalar> scratch;
      Buffer<Scalar> values;
    };
    std::vector<Worker> workers(threads);
    const auto evaluate = [&](unsigned number, std::ptrdiff_t block) {
      Worker& worker = workers[number];
      worker.values.reserve_discarding(height * width);
      const std::ptrdiff_t begin = block * height;
      const std::ptrdiff_t rows = std::min(height, x.size() - begin);
      double* const sums = result.data() + begin * result.cols();
      const auto points = std::span<const PointIndex>(all_x).subspan(
          static_cast<std::size_t>(begin), static_cast<std::size_t>(rows));
      for (std::ptrdiff_t first = 0; first < z.size(); first += width) {
        const std::ptrdiff_t cols = std::min(width, z.size() - first);
        kernel_block(kernel_, x, points, z,
                     std::span<const PointIndex>(inputs_->everyone)
                         .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(cols)),
                     worker.values.data(), width, worker.scratch);
        add_outputs(worker.values.data(), rows, cols, width, coefficients, first, sums);
      }
      for (std::ptrdiff_t r = 0; r < rows; ++r) {
        const PointIndex i = points.data()[r];
        Scalar self = 0;
        kernel_block(kernel_, x, std::span(&i, 1), x, std::span(&i, 1), &self, 1, worker.scratch);
        const double scale = self > 0 ? 1 / std::sqrt(static_cast<double>(self)) : 0.0;
        double* const row = sums + r * result.cols();
        for (Eigen::Index c = 0; c < result.cols(); ++c) row[c] *= scale;
      }
    };
    try {
      parallel_for(threads, blocks, evaluate);
    } catch (const KernelValueError& error) {
      throw KernelValueError(
          join(function, ": of an input and itself or a support point, by number: ", error.what()));
    }
    return result;
  }

  /// Calls visit(worker, begin, rows, values, diagonal) for blocks of inputs, on several threads:
  /// `values` are k(x, x_j) of `rows` inputs from `begin` on with all support points, a row an
  /// input without gaps, and `diagonal` their k(x, x). `worker` is below `threads`. The values have
  /// the bits that `outputs` sums.
  template <InputSet I, class Visit>
  void visit_values(const I& inputs, unsigned threads, std::string_view function,
                    Visit&& visit) const {
    if constexpr (!RangeInputs<I>) {
      check_size(function, "inputs", inputs.cols(), inputs_->owned.cols(),
                 "columns: one per feature of the training set");
    }
    check_inputs(inputs, function);
    const PreparedInputs<I> x(inputs);
    const PreparedInputs<Owned>& z = inputs_->prepared;
    std::vector<PointIndex> all_x(static_cast<std::size_t>(x.size()));
    std::iota(all_x.begin(), all_x.end(), PointIndex{0});
    constexpr std::ptrdiff_t height = 96;
    constexpr std::ptrdiff_t width = 768;
    struct Worker {
      BlockScratch<Scalar> scratch;
      Buffer<Scalar> values;
      std::vector<Scalar> diagonal;
    };
    std::vector<Worker> workers(threads);
    const auto evaluate = [&](unsigned number, std::ptrdiff_t block) {
      Worker& worker = workers[number];
      worker.values.reserve_discarding(height * z.size());
      const std::ptrdiff_t begin = block * height;
      const std::ptrdiff_t rows = std::min(height, x.size() - begin);
      const auto points = std::span<const PointIndex>(all_x).subspan(
          static_cast<std::size_t>(begin), static_cast<std::size_t>(rows));
      for (std::ptrdiff_t first = 0; first < z.size(); first += width) {
        const std::ptrdiff_t cols = std::min(width, z.size() - first);
        kernel_block(kernel_, x, points, z,
                     std::span<const PointIndex>(inputs_->everyone)
                         .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(cols)),
                     worker.values.data() + first, z.size(), worker.scratch);
      }
      worker.diagonal.assign(static_cast<std::size_t>(rows), Scalar{0});
      for (std::ptrdiff_t r = 0; r < rows; ++r) {
        const PointIndex i = points.data()[r];
        kernel_block(kernel_, x, std::span(&i, 1), x, std::span(&i, 1), &worker.diagonal.data()[r],
                     1, worker.scratch);
      }
      visit(number, begin, rows, worker.values.data(), worker.diagonal.data());
    };
    try {
      parallel_for(threads, (x.size() + height - 1) / height, evaluate);
    } catch (const KernelValueError& error) {
      throw KernelValueError(
          join(function, ": of an input and itself or a support point, by number: ", error.what()));
    }
  }

 private:
  /// Shared by copies of the model: never changed, and its parts refer to each other.
  struct Inputs {
    explicit Inputs(Owned inputs)
        : owned(std::move(inputs)),
          prepared(owned),
          everyone(static_cast<std::size_t>(prepared.size())) {
      std::iota(everyone.begin(), everyone.end(), PointIndex{0});
    }

    Owned owned;
    PreparedInputs<Owned> prepared;
    std::vector<PointIndex> everyone;
  };

  Kernel kernel_;
  std::vector<PointIndex> support_;
  std::shared_ptr<const Inputs> inputs_;
};

/// Support points of a kernel matrix that the user brings: columns of the values given to predict.
template <class T>
class Expansion<PrecomputedKernel, RowMatrix<T>> {
 public:
  using Scalar = T;

  Expansion(PrecomputedKernel /*kernel*/, const RowMatrix<T>& training,
            std::vector<PointIndex> support)
      : points_(training.rows()), support_(std::move(support)) {}

  [[nodiscard]] const std::vector<PointIndex>& support() const noexcept { return support_; }
  [[nodiscard]] PrecomputedKernel kernel() const noexcept { return {}; }

  /// n x classifiers: sum_j coefficients(j, c) values(., support_j).
  [[nodiscard]] Eigen::MatrixXd outputs(const RowMatrix<T>& values,
                                        const Coefficients& coefficients, unsigned /*threads*/,
                                        std::string_view function) const {
    check_size(function, "inputs", values.cols(), points_, "columns: one per training point");
    check_inputs(values, function);
    RowMatrix<double> result(values.rows(), coefficients.cols());
    std::fill_n(result.data(), result.size(), 0.0);
    Buffer<T> chosen(std::ssize(support_));
    for (Eigen::Index i = 0; i < values.rows(); ++i) {
      for (std::ptrdiff_t s = 0; s < chosen.size(); ++s) {
        chosen[s] = values(i, support_.data()[s]);
      }
      add_outputs(chosen.data(), 1, chosen.size(), chosen.size(), coefficients, 0,
                  result.data() + i * result.cols());
    }
    return result;
  }

  /// The same over sqrt(k(x, x)).
  [[nodiscard]] Eigen::MatrixXd outputs(const PrecomputedRows<T>& rows,
                                        const Coefficients& coefficients, unsigned threads,
                                        std::string_view function) const {
    check_diagonal(rows, function);
    Eigen::MatrixXd result = outputs(rows.values, coefficients, threads, function);
    for (Eigen::Index c = 0; c < result.cols(); ++c) {
      for (Eigen::Index i = 0; i < result.rows(); ++i) {
        result(i, c) /= std::sqrt(rows.diagonal[i]);
      }
    }
    return result;
  }

  /// As in the other expansions: the columns of the support, and the diagonal. All on this thread.
  template <class Visit>
  void visit_values(const PrecomputedRows<T>& rows, unsigned /*threads*/, std::string_view function,
                    Visit&& visit) const {
    check_diagonal(rows, function);
    check_size(function, "inputs", rows.values.cols(), points_, "columns: one per training point");
    check_inputs(rows.values, function);
    constexpr std::ptrdiff_t height = 96;
    const auto width = static_cast<std::ptrdiff_t>(support_.size());
    std::vector<T> chosen(static_cast<std::size_t>(height * width));
    for (std::ptrdiff_t begin = 0; begin < rows.values.rows(); begin += height) {
      const std::ptrdiff_t count = std::min(height, rows.values.rows() - begin);
      for (std::ptrdiff_t r = 0; r < count; ++r) {
        for (std::ptrdiff_t s = 0; s < width; ++s) {
          chosen.data()[r * width + s] = rows.values(begin + r, support_.data()[s]);
        }
      }
      visit(0U, begin, count, chosen.data(), rows.diagonal.data() + begin);
    }
  }

 private:
  static void check_diagonal(const PrecomputedRows<T>& rows, std::string_view function) {
    check_size(function, "diagonal", rows.diagonal.size(), rows.values.rows(), "one per input");
    for (Eigen::Index i = 0; i < rows.diagonal.size(); ++i) {
      check(std::isfinite(rows.diagonal[i]) && rows.diagonal[i] > 0, function, "diagonal", "at ", i,
            " is ", rows.diagonal[i], ", must be positive and finite");
    }
  }

  std::ptrdiff_t points_;
  std::vector<PointIndex> support_;
};

}  // namespace bpm::detail
