// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "bpm/core/buffer.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/vector_ops.hpp"

namespace bpm::detail {

/// What a flight in an orthant needs of N(0, S): the rows of S, which reflections add, and the rows
/// of any F with S = F F', which make velocities F z. Rows are padded with zeros to whole
/// registers.
struct OrthantPlanes {
  explicit OrthantPlanes(std::ptrdiff_t n)
      : points(n),
        stride(padded<double>(n)),
        rows(n * stride, 0.0),
        factor(n * stride, 0.0),
        factor_rows(static_cast<std::size_t>(n)) {
    for (std::ptrdiff_t i = 0; i < n; ++i) factor_rows[i] = factor.data() + i * stride;
  }

  [[nodiscard]] const double* row(std::ptrdiff_t i) const noexcept {
    return rows.data() + i * stride;
  }
  [[nodiscard]] double variance(std::ptrdiff_t i) const noexcept { return row(i)[i]; }

  /// velocities = F z for `count` vectors z, one every `stride` in both. Cost: count n^2
  /// multiply-adds; each velocity has the same bits in any block.
  void make_velocities(const double* z, std::ptrdiff_t count, double* velocities) const {
    std::vector<const double*> vectors;
    for (std::ptrdiff_t k = 0; k < count; ++k) vectors.push_back(z + k * stride);
    row_products<ProductTerm, double>(vectors.data(), count, factor_rows.data(), points, stride,
                                      velocities, stride);
    for (std::ptrdiff_t k = 0; k < count; ++k) {
      std::fill(velocities + k * stride + points, velocities + (k + 1) * stride, 0.0);
    }
  }

  std::ptrdiff_t points;
  std::ptrdiff_t stride;
  Buffer<double> rows;
  Buffer<double> factor;
  std::vector<const double*> factor_rows;
};

}  // namespace bpm::detail
