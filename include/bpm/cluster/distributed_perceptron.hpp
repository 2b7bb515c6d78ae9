// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "bpm/cluster/communicator.hpp"
#include "bpm/cluster/distributed_run.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/samplers/sampler.hpp"

namespace bpm { inline namespace BPM_TARGET {

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
/// `MpiSession::run` ends the job then. An automatic soft boundary is chosen by every rank for
/// itself, alike, and who wants to stop meanwhile is heard afterwards. Errors of single draws are
/// not counted, nor is there a warning that needs them.
///
/// With `checkpoint`, finished draws are kept in a folder as by `CheckpointedPerceptron`, of which
/// each rank may have its own or all the same; the number of ranks may change from run to run.
struct DistributedPerceptron : PermutedPerceptron {
  static constexpr SamplerTraits traits{.computes_blocks = true, .collective = true};

  MPI_Comm communicator = MPI_COMM_WORLD;  ///< Whose ranks; the communicator itself is not used.
  std::filesystem::path checkpoint{};      ///< A folder; empty: no checkpoint.

  /// Collective. As `PermutedPerceptron::sample`.
  /// \throws std::invalid_argument on settings out of range, or ranks that were not given the same
  ///         data and settings, with what differs.
  /// \throws CheckpointError if a draw cannot be written, or the folder holds draws of another run.
  /// \throws RankError for what one rank threw and there is no other type for.
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

  /// The same with this many draws.
  [[nodiscard]] DistributedPerceptron with_draws(std::uint64_t count) const {
    return {PermutedPerceptron::with_draws(count), communicator, checkpoint};
  }

  /// On a rank.
  [[nodiscard]] MemoryNeed memory_need(const RunSize& run) const {
    MemoryNeed need = PermutedPerceptron::memory_need(run);
    need.bytes += (run.problems + 4) * static_cast<std::size_t>(run.points) * sizeof(double);
    return need;
  }
};

}}  // namespace bpm
