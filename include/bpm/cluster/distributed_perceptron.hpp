// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bpm/cluster/agreement.hpp"
#include "bpm/cluster/communicator.hpp"
#include "bpm/cluster/draw_exchange.hpp"
#include "bpm/cluster/mpi_header.hpp"
#include "bpm/core/check.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/storage/draw_store.hpp"
#include "bpm/storage/piece_runs.hpp"
#include "bpm/storage/run_digest.hpp"

namespace bpm {

/// Permuted perceptrons whose draws are spread over the ranks of MPI. Every rank has the whole
/// training set, fits the same machine at the same time, and has the same fitted machine at the
/// end: the one, bit for bit, that one process fits.
///
///     const bpm::MpiSession mpi;
///     const bpm::DistributedPerceptron sampler{{.draws = 100}};
///     const auto fitted = bpm::OneVsRest(bpm::BayesPointMachine(kernel, sampler)).fit(x, labels);
///
/// Draw n is made by rank n modulo their number; where there are more ranks than draws, the
/// problems (classes) of a draw are shared out as well, which costs kernel values that classes in
/// step would share. Coefficients of finished draws go to all ranks, outputs are summed in the
/// order of the draws, each rank a range of the points. `FitSettings::threads` are threads a rank,
/// beside which one more sleeps and looks after messages.
///
/// The report adds up what all ranks did. A stop by the observer or the stop token of any rank
/// stops all. An error on one rank, such as a draw that finds no consistent classifier, is thrown
/// on all. An exception thrown elsewhere on one rank alone leaves the others waiting:
/// `MpiSession::run` ends the job then.
///
/// With `checkpoint`, finished draws are kept in a folder as by `CheckpointedPerceptron`, of which
/// each rank may have its own or all the same; the number of ranks may change from run to run.
struct DistributedPerceptron : PermutedPerceptron {
  MPI_Comm communicator = MPI_COMM_WORLD;  ///< Whose ranks; the communicator itself is not used.
  std::filesystem::path checkpoint{};      ///< A folder; empty: no checkpoint.

  /// Collective. As `PermutedPerceptron::sample`.
  /// \throws std::invalid_argument on settings out of range, or ranks that were not given the same
  ///         data and settings, with what differs.
  /// \throws CheckpointError if a draw cannot be written, or the folder holds draws of another run.
  /// \throws RankError for what one rank threw and there is no other type for.
  template <VersionSpace Space, DrawSink Sink>
  SamplerReport sample(std::span<const Space> spaces, RandomStreams& streams,
                       const RunControl& control, Sink&& sink) const {
    const Communicator ranks(communicator);
    Run<Space> run(*this, ranks, spaces, streams, control);
    return run.go(sink);
  }

  /// The same with this many draws.
  [[nodiscard]] DistributedPerceptron with_draws(std::uint64_t count) const {
    DistributedPerceptron other = *this;
    other.draws = count;
    return other;
  }

  /// On a rank.
  [[nodiscard]] MemoryNeed memory_need(const RunSize& run) const {
    MemoryNeed need = PermutedPerceptron::memory_need(run);
    need.bytes += (run.problems + 4) * static_cast<std::size_t>(run.points) * sizeof(double);
    return need;
  }

 private:
  template <class Space>
  class Run {
   public:
    Run(const DistributedPerceptron& settings, const Communicator& ranks,
        std::span<const Space> spaces, RandomStreams& streams, const RunControl& control)
        : settings_(settings),
          ranks_(ranks),
          spaces_(spaces),
          streams_(streams),
          control_(control),
          begin_(streams.next),
          end_(begin_ + settings.draws) {
      RunDigest digest;
      detail::together(ranks_, [&] {
        check_spaces();
        digest = run_digest(settings_, spaces_, streams_, scratch_);
      });
      check_ranks(digest);
      std::vector<DrawPiece> stored;
      detail::together(ranks_, [&] {
        if (settings_.checkpoint.empty()) return;
        store_ = std::make_unique<DrawStore>(settings_.checkpoint, digest, spaces_[0].size());
        stored = store_->list();
      });
      plan(stored);
    }

    template <class Sink>
    SamplerReport go(Sink& sink) {
      // A continuation adds to sums that only the sink has, so that it needs the outputs one by
      // one.
      detail::DrawExchange exchange(ranks_, spaces_[0].size(), spaces_.size(), begin_ == 0);
      const std::uint64_t ahead =
          static_cast<std::uint64_t>(ranks_.size()) * (std::uint64_t{control_.threads} + 1);
      detail::PieceRuns<Space> runs(settings_, spaces_, streams_.seed, tasks_, control_,
                                    store_.get(), begin_ + ahead);
      std::uint64_t next = begin_;
      bool over = false;
      while (!over) {
        const bool idle = runs.idle();
        collect(runs);
        watch(runs, next);
        const Status all = ranks_.smallest(Status{static_cast<std::int64_t>(first_unfinished()),
                                                  failed_ ? number_of(*failed_) : none,
                                                  halted_ ? -1 : 0, idle ? 1 : 0});
        if (all[1] != none) runs.end_at(static_cast<std::uint64_t>(all[1]));
        if (all[2] != 0) {
          halted_ = true;
          runs.stop();
        }
        over = all[3] != 0;
        const auto complete = static_cast<std::uint64_t>(all[0]);
        for (; next < complete; next = std::min(complete, next + batch())) {
          exchange.deliver(pieces_of(next, std::min(complete, next + batch())), waiting_, counts_,
                           sink);
        }
        runs.allow_below(next + ahead);
        if (!over) runs.wait(std::chrono::milliseconds(10));
      }
      const bool failed = explain_failure();
      if (next > begin_) exchange.finish(begin_, sink);
      return close(runs, next, failed);
    }

   private:
    using Status = std::array<std::int64_t, 4>;
    static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

    void check_spaces() const {
      settings_.check_settings();
      detail::check(!spaces_.empty(), "DistributedPerceptron", "spaces",
                    "is empty, expected a problem");
      for (const Space& space : spaces_) {
        detail::check_size("DistributedPerceptron", "spaces", space.size(), spaces_[0].size(),
                           "as the first problem has");
      }
    }

    void check_ranks(const RunDigest& digest) const {
      constexpr std::size_t more = 4;
      std::array<std::uint64_t, RunDigest::part_count + more> mine{};
      std::array<const char*, RunDigest::part_count + more> names{};
      const RunDigest::Parts parts = digest.parts();
      std::copy(parts.begin(), parts.end(), mine.begin());
      std::copy(RunDigest::part_names.begin(), RunDigest::part_names.end(), names.begin());
      auto at = RunDigest::part_count;
      const auto add = [&](std::uint64_t word, const char* name) {
        mine[at] = word;
        names[at++] = name;
      };
      detail::WordHash limits;
      limits.add(settings_.max_passes);
      limits.add(settings_.max_mistakes);
      add(settings_.draws, "draws");
      add(streams_.next, "draws made before");
      add(limits.value(), "limits of passes or mistakes");
      add(settings_.checkpoint.empty() ? 0U : 1U, "checkpoint settings");
      detail::check_agreement(ranks_, mine, names, "DistributedPerceptron");
    }

    /// The same plan on every rank: all pieces with their owners, and the tasks of this rank.
    void plan(const std::vector<DrawPiece>& stored_here) {
      std::vector<std::size_t> counts;
      const std::vector<DrawPiece> everywhere =
          ranks_.all_gather_all(std::span<const DrawPiece>(stored_here), &counts);
      std::map<DrawPiece, std::vector<int>> holders;
      std::size_t at = 0;
      for (int rank = 0; rank < ranks_.size(); ++rank) {
        for (std::size_t i = 0; i < counts[rank]; ++i) {
          holders[everywhere[at++]].push_back(rank);
        }
      }
      std::vector<DrawPiece> stored;
      for (const auto& [piece, holder] : holders) stored.push_back(piece);
      std::uint64_t fresh = 0;
      std::uint64_t old = 0;
      for (const detail::PieceTask& task : detail::plan_pieces(
               begin_, end_, spaces_.size(), stored, static_cast<std::uint64_t>(ranks_.size()))) {
        int owner = static_cast<int>(fresh % static_cast<std::uint64_t>(ranks_.size()));
        if (task.stored) {
          const std::vector<int>& holder = holders[task.piece];
          owner = holder[old++ % holder.size()];
        } else {
          ++fresh;
        }
        pieces_.push_back({task.piece, owner});
        if (owner == ranks_.rank()) tasks_.push_back(task);
      }
    }

    void collect(detail::PieceRuns<Space>& runs) {
      for (detail::PieceResult& result : runs.take()) {
        if (result.finished()) {
          waiting_.emplace(result.made.piece, std::move(result.made));
        } else if (!failed_ || result.made.piece < failed_->made.piece) {
          failed_ = std::move(result);
        }
      }
    }

    /// The draws below this have all their pieces of this rank.
    [[nodiscard]] std::uint64_t first_unfinished() {
      while (reached_ < tasks_.size() && waiting_.contains(tasks_[reached_].piece)) ++reached_;
      return reached_ < tasks_.size() ? tasks_[reached_].piece.number : end_;
    }

    [[nodiscard]] static std::int64_t number_of(const detail::PieceResult& result) {
      return static_cast<std::int64_t>(result.made.piece.number);
    }

    /// Tells this rank's observer how far all ranks are.
    void watch(detail::PieceRuns<Space>& runs, std::uint64_t next) {
      const auto now = std::chrono::steady_clock::now();
      if (halted_ || now - told_ < std::chrono::milliseconds(50)) return;
      told_ = now;
      // This rank's part stands for all: they have about the same number of pieces.
      const double done =
          tasks_.empty() ? static_cast<double>(next - begin_) / static_cast<double>(end_ - begin_)
                         : runs.pieces_done() / static_cast<double>(tasks_.size());
      halted_ = !control_.go_on({.stage = "draws",
                                 .fraction = std::min(1.0, done),
                                 .draws = next - begin_,
                                 .draws_total = settings_.draws,
                                 .passes = counts_.passes,
                                 .mistakes = counts_.mistakes});
    }

    /// Draws delivered together: one a rank.
    [[nodiscard]] std::uint64_t batch() const { return static_cast<std::uint64_t>(ranks_.size()); }

    [[nodiscard]] std::span<const detail::OwnedPiece> pieces_of(std::uint64_t from,
                                                                std::uint64_t to) const {
      const auto at = [&](std::uint64_t number) {
        return std::lower_bound(pieces_.begin(), pieces_.end(), number,
                                [](const detail::OwnedPiece& owned, std::uint64_t wanted) {
                                  return owned.piece.number < wanted;
                                });
      };
      return {at(from), at(to)};
    }

    /// Of the failures of all ranks the first counts. True if it is that of a draw without a
    /// consistent classifier; others are thrown.
    bool explain_failure() {
      struct Failure {
        DrawPiece piece;
        std::uint64_t there = 0;
        detail::ErrorKind kind = detail::ErrorKind::none;
      };
      Failure mine;
      detail::PlainError error;
      if (failed_) {
        error = detail::plain_error(failed_->error);
        mine = {failed_->made.piece, 1, error.kind};
        if (error.kind == detail::ErrorKind::none) error.what = failed_->reason;
      }
      const std::vector<Failure> all = ranks_.all_gather(mine);
      int first = -1;
      for (int rank = 0; rank < ranks_.size(); ++rank) {
        const Failure& failure = all[rank];
        if (failure.there != 0 && (first < 0 || failure.piece < all[first].piece)) {
          first = rank;
        }
      }
      if (first < 0) return false;
      error.kind = all[first].kind;
      error.what = ranks_.broadcast_text(error.what, first);
      if (error.kind != detail::ErrorKind::none) detail::throw_plain(error, first);
      std::uint64_t errors = failed_ ? failed_->made.training_errors : 0;
      ranks_.broadcast(std::span(&errors, 1), first);
      counts_.training_errors += errors;
      report_.reason = error.what;
      return true;
    }

    SamplerReport close(detail::PieceRuns<Space>& runs, std::uint64_t next, bool failed) {
      report_.perceptron = counts_;
      report_.draws = next - begin_;
      streams_.next = next;
      report_.converged = next == end_;
      report_.stopped = !report_.converged && !failed;
      if (report_.stopped) report_.reason = "stopped";
      const auto sums = ranks_.sum(
          std::array<double, 3>{static_cast<double>(runs.evaluations() + scratch_.evaluations),
                                runs.kernel_seconds(), static_cast<double>(runs.workers())});
      report_.kernel_evaluations = static_cast<std::uint64_t>(sums[0]);
      report_.kernel_seconds = sums[1] / sums[2];
      return report_;
    }

    const DistributedPerceptron& settings_;
    const Communicator& ranks_;
    std::span<const Space> spaces_;
    RandomStreams& streams_;
    const RunControl& control_;
    std::uint64_t begin_;
    std::uint64_t end_;
    detail::BlockScratch<typename Space::Scalar> scratch_;
    std::unique_ptr<DrawStore> store_;
    std::vector<detail::OwnedPiece> pieces_;  ///< All, in order.
    std::vector<detail::PieceTask> tasks_;    ///< Of this rank.
    std::map<DrawPiece, StoredPiece> waiting_;
    std::size_t reached_ = 0;
    std::optional<detail::PieceResult> failed_;
    bool halted_ = false;
    std::chrono::steady_clock::time_point told_{};
    SamplerReport report_;
    PerceptronReport counts_;
  };
};

}  // namespace bpm
