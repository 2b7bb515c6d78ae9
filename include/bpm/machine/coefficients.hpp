// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>

#include "bpm/core/buffer.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/panels.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Coefficients of several classifiers on one list of training points, in panels of classifiers, so
/// that outputs are a product of kernel values with them.
class PackedCoefficients {
 public:
  /// Points a block. Their sums are made apart and added in order, so that the outputs of an input
  /// are the same bits whether or not threads share its blocks.
  static constexpr std::ptrdiff_t block = 512;

  PackedCoefficients() = default;
  /// A row per point, a column per classifier. Without `pack` refers to the matrix, and packs what
  /// is asked for each time.
  explicit PackedCoefficients(const RowMatrix<double>& coefficients, bool pack = true)
      : points_(coefficients.rows()),
        classifiers_(coefficients.cols()),
        unpacked_(pack ? nullptr : coefficients.data()),
        panels_(pack ? packed_size(points_) : 0) {
    if (pack) pack_points(coefficients.data(), 0, points_, panels_.data());
  }

  [[nodiscard]] std::ptrdiff_t classifiers() const noexcept { return classifiers_; }

  /// The outputs of `rows` inputs from their kernel values with all points: block after block, as
  /// they are summed where the values are computed by blocks.
  template <class Scalar>
  void outputs(const Scalar* values, std::ptrdiff_t rows, std::ptrdiff_t ld, double* sums,
               Buffer<double>& widened) const {
    for (std::ptrdiff_t first = 0; first < points_; first += block) {
      add_outputs(values + first, rows, std::min(block, points_ - first), ld, first, first > 0,
                  sums, widened);
    }
  }

  /// sums[r * classifiers + c] = sum over j < cols of values[r * ld + j] coefficients(first + j,
  /// c), added to what is there with `add`. One fused multiply-add after the other in the order of
  /// j for each row: an input's outputs are the same bits in a batch of any size.
  template <class Scalar>
  void add_outputs(const Scalar* values, std::ptrdiff_t rows, std::ptrdiff_t cols,
                   std::ptrdiff_t ld, std::ptrdiff_t first, bool add, double* sums,
                   Buffer<double>& widened) const {
    widened.reserve_discarding((unpacked_ == nullptr ? 0 : packed_size(cols)) + panel_rows * cols);
    double* const rows_of_values = widened.data() + (widened.size() - panel_rows * cols);
    if (unpacked_ != nullptr) pack_points(unpacked_, first, cols, widened.data());
    for (std::ptrdiff_t r = 0; r < rows;) {
      const std::ptrdiff_t height = r + panel_rows <= rows ? panel_rows : 1;
      const double* pointers[panel_rows] = {};
      for (std::ptrdiff_t i = 0; i < height; ++i) {
        std::copy_n(values + (r + i) * ld, cols, rows_of_values + i * cols);
        pointers[i] = rows_of_values + i * cols;
      }
      for (std::ptrdiff_t c = 0; c < classifiers_; c += width) {
        const double* const panel = unpacked_ == nullptr
                                        ? panels_.data() + (c * points_ + first * width)
                                        : widened.data() + c * cols;
        const std::ptrdiff_t there = std::min(width, classifiers_ - c);
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
  static constexpr std::ptrdiff_t width = panel_width<double>;

  /// Numbers that the panels of so many points take.
  [[nodiscard]] std::ptrdiff_t packed_size(std::ptrdiff_t points) const noexcept {
    return panel_count<double>(classifiers_) * width * points;
  }

  /// The panels of `count` points from `first` on.
  void pack_points(const double* coefficients, std::ptrdiff_t first, std::ptrdiff_t count,
                   double* to) const {
    for (std::ptrdiff_t c = 0; c < classifiers_; c += width) {
      const std::ptrdiff_t there = std::min(width, classifiers_ - c);
      for (std::ptrdiff_t j = first; j < first + count; ++j, to += width) {
        std::fill(std::copy_n(coefficients + j * classifiers_ + c, there, to), to + width, 0.0);
      }
    }
  }

  static void multiply(const double* const* rows, std::ptrdiff_t height, const double* panel,
                       std::ptrdiff_t there, std::ptrdiff_t length, double* out) {
    constexpr int n = lane_count<double>;
    const auto tile = [&]<int N>() {
      if (height == panel_rows) {
        panel_tile<double, panel_rows, N, false>(rows, panel, nullptr, length, false, out, width);
      } else {
        panel_tile<double, 1, N, false>(rows, panel, nullptr, length, false, out, width);
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

  std::ptrdiff_t points_ = 0;
  std::ptrdiff_t classifiers_ = 0;
  const double* unpacked_ = nullptr;
  Buffer<double> panels_;
};

}}}  // namespace bpm::detail
