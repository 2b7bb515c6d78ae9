// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bpm/cluster/communicator.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/samplers/perceptron/perceptron_runs.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/storage/run_identity.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// A piece of a draw: some of its problems (classes), which one rank computes together.
struct DrawPiece {
  std::uint64_t number = 0;  ///< Number of the draw, and of its stream.
  std::size_t first = 0;     ///< First problem of the piece.
  std::size_t count = 0;     ///< Number of problems.
  int rank = 0;              ///< Rank that makes it.

  friend bool operator==(const DrawPiece&, const DrawPiece&) = default;
};

/// Returns the draws [begin, end), one or more, in pieces, by draw and problem. The ranks take
/// turns. With more ranks than draws each draw is split into as many parts of nearly equal numbers
/// of problems as there are ranks for it, so that a rank makes one piece at most.
[[nodiscard]] inline std::vector<DrawPiece> plan_pieces(std::uint64_t begin, std::uint64_t end,
                                                        std::size_t problems, int ranks) {
  std::vector<DrawPiece> pieces;
  const std::uint64_t draws = end - begin;
  const auto workers = static_cast<std::uint64_t>(ranks);
  int rank = 0;
  for (std::uint64_t n = 0; n < draws; ++n) {
    const std::uint64_t sharers = workers / draws + (n < workers % draws ? 1 : 0);
    const auto parts = static_cast<std::size_t>(std::clamp<std::uint64_t>(sharers, 1, problems));
    for (std::size_t p = 0; p < parts; ++p, rank = (rank + 1) % ranks) {
      const std::size_t from = problems * p / parts;
      pieces.push_back({begin + n, from, problems * (p + 1) / parts - from, rank});
    }
  }
  return pieces;
}

/// Writes a finished piece to a `ByteWriter`, or reads it from a `ByteReader`.
void visit_piece(FinishedDraw& made, auto& bytes) {
  bytes.number(made.counts);
  for (PerceptronSolution& solution : made.solutions) {
    bytes.list(solution.support);
    bytes.list(solution.coefficients);
    bytes.list(solution.outputs);
    bytes.list(solution.left_out);
    bytes.list(solution.left_out_outputs);
  }
}

/// One call of `DistributedPerceptron::sample`. This thread alone communicates; another one makes
/// this rank's draws, or its piece of one.
template <class T>
class DistributedRun {
 public:
  using Space = KernelVersionSpace<T>;

  DistributedRun(const PermutedPerceptron& sampler, const Communicator& ranks,
                 std::span<const Space> spaces, RandomStreams& streams, const RunControl& control)
      : sampler_(sampler),
        ranks_(ranks),
        spaces_(spaces),
        streams_(streams),
        control_(control),
        round_(static_cast<std::uint64_t>(ranks.size())),
        end_(streams.next + sampler.draws),
        next_(streams.next) {
    RunIdentity run;
    together(ranks_, [&] {
      sampler_.check_settings();
      check_spaces(spaces_, function);
      add_run(run, sampler_, spaces_, streams_.seed, scratch_, control_.left_out_draws);
      run("draws", sampler_.draws);
      run("draws made before", streams_.next);
      run("max_passes", sampler_.max_passes);
    });
    for (const auto& [name, value] : run.parts()) {
      WordHash hash;
      hash.add_bytes(value.data(), value.size());
      check_agreement(ranks_, name, hash.value(), function);
    }
    pieces_ = plan_pieces(next_, end_, spaces_.size(), ranks_.size());
    for (const DrawPiece& piece : pieces_) {
      if (piece.rank != ranks_.rank()) continue;
      if (own_draws_++ == 0) own_ = piece;
    }
  }

  template <class Sink>
  SamplerReport go(Sink& sink) {
    std::atomic<double> done{0};  // Finished part of this rank's draws.
    const RunControl control{[&](const Progress& now) {
                               done = now.fraction;
                               return true;
                             },
                             stop_.get_token(), control_.threads, control_.draws_at_once,
                             control_.left_out_draws};
    PerceptronRuns<T> runs(PerceptronLimits::of(sampler_, spaces_[0].size()),
                           spaces_.subspan(own_.first, own_.count), {streams_.seed, own_.number},
                           own_draws_, control, round_);
    bool failed = false;
    {
      const JoinedThread work([&] { make_draws(runs); });
      const EndAtExit end_at_exit{*this};  // The other thread ends before what it uses.
      exchange_draws(runs, done, sink);
      failed = explain_failure(runs.failure());
    }
    return close(runs.report(), failed);
  }

 private:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  static constexpr const char* function = "DistributedPerceptron";

  struct EndAtExit {
    DistributedRun& run;
    ~EndAtExit() { run.end_draws(); }
  };

  /// Makes this rank's draws. A rank that is a round ahead of the others waits for them.
  void make_draws(PerceptronRuns<T>& runs) {
    if (own_draws_ > 0) {
      runs.run([&](std::uint64_t number, FinishedDraw& draw) {
        std::unique_lock lock(mutex_);
        waiting_.push_back(std::move(draw));
        ++made_;
        changed_.notify_all();
        changed_.wait(lock, [&] { return ended_ || number < next_ + round_; });
      });
    }
    const std::scoped_lock lock(mutex_);
    finished_ = true;
    changed_.notify_all();
  }

  /// Ends this rank's draws.
  void end_draws() {
    stop_.request_stop();
    const std::scoped_lock lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  /// Delivers finished draws to all ranks until no rank makes any more.
  template <class Sink>
  void exchange_draws(PerceptronRuns<T>& runs, const std::atomic<double>& done, Sink& sink) {
    const std::uint64_t begin = next_;
    std::uint64_t seen = 0;
    bool halted = false;
    while (true) {
      const auto failure = runs.failure();
      if (!halted && throttle_.due()) {
        // This rank's part represents all ranks, which have about the same number of pieces.
        halted =
            !control_.go_on({.stage = "draws",
                             .fraction = own_draws_ == 0 ? static_cast<double>(next_ - begin) /
                                                               static_cast<double>(sampler_.draws)
                                                         : std::min(1.0, done.load()),
                             .draws = next_ - begin,
                             .draws_total = sampler_.draws,
                             .passes = report_.perceptron->passes,
                             .mistakes = report_.perceptron->mistakes});
      }
      // The first draw that this rank has not made, the first that failed, a stop, the end.
      std::array<std::int64_t, 4> mine{none, none, halted ? -1 : 0, 0};
      {
        const std::scoped_lock lock(mutex_);
        mine[0] =
            static_cast<std::int64_t>(made_ < own_draws_ ? own_.number + made_ * round_ : end_);
        mine[3] = finished_ ? 1 : 0;
      }
      if (failure && !failure->stopped) mine[1] = static_cast<std::int64_t>(failure->number);
      const auto all = ranks_.reduce(mine, MPI_MIN);
      halted = all[2] != 0;
      if (halted || all[0] >= all[1]) end_draws();
      deliver(static_cast<std::uint64_t>(all[0]), sink);
      if (all[3] != 0) return;
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, std::chrono::milliseconds(10),
                        [&] { return finished_ || seen != made_; });
      seen = made_;
    }
  }

  /// Collective: delivers the draws below `end`, piece by piece.
  template <class Sink>
  void deliver(std::uint64_t end, Sink& sink) {
    for (; place_ < pieces_.size() && pieces_[place_].number < end; ++place_) {
      const DrawPiece& piece = pieces_[place_];
      ByteWriter own;
      if (piece.rank == ranks_.rank()) {
        const std::scoped_lock lock(mutex_);
        visit_piece(waiting_.front(), own);
        waiting_.pop_front();
      }
      const auto bytes = ranks_.broadcast_all(std::move(own.bytes), piece.rank);
      ByteReader from{bytes};
      FinishedDraw made{std::vector<PerceptronSolution>(piece.count)};
      visit_piece(made, from);
      *report_.perceptron += made.counts;
      for (std::size_t c = 0; c < piece.count; ++c) {
        sink(draw_of(piece.number, piece.first + c, made.solutions[c]));
      }
    }
    const std::scoped_lock lock(mutex_);
    next_ = end;
    changed_.notify_all();
  }

  /// Reports the first failure of all ranks. Returns true if it is a draw without a consistent
  /// classifier; throws any other.
  bool explain_failure(const std::optional<DrawFailure>& failed) {
    // Whether there is none, the draw, its first problem, the kind of error.
    std::array<std::int64_t, 4> mine{1, 0, 0, PlainError::none};
    PlainError error;
    if (failed && !failed->stopped) {
      error = plain_error(failed->error);
      mine = {0, static_cast<std::int64_t>(failed->number), static_cast<std::int64_t>(own_.first),
              error.kind};
      if (!error) error.what = failed->reason;
      if (!error && own_.count < spaces_.size()) {
        error.what += join(" among problems ", own_.first, " to ", own_.first + own_.count - 1,
                           " of ", spaces_.size());
      }
    }
    const auto all = ranks_.all_gather(mine);
    const auto first = static_cast<int>(std::min_element(all.begin(), all.end()) - all.begin());
    if (all[first][0] != 0) return false;
    error.kind = all[first][3];
    error.what = ranks_.broadcast_all(error.what, first);
    if (error) throw_plain(error, first);
    std::uint64_t errors = failed ? failed->errors : 0;
    ranks_.broadcast(std::span(&errors, 1), first);
    report_.perceptron->training_errors += errors;
    report_.reason = error.what;
    return true;
  }

  SamplerReport close(const SamplerReport& own, bool failed) {
    report_.draws = next_ - streams_.next;
    streams_.next = next_;
    report_.converged = next_ == end_;
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

  const PermutedPerceptron& sampler_;
  const Communicator& ranks_;
  std::span<const Space> spaces_;
  RandomStreams& streams_;
  const RunControl& control_;
  std::uint64_t round_;  ///< Number of ranks.
  std::uint64_t end_;
  BlockScratch<T> scratch_;
  std::vector<DrawPiece> pieces_;  ///< All pieces, in order.
  std::size_t place_ = 0;          ///< Number of delivered pieces.
  DrawPiece own_;                  ///< This rank's first piece.
  std::uint64_t own_draws_ = 0;    ///< Number of its pieces, all of the same problems.
  ProgressThrottle throttle_;
  SamplerReport report_{.perceptron = SamplerReport::Perceptron{}};
  StopSource stop_;
  std::mutex mutex_;  ///< Guards the members below.
  std::condition_variable changed_;
  std::deque<FinishedDraw> waiting_;  ///< This rank's finished draws, not yet delivered.
  std::uint64_t made_ = 0;            ///< Number of this rank's finished draws.
  std::uint64_t next_;  ///< First draw that is not delivered; the communicating thread changes it.
  bool ended_ = false;
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
/// would share. Finished draws go to all ranks. `FitSettings::threads` counts threads per rank,
/// without one more that sleeps and handles messages.
///
/// The report adds up the work of all ranks. A stop by the observer or the stop token of any rank
/// stops all. An error on one rank, such as a draw without a consistent classifier, is thrown on
/// all. An exception elsewhere on one rank alone leaves the others waiting: `MpiSession::run` then
/// ends the job. Every rank chooses an automatic soft boundary by itself, with the same result; a
/// stop meanwhile takes effect afterwards.
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
      return detail::DistributedRun<typename Space::Scalar>(*this, ranks, shared, streams, control)
          .go(sink);
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
