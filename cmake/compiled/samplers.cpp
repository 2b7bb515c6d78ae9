// SPDX-License-Identifier: MIT
// What samplers do with kernel values, see bpm/selection/automatic_boundary.hpp.
#include "bpm/bpm.hpp"
#include "bpm/samplers/perceptron/perceptron_runs.hpp"

#if BPM_BODIES
#error "BPM_COMPILED is not the target that this is compiled for: cmake/library.cmake asks for it"
#endif

namespace bpm { inline namespace BPM_TARGET { namespace detail {

BPM_DETAIL_OF_VALUES(template, float)
BPM_DETAIL_OF_VALUES(template, double)

}}}  // namespace bpm::detail
