// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/train.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "bpm/selection/candidates.hpp"
#include "bpm/selection/out_of_fold.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// Checks that a machine makes draws in one process, as folds and choices require.
template <class Machine>
constexpr void require_draws() {
  static_assert(Machine::makes_draws,
                "folds are for machines that sample: expectation propagation chooses by its "
                "evidence, by itself (SoftBoundary::automatic), and has leave_one_out");
  if constexpr (Machine::makes_draws) {
    using Sampler = std::remove_cvref_t<decltype(std::declval<Machine>().sampler())>;
    static_assert(!Sampler::traits.collective,
                  "folds and choices are made by one process: give them a machine with a "
                  "PermutedPerceptron, on every rank alike");
  }
}

/// Returns the machine with another kernel and these settings.
template <class Machine, class Kernel>
[[nodiscard]] Machine with_settings(const Machine& machine, const Kernel& kernel,
                                    FitSettings settings) {
  auto boundary = machine.boundary();
  if constexpr (std::same_as<decltype(boundary), SoftBoundary>) boundary = settings.soft_boundary;
  return Machine(
      BayesPointMachine(kernel, machine.sampler(), std::move(boundary), std::move(settings)));
}
template <class Machine>
[[nodiscard]] Machine without_standardising(const Machine& machine) {
  FitSettings settings = machine.settings();
  settings.standardise = false;
  return with_settings(machine, machine.kernel(), std::move(settings));
}

/// Checks whether to go on. \throws Stopped if the observer or the token has stopped the run.
template <class O>
void ensure_not_stopped(const StageProgress<O>& watched, const StopToken& stop,
                        std::string_view function) {
  ensure<Stopped>(!watched.stopped && !stop.stop_requested(), function, ": stopped in fold ",
                  watched.done);
}

/// Leaves out the folds of `result` in turn: `ask(train, left_out, labels, observer)` fits to the
/// points `train` and returns the outputs of those left out. \throws Stopped.
template <class O, class Ask>
void leave_out_in_turn(OutOfFold& result, std::span<const int> labels, O& observer,
                       const StopToken& stop, std::string_view function, Ask&& ask) {
  StageProgress<O> watched{observer, "folds", result.folds.count};
  for (std::size_t& k = watched.done; k < result.folds.count; ++k) {
    const std::vector<PointIndex> train = result.folds.points(k, false);
    const std::vector<PointIndex> left_out = result.folds.points(k, true);
    const Eigen::MatrixXd outputs = ask(train, left_out, labels_at(labels, train), watched);
    ensure_not_stopped(watched, stop, function);
    put_outputs(result, left_out, outputs);
  }
}

}  // namespace detail

/// Returns the outputs at every training point of a machine of the others: it leaves the folds out
/// in turn, and fits the machine anew to the rest. Kernel values are computed once for all folds,
/// n^2 of them and as many again for a fold, if `settings().memory` holds 16 n^2 bytes (24 for
/// pairs of classes); if not, or if lambda is automatic (every fold then chooses its own, or begins
/// with the settings' `boundary_choice`, which may depend on its points), each fold fits by itself.
/// A machine that standardises does so once, with all inputs. Cost: as many fits as folds. `folds`:
/// number of folds, whose seed is the machine's. \throws NotSeparable if a fold's machine finds no
/// consistent classifier, Stopped; as `fit` and `Folds::stratified`.
template <class Machine, InputSet I, Observer O = detail::IgnoreProgress>
[[nodiscard]] OutOfFold cross_validate(const Machine& machine, const I& inputs,
                                       std::span<const int> labels, std::size_t folds = 5,
                                       O&& observer = {}, StopToken stop = {}) {
  const char* const f = "cross_validate";
  detail::require_draws<Machine>();
  using Kernel = std::remove_cvref_t<decltype(machine.kernel())>;
  const FitSettings& settings = machine.settings();
  if (settings.standardise) {
    return detail::on_standardised<Kernel>(inputs, f, [&](const auto& scaled, const auto&) {
      return cross_validate(detail::without_standardising(machine), scaled, labels, folds, observer,
                            stop);
    });
  }
  const std::ptrdiff_t n = detail::input_count(inputs);
  std::vector<int> classes = detail::check_labels(n, labels, f, Machine::any_number_of_classes);
  detail::check_inputs(inputs, f);
  const bool pairs = Machine::one_against_one && classes.size() > 2;
  if (pairs) detail::check_boundary_of_pairs(settings.soft_boundary, f);
  OutOfFold result = detail::empty_out_of_fold(labels, std::move(classes),
                                               Folds::stratified(labels, folds, settings.seed));
  using Scalar = detail::kernel_scalar_t<I>;
  const bool chooses = detail::chooses_boundary(machine.sampler(), settings);
  const double bytes = pairs ? 24 : 16;  // Pairs need values of a pair, too.
  const bool whole = bytes * static_cast<double>(n) * static_cast<double>(n) <=
                     static_cast<double>(settings.memory);
  if (whole && !chooses) {
    const SoftBoundary boundary =
        settings.soft_boundary.is_automatic() ? SoftBoundary::hard() : settings.soft_boundary;
    const double bias = detail::relative_bias<Kernel>(settings, f);
    const auto values = detail::kernel_values_of(machine.kernel(), inputs, detail::first_points(n),
                                                 detail::thread_count(settings.threads));
    detail::StageProgress<std::remove_reference_t<O>> watched{observer, "folds", folds};
    const RunControl control = detail::run_control(settings, watched, stop);
    for (std::size_t& k = watched.done; k < folds; ++k) {
      const detail::FoldValues<Scalar> fold(values, result.folds, k, labels, bias);
      const auto outputs = detail::outputs_of_left_out(fold, machine.sampler(), boundary,
                                                       result.classes, settings, control, pairs);
      detail::ensure_not_stopped(watched, stop, f);
      if (!outputs) {
        throw NotSeparable(detail::join(f,
                                        ": no classifier without training error was found in "
                                        "fold ",
                                        k, "; set a soft boundary lambda > 0"));
      }
      detail::put_outputs(result, fold.left_out, *outputs);
    }
    return result;
  }
  detail::leave_out_in_turn(
      result, labels, observer, stop, f,
      [&](const auto& train, const auto& left_out, const std::vector<int>& of_train, auto& told) {
        if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
          const RowMatrix<Scalar>& whole_matrix = inputs;
          const PrecomputedGram<Scalar> checked(whole_matrix);  // Checks the matrix.
          const RowMatrix<Scalar> values = inputs(train, train);
          const RowMatrix<Scalar> others = inputs(left_out, train);
          const Eigen::VectorXd self = inputs.diagonal()(left_out).template cast<double>();
          return machine.fit(values, of_train, told, stop)
              .decision_values(PrecomputedRows<Scalar>{others, self});
        } else {
          return machine.fit(detail::select_inputs(inputs, train), of_train, told, stop)
              .decision_values(detail::select_inputs(inputs, left_out));
        }
      });
  return result;
}

}}  // namespace bpm
