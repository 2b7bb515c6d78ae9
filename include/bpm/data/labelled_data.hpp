// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace bpm {

/// Inputs, one a row, and the label of each: labels[i] belongs to row i. `labels` is empty where
/// the source holds none.
template <class Inputs>
struct LabelledData {
  Inputs inputs;
  std::vector<int> labels;
};

/// Dense inputs in the layout that kernels read: n x d, one input a row, rows contiguous.
template <class Scalar>
using InputMatrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Grey images: n x (height * width) bytes, one image a row, its pixels row by row from the top.
using ByteImages = InputMatrix<std::uint8_t>;

}  // namespace bpm
