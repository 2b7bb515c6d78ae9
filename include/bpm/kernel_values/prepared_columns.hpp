// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include "bpm/core/target.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernel_values/gram.hpp"

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

}}}  // namespace bpm::detail
