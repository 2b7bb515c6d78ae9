// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bpm/core/buffer.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/kept_rows.hpp"
#include "bpm/samplers/perceptron/perceptron_state.hpp"
#include "bpm/version_space/kernel_version_space.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Perceptrons on whole kernel rows: a mistake costs one row and an axpy of length m. Rows that are
/// not in memory are computed as mistakes ask for them, by all idle threads, and kept where there
/// is room. Columns of the state are points.
template <class T>
class RowPerceptron {
 public:
  using Space = KernelVersionSpace<T>;

  /// What a thread needs to take part.
  struct Hand {
    BlockScratch<T> scratch;
    Buffer<T> row;
    std::vector<typename KeptRows<T>::Row> borrowed;
  };

  explicit RowPerceptron(std::span<const Space> spaces)
      : spaces_(spaces), state_(spaces[0].size(), spaces.size()) {
    if (!spaces[0].rows_in_memory()) points_ = first_points(state_.size);
  }

  [[nodiscard]] PerceptronState& state() noexcept { return state_; }

  /// Visits the points in a random order until a full pass makes no mistake; or, in greedy order,
  /// always the one with the smallest signed output (the first in the random order among equals),
  /// until that output is above the margin. `go_on(passes)` is asked now and then.
  template <class GoOn>
  PerceptronOutcome run(const PerceptronLimits& limits, RandomEngine engine, std::span<Hand> hands,
                        unsigned worker, ThreadPool& pool, GoOn&& go_on) {
    const RowSource rows{hands, worker, pool};
    state_.start(engine, limits.left_out);
    if (limits.greedy) {
      return run_greedy(limits, rows, go_on);
    }
    return state_.passes.run(
        limits,
        [&](std::uint64_t pass) {
          for (std::ptrdiff_t p = 0; p < state_.size; ++p) {
            if (p % 4096 == 0 &&
                !go_on(static_cast<double>(pass) +
                       static_cast<double>(p) / static_cast<double>(state_.size))) {
              return false;
            }
            visit(p, limits.margin, rows);
          }
          return true;
        },
        [&](std::size_t c) { state_.note(c, spaces_[c]); });
  }

  [[nodiscard]] PerceptronSolution solution(std::size_t c) {
    return state_.normalised(c, spaces_[c]);
  }

 private:
  /// Who computes rows that are not in memory.
  struct RowSource {
    std::span<Hand> hands;
    unsigned worker;
    ThreadPool& pool;
  };

  template <class GoOn>
  PerceptronOutcome run_greedy(const PerceptronLimits& limits, const RowSource& rows,
                               GoOn&& go_on) {
    const auto points = static_cast<std::uint64_t>(state_.size);
    state_.passes.begin_pass();
    for (std::size_t c = 0; c < spaces_.size(); ++c) {
      PerceptronProblem& problem = state_.passes[c];
      for (std::uint64_t step = 0;; ++step) {
        const PointIndex worst = smallest_output(c);
        if (signed_output(c, worst) > limits.margin) {
          break;
        }
        if (step >= limits.max_steps) {
          // m steps count as a pass; the search just made has found a mistake.
          problem.passes = 1 + step / points;
          problem.mistakes_in_pass = 1;
          return PerceptronOutcome::out_of_passes;
        }
        if (!go_on(static_cast<double>(step) / static_cast<double>(state_.size))) {
          return PerceptronOutcome::stopped;
        }
        with_row(worst, rows, [&](const T* row) { update(c, worst, row); });
        if (state_.passes.beyond(limits)) {
          return PerceptronOutcome::out_of_mistakes;
        }
      }
      // The last search saw every point and found no mistake: a full pass.
      problem = {
          .done = true, .mistakes = problem.mistakes, .passes = 1 + problem.mistakes / points};
    }
    return PerceptronOutcome::consistent;
  }

  [[nodiscard]] double signed_output(std::size_t c, PointIndex i) {
    return spaces_[c].label(i) * state_.outputs_of(c)[i];
  }

  void visit(std::ptrdiff_t p, double margin, const RowSource& rows) {
    const PointIndex i = state_.order[p];
    const auto mistaken = [&](std::size_t c) {
      return !state_.passes[c].done && p < state_.seen_by(c) && signed_output(c, i) <= margin;
    };
    for (std::size_t first = 0; first < spaces_.size(); ++first) {
      if (!mistaken(first)) continue;
      with_row(i, rows, [&](const T* row) {
        for (std::size_t c = first; c < spaces_.size(); ++c) {
          if (mistaken(c)) update(c, i, row);
        }
      });
      return;
    }
  }

  /// Calls use(row) with the values of row i: in memory, kept, or computed now.
  template <class Use>
  void with_row(PointIndex i, const RowSource& rows, Use&& use) {
    const Gram<T>& gram = spaces_[0].gram();
    Hand& own = rows.hands[rows.worker];
    if (gram.rows_in_memory()) return use(gram.row(i, own.scratch).data());
    const std::span<const PointIndex> point(&i, 1);
    BorrowedRows<T> kept(gram.kept_rows(), point, own.borrowed);
    if (kept[0].read != nullptr) return use(kept[0].read);
    T* values = kept[0].write;
    if (values == nullptr) {
      own.row.reserve_discarding(state_.size);
      values = own.row.data();
    }
    constexpr std::ptrdiff_t width = 256;
    const auto compute = [&](unsigned helper, std::ptrdiff_t part) {
      const std::ptrdiff_t first = part * width;
      const std::ptrdiff_t count = std::min(width, state_.size - first);
      gram.block(point, std::span(points_).subspan(first, count), values + first, count,
                 rows.hands[helper].scratch);
    };
    const std::ptrdiff_t parts = (state_.size + width - 1) / width;
    if (rows.pool.idle() > 0 && parts > 1) {
      rows.pool.share(rows.worker, parts, compute);
    } else {
      for (std::ptrdiff_t part = 0; part < parts; ++part) compute(rows.worker, part);
    }
    kept.set_filled();
    use(values);
  }

  void update(std::size_t c, PointIndex i, const T* row) {
    const double scale = spaces_[c].label(i);
    double* const outputs = state_.outputs_of(c);
    add_values(outputs, scale, row, state_.size);
    outputs[i] += scale * spaces_[c].lambda(i);
    state_.count_mistake(c, i);
  }

  [[nodiscard]] PointIndex smallest_output(std::size_t c) {
    PointIndex best = state_.order[0];
    double smallest = signed_output(c, best);
    for (std::ptrdiff_t p = 1; p < state_.size; ++p) {
      const double output = signed_output(c, state_.order[p]);
      if (output < smallest) {
        smallest = output;
        best = state_.order[p];
      }
    }
    return best;
  }

  std::span<const Space> spaces_;
  PerceptronState state_;
  std::vector<PointIndex> points_;  ///< All, where rows are computed.
};

}}}  // namespace bpm::detail
