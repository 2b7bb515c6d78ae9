// SPDX-License-Identifier: MIT
#pragma once

#include "bpm/gaussian_process/expectation_propagation/machine.hpp"
#include "bpm/kernels/compose.hpp"

namespace bpm_examples {

struct PosteriorModel {
  bpm::PosteriorClassifier<bpm::RuntimeKernel, bpm::RowMatrix<double>> classifier;
};

}  // namespace bpm_examples
