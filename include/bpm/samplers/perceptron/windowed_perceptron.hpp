// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/buffer.hpp"
#include "bpm/core/lanes.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/random/engine.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/kept_rows.hpp"
#include "bpm/samplers/perceptron/passes.hpp"
#include "bpm/samplers/perceptron/perceptron_state.hpp"
#include "bpm/version_space/kernel_version_space.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// A mistake: the point, and where it stands in the random order.
struct WindowMistake {
  PointIndex point;
  PointIndex position;
};

/// Points of the random order that are visited together: their outputs in the order of the visits,
/// `length` numbers per problem, as brought up to date.
template <class T>
struct PerceptronWindow {
  static constexpr std::ptrdiff_t length = 256;

  std::ptrdiff_t begin = 0;  ///< In the order.
  std::span<const PointIndex> points;
  Buffer<double> outputs;
  std::int64_t seen = 0;  ///< Mistakes that the outputs hold are those below.
  bool ready = false;     ///< The points are ready as columns.
  ReadyColumns<T> columns;
};

/// What a thread needs to take part in windowed evaluation.
template <class T>
struct WindowHand {
  BlockScratch<T> scratch;
  Buffer<T> values;
  ReadyColumns<T> columns;          ///< Points of a block, where not all are ready.
  std::vector<PointIndex> numbers;  ///< Theirs.
  std::vector<const T*> rows;       ///< Of the mistakes, at a block.
};

/// Perceptrons without a kernel matrix. Outputs stand in the order of the points and lack the
/// pending mistakes: the last few hundred. The random order is walked in windows: a window's
/// outputs are copied, the pending mistakes added to the copy by one block of kernel values, and
/// mistakes inside the window at once, a row of the window each. In a flush they are added to all
/// outputs, block by block of neighbouring points, at matrix-product speed or from rows that are
/// kept (`KeptRows`), which are read as streams. Pending mistakes cost every window a little, a
/// flush reads all inputs once: it comes when windows have spent as much.
///
/// Idle threads help: they share the blocks of a flush, and bring the windows that come next up to
/// date. The outputs of a point receive the same numbers in the same order as with whole rows, so
/// the result is the same to the bit. Columns of the state are points.
template <class T>
class WindowedPerceptron {
 public:
  using Space = KernelVersionSpace<T>;
  using Hand = WindowHand<T>;
  using Window = PerceptronWindow<T>;

  static constexpr std::ptrdiff_t window = Window::length;
  /// Points of a block of a flush.
  static constexpr std::ptrdiff_t block_width = 256;
  /// Mistakes of a block of kernel values.
  static constexpr std::ptrdiff_t depth = 256;
  /// Windows that threads bring up to date together, at most.
  static constexpr std::ptrdiff_t most_together = 16;

  explicit WindowedPerceptron(std::span<const Space> spaces)
      : spaces_(spaces),
        gram_(spaces[0].gram()),
        state_(spaces[0].size(), spaces.size()),
        signs_(state_.outputs.size()),
        row_of_(static_cast<std::size_t>(state_.size), -1),
        next_(spaces.size()) {}

  [[nodiscard]] PerceptronState& state() noexcept { return state_; }
  /// Those that are pending.
  [[nodiscard]] const MistakeList<WindowMistake>& mistakes() const noexcept { return pending_; }

  /// As in `RowPerceptron`. `hands` has one for each number of a thread in the pool; this one's is
  /// `worker`.
  template <class GoOn>
  PerceptronOutcome run(const PerceptronLimits& limits, RandomEngine engine, std::span<Hand> hands,
                        unsigned worker, ThreadPool& pool, GoOn&& go_on) {
    state_.start(engine, limits.left_out);
    begin();
    const PerceptronOutcome outcome = state_.passes.run(
        limits,
        [&](std::uint64_t number) {
          return pass(limits.margin, hands, worker, pool, [&](double part) {
            if (flush_is_due()) flush(hands, worker, pool);
            return go_on(static_cast<double>(number) + part);
          });
        },
        [&](std::size_t c) {
          flush(hands, worker, pool);
          state_.note(c, spaces_[c]);
        });
    if (outcome == PerceptronOutcome::consistent) flush(hands, worker, pool);
    return outcome;
  }

  /// Ready for the first pass over `state()`, whose outputs lack no mistake.
  void begin() {
    for (std::size_t c = 0; c < spaces_.size(); ++c) {
      signed char* const signs = signs_of(c);
      for (std::ptrdiff_t p = 0; p < state_.size; ++p) {
        signs[p] = static_cast<signed char>(spaces_[c].label(state_.order[p]));
      }
    }
    pending_.clear();
    spent_ = 0;
  }

  /// Visits every point once. False if `go_on(part of the pass)` was, which is asked before windows
  /// and may flush.
  template <class GoOn>
  bool pass(double margin, std::span<Hand> hands, unsigned worker, ThreadPool& pool, GoOn&& go_on) {
    Hand& own = hands[worker];
    const std::ptrdiff_t count = (state_.size + window - 1) / window;
    for (std::ptrdiff_t b = 0; b < count;) {
      if (!go_on(static_cast<double>(b) / static_cast<double>(count))) {
        return false;
      }
      const std::ptrdiff_t together = windows_together(count - b, pool.idle());
      while (std::ssize(windows_) < together) windows_.emplace_back();
      if (together > 1) {
        pool.share(worker, together, [&](unsigned helper, std::ptrdiff_t g) {
          copy_outputs(b + g, windows_[g]);
          catch_up(windows_[g], hands[helper]);
        });
      } else {
        copy_outputs(b, windows_[0]);
      }
      for (std::ptrdiff_t g = 0; g < together; ++g, ++b) {
        spent_ += window * (pending_.end() - pending_.begin() > 0
                                ? pending_.end() - pending_.begin() + reading
                                : 0);
        prefetch(b + 1);
        catch_up(windows_[g], own);
        visit(windows_[g], margin, own);
      }
    }
    return true;
  }

  /// After a consistent run nothing is pending.
  [[nodiscard]] PerceptronSolution solution(std::size_t c) {
    return state_.normalised(c, spaces_[c]);
  }

 private:
  /// What reading and packing a point's inputs costs, in kernel values.
  static constexpr std::int64_t reading = 64;

  [[nodiscard]] signed char* signs_of(std::size_t c) {
    return signs_.data() + static_cast<std::ptrdiff_t>(c) * state_.size;
  }
  [[nodiscard]] static double* outputs_of(Window& at, std::size_t c) {
    return at.outputs.data() + static_cast<std::ptrdiff_t>(c) * window;
  }

  /// How many windows to bring up to date at once: the more, the more of the mistakes are made on
  /// the way and are left to this thread alone.
  [[nodiscard]] std::ptrdiff_t windows_together(std::ptrdiff_t left, unsigned idle) const {
    constexpr std::int64_t worth_waking = 64;
    if (idle == 0 || pending_.end() - pending_.begin() < worth_waking) {
      return 1;
    }
    const auto team = static_cast<std::ptrdiff_t>(idle) + 1;
    return std::min({2 * team, most_together, left});
  }

  /// Asks for the inputs of window b, if it will be caught up.
  void prefetch(std::ptrdiff_t b) const {
    if (pending_.end() == pending_.begin()) return;
    const std::ptrdiff_t end = std::min(state_.size, (b + 1) * window);
    for (std::ptrdiff_t p = b * window; p < end; ++p) gram_.prefetch(state_.order[p]);
  }

  /// Outputs of window b, which lack what is pending.
  void copy_outputs(std::ptrdiff_t b, Window& at) {
    at.begin = b * window;
    const std::ptrdiff_t count = std::min(window, state_.size - at.begin);
    at.points = {state_.order.data() + at.begin, static_cast<std::size_t>(count)};
    at.outputs.reserve_discarding(window * std::ssize(spaces_));
    at.seen = pending_.begin();
    at.ready = false;
    for (std::size_t c = 0; c < spaces_.size(); ++c) {
      if (state_.passes[c].done) continue;
      const double* const from = state_.outputs_of(c);
      double* const to = outputs_of(at, c);
      for (std::ptrdiff_t j = 0; j < count; ++j) to[j] = from[at.points[j]];
    }
  }

  /// values[a * width + b] = K_{rows[a], point b of the window}.
  void window_block(Window& at, std::span<const PointIndex> rows, Hand& hand) {
    if (!std::exchange(at.ready, true)) gram_.prepare(at.points, at.columns);
    const auto width = std::ssize(at.points);
    hand.values.reserve_discarding(window * depth);
    gram_.block(rows, at.columns, 0, width, hand.values.data(), width, hand.scratch);
  }

  /// Adds the pending mistakes that a window has not seen to its outputs.
  void catch_up(Window& at, Hand& hand) {
    const auto width = std::ssize(at.points);
    for (std::int64_t begin = at.seen; begin < pending_.end(); begin += depth) {
      const std::int64_t end = std::min<std::int64_t>(begin + depth, pending_.end());
      hand.numbers.clear();
      for (std::int64_t e = begin; e < end; ++e) hand.numbers.push_back(pending_[e].point);
      window_block(at, hand.numbers, hand);
      for (std::int64_t e = begin; e < end; ++e) {
        const std::ptrdiff_t own = pending_[e].position - at.begin;
        const T* const values = hand.values.data() + (e - begin) * width;
        for (const MistakeUpdate& update : pending_.updates(e)) {
          const auto c = static_cast<std::size_t>(update.problem);
          if (state_.passes[c].done) continue;
          double* const outputs = outputs_of(at, c);
          add_values(outputs, update.scale, values, width);
          if (own >= 0 && own < width) {
            outputs[own] += update.scale * spaces_[c].lambda(pending_[e].point);
          }
        }
      }
    }
    at.seen = pending_.end();
  }

  /// The first place in [from, end) of the window where problem c makes a mistake, or `end`.
  [[nodiscard]] std::ptrdiff_t next_mistake(Window& at, std::size_t c, std::ptrdiff_t from,
                                            std::ptrdiff_t end, double margin) {
    const double* const outputs = outputs_of(at, c);
    const signed char* const signs = signs_of(c) + at.begin;
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

  void visit(Window& at, double margin, Hand& hand) {
    const auto width = std::ssize(at.points);
    // A problem that does not see all of the window yet looks for mistakes up to there.
    const auto next_of = [&](std::size_t c, std::ptrdiff_t from) {
      const std::ptrdiff_t seen = std::min(width, state_.seen_by(c) - at.begin);
      const std::ptrdiff_t found = from < seen ? next_mistake(at, c, from, seen, margin) : seen;
      return found < seen ? found : width;
    };
    for (std::size_t c = 0; c < spaces_.size(); ++c) {
      next_[c] = state_.passes[c].done ? width : next_of(c, 0);
    }
    while (true) {
      const std::ptrdiff_t p = *std::min_element(next_.begin(), next_.end());
      if (p == width) {
        break;
      }
      const PointIndex point = at.points[p];
      pending_.add({point, static_cast<PointIndex>(at.begin + p)});
      window_block(at, std::span(&point, 1), hand);
      for (std::size_t c = 0; c < spaces_.size(); ++c) {
        if (next_[c] != p) {
          continue;
        }
        const signed char scale = signs_of(c)[at.begin + p];
        add_values(outputs_of(at, c), scale, hand.values.data(), width);
        outputs_of(at, c)[p] += scale * spaces_[c].lambda(point);
        state_.count_mistake(c, point);
        pending_.add_update({static_cast<std::int32_t>(c), scale});
        next_[c] = next_of(c, p + 1);
      }
    }
    at.seen = pending_.end();
  }

  /// Whether the windows have spent as much on what is pending as reading all inputs once costs: no
  /// rule that does not know the mistakes to come does better than twice the best.
  [[nodiscard]] bool flush_is_due() const { return spent_ >= state_.size * reading; }

  /// Some neighbouring ones of the pending mistakes: what a block of kernel values holds.
  struct FlushPart {
    std::int64_t first = 0;
    std::int64_t end = 0;
    std::vector<PointIndex> points;    ///< Each once, however often it is mistaken.
    std::vector<std::int32_t> row;     ///< Of each mistake among these.
    std::vector<PointIndex> computed;  ///< Those whose rows are not kept.
    std::vector<typename KeptRows<T>::Row> borrowed;
    std::optional<BorrowedRows<T>> rows;
  };

  /// Adds what is pending to all outputs.
  void flush(std::span<Hand> hands, unsigned worker, ThreadPool& pool) {
    spent_ = 0;
    if (pending_.begin() == pending_.end()) return;
    const auto parts =
        static_cast<std::size_t>((pending_.end() - pending_.begin() + depth - 1) / depth);
    while (parts_.size() < parts) parts_.emplace_back();
    for (std::size_t k = 0; k < parts; ++k) {
      const std::int64_t first = pending_.begin() + static_cast<std::int64_t>(k) * depth;
      collect(first, std::min<std::int64_t>(first + depth, pending_.end()), parts_[k]);
    }
    const std::ptrdiff_t blocks = (state_.size + block_width - 1) / block_width;
    const auto work = [&](unsigned helper, std::ptrdiff_t b) {
      for (std::size_t k = 0; k < parts; ++k)
        flush_block(b * block_width, parts_[k], hands[helper]);
    };
    if (pool.idle() > 0) {
      pool.share(worker, blocks, work);
    } else {
      for (std::ptrdiff_t b = 0; b < blocks; ++b) work(worker, b);
    }
    for (std::size_t k = 0; k < parts; ++k) {
      parts_[k].rows->set_filled();
      parts_[k].rows.reset();
    }
    pending_.forget(pending_.end());
  }

  /// The mistakes [first, end) of those pending as a part of a flush.
  void collect(std::int64_t first, std::int64_t end, FlushPart& part) {
    part.first = first;
    part.end = end;
    part.points.clear();
    part.row.clear();
    part.computed.clear();
    for (std::int64_t e = first; e < end; ++e) {
      std::int32_t& row = row_of_[static_cast<std::size_t>(pending_[e].point)];
      if (row < 0) {
        row = static_cast<std::int32_t>(part.points.size());
        part.points.push_back(pending_[e].point);
      }
      part.row.push_back(row);
    }
    for (const PointIndex point : part.points) row_of_[static_cast<std::size_t>(point)] = -1;
    part.rows.emplace(gram_.kept_rows(), part.points, part.borrowed);
    for (std::size_t k = 0; k < part.points.size(); ++k) {
      if (part.borrowed[k].read == nullptr) part.computed.push_back(part.points[k]);
    }
  }

  /// Adds a part's mistakes to the outputs of a block of points from `first` on.
  void flush_block(std::ptrdiff_t first, const FlushPart& part, Hand& hand) {
    const std::ptrdiff_t width = std::min(block_width, state_.size - first);
    hand.values.reserve_discarding(depth * block_width);
    T* const values = hand.values.data();
    if (!part.computed.empty()) {
      if (const ReadyColumns<T>* const all = gram_.all_columns()) {
        gram_.block(part.computed, *all, first, width, values, width, hand.scratch);
      } else {
        hand.numbers.resize(static_cast<std::size_t>(width));
        std::iota(hand.numbers.begin(), hand.numbers.end(), static_cast<PointIndex>(first));
        gram_.prepare(hand.numbers, hand.columns);
        gram_.block(part.computed, hand.columns, 0, width, values, width, hand.scratch);
      }
    }
    hand.rows.resize(part.points.size());
    std::ptrdiff_t next = 0;
    for (std::size_t k = 0; k < part.points.size(); ++k) {
      const typename KeptRows<T>::Row& kept = part.borrowed[k];
      hand.rows[k] = kept.read != nullptr ? kept.read + first : values + next++ * width;
      if (kept.write != nullptr) std::copy_n(hand.rows[k], width, kept.write + first);
    }
    // Kept rows come from memory: they are asked for some mistakes before.
    constexpr std::size_t ahead = 6;
    for (std::size_t k = 0; k < part.row.size(); ++k) {
      if (k + ahead < part.row.size()) prefetch_values(hand.rows[part.row[k + ahead]], width);
      const T* const row = hand.rows[part.row[k]];
      const std::int64_t e = part.first + static_cast<std::int64_t>(k);
      const std::ptrdiff_t own = pending_[e].point - first;
      for (const MistakeUpdate& update : pending_.updates(e)) {
        const auto c = static_cast<std::size_t>(update.problem);
        double* const outputs = state_.outputs_of(c) + first;
        add_values(outputs, update.scale, row, width);
        if (own >= 0 && own < width) {
          outputs[own] += update.scale * spaces_[c].lambda(pending_[e].point);
        }
      }
    }
  }

  static void prefetch_values([[maybe_unused]] const T* values,
                              [[maybe_unused]] std::ptrdiff_t count) {
#if defined(__GNUC__)
    for (std::ptrdiff_t k = 0; k < count; k += 64 / std::ptrdiff_t{sizeof(T)}) {
      __builtin_prefetch(values + k);
    }
#endif
  }

  std::span<const Space> spaces_;
  const Gram<T>& gram_;
  PerceptronState state_;
  Buffer<signed char> signs_;  ///< Labels by position in the order, C x m.
  std::vector<Window> windows_;
  MistakeList<WindowMistake> pending_;
  std::int64_t spent_ = 0;            ///< By windows on what is pending, in kernel values.
  std::vector<std::int32_t> row_of_;  ///< Of each point in the part that is collected; -1: none.
  std::vector<std::ptrdiff_t> next_;
  std::deque<FlushPart> parts_;  ///< Not moved: what is borrowed refers to their lists.
};

}}}  // namespace bpm::detail
