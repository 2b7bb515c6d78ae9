// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/linear_rows.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/samplers/perceptron/perceptron_state.hpp"
#include "bpm/version_space/version_space.hpp"

/// \file
/// Passes of perceptrons over the points: on kernel rows, on windows of points, or on w itself.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Scratch memory of a thread.
template <class T>
struct PassWorkspace {
  BlockScratch<T> scratch;
  Buffer<T> values;               ///< A row, or a block, of kernel values.
  std::vector<PointIndex> asked;  ///< Points of a block's mistakes.
};

/// Threads of a pass: this one, which is `worker`, and those of the pool that are idle.
template <class T>
struct PassThreads {
  std::span<PassWorkspace<T>> workspaces;  ///< Of every thread.
  unsigned worker;
  ThreadPool& pool;

  [[nodiscard]] PassWorkspace<T>& own() const { return workspaces[worker]; }
};

/// Perceptrons on whole kernel rows: a mistake costs one row and an axpy of length m. Rows that are
/// not in memory are computed at mistakes, by all idle threads, and cached if there is memory.
/// Columns of the state are points.
template <class T>
class RowPerceptron {
 public:
  using Space = KernelVersionSpace<T>;

  explicit RowPerceptron(std::span<const Space> spaces)
      : spaces_(spaces), state_(spaces[0].size(), spaces.size(), false) {
    if (!spaces[0].rows_in_memory()) points_ = first_points(state_.size);
  }

  [[nodiscard]] PerceptronState& state() noexcept { return state_; }

  /// Prepares the first pass: nothing but the state.
  void begin() {}

  /// Visits every point once; returns false if `go_on(part of the pass)` does.
  template <class GoOn>
  bool pass(double margin, const PassThreads<T>& threads, GoOn&& go_on) {
    return state_.visit_all(go_on, [&](std::ptrdiff_t p) { visit(p, margin, threads); });
  }

 private:
  void visit(std::ptrdiff_t p, double margin, const PassThreads<T>& threads) {
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
        if (!mistaken(c)) continue;
        const double scale = spaces_[c].label(i);
        by_machine<add_values<T>>(state_.outputs_of(c), scale, row, state_.size);
        state_.outputs_of(c)[i] += scale * spaces_[c].lambda(i);
        state_.count_mistake(c, i);
      }
      return;
    }
  }

  /// Returns the values of row i: in memory, cached (`kept`), or computed now.
  [[nodiscard]] const T* row_of(PointIndex i, const PassThreads<T>& threads, BorrowedRow<T>& kept) {
    const Gram<T>& gram = spaces_[0].gram();
    PassWorkspace<T>& own = threads.own();
    if (gram.rows_in_memory()) return gram.row(i, own.scratch).data();
    const std::span<const PointIndex> point(&i, 1);
    if (kept.read() != nullptr) return kept.read();
    T* values = kept.write();
    if (values == nullptr) {
      own.values.reserve_discarding(state_.size);
      values = own.values.data();
    }
    constexpr std::ptrdiff_t width = 256;
    const auto compute = [&](unsigned helper, std::ptrdiff_t part) {
      const std::ptrdiff_t first = part * width;
      const std::ptrdiff_t count = std::min(width, state_.size - first);
      gram.block(point, slice_of(points_, first, count), values + first, count,
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

  std::span<const Space> spaces_;
  PerceptronState state_;
  std::vector<PointIndex> points_;  ///< All points, if rows are computed.
};

/// Perceptrons without a kernel matrix, which visit the random order in windows of a few hundred
/// points. The outputs of a window lack only the mistakes made since its last visit, which one
/// block of kernel values (those mistakes x the window) adds; mistakes inside the window are added
/// at once, each by one row of values. Every kernel value is computed once, at matrix-product
/// speed, and used; memory is the outputs.
///
/// Idle threads help: they update the next windows by the mistakes known so far, so that only those
/// made in the meantime are left to add.
///
/// The outputs of a point receive the same numbers in the same order as with whole rows, so the
/// result has the same bits. Columns of the state are positions in the random order.
template <class T>
class WindowedPerceptron {
 public:
  using Space = KernelVersionSpace<T>;

  /// Points per window: few enough that the windows' inputs fit the second-level cache, and that
  /// the rows inside the window, which are computed one at a time, are a small part of the whole.
  static constexpr std::ptrdiff_t window = 256;
  /// Mistakes per block.
  static constexpr std::ptrdiff_t depth = 128;
  /// Largest number of windows that threads update together.
  static constexpr std::ptrdiff_t most_together = 16;

  explicit WindowedPerceptron(std::span<const Space> spaces)
      : spaces_(spaces),
        gram_(spaces[0].gram()),
        state_(spaces[0].size(), spaces.size(), true),
        signs_(state_.outputs.size()),
        applied_((state_.size + window - 1) / window),
        next_(spaces.size()) {}

  [[nodiscard]] PerceptronState& state() noexcept { return state_; }

  /// Points of the mistakes that some window has not seen.
  [[nodiscard]] const MistakeList& mistakes() const noexcept { return mistakes_; }

  /// Prepares the first pass over `state()`, whose outputs lack no mistake.
  void begin() {
    for (std::size_t c = 0; c < spaces_.size(); ++c) {
      signed char* const signs = signs_of(c);
      for (std::ptrdiff_t p = 0; p < state_.size; ++p) {
        signs[p] = static_cast<signed char>(spaces_[c].label(state_.order[p]));
      }
    }
    applied_.fill(0);
    mistakes_ = {};
  }

  /// Visits every point once; returns false if `go_on(part of the pass)` does.
  template <class GoOn>
  bool pass(double margin, const PassThreads<T>& threads, GoOn&& go_on) {
    // Windows are visited in turn: the first lacks the most mistakes.
    mistakes_.forget(applied_[0]);
    for (std::ptrdiff_t b = 0; b < applied_.size();) {
      if (!go_on(static_cast<double>(b) / static_cast<double>(applied_.size()))) return false;
      const std::ptrdiff_t together = windows_together(b, threads.pool.idle());
      while (std::ssize(windows_) < together) windows_.emplace_back();
      for (std::ptrdiff_t g = 0; g < together; ++g) {
        const std::ptrdiff_t begin = (b + g) * window;
        const std::ptrdiff_t count = std::min(window, state_.size - begin);
        windows_[std::size_t(g)].points = slice_of(state_.order.span(), begin, count);
        windows_[std::size_t(g)].ready = false;
      }
      if (together > 1) {
        threads.pool.share(threads.worker, together, [&](unsigned helper, std::ptrdiff_t g) {
          catch_up(b + g, windows_[std::size_t(g)], threads.workspaces[helper]);
        });
      }
      for (std::ptrdiff_t g = 0; g < together; ++g, ++b) {
        catch_up(b, windows_[std::size_t(g)], threads.own());
        visit(b, windows_[std::size_t(g)], margin, threads.own());
      }
    }
    return true;
  }

 private:
  /// Points of a window as columns of blocks of kernel values, prepared once, on first use.
  struct Window {
    std::span<const PointIndex> points;
    bool ready = false;
    ReadyColumns<T> columns;
  };

  /// Computes the kernel values of `rows` and a window's points, row by row, in `workspace.values`.
  void compute(std::span<const PointIndex> rows, Window& to, PassWorkspace<T>& workspace) const {
    const auto width = std::ssize(to.points);
    if (!std::exchange(to.ready, true)) gram_.prepare(to.points, to.columns);
    gram_.block(rows, to.columns, 0, width, workspace.values.data(), width, workspace.scratch);
  }

  [[nodiscard]] signed char* signs_of(std::size_t c) {
    return signs_.data() + static_cast<std::ptrdiff_t>(c) * state_.size;
  }

  /// Number of windows from b on to update together: the larger it is, the more mistakes are made
  /// in the meantime, which this thread adds alone.
  [[nodiscard]] std::ptrdiff_t windows_together(std::ptrdiff_t b, unsigned idle) const {
    constexpr std::int64_t worth_waking = 64;
    if (idle == 0 || mistakes_.end() - applied_[b] < worth_waking) {
      return 1;
    }
    const auto team = static_cast<std::ptrdiff_t>(idle) + 1;
    return std::min({2 * team, most_together, applied_.size() - b});
  }

  /// Adds the mistakes made since the last visit to window b to its outputs.
  void catch_up(std::ptrdiff_t b, Window& to, PassWorkspace<T>& workspace) {
    const auto width = std::ssize(to.points);
    workspace.values.reserve_discarding(window * depth);
    for (std::int64_t begin = applied_[b]; begin < mistakes_.end(); begin += depth) {
      const auto count =
          static_cast<std::ptrdiff_t>(std::min<std::int64_t>(depth, mistakes_.end() - begin));
      workspace.asked.clear();
      for (std::ptrdiff_t e = 0; e < count; ++e) workspace.asked.push_back(mistakes_[begin + e]);
      compute(workspace.asked, to, workspace);
      for (std::ptrdiff_t e = 0; e < count; ++e) {
        state_.add(mistakes_.updates(begin + e), workspace.values.data() + e * width, b * window,
                   width);
      }
    }
    applied_[b] = mistakes_.end();
  }

  /// Returns the first position in [from, end) where problem c makes a mistake, or `end`.
  [[nodiscard]] std::ptrdiff_t next_mistake(std::size_t c, std::ptrdiff_t from, std::ptrdiff_t end,
                                            double margin) {
    const double* const outputs = state_.outputs_of(c);
    const signed char* const signs = signs_of(c);
    constexpr std::ptrdiff_t step = 32;
    for (; from + step <= end; from += step) {
      int any = 0;
      for (std::ptrdiff_t p = from; p < from + step; ++p) {
        any |= static_cast<int>(signs[p] * outputs[p] <= margin);
      }
      if (any != 0) break;
    }
    while (from < end && !(signs[from] * outputs[from] <= margin)) ++from;
    return from;
  }

  void visit(std::ptrdiff_t b, Window& to, double margin, PassWorkspace<T>& workspace) {
    const auto width = std::ssize(to.points);
    const std::ptrdiff_t begin = b * window;
    const std::ptrdiff_t end = begin + width;
    // A problem with held-out points looks for mistakes only before them.
    const auto next_of = [&](std::size_t c, std::ptrdiff_t from) {
      const std::ptrdiff_t seen = std::min(end, state_.seen_by(c));
      const std::ptrdiff_t found = from < seen ? next_mistake(c, from, seen, margin) : seen;
      return found < seen ? found : end;
    };
    for (std::size_t c = 0; c < spaces_.size(); ++c) {
      next_[c] = state_.problems[c].done ? end : next_of(c, begin);
    }
    while (true) {
      const std::ptrdiff_t p = *std::min_element(next_.begin(), next_.end());
      if (p == end) break;
      const PointIndex point = state_.order[p];
      mistakes_.add(point);
      compute(std::span(&point, 1), to, workspace);
      for (std::size_t c = 0; c < spaces_.size(); ++c) {
        if (next_[c] != p) continue;
        const signed char scale = signs_of(c)[p];
        by_machine<add_values<T>>(state_.outputs_of(c) + begin, double(scale),
                                  std::as_const(workspace.values).data(), width);
        state_.outputs_of(c)[p] += scale * spaces_[c].lambda(point);
        state_.count_mistake(c, p);
        mistakes_.add_update({static_cast<std::int32_t>(c), scale});
        next_[c] = next_of(c, p + 1);
      }
    }
    applied_[b] = mistakes_.end();
  }

  std::span<const Space> spaces_;
  const Gram<T>& gram_;
  PerceptronState state_;
  Buffer<signed char> signs_;
  Buffer<std::int64_t> applied_;  ///< Number of mistakes that each window has seen.
  std::vector<std::ptrdiff_t> next_;
  std::vector<Window> windows_;  ///< Windows in work.
  MistakeList mistakes_;
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
  bool pass(double margin, const PassThreads<T>& /*threads*/, GoOn&& go_on) {
    find_active(0);
    const bool whole = state_.visit_all(go_on, [&](std::ptrdiff_t p) {
      if (p == state_.size - state_.left_out) find_active(p);
      if (!active_.empty()) visit(p, margin);
    });
    // Held-out points have outputs after a pass without mistakes, which did not change w.
    for (std::size_t c = 0; whole && c < spaces_.size(); ++c) {
      if (!state_.problems[c].leaves_out || state_.problems[c].mistakes_in_pass > 0) continue;
      active_.assign(1, static_cast<PointIndex>(c));
      for (std::ptrdiff_t p = state_.size - state_.left_out; p < state_.size; ++p) {
        find_outputs(state_.order[p]);
      }
    }
    return whole;
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
    for (const PointIndex problem : active_) {
      const auto c = static_cast<std::size_t>(problem);
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
      const int label = spaces_[std::size_t(c)].label(i);
      if (label * state_.outputs_of(std::size_t(c))[i] <= margin) {
        rows_.add(i, c, label, weights_);
        state_.count_mistake(std::size_t(c), i);
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
