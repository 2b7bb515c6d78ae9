// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// What ends one perceptron run, whoever makes it: `PermutedPerceptron`'s settings on a training
/// set of a certain size.
struct PerceptronLimits {
  std::uint64_t max_passes = 0;
  std::uint64_t max_steps = 0;     ///< Greedy order: mistakes a problem and draw.
  std::uint64_t max_mistakes = 0;  ///< A problem and draw; 0: no limit.
  double margin = 0;
  bool greedy = false;
  /// Points at the end of the order that a run leaves out until it is consistent on the others:
  /// what it says of them then is what a classifier says of points that it does not know.
  std::ptrdiff_t left_out = 0;

  template <class Settings>
  [[nodiscard]] static PerceptronLimits of(const Settings& settings, std::ptrdiff_t points) {
    const auto m = static_cast<std::uint64_t>(points);
    constexpr std::uint64_t visits = 50'000'000;  // A second or so.
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t passes = settings.max_passes;
    // Greedy order: a step costs 2 m operations and, without rows in memory, m kernel evaluations.
    return {.max_passes = passes != 0 ? passes : std::max<std::uint64_t>(1000, visits / m),
            .max_steps = passes == 0         ? std::max(20 * m, visits / m)
                         : passes > most / m ? most
                                             : passes * m,
            .max_mistakes = settings.max_mistakes,
            .margin = settings.margin,
            .greedy = settings.order == decltype(settings.order)::greedy};
  }
};

enum class PerceptronOutcome { consistent, stopped, out_of_passes, out_of_mistakes };

/// Where one problem of one run stands.
struct PerceptronProblem {
  bool done = false;
  std::uint64_t mistakes = 0;
  std::uint64_t passes = 0;
  std::uint64_t mistakes_in_pass = 0;
  bool leaves_out = false;          ///< It does not see the points at the end of the order yet.
  std::uint64_t passes_before = 0;  ///< It saw them: each of the two stages has the whole limit.
  std::uint64_t mistakes_before = 0;
};

/// The passes of C perceptrons in step over the training set. A problem is done after its proof
/// pass: one over all points without a mistake. Each problem leaves points out, and takes them in,
/// by itself, so that problems in step are what they are one by one.
class PerceptronPasses {
 public:
  explicit PerceptronPasses(std::size_t problems) : problems_(problems) {}

  void start(bool leaves_out = false) {
    problems_.assign(problems_.size(), {.leaves_out = leaves_out});
  }

  [[nodiscard]] std::size_t size() const noexcept { return problems_.size(); }
  [[nodiscard]] const PerceptronProblem& operator[](std::size_t c) const { return problems_[c]; }
  [[nodiscard]] PerceptronProblem& operator[](std::size_t c) { return problems_[c]; }

  /// Passes until every problem has its proof, or a limit. pass(number) makes one and counts its
  /// mistakes; it returns false to stop. note(c) is called for a problem that has become consistent
  /// without the points that it leaves out, after the pass that showed it.
  template <class Pass, class Note>
  PerceptronOutcome run(const PerceptronLimits& limits, Pass&& pass, Note&& note) {
    for (std::uint64_t number = 0;; ++number) {
      begin_pass();
      if (!pass(number)) return PerceptronOutcome::stopped;
      if (end_pass(limits, note)) return PerceptronOutcome::consistent;
      if (beyond(limits)) return PerceptronOutcome::out_of_mistakes;
      if (std::ranges::any_of(problems_, [&](const PerceptronProblem& problem) {
            return !problem.done && problem.passes - problem.passes_before >= limits.max_passes;
          })) {
        return PerceptronOutcome::out_of_passes;
      }
    }
  }
  template <class Pass>
  PerceptronOutcome run(const PerceptronLimits& limits, Pass&& pass) {
    return run(limits, pass, [](std::size_t) {});
  }

  void begin_pass() {
    for (PerceptronProblem& problem : problems_) {
      problem.mistakes_in_pass = 0;
      problem.passes += problem.done ? 0U : 1U;
    }
  }

  void count_mistake(std::size_t c) {
    ++problems_[c].mistakes;
    ++problems_[c].mistakes_in_pass;
  }

  [[nodiscard]] bool beyond(const PerceptronLimits& limits) const {
    return limits.max_mistakes != 0 &&
           std::ranges::any_of(problems_, [&](const PerceptronProblem& problem) {
             return problem.mistakes - problem.mistakes_before > limits.max_mistakes;
           });
  }

  /// Of the problems that are not done (there is one), the one with the most mistakes.
  [[nodiscard]] std::size_t worst() const {
    const auto less = [](const PerceptronProblem& a, const PerceptronProblem& b) {
      return b.done < a.done || (b.done == a.done && a.mistakes < b.mistakes);
    };
    return std::ranges::max_element(problems_, less) - problems_.begin();
  }

  /// Why draw `number` has no consistent classifier.
  [[nodiscard]] std::string reason(std::uint64_t number, PerceptronOutcome outcome) const {
    const PerceptronProblem& problem = problems_[worst()];
    return join("draw ", number, " still made ", problem.mistakes_in_pass, " mistakes in pass ",
                problem.passes, " (", problem.mistakes, " in all",
                outcome == PerceptronOutcome::out_of_mistakes ? ", above max_mistakes"
                                                              : ", the last of max_passes",
                size() > 1 ? join(", problem ", worst()) : std::string(), ")");
  }

 private:
  /// Problems without a mistake in this pass are done, or take in what they left out, as they do at
  /// their limits. True if all are done.
  template <class Note>
  bool end_pass(const PerceptronLimits& limits, Note&& note) {
    bool all = true;
    for (std::size_t c = 0; c < problems_.size(); ++c) {
      PerceptronProblem& problem = problems_[c];
      const bool consistent = problem.mistakes_in_pass == 0;
      if (!problem.leaves_out) {
        problem.done = problem.done || consistent;
        all = all && problem.done;
        continue;
      }
      all = false;
      if (consistent) note(c);
      if (consistent || problem.passes >= limits.max_passes ||
          (limits.max_mistakes != 0 && problem.mistakes > limits.max_mistakes)) {
        problem.leaves_out = false;
        problem.passes_before = problem.passes;
        problem.mistakes_before = problem.mistakes;
      }
    }
    return all;
  }

  std::vector<PerceptronProblem> problems_;
};

}}}  // namespace bpm::detail
