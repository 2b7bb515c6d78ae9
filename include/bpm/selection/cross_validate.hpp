// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
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
#include "bpm/machine/one_vs_one.hpp"
#include "bpm/machine/train.hpp"
#include "bpm/selection/choose.hpp"
#include "bpm/selection/out_of_fold.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// Returns the mean k(x, x) of these points.
template <class Scalar>
[[nodiscard]] double mean_diagonal(const DenseGram<Scalar>& values,
                                   std::span<const PointIndex> points) {
  double sum = 0;
  for (const PointIndex i : points) sum += static_cast<double>(values.diagonal(i));
  return sum / static_cast<double>(points.size());
}

/// Fits to the points of a fold that train, and returns the outputs of those left out, or none.
using AskFold = std::function<std::optional<Eigen::MatrixXd>(const Fold&, const RunControl&)>;

/// Leaves out the folds of `result` in turn. \throws Stopped; NotSeparable for no outputs.
inline void leave_out_in_turn(OutOfFold& result, std::span<const int> labels,
                              const RunControl& control, std::string_view function,
                              const AskFold& ask) {
  StageProgress watched{control.observer, "folds", result.folds.count};
  const RunControl part{std::ref(watched), control.stop, control.threads};
  for (std::size_t& k = watched.done; k < result.folds.count; ++k) {
    const Fold fold(result.folds, k, labels);
    const std::optional<Eigen::MatrixXd> outputs = ask(fold, part);
    ensure<Stopped>(!watched.stopped && !control.stop.stop_requested(), function,
                    ": stopped in fold ", k);
    ensure<NotSeparable>(outputs.has_value(), function,
                         ": no classifier without training error was found in fold ", k,
                         "; set a soft boundary lambda > 0");
    put_outputs(result, fold.left_out, *outputs);
  }
}

/// Leaves out the folds as `cross_validate`, of inputs that have been standardised if the machine
/// does that.
template <class Machine, class I, class O>
[[nodiscard]] OutOfFold cross_validate_on(const Machine& machine, const I& inputs,
                                          std::span<const int> labels, std::size_t folds,
                                          O& observer, const StopToken& stop) {
  require_draws<Machine>();
  using Kernel = std::remove_cvref_t<decltype(machine.kernel())>;
  using Scalar = kernel_scalar_t<I>;
  const char* const f = "cross_validate";
  const FitSettings& settings = machine.settings();
  const std::ptrdiff_t n = input_count(inputs);
  std::vector<int> classes = check_labels(n, labels, f, Machine::any_number_of_classes);
  check_inputs(inputs, f);
  const bool pairs = Machine::one_against_one && classes.size() > 2;
  if (pairs) check_boundary_of_pairs(settings.soft_boundary, f);
  OutOfFold result = empty_out_of_fold(labels, std::move(classes),
                                       Folds::stratified(labels, folds, settings.seed));
  const double bytes = pairs ? 24 : 16;  // Pairs need values of a pair, too.
  const bool whole = bytes * static_cast<double>(n) * static_cast<double>(n) <=
                     static_cast<double>(settings.memory);
  const RunControl control = run_control(settings, observer, stop);
  if (whole && !chooses_boundary(machine.sampler(), settings)) {
    const SoftBoundary boundary =
        settings.soft_boundary.is_automatic() ? SoftBoundary::hard() : settings.soft_boundary;
    const double bias = relative_bias<Kernel>(settings, f);
    const auto values =
        kernel_values_of(machine.kernel(), inputs, first_points(n), control.threads);
    leave_out_in_turn(result, labels, control, f, [&](const Fold& fold, const RunControl& part) {
      const auto added = static_cast<Scalar>(bias * mean_diagonal(values, fold.train));
      return outputs_of_left_out(FoldValues<Scalar>(values, fold, added), fold.labels,
                                 result.classes, machine.sampler(), boundary, settings.seed, part,
                                 pairs);
    });
    return result;
  }
  FitSettings as_given = settings;
  as_given.standardise = false;
  const Machine plain = with_settings(machine, machine.kernel(), std::move(as_given));
  leave_out_in_turn(result, labels, control, f, [&](const Fold& fold, const RunControl& part) {
    if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
      const RowMatrix<Scalar>& whole_matrix = inputs;
      const PrecomputedGram<Scalar> checked(whole_matrix);  // Checks the matrix.
      const RowMatrix<Scalar> values = inputs(fold.train, fold.train);
      const RowMatrix<Scalar> others = inputs(fold.left_out, fold.train);
      const Eigen::VectorXd self = inputs.diagonal()(fold.left_out).template cast<double>();
      return plain.fit(values, fold.labels, part.observer, stop)
          .decision_values(PrecomputedRows<Scalar>{others, self});
    } else {
      return plain.fit(select_inputs(inputs, fold.train), fold.labels, part.observer, stop)
          .decision_values(select_inputs(inputs, fold.left_out));
    }
  });
  return result;
}

/// Leaves out the folds in turn, and chooses on the others, from the grid if there is one.
template <class Machine, class I, class O, class... Grid>
[[nodiscard]] OutOfFold nested_by(const Machine& machine, const I& inputs,
                                  std::span<const int> labels, std::size_t folds, O& observer,
                                  const StopToken& stop, const Grid&... grid) {
  using Kernel = std::remove_cvref_t<decltype(machine.kernel())>;
  static_assert(!std::same_as<Kernel, PrecomputedKernel>,
                "nested takes inputs: folds of a kernel matrix are cross_validate's");
  OutOfFold result = empty_out_of_fold(labels, check_labels(input_count(inputs), labels, "nested"),
                                       Folds::stratified(labels, folds, machine.settings().seed));
  const RunControl control = run_control(machine.settings(), observer, stop);
  const auto ask = [&](const Fold& fold, const RunControl& told) {
    const auto part = select_inputs(inputs, fold.train);
    const auto choice = choose(machine, grid..., part, fold.labels, told.observer, stop);
    const auto classifier = choice.fit(part, fold.labels, told.observer, stop);
    // A fit that raised lambda has another slope.
    const double slope =
        classifier.parts().slope > 0 ? classifier.parts().slope : choice.chosen().slope;
    return Eigen::MatrixXd(slope * classifier.shifted(classifier.decision_values(
                                       select_inputs(inputs, fold.left_out))));
  };
  leave_out_in_turn(result, labels, control, "nested", ask);
  return result;
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
  return detail::on_inputs_of_fit<std::remove_cvref_t<decltype(machine.kernel())>>(
      machine.settings(), inputs, "cross_validate", [&](const auto& given, const auto&) {
        return detail::cross_validate_on(machine, given, labels, folds, observer, stop);
      });
}

/// Estimates the performance of `choose`, standardising included, on other data: it leaves the
/// folds out in turn, chooses kernel and soft boundary anew on the rest, fits a machine, and
/// predicts the points left out. Unlike `Choice::selection_score`, its `error()` and `slope().loss`
/// are not biased by the choice. Its decision values are s f + b by each fold's fit (without b
/// where class weights move labels): log odds, so that a slope of 1 means calibrated probabilities.
/// Cost: `folds` times `choose`. \throws as `choose`, `fit` and `Folds::stratified`; Stopped.
template <class Machine, class Kernel, InputSet I, Observer O = detail::IgnoreProgress>
[[nodiscard]] OutOfFold nested(const Machine& machine, const ChoiceGrid<Kernel>& grid,
                               const I& inputs, std::span<const int> labels, std::size_t folds = 5,
                               O&& observer = {}, StopToken stop = {}) {
  return detail::nested_by(machine, inputs, labels, folds, observer, stop, grid);
}

/// Estimates the performance of `choose` with its default Gaussian kernels.
template <class Machine, InputSet I, Observer O = detail::IgnoreProgress>
[[nodiscard]] OutOfFold nested(const Machine& machine, const I& inputs, std::span<const int> labels,
                               std::size_t folds = 5, O&& observer = {}, StopToken stop = {}) {
  return detail::nested_by(machine, inputs, labels, folds, observer, stop);
}

}}  // namespace bpm
