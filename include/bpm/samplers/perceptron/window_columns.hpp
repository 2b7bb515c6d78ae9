// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include "bpm/kernels/inputs.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm::detail {

/// The points of a window as columns of blocks of kernel values: made ready once, on first use, by
/// version spaces that offer it, else a list of points.
template <class Space>
class WindowColumns {
 public:
  void start(std::span<const PointIndex> points) {
    points_ = points;
    ready_ = false;
  }

  [[nodiscard]] std::span<const PointIndex> points() const noexcept { return points_; }

  /// values[a * ld + b] = K_{rows[a] points[b]}.
  template <class Scalar, class Scratch>
  void block(const Space& space, std::span<const PointIndex> rows, Scalar* values,
             std::ptrdiff_t ld, Scratch& scratch) {
    if constexpr (ColumnSpace<Space>) {
      if (!ready_) {
        space.prepare(points_, columns_);
        ready_ = true;
      }
      space.block(rows, columns_, values, ld, scratch);
    } else {
      space.block(rows, points_, values, ld, scratch);
    }
  }

 private:
  struct None {};
  template <class S>
  struct Columns {
    using type = None;
  };
  template <ColumnSpace S>
  struct Columns<S> {
    using type = typename S::Columns;
  };

  std::span<const PointIndex> points_;
  bool ready_ = false;
  typename Columns<Space>::type columns_;
};

}  // namespace bpm::detail
