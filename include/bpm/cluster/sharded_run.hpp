// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <exception>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "bpm/cluster/communicator.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/samplers/perceptron/perceptron_passes.hpp"
#include "bpm/samplers/perceptron/perceptron_state.hpp"
#include "bpm/version_space/version_space.hpp"

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

/// Draws of C perceptrons made one after the other by all ranks together. The order of the points
/// is divided into groups: every rank updates the outputs of its own points of a group, one rank
/// visits the group's points, and its mistakes go to all. The state has this rank's outputs and
/// counts, a column per point in the order of the visits; the passes are those of all ranks.
template <class Kernel, InputSet I>
class ShardedRun {
 public:
  using T = typename I::Scalar;
  using Scalar = kernel_scalar_t<I>;

  /// Does not communicate. Of `points` points this rank has those from `offset` on; `origin` is the
  /// common origin of all inputs, `group` the number of positions in a group.
  ShardedRun(const Communicator& ranks, const Kernel& kernel, const I& inputs,
             std::span<const double> origin, const std::vector<int>& classes,
             std::span<const int> labels, const FitSettings& settings,
             const PerceptronLimits& limits, std::ptrdiff_t points, std::ptrdiff_t offset,
             std::ptrdiff_t group)
      : ranks_(ranks),
        kernel_(kernel),
        inputs_(inputs),
        gram_(kernel, inputs, origin),
        problems_(classes, labels),
        limits_(limits),
        offset_(offset),
        group_(group),
        order_(points),
        state_(inputs.rows(), problems_.size(), true),
        workspaces_(thread_count(settings.threads)) {
    problems_.resolve_lambda(gram_, settings.soft_boundary, labels);
  }

  [[nodiscard]] const PerceptronState& state() const noexcept { return state_; }
  /// Returns S_ii.
  [[nodiscard]] double diagonal(std::ptrdiff_t point) const {
    return static_cast<double>(gram_.diagonal(point)) + problems_.lambda_at(point);
  }

  /// Collective: makes a draw. Every rank calls `go_on(passes)`; if one returns false, all stop.
  template <class GoOn>
  PerceptronOutcome draw(RandomEngine engine, GoOn&& go_on) {
    random_permutation(order_.span(), engine);
    begin_.assign(1, 0);
    positions_.clear();
    for (std::ptrdiff_t p = 0; p < order_.size(); ++p) {
      if (const std::ptrdiff_t point = order_[p] - offset_; point >= 0 && point < state_.size) {
        state_.order[std::ssize(positions_)] = static_cast<PointIndex>(point);
        positions_.push_back(static_cast<PointIndex>(p));
      }
      if ((p + 1) % group_ == 0 || p + 1 == order_.size()) begin_.push_back(std::ssize(positions_));
    }
    applied_.assign(begin_.size() - 1, 0);
    state_.start();
    mistakes_ = {};
    mistaken_inputs_ = {};
    return state_.run(
        limits_.max_passes,
        [&](std::uint64_t number) {
          const std::int64_t seen = *std::min_element(applied_.begin(), applied_.end());
          mistakes_.forget(seen);
          mistaken_inputs_.forget(seen);
          return pass(static_cast<double>(number), go_on);
        },
        [](std::size_t) {});
  }

  /// Collective: returns this rank's part of problem c's w / norm(w). The norm's terms are added
  /// rank by rank, in the order of the points.
  [[nodiscard]] PerceptronSolution solution(std::size_t c) {
    const auto label = [&](std::ptrdiff_t i) { return problems_.signs[c][i]; };
    double squared_norm = 0;
    PerceptronSolution part;
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      if (rank == ranks_.rank()) part = state_.solution(c, label, squared_norm);
      ranks_.broadcast(std::span(&squared_norm, 1), rank);
    }
    for (double& alpha : part.coefficients) alpha /= std::sqrt(squared_norm);
    return part;
  }

  [[nodiscard]] std::uint64_t evaluations() const {
    std::uint64_t sum = visiting_.scratch.evaluations;
    for (const Workspace& workspace : workspaces_) sum += workspace.scratch.evaluations;
    return sum;
  }

 private:
  /// Memory of one thread.
  struct Workspace {
    BlockScratch<Scalar> scratch;
    Buffer<Scalar> values;
    ReadyColumns<kernel_scalar_t<I>> columns;  ///< Points of the current block.
  };

  /// Makes one pass; returns false if stopped.
  template <class GoOn>
  bool pass(double number, GoOn& go_on) {
    constexpr std::ptrdiff_t farthest = 64;
    const std::ptrdiff_t groups = std::ssize(applied_);
    std::ptrdiff_t look = 1;
    for (std::ptrdiff_t g = 0; g < groups;) {
      const std::ptrdiff_t end = std::min(groups, g + look);
      std::int64_t first = order_.size();
      try {
        for (std::ptrdiff_t h = g; h < end; ++h) {
          catch_up(h);
          if (first == order_.size()) first = first_mistake(h);
        }
      } catch (...) {
        error_ = plain_error(std::current_exception());
      }
      const bool stop = !go_on(number + static_cast<double>(g) / static_cast<double>(groups));
      const auto all = ranks_.reduce(
          std::array<std::int64_t, 3>{first, stop ? -1 : 0, error_ ? -1 : 0}, MPI_MIN);
      if (all[2] != 0) throw_error();
      if (all[1] != 0) return false;
      // Groups without a mistake change nothing that follows: more of them are looked at next.
      const bool clean = all[0] == order_.size();
      const std::ptrdiff_t h = all[0] / group_;
      if (!clean) visit(h);
      g = clean ? end : h + 1;
      look = clean ? std::min(2 * look, farthest) : 1;
    }
    return true;
  }

  /// Adds the pending mistakes to the outputs of group g, for each point in their order.
  void catch_up(std::ptrdiff_t g) {
    constexpr std::ptrdiff_t width = 256;  // Points per block of kernel values.
    const std::ptrdiff_t first = begin_[g];
    const std::ptrdiff_t last = begin_[g + 1];
    const std::int64_t from = std::exchange(applied_[g], mistakes_.end());
    if (from == mistakes_.end()) return;
    const auto work = [&](unsigned worker, std::ptrdiff_t part) {
      Workspace& own = workspaces_[worker];
      const std::ptrdiff_t column = first + part * width;
      const std::ptrdiff_t count = std::min(width, last - column);
      own.values.reserve_discarding(MistakenInputs<T>::depth * count);
      const std::span<const PointIndex> points(state_.order.data() + column,
                                               static_cast<std::size_t>(count));
      make_ready(gram_.inputs(), points, by_inner_products<Kernel, I>, own.columns);
      for (const auto& block : mistaken_inputs_.blocks()) {
        const std::int64_t begin = std::max(from, block.first);
        const std::int64_t end = block.first + block.count;
        if (begin >= end) continue;
        kernel_block(kernel_, *block.prepared,
                     std::span<const PointIndex>(rows_).subspan(begin - block.first, end - begin),
                     gram_.inputs(), own.columns, 0, count, own.values.data(), count, own.scratch);
        for (std::int64_t e = begin; e < end; ++e) {
          const auto updates = mistakes_.updates(e);
          state_.add(updates, own.values.data() + (e - begin) * count, column, count);
          const std::ptrdiff_t mistaken = column_of(mistakes_[e], column, count);
          if (mistaken < 0) continue;
          const double lambda = problems_.lambda_at(state_.order[mistaken]);
          for (const auto& [c, scale] : updates) state_.outputs_of(c)[mistaken] += scale * lambda;
        }
      }
    };
    parallel_for(static_cast<unsigned>(workspaces_.size()), (last - first + width - 1) / width,
                 work);
  }

  /// Returns the column at a position among `count` columns from `first` on, or -1.
  [[nodiscard]] std::ptrdiff_t column_of(PointIndex position, std::ptrdiff_t first,
                                         std::ptrdiff_t count) const {
    const auto* const begin = positions_.data() + first;
    const auto* const found = std::lower_bound(begin, begin + count, position);
    return found == begin + count || *found != position ? -1 : found - positions_.data();
  }

  /// Returns the position of the first current mistake of group g, or the number of all
  /// points.
  [[nodiscard]] std::int64_t first_mistake(std::ptrdiff_t g) {
    const std::ptrdiff_t last = begin_[g + 1];
    std::ptrdiff_t best = last;
    for (std::size_t c = 0; c < problems_.size(); ++c) {
      if (state_.problems[c].done) continue;
      std::ptrdiff_t column = begin_[g];
      const auto& signs = problems_.signs[c];
      const double* const outputs = state_.outputs_of(c);
      while (column < best && !(signs[state_.order[column]] * outputs[column] <= limits_.margin)) {
        ++column;
      }
      best = column;
    }
    return best < last ? positions_[best] : order_.size();
  }

  /// Collective: one rank visits group h, whose outputs include all mistakes; the ranks take turns.
  void visit(std::ptrdiff_t h) {
    const int visitor = static_cast<int>(h % ranks_.size());
    const std::vector<std::byte> parts = ranks_.gather_bytes(pack(h), visitor);
    std::vector<std::byte> message;
    try {
      if (ranks_.rank() == visitor) {
        message = visit_points(h, parts);
      } else if (h + 1 < std::ssize(applied_)) {
        catch_up(h + 1);  // Applies known mistakes instead of waiting.
      }
    } catch (...) {
      error_ = plain_error(std::current_exception());  // Others surface at the next group.
    }
    message = ranks_.broadcast_all(std::move(message), visitor);
    if (message.empty()) throw_error();  // The visitor failed: no message of a visit is empty.
    ByteReader from{message};
    std::int64_t count = 0;
    from.number(count);
    RowMatrix<T> inputs(count, inputs_.cols());
    std::vector<MistakeUpdate> updates;
    for (std::int64_t e = 0; e < count; ++e) {
      PointIndex position = 0;
      from.number(position);
      from.list(updates);
      from.numbers(row_of(inputs, e));
      mistakes_.add(position);
      const std::ptrdiff_t own = column_of(position, 0, state_.size);
      for (const MistakeUpdate& update : updates) {
        mistakes_.add_update(update);
        state_.count_mistake(update.problem, own);
      }
    }
    mistaken_inputs_.append(inputs.data(), count, inputs_.cols(), gram_.inputs().origin());
  }

  /// Collective: throws on every rank the error of the lowest rank with one.
  [[noreturn]] void throw_error() const {
    together(ranks_, [&] {
      if (error_) throw_plain(error_, ranks_.rank());
    });
    std::abort();  // Only an error that got lost leads here.
  }

  /// Returns the points of a group as bytes: position, lambda, outputs, labels and input of each.
  [[nodiscard]] std::vector<std::byte> pack(std::ptrdiff_t g) {
    ByteWriter bytes;
    RowMatrix<T> input(1, inputs_.cols());
    for (std::ptrdiff_t column = begin_[g]; column < begin_[g + 1]; ++column) {
      const PointIndex point = state_.order[column];
      bytes.number(positions_[column]);
      bytes.number(problems_.lambda_at(point));
      for (std::size_t c = 0; c < problems_.size(); ++c) {
        bytes.number(state_.outputs_of(c)[column]);
        bytes.number(problems_.signs[c][point]);
      }
      input = inputs_.row(point);
      bytes.numbers(row_of(input, 0));
    }
    return std::move(bytes.bytes);
  }

  /// Visits once the points of group h, which all ranks have sent; returns the mistakes as bytes.
  [[nodiscard]] std::vector<std::byte> visit_points(std::ptrdiff_t h,
                                                    const std::vector<std::byte>& parts) {
    const std::ptrdiff_t begin = h * group_;
    const std::ptrdiff_t n = std::min(group_, order_.size() - begin);
    const std::size_t problems = problems_.size();
    RowMatrix<T> inputs(n, inputs_.cols());
    std::vector<double> outputs(problems * static_cast<std::size_t>(n));
    std::vector<std::vector<signed char>> labels(problems, std::vector<signed char>(n));
    const auto lambda = std::make_shared<std::vector<double>>(n);
    ByteReader from{parts};
    while (!from.bytes.empty()) {
      PointIndex i = 0;
      from.number(i);
      i -= static_cast<PointIndex>(begin);
      from.number((*lambda)[i]);
      for (std::size_t c = 0; c < problems; ++c) {
        from.number(outputs[c * static_cast<std::size_t>(n) + i]);
        from.number(labels[c][i]);
      }
      from.numbers(row_of(inputs, i));
    }
    const OnDemandGram<Kernel, RowMatrix<T>> gram(kernel_, inputs, gram_.inputs().origin());
    std::vector<KernelVersionSpace<Scalar>> spaces;
    for (auto& signs : labels) spaces.emplace_back(gram, std::move(signs), lambda);
    WindowedPerceptron<Scalar> perceptron(spaces);
    PerceptronState& state = perceptron.state();
    std::iota(state.order.begin(), state.order.end(), PointIndex{0});
    state.start();
    std::copy(outputs.begin(), outputs.end(), state.outputs.begin());
    for (std::size_t c = 0; c < problems; ++c) state.problems[c].done = state_.problems[c].done;
    perceptron.begin();
    ThreadPool alone{1};
    perceptron.pass(limits_.margin, {std::span(&visiting_, 1), 0, alone},
                    [](double) { return true; });

    ByteWriter message;
    const MistakeList& made = perceptron.mistakes();
    message.number(made.end());
    for (std::int64_t e = 0; e < made.end(); ++e) {
      message.number(static_cast<PointIndex>(begin + made[e]));
      message.list(made.updates(e));
      message.numbers(row_of(inputs, made[e]));
    }
    return std::move(message.bytes);
  }

  [[nodiscard]] static std::span<T> row_of(RowMatrix<T>& inputs, std::ptrdiff_t i) {
    return {inputs.data() + i * inputs.cols(), static_cast<std::size_t>(inputs.cols())};
  }

  const Communicator& ranks_;
  const Kernel& kernel_;
  const I& inputs_;
  OnDemandGram<Kernel, I> gram_;
  Subproblems problems_;
  PerceptronLimits limits_;
  std::ptrdiff_t offset_;
  std::ptrdiff_t group_;
  Buffer<PointIndex> order_;  ///< Order of all points.
  PerceptronState state_;
  std::vector<PointIndex> positions_;  ///< Positions of the columns, ascending.
  std::vector<std::ptrdiff_t> begin_;  ///< First column of each group.
  std::vector<std::int64_t> applied_;  ///< Number of mistakes that each group has applied.
  MistakeList mistakes_;               ///< Positions of the mistakes.
  MistakenInputs<T> mistaken_inputs_;
  std::vector<Workspace> workspaces_;
  std::vector<PointIndex> rows_ = first_points(MistakenInputs<T>::depth);  ///< Of any block.
  PassWorkspace<Scalar> visiting_;
  PlainError error_;
};

}}}  // namespace bpm::detail
