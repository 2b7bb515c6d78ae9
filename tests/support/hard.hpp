// SPDX-License-Identifier: MIT
#pragma once

#include "bpm/machine/fit_settings.hpp"
#include "bpm/version_space/soft_boundary.hpp"

namespace test_support {

/// These settings with a hard boundary where none is given, and without a bias: version space as
/// the papers have it.
[[nodiscard]] inline bpm::FitSettings hard(bpm::FitSettings settings = {}) {
  if (settings.soft_boundary.is_automatic()) settings.soft_boundary = bpm::SoftBoundary::hard();
  settings.bias = settings.bias.value_or(0);
  return settings;
}

}  // namespace test_support
