// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/choose.hpp"
#include "bpm/machine/cross_validate.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/out_of_fold.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// Leaves out the folds in turn; `choose_on(inputs, labels, observer)` gives the choice on the
/// others.
template <class Machine, class I, class O, class ChooseOn>
[[nodiscard]] OutOfFold nested_by(const Machine& machine, const I& inputs,
                                  std::span<const int> labels, std::size_t folds, O& observer,
                                  const StopToken& stop, ChooseOn&& choose_on) {
  using Kernel = std::remove_cvref_t<decltype(machine.kernel())>;
  static_assert(!std::same_as<Kernel, PrecomputedKernel>,
                "nested takes inputs: folds of a kernel matrix are cross_validate's");
  OutOfFold result = empty_out_of_fold(labels, check_labels(input_count(inputs), labels, "nested"),
                                       Folds::stratified(labels, folds, machine.settings().seed));
  leave_out_in_turn(
      result, labels, observer, stop, "nested",
      [&](const auto& train, const auto& left_out, const std::vector<int>& of_train, auto& told) {
        const auto part = select_inputs(inputs, train);
        const auto choice = choose_on(part, of_train, told);
        const auto classifier = choice.machine.fit(part, of_train, told, stop);
        // Of a fit that raised lambda the slope is another.
        const double slope =
            classifier.parts().slope > 0 ? classifier.parts().slope : choice.chosen().slope;
        return Eigen::MatrixXd(slope * classifier.shifted(classifier.decision_values(
                                           select_inputs(inputs, left_out))));
      });
  return result;
}

}  // namespace detail

/// What all of `choose`, standardising included, is worth on other data: the folds are left out in
/// turn, kernel and soft boundary chosen anew on the rest, a machine fitted, and asked about those
/// left out. Unlike `Choice::selection_score` its `error()` and `slope().loss` are honest. Its
/// decision values are times the slope that each fold's fit has: log odds, so that a slope of
/// 1 says that probabilities are right.
/// Cost: `folds` times `choose`. \throws as `choose`, `fit` and `Folds::stratified`; Stopped.
template <class Machine, class Kernel, InputSet I, Observer O = detail::IgnoreProgress>
[[nodiscard]] OutOfFold nested(const Machine& machine, const ChoiceGrid<Kernel>& grid,
                               const I& inputs, std::span<const int> labels, std::size_t folds = 5,
                               O&& observer = {}, StopToken stop = {}) {
  return detail::nested_by(machine, inputs, labels, folds, observer, stop,
                           [&](const auto& part, const std::vector<int>& of_part, auto& watched) {
                             return choose(machine, grid, part, of_part, watched, stop);
                           });
}

/// The same with `choose`'s own Gaussian kernels.
template <class Machine, InputSet I, Observer O = detail::IgnoreProgress>
[[nodiscard]] OutOfFold nested(const Machine& machine, const I& inputs, std::span<const int> labels,
                               std::size_t folds = 5, O&& observer = {}, StopToken stop = {}) {
  return detail::nested_by(machine, inputs, labels, folds, observer, stop,
                           [&](const auto& part, const std::vector<int>& of_part, auto& watched) {
                             return choose(machine, part, of_part, watched, stop);
                           });
}

}}  // namespace bpm
