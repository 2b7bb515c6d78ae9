// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bpm/cluster/byte_stream.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/samplers/perceptron/perceptron_state.hpp"
#include "bpm/version_space/soft_boundary.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Inputs of mistakes, numbered as in the `MistakeList`, in blocks that are prepared together.
template <class T>
class MistakenInputs {
 public:
  static constexpr std::ptrdiff_t depth = 240;  ///< Most mistakes in a block of kernel values.

  struct Block {
    std::int64_t first = 0;
    std::ptrdiff_t count = 0;
    RowMatrix<T> inputs;
    std::unique_ptr<PreparedInputs<RowMatrix<T>>> prepared;
  };

  void clear() {
    blocks_.clear();
    end_ = 0;
  }

  [[nodiscard]] const std::deque<Block>& blocks() const { return blocks_; }

  /// Adds `count` rows of `columns` numbers, relative to `origin`.
  void append(const T* inputs, std::ptrdiff_t count, std::ptrdiff_t columns,
              std::span<const double> origin = {}) {
    for (std::ptrdiff_t now = 0; count > 0; count -= now, inputs += now * columns, end_ += now) {
      if (blocks_.empty() || blocks_.back().count == depth) {
        blocks_.push_back({end_, 0, RowMatrix<T>::Zero(depth, columns), nullptr});
      }
      Block& block = blocks_.back();
      now = std::min(depth - block.count, count);
      std::copy_n(inputs, now * columns, block.inputs.data() + block.count * columns);
      block.count += now;
      block.prepared = std::make_unique<PreparedInputs<RowMatrix<T>>>(block.inputs, origin);
    }
  }

  /// Removes blocks that are wholly below `number`.
  void forget(std::int64_t number) {
    while (!blocks_.empty() && blocks_.front().first + depth <= number) blocks_.pop_front();
  }

 private:
  std::deque<Block> blocks_;
  std::int64_t end_ = 0;
};

/// One rank's part of the training set in a run of C perceptrons: the outputs and counts of its
/// points, one column per point in the order in which the run visits them, in groups of positions.
/// The passes are those of all ranks.
template <class Kernel, InputSet I>
class Shard {
 public:
  using T = typename I::Scalar;
  using Scalar = kernel_scalar_t<I>;
  using Mistakes = MistakeList<PointIndex>;  ///< Positions of the mistakes in the order.

  /// `origin`: the common origin of all ranks' inputs.
  Shard(const Kernel& kernel, const I& inputs, std::span<const double> origin, Subproblems problems,
        const SoftBoundary& boundary, std::span<const int> labels, unsigned threads)
      : kernel_(kernel),
        inputs_(inputs),
        gram_(kernel, inputs, origin),
        problems_(std::move(problems)),
        state_(inputs.rows(), problems_.size()),
        workspaces_(std::max(1U, threads)) {
    problems_.resolve_lambda(gram_, boundary, labels);
  }

  [[nodiscard]] const I& inputs() const noexcept { return inputs_; }
  [[nodiscard]] std::span<const double> origin() const noexcept { return gram_.inputs().origin(); }
  [[nodiscard]] const Subproblems& problems() const noexcept { return problems_; }
  /// Returns S_ii.
  [[nodiscard]] double diagonal(std::ptrdiff_t point) const {
    return static_cast<double>(gram_.diagonal(point)) + problems_.lambda_at(point);
  }
  [[nodiscard]] PerceptronPasses& passes() noexcept { return state_.passes; }

  /// Starts a new run on the order of all points, in groups of `group` positions; this rank has the
  /// points from `offset` on.
  void start(std::span<const PointIndex> order, std::ptrdiff_t offset, std::ptrdiff_t group) {
    begin_.assign(1, 0);
    positions_.clear();
    for (std::ptrdiff_t p = 0; p < std::ssize(order); ++p) {
      if (const std::ptrdiff_t point = order[p] - offset; point >= 0 && point < state_.size) {
        state_.order[std::ssize(positions_)] = static_cast<PointIndex>(point);
        positions_.push_back(static_cast<PointIndex>(p));
      }
      if ((p + 1) % group == 0 || p + 1 == std::ssize(order))
        begin_.push_back(std::ssize(positions_));
    }
    applied_.assign(begin_.size() - 1, 0);
    state_.start();
  }

  [[nodiscard]] std::ptrdiff_t groups() const { return std::ssize(applied_); }
  /// Returns the number below which all groups have applied all mistakes.
  [[nodiscard]] std::int64_t seen_by_all() const {
    return *std::min_element(applied_.begin(), applied_.end());
  }

  /// Adds the pending mistakes to the outputs of group g, for each point in their order.
  void catch_up(std::ptrdiff_t g, const Mistakes& mistakes, const MistakenInputs<T>& inputs) {
    constexpr std::ptrdiff_t width = 256;  // Points per block of kernel values.
    const std::ptrdiff_t first = begin_[g];
    const std::ptrdiff_t last = begin_[g + 1];
    const std::int64_t from = std::exchange(applied_[g], mistakes.end());
    if (from == mistakes.end()) return;
    parallel_for(static_cast<unsigned>(workspaces_.size()), (last - first + width - 1) / width,
                 [&](unsigned worker, std::ptrdiff_t part) {
                   const std::ptrdiff_t column = first + part * width;
                   catch_up_columns(column, std::min(width, last - column), from, mistakes, inputs,
                                    workspaces_[worker]);
                 });
  }

  /// Returns the position of the group's first current mistake, or `none`.
  [[nodiscard]] std::int64_t first_mistake(std::ptrdiff_t g, double margin,
                                           std::int64_t none) const {
    const std::ptrdiff_t last = begin_[g + 1];
    std::ptrdiff_t best = last;
    for (std::size_t c = 0; c < problems_.size(); ++c) {
      if (state_.passes[c].done) continue;
      std::ptrdiff_t column = begin_[g];
      const auto& signs = problems_.signs[c];
      while (column < best && !(signs[state_.order[column]] * output(c, column) <= margin)) {
        ++column;
      }
      best = column;
    }
    return best < last ? positions_[best] : none;
  }

  /// Returns the points of a group as bytes: position, outputs, labels, lambda and input of each.
  [[nodiscard]] std::vector<std::byte> pack(std::ptrdiff_t g) const {
    ByteWriter bytes;
    RowMatrix<T> input(1, inputs_.cols());
    for (std::ptrdiff_t column = begin_[g]; column < begin_[g + 1]; ++column) {
      const PointIndex point = state_.order[column];
      bytes.put(positions_[column]);
      for (std::size_t c = 0; c < problems_.size(); ++c) {
        bytes.put(output(c, column));
        bytes.put(problems_.signs[c][point]);
        bytes.put(problems_.lambda_at(point));
      }
      input = inputs_.row(point);
      bytes.put_all(std::span<const T>(input.data(), static_cast<std::size_t>(input.size())));
    }
    return bytes.bytes();
  }

  /// Counts a mistake; if the point is this rank's, also for its coefficient.
  void count(PointIndex position, std::span<const MistakeUpdate> updates) {
    const auto column = column_of(position, 0, state_.size);
    for (const MistakeUpdate& update : updates) {
      const auto c = static_cast<std::size_t>(update.problem);
      state_.passes.count_mistake(c);
      if (column) ++state_.counts_of(c)[*column];
    }
  }

  /// Returns this rank's part of problem c's w, not yet scaled, and adds the terms of norm(w)^2 to
  /// `squared_norm` in the order of its points.
  [[nodiscard]] PerceptronSolution solution(std::size_t c, double& squared_norm) {
    const auto label = [&](std::ptrdiff_t i) { return problems_.signs[c][i]; };
    return state_.solution(c, label, state_.columns_by_point(), squared_norm);
  }

  [[nodiscard]] std::uint64_t evaluations() const {
    std::uint64_t sum = 0;
    for (const Workspace& workspace : workspaces_) sum += workspace.scratch.evaluations;
    return sum;
  }

 private:
  [[nodiscard]] double output(std::size_t c, std::ptrdiff_t column) const {
    return state_.outputs[static_cast<std::ptrdiff_t>(c) * state_.size + column];
  }

  /// Memory of one thread.
  struct Workspace {
    BlockScratch<Scalar> scratch;
    Buffer<Scalar> values;
    ReadyColumns<kernel_scalar_t<I>> columns;  ///< Points of the current block.
    std::vector<PointIndex> rows;
  };

  /// Returns the index of the column at a position among `count` columns from `first` on, if any.
  [[nodiscard]] std::optional<std::ptrdiff_t> column_of(PointIndex position, std::ptrdiff_t first,
                                                        std::ptrdiff_t count) const {
    const auto* const begin = positions_.data() + first;
    const auto* const found = std::lower_bound(begin, begin + count, position);
    if (found == begin + count || *found != position) return std::nullopt;
    return found - positions_.data();
  }

  void catch_up_columns(std::ptrdiff_t column, std::ptrdiff_t count, std::int64_t from,
                        const Mistakes& mistakes, const MistakenInputs<T>& inputs,
                        Workspace& workspace) {
    workspace.values.reserve_discarding(MistakenInputs<T>::depth * count);
    const std::span<const PointIndex> points(state_.order.data() + column,
                                             static_cast<std::size_t>(count));
    make_ready(gram_.inputs(), points, by_inner_products<Kernel, I>, workspace.columns);
    for (const auto& block : inputs.blocks()) {
      const std::int64_t begin = std::max(from, block.first);
      const std::int64_t end = block.first + block.count;
      if (begin >= end) continue;
      workspace.rows.resize(static_cast<std::size_t>(end - begin));
      std::iota(workspace.rows.begin(), workspace.rows.end(),
                static_cast<PointIndex>(begin - block.first));
      kernel_block(kernel_, *block.prepared, std::span<const PointIndex>(workspace.rows),
                   gram_.inputs(), workspace.columns, 0, count, workspace.values.data(), count,
                   workspace.scratch);
      for (std::int64_t e = begin; e < end; ++e) {
        state_.add(mistakes.updates(e), workspace.values.data() + (e - begin) * count, column,
                   count);
        const auto own = column_of(mistakes[e], column, count);
        for (const MistakeUpdate& update : mistakes.updates(e)) {
          const auto c = static_cast<std::size_t>(update.problem);
          if (own) {
            state_.outputs_of(c)[*own] += update.scale * problems_.lambda_at(state_.order[*own]);
          }
        }
      }
    }
  }

  const Kernel& kernel_;
  const I& inputs_;
  OnDemandGram<Kernel, I> gram_;
  Subproblems problems_;
  PerceptronState state_;
  std::vector<PointIndex> positions_;  ///< Positions of the columns, ascending.
  std::vector<std::ptrdiff_t> begin_;  ///< First column of each group.
  std::vector<std::int64_t> applied_;  ///< Number of mistakes that each group has applied.
  std::vector<Workspace> workspaces_;
};

}}}  // namespace bpm::detail
