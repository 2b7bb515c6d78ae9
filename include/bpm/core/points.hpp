// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "bpm/core/target.hpp"

/// \file
/// How the points of a training set are held and numbered.

namespace bpm { inline namespace BPM_TARGET {

/// Numbers with one input per row, in row-major order. Grey images: height * width bytes per row,
/// their pixels row by row from the top.
template <class Scalar>
using RowMatrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Index of a training point. 32 bits: lists of points are long, training sets below 2^31.
using PointIndex = std::int32_t;

namespace detail {

/// The numbers of the first `count` inputs: 0, 1, ..., count - 1.
[[nodiscard]] inline std::vector<PointIndex> first_points(std::ptrdiff_t count) {
  std::vector<PointIndex> points(count);
  std::iota(points.begin(), points.end(), PointIndex{0});
  return points;
}

}  // namespace detail
}}  // namespace bpm
