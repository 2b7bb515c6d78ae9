// SPDX-License-Identifier: MIT
#include "fit_with.hpp"

namespace bpm_examples {

FitOutcome fit_bytes(const FitTask& task, const bpm::RowMatrix<std::uint8_t>& inputs,
                     std::span<const int> labels, const Watch& watch) {
  return fit_perceptrons(task, inputs, labels, watch);
}

}  // namespace bpm_examples
