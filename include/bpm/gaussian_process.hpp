// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The Gaussian process methods: expectation propagation, interpolators, orthants, ensembles,
/// kernel scores. bpm.hpp leaves them out, since their matrix decompositions take longer to compile
/// than all the rest.

#include "bpm/core/target.hpp"

#include "bpm/gaussian_process/ensembles/posterior_ensemble.hpp"
#include "bpm/gaussian_process/expectation_propagation/ep_posterior.hpp"
#include "bpm/gaussian_process/expectation_propagation/expectation_propagation.hpp"
#include "bpm/gaussian_process/expectation_propagation/machine.hpp"
#include "bpm/gaussian_process/interpolation/kernel_complexity.hpp"
#include "bpm/gaussian_process/interpolation/kernel_interpolator.hpp"
#include "bpm/gaussian_process/orthant/orthant_probability.hpp"
#include "bpm/gaussian_process/orthant/truncated_normal.hpp"
#include "bpm/gaussian_process/selection/grid_search.hpp"
