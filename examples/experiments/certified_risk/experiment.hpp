// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <functional>
#include <string>

#include "bpm/core/progress.hpp"
#include "certified_risk/calibration.hpp"
#include "certified_risk/options.hpp"

namespace bpm_examples {

struct CertifiedRiskResult {
  bool drawn = false;  ///< Digits of our own, not MNIST.
  Population population;
  std::array<Thresholds, risk_levels.size()> levels;
  double seconds = 0;  ///< Of the samples.
};

/// Trains on the training digits as `mnist` does by default, takes the gaps of the test digits as
/// scores, and draws the samples. \throws `bpm::Stopped` if `watch` said false, and as
/// `load_digits` and `bpm::OneVsRest::fit`.
[[nodiscard]] CertifiedRiskResult run_certified_risk(
    const CertifiedRiskOptions& options, const std::function<bool(const bpm::Progress&)>& watch);

}  // namespace bpm_examples
