// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstdint>

#include "bpm/core/check.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/inputs.hpp"

/// \file
/// Bytes from inputs of another type that hold nothing but bytes.

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// The byte that `value` is, times `scale`; -1 if it is none.
[[nodiscard]] inline int byte_of(double value, double scale) {
  const double number = value * scale;
  const double whole = std::nearbyint(number);
  // A quotient like 37 / 255 in float, times 255, is off by its rounding.
  const bool near = std::abs(number - whole) <= (scale == 1 ? 0 : 1e-4);
  return near && whole >= 0 && whole <= 255 ? static_cast<int>(whole) : -1;
}

}  // namespace detail

/// Whether every number, times `scale`, is a whole number from 0 to 255: with scale 255 for pixels
/// that were divided by 255, to 1e-4. Such inputs can be made `ByteInputs` by `to_bytes`, whose
/// products are exact and several times as fast. Cost: one pass.
template <DenseInputs I>
[[nodiscard]] bool are_bytes(const I& inputs, double scale = 1) {
  const auto is_byte = [&](auto number) {
    return detail::byte_of(static_cast<double>(number), scale) >= 0;
  };
  return inputs.unaryExpr(is_byte).all();
}

/// The inputs, times `scale`, as bytes. A kernel on them sees inner products scale^2 times as
/// large. \throws std::invalid_argument, naming row, column and value, where a number is no byte.
template <DenseInputs I>
[[nodiscard]] RowMatrix<std::uint8_t> to_bytes(const I& inputs, double scale = 1) {
  detail::check_positive("to_bytes", "scale", scale);
  RowMatrix<std::uint8_t> bytes(inputs.rows(), inputs.cols());
  for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
    for (Eigen::Index j = 0; j < inputs.cols(); ++j) {
      const auto number = static_cast<double>(inputs(i, j));
      const int byte = detail::byte_of(number, scale);
      detail::check(byte >= 0, "to_bytes", "inputs", "row ", i, ", column ", j, " is ", number,
                    ", times ", scale,
                    " it is no whole number from 0 to 255; leave the inputs as they are");
      bytes(i, j) = static_cast<std::uint8_t>(byte);
    }
  }
  return bytes;
}

}}  // namespace bpm
