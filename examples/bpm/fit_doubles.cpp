// SPDX-License-Identifier: MIT
#include "fit_with.hpp"

namespace bpm_examples {

FitOutcome fit_doubles(const FitTask& task, const bpm::RowMatrix<double>& inputs,
                       std::span<const int> labels, const Watch& watch) {
  return fit_perceptrons(task, inputs, labels, watch);
}

}  // namespace bpm_examples
