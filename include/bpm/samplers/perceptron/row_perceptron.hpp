// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bpm/core/parallel.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/perceptron/perceptron_state.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Perceptrons on kernel rows that are in memory: a mistake costs one row and an axpy of length m.
/// Columns of the state are points.
template <VersionSpace Space>
class RowPerceptron {
 public:
  /// What a thread needs to take part.
  struct Hand {
    BlockScratch<typename Space::Scalar> scratch;
  };

  explicit RowPerceptron(std::span<const Space> spaces)
      : spaces_(spaces), state_(spaces[0].size(), spaces.size()) {}

  [[nodiscard]] PerceptronState& state() noexcept { return state_; }

  /// Visits the points in a random order until a full pass makes no mistake; or, in greedy order,
  /// always the one with the smallest signed output (the first in the random order among equals),
  /// until that output is above the margin. `go_on(passes)` is asked now and then.
  template <class GoOn>
  PerceptronOutcome run(const PerceptronLimits& limits, RandomEngine engine, std::span<Hand> hands,
                        unsigned worker, ThreadPool& /*pool*/, GoOn&& go_on) {
    BlockScratch<typename Space::Scalar>& scratch = hands[worker].scratch;
    state_.start(engine, limits.left_out);
    if (limits.greedy) {
      return run_greedy(limits, scratch, go_on);
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
            visit(p, limits.margin, scratch);
          }
          return true;
        },
        [&](std::size_t c) { state_.note(c, spaces_[c], false); });
  }

  [[nodiscard]] PerceptronSolution solution(std::size_t c) {
    return state_.normalised(c, spaces_[c], false);
  }

 private:
  template <class GoOn>
  PerceptronOutcome run_greedy(const PerceptronLimits& limits,
                               BlockScratch<typename Space::Scalar>& scratch, GoOn&& go_on) {
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
        update(c, worst, spaces_[0].row(worst, scratch));
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

  void visit(std::ptrdiff_t p, double margin, BlockScratch<typename Space::Scalar>& scratch) {
    const PointIndex i = state_.order[p];
    std::span<const typename Space::Scalar> row;
    for (std::size_t c = 0; c < spaces_.size(); ++c) {
      if (!state_.passes[c].done && p < state_.seen_by(c) && signed_output(c, i) <= margin) {
        if (row.empty()) {
          row = spaces_[0].row(i, scratch);
        }
        update(c, i, row);
      }
    }
  }

  void update(std::size_t c, PointIndex i, std::span<const typename Space::Scalar> row) {
    const double scale = spaces_[c].label(i);
    double* const outputs = state_.outputs_of(c);
    add_values(outputs, scale, row.data(), state_.size);
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
};

}}}  // namespace bpm::detail
