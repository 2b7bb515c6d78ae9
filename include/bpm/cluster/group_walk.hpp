// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bpm/cluster/mistake_list.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernel_values/prepared_columns.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/kernels/inputs.hpp"

namespace bpm::detail {

/// Consecutive points of a random order as one rank gets them to visit: outputs that lack no
/// mistake, labels, lambda and inputs. C x n arrays have a row a problem.
template <class T>
struct PointGroup {
  PointIndex first = 0;             ///< Position of the first.
  RowMatrix<T> inputs;              ///< n x d
  std::vector<double> outputs;      ///< C x n
  std::vector<signed char> labels;  ///< C x n
  std::vector<double> lambda;       ///< C x n, or empty: zero.

  [[nodiscard]] std::ptrdiff_t size() const { return inputs.rows(); }
};

/// The mistakes made in a group: positions, and of each the updates of the problems concerned.
struct GroupMistakes {
  std::vector<PointIndex> positions;
  std::vector<std::int32_t> counts;
  std::vector<MistakeUpdate> updates;
};

/// Visits the points of a group in order; a mistake (label times output <= margin) changes the
/// outputs of the points after it at once. Problems that are `done` make none. The outputs get the
/// same additions in the same order as in `WindowedPerceptron`.
template <class Kernel, class T>
[[nodiscard]] GroupMistakes walk_group(const Kernel& kernel, PointGroup<T>& group,
                                       const std::vector<char>& done, double margin,
                                       BlockScratch<kernel_scalar_t<RowMatrix<T>>>& scratch) {
  using Scalar = kernel_scalar_t<RowMatrix<T>>;
  constexpr std::ptrdiff_t window = 256;
  const std::ptrdiff_t n = group.size();
  const auto problems = std::ssize(done);
  const PreparedInputs<RowMatrix<T>> inputs(group.inputs);
  GroupMistakes made;
  std::vector<PointIndex> rows;  // Of the mistakes so far, in the group.
  std::vector<PointIndex> cols;
  PreparedColumns<RowMatrix<T>> columns;
  std::vector<Scalar> values(static_cast<std::size_t>(MistakeList<T>::depth * window));
  std::vector<std::ptrdiff_t> next(static_cast<std::size_t>(problems));

  const auto add = [&](std::span<const MistakeUpdate> updates, const Scalar* row,
                       std::ptrdiff_t begin, std::ptrdiff_t width) {
    for (const MistakeUpdate& update : updates) {
      double* const outputs = group.outputs.data() + update.problem * n + begin;
      const auto scale = static_cast<double>(update.scale);
      for (std::ptrdiff_t j = 0; j < width; ++j) outputs[j] += scale * static_cast<double>(row[j]);
    }
  };
  for (std::ptrdiff_t begin = 0; begin < n; begin += window) {
    const std::ptrdiff_t width = std::min(window, n - begin);
    const std::ptrdiff_t end = begin + width;
    cols.clear();
    for (std::ptrdiff_t i = begin; i < end; ++i) cols.push_back(static_cast<PointIndex>(i));
    columns.assign(inputs, cols, by_inner_products<Kernel, RowMatrix<T>>);
    std::size_t update = 0;
    for (std::size_t e = 0; e < rows.size(); e += MistakeList<T>::depth) {
      const auto block = std::span<const PointIndex>(rows).subspan(
          e, std::min<std::size_t>(MistakeList<T>::depth, rows.size() - e));
      kernel_block(kernel, inputs, block, columns, 0, width, values.data(), width, scratch);
      for (std::size_t a = 0; a < block.size(); ++a) {
        const auto count = static_cast<std::size_t>(made.counts[e + a]);
        add(std::span<const MistakeUpdate>(made.updates).subspan(update, count),
            values.data() + static_cast<std::ptrdiff_t>(a) * width, begin, width);
        update += count;
      }
    }
    const auto next_mistake = [&](std::ptrdiff_t c, std::ptrdiff_t from) {
      const double* const outputs = group.outputs.data() + c * n;
      const signed char* const labels = group.labels.data() + c * n;
      while (from < end && !(labels[from] * outputs[from] <= margin)) ++from;
      return from;
    };
    for (std::ptrdiff_t c = 0; c < problems; ++c) {
      next[c] = done[c] != 0 ? end : next_mistake(c, begin);
    }
    while (true) {
      const std::ptrdiff_t p = *std::min_element(next.begin(), next.end());
      if (p == end) break;
      const auto point = static_cast<PointIndex>(p);
      kernel_block(kernel, inputs, std::span(&point, 1), columns, 0, width, values.data(), width,
                   scratch);
      std::int32_t count = 0;
      for (std::ptrdiff_t c = 0; c < problems; ++c) {
        if (next[c] != p) continue;
        const MistakeUpdate change{static_cast<std::int32_t>(c), group.labels[c * n + p]};
        add(std::span(&change, 1), values.data(), begin, width);
        if (!group.lambda.empty()) {
          group.outputs[c * n + p] += static_cast<double>(change.scale) * group.lambda[c * n + p];
        }
        made.updates.push_back(change);
        ++count;
        next[c] = next_mistake(c, p + 1);
      }
      rows.push_back(point);
      made.positions.push_back(group.first + point);
      made.counts.push_back(count);
    }
  }
  return made;
}

}  // namespace bpm::detail
