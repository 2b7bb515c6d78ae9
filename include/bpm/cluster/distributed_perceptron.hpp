// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "bpm/cluster/communicator.hpp"
#include "bpm/cluster/draw_exchange.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"
#include "bpm/machine/fingerprint.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/samplers/perceptron/piece_runs.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/storage/run_identity.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// One call of `DistributedPerceptron::sample`; `Settings` is that class.
template <class Settings, class T>
class DistributedRun {
 public:
  using Space = KernelVersionSpace<T>;

  DistributedRun(const Settings& settings, const Communicator& ranks, std::span<const Space> spaces,
                 RandomStreams& streams, const RunControl& control)
      : settings_(settings),
        ranks_(ranks),
        spaces_(spaces),
        streams_(streams),
        control_(control),
        begin_(streams.next),
        end_(begin_ + settings.draws),
        ahead_(static_cast<std::uint64_t>(ranks.size()) * (std::uint64_t{control.threads} + 1)) {
    RunIdentity run;
    together(ranks_, [&] {
      settings_.check_settings();
      check_spaces(spaces_, function);
      add_run(run, settings_, spaces_, streams_.seed, scratch_, control_.left_out_draws);
    });
    check_ranks(run);
    plan();
  }

  template <class Sink>
  SamplerReport go(Sink& sink) {
    // A continuation adds to sums of the sink alone, so the sink needs the outputs of each draw.
    DrawExchange exchange(ranks_, spaces_[0].size(), spaces_.size(), begin_ == 0);
    StopSource stop;
    std::atomic<double> done{0};  // Finished part of this rank's pieces.
    const RunControl control{[&](const Progress& now) {
                               done = now.fraction;
                               return true;
                             },
                             stop.get_token(), control_.threads, control_.draws_at_once,
                             control_.left_out_draws};
    const PieceTasks tasks(tasks_);
    PieceRuns<T> runs(PerceptronLimits::of(settings_, spaces_[0].size()), spaces_, streams_.seed,
                      tasks, control, tasks.first_of(begin_ + ahead_));
    finished_ = tasks_.empty();
    std::uint64_t next = begin_;
    bool failed = false;
    {
      // This thread alone communicates. The other thread ends before the objects that it uses.
      const JoinedThread work([&] { make_pieces(runs); });
      const StopAtExit stop_at_exit{runs, stop};
      next = exchange_draws(runs, exchange, stop, done, sink);
      failed = explain_failure(runs.failure());
    }
    if (next > begin_) exchange.finish(begin_, sink);
    return close(runs.report(), next, failed);
  }

 private:
  using Status = std::array<std::int64_t, 4>;
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  static constexpr const char* function = "DistributedPerceptron";

  struct StopAtExit {
    PieceRuns<T>& runs;
    StopSource& stop;
    ~StopAtExit() {
      stop.request_stop();
      runs.end_at(0);
    }
  };

  void check_ranks(const RunIdentity& run) const {
    std::vector<SharedWord> mine;
    for (const auto& [name, value] : run.parts()) {
      WordHash hash;
      hash.add_bytes(value.data(), value.size());
      mine.push_back({name, hash.value()});
    }
    mine.insert(mine.end(), {{"draws", settings_.draws},
                             {"draws made before", streams_.next},
                             {"max_passes", settings_.max_passes}});
    check_agreement(ranks_, mine, function);
  }

  /// Makes the same plan on every rank: all pieces with their owners, and this rank's.
  void plan() {
    const auto ranks = static_cast<std::uint64_t>(ranks_.size());
    int owner = 0;
    for (const DrawPiece& piece : plan_pieces(begin_, end_, spaces_.size(), ranks)) {
      pieces_.push_back({piece, owner});
      if (owner == ranks_.rank()) tasks_.push_back(piece);
      owner = (owner + 1) % ranks_.size();
    }
  }

  /// Makes this rank's pieces, on another thread than the communication.
  void make_pieces(PieceRuns<T>& runs) {
    if (tasks_.empty()) return;
    runs.run([&](std::span<FinishedPiece> draw) {
      const std::scoped_lock lock(mutex_);
      for (FinishedPiece& piece : draw) {
        waiting_.emplace(piece.piece, std::move(piece));
        ++made_;
      }
      changed_.notify_all();
    });
    const std::scoped_lock lock(mutex_);
    finished_ = true;
    changed_.notify_all();
  }

  /// Delivers finished draws to all ranks until no rank makes any more. Returns the first missing
  /// one.
  template <class Sink>
  std::uint64_t exchange_draws(PieceRuns<T>& runs, DrawExchange& exchange, StopSource& stop,
                               const std::atomic<double>& done, Sink& sink) {
    std::uint64_t next = begin_;
    bool halted = false;
    while (true) {
      const auto failure = runs.failure();
      if (!halted && throttle_.due()) {
        // This rank's part represents all ranks, which have about the same number of pieces.
        halted =
            !control_.go_on({.stage = "draws",
                             .fraction = tasks_.empty() ? static_cast<double>(next - begin_) /
                                                              static_cast<double>(settings_.draws)
                                                        : std::min(1.0, done.load()),
                             .draws = next - begin_,
                             .draws_total = settings_.draws,
                             .passes = counts_.passes,
                             .mistakes = counts_.mistakes});
      }
      Status mine{none, none, halted ? -1 : 0, 0};
      {
        const std::scoped_lock lock(mutex_);
        mine[0] = static_cast<std::int64_t>(made_ < tasks_.size() ? tasks_[made_].number : end_);
        mine[3] = finished_ ? 1 : 0;
      }
      if (failure && !failure->stopped) mine[1] = static_cast<std::int64_t>(failure->piece.number);
      const Status all = ranks_.reduce(mine, MPI_MIN);
      if (all[1] != none) runs.end_at(static_cast<std::uint64_t>(all[1]));
      if (all[2] != 0) {
        halted = true;
        stop.request_stop();
        runs.end_at(0);
      }
      deliver(next, static_cast<std::uint64_t>(all[0]), exchange, sink);
      runs.allow_below(next + ahead_);
      if (all[3] != 0) return next;
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, std::chrono::milliseconds(10),
                        [&] { return finished_ || seen_ != made_; });
      seen_ = made_;
    }
  }

  /// Collective: delivers draws from `next` up to `end`, in batches of one draw per rank.
  template <class Sink>
  void deliver(std::uint64_t& next, std::uint64_t end, DrawExchange& exchange, Sink& sink) {
    const auto at = [&](std::uint64_t number) {
      return std::partition_point(pieces_.begin(), pieces_.end(), [&](const OwnedPiece& owned) {
        return owned.piece.number < number;
      });
    };
    while (next < end) {
      const std::uint64_t last = std::min(end, next + static_cast<std::uint64_t>(ranks_.size()));
      std::map<DrawPiece, FinishedPiece> mine;
      {
        const std::scoped_lock lock(mutex_);
        while (!waiting_.empty() && waiting_.begin()->first.number < last) {
          mine.insert(waiting_.extract(waiting_.begin()));
        }
      }
      exchange.deliver(std::span(at(next), at(last)), mine, counts_, sink);
      next = last;
    }
  }

  /// Reports the first failure of all ranks. Returns true if it is a draw without a consistent
  /// classifier; throws any other.
  bool explain_failure(const std::optional<PieceFailure>& failed) {
    struct Failure {
      std::int64_t absent = 1;
      DrawPiece piece{};
      std::int64_t kind = PlainError::none;
    };
    Failure mine;
    PlainError error;
    if (failed && !failed->stopped) {
      error = plain_error(failed->error);
      mine = {0, failed->piece, error.kind};
      if (!error) error.what = failed->reason;
    }
    const std::vector<Failure> all = ranks_.all_gather(mine);
    const auto earlier = [](const Failure& a, const Failure& b) {
      return std::tie(a.absent, a.piece) < std::tie(b.absent, b.piece);
    };
    const auto first =
        static_cast<int>(std::min_element(all.begin(), all.end(), earlier) - all.begin());
    if (all[first].absent != 0) return false;
    error.kind = all[first].kind;
    error.what = ranks_.broadcast_text(error.what, first);
    if (error) throw_plain(error, first);
    std::uint64_t errors = failed ? failed->errors : 0;
    ranks_.broadcast(std::span(&errors, 1), first);
    counts_.training_errors += errors;
    report_.reason = error.what;
    return true;
  }

  SamplerReport close(const SamplerReport& own, std::uint64_t next, bool failed) {
    report_.perceptron = counts_;
    report_.draws = next - begin_;
    streams_.next = next;
    report_.converged = next == end_;
    report_.stopped = !report_.converged && !failed;
    if (report_.stopped) report_.reason = "stopped";
    const auto sums =
        ranks_.reduce(std::array{static_cast<double>(own.kernel_evaluations + scratch_.evaluations),
                                 own.kernel_seconds},
                      MPI_SUM);
    report_.kernel_evaluations = static_cast<std::uint64_t>(sums[0]);
    report_.kernel_seconds = sums[1] / ranks_.size();
    return report_;
  }

  const Settings& settings_;
  const Communicator& ranks_;
  std::span<const Space> spaces_;
  RandomStreams& streams_;
  const RunControl& control_;
  std::uint64_t begin_;
  std::uint64_t end_;
  std::uint64_t ahead_;  ///< Most draws in progress beyond those delivered.
  BlockScratch<typename Space::Scalar> scratch_;
  std::vector<OwnedPiece> pieces_;  ///< All pieces, in order.
  std::vector<DrawPiece> tasks_;    ///< Those of this rank.
  ProgressThrottle throttle_;
  SamplerReport report_;
  SamplerReport::Perceptron counts_;
  std::mutex mutex_;  ///< Guards the members below.
  std::condition_variable changed_;
  std::map<DrawPiece, FinishedPiece> waiting_;
  std::uint64_t made_ = 0;  ///< Number of this rank's finished tasks.
  std::uint64_t seen_ = 0;
  bool finished_ = false;
};

}  // namespace detail

/// Permuted perceptrons whose draws are distributed over the ranks of MPI. Every rank has the whole
/// training set, fits the same machine at the same time, and ends with the same fitted machine, bit
/// for bit that of a single process.
///
///     const bpm::MpiSession mpi;
///     const bpm::DistributedPerceptron sampler{{.draws = 100}};
///     const auto fitted = bpm::OneVsRest(bpm::BayesPointMachine(kernel, sampler)).fit(x, labels);
///
/// Rank n modulo the number of ranks makes draw n; with more ranks than draws, ranks also divide
/// the problems (classes) of a draw, and compute kernel values again that classes trained together
/// would share. Coefficients of finished draws go to all ranks; each rank sums the outputs of a
/// range of the points in the order of the draws. `FitSettings::threads` counts threads per rank,
/// without one more that sleeps and handles messages.
///
/// The report adds up the work of all ranks. A stop by the observer or the stop token of any rank
/// stops all. An error on one rank, such as a draw without a consistent classifier, is thrown on
/// all. An exception elsewhere on one rank alone leaves the others waiting: `MpiSession::run` then
/// ends the job. Every rank chooses an automatic soft boundary by itself, with the same result; a
/// stop meanwhile takes effect afterwards. Errors of single draws are not counted, and warnings
/// that need them not given.
///
/// A training is that of a `PermutedPerceptron`: one rank saves it, and any number of ranks, or one
/// process, goes on.
struct DistributedPerceptron : PermutedPerceptron {
  /// Traits of the base class, and `collective`.
  static constexpr SamplerTraits traits{.name = PermutedPerceptron::traits.name,
                                        .computes_blocks = true,
                                        .collective = true,
                                        .has_trials = true};

  MPI_Comm communicator = MPI_COMM_WORLD;  ///< Its ranks take part; messages use a duplicate.

  /// Collective: draws as `PermutedPerceptron::sample`.
  /// \throws std::invalid_argument on settings out of range, or if ranks differ in data or
  /// settings; the message names the difference. \throws RankError for an error of one rank
  /// without an exchanged type.
  template <VersionSpace Space, detail::DrawSink Sink>
  SamplerReport sample(std::span<const Space> spaces, RandomStreams& streams,
                       const RunControl& control, Sink&& sink) const {
    const detail::Communicator ranks(communicator);
    return detail::with_kernel_spaces(spaces, [&](auto shared) {
      detail::DistributedRun<DistributedPerceptron, typename Space::Scalar> run(
          *this, ranks, shared, streams, control);
      return run.go(sink);
    });
  }

  /// Returns a copy with this number of draws.
  [[nodiscard]] DistributedPerceptron with_draws(std::uint64_t count) const {
    return {PermutedPerceptron::with_draws(count), communicator};
  }

  /// Returns the memory need of one rank.
  [[nodiscard]] MemoryNeed memory_need(const RunSize& run) const {
    MemoryNeed need = PermutedPerceptron::memory_need(run);
    need.bytes += (run.problems + 4) * static_cast<std::size_t>(run.points) * sizeof(double);
    return need;
  }
};

}}  // namespace bpm
