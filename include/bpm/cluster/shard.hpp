// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bpm/cluster/mistake_list.hpp"
#include "bpm/core/buffer.hpp"
#include "bpm/core/multiply_add.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernel_values/prepared_columns.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/kernels/inputs.hpp"

namespace bpm::detail {

/// One rank's part of the training set in a run of C perceptrons: the outputs and counts of its
/// points, a column a point in the order in which the run visits them.
template <class Kernel, InputSet I>
class Shard {
 public:
  using T = typename I::Scalar;
  using Scalar = kernel_scalar_t<I>;
  using Scratch = BlockScratch<Scalar>;

  /// `signs`: C vectors of labels, +1 or -1; `lambda`: as many, or one for all, or none.
  Shard(const Kernel& kernel, const I& inputs, std::vector<std::vector<signed char>> signs,
        std::vector<std::vector<double>> lambda, unsigned threads)
      : kernel_(kernel),
        inputs_(inputs),
        prepared_(inputs),
        signs_(std::move(signs)),
        lambda_(std::move(lambda)),
        size_(inputs.rows()),
        outputs_(size_ * problems()),
        counts_(size_ * problems()),
        scratches_(std::max(1U, threads)),
        values_(scratches_.size()),
        columns_(scratches_.size()) {
    for (auto& values : values_) values = Buffer<Scalar>(MistakeList<T>::depth * width);
  }

  [[nodiscard]] std::ptrdiff_t problems() const { return std::ssize(signs_); }
  [[nodiscard]] const PreparedInputs<I>& prepared() const noexcept { return prepared_; }
  [[nodiscard]] bool has_lambda() const { return !lambda_.empty(); }
  [[nodiscard]] double lambda(std::ptrdiff_t c, std::ptrdiff_t point) const {
    return lambda_.empty() ? 0.0 : lambda_[lambda_.size() == 1 ? 0 : c].data()[point];
  }

  /// A new run on the order of all points, of which those from `offset` on are this rank's, in
  /// groups of `group` positions.
  void start(std::span<const PointIndex> order, std::ptrdiff_t offset, std::ptrdiff_t group) {
    group_ = group;
    const auto groups = (std::ssize(order) + group - 1) / group;
    begin_.assign(static_cast<std::size_t>(groups) + 1, 0);
    positions_.clear();
    points_.clear();
    for (std::ptrdiff_t p = 0; p < std::ssize(order); ++p) {
      const std::ptrdiff_t point = order[p] - offset;
      if (point >= 0 && point < size_) {
        positions_.push_back(static_cast<PointIndex>(p));
        points_.push_back(static_cast<PointIndex>(point));
        begin_[p / group + 1] = std::ssize(points_);
      }
    }
    for (std::size_t g = 1; g < begin_.size(); ++g) begin_[g] = std::max(begin_[g], begin_[g - 1]);
    applied_.assign(static_cast<std::size_t>(groups), 0);
    outputs_.fill(0);
    counts_.fill(0);
  }

  [[nodiscard]] std::ptrdiff_t groups() const { return std::ssize(applied_); }
  /// Columns of a group: [first, second).
  [[nodiscard]] std::pair<std::ptrdiff_t, std::ptrdiff_t> columns(std::ptrdiff_t g) const {
    return {begin_[g], begin_[g + 1]};
  }
  [[nodiscard]] PointIndex position(std::ptrdiff_t column) const { return positions_[column]; }
  [[nodiscard]] PointIndex point(std::ptrdiff_t column) const { return points_[column]; }
  [[nodiscard]] double output(std::ptrdiff_t c, std::ptrdiff_t column) const {
    return outputs_[c * size_ + column];
  }
  [[nodiscard]] signed char sign(std::ptrdiff_t c, std::ptrdiff_t column) const {
    return signs_[c].data()[points_[column]];
  }
  /// Mistakes that every group has seen are below this.
  [[nodiscard]] std::int64_t seen_by_all() const {
    return *std::min_element(applied_.begin(), applied_.end());
  }

  /// Adds the mistakes that group g has not seen to its outputs, each point's in their order.
  void catch_up(std::ptrdiff_t g, const MistakeList<T>& mistakes) {
    const auto [first, last] = columns(g);
    const std::ptrdiff_t parts = (last - first + width - 1) / width;
    const std::int64_t from = applied_[g];
    if (from < mistakes.end()) {
      parallel_for(static_cast<unsigned>(scratches_.size()), parts,
                   [&, begin = first, end = last](unsigned worker, std::ptrdiff_t part) {
                     const std::ptrdiff_t column = begin + part * width;
                     catch_up_columns(column, std::min(width, end - column), from, mistakes,
                                      worker);
                   });
    }
    applied_[g] = mistakes.end();
  }

  /// The position of the first of the group's points that is a mistake as things stand, or `none`.
  [[nodiscard]] std::int64_t first_mistake(std::ptrdiff_t g, const std::vector<char>& done,
                                           double margin, std::int64_t none) const {
    const auto [first, last] = columns(g);
    std::ptrdiff_t best = last;
    for (std::ptrdiff_t c = 0; c < problems(); ++c) {
      if (done[c] != 0) continue;
      std::ptrdiff_t column = first;
      while (column < best && !(sign(c, column) * output(c, column) <= margin)) ++column;
      best = column;
    }
    return best < last ? positions_[best] : none;
  }

  /// Counts a mistake if its point is one of this rank's.
  void count(PointIndex position, std::span<const MistakeUpdate> updates) {
    const auto found = std::lower_bound(positions_.begin(), positions_.end(), position);
    if (found == positions_.end() || *found != position) return;
    for (const MistakeUpdate& update : updates) {
      ++counts_[update.problem * size_ + (found - positions_.begin())];
    }
  }

  /// alpha' o of problem c, the terms of this rank's points added to `sum` in their order, and how
  /// many points are on the wrong side.
  [[nodiscard]] double squared_norm(std::ptrdiff_t c, double sum, std::uint64_t& errors) {
    by_point_.assign(static_cast<std::size_t>(size_), 0);
    for (std::ptrdiff_t column = 0; column < size_; ++column) {
      by_point_[points_[column]] = static_cast<PointIndex>(column);
    }
    for (std::ptrdiff_t i = 0; i < size_; ++i) {
      const std::ptrdiff_t column = c * size_ + by_point_[i];
      const signed char label = signs_[c].data()[i];
      errors += label * outputs_[column] > 0 ? 0U : 1U;
      if (counts_[column] != 0) {
        const double alpha = static_cast<double>(counts_[column]) * label;
        sum = multiply_add(alpha, outputs_[column], sum);
      }
    }
    return sum;
  }

  /// sums_i += alpha_i / norm for this rank's points; after `squared_norm`.
  void add_coefficients(std::ptrdiff_t c, double norm, std::span<double> sums) const {
    for (std::ptrdiff_t i = 0; i < size_; ++i) {
      const std::ptrdiff_t column = c * size_ + by_point_[i];
      if (counts_[column] != 0) {
        const double alpha = static_cast<double>(counts_[column]) * signs_[c].data()[i];
        sums[i] += alpha / norm;
      }
    }
  }

  [[nodiscard]] std::uint64_t evaluations() const {
    std::uint64_t sum = 0;
    for (const Scratch& scratch : scratches_) sum += scratch.evaluations;
    return sum;
  }
  [[nodiscard]] Scratch& scratch() { return scratches_[0]; }

 private:
  static constexpr std::ptrdiff_t width = 256;  ///< Points a block of kernel values.

  void catch_up_columns(std::ptrdiff_t column, std::ptrdiff_t count, std::int64_t from,
                        const MistakeList<T>& mistakes, unsigned worker) {
    Scalar* const values = values_[worker].data();
    const auto points = std::span<const PointIndex>(points_).subspan(
        static_cast<std::size_t>(column), static_cast<std::size_t>(count));
    const PointIndex first = positions_[column];
    const PointIndex last = positions_[column + count - 1];
    PreparedColumns<I>& packed = columns_[worker];
    packed.assign(prepared_, points, by_inner_products<Kernel, I>);
    std::vector<PointIndex> rows;
    for (const auto& block : mistakes.blocks()) {
      const std::int64_t begin = std::max(from, block.first);
      const std::int64_t end = block.first + block.count;
      if (begin >= end) continue;
      rows.clear();
      for (std::int64_t e = begin; e < end; ++e) {
        rows.push_back(static_cast<PointIndex>(e - block.first));
      }
      kernel_block(kernel_, *block.prepared, std::span<const PointIndex>(rows), packed, 0, count,
                   values, count, scratches_[worker]);
      for (std::int64_t e = begin; e < end; ++e) {
        const Scalar* const row = values + (e - begin) * count;
        const PointIndex position = mistakes.position(e);
        std::ptrdiff_t own = -1;  // The column of the mistaken point, if it is among these.
        if (position >= first && position <= last) {
          const auto* const found = std::lower_bound(positions_.data() + column,
                                                     positions_.data() + column + count, position);
          if (*found == position) own = found - positions_.data();
        }
        for (const MistakeUpdate& update : mistakes.updates(e)) {
          const auto scale = static_cast<double>(update.scale);
          double* const outputs = outputs_.data() + update.problem * size_;
          for (std::ptrdiff_t j = 0; j < count; ++j) {
            outputs[column + j] += scale * static_cast<double>(row[j]);
          }
          if (own >= 0) outputs[own] += scale * lambda(update.problem, points_[own]);
        }
      }
    }
  }

  const Kernel& kernel_;
  const I& inputs_;
  PreparedInputs<I> prepared_;
  std::vector<std::vector<signed char>> signs_;
  std::vector<std::vector<double>> lambda_;
  std::ptrdiff_t size_;
  std::ptrdiff_t group_ = 1;
  Buffer<double> outputs_;
  Buffer<std::int32_t> counts_;
  std::vector<PointIndex> positions_;
  std::vector<PointIndex> points_;
  std::vector<PointIndex> by_point_;
  std::vector<std::ptrdiff_t> begin_;
  std::vector<std::int64_t> applied_;
  std::vector<Scratch> scratches_;
  std::vector<Buffer<Scalar>> values_;
  std::vector<PreparedColumns<I>> columns_;  ///< Of the points that a thread is at.
};

}  // namespace bpm::detail
