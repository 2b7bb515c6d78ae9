// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernels/kernel.hpp"

/// \file
/// Two classes in the plane that overlap a little: two crescents, each around the other's end.

namespace bpm_examples {

struct ToyData {
  bpm::RowMatrix<double> inputs;  ///< n x 2.
  std::vector<int> labels;        ///< 1: the upper crescent, -1: the lower.
};

/// n points, the classes in turn, uniform along a half circle of radius 1.5 with normal noise of
/// deviation 0.4 in each coordinate.
[[nodiscard]] inline ToyData draw_crescents(std::ptrdiff_t n, bpm::RandomEngine engine) {
  constexpr double radius = 1.5;
  constexpr double noise = 0.4;
  bpm::NormalDraws normal;
  ToyData data{bpm::RowMatrix<double>(n, 2), {}};
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const int label = i % 2 == 0 ? 1 : -1;
    const double angle = std::numbers::pi * bpm::uniform_unit(engine);
    data.inputs(i, 0) = -0.75 * label + radius * label * std::cos(angle) + noise * normal(engine);
    data.inputs(i, 1) = label * (radius * std::sin(angle) - 0.375) + noise * normal(engine);
    data.labels.push_back(label);
  }
  return data;
}

}  // namespace bpm_examples
