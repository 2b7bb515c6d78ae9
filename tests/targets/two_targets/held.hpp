// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/selection/automatic_boundary.hpp"

/// What a user may hold: its name has no target, and neither have functions that take it.
struct Held {
  using Inputs = bpm::RowMatrix<double>;

  std::optional<bpm::Classifier<bpm::Gaussian, Inputs>> classifier;
  std::optional<bpm::Training<bpm::Gaussian, bpm::PermutedPerceptron, Inputs>> training;
  Inputs values;
  std::optional<bpm::PrecomputedGram<double>> gram;
};

void make(Held& held);
