// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Makes points of the inputs ready as columns; without `pack` nothing is copied.
template <class I>
void make_ready(const PreparedInputs<I>& inputs, std::span<const PointIndex> points, bool pack,
                ReadyColumns<kernel_scalar_t<I>>& columns) {
  columns.points = points;
  columns.packed = pack && DenseInputs<I>;
  if constexpr (DenseInputs<I>) {
    if (pack) pack_columns(inputs, points, columns.panels);
  }
}

/// values[a * ld + b] = k(x_rows[a], z_{first + b}) for `count` of the columns that were made ready
/// of z, from column `first` on, a multiple of `PreparedColumns::step`. The bits of the other
/// `kernel_block`. \throws KernelValueError if a value is not finite or near overflow.
template <class Kernel, class Left, class Right>
void kernel_block(const Kernel& kernel, const PreparedInputs<Left>& x,
                  std::span<const PointIndex> rows, const PreparedInputs<Right>& z,
                  const ReadyColumns<kernel_scalar_t<Left>>& ready, std::ptrdiff_t first,
                  std::ptrdiff_t count, kernel_scalar_t<Left>* values, std::ptrdiff_t ld,
                  BlockScratch<kernel_scalar_t<Left>>& scratch) {
  const std::span<const PointIndex> columns = ready.points.subspan(first, count);
  if constexpr (DenseInputs<Left> && by_inner_products<Kernel, Left>) {
    if (ready.packed) {
      static_assert(ByteInputs<Left> == ByteInputs<Right>,
                    "both input sets must be bytes, or none: cast one of them");
      packed_block(kernel, x, rows, ready.panels, first, columns, values, ld, scratch);
      scratch.evaluations += std::ssize(rows) * count;
      return;
    }
  }
  kernel_block(kernel, x, rows, z, columns, values, ld, scratch);
}

/// Some inputs as the columns of blocks that will be asked for several times, with the inputs that
/// they are of. Refers to these and to the list of points, which must outlive it. Reusing one
/// allocates nothing.
template <InputSet I>
class PreparedColumns {
 public:
  using Scalar = kernel_scalar_t<I>;

  /// What a `first` in `kernel_block` must be a multiple of.
  static constexpr std::ptrdiff_t step = map_width;

  /// For kernels of any kind `pack` may be false: nothing is copied then.
  void assign(const PreparedInputs<I>& inputs, std::span<const PointIndex> points, bool pack) {
    inputs_ = &inputs;
    make_ready(inputs, points, pack, ready_);
  }

  [[nodiscard]] const PreparedInputs<I>& inputs() const noexcept { return *inputs_; }
  [[nodiscard]] const ReadyColumns<Scalar>& ready() const noexcept { return ready_; }
  [[nodiscard]] std::span<const PointIndex> points() const noexcept { return ready_.points; }
  [[nodiscard]] bool is_packed() const noexcept { return ready_.packed; }
  /// Bytes that `points` inputs like these would hold, packed.
  [[nodiscard]] static std::size_t bytes_needed(const I& inputs, std::size_t points) {
    if constexpr (DenseInputs<I>) {
      return points * (PreparedInputs<I>::row_bytes(inputs) + sizeof(Scalar));
    } else {
      return 0;
    }
  }
  /// Bytes held.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return ready_.panels.panels.size() + ready_.panels.norms.size() * sizeof(Scalar);
  }

 private:
  const PreparedInputs<I>* inputs_ = nullptr;
  ReadyColumns<Scalar> ready_;
};

template <class Kernel, class Left, class Right>
void kernel_block(const Kernel& kernel, const PreparedInputs<Left>& x,
                  std::span<const PointIndex> rows, const PreparedColumns<Right>& z,
                  std::ptrdiff_t first, std::ptrdiff_t count, kernel_scalar_t<Left>* values,
                  std::ptrdiff_t ld, BlockScratch<kernel_scalar_t<Left>>& scratch) {
  kernel_block(kernel, x, rows, z.inputs(), z.ready(), first, count, values, ld, scratch);
}

/// Kernel values computed when asked for: no matrix, O(m) memory. Refers to the inputs.
template <class Kernel, InputSet I>
  requires KernelOn<Kernel, I>
class OnDemandGram : public Gram<kernel_scalar_t<I>> {
 public:
  using Scalar = kernel_scalar_t<I>;

  /// Prepares the inputs and computes the diagonal.
  /// \throws KernelValueError if k(x_i, x_i) is not finite, near overflow or negative.
  OnDemandGram(Kernel kernel, const I& inputs)
      : OnDemandGram(std::move(kernel), PreparedInputs<I>(inputs)) {}

  [[nodiscard]] Scalar diagonal(std::ptrdiff_t i) const noexcept override { return diagonal_[i]; }
  [[nodiscard]] bool by_pairs() const noexcept override { return detail::by_pairs<Kernel, I>; }

  /// Cost: m kernel evaluations.
  [[nodiscard]] std::span<const Scalar> row(std::ptrdiff_t i,
                                            BlockScratch<Scalar>& scratch) const override {
    scratch.values.reserve_discarding(this->size());
    block(std::span(points_).subspan(i, 1), points_, scratch.values.data(), this->size(), scratch);
    return scratch.values.span().first(this->size());
  }

  /// Cost: one kernel evaluation a value. `values` must not lie in the scratch's own buffers,
  /// except `scratch.values`.
  void block(std::span<const PointIndex> rows, std::span<const PointIndex> columns, Scalar* values,
             std::ptrdiff_t ld, BlockScratch<Scalar>& scratch) const override {
    const TimeSpent timed(scratch);
    kernel_block(kernel_, inputs_, rows, inputs_, columns, values, ld, scratch);
  }

  /// Cost: a copy of the points' inputs, for kernels of inner products.
  void prepare(std::span<const PointIndex> points, ReadyColumns<Scalar>& columns) const override {
    make_ready(inputs_, points, by_inner_products<Kernel, I>, columns);
  }

  void block(std::span<const PointIndex> rows, const ReadyColumns<Scalar>& columns,
             std::ptrdiff_t first, std::ptrdiff_t count, Scalar* values, std::ptrdiff_t ld,
             BlockScratch<Scalar>& scratch) const override {
    const TimeSpent timed(scratch);
    kernel_block(kernel_, inputs_, rows, inputs_, columns, first, count, values, ld, scratch);
  }

  [[nodiscard]] const Kernel& kernel() const noexcept { return kernel_; }
  [[nodiscard]] const PreparedInputs<I>& inputs() const noexcept { return inputs_; }

 private:
  /// Adds its life to the scratch's seconds.
  class TimeSpent {
   public:
    explicit TimeSpent(BlockScratch<Scalar>& scratch) : scratch_(scratch) {}
    TimeSpent(const TimeSpent&) = delete;
    TimeSpent& operator=(const TimeSpent&) = delete;
    ~TimeSpent() {
      scratch_.seconds +=
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

   private:
    BlockScratch<Scalar>& scratch_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  };

  OnDemandGram(Kernel&& kernel, PreparedInputs<I>&& inputs)
      : Gram<Scalar>(inputs.size()),
        kernel_(std::move(kernel)),
        inputs_(std::move(inputs)),
        diagonal_(kernel_diagonal(kernel_, inputs_)),
        points_(first_points(inputs_.size())) {}

  Kernel kernel_;
  PreparedInputs<I> inputs_;
  Buffer<Scalar> diagonal_;
  std::vector<PointIndex> points_;
};

template <class Kernel, InputSet I>
OnDemandGram(Kernel, const I&) -> OnDemandGram<Kernel, I>;

}}}  // namespace bpm::detail
