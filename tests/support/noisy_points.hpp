// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernels/kernel.hpp"

/// \file
/// Data on which fits choose.

namespace test_support {

struct LabelledPoints {
  bpm::RowMatrix<float> inputs;
  std::vector<int> labels;
};

/// Normal points of three features, labelled by the place along the first, a share of them wrongly.
[[nodiscard]] inline LabelledPoints noisy_stripes(int count, int classes, double noise,
                                                  std::uint64_t seed = 1) {
  bpm::RandomEngine engine(seed);
  bpm::NormalDraws normal;
  LabelledPoints points{bpm::RowMatrix<float>(count, 3), std::vector<int>(count)};
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < 3; ++j) points.inputs(i, j) = static_cast<float>(normal(engine));
    const double place = std::erf(points.inputs(i, 0) / std::sqrt(2.0)) * 0.5 + 0.5;
    const int label = std::min(classes - 1, static_cast<int>(place * classes));
    points.labels[i] = bpm::uniform_unit(engine) < noise ? (label + 1) % classes : label;
  }
  return points;
}

/// Points of a plane whose label is which of `classes` rings they lie in, but for a share of them.
[[nodiscard]] inline LabelledPoints noisy_rings(int count, int classes, double noise,
                                                std::uint64_t seed = 1) {
  bpm::RandomEngine engine(seed);
  bpm::NormalDraws normal;
  LabelledPoints points{bpm::RowMatrix<float>(count, 2), std::vector<int>(count)};
  for (int i = 0; i < count; ++i) {
    const int label = i % classes;
    const double x = normal(engine);
    const double y = normal(engine);
    const double radius = (1 + label + 0.2 * normal(engine)) / std::hypot(x, y);
    points.inputs.row(i) << static_cast<float>(radius * x), static_cast<float>(radius * y);
    points.labels[i] = bpm::uniform_unit(engine) < noise ? (label + 1) % classes : label;
  }
  return points;
}

}  // namespace test_support
