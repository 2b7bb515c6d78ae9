// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cones.hpp"
#include "options.hpp"

namespace bpm_examples {

/// What is measured, in the order of the report.
inline constexpr std::array<std::string_view, 6> accuracy_methods{
    "geodesic",     "geodesic_unrefreshed", "published",
    "kernel_gibbs", "kernel_gibbs_input",   "expectation_propagation"};

/// One method on one cone, over the seeds. An angle is infinite where a run was too short to end
/// its burn-in.
struct AccuracyRow {
  std::string cone;
  std::string method;
  double seconds = 0;
  double angle_median = 0;  ///< Radians.
  double angle_min = 0;
  double angle_max = 0;
  double steps_per_second = 0;  ///< Bounces or steps a CPU second after the burn-in, or sweeps of
                                ///< expectation propagation, which ends by itself; median.
};

/// Told of the part that is done; false: stop.
using AccuracyProgress = std::function<bool(double fraction)>;

/// Runs every method on every cone with every seed. Empty if stopped.
/// \throws bpm::DataError where no classifier separates a cone's points.
[[nodiscard]] std::vector<AccuracyRow> run_accuracy(const std::vector<ReferenceCone>& cones,
                                                    const AccuracyOptions& options,
                                                    const AccuracyProgress& progress);

}  // namespace bpm_examples
