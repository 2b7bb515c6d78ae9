// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bpm/samplers/chain_report.hpp"
#include "bpm/samplers/detail/batch_means.hpp"

namespace bpm {

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
  std::vector<detail::BatchMeans> batches;  ///< One a chain.
  std::uint64_t draws = 0;  ///< Handed over so far; draw n is of chain n mod chains.
  double start_margin = 0;
  CentreOfMass centre_of_mass;
};

}  // namespace bpm
