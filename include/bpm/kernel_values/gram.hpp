// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/panels.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

template <class T>
class KeptRows;
template <class T>
class LinearInputs;

/// Points as the columns of blocks of kernel values that will be asked for several times, made
/// ready once: of kernels of inner products on dense inputs packed, else the list alone. Refers to
/// the list of points. Reusing one allocates nothing.
template <class T>
struct ReadyColumns {
  std::span<const PointIndex> points;
  bool packed = false;
  PackedColumns<T> panels;
};

/// Kernel values on the training set, K_ij = k(x_i, x_j), wherever they come from: what perceptrons
/// and version spaces know of kernels and inputs. One virtual call per row or block.
///
/// All functions are const and may be called from several threads, each with a scratch of its own.
/// A value is the same bits by whichever call it is read. Indices are not checked.
template <class T>
class Gram {
 public:
  using Scalar = T;
  using Scratch = BlockScratch<T>;

  virtual ~Gram() = default;

  /// The number m of training points.
  [[nodiscard]] std::ptrdiff_t size() const noexcept { return size_; }
  /// K_ii, always in memory.
  [[nodiscard]] virtual T diagonal(std::ptrdiff_t i) const noexcept = 0;
  /// Whether a row costs no kernel evaluations.
  [[nodiscard]] virtual bool rows_in_memory() const noexcept { return false; }
  /// Whether values are computed pair by pair: dear, and no cheaper in blocks.
  [[nodiscard]] virtual bool by_pairs() const noexcept { return false; }

  /// The m values K_i., valid until the scratch is used again.
  [[nodiscard]] virtual std::span<const T> row(std::ptrdiff_t i, Scratch& scratch) const = 0;
  /// values[a * ld + b] = K_{rows[a] columns[b]}.
  virtual void block(std::span<const PointIndex> rows, std::span<const PointIndex> columns,
                     T* values, std::ptrdiff_t ld, Scratch& scratch) const = 0;
  /// Makes points, which must outlive `columns`, ready as columns of the next function's blocks.
  virtual void prepare(std::span<const PointIndex> points, ReadyColumns<T>& columns) const {
    columns.points = points;
  }
  /// The `count` columns from `first` on, a multiple of `column_step`, of those made ready.
  virtual void block(std::span<const PointIndex> rows, const ReadyColumns<T>& columns,
                     std::ptrdiff_t first, std::ptrdiff_t count, T* values, std::ptrdiff_t ld,
                     Scratch& scratch) const {
    block(rows, columns.points.subspan(first, count), values, ld, scratch);
  }

  /// Asks for a point's inputs before they are needed.
  virtual void prefetch(std::ptrdiff_t /*i*/) const {}

  /// All points in their order, ready as columns; null: not made ready.
  [[nodiscard]] const ReadyColumns<T>* all_columns() const noexcept { return all_columns_; }
  /// Where rows may be kept from draw to draw; null: nowhere.
  [[nodiscard]] KeptRows<T>* kept_rows() const noexcept { return kept_rows_; }
  /// The inputs of a linear kernel, for a sampler that then keeps w and asks for no kernel values;
  /// null: it asks for them.
  [[nodiscard]] const LinearInputs<T>* linear_inputs() const noexcept { return linear_inputs_; }

  void set_all_columns(const ReadyColumns<T>* columns) noexcept { all_columns_ = columns; }
  void set_kept_rows(KeptRows<T>* rows) noexcept { kept_rows_ = rows; }
  void set_linear_inputs(const LinearInputs<T>* inputs) noexcept { linear_inputs_ = inputs; }

 protected:
  explicit Gram(std::ptrdiff_t size) : size_(size) {}
  Gram(const Gram&) = default;
  Gram(Gram&&) noexcept = default;
  Gram& operator=(const Gram&) = default;
  Gram& operator=(Gram&&) noexcept = default;

 private:
  std::ptrdiff_t size_;
  const ReadyColumns<T>* all_columns_ = nullptr;
  KeptRows<T>* kept_rows_ = nullptr;
  const LinearInputs<T>* linear_inputs_ = nullptr;
};

/// A kernel matrix in memory: m x m values in row-major order, held by the class derived from this.
template <class T>
class MatrixGram : public Gram<T> {
 public:
  using Scratch = typename Gram<T>::Scratch;
  using Gram<T>::block;

  [[nodiscard]] T diagonal(std::ptrdiff_t i) const noexcept final {
    return values_[i * this->size() + i];
  }
  [[nodiscard]] bool rows_in_memory() const noexcept final { return true; }

  [[nodiscard]] std::span<const T> row(std::ptrdiff_t i, Scratch& /*scratch*/) const final {
    return {values_ + i * this->size(), static_cast<std::size_t>(this->size())};
  }

  void block(std::span<const PointIndex> rows, std::span<const PointIndex> columns, T* values,
             std::ptrdiff_t ld, Scratch& /*scratch*/) const final {
    for (const PointIndex i : rows) {
      for (std::ptrdiff_t b = 0; b < std::ssize(columns); ++b) {
        values[b] = values_[i * this->size() + columns[b]];
      }
      values += ld;
    }
  }

 protected:
  MatrixGram(const T* values, std::ptrdiff_t size) : Gram<T>(size), values_(values) {}

 private:
  const T* values_;
};

}}}  // namespace bpm::detail
