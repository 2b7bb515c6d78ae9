// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <string_view>

#include "bpm/core/errors.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// The shape of one-channel images: each is rows * columns bytes, row by row from the top.
struct ImageShape {
  Eigen::Index rows = 0;
  Eigen::Index columns = 0;

  /// Bytes of an image.
  [[nodiscard]] Eigen::Index size() const noexcept { return rows * columns; }

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("rows", self.rows);
    visit("columns", self.columns);
  }

  friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

namespace detail {

/// Throws unless images have 1 to 4096 rows and columns.
inline void check_shape(std::string_view function, const ImageShape& shape) {
  constexpr Eigen::Index most = 4096;
  check(shape.rows >= 1 && shape.rows <= most && shape.columns >= 1 && shape.columns <= most,
        function, "shape", "is ", shape.rows, " x ", shape.columns, ", must be 1 to ", most,
        " rows and columns");
}

/// Throws unless every row holds an image of this shape.
template <class Images>
void check_images(std::string_view function, const Images& images, const ImageShape& shape) {
  check(images.cols() == shape.size(), function, "images", "has ", images.cols(),
        " bytes a row, expected ", shape.size(), " (", shape.rows, " x ", shape.columns, ")");
}

/// Images take microseconds: threads fetch them in blocks of so many.
inline constexpr Eigen::Index image_block = 64;

[[nodiscard]] constexpr Eigen::Index image_blocks(Eigen::Index count) {
  return (count + image_block - 1) / image_block;
}

/// The threads that work on `count` images when `wanted` are asked for of `function` (0: as many as
/// the machine runs). \throws std::invalid_argument as `thread_count`.
[[nodiscard]] inline unsigned image_workers(unsigned wanted, Eigen::Index count,
                                            std::string_view function) {
  return static_cast<unsigned>(
      std::clamp<Eigen::Index>(image_blocks(count), 1, thread_count(wanted, function)));
}

/// Calls use(worker, i) for each of `count` images on up to `threads` threads.
template <class Use>
void for_each_image(unsigned threads, Eigen::Index count, Use&& use) {
  parallel_for(threads, image_blocks(count), [&](unsigned worker, std::ptrdiff_t b) {
    const Eigen::Index end = std::min(count, (b + 1) * image_block);
    for (Eigen::Index i = b * image_block; i < end; ++i) use(worker, i);
  });
}

}  // namespace detail
}}  // namespace bpm
