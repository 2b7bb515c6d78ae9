// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/samplers/perceptron/perceptron_state.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Points at which some problem made a mistake, in order and numbered from the start of a run,
/// until every window has seen them.
class MistakeList {
 public:
  [[nodiscard]] std::int64_t end() const { return first_ + std::ssize(entries_); }
  [[nodiscard]] PointIndex operator[](std::int64_t number) const {
    return entries_[number - first_].mistake;
  }
  [[nodiscard]] std::span<const MistakeUpdate> updates(std::int64_t number) const {
    const std::size_t begin = updates_end(number - 1);
    return std::span(updates_).subspan(begin - forgotten_, updates_end(number) - begin);
  }

  void add(PointIndex mistake) { entries_.push_back({mistake, forgotten_ + updates_.size()}); }
  /// Adds an update to the mistake added last.
  void add_update(MistakeUpdate update) {
    updates_.push_back(update);
    ++entries_.back().updates_end;
  }

  /// Forgets mistakes below `number`.
  void forget(std::int64_t number) {
    if (number <= first_) return;
    const std::size_t updates = updates_end(number - 1);
    updates_.erase(updates_.begin(),
                   updates_.begin() + static_cast<std::ptrdiff_t>(updates - forgotten_));
    entries_.erase(entries_.begin(), entries_.begin() + (number - first_));
    forgotten_ = updates;
    first_ = number;
  }

 private:
  struct Entry {
    PointIndex mistake;
    std::size_t updates_end;  ///< End of its updates, numbered from the start of the run.
  };

  [[nodiscard]] std::size_t updates_end(std::int64_t number) const {
    return number < first_ ? forgotten_ : entries_[number - first_].updates_end;
  }

  std::vector<Entry> entries_;
  std::vector<MistakeUpdate> updates_;
  std::int64_t first_ = 0;
  std::size_t forgotten_ = 0;  ///< Number of updates of forgotten mistakes.
};

/// Points of a window as columns of blocks of kernel values, prepared once, on first use.
template <class T>
class WindowColumns {
 public:
  void start(std::span<const PointIndex> points) {
    points_ = points;
    ready_ = false;
  }

  [[nodiscard]] std::span<const PointIndex> points() const noexcept { return points_; }

  /// Computes values[a * ld + b] = K_{rows[a] points[b]}.
  void block(const Gram<T>& gram, std::span<const PointIndex> rows, T* values, std::ptrdiff_t ld,
             BlockScratch<T>& scratch) {
    if (!std::exchange(ready_, true)) gram.prepare(points_, columns_);
    gram.block(rows, columns_, 0, std::ssize(points_), values, ld, scratch);
  }

 private:
  std::span<const PointIndex> points_;
  bool ready_ = false;
  ReadyColumns<T> columns_;
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

  /// Scratch memory of a thread.
  struct Workspace {
    BlockScratch<T> scratch;
    Buffer<T> values;
    std::vector<PointIndex> asked;  ///< Points of a block's mistakes.
  };

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
  bool pass(double margin, const PassThreads<Workspace>& threads, GoOn&& go_on) {
    // Windows are visited in turn: the first lacks the most mistakes.
    mistakes_.forget(applied_[0]);
    const auto& [workspaces, worker, pool] = threads;
    for (std::ptrdiff_t b = 0; b < applied_.size();) {
      if (!go_on(static_cast<double>(b) / static_cast<double>(applied_.size()))) return false;
      const std::ptrdiff_t together = windows_together(b, pool.idle());
      while (std::ssize(columns_) < together) columns_.emplace_back();
      for (std::ptrdiff_t g = 0; g < together; ++g) columns_[g].start(points_of(b + g));
      if (together > 1) {
        pool.share(worker, together, [&](unsigned helper, std::ptrdiff_t g) {
          catch_up(b + g, columns_[g], workspaces[helper]);
        });
      }
      for (std::ptrdiff_t g = 0; g < together; ++g, ++b) {
        catch_up(b, columns_[g], threads.own());
        visit(b, columns_[g], margin, threads.own());
      }
    }
    return true;
  }

  /// Notes problem c's held-out outputs: after a pass without mistakes every window is up to date.
  void note(std::size_t c) { state_.note(c, spaces_[c]); }

 private:
  [[nodiscard]] signed char* signs_of(std::size_t c) {
    return signs_.data() + static_cast<std::ptrdiff_t>(c) * state_.size;
  }

  [[nodiscard]] std::span<const PointIndex> points_of(std::ptrdiff_t b) const {
    const std::ptrdiff_t begin = b * window;
    const std::ptrdiff_t count = std::min(window, state_.size - begin);
    return {state_.order.data() + begin, static_cast<std::size_t>(count)};
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
  void catch_up(std::ptrdiff_t b, WindowColumns<T>& columns, Workspace& workspace) {
    const auto width = std::ssize(columns.points());
    workspace.values.reserve_discarding(window * depth);
    for (std::int64_t begin = applied_[b]; begin < mistakes_.end(); begin += depth) {
      const auto count =
          static_cast<std::ptrdiff_t>(std::min<std::int64_t>(depth, mistakes_.end() - begin));
      workspace.asked.clear();
      for (std::ptrdiff_t e = 0; e < count; ++e) workspace.asked.push_back(mistakes_[begin + e]);
      columns.block(gram_, workspace.asked, workspace.values.data(), width, workspace.scratch);
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
      if (any != 0) {
        break;
      }
    }
    while (from < end && !(signs[from] * outputs[from] <= margin)) ++from;
    return from;
  }

  void visit(std::ptrdiff_t b, WindowColumns<T>& columns, double margin, Workspace& workspace) {
    const auto width = std::ssize(columns.points());
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
      if (p == end) {
        break;
      }
      const PointIndex point = state_.order[p];
      mistakes_.add(point);
      columns.block(gram_, std::span(&point, 1), workspace.values.data(), width, workspace.scratch);
      for (std::size_t c = 0; c < spaces_.size(); ++c) {
        if (next_[c] != p) {
          continue;
        }
        const signed char scale = signs_of(c)[p];
        add_values(state_.outputs_of(c) + begin, scale, workspace.values.data(), width);
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
  std::vector<WindowColumns<T>> columns_;  ///< Columns of the windows in work.
  MistakeList mistakes_;
};

}}}  // namespace bpm::detail
