// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <span>
#include <utility>

#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/choose.hpp"
#include "bpm/machine/cross_validate.hpp"
#include "bpm/machine/one_vs_rest.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/storage/checkpointed_perceptron.hpp"
#include "common/program.hpp"
#include "fit.hpp"

namespace bpm_examples {

template <class Sampler>
using Machine = bpm::OneVsRest<bpm::RuntimeKernel, Sampler>;

/// Refuses what another run has left, unless this one is to go on with it.
inline void check_checkpoint(const FitTask& task) {
  namespace fs = std::filesystem;
  if (task.resume || !fs::exists(task.checkpoint)) return;
  if (!fs::is_directory(task.checkpoint)) {
    throw UsageError("--checkpoint: '" + task.checkpoint.string() + "' is no folder");
  }
  if (!fs::is_empty(task.checkpoint)) {
    throw UsageError("--checkpoint: '" + task.checkpoint.string() +
                     "' is not empty: go on with --resume, or name another folder");
  }
}

/// fit(machine) makes the classifier of the machine that is given, or chosen.
template <class Sampler, class I, class Fit>
[[nodiscard]] FitOutcome fit_machine(const Sampler& sampler, const FitTask& task, const I& inputs,
                                     std::span<const int> labels, const Watch& watch,
                                     const Fit& fit) {
  FitOutcome outcome;
  const Machine<Sampler> machine(
      bpm::BayesPointMachine(task.kernels.front(), sampler, task.settings));
  if (task.choosing) {
    bpm::ChoiceGrid<bpm::RuntimeKernel> grid{.kernels = task.kernels};
    if (!task.relative_lambdas.empty()) grid.relative_lambdas = task.relative_lambdas;
    if (task.folds > 0) grid.folds = task.folds;
    const auto choice = bpm::choose(machine, grid, inputs, labels, watch);
    outcome.candidates = choice.candidates;
    outcome.best = choice.best;
    const bpm::ChoiceCandidate& chosen = choice.chosen();
    outcome.out_of_fold = {chosen.error, chosen.loss, chosen.slope};
    if (task.fit) outcome.model = Model{fit(choice.machine)};
    return outcome;
  }
  if (task.folds > 0) {
    const bpm::OutOfFold left_out = bpm::cross_validate(machine, inputs, labels, task.folds, watch);
    const bpm::FittedSlope slope = left_out.slope();
    outcome.out_of_fold = {left_out.error(), slope.loss, slope.slope};
  }
  if (task.fit) outcome.model = Model{fit(machine)};
  return outcome;
}

/// Permuted perceptrons, with a folder for their draws if one is named.
template <class I>
[[nodiscard]] FitOutcome fit_perceptrons(const FitTask& task, const I& inputs,
                                         std::span<const int> labels, const Watch& watch) {
  const bpm::PermutedPerceptron sampler{.draws = task.draws.value_or(10)};
  if (!task.checkpoint.empty()) check_checkpoint(task);
  return fit_machine(sampler, task, inputs, labels, watch, [&](const auto& machine) {
    if (task.checkpoint.empty()) return machine.fit(inputs, labels, watch);
    const auto& binary = machine.machine();
    const bpm::CheckpointedPerceptron kept{sampler, task.checkpoint};
    return Machine<bpm::CheckpointedPerceptron>(
               bpm::BayesPointMachine(binary.kernel(), kept, binary.settings()))
        .fit(inputs, labels, watch);
  });
}

}  // namespace bpm_examples
