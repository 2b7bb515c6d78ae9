// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/core/buffer.hpp"
#include "bpm/core/check.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/machine/precomputed_kernel.hpp"

namespace bpm::detail {

/// Kernel values of inputs with all training points, a block of inputs at a time: K_xX.
template <class Kernel, class Owned>
class TrainingColumns {
 public:
  using Scalar = kernel_scalar_t<Owned>;
  static constexpr std::ptrdiff_t height = 96;  ///< Inputs in a block, at most.

  template <InputSet I>
  TrainingColumns(Kernel kernel, const I& training)
      : kernel_(std::move(kernel)), inputs_(std::make_shared<const Inputs>(training)) {}

  [[nodiscard]] const Kernel& kernel() const noexcept { return kernel_; }
  [[nodiscard]] std::ptrdiff_t points() const noexcept { return inputs_->prepared.size(); }

  /// K_XX of training inputs, in double. Errors name the points.
  template <InputSet I>
  [[nodiscard]] static Eigen::MatrixXd training_matrix(const Kernel& kernel, const I& inputs,
                                                       unsigned threads, std::size_t memory,
                                                       std::string_view function) {
    try {
      // The diagonal first: an input that a kernel has no value for is named, not a pair with it.
      (void)kernel_diagonal_values(kernel, inputs);
      return kernel_matrix(kernel, inputs, {.threads = threads, .memory = memory});
    } catch (const KernelValueError& error) {
      throw KernelValueError(join(function, ": ", error.what()));
    }
  }

  /// use(worker, first, rows, values, selves): values row-major, `points()` long each, the kernel
  /// values of the inputs from `first` on; selves k(x, x), where asked for.
  template <InputSet I, class Use>
  void for_each_block(const I& inputs, bool with_selves, unsigned threads,
                      std::string_view function, Use&& use) const {
    if constexpr (!RangeInputs<I>) {
      check_size(function, "inputs", inputs.cols(), inputs_->owned.cols(),
                 "columns: one per feature of the training set");
    }
    check_inputs(inputs, function);
    const PreparedInputs<I> x(inputs);
    const std::vector<PointIndex> all_x = first_points(x.size());
    struct Worker {
      BlockScratch<Scalar> scratch;
      Buffer<Scalar> values;
      Buffer<Scalar> selves;
    };
    std::vector<Worker> workers(threads);
    const auto evaluate = [&](unsigned number, std::ptrdiff_t block) {
      Worker& worker = workers[number];
      worker.values.reserve_discarding(height * points());
      worker.selves.reserve_discarding(height);
      const std::ptrdiff_t first = block * height;
      const std::ptrdiff_t rows = std::min(height, x.size() - first);
      kernel_block(
          kernel_, x,
          std::span(all_x).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(rows)),
          inputs_->prepared, std::span(inputs_->everyone), worker.values.data(), points(),
          worker.scratch);
      for (std::ptrdiff_t r = 0; with_selves && r < rows; ++r) {
        const PointIndex i = all_x[first + r];
        kernel_block(kernel_, x, std::span(&i, 1), x, std::span(&i, 1), worker.selves.data() + r, 1,
                     worker.scratch);
      }
      use(number, first, rows, worker.values.data(), worker.selves.data());
    };
    try {
      parallel_for(threads, (x.size() + height - 1) / height, evaluate);
    } catch (const KernelValueError& error) {
      throw KernelValueError(join(
          function, ": of an input and itself or a training point, by number: ", error.what()));
    }
  }

 private:
  /// Shared by copies of the model: never changed, and its parts refer to each other.
  struct Inputs {
    template <InputSet I>
    explicit Inputs(const I& training)
        : owned(select_inputs(training, first_points(input_count(training)))),
          prepared(owned),
          everyone(first_points(prepared.size())) {}

    Owned owned;
    PreparedInputs<Owned> prepared;
    std::vector<PointIndex> everyone;
  };

  Kernel kernel_;
  std::shared_ptr<const Inputs> inputs_;
};

/// The same of kernel values that the user brings: n x m, and k(x, x) by `PrecomputedRows`.
template <class T>
class TrainingColumns<PrecomputedKernel, RowMatrix<T>> {
 public:
  using Scalar = T;
  static constexpr std::ptrdiff_t height = 96;

  TrainingColumns(PrecomputedKernel /*kernel*/, const RowMatrix<T>& training)
      : points_(training.rows()) {}

  [[nodiscard]] PrecomputedKernel kernel() const noexcept { return {}; }
  [[nodiscard]] std::ptrdiff_t points() const noexcept { return points_; }

  [[nodiscard]] static Eigen::MatrixXd training_matrix(PrecomputedKernel /*kernel*/,
                                                       const RowMatrix<T>& values,
                                                       unsigned /*threads*/, std::size_t /*memory*/,
                                                       std::string_view function) {
    check_size(function, "inputs", values.cols(), values.rows(),
               "columns: the kernel matrix is square");
    return values.template cast<double>();
  }

  template <class Use>
  void for_each_block(const RowMatrix<T>& values, bool with_selves, unsigned /*threads*/,
                      std::string_view function, Use&& use) const {
    check(!with_selves, function, "inputs",
          "are kernel values without k(x, x), expected PrecomputedRows");
    walk(values, nullptr, function, use);
  }

  template <class Use>
  void for_each_block(const PrecomputedRows<T>& rows, bool /*with_selves*/, unsigned /*threads*/,
                      std::string_view function, Use&& use) const {
    check_size(function, "diagonal", rows.diagonal.size(), rows.values.rows(), "one per input");
    std::vector<T> selves;
    for (Eigen::Index i = 0; i < rows.diagonal.size(); ++i) {
      check(std::isfinite(rows.diagonal[i]) && rows.diagonal[i] >= 0, function, "diagonal", "at ",
            i, " is ", rows.diagonal[i], ", must be finite and not negative");
      selves.push_back(static_cast<T>(rows.diagonal[i]));
    }
    walk(rows.values, selves.data(), function, use);
  }

 private:
  template <class Use>
  void walk(const RowMatrix<T>& values, const T* selves, std::string_view function,
            Use&& use) const {
    check_size(function, "inputs", values.cols(), points_, "columns: one per training point");
    check_inputs(values, function);
    for (std::ptrdiff_t first = 0; first < values.rows(); first += height) {
      use(0U, first, std::min(height, values.rows() - first), values.data() + first * points_,
          selves == nullptr ? nullptr : selves + first);
    }
  }

  std::ptrdiff_t points_;
};

}  // namespace bpm::detail
