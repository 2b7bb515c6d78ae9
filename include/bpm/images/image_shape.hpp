// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <string_view>

#include "bpm/core/check.hpp"
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

}  // namespace detail
}}  // namespace bpm
