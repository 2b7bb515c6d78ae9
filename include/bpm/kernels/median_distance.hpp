// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/random/draws.hpp"
#include "bpm/core/random/engine.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/inputs.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// The median of |x_i - x_j| over pairs i < j: of all pairs up to 64 inputs, beyond of 2 000 random
/// ones of the seed, whose median has a standard error of some 1 % of the distances' spread. A
/// measure for the width of a kernel. Cost: 2 000 distances.
/// \throws std::invalid_argument on fewer than two inputs, or numbers that are not finite.
template <class I>
  requires DenseInputs<I> || SparseInputs<I>
[[nodiscard]] double median_distance(const I& inputs, std::uint64_t seed = 1) {
  const char* const f = "median_distance";
  detail::check(inputs.rows() >= 2, f, "inputs", "has ", inputs.rows(), " rows, must be 2 or more");
  detail::check_inputs(inputs, f);
  std::vector<double> distances;
  const auto add = [&](Eigen::Index i, Eigen::Index j) {
    if constexpr (SparseInputs<I>) {
      using Row = Eigen::SparseVector<double, Eigen::RowMajor>;
      const Row a = inputs.row(i).template cast<double>();
      const Row b = inputs.row(j).template cast<double>();
      distances.push_back((a - b).norm());
    } else {
      distances.push_back(
          (inputs.row(i).template cast<double>() - inputs.row(j).template cast<double>()).norm());
    }
  };
  if (inputs.rows() <= 64) {
    for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
      for (Eigen::Index j = 0; j < i; ++j) add(i, j);
    }
  } else {
    RandomEngine engine(seed);
    const auto count = static_cast<std::uint32_t>(inputs.rows());
    while (distances.size() < 2000) {
      const std::uint32_t i = uniform_below(engine, count);
      const std::uint32_t j = uniform_below(engine, count);
      if (i != j) add(i, j);
    }
  }
  const auto middle = distances.begin() + std::ssize(distances) / 2;
  std::nth_element(distances.begin(), middle, distances.end());
  return *middle;
}

}}  // namespace bpm
