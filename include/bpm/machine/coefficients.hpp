// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/number_panels.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernel_values/panels.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/kernels/kernel.hpp"

/// \file
/// Coefficients and support inputs of a classifier, packed for outputs in blocks.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Coefficients of several classifiers on one list of training points, in panels of classifiers, so
/// that outputs are a product of kernel values with them.
class PackedCoefficients {
 public:
  /// Points per block. Blocks are summed separately and added in order, so that the outputs of an
  /// input have the same bits whether or not threads share its blocks.
  static constexpr std::ptrdiff_t block = 512;

  PackedCoefficients() = default;
  /// Takes a row per point, a column per classifier.
  explicit PackedCoefficients(const RowMatrix<double>& coefficients);

  [[nodiscard]] std::ptrdiff_t classifiers() const noexcept { return classifiers_; }

  /// Computes the outputs of `rows` inputs from their kernel values with all points, block after
  /// block, with the sums of values computed by blocks.
  template <class Scalar>
  void outputs(const Scalar* values, std::ptrdiff_t rows, std::ptrdiff_t ld, double* sums,
               Buffer<double>& widened) const {
    for (std::ptrdiff_t first = 0; first < points_; first += block) {
      add_outputs(values + first, rows, std::min(block, points_ - first), ld, first, first > 0,
                  sums, widened);
    }
  }

  /// Computes sums[r * classifiers + c] = sum over j < cols of values[r * ld + j]
  /// coefficients(first + j, c), plus the old value with `add`. A row makes one fused multiply-add
  /// after the other in the order of j: its outputs have the same bits in a batch of any size.
  template <class Scalar>
  void add_outputs(const Scalar* values, std::ptrdiff_t rows, std::ptrdiff_t cols,
                   std::ptrdiff_t ld, std::ptrdiff_t first, bool add, double* sums,
                   Buffer<double>& widened) const {
    widened.reserve_discarding(panel_rows * cols);
    for (std::ptrdiff_t r = 0; r < rows;) {
      const std::ptrdiff_t height = r + panel_rows <= rows ? panel_rows : 1;
      const double* pointers[panel_rows] = {};
      for (std::ptrdiff_t i = 0; i < height; ++i) {
        pointers[i] = widened.data() + i * cols;
        std::copy_n(values + (r + i) * ld, cols, widened.data() + i * cols);
      }
      for (std::ptrdiff_t c = 0; c < classifiers_; c += width) {
        const std::ptrdiff_t there = std::min(width, classifiers_ - c);
        const double* const panel = panels_.data() + (c * points_ + first * width_of(there));
        double out[panel_rows * width];
        multiply(pointers, height, panel, there, cols, out);
        for (std::ptrdiff_t i = 0; i < height; ++i) {
          double* const to = sums + (r + i) * classifiers_ + c;
          for (std::ptrdiff_t l = 0; l < there; ++l) {
            to[l] = add ? to[l] + out[i * width + l] : out[i * width + l];
          }
        }
      }
      r += height;
    }
  }

 private:
  static constexpr std::ptrdiff_t width = tile_width<double>;

  /// Returns the width of a panel of so many classifiers, in whole registers of a tile.
  [[nodiscard]] static constexpr std::ptrdiff_t width_of(std::ptrdiff_t there) noexcept {
    constexpr std::ptrdiff_t n = lane_count<double>;
    return there <= 2 * n ? (there + n - 1) / n * n : width;
  }
  static void multiply(const double* const* rows, std::ptrdiff_t height, const double* panel,
                       std::ptrdiff_t there, std::ptrdiff_t length, double* out);

  std::ptrdiff_t points_ = 0;
  std::ptrdiff_t classifiers_ = 0;
  Buffer<double> panels_;
};

/// Support inputs packed for blocks of kernel values with them: at once, or, for a view, each block
/// on its first use. Refers to the inputs.
template <InputSet I>
class PackedSupport {
 public:
  static constexpr std::ptrdiff_t width = PackedCoefficients::block;

  /// `origin`: see `PreparedInputs`. `source`: name of a view's data in errors; empty: the caller's
  /// data.
  PackedSupport(const I& inputs, bool pack, std::span<const double> origin,
                std::string_view source = "")
      : inputs_(inputs),
        pack_(pack),
        prepared_([&] {
          if constexpr (InputView<I>)
            return PreparedInputs<I>(inputs, AllocateOnly{}, origin);
          else
            return PreparedInputs<I>(inputs, origin);
        }()),
        points_(first_points(size())),
        blocks_(std::size_t((size() + width - 1) / width)),
        source_(source) {
    if constexpr (InputView<I>) {
      gates_ = std::make_unique<Gate[]>(blocks_.size());
    } else {
      for (std::ptrdiff_t b = 0; b < block_count(); ++b) pack_block(b);
    }
  }
  PackedSupport(const PackedSupport&) = delete;
  PackedSupport& operator=(const PackedSupport&) = delete;

  [[nodiscard]] std::ptrdiff_t size() const noexcept { return prepared_.size(); }
  [[nodiscard]] std::ptrdiff_t block_count() const noexcept { return std::ssize(blocks_); }

  /// Returns all support inputs, not packed. \throws as `block`.
  [[nodiscard]] const PreparedInputs<I>& inputs() const {
    for (std::ptrdiff_t b = 0; b < block_count(); ++b) static_cast<void>(block(b));
    return prepared_;
  }

  /// Returns the support inputs, of which those of blocks that were returned have been read.
  [[nodiscard]] const PreparedInputs<I>& prepared() const noexcept { return prepared_; }

  /// Returns the support inputs from b `width` on, on any thread. A block of a view that throws
  /// once throws on every call. \throws DataError, or std::invalid_argument without a source, on
  /// numbers of a view that are not finite.
  [[nodiscard]] const ReadyColumns<kernel_scalar_t<I>>& block(std::ptrdiff_t b) const {
    if constexpr (InputView<I>) {
      // std::call_once behaves differently after an exception on different systems.
      Gate& gate = gates_[b];
      if (!gate.ready.load(std::memory_order_acquire)) {
        const std::lock_guard lock(gate.mutex);
        if (!gate.ready.load(std::memory_order_relaxed)) {
          read_block(b);
          gate.ready.store(true, std::memory_order_release);
        }
      }
    }
    return blocks_[std::size_t(b)];
  }

 private:
  /// State of a block of a view: whether it has been read.
  struct Gate {
    std::atomic<bool> ready = false;
    std::mutex mutex;
  };

  [[nodiscard]] std::span<const PointIndex> points_of(std::ptrdiff_t b) const {
    return slice_of(points_, b * width, std::min(width, size() - b * width));
  }
  void pack_block(std::ptrdiff_t b) const {
    make_ready(prepared_, points_of(b), pack_, blocks_[std::size_t(b)]);
  }
  void read_block(std::ptrdiff_t b) const {
    const std::ptrdiff_t count = std::ssize(points_of(b));
    try {
      check_inputs(inputs_.middleRows(b * width, count), "Classifier", b * width);
    } catch (const std::invalid_argument& error) {
      ensure<DataError>(source_.empty(), source_, ": ", error.what());
      throw;
    }
    prepared_.prepare(inputs_, b * width, count);
    pack_block(b);
  }

  const I& inputs_;
  bool pack_;
  // For a view, reading a block changes these, once per block.
  mutable PreparedInputs<I> prepared_;
  std::vector<PointIndex> points_;
  mutable std::vector<ReadyColumns<kernel_scalar_t<I>>> blocks_;
  std::unique_ptr<Gate[]> gates_;
  std::string source_;
};

#if BPM_BODIES

BPM_INLINE PackedCoefficients::PackedCoefficients(const RowMatrix<double>& coefficients)
    : points_(coefficients.rows()),
      classifiers_(coefficients.cols()),
      panels_((classifiers_ / width * width + width_of(classifiers_ % width)) * points_) {
  double* to = panels_.data();
  for (std::ptrdiff_t c = 0; c < classifiers_; c += width) {
    const std::ptrdiff_t there = std::min(width, classifiers_ - c);
    const std::ptrdiff_t wide = width_of(there);
    for (std::ptrdiff_t j = 0; j < points_; ++j, to += wide) {
      std::fill(std::copy_n(coefficients.data() + j * classifiers_ + c, there, to), to + wide, 0.0);
    }
  }
}

BPM_INLINE void PackedCoefficients::multiply(const double* const* rows, std::ptrdiff_t height,
                                             const double* panel, std::ptrdiff_t there,
                                             std::ptrdiff_t length, double* out) {
  constexpr int n = lane_count<double>;
  const auto tile = [&]<int N>() {
    constexpr std::ptrdiff_t wide = std::ptrdiff_t{N} * n;
    if (height == panel_rows) {
      panel_tile<NumberProducts<double>, panel_rows, N, wide, false>(rows, panel, nullptr, length,
                                                                     false, out, width);
    } else {
      panel_tile<NumberProducts<double>, 1, N, wide, false>(rows, panel, nullptr, length, false,
                                                            out, width);
    }
  };
  if (there <= n) {
    tile.template operator()<1>();
  } else if (there <= 2 * n) {
    tile.template operator()<2>();
  } else {
    tile.template operator()<panel_registers>();
  }
}

#endif

}}}  // namespace bpm::detail
