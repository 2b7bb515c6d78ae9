// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include "bpm/core/target.hpp"
#include "bpm/kernel_values/blocks.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Some inputs as the columns of blocks that will be asked for several times: for inner-product
/// kernels on dense inputs they are packed here once instead of in every block. Refers to the
/// prepared inputs and the list of points, which must outlive it. Reusing one allocates nothing.
template <InputSet I>
class PreparedColumns {
 public:
  using Scalar = kernel_scalar_t<I>;

  /// What a `first` in `kernel_block` must be a multiple of.
  static constexpr std::ptrdiff_t step = map_width;

  /// For kernels of any kind `pack` may be false: nothing is copied then.
  void assign(const PreparedInputs<I>& inputs, std::span<const PointIndex> points, bool pack) {
    inputs_ = &inputs;
    points_ = points;
    is_packed_ = pack && DenseInputs<I>;
    if constexpr (DenseInputs<I>) {
      if (pack) pack_columns(inputs, points, packed_);
    }
  }

  [[nodiscard]] const PreparedInputs<I>& inputs() const noexcept { return *inputs_; }
  [[nodiscard]] std::span<const PointIndex> points() const noexcept { return points_; }
  [[nodiscard]] bool is_packed() const noexcept { return is_packed_; }
  [[nodiscard]] const PackedColumns<Scalar>& packed() const noexcept { return packed_; }
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
    return packed_.panels.size() + packed_.norms.size() * sizeof(Scalar);
  }

 private:
  const PreparedInputs<I>* inputs_ = nullptr;
  std::span<const PointIndex> points_;
  bool is_packed_ = false;
  PackedColumns<Scalar> packed_;
};

/// values[a * ld + b] = k(x_rows[a], z_{first + b}) for `count` of the prepared columns z, from
/// column `first` on, a multiple of `PreparedColumns::step`. The bits of the other `kernel_block`.
/// \throws KernelValueError if a value is not finite or near overflow.
template <class Kernel, class Left, class Right>
void kernel_block(const Kernel& kernel, const PreparedInputs<Left>& x,
                  std::span<const PointIndex> rows, const PreparedColumns<Right>& z,
                  std::ptrdiff_t first, std::ptrdiff_t count, kernel_scalar_t<Left>* values,
                  std::ptrdiff_t ld, BlockScratch<kernel_scalar_t<Left>>& scratch) {
  const std::span<const PointIndex> columns = z.points().subspan(first, count);
  if constexpr (DenseInputs<Left> && by_inner_products<Kernel, Left>) {
    if (z.is_packed()) {
      static_assert(ByteInputs<Left> == ByteInputs<Right>,
                    "both input sets must be bytes, or none: cast one of them");
      packed_block(kernel, x, rows, z.packed(), first, columns, values, ld, scratch);
      scratch.evaluations += std::ssize(rows) * count;
      return;
    }
  }
  kernel_block(kernel, x, rows, z.inputs(), columns, values, ld, scratch);
}

}}}  // namespace bpm::detail
