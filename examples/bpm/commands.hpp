// SPDX-License-Identifier: MIT
#pragma once

#include "options.hpp"

/// \file
/// What the commands do. They throw what `run_program` reports.

namespace bpm_examples {

void run_train(const TrainOptions& options);
void run_predict(const PredictOptions& options);
void run_evaluate(const PredictOptions& options);
void run_info(const InfoOptions& options);

}  // namespace bpm_examples
