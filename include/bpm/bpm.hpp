// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// All samplers, kernels, choices, decisions and bounds. Gaussian processes, readers of data and
/// images have their own headers: bpm/gaussian_process.hpp, bpm/data.hpp, bpm/images.hpp; model
/// files and ranks those of bpm/storage and bpm/cluster.

#include "bpm/core/target.hpp"

#include "bpm/bounds/gibbs_bound.hpp"
#include "bpm/bounds/vote_bound.hpp"
#include "bpm/decision/evaluation.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/machine.hpp"
#include "bpm/machine/certificate.hpp"
#include "bpm/machine/one_vs_one.hpp"
#include "bpm/machine/table_encoding.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "bpm/samplers/gibbs/log_evidence.hpp"
#include "bpm/selection/choose.hpp"
#include "bpm/selection/cross_validate.hpp"
#include "bpm/version.hpp"
