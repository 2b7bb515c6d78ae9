// SPDX-License-Identifier: MIT
// Machines of some kernels, see bpm/selection/automatic_boundary.hpp.
#include "bpm/bpm.hpp"

namespace bpm { inline namespace BPM_TARGET {

BPM_DETAIL_MACHINES(template)

}}  // namespace bpm
