// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "bpm/data/source.hpp"
#include "bpm/kernels/kernel.hpp"
#include "common/tasks.hpp"

namespace bpm_examples {

/// A kernel of images on their bytes: the inputs are pixels / 255 or, with `unit`, images of norm
/// 1, and the inner products are exact integers. A black image keeps the inner product 0.
template <bpm::InnerProductKernel Inner>
struct PixelKernel {
  Inner inner;
  bool unit;

  template <class Array>
  [[nodiscard]] Array from_inner_products(const Array& xz, const Array& xx, const Array& zz) const {
    using Scalar = typename Array::Scalar;
    if (!unit) {
      constexpr Scalar scale = Scalar{1} / (255 * 255);
      const Array product = xz * scale;
      const Array left = xx * scale;
      const Array right = zz * scale;
      return inner.from_inner_products(product, left, right);
    }
    const Array squares = xx * zz;
    const Array norms = squares.sqrt();
    const Array cosine = (squares > Scalar{0}).select(xz / norms, Array::Zero());
    const Array left = (xx > Scalar{0}).select(Array::Ones(), Array::Zero());
    const Array right = (zz > Scalar{0}).select(Array::Ones(), Array::Zero());
    return inner.from_inner_products(cosine, left, right);
  }
};

/// Images as inputs of a kernel, one per row: pixels / 255, or each image scaled to norm 1 (a black
/// one stays zero). Every value is the exact quotient of the bytes, rounded once or, with the norm,
/// twice.
[[nodiscard]] inline bpm::RowMatrix<float> scale_pixels(const bpm::RowMatrix<std::uint8_t>& images,
                                                        bool normalise, int threads) {
  bpm::RowMatrix<float> inputs(images.rows(), images.cols());
  run_tasks(threads, static_cast<std::size_t>(images.rows()), [&](std::size_t row) {
    const auto i = static_cast<Eigen::Index>(row);
    float divisor = 255;
    if (normalise) {
      const auto square = images.row(i).cast<std::int64_t>().squaredNorm();
      divisor = square > 0 ? static_cast<float>(std::sqrt(static_cast<double>(square))) : 1.0F;
    }
    inputs.row(i) = images.row(i).cast<float>() / divisor;
  });
  return inputs;
}

}  // namespace bpm_examples
