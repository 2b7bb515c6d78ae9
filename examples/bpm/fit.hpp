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
#include "common/setting_search.hpp"
#include "data.hpp"
#include "model.hpp"

/// \file
/// One fit: what is wanted, and what came out, whatever the sampler and the kind of rows.

namespace bpm_examples {

/// What is wanted. `folds` without `choosing`: to judge by; 0: not judged.
struct FitTask : SettingSearch {
  bpm::FitSettings settings{};
  std::string sampler = "perceptron";
  std::uint64_t draws = 0;
  bool fit = true;                     ///< Whether a model of all rows is wanted.
  std::filesystem::path checkpoint{};  ///< Empty: none.
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
  std::size_t best = 0;
  std::size_t moved_by = 0;  ///< `bpm::Choice::moved_by`.
};

using Watch = std::function<bool(const bpm::Progress&)>;

/// Billiards, Gibbs samplers and expectation propagation take doubles, perceptrons any rows. Throws
/// as the machines; `bpm::Stopped` where the watch said no before there was a model.
[[nodiscard]] FitOutcome fit_machine(const FitTask& task, const Inputs& inputs,
                                     std::span<const int> labels, const Watch& watch);

}  // namespace bpm_examples
