// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <vector>

#include "bpm/kernels/inputs.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/progress/observer.hpp"
#include "bpm/samplers/permuted_perceptron.hpp"
#include "options.hpp"
#include "report.hpp"

namespace bpm_examples {

/// Digits as a machine takes them.
struct DigitInputs {
  bpm::RowMatrix<float> train;
  bpm::RowMatrix<float> test;
  std::vector<int> train_labels;
  std::vector<int> test_labels;
};

/// The experiment that the options ask for.
struct Experiment {
  DigitKernel kernel;
  bpm::PermutedPerceptron sampler;
  bpm::FitSettings settings;
};

[[nodiscard]] Experiment make_experiment(const MnistOptions& options);

/// Finds out how much memory the fit will need and how it will go about it: fills `memory` and
/// `strategy` of the report. Throws `bpm::BudgetTooSmall`.
void plan_memory(const Experiment& experiment, const DigitInputs& digits, MnistReport& report);

/// Fits, predicts, evaluates, and fills the report's results. Ctrl-C during the fit ends it with
/// the draws that are finished. Throws as `bpm::OneVsRest::fit`.
void run_experiment(const Experiment& experiment, const DigitInputs& digits,
                    const std::function<void(const bpm::Progress&)>& progress, MnistReport& report);

}  // namespace bpm_examples
