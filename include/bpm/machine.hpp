// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Headers for a first program: kernels, permuted perceptrons, machines of two classes and of many.

#include "bpm/core/target.hpp"

#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/selection/automatic_boundary.hpp"
