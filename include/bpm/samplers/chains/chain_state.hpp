// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/samplers/chains/batch_means.hpp"
#include "bpm/samplers/chains/chain_report.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm::detail {

/// Where the chains of a run stand, so that another run goes on as if there had been one: with it,
/// 5 draws and 5 more are the same draws as 10, to the bit. A value; empty before the first run. It
/// belongs to the version space and the settings (other than the budget) that it was made with.
template <class Chain>
class ChainState {
 public:
  [[nodiscard]] bool empty() const noexcept { return chains.empty(); }
  /// The centre of mass as found by all draws so far. Empty before the first draw.
  [[nodiscard]] const CentreOfMass& centre() const noexcept { return centre_of_mass; }

  // For the run of the chains.
  std::vector<Chain> chains;
  std::vector<BatchMeans> batches;  ///< One a chain.
  std::ptrdiff_t points = 0;        ///< Of the version space that it belongs to.
  std::ptrdiff_t rank = 0;
  std::uint64_t draws = 0;  ///< Handed over so far; draw n is of chain n mod chains.
  double start_margin = 0;
  CentreOfMass centre_of_mass;
};

/// \throws std::invalid_argument if the state was made with another version space, as far as shows.
template <class Chain>
void check_state(const ChainState<Chain>& state, const Cone& cone, std::string_view function) {
  check(state.empty() || (state.points == cone.points() && state.rank == cone.rank()), function,
        "state", "belongs to a version space of ", state.points, " points and rank ", state.rank,
        ", not of ", cone.points(), " and ", cone.rank(), "; use an empty state for another one");
}

}  // namespace bpm::detail
