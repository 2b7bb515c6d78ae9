// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bpm/core/parallel.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/random/engine.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/linear_rows.hpp"
#include "bpm/samplers/perceptron/passes.hpp"
#include "bpm/samplers/perceptron/perceptron_state.hpp"
#include "bpm/version_space/kernel_version_space.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Perceptrons of a kernel that is linear in its inputs, on w itself: a visit costs the numbers of
/// a row for each problem, a mistake as much again, and no kernel value is computed. Memory: w, the
/// outputs and the counts.
///
/// The output of point i is <w, x_i> + lambda_i alpha_i, where other perceptrons add kernel values
/// one by one: the same number where all are integers, which double holds exactly, else the same to
/// rounding. Columns of the state are points.
template <class T>
class LinearPerceptron {
  using Rows = LinearInputs<T>;
  using Space = KernelVersionSpace<T>;

 public:
  /// What a thread needs to take part.
  struct Hand {
    BlockScratch<T> scratch;  ///< Unused: nothing is evaluated.
    typename Rows::Scratch row;
  };

  /// The kernel values must have linear inputs.
  explicit LinearPerceptron(std::span<const Space> spaces)
      : spaces_(spaces),
        rows_(*spaces[0].gram().linear_inputs()),
        state_(spaces[0].size(), spaces.size()),
        weights_(rows_.zero_weights(std::ssize(spaces))),
        outputs_(spaces.size()) {}

  [[nodiscard]] PerceptronState& state() noexcept { return state_; }

  /// As in `RowPerceptron`, in permuted order.
  template <class GoOn>
  PerceptronOutcome run(const PerceptronLimits& limits, RandomEngine engine, std::span<Hand> hands,
                        unsigned worker, ThreadPool& /*pool*/, GoOn&& go_on) {
    typename Rows::Scratch& scratch = hands[worker].row;
    state_.start(engine, limits.left_out);
    weights_.clear();
    return state_.passes.run(
        limits,
        [&](std::uint64_t pass) {
          find_active(0);
          for (std::ptrdiff_t p = 0; p < state_.size; ++p) {
            if (p % 4096 == 0 &&
                !go_on(static_cast<double>(pass) +
                       static_cast<double>(p) / static_cast<double>(state_.size))) {
              return false;
            }
            if (p == state_.size - state_.left_out) find_active(p);
            if (active_.empty()) break;
            visit(p, limits.margin, scratch);
          }
          return true;
        },
        [&](std::size_t c) {
          // The others' outputs are those of the pass that has just ended, in which w stayed.
          active_.assign(1, static_cast<PointIndex>(c));
          for (std::ptrdiff_t p = state_.size - state_.left_out; p < state_.size; ++p) {
            find_outputs(state_.order[p], scratch);
          }
          state_.note(c, spaces_[c]);
        });
  }

  /// After a pass without mistakes all outputs are those of w.
  [[nodiscard]] PerceptronSolution solution(std::size_t c) {
    return state_.normalised(c, spaces_[c]);
  }

 private:
  /// The problems that are not done and see position p of the order.
  void find_active(std::ptrdiff_t p) {
    active_.clear();
    for (std::size_t c = 0; c < spaces_.size(); ++c) {
      if (!state_.passes[c].done && p < state_.seen_by(c)) {
        active_.push_back(static_cast<PointIndex>(c));
      }
    }
  }

  /// Outputs of point i in the active problems.
  void find_outputs(PointIndex i, typename Rows::Scratch& scratch) {
    rows_.outputs(i, weights_, active_, outputs_.data(), scratch);
    for (const PointIndex c : active_) {
      const double alpha = spaces_[c].label(i) * static_cast<double>(state_.counts_of(c)[i]);
      state_.outputs_of(c)[i] = multiply_add(spaces_[c].lambda(i), alpha, outputs_[c]);
    }
  }

  void visit(std::ptrdiff_t p, double margin, typename Rows::Scratch& scratch) {
    const PointIndex i = state_.order[p];
    constexpr std::ptrdiff_t ahead = 4;
    if (p + ahead < state_.size) rows_.prefetch(state_.order[p + ahead]);
    find_outputs(i, scratch);
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
  PerceptronState state_;
  LinearWeights weights_;
  std::vector<double> outputs_;     ///< Of one point, by problem.
  std::vector<PointIndex> active_;  ///< Problems that see the point that is visited.
};

}}}  // namespace bpm::detail
