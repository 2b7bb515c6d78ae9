// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bpm/core/progress.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "data.hpp"
#include "model.hpp"

/// \file
/// One fit: what is wanted, and what came out, whatever the sampler and the kind of rows.

namespace bpm_examples {

struct FitTask {
  std::vector<bpm::RuntimeKernel> kernels;  ///< To choose from; one where nothing is chosen.
  bpm::FitSettings settings{};
  std::string sampler = "perceptron";
  std::optional<std::uint64_t> draws{};
  bool choosing = false;
  /// To choose from; empty: the default ones, and the machine's own fit begins with the chosen one.
  std::vector<double> relative_lambdas{};
  std::size_t folds = 0;  ///< Of choosing, or to judge by; 0: 5, or not judged.
  /// To choose from, also where nothing else is chosen; empty: that of the settings.
  std::vector<double> biases{};
  bool one_against_one = false;  ///< Whether pairs of classes are tried too.
  bool by_error = false;         ///< Choosing makes the error small, not the log loss.
  std::vector<bpm::RuntimeKernel> narrower{};  ///< Tried where the first kernel is best, in turn,
  std::vector<bpm::RuntimeKernel> wider{};     ///< and the last.
  bool fit = true;                             ///< Whether a model of all rows is wanted.
  std::filesystem::path checkpoint{};          ///< Empty: none.
  bool resume = false;
};

/// What machines of a part of the rows did on the others.
struct OutOfFoldResult {
  double error = 0;
  double loss = 0;
  double slope = 0;  ///< Of probabilities of the machine that all rows train; 0: not known.
  std::vector<double> offsets{};  ///< Beside it.
  std::size_t rows = 0;           ///< That were judged.
  bool chosen = false;            ///< Whether the machine was chosen by these figures.
  double machine_rows = 0;        ///< That train each machine, where not all were judged.
};

struct FitOutcome {
  std::optional<Model> model;
  std::optional<OutOfFoldResult> out_of_fold;
  std::vector<bpm::ChoiceCandidate> candidates;  ///< Of choosing.
  std::optional<double> bias;                    ///< The one chosen, if several were tried.
  bool one_against_one = false;                  ///< Whether the machine is of pairs of classes.
  std::vector<bpm::RuntimeKernel> beyond;        ///< Kernels that were tried behind the task's own.
  std::size_t best = 0;
  std::size_t moved_by = 0;  ///< `bpm::Choice::moved_by`.
};

/// The kernel of a candidate.
[[nodiscard]] inline const bpm::RuntimeKernel& kernel_of(const FitTask& task,
                                                         const FitOutcome& outcome,
                                                         std::size_t kernel) {
  return kernel < task.kernels.size() ? task.kernels[kernel]
                                      : outcome.beyond[kernel - task.kernels.size()];
}

using Watch = std::function<bool(const bpm::Progress&)>;

/// Billiards, Gibbs samplers and expectation propagation take doubles, perceptrons any rows. Throws
/// as the machines; `bpm::Stopped` where the watch said no before there was a model.
[[nodiscard]] FitOutcome fit_machine(const FitTask& task, const Inputs& inputs,
                                     std::span<const int> labels, const Watch& watch);

}  // namespace bpm_examples
