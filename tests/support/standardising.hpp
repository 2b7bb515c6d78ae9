// SPDX-License-Identifier: MIT
#pragma once

#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/selection/automatic_boundary.hpp"

namespace test_support {

/// The same machine, which standardises its inputs.
template <class Machine>
[[nodiscard]] Machine standardising(const Machine& machine) {
  bpm::FitSettings settings = machine.settings();
  settings.standardise = true;
  return Machine(bpm::BayesPointMachine(machine.kernel(), machine.sampler(), settings));
}

}  // namespace test_support
