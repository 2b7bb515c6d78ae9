// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// A cache of kernel rows within a byte budget. When full, it keeps the rows of the points that are
/// requested most often. Memory is touched only when rows are filled.
///
/// Rows are borrowed. A filled row may be read by all; a new row must be written completely before
/// it is given back, and may then be read. A borrowed row does not move.
template <class T>
class KeptRows {
 public:
  /// A borrowed row of a point.
  struct Row {
    const T* read = nullptr;  ///< Values of the row; null: not known.
    T* write = nullptr;       ///< Memory to write the values to; null: do not.
    std::int32_t place = nowhere;
  };

  /// Holds as many rows of m values as fit into `bytes`, at most m.
  KeptRows(std::ptrdiff_t m, std::size_t bytes)
      : size_(m),
        places_(static_cast<std::size_t>(
            m == 0 ? 0 : std::min(static_cast<std::size_t>(m), bytes / row_bytes(m)))),
        values_(std::ssize(places_) * m),
        place_of_(static_cast<std::size_t>(m), nowhere),
        requests_(static_cast<std::size_t>(m), 0) {}
  KeptRows(const KeptRows&) = delete;
  KeptRows& operator=(const KeptRows&) = delete;

  /// Bytes of a row; and bytes of bookkeeping per point.
  [[nodiscard]] static constexpr std::size_t row_bytes(std::ptrdiff_t m) noexcept {
    return static_cast<std::size_t>(m) * sizeof(T);
  }
  static constexpr std::size_t point_bytes = sizeof(std::int32_t) + sizeof(std::uint32_t);

  [[nodiscard]] std::ptrdiff_t capacity() const noexcept { return std::ssize(places_); }
  /// Number of slots ever used.
  [[nodiscard]] std::ptrdiff_t kept() const {
    const std::scoped_lock lock(mutex_);
    return used_;
  }

  /// Borrows row i. Thread-safe, like `give_back`.
  [[nodiscard]] Row borrow(PointIndex i) {
    const auto point = static_cast<std::size_t>(i);
    const std::scoped_lock lock(mutex_);
    ++requests_[point];
    Row row{.place = place_of_[point]};
    if (row.place == nowhere) {
      row.place = find_slot(point);
      if (row.place == nowhere) return {};
      row.write = values_.data() + row.place * size_;
      places_[std::size_t(row.place)] = {.point = i};
      place_of_[point] = row.place;
    } else if (places_[std::size_t(row.place)].known) {
      row.read = values_.data() + row.place * size_;
    } else {
      return {};  // Another thread fills it.
    }
    ++places_[std::size_t(row.place)].borrowers;
    return row;
  }

  /// Gives a row back. `filled`: a row to be written holds its values; otherwise it is dropped.
  void give_back(const Row& row, bool filled) {
    if (row.place == nowhere) return;
    const std::scoped_lock lock(mutex_);
    Place& place = places_[std::size_t(row.place)];
    --place.borrowers;
    if (row.write == nullptr) return;
    place.known = filled;
    if (!filled) {
      place_of_[static_cast<std::size_t>(place.point)] = nowhere;
      place.point = nobody;
    }
  }

 private:
  static constexpr std::int32_t nowhere = -1;
  static constexpr PointIndex nobody = -1;

  struct Place {
    PointIndex point = nobody;
    std::int32_t borrowers = 0;
    bool known = false;
  };

  /// Returns a slot for this point's row: a free one; else evicts, among the next 32, a row that is
  /// not borrowed and was requested less often; -1 if there is none.
  [[nodiscard]] std::int32_t find_slot(std::size_t point) {
    if (used_ < capacity()) return static_cast<std::int32_t>(used_++);
    const std::ptrdiff_t tries = std::min<std::ptrdiff_t>(32, capacity());
    for (std::ptrdiff_t attempt = 0; attempt < tries; ++attempt) {
      clock_hand_ = clock_hand_ + 1 < capacity() ? clock_hand_ + 1 : 0;
      const Place& place = places_[static_cast<std::size_t>(clock_hand_)];
      if (place.borrowers > 0) continue;
      if (place.point == nobody) return static_cast<std::int32_t>(clock_hand_);
      const auto other = static_cast<std::size_t>(place.point);
      if (requests_[other] < requests_[point]) {
        place_of_[other] = nowhere;
        return static_cast<std::int32_t>(clock_hand_);
      }
    }
    return nowhere;
  }

  std::ptrdiff_t size_;
  std::vector<Place> places_;
  Buffer<T> values_;
  mutable std::mutex mutex_;  ///< Guards all members but the values.
  std::vector<std::int32_t> place_of_;
  std::vector<std::uint32_t> requests_;  ///< Number of requests per point.
  std::ptrdiff_t used_ = 0;
  std::ptrdiff_t clock_hand_ = 0;
};

/// A borrowed row, given back by the destructor. Without a cache it has neither values nor memory
/// to write to.
template <class T>
class BorrowedRow {
 public:
  BorrowedRow(KeptRows<T>* kept, PointIndex i) : kept_(kept) {
    if (kept_ != nullptr) row_ = kept_->borrow(i);
  }
  BorrowedRow(const BorrowedRow&) = delete;
  BorrowedRow& operator=(const BorrowedRow&) = delete;
  ~BorrowedRow() {
    if (kept_ != nullptr) kept_->give_back(row_, filled_);
  }

  [[nodiscard]] const T* read() const noexcept { return row_.read; }
  [[nodiscard]] T* write() const noexcept { return row_.write; }
  /// Declares that the values of a row to be written are complete.
  void set_filled() noexcept { filled_ = true; }

 private:
  KeptRows<T>* kept_;
  typename KeptRows<T>::Row row_{};
  bool filled_ = false;
};

/// First columns in `kernel_block` must be multiples of this.
inline constexpr std::ptrdiff_t column_step =
    std::max<std::ptrdiff_t>(map_width, panel_width<ByteUnit>);

/// Bytes needed to pack `points` such inputs.
template <class I>
[[nodiscard]] std::size_t packed_bytes(const I& inputs, std::size_t points) {
  if constexpr (DenseInputs<I>) {
    return points * (PreparedInputs<I>::row_bytes(inputs) + sizeof(kernel_scalar_t<I>));
  } else {
    return 0;
  }
}

/// Prepares points of the inputs as columns; without `pack` nothing is copied.
template <class I>
void make_ready(const PreparedInputs<I>& inputs, std::span<const PointIndex> points, bool pack,
                ReadyColumns<kernel_scalar_t<I>>& columns) {
  columns.points = points;
  columns.packed = false;
  if constexpr (DenseInputs<I>) {
    if (pack) pack_columns(inputs, points, columns);
  }
}

/// Computes values[a * ld + b] = k(x_rows[a], z_{first + b}) for `count` prepared columns of z from
/// `first` on, a multiple of `column_step`. The bits are those of `kernel_block` without
/// preparation. \throws KernelValueError if a value is not finite or near overflow.
template <class Kernel, class Left, class Right>
void kernel_block(const Kernel& kernel, const PreparedInputs<Left>& x,
                  std::span<const PointIndex> rows, const PreparedInputs<Right>& z,
                  const ReadyColumns<kernel_scalar_t<Left>>& ready, std::ptrdiff_t first,
                  std::ptrdiff_t count, kernel_scalar_t<Left>* values, std::ptrdiff_t ld,
                  BlockScratch<kernel_scalar_t<Left>>& scratch) {
  if constexpr (DenseInputs<Left> && by_inner_products<Kernel, Left>) {
    if (ready.packed) {
      static_assert(ByteInputs<Left> == ByteInputs<Right>,
                    "both input sets must be bytes, or none: cast one of them");
      packed_block(kernel, x, rows, ready, first, count, values, ld, scratch);
      scratch.evaluations += std::uint64_t(std::ssize(rows) * count);
      return;
    }
  }
  kernel_block(kernel, x, rows, z, slice_of(ready.points, first, count), values, ld, scratch);
}

/// Kernel values computed on request, without a matrix, in O(m) memory. Refers to the inputs.
template <class Kernel, InputSet I>
  requires KernelOn<Kernel, I>
class OnDemandGram : public Gram<kernel_scalar_t<I>> {
 public:
  using Scalar = kernel_scalar_t<I>;

  /// Prepares the inputs and computes the diagonal. `origin` is passed to `PreparedInputs`.
  /// \throws KernelValueError if k(x_i, x_i) is not finite, near overflow or negative.
  OnDemandGram(Kernel kernel, const I& inputs, std::span<const double> origin)
      : OnDemandGram(std::move(kernel), PreparedInputs<I>(inputs, origin)) {}
  /// Computes the origin from the inputs.
  OnDemandGram(Kernel kernel, const I& inputs)
      : OnDemandGram(kernel, inputs, origin_of(kernel, inputs)) {}

  [[nodiscard]] Scalar diagonal(std::ptrdiff_t i) const noexcept override { return diagonal_[i]; }
  [[nodiscard]] bool by_pairs() const noexcept override { return detail::by_pairs<Kernel, I>; }

  /// Returns row i. Cost: m kernel evaluations.
  [[nodiscard]] std::span<const Scalar> row(std::ptrdiff_t i,
                                            BlockScratch<Scalar>& scratch) const override {
    scratch.values.reserve_discarding(this->size());
    block(slice_of(points_, i, 1), points_, scratch.values.data(), this->size(), scratch);
    return slice_of(scratch.values.span(), 0, this->size());
  }

  /// Computes a block. Cost: one kernel evaluation per value. `values` must not lie in the
  /// scratch's own buffers, except `scratch.values`.
  void block(std::span<const PointIndex> rows, std::span<const PointIndex> columns, Scalar* values,
             std::ptrdiff_t ld, BlockScratch<Scalar>& scratch) const override {
    timed(scratch,
          [&] { kernel_block(kernel_, inputs_, rows, inputs_, columns, values, ld, scratch); });
  }

  /// Prepares columns. Cost: a copy of the points' inputs, for kernels of inner products.
  void prepare(std::span<const PointIndex> points, ReadyColumns<Scalar>& columns) const override {
    make_ready(inputs_, points, by_inner_products<Kernel, I>, columns);
  }

  void block(std::span<const PointIndex> rows, const ReadyColumns<Scalar>& columns,
             std::ptrdiff_t first, std::ptrdiff_t count, Scalar* values, std::ptrdiff_t ld,
             BlockScratch<Scalar>& scratch) const override {
    timed(scratch, [&] {
      kernel_block(kernel_, inputs_, rows, inputs_, columns, first, count, values, ld, scratch);
    });
  }

  [[nodiscard]] const Kernel& kernel() const noexcept { return kernel_; }
  [[nodiscard]] const PreparedInputs<I>& inputs() const noexcept { return inputs_; }

 private:
  /// Adds the time of some work to the seconds of the scratch.
  template <class Work>
  static void timed(BlockScratch<Scalar>& scratch, Work&& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    scratch.seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

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
