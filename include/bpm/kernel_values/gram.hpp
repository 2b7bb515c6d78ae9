// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Kernel values on the training set, K_ij = k(x_i, x_j), wherever they come from.
///
///  - `size()`: the number m of training points;
///  - `diagonal(i)`: K_ii, always in memory;
///  - `row(i, scratch)`: the m values K_i., valid until the scratch is used again;
///  - `block(rows, cols, values, ld, scratch)`: values[a * ld + b] = K_{rows[a] cols[b]};
///  - `rows_in_memory()`: whether a row costs no kernel evaluations, so that a sampler may choose
///    between walking rows and asking for blocks.
///
/// All are const and may be called from several threads, each with a scratch of its own. A value is
/// the same bits by whichever call it is read. Indices are not checked.
/// Satisfied by `DenseGram`, `OnDemandGram`, `PrecomputedGram`.
template <class G>
concept GramAccess =
    requires(const G& gram, std::ptrdiff_t i, std::span<const PointIndex> points,
             typename G::Scalar* values, BlockScratch<typename G::Scalar>& scratch) {
      { gram.size() } -> std::convertible_to<std::ptrdiff_t>;
      { gram.diagonal(i) } -> std::convertible_to<typename G::Scalar>;
      { gram.row(i, scratch) } -> std::convertible_to<std::span<const typename G::Scalar>>;
      gram.block(points, points, values, i, scratch);
      { gram.rows_in_memory() } -> std::convertible_to<bool>;
    };

/// Kernel values that can make columns of blocks ready, so that asking for several blocks on the
/// same columns packs them once: `prepare(points, columns)`, then `block(rows, columns, ...)` with
/// the values of `block(rows, points, ...)`. `points` must outlive `columns`. Satisfied by
/// `OnDemandGram`.
template <class G>
concept ColumnGram =
    GramAccess<G> && requires(const G& gram, std::ptrdiff_t ld, std::span<const PointIndex> points,
                              typename G::Columns& columns, typename G::Scalar* values,
                              BlockScratch<typename G::Scalar>& scratch) {
      gram.prepare(points, columns);
      gram.block(points, columns, values, ld, scratch);
    };

/// Values of a kernel that may be linear in its inputs: `linear_rows()` are these (`LinearRows`),
/// or null. Satisfied by `OnDemandGram` and the version spaces on it.
template <class Values>
concept LinearGram = requires(const Values& values) { values.linear_rows()->size(); };

/// A kernel matrix in memory: m x m values in row-major order, held by the class derived from this.
template <class T>
class MatrixGram {
 public:
  using Scalar = T;

  [[nodiscard]] std::ptrdiff_t size() const noexcept { return size_; }
  [[nodiscard]] T diagonal(std::ptrdiff_t i) const noexcept { return values_[i * size_ + i]; }
  [[nodiscard]] bool rows_in_memory() const noexcept { return true; }

  [[nodiscard]] std::span<const T> row(std::ptrdiff_t i, BlockScratch<T>& /*scratch*/) const {
    return {values_ + i * size_, static_cast<std::size_t>(size_)};
  }

  void block(std::span<const PointIndex> rows, std::span<const PointIndex> columns, T* values,
             std::ptrdiff_t ld, BlockScratch<T>& /*scratch*/) const {
    for (const PointIndex i : rows) {
      for (std::ptrdiff_t b = 0; b < std::ssize(columns); ++b) {
        values[b] = values_[i * size_ + columns[b]];
      }
      values += ld;
    }
  }

 protected:
  MatrixGram(const T* values, std::ptrdiff_t size) : values_(values), size_(size) {}

 private:
  const T* values_;
  std::ptrdiff_t size_;
};

}}}  // namespace bpm::detail
