// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "bpm/core/errors.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/selection/choose.hpp"
#include "common/setting_search.hpp"

namespace bpm_examples {

/// The kernel, bias and soft boundary that are best out of fold, and one class against one where
/// that is better. Unless `choose` was asked for, chains, whose cost is the cube of their rows, are
/// judged by fewer, and nothing is chosen where no machine is consistent.
template <class Machine, class I, class Watch, class Stop>
[[nodiscard]] std::optional<bpm::Choice<Machine>> choose_setting(const Machine& machine,
                                                                 const SettingSearch& search,
                                                                 const I& inputs,
                                                                 std::span<const int> labels,
                                                                 const Watch& watch, Stop stop) {
  using Sampler = std::remove_cvref_t<decltype(machine.sampler())>;
  bpm::ChoiceGrid<bpm::RuntimeKernel> grid{.kernels = search.kernels,
                                           .narrower = search.narrower,
                                           .wider = search.wider,
                                           .boundary = machine.boundary(),
                                           .biases = search.biases,
                                           .one_against_one = search.one_against_one,
                                           .by_error = search.by_error};
  if (!search.relative_lambdas.empty()) grid.boundary.relative_lambdas = search.relative_lambdas;
  if (search.choosing && search.folds > 0) grid.boundary.folds = search.folds;
  if (!search.choosing && !std::same_as<Sampler, bpm::PermutedPerceptron>) {
    grid.boundary.points = 500;
    grid.more_points = 0;
  }
  try {
    return bpm::choose(machine, grid, inputs, labels, watch, std::move(stop));
  } catch (const bpm::NotSeparable&) {
    if (search.choosing) throw;
  }
  return std::nullopt;
}

}  // namespace bpm_examples
