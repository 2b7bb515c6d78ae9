// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/lanes.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Limits of one perceptron run: `PermutedPerceptron`'s settings for a training set of a certain
/// size, for all implementations.
struct PerceptronLimits {
  std::uint64_t max_passes = 0;
  double margin = 0;

  template <class Settings>
  [[nodiscard]] static PerceptronLimits of(const Settings& settings, std::ptrdiff_t points) {
    const auto m = static_cast<std::uint64_t>(points);
    constexpr std::uint64_t visits = 5'000'000;  // They take about a second with an update each.
    const std::uint64_t passes = settings.max_passes;
    return {.max_passes = passes != 0 ? passes : std::max<std::uint64_t>(1000, visits / m),
            .margin = settings.margin};
  }
};

/// Number of finished draws that may wait for an earlier one, plus one for each draw in progress.
inline constexpr unsigned results_ahead = 2;

/// Returns the number of draws in progress at a time, at most `limit` unless that is 0.
[[nodiscard]] inline unsigned draws_at_once(unsigned threads, unsigned limit, std::uint64_t draws) {
  std::uint64_t most =
      std::min<std::uint64_t>(std::max(1U, threads), std::max<std::uint64_t>(1, draws));
  if (limit != 0) most = std::min<std::uint64_t>(most, limit);
  return static_cast<unsigned>(most);
}

enum class PerceptronOutcome { consistent, stopped, out_of_passes };

/// State of one problem of one run.
struct PerceptronProblem {
  bool done = false;
  std::uint64_t mistakes = 0;
  std::uint64_t passes = 0;
  std::uint64_t mistakes_in_pass = 0;
  bool leaves_out = false;          ///< True while the points at the end of the order are held out.
  std::uint64_t passes_before = 0;  ///< Before it saw them: each stage has the full limit.
};

/// The finished classifier of one problem, before it is handed to a sink.
struct PerceptronSolution {
  std::vector<PointIndex> support;
  std::vector<double> coefficients;
  std::vector<double> outputs;
  std::uint64_t errors = 0;  ///< Points with d_i <= 0, recounted from the outputs: none.
  /// Held-out points, ascending; below, their outputs under the classifier of norm 1 that was
  /// consistent on all other points. Empty if there was none.
  std::vector<PointIndex> left_out{};
  std::vector<double> left_out_outputs{};
};

/// Computes outputs += scale * values, for `by_machine`. The scale is +1 or -1, so the product is
/// exact, and the sum has the same bits whether or not the compiler fuses the two.
template <class Scalar>
[[gnu::always_inline]] inline void add_values(double* outputs, double scale, const Scalar* values,
                                              std::ptrdiff_t count) {
  // Pieces of fixed length become vector instructions at -O2 too.
  constexpr std::ptrdiff_t piece = 16;
  std::ptrdiff_t j = 0;
  for (; j + piece <= count; j += piece) {
    double sums[piece];
    for (std::ptrdiff_t k = 0; k < piece; ++k) {
      sums[k] = outputs[j + k] + scale * static_cast<double>(values[j + k]);
    }
    for (std::ptrdiff_t k = 0; k < piece; ++k) outputs[j + k] = sums[k];
  }
  for (; j < count; ++j) outputs[j] += scale * static_cast<double>(values[j]);
}

/// One problem's part in a mistake: scale (+1 or -1) times the kernel row of the mistaken point.
struct MistakeUpdate {
  std::int32_t problem = 0;
  std::int32_t scale = 0;
};

/// Points at which some problem made a mistake, in order and numbered from the start of a run,
/// until every window has seen them.
class MistakeList {
 public:
  [[nodiscard]] std::int64_t end() const { return first_ + std::ssize(entries_); }
  [[nodiscard]] PointIndex operator[](std::int64_t number) const {
    return entries_[std::size_t(number - first_)].mistake;
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
    return number < first_ ? forgotten_ : entries_[std::size_t(number - first_)].updates_end;
  }

  std::vector<Entry> entries_;
  std::vector<MistakeUpdate> updates_;
  std::int64_t first_ = 0;
  std::size_t forgotten_ = 0;  ///< Number of updates of forgotten mistakes.
};

/// C perceptrons in step on one permutation: the state that all implementations share. `outputs`
/// and `counts` are C x m; a column is a position in `order` if `by_position`, else a point. A
/// problem is done after its proof pass: one over all points without a mistake. Each problem holds
/// points out, and adds them, independently, so that problems in step give the same results as one
/// by one.
struct PerceptronState {
  PerceptronState(std::ptrdiff_t points, std::size_t problem_count, bool columns_by_position)
      : size(points),
        by_position(columns_by_position),
        problems(problem_count),
        order(points),
        outputs(points * std::ptrdiff_t(problem_count)),
        counts(points * std::ptrdiff_t(problem_count)) {}

  /// Sets w = 0; the caller sets the order.
  void start(std::ptrdiff_t points_left_out = 0) {
    outputs.fill(0);
    counts.fill(0);
    left_out = points_left_out;
    problems.assign(problems.size(), {.leaves_out = left_out > 0});
    noted.assign(problems.size(), {});
  }

  /// Makes passes until every problem has its proof, or the limit is reached. pass(number) makes
  /// one and counts its mistakes; it returns false to stop. note(c) is called for a problem that
  /// has become consistent without its held-out points, after the pass that showed it. (At the
  /// limit a problem adds them too.)
  template <class Pass, class Note>
  PerceptronOutcome run(std::uint64_t max_passes, Pass&& pass, Note&& note) {
    for (std::uint64_t number = 0;; ++number) {
      for (PerceptronProblem& problem : problems) {
        problem.mistakes_in_pass = 0;
        problem.passes += problem.done ? 0U : 1U;
      }
      if (!pass(number)) return PerceptronOutcome::stopped;
      bool all_done = true;
      bool out_of_passes = false;
      for (std::size_t c = 0; c < problems.size(); ++c) {
        PerceptronProblem& problem = problems[c];
        const bool consistent = problem.mistakes_in_pass == 0;
        const bool last = problem.passes - problem.passes_before >= max_passes;
        if (problem.leaves_out) {
          all_done = false;
          if (consistent) note(c);
          if (!consistent && !last) continue;
          problem.leaves_out = false;
          problem.passes_before = problem.passes;
        } else {
          problem.done = problem.done || consistent;
          all_done = all_done && problem.done;
          out_of_passes = out_of_passes || (!problem.done && last);
        }
      }
      if (all_done) return PerceptronOutcome::consistent;
      if (out_of_passes) return PerceptronOutcome::out_of_passes;
    }
  }

  /// Calls visit(p) for every position p; returns false if `go_on(part of the pass)` does, which is
  /// asked now and then.
  template <class GoOn, class Visit>
  bool visit_all(GoOn&& go_on, Visit&& visit) const {
    for (std::ptrdiff_t p = 0; p < size; ++p) {
      if (p % 4096 == 0 && !go_on(static_cast<double>(p) / static_cast<double>(size))) return false;
      visit(p);
    }
    return true;
  }

  /// Returns the problem with the most mistakes among those that are not done (there must be one).
  [[nodiscard]] std::size_t worst() const {
    const auto less = [](const PerceptronProblem& a, const PerceptronProblem& b) {
      return b.done < a.done || (b.done == a.done && a.mistakes < b.mistakes);
    };
    return std::size_t(std::max_element(problems.begin(), problems.end(), less) - problems.begin());
  }

  /// Explains why draw `number` has no consistent classifier.
  [[nodiscard]] std::string reason(std::uint64_t number) const {
    const PerceptronProblem& problem = problems[worst()];
    return join("draw ", number, " still made ", problem.mistakes_in_pass, " mistakes in pass ",
                problem.passes, " (", problem.mistakes, " in all, the last of max_passes",
                problems.size() > 1 ? join(", problem ", worst()) : std::string(), ")");
  }

  /// Number of positions of the order that problem c sees.
  [[nodiscard]] std::ptrdiff_t seen_by(std::size_t c) const {
    return problems[c].leaves_out ? size - left_out : size;
  }

  [[nodiscard]] double* outputs_of(std::size_t c) {
    return outputs.data() + static_cast<std::ptrdiff_t>(c) * size;
  }
  [[nodiscard]] std::int32_t* counts_of(std::size_t c) {
    return counts.data() + static_cast<std::ptrdiff_t>(c) * size;
  }

  /// Counts a mistake of problem c at a column; -1: at a point without one.
  void count_mistake(std::size_t c, std::ptrdiff_t column) {
    ++problems[c].mistakes;
    ++problems[c].mistakes_in_pass;
    if (column >= 0) ++counts_of(c)[column];
  }

  /// Adds a mistake's updates to `width` columns from `begin` on, given their kernel values.
  template <class Scalar>
  void add(std::span<const MistakeUpdate> updates, const Scalar* values, std::ptrdiff_t begin,
           std::ptrdiff_t width) {
    for (const MistakeUpdate& update : updates) {
      by_machine<add_values<Scalar>>(outputs_of(static_cast<std::size_t>(update.problem)) + begin,
                                     double(update.scale), values, width);
    }
  }

  /// Returns problem c's w without scaling. Adds norm(w)^2 = alpha' o to `squared_norm`, in
  /// ascending order of the points.
  template <class Label>
  [[nodiscard]] PerceptronSolution solution(std::size_t c, Label&& label, double& squared_norm) {
    std::vector<PointIndex> columns = first_points(size);
    for (std::ptrdiff_t p = 0; by_position && p < size; ++p) {
      columns[std::size_t(order[p])] = static_cast<PointIndex>(p);
    }
    PerceptronSolution result;
    result.outputs.resize(static_cast<std::size_t>(size));
    for (std::ptrdiff_t i = 0; i < size; ++i) {
      const std::ptrdiff_t column = columns[std::size_t(i)];
      const double output = outputs_of(c)[column];
      const std::int32_t count = counts_of(c)[column];
      result.outputs[std::size_t(i)] = output;
      result.errors += label(i) * output > 0 ? 0U : 1U;
      if (count != 0) {
        const double alpha = static_cast<double>(count) * label(i);
        result.support.push_back(static_cast<PointIndex>(i));
        result.coefficients.push_back(alpha);
        squared_norm = multiply_add(alpha, output, squared_norm);
      }
    }
    return result;
  }

  /// Returns problem c's w / norm(w). The outputs must lack no mistake.
  template <class Space>
  [[nodiscard]] PerceptronSolution normalised(std::size_t c, const Space& space) {
    double squared_norm = 0;
    const auto label = [&](std::ptrdiff_t i) { return space.label(i); };
    PerceptronSolution result = solution(c, label, squared_norm);
    const double norm = std::sqrt(squared_norm);
    for (double& alpha : result.coefficients) alpha /= norm;
    for (double& output : result.outputs) output /= norm;
    result.left_out = noted[c].left_out;
    result.left_out_outputs = noted[c].left_out_outputs;
    return result;
  }

  /// Records problem c's outputs at its held-out points. The outputs must lack no mistake.
  template <class Space>
  void note(std::size_t c, const Space& space) {
    const PerceptronSolution now = normalised(c, space);
    noted[c].left_out.assign(order.begin() + (size - left_out), order.end());
    std::sort(noted[c].left_out.begin(), noted[c].left_out.end());
    noted[c].left_out_outputs.clear();
    for (const PointIndex i : noted[c].left_out) {
      noted[c].left_out_outputs.push_back(now.outputs[static_cast<std::size_t>(i)]);
    }
  }

  std::ptrdiff_t size;
  bool by_position;
  std::ptrdiff_t left_out = 0;  ///< Number of held-out points at the end of the order.
  std::vector<PerceptronProblem> problems;
  std::vector<PerceptronSolution> noted;  ///< For each problem; only the held-out points.
  Buffer<PointIndex> order;
  Buffer<double> outputs;
  Buffer<std::int32_t> counts;
};

}}}  // namespace bpm::detail
