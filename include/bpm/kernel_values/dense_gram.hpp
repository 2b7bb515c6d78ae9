// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/buffer.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/gram.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

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
    // The n-th tile, row by row.
    auto i = static_cast<std::ptrdiff_t>((std::sqrt(8.0 * n + 1) - 1) / 2);
    while (i * (i + 1) / 2 > n) --i;
    while ((i + 1) * (i + 2) / 2 <= n) ++i;
    const std::ptrdiff_t row = i * side;
    const std::ptrdiff_t column = (n - i * (i + 1) / 2) * side;
    work(worker, Tile{row, column, std::min(side, m - row), std::min(side, m - column)}, tiles);
  });
}

/// The whole symmetric kernel matrix in memory, m^2 values in row-major order.
template <class T>
class DenseGram : public MatrixGram<T> {
 public:
  /// Computes the matrix from another source of values, tile by tile: each pair once, but twice
  /// within the tiles of 512 points on the diagonal; the mirror image copied. `go_on(fraction)` is
  /// called after each tile, from one thread at a time; false ends the computation early and leaves
  /// `complete()` false. `threads` 0: as many as the machine runs.
  /// Cost: m (m + tile) / 2 kernel evaluations, 2 reads and writes a value.
  template <class GoOn>
  DenseGram(const Gram<T>& source, unsigned threads, GoOn&& go_on)
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
          source.block(all.subspan(tile.row, tile.height), all.subspan(tile.column, tile.width),
                       values_.data() + tile.row * this->size() + tile.column, this->size(),
                       scratch[worker]);
          if (tile.row != tile.column) mirror(tile);
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

  explicit DenseGram(const Gram<T>& source, unsigned threads = 1)
      : DenseGram(source, threads, [](double) { return true; }) {}

  /// Of values that are there: a symmetric m x m matrix, row after row.
  DenseGram(Buffer<T> values, std::ptrdiff_t m)
      : MatrixGram<T>(values.data(), m), values_(std::move(values)) {
    complete_ = true;
  }

  /// Bytes that the matrix of m points takes.
  [[nodiscard]] static std::size_t bytes_needed(std::size_t m) noexcept {
    return m * m * sizeof(T);
  }

  /// False if the computation was stopped: the values are then not all there.
  [[nodiscard]] bool complete() const noexcept { return complete_; }
  /// Kernel evaluations made, and thread-seconds over threads spent on them.
  [[nodiscard]] std::uint64_t evaluations() const noexcept { return evaluations_; }
  [[nodiscard]] double seconds() const noexcept { return seconds_; }

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
            values_[j * this->size() + i] = values_[i * this->size() + j];
          }
        }
      }
    }
  }

  Buffer<T> values_;
  bool complete_ = false;
  std::uint64_t evaluations_ = 0;
  double seconds_ = 0;
};

}}}  // namespace bpm::detail
