// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/storage/draw_store.hpp"
#include "bpm/storage/piece_runs.hpp"
#include "bpm/storage/run_digest.hpp"

namespace bpm {

/// Permuted perceptrons that keep each finished draw in a folder (`DrawStore`): a run that ended
/// early, by a stop, an error or with its process, goes on from there when it is started again on
/// the same data with the same settings, and gives the model of the uninterrupted run bit for bit.
/// The number of draws may change, and so may threads and byte budget.
///
///     const bpm::CheckpointedPerceptron sampler{{.draws = 10}, "draws"};
///     const auto fitted = bpm::OneVsRest(bpm::BayesPointMachine(kernel, sampler)).fit(x, labels);
///
/// In the report, mistakes and passes are of all draws, kernel evaluations those of this run.
struct CheckpointedPerceptron : PermutedPerceptron {
  std::filesystem::path checkpoint;  ///< A folder, made where it is missing.

  /// As `PermutedPerceptron::sample`.
  /// \throws CheckpointError if a draw cannot be written, or the folder holds draws of another run.
  template <VersionSpace Space, DrawSink Sink>
  SamplerReport sample(std::span<const Space> spaces, RandomStreams& streams,
                       const RunControl& control, Sink&& sink) const {
    check_run(spaces);
    detail::check(!checkpoint.empty(), "CheckpointedPerceptron", "checkpoint",
                  "is empty, expected the name of a folder");
    detail::BlockScratch<typename Space::Scalar> scratch;
    const DrawStore store(checkpoint, run_digest(*this, spaces, streams, scratch),
                          spaces[0].size());
    const std::uint64_t begin = streams.next;
    const std::uint64_t end = begin + draws;
    const std::uint64_t ahead = control.threads + 2U;
    detail::PieceRuns<Space> runs(*this, spaces, streams.seed,
                                  detail::plan_pieces(begin, end, spaces.size(), store.list(), 1),
                                  control, &store, begin + ahead);

    SamplerReport report;
    PerceptronReport& counts = report.perceptron.emplace();
    std::map<DrawPiece, StoredPiece> waiting;
    std::optional<detail::PieceResult> failed;  // The first of those that failed.
    std::uint64_t next = begin;
    std::chrono::steady_clock::time_point told{};
    while (true) {
      const bool last = runs.idle();
      for (detail::PieceResult& result : runs.take()) {
        if (result.finished()) {
          waiting.emplace(result.made.piece, std::move(result.made));
        } else if (!failed || result.made.piece < failed->made.piece) {
          failed = std::move(result);
        }
      }
      while (deliver(next, spaces.size(), waiting, counts, sink)) runs.allow_below(++next + ahead);
      if (last) break;
      if (const auto now = std::chrono::steady_clock::now();
          !report.stopped && now - told >= std::chrono::milliseconds(50)) {
        told = now;
        report.stopped =
            !control.go_on({.stage = "draws",
                            .fraction = runs.pieces_done() / static_cast<double>(draws),
                            .draws = next - begin,
                            .draws_total = draws,
                            .passes = counts.passes,
                            .mistakes = counts.mistakes});
        if (report.stopped) runs.stop();
      }
      runs.wait(std::chrono::milliseconds(20));
    }
    if (failed && failed->error) std::rethrow_exception(failed->error);
    report.draws = next - begin;
    streams.next = next;
    report.converged = next == end;
    report.stopped = report.stopped && !report.converged;
    report.kernel_evaluations = runs.evaluations() + scratch.evaluations;
    report.kernel_seconds = runs.kernel_seconds() / runs.workers();
    if (!report.converged) {
      report.reason = failed ? failed->reason : "stopped";
      report.stopped = !failed;
      if (failed) counts.training_errors += failed->made.training_errors;
    }
    return report;
  }

  /// The same with this many draws.
  [[nodiscard]] CheckpointedPerceptron with_draws(std::uint64_t count) const {
    CheckpointedPerceptron other = *this;
    other.draws = count;
    return other;
  }

  /// As `PermutedPerceptron::memory_need`, and the finished draws that wait for their turn or are
  /// on their way to a file.
  [[nodiscard]] MemoryNeed memory_need(const RunSize& run) const {
    const std::size_t finished =
        run.problems * static_cast<std::size_t>(run.points) * sizeof(double);
    const unsigned workers =
        run.draws_at_once == 0 ? run.threads : std::min(run.threads, run.draws_at_once);
    MemoryNeed need = PermutedPerceptron::memory_need(run);
    need.bytes += (run.threads + 2U + 2U * workers) * finished;
    return need;
  }

 private:
  template <class Space>
  void check_run(std::span<const Space> spaces) const {
    check_settings();
    detail::check(!spaces.empty(), "CheckpointedPerceptron", "spaces",
                  "is empty, expected a problem");
    for (const Space& space : spaces) {
      detail::check_size("CheckpointedPerceptron", "spaces", space.size(), spaces[0].size(),
                         "as the first problem has");
    }
  }

  /// Hands over draw `number` if all its pieces are there.
  template <class Sink>
  static bool deliver(std::uint64_t number, std::size_t problems,
                      std::map<DrawPiece, StoredPiece>& waiting, PerceptronReport& counts,
                      Sink& sink) {
    const auto first = waiting.lower_bound({number, 0, 0});
    auto last = first;
    std::size_t there = 0;
    for (; last != waiting.end() && last->first.number == number; ++last) {
      there += last->first.count;
    }
    if (there != problems) {
      return false;
    }
    for (auto piece = first; piece != last; ++piece) {
      const StoredPiece& made = piece->second;
      for (std::size_t c = 0; c < made.solutions.size(); ++c) {
        sink(Draw{.number = number,
                  .problem = made.piece.first + c,
                  .support = made.solutions[c].support,
                  .coefficients = made.solutions[c].coefficients,
                  .outputs = made.solutions[c].outputs});
      }
      counts.mistakes += made.mistakes;
      counts.passes += made.passes;
      counts.training_errors += made.training_errors;
    }
    waiting.erase(first, last);
    return true;
  }
};

}  // namespace bpm
