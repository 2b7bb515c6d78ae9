// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernel_values/panels.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

template <class T>
class KeptRows;
template <class T>
class LinearInputs;

/// Kernel values on the training set, K_ij = k(x_i, x_j), from any source: the interface of kernels
/// and inputs for perceptrons and version spaces. One virtual call per row or block.
///
/// All functions are const and may be called from several threads, each with a scratch of its own.
/// A value has the same bits in every function. Indices are not checked.
template <class T>
class Gram {
 public:
  using Scalar = T;
  using Scratch = BlockScratch<T>;

  virtual ~Gram() = default;

  /// \throws std::invalid_argument if a unit compiled for another target made this object.
  void check_target() const { made_for_.check("Gram"); }
  /// Number of training points m.
  [[nodiscard]] std::ptrdiff_t size() const noexcept { return size_; }
  /// Diagonal entry K_ii, always in memory.
  [[nodiscard]] virtual T diagonal(std::ptrdiff_t i) const noexcept = 0;
  /// True if a row costs no kernel evaluations.
  [[nodiscard]] virtual bool rows_in_memory() const noexcept { return false; }
  /// True if values are computed pair by pair: expensive, and no cheaper in blocks.
  [[nodiscard]] virtual bool by_pairs() const noexcept { return false; }

  /// Returns the m values K_i., valid until the scratch is used again.
  [[nodiscard]] virtual std::span<const T> row(std::ptrdiff_t i, Scratch& scratch) const = 0;
  /// Computes values[a * ld + b] = K_{rows[a] columns[b]}.
  virtual void block(std::span<const PointIndex> rows, std::span<const PointIndex> columns,
                     T* values, std::ptrdiff_t ld, Scratch& scratch) const = 0;
  /// Prepares points, which must outlive `columns`, as columns of the blocks of the next function.
  virtual void prepare(std::span<const PointIndex> points, ReadyColumns<T>& columns) const {
    columns.points = points;
  }
  /// Computes a block with `count` prepared columns from `first` on, a multiple of
  /// `column_step`.
  virtual void block(std::span<const PointIndex> rows, const ReadyColumns<T>& columns,
                     std::ptrdiff_t first, std::ptrdiff_t count, T* values, std::ptrdiff_t ld,
                     Scratch& scratch) const {
    block(rows, slice_of(columns.points, first, count), values, ld, scratch);
  }

  /// Storage for rows that are kept from draw to draw; null: none.
  [[nodiscard]] KeptRows<T>* kept_rows() const noexcept { return kept_rows_.get(); }
  /// Inputs of a linear kernel, for a sampler that updates w and needs no kernel values; null: the
  /// sampler needs kernel values.
  [[nodiscard]] const LinearInputs<T>* linear_inputs() const noexcept {
    return linear_inputs_.get();
  }

  void set_kept_rows(std::shared_ptr<KeptRows<T>> rows) noexcept { kept_rows_ = std::move(rows); }
  void set_linear_inputs(std::shared_ptr<const LinearInputs<T>> inputs) noexcept {
    linear_inputs_ = std::move(inputs);
  }

  /// False if the values in memory are not complete, since their computation was stopped.
  [[nodiscard]] bool complete() const noexcept { return complete_; }
  /// Number of kernel evaluations for the values in memory; and the thread-seconds spent on them
  /// divided by the threads.
  [[nodiscard]] std::uint64_t evaluations() const noexcept { return evaluations_; }
  [[nodiscard]] double seconds() const noexcept { return seconds_; }

 protected:
  explicit Gram(std::ptrdiff_t size) : size_(size) {}
  Gram(const Gram&) = default;
  Gram(Gram&&) noexcept = default;
  Gram& operator=(const Gram&) = default;
  Gram& operator=(Gram&&) noexcept = default;

 private:
  MadeFor made_for_;  // `made_for_` must be the first member.
  std::ptrdiff_t size_;
  std::shared_ptr<KeptRows<T>> kept_rows_;
  std::shared_ptr<const LinearInputs<T>> linear_inputs_;

 protected:
  bool complete_ = true;
  std::uint64_t evaluations_ = 0;
  double seconds_ = 0;
};

/// A part of a matrix: values (row + a, column + b) for a < height, b < width.
struct Tile {
  std::ptrdiff_t row;
  std::ptrdiff_t column;
  std::ptrdiff_t height;
  std::ptrdiff_t width;
};

/// Calls work(worker, tile, tiles) for the `tiles` squares of side `side` that cover the triangle
/// of a symmetric m x m matrix, diagonal included, on up to `threads` threads.
template <class Work>
void for_each_triangle_tile(unsigned threads, std::ptrdiff_t m, std::ptrdiff_t side, Work&& work) {
  const std::ptrdiff_t across = (m + side - 1) / side;
  const std::ptrdiff_t tiles = across * (across + 1) / 2;
  parallel_for(threads, tiles, [&](unsigned worker, std::ptrdiff_t n) {
    // Row and column of the n-th tile of the triangle, counted row by row.
    auto i = static_cast<std::ptrdiff_t>((std::sqrt(8.0 * double(n) + 1) - 1) / 2);
    while (i * (i + 1) / 2 > n) --i;
    while ((i + 1) * (i + 2) / 2 <= n) ++i;
    const std::ptrdiff_t row = i * side;
    const std::ptrdiff_t column = (n - i * (i + 1) / 2) * side;
    work(worker, Tile{row, column, std::min(side, m - row), std::min(side, m - column)}, tiles);
  });
}

/// The whole symmetric kernel matrix in memory, m^2 values in row-major order.
template <class T>
class DenseGram : public Gram<T> {
 public:
  using Scratch = typename Gram<T>::Scratch;
  using Gram<T>::block;

  /// Computes the matrix from another source of values, tile by tile: each pair once, except twice
  /// within the tiles of 512 points on the diagonal; the mirror image is copied. `go_on(fraction)`
  /// is called after each tile, from one thread at a time; false ends the computation early and
  /// leaves `complete()` false. `threads` 0: as many as the machine runs. Cost: m (m + tile) / 2
  /// kernel evaluations, 2 reads and writes per value.
  explicit DenseGram(const Gram<T>& source, unsigned threads = 1,
                     const std::function<bool(double)>& go_on = {})
      : DenseGram(Buffer<T>(source.size() * source.size()), source.size()) {
    threads = thread_count(threads);
    std::vector<BlockScratch<T>> scratch(threads);
    const std::vector<PointIndex> points = first_points(this->size());
    std::atomic<bool> stopped{false};
    std::ptrdiff_t done = 0;
    std::mutex mutex;
    for_each_triangle_tile(
        threads, this->size(), 512, [&](unsigned worker, const Tile& tile, std::ptrdiff_t tiles) {
          if (stopped) {
            return;
          }
          const std::span<const PointIndex> all(points);
          source.block(slice_of(all, tile.row, tile.height), slice_of(all, tile.column, tile.width),
                       owned_.data() + tile.row * this->size() + tile.column, this->size(),
                       scratch[worker]);
          if (tile.row != tile.column) mirror(tile);
          const std::scoped_lock lock(mutex);
          if (go_on && !go_on(static_cast<double>(++done) / static_cast<double>(tiles))) {
            stopped = true;
          }
        });
    this->complete_ = !stopped;
    for (const auto& s : scratch) {
      this->evaluations_ += s.evaluations;
      this->seconds_ += s.seconds / threads;
    }
  }

  /// Stores given values: a symmetric m x m matrix, row after row.
  DenseGram(Buffer<T> values, std::ptrdiff_t m)
      : Gram<T>(m), owned_(std::move(values)), values_(owned_.data()) {}

  /// Bytes that a matrix of m points needs.
  [[nodiscard]] static std::size_t bytes_needed(std::size_t m) noexcept {
    return m * m * sizeof(T);
  }

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
        values[b] = values_[i * this->size() + columns[std::size_t(b)]];
      }
      values += ld;
    }
  }

 protected:
  /// Refers to values of another owner.
  DenseGram(const T* values, std::ptrdiff_t m) : Gram<T>(m), values_(values) {}

 private:
  /// Copies a tile to its mirror image, in squares that fit the first-level cache.
  void mirror(const Tile& tile) {
    constexpr std::ptrdiff_t square = 32;
    for (std::ptrdiff_t a0 = 0; a0 < tile.height; a0 += square) {
      for (std::ptrdiff_t b0 = 0; b0 < tile.width; b0 += square) {
        for (std::ptrdiff_t b = b0; b < std::min(tile.width, b0 + square); ++b) {
          for (std::ptrdiff_t a = a0; a < std::min(tile.height, a0 + square); ++a) {
            const std::ptrdiff_t i = tile.row + a;
            const std::ptrdiff_t j = tile.column + b;
            owned_[j * this->size() + i] = owned_[i * this->size() + j];
          }
        }
      }
    }
  }

  Buffer<T> owned_;
  const T* values_;
};

}  // namespace detail

/// A kernel matrix given by the user, m x m, held by reference.
template <class T>
class PrecomputedGram : public detail::DenseGram<T> {
 public:
  /// \throws std::invalid_argument unless the matrix is square, not empty, finite, symmetric to
  /// sqrt(epsilon) of the largest entry, and not negative on the diagonal; the message names the
  /// first entry that violates this.
  /// Cost: one pass over the matrix.
  explicit PrecomputedGram(const RowMatrix<T>& values)
      : detail::DenseGram<T>(values.data(), values.rows()) {
    check(values);
  }

  /// Deleted: a temporary matrix (such as a conversion from another type) would not outlive this.
  explicit PrecomputedGram(const RowMatrix<T>&& values) = delete;

  /// Checks a matrix. \throws std::invalid_argument as the constructor.
  static void check(const Eigen::Ref<const RowMatrix<T>>& values) {
    const char* const function = "PrecomputedGram";
    const Eigen::Index m = values.rows();
    detail::check(m > 0, function, "values",
                  "is empty, must have one row and one column per point");
    detail::check(values.cols() == m, function, "values", "is ", m, " x ", values.cols(),
                  ", must be square");
    for (Eigen::Index i = 0; i < m; ++i) {
      for (Eigen::Index j = 0; j < m; ++j) {
        detail::check(std::abs(values(i, j)) <= detail::largest_kernel_value<T>, function, "values",
                      "at (", i, ", ", j, ") is ", values(i, j), ", must be finite and below ",
                      detail::largest_kernel_value<T>, " in size");
      }
    }
    const T tolerance = values.cwiseAbs().maxCoeff() * std::sqrt(std::numeric_limits<T>::epsilon());
    for (Eigen::Index i = 0; i < m; ++i) {
      detail::check(values(i, i) >= 0, function, "values", "at (", i, ", ", i, ") is ",
                    values(i, i), ", must not be negative");
      for (Eigen::Index j = 0; j < i; ++j) {
        detail::check(std::abs(values(i, j) - values(j, i)) <= tolerance, function, "values",
                      "at (", i, ", ", j, ") is ", values(i, j), " but at (", j, ", ", i, ") ",
                      values(j, i), ": must be symmetric");
      }
    }
  }
};

}}  // namespace bpm
