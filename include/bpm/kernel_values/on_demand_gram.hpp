// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/buffer.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernel_values/linear_rows.hpp"
#include "bpm/kernel_values/prepared_columns.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/kernel_values/row_cache.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Kernel values computed when asked for: no matrix, O(m) memory. Refers to the inputs.
template <class Kernel, InputSet I>
  requires KernelOn<Kernel, I>
class OnDemandGram {
 public:
  using Scalar = kernel_scalar_t<I>;
  using Columns = PreparedColumns<I>;

  /// Prepares the inputs and computes the diagonal.
  /// \throws KernelValueError if k(x_i, x_i) is not finite, near overflow or negative.
  OnDemandGram(Kernel kernel, const I& inputs)
      : kernel_(std::move(kernel)),
        inputs_(inputs),
        diagonal_(kernel_diagonal(kernel_, inputs_)),
        points_(first_points(inputs_.size())) {}

  [[nodiscard]] std::ptrdiff_t size() const noexcept { return inputs_.size(); }
  [[nodiscard]] Scalar diagonal(std::ptrdiff_t i) const noexcept { return diagonal_[i]; }
  [[nodiscard]] bool rows_in_memory() const noexcept { return false; }

  /// Cost: m kernel evaluations.
  [[nodiscard]] std::span<const Scalar> row(std::ptrdiff_t i, BlockScratch<Scalar>& scratch) const {
    scratch.values.reserve_discarding(size());
    block(std::span(points_).subspan(i, 1), points_, scratch.values.data(), size(), scratch);
    return scratch.values.span().first(size());
  }

  /// Cost: one kernel evaluation a value. `values` must not lie in the scratch's own buffers,
  /// except `scratch.values`.
  void block(std::span<const PointIndex> rows, std::span<const PointIndex> columns, Scalar* values,
             std::ptrdiff_t ld, BlockScratch<Scalar>& scratch) const {
    timed(scratch,
          [&] { kernel_block(kernel_, inputs_, rows, inputs_, columns, values, ld, scratch); });
  }

  /// Makes columns of blocks ready. Cost: a copy of their inputs, for kernels of inner products.
  void prepare(std::span<const PointIndex> points, Columns& columns) const {
    columns.assign(inputs_, points, by_inner_products<Kernel, I>);
  }

  /// K_rows,columns, the same bits.
  void block(std::span<const PointIndex> rows, const Columns& columns, Scalar* values,
             std::ptrdiff_t ld, BlockScratch<Scalar>& scratch) const {
    timed(scratch, [&] {
      kernel_block(kernel_, inputs_, rows, columns, 0, std::ssize(columns.points()), values, ld,
                   scratch);
    });
  }

  /// The cache that a sampler may keep rows in from draw to draw; null: none.
  [[nodiscard]] RowCache<Scalar>* row_cache() const noexcept { return row_cache_; }
  void set_row_cache(RowCache<Scalar>* cache) noexcept { row_cache_ = cache; }

  /// The inputs of a linear kernel, for a sampler that then keeps w and asks for no kernel values;
  /// null: it asks for them.
  [[nodiscard]] const LinearRows<I>* linear_rows() const noexcept
    requires may_be_linear<Kernel, I>
  {
    return linear_rows_;
  }
  void set_linear_rows(const LinearRows<I>* rows) noexcept
    requires may_be_linear<Kernel, I>
  {
    linear_rows_ = rows;
  }

  [[nodiscard]] const Kernel& kernel() const noexcept { return kernel_; }
  [[nodiscard]] const PreparedInputs<I>& inputs() const noexcept { return inputs_; }

 private:
  template <class Compute>
  static void timed(BlockScratch<Scalar>& scratch, Compute&& compute) {
    const auto start = std::chrono::steady_clock::now();
    compute();
    scratch.seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  Kernel kernel_;
  PreparedInputs<I> inputs_;
  Buffer<Scalar> diagonal_;
  std::vector<PointIndex> points_;
  RowCache<Scalar>* row_cache_ = nullptr;
  const LinearRows<I>* linear_rows_ = nullptr;
};

}}}  // namespace bpm::detail
