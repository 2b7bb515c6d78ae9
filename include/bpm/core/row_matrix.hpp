// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>

namespace bpm {

/// Numbers with one input a row, in row-major order. Grey images: height * width bytes a row, their
/// pixels row by row from the top.
template <class Scalar>
using RowMatrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace bpm
