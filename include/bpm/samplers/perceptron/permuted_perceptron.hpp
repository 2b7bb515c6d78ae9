// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/perceptron/perceptron_state.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/version_space.hpp"
#if BPM_BODIES
#include "bpm/samplers/perceptron/perceptron_runs.hpp"
#endif

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// \throws std::invalid_argument unless there are problems, all with as many points, 1 or more.
template <VersionSpace Space>
void check_spaces(std::span<const Space> spaces, const char* function) {
  check(!spaces.empty(), function, "spaces", "is empty, expected a problem");
  check(spaces[0].size() > 0, function, "spaces", "have no points");
  for (const Space& space : spaces) {
    check_size(function, "spaces", space.size(), spaces[0].size(), "as the first problem has");
  }
}

/// Makes draws, passes them to the sink, and advances the streams. The body, for kernel values of
/// type float or double, is in perceptron_runs.hpp.
template <class T>
SamplerReport sample_perceptrons(const PerceptronLimits& limits,
                                 std::span<const KernelVersionSpace<T>> spaces,
                                 RandomStreams& streams, std::uint64_t draws,
                                 const RunControl& control, const AnySink& sink);

}  // namespace detail

/// Kernel perceptrons on random permutations of the training set ("Large Scale Bayes Point
/// Machines", section 3): draw n visits the points in a random order of its own until a full pass
/// makes no mistake; a mistake (d_i <= margin) adds y_i to alpha_i and y_i K_i. to the outputs. The
/// draw is w / norm(w).
///
/// The draws are not uniform on version space, but their mean is a good Bayes point, and they cost
/// little: by Novikoff's theorem a run makes at most (R^2 + 2 margin) / gamma^2 mistakes, R^2 the
/// largest S_ii and gamma the largest attainable min_i d_i / norm(w), and each costs one kernel row
/// and an axpy of length m. If rows are not in memory, windowed evaluation computes the same
/// numbers at matrix-product speed in O(m) memory; both give the same bits. For a linear kernel w
/// itself is updated if that is cheaper: a visit then costs the numbers of an input, and no kernel
/// value.
///
/// Threads work on different draws, and where there are more of them than draws, on the windows or
/// rows of one. The result depends on the seed alone, not on their number.
struct PermutedPerceptron {
  std::uint64_t draws = 10;  ///< Number of draws, at least 1.
  /// Largest number of passes of a draw over the training set. 0: 1000, or on small sets as many as
  /// make 5e6 visits to a point.
  std::uint64_t max_passes = 0;
  double margin = 0;  ///< Signed output (of the w before scaling) up to which a point is a mistake.

  /// The sampler receives kernel values, in blocks, and has trials, which give up early.
  static constexpr SamplerTraits traits{
      .name = "PermutedPerceptron", .computes_blocks = true, .has_trials = true};

  /// Visits the settings on which draws depend; limits change no finished draw. Files of
  /// trainings name an order of visits; random ones always had the number 0.
  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("margin", self.margin);
    visit("order", 0);
  }

  /// Makes the draws of problems that share their kernel values, with one permutation per draw; the
  /// result is, bit for bit, that of each problem alone. See `KernelSampler`.
  /// \throws std::invalid_argument on settings out of range, no problem, or other sizes.
  template <VersionSpace Space, detail::DrawSink Sink>
  SamplerReport sample(std::span<const Space> spaces, RandomStreams& streams,
                       const RunControl& control, Sink&& sink) const {
    check_settings();
    detail::check_spaces(spaces, "PermutedPerceptron");
    return detail::with_kernel_spaces(spaces, [&](auto shared) {
      return detail::sample_perceptrons(detail::PerceptronLimits::of(*this, shared[0].size()),
                                        shared, streams, draws, control, std::ref(sink));
    });
  }

  /// Returns this sampler with `count` draws.
  [[nodiscard]] PermutedPerceptron with_draws(std::uint64_t count) const {
    PermutedPerceptron other = *this;
    other.draws = count;
    return other;
  }

  /// Returns perceptrons that give up after 200 passes. Data that 200 passes do not separate are
  /// seldom worth more passes: a softer boundary is better.
  [[nodiscard]] PermutedPerceptron trial(std::uint64_t count) const {
    PermutedPerceptron brief = with_draws(count);
    brief.max_passes = passes_of_trial;
    return brief;
  }
  /// Limits `max_passes`, where it is not set, to a trial's.
  void limit_as_trials() {
    if (max_passes == 0) max_passes = passes_of_trial;
  }

  /// Memory of the draws in progress: as many as threads, or fewer if `draws_at_once` is not 0.
  /// Columns are those of their windows.
  [[nodiscard]] MemoryNeed memory_need(const RunSize& run) const {
    const auto [points, problems, threads, scalar_bytes, at_once, features] = run;
    const std::size_t workers = detail::draws_at_once(threads, at_once, draws);
    const auto m = static_cast<std::size_t>(points);
    const std::size_t state =
        problems * m * (sizeof(double) + sizeof(std::int32_t) + 1) + m * sizeof(PointIndex);
    const std::size_t solution = problems * m * sizeof(double);
    if (features > 0) {
      return {.bytes = workers * (state + problems * features * sizeof(double)) +
                       threads * features * sizeof(double) +
                       (workers + detail::results_ahead) * solution,
              .keeps_weights = true};
    }
    // Mistakes of two passes are rarely more than the points.
    constexpr std::size_t mistake = 48;
    constexpr std::size_t block = 256 * 128;
    constexpr std::size_t step_lists = std::size_t{1} << 17U;
    const std::size_t windows = threads > 1 ? std::min(2 * threads, 16U) : 1U;
    return {.bytes = workers * (state + m * mistake) +
                     threads * (block * scalar_bytes + step_lists) +
                     (workers + detail::results_ahead) * solution,
            .columns = workers * std::min(std::size_t{256} * windows, m)};
  }

  /// \throws std::invalid_argument on settings out of range.
  void check_settings() const {
    const char* const f = "PermutedPerceptron";
    detail::check(draws >= 1, f, "draws", "is ", draws, ", must be 1 or more");
    detail::check_count(f, "draws", draws);
    detail::check_not_negative(f, "margin", margin);
  }

 private:
  static constexpr std::uint64_t passes_of_trial = 200;
};

}}  // namespace bpm
