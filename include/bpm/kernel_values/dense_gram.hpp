// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "bpm/core/buffer.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernels/inputs.hpp"

namespace bpm::detail {

/// The whole symmetric kernel matrix in memory, m^2 values in row-major order.
template <class T>
class DenseGram {
 public:
  using Scalar = T;

  /// Computes the matrix from another source of values, tile by tile: each pair once, the mirror
  /// image copied. `go_on(fraction)` is called after each tile, from one thread at a time; false
  /// ends the computation early and leaves `complete()` false.
  /// `threads` 0: as many as the machine runs.
  /// Cost: m (m + tile) / 2 kernel evaluations, 2 reads and writes a value.
  template <GramAccess Source, class GoOn>
  DenseGram(const Source& source, unsigned threads, GoOn&& go_on)
      : size_(source.size()), values_(size_ * size_) {
    const std::ptrdiff_t side = (size_ + tile - 1) / tile;
    const std::ptrdiff_t tiles = side * (side + 1) / 2;
    threads = thread_count(threads);
    std::vector<BlockScratch<T>> scratch(threads);
    Buffer<PointIndex> points(size_);
    for (std::ptrdiff_t i = 0; i < size_; ++i) points[i] = static_cast<PointIndex>(i);
    std::atomic<bool> stopped{false};
    std::ptrdiff_t done = 0;
    std::mutex mutex;
    parallel_for(threads, tiles, [&](unsigned worker, std::ptrdiff_t n) {
      if (stopped) {
        return;
      }
      const auto [row, col] = lower_tile(n);
      const std::ptrdiff_t i = row * tile;
      const std::ptrdiff_t j = col * tile;
      const std::ptrdiff_t height = std::min(tile, size_ - i);
      const std::ptrdiff_t width = std::min(tile, size_ - j);
      source.block(points.span().subspan(std::size_t(i), std::size_t(height)),
                   points.span().subspan(std::size_t(j), std::size_t(width)),
                   values_.data() + i * size_ + j, size_, scratch[worker]);
      if (i != j) {
        mirror(i, j, height, width);
      }
      const std::scoped_lock lock(mutex);
      if (!go_on(static_cast<double>(++done) / static_cast<double>(tiles))) {
        stopped = true;
      }
    });
    complete_ = !stopped;
    for (const auto& s : scratch) {
      evaluations_ += s.evaluations;
      seconds_ += s.seconds / threads;
    }
  }

  template <GramAccess Source>
  explicit DenseGram(const Source& source, unsigned threads = 1)
      : DenseGram(source, threads, [](double) { return true; }) {}

  /// Bytes that the matrix of m points takes.
  [[nodiscard]] static std::size_t bytes_needed(std::ptrdiff_t m) noexcept {
    return static_cast<std::size_t>(m) * static_cast<std::size_t>(m) * sizeof(T);
  }

  [[nodiscard]] std::ptrdiff_t size() const noexcept { return size_; }
  [[nodiscard]] T diagonal(std::ptrdiff_t i) const noexcept { return values_[i * size_ + i]; }
  [[nodiscard]] bool rows_in_memory() const noexcept { return true; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_needed(size_); }
  /// False if the computation was stopped: the values are then not all there.
  [[nodiscard]] bool complete() const noexcept { return complete_; }
  /// Kernel evaluations made, and thread-seconds over threads spent on them.
  [[nodiscard]] std::uint64_t evaluations() const noexcept { return evaluations_; }
  [[nodiscard]] double seconds() const noexcept { return seconds_; }

  [[nodiscard]] std::span<const T> row(std::ptrdiff_t i, BlockScratch<T>& /*scratch*/) const {
    return {values_.data() + i * size_, static_cast<std::size_t>(size_)};
  }

  void block(std::span<const PointIndex> rows, std::span<const PointIndex> cols, T* values,
             std::ptrdiff_t ld, BlockScratch<T>& /*scratch*/) const {
    for (std::size_t a = 0; a < rows.size(); ++a) {
      const T* const row = values_.data() + rows[a] * size_;
      T* const out = values + static_cast<std::ptrdiff_t>(a) * ld;
      for (std::size_t b = 0; b < cols.size(); ++b) {
        out[b] = row[cols[b]];
      }
    }
  }

 private:
  static constexpr std::ptrdiff_t tile = 512;

  struct Tile {
    std::ptrdiff_t row;
    std::ptrdiff_t col;
  };

  /// The n-th tile of the lower triangle, row by row.
  static Tile lower_tile(std::ptrdiff_t n) {
    auto row = static_cast<std::ptrdiff_t>((std::sqrt(8.0 * static_cast<double>(n) + 1) - 1) / 2);
    while (row * (row + 1) / 2 > n) --row;
    while ((row + 1) * (row + 2) / 2 <= n) ++row;
    return {row, n - row * (row + 1) / 2};
  }

  /// Copies the tile at (i, j) to (j, i), in squares that fit the first-level cache.
  void mirror(std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t height, std::ptrdiff_t width) {
    constexpr std::ptrdiff_t square = 32;
    for (std::ptrdiff_t a0 = 0; a0 < height; a0 += square) {
      for (std::ptrdiff_t b0 = 0; b0 < width; b0 += square) {
        for (std::ptrdiff_t b = b0; b < std::min(width, b0 + square); ++b) {
          for (std::ptrdiff_t a = a0; a < std::min(height, a0 + square); ++a) {
            values_[(j + b) * size_ + i + a] = values_[(i + a) * size_ + j + b];
          }
        }
      }
    }
  }

  std::ptrdiff_t size_;
  Buffer<T> values_;
  bool complete_ = false;
  std::uint64_t evaluations_ = 0;
  double seconds_ = 0;
};

}  // namespace bpm::detail
