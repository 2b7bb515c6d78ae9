// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

#include "bpm/core/check.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/samplers/perceptron/piece_runs.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/storage/draw_store.hpp"
#include "bpm/storage/folder_lock.hpp"
#include "bpm/storage/run_identity.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// Permuted perceptrons that keep each finished draw in a folder: a run that ended
/// early, by a stop, an error or with its process, goes on from there when it is started again on
/// the same data with the same settings, and gives the model of the uninterrupted run bit for bit.
/// The number of draws may change, and so may threads and byte budget. Where lambda is chosen, the
/// draws of each that is tried have a folder of their own in it.
///
///     const bpm::CheckpointedPerceptron sampler{{.draws = 10}, "draws"};
///     const auto fitted = bpm::OneVsRest(bpm::BayesPointMachine(kernel, sampler)).fit(x, labels);
///
/// In the report, mistakes and passes are of all draws, kernel evaluations those of this run.
struct CheckpointedPerceptron : PermutedPerceptron {
  std::filesystem::path checkpoint;  ///< A folder, made where it is missing.

  /// As `PermutedPerceptron::sample`.
  /// \throws CheckpointError if a draw cannot be written, the folder holds draws of another run, or
  ///         another fit is at work in it.
  template <VersionSpace Space, detail::DrawSink Sink>
  SamplerReport sample(std::span<const Space> spaces, RandomStreams& streams,
                       const RunControl& control, Sink&& sink) const {
    check_settings();
    const char* const function = "CheckpointedPerceptron";
    detail::check_spaces(spaces, function);
    detail::check(!checkpoint.empty(), function, "checkpoint",
                  "is empty, expected the name of a folder");
    detail::BlockScratch<typename Space::Scalar> scratch;
    detail::RunIdentity run;
    detail::add_run(run, *this, spaces, streams.seed, scratch, control.left_out_draws);
    const detail::DrawStore store(checkpoint, std::move(run), spaces[0].size(),
                                  control.chosen_lambda);
    const detail::FolderLock lock(store.folder());
    const detail::PieceTasks tasks(
        detail::plan_pieces(streams.next, streams.next + draws, spaces.size(), store.list(), 1));
    SamplerReport report = detail::with_kernel_spaces(spaces, [&](auto shared) {
      return detail::sample_pieces(detail::PerceptronLimits::of(*this, shared[0].size()), shared,
                                   streams, tasks, control, sink, store.keeper());
    });
    report.kernel_evaluations += scratch.evaluations;
    return report;
  }

  /// The same with this many draws.
  [[nodiscard]] CheckpointedPerceptron with_draws(std::uint64_t count) const {
    return {PermutedPerceptron::with_draws(count), checkpoint};
  }

  /// As `PermutedPerceptron::memory_need`, and the files in the making.
  [[nodiscard]] MemoryNeed memory_need(const RunSize& run) const {
    MemoryNeed need = PermutedPerceptron::memory_need(run);
    const std::size_t file = run.problems * static_cast<std::size_t>(run.points) *
                             (2 * sizeof(double) + sizeof(PointIndex));
    // A plan of all draws, twice while it grows; more than 2^40 fit nowhere.
    need.bytes +=
        static_cast<std::size_t>(std::min<std::uint64_t>(draws, std::uint64_t{1} << 40U) * 2 *
                                 (sizeof(detail::PieceTask) + sizeof(detail::DrawPiece)));
    need.bytes +=
        2 * file *
        detail::draws_at_once({.threads = run.threads, .draws_at_once = run.draws_at_once}, draws);
    return need;
  }
};

}}  // namespace bpm
