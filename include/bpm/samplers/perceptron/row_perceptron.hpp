// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/linear_rows.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/samplers/perceptron/perceptron_state.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Perceptrons on whole kernel rows: a mistake costs one row and an axpy of length m. Rows that are
/// not in memory are computed at mistakes, by all idle threads, and cached if there is memory.
/// Columns of the state are points.
template <class T>
class RowPerceptron {
 public:
  using Space = KernelVersionSpace<T>;

  /// Scratch memory of a thread.
  struct Workspace {
    BlockScratch<T> scratch;
    Buffer<T> row;
  };

  explicit RowPerceptron(std::span<const Space> spaces)
      : spaces_(spaces), state_(spaces[0].size(), spaces.size(), false) {
    if (!spaces[0].rows_in_memory()) points_ = first_points(state_.size);
  }

  [[nodiscard]] PerceptronState& state() noexcept { return state_; }

  /// Prepares the first pass: nothing but the state.
  void begin() {}

  /// Visits every point once; returns false if `go_on(part of the pass)` does.
  template <class GoOn>
  bool pass(double margin, const PassThreads<Workspace>& threads, GoOn&& go_on) {
    for (std::ptrdiff_t p = 0; p < state_.size; ++p) {
      if (p % 4096 == 0 && !go_on(static_cast<double>(p) / static_cast<double>(state_.size))) {
        return false;
      }
      visit(p, margin, threads);
    }
    return true;
  }

  /// Notes problem c's held-out outputs.
  void note(std::size_t c) { state_.note(c, spaces_[c]); }

 private:
  void visit(std::ptrdiff_t p, double margin, const PassThreads<Workspace>& threads) {
    const PointIndex i = state_.order[p];
    const auto mistaken = [&](std::size_t c) {
      return !state_.problems[c].done && p < state_.seen_by(c) &&
             spaces_[c].label(i) * state_.outputs_of(c)[i] <= margin;
    };
    for (std::size_t first = 0; first < spaces_.size(); ++first) {
      if (!mistaken(first)) continue;
      BorrowedRow<T> kept(spaces_[0].gram().kept_rows(), i);
      const T* const row = row_of(i, threads, kept);
      for (std::size_t c = first; c < spaces_.size(); ++c) {
        if (mistaken(c)) update(c, i, row);
      }
      return;
    }
  }

  /// Returns the values of row i: in memory, cached (`kept`), or computed now.
  [[nodiscard]] const T* row_of(PointIndex i, const PassThreads<Workspace>& threads,
                                BorrowedRow<T>& kept) {
    const Gram<T>& gram = spaces_[0].gram();
    Workspace& own = threads.own();
    if (gram.rows_in_memory()) return gram.row(i, own.scratch).data();
    const std::span<const PointIndex> point(&i, 1);
    if (kept.read() != nullptr) return kept.read();
    T* values = kept.write();
    if (values == nullptr) {
      own.row.reserve_discarding(state_.size);
      values = own.row.data();
    }
    constexpr std::ptrdiff_t width = 256;
    const auto compute = [&](unsigned helper, std::ptrdiff_t part) {
      const std::ptrdiff_t first = part * width;
      const std::ptrdiff_t count = std::min(width, state_.size - first);
      gram.block(point, std::span(points_).subspan(first, count), values + first, count,
                 threads.workspaces[helper].scratch);
    };
    const std::ptrdiff_t parts = (state_.size + width - 1) / width;
    if (threads.pool.idle() > 0 && parts > 1) {
      threads.pool.share(threads.worker, parts, compute);
    } else {
      for (std::ptrdiff_t part = 0; part < parts; ++part) compute(threads.worker, part);
    }
    kept.set_filled();
    return values;
  }

  void update(std::size_t c, PointIndex i, const T* row) {
    const double scale = spaces_[c].label(i);
    double* const outputs = state_.outputs_of(c);
    add_values(outputs, scale, row, state_.size);
    outputs[i] += scale * spaces_[c].lambda(i);
    state_.count_mistake(c, i);
  }

  std::span<const Space> spaces_;
  PerceptronState state_;
  std::vector<PointIndex> points_;  ///< All points, if rows are computed.
};

/// Perceptrons of a kernel that is linear in its inputs, which update w itself: a visit costs the
/// numbers of a row per problem, a mistake as much again, and no kernel value is computed. Memory:
/// w, the outputs and the counts.
///
/// The output of point i is <w, x_i> + lambda_i alpha_i, while other perceptrons add kernel values
/// one by one: equal if all are integers, which double holds exactly, else equal to rounding.
/// Columns of the state are points.
template <class T>
class LinearPerceptron {
  using Rows = LinearInputs<T>;
  using Space = KernelVersionSpace<T>;

 public:
  /// Scratch memory of a thread.
  struct Workspace {
    BlockScratch<T> scratch;  ///< Unused: nothing is evaluated.
  };

  /// The kernel values must have linear inputs: see `Gram::linear_inputs`.
  explicit LinearPerceptron(std::span<const Space> spaces)
      : spaces_(spaces),
        rows_(*spaces[0].gram().linear_inputs()),
        state_(spaces[0].size(), spaces.size(), false),
        weights_(rows_.zero_weights(std::ssize(spaces))),
        outputs_(spaces.size()) {}

  [[nodiscard]] PerceptronState& state() noexcept { return state_; }

  /// Prepares the first pass.
  void begin() { weights_.clear(); }

  /// Visits every point once; returns false if `go_on(part of the pass)` does.
  template <class GoOn>
  bool pass(double margin, const PassThreads<Workspace>& /*threads*/, GoOn&& go_on) {
    find_active(0);
    for (std::ptrdiff_t p = 0; p < state_.size; ++p) {
      if (p % 4096 == 0 && !go_on(static_cast<double>(p) / static_cast<double>(state_.size))) {
        return false;
      }
      if (p == state_.size - state_.left_out) find_active(p);
      if (active_.empty()) break;
      visit(p, margin);
    }
    return true;
  }

  /// Notes problem c's held-out outputs: outputs of all other points are those of the last pass,
  /// which did not change w.
  void note(std::size_t c) {
    active_.assign(1, static_cast<PointIndex>(c));
    for (std::ptrdiff_t p = state_.size - state_.left_out; p < state_.size; ++p) {
      find_outputs(state_.order[p]);
    }
    state_.note(c, spaces_[c]);
  }

 private:
  /// Lists the problems that are not done and see position p of the order.
  void find_active(std::ptrdiff_t p) {
    active_.clear();
    for (std::size_t c = 0; c < spaces_.size(); ++c) {
      if (!state_.problems[c].done && p < state_.seen_by(c)) {
        active_.push_back(static_cast<PointIndex>(c));
      }
    }
  }

  /// Computes the outputs of point i in the active problems.
  void find_outputs(PointIndex i) {
    rows_.outputs(i, weights_, active_, outputs_.data(), scratch_);
    for (const PointIndex c : active_) {
      const double alpha = spaces_[c].label(i) * static_cast<double>(state_.counts_of(c)[i]);
      state_.outputs_of(c)[i] = multiply_add(spaces_[c].lambda(i), alpha, outputs_[c]);
    }
  }

  void visit(std::ptrdiff_t p, double margin) {
    const PointIndex i = state_.order[p];
    constexpr std::ptrdiff_t ahead = 4;
    if (p + ahead < state_.size) rows_.prefetch(state_.order[p + ahead]);
    find_outputs(i);
    for (const PointIndex c : active_) {
      const int label = spaces_[c].label(i);
      if (label * state_.outputs_of(c)[i] <= margin) {
        rows_.add(i, c, label, weights_);
        state_.count_mistake(c, i);
      }
    }
  }

  std::span<const Space> spaces_;
  const Rows& rows_;
  typename Rows::Scratch scratch_;
  PerceptronState state_;
  LinearWeights weights_;
  std::vector<double> outputs_;     ///< Outputs of one point, by problem.
  std::vector<PointIndex> active_;  ///< Problems that see the visited point.
};

}}}  // namespace bpm::detail
