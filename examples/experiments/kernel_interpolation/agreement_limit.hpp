// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>

#include "bpm/bounds/gibbs_bound.hpp"

/// \file
/// What the certified C-bound takes where voters estimate the agreement.

namespace bpm_examples {

/// An upper limit, with confidence 1 - delta, of the agreement alpha = E[(mean sign of the
/// voters)^2] from its mean at `inputs` inputs without labels that share V independent voters.
/// These are random as a whole: their agreement on the distribution of inputs expects alpha + (1 -
/// alpha) / V and moves by 4 / V at most with one voter, so that (C. McDiarmid, 1989) it is below
/// alpha by
///
///     4 sqrt(log(2 / delta) / (2 V))
///
/// with probability delta / 2; the inputs get the other half, by the Chernoff bound.
[[nodiscard]] inline double agreement_limit(double mean, double inputs, double voters,
                                            double delta) {
  const double log_half = std::log(2 / delta);
  return std::min(
      1.0, bpm::kl_upper_inverse(mean, log_half / inputs) + 4 * std::sqrt(log_half / (2 * voters)));
}

}  // namespace bpm_examples
