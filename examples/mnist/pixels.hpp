// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

#include "bpm/data/labelled_data.hpp"
#include "bpm/kernels/inputs.hpp"

namespace bpm_examples {

/// Images as inputs of a kernel, one a row: pixels / 255, or each image scaled to norm 1 (a black
/// one stays zero). Every value is the exact quotient of the bytes, rounded once or, with the norm,
/// twice.
[[nodiscard]] inline bpm::RowMatrix<float> scale_pixels(const bpm::ByteImages& images,
                                                        bool normalise, int threads) {
  bpm::RowMatrix<float> inputs(images.rows(), images.cols());
  const auto part = [&](Eigen::Index begin, Eigen::Index end) {
    for (Eigen::Index i = begin; i < end; ++i) {
      float divisor = 255;
      if (normalise) {
        const auto square = images.row(i).cast<std::int64_t>().squaredNorm();
        divisor = square > 0 ? static_cast<float>(std::sqrt(static_cast<double>(square))) : 1.0F;
      }
      inputs.row(i) = images.row(i).cast<float>() / divisor;
    }
  };
  const Eigen::Index n = images.rows();
  std::vector<std::jthread> crew;
  for (int t = 1; t < threads; ++t) {
    crew.emplace_back(part, n * t / threads, n * (t + 1) / threads);
  }
  part(0, n / threads);
  return inputs;
}

}  // namespace bpm_examples
