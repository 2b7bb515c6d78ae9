// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "bpm/samplers/detail/perceptron_state.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm::detail {

/// Perceptrons without a kernel matrix. The random order is walked in windows of a few hundred
/// points. The outputs of a window lack only the mistakes made since its points were last visited,
/// which one block of kernel values (those mistakes x the window) adds; mistakes inside the window
/// add theirs at once, a row of the block each. Every kernel value is computed once, at
/// matrix-product speed, and used; memory is the outputs.
///
/// The outputs of a point receive the same numbers in the same order as with whole rows, so the
/// result is the same to the bit. Columns of the state are positions in the random order.
template <VersionSpace Space>
class WindowedPerceptron {
 public:
  using Scalar = typename Space::Scalar;
  using Scratch = BlockScratch<Scalar>;

  /// Points a window: its inputs should fit the second-level cache, and few enough that the rows
  /// inside the window, which are computed one at a time, are a small part of the whole.
  static constexpr std::ptrdiff_t window = 256;
  /// Mistakes a block.
  static constexpr std::ptrdiff_t depth = 240;

  explicit WindowedPerceptron(std::span<const Space> spaces)
      : spaces_(spaces),
        state_(spaces[0].size(), spaces.size()),
        signs_(state_.outputs.size()),
        applied_((state_.size + window - 1) / window),
        next_(spaces.size()),
        values_(window * depth) {}

  [[nodiscard]] PerceptronState& state() noexcept { return state_; }

  template <class GoOn>
  PerceptronOutcome run(const PerceptronLimits& limits, RandomEngine engine, Scratch& scratch,
                        GoOn&& go_on) {
    state_.start(engine);
    for (std::size_t c = 0; c < spaces_.size(); ++c) {
      signed char* const signs = signs_of(c);
      for (std::ptrdiff_t p = 0; p < state_.size; ++p) {
        signs[p] = static_cast<signed char>(spaces_[c].label(state_.order[p]));
      }
    }
    applied_.fill(0);
    mistaken_.clear();
    update_begin_.assign(1, 0);
    updates_.clear();
    first_kept_ = 0;

    for (std::uint64_t pass = 0; pass < limits.max_passes; ++pass) {
      state_.begin_pass();
      forget_applied();
      for (std::ptrdiff_t b = 0; b < applied_.size(); ++b) {
        const double done = static_cast<double>(b) / static_cast<double>(applied_.size());
        if (!go_on(static_cast<double>(pass) + done)) {
          return PerceptronOutcome::stopped;
        }
        catch_up(b, scratch);
        visit(b, limits.margin, scratch);
        applied_[b] = event_count();
      }
      if (state_.end_pass()) {
        return PerceptronOutcome::consistent;
      }
      if (state_.beyond(limits)) {
        return PerceptronOutcome::out_of_mistakes;
      }
    }
    return PerceptronOutcome::out_of_passes;
  }

  /// After a pass without mistakes every window is up to date.
  [[nodiscard]] PerceptronSolution solution(std::size_t c) {
    Buffer<double> outputs(state_.size);
    Buffer<std::int32_t> counts(state_.size);
    for (std::ptrdiff_t p = 0; p < state_.size; ++p) {
      outputs[state_.order[p]] = state_.outputs_of(c)[p];
      counts[state_.order[p]] = state_.counts_of(c)[p];
    }
    return normalised_solution(spaces_[c], counts.data(), std::move(outputs));
  }

 private:
  /// A change of one problem's outputs: scale times the kernel row of the mistaken point.
  struct Update {
    std::uint32_t problem;
    float scale;
  };

  [[nodiscard]] signed char* signs_of(std::size_t c) {
    return signs_.data() + static_cast<std::ptrdiff_t>(c) * state_.size;
  }

  // Events are points at which some problem made a mistake, numbered from the start of the run;
  // those every window has seen are forgotten.
  [[nodiscard]] std::int64_t event_count() const { return first_kept_ + std::ssize(mistaken_); }

  void forget_applied() {
    // Windows are visited in turn, so the first one is the furthest behind.
    const std::int64_t seen = applied_[0] - first_kept_;
    if (seen == 0) {
      return;
    }
    const std::size_t begin = update_begin_.data()[seen];
    updates_.erase(updates_.begin(), updates_.begin() + static_cast<std::ptrdiff_t>(begin));
    mistaken_.erase(mistaken_.begin(), mistaken_.begin() + seen);
    update_begin_.erase(update_begin_.begin(), update_begin_.begin() + seen);
    for (std::size_t& position : update_begin_) position -= begin;
    first_kept_ += seen;
  }

  [[nodiscard]] std::span<const PointIndex> points_of(std::ptrdiff_t b) const {
    const std::ptrdiff_t begin = b * window;
    const std::ptrdiff_t count = std::min(window, state_.size - begin);
    return {state_.order.data() + begin, static_cast<std::size_t>(count)};
  }

  /// Adds the mistakes made since window b was last visited to its outputs.
  void catch_up(std::ptrdiff_t b, Scratch& scratch) {
    const std::span<const PointIndex> points = points_of(b);
    const auto width = static_cast<std::ptrdiff_t>(points.size());
    const std::ptrdiff_t end = std::ssize(mistaken_);
    for (std::ptrdiff_t begin = applied_[b] - first_kept_; begin < end; begin += depth) {
      const std::ptrdiff_t count = std::min(depth, end - begin);
      spaces_[0].block({mistaken_.data() + begin, static_cast<std::size_t>(count)}, points,
                       values_.data(), width, scratch);
      for (std::ptrdiff_t e = 0; e < count; ++e) {
        const std::size_t last = update_begin_.data()[begin + e + 1];
        for (std::size_t u = update_begin_.data()[begin + e]; u < last; ++u) {
          add_values(state_.outputs_of(updates_[u].problem) + b * window,
                     static_cast<double>(updates_[u].scale), values_.data() + e * width, width);
        }
      }
    }
  }

  /// The first position in [from, end) where problem c makes a mistake, or `end`.
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

  void visit(std::ptrdiff_t b, double margin, Scratch& scratch) {
    const std::span<const PointIndex> points = points_of(b);
    const auto width = static_cast<std::ptrdiff_t>(points.size());
    const std::ptrdiff_t begin = b * window;
    const std::ptrdiff_t end = begin + width;
    for (std::size_t c = 0; c < spaces_.size(); ++c) {
      next_[c] = state_.problems[c].done ? end : next_mistake(c, begin, end, margin);
    }
    while (true) {
      const std::ptrdiff_t p = *std::min_element(next_.begin(), next_.end());
      if (p == end) {
        return;
      }
      const PointIndex point = state_.order[p];
      spaces_[0].block({&point, 1}, points, values_.data(), width, scratch);
      mistaken_.push_back(point);
      for (std::size_t c = 0; c < spaces_.size(); ++c) {
        if (next_[c] != p) {
          continue;
        }
        const double scale = signs_of(c)[p];
        add_values(state_.outputs_of(c) + begin, scale, values_.data(), width);
        state_.outputs_of(c)[p] += scale * spaces_[c].lambda(point);
        state_.count_mistake(c, p);
        updates_.push_back({static_cast<std::uint32_t>(c), static_cast<float>(scale)});
        next_[c] = next_mistake(c, p + 1, end, margin);
      }
      update_begin_.push_back(updates_.size());
    }
  }

  std::span<const Space> spaces_;
  PerceptronState state_;
  Buffer<signed char> signs_;
  Buffer<std::int64_t> applied_;  ///< Events each window has seen.
  std::vector<std::ptrdiff_t> next_;
  Buffer<Scalar> values_;
  std::vector<PointIndex> mistaken_;
  std::vector<std::size_t> update_begin_;
  std::vector<Update> updates_;
  std::int64_t first_kept_ = 0;
};

}  // namespace bpm::detail
