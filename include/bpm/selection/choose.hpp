// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/one_vs_one.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "bpm/selection/candidates.hpp"
#include "bpm/selection/cross_validate.hpp"
#include "bpm/selection/out_of_fold.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// Grid of candidates for `choose`: every kernel with every soft boundary, or label noise.
template <class Kernel>
struct ChoiceGrid {
  std::vector<Kernel> kernels;  ///< From narrow to wide: the last of equals wins.
  /// Soft boundaries to try, and how, in the place of the machine's.
  AutomaticBoundary boundary{};
  /// Biases to try (`FitSettings::bias`), with the best kernel and the lambdas next to the best;
  /// the machine's own is always a candidate. Empty: that alone.
  std::vector<double> biases{};
  /// Whether to try machines of pairs of classes (`OneVsOne`) for three to 30 classes: with the
  /// best kernel and bias and the boundaries next to the best and, if these are better, with all
  /// boundaries and kernels. They win if the criterion is smaller by its standard error and one
  /// point. Not with class weights, lambdas by point, several processes.
  bool one_against_one = false;
  bool by_error = false;  ///< Minimise the share of errors, not the log loss.
  /// Size of a larger part that judges the winner again against its neighbours in the grid, as the
  /// best lambda and width change with the number of points. Training set and memory limit it, and
  /// below 3/2 of the part it is skipped. 0: none.
  std::size_t more_points = 8000;
};

/// Result of `choose`.
template <class Machine>
struct Choice {
  /// The machine with the chosen kernel. If its fits choose lambda, they begin with the chosen one
  /// (`FitSettings::boundary_choice`) and its slope; else lambda is the chosen one. If pairs of
  /// classes won, `fit` fits a `OneVsOne` of it.
  Machine machine;
  /// All candidates, in the grid's order: kernels, then boundaries; other biases; pairs of classes.
  std::vector<ChoiceCandidate> candidates;
  std::size_t best = 0;  ///< Index of the winner in `candidates`.
  /// The winner's loss: smaller than its loss on other data will be, since it was chosen for it.
  /// `nested` estimates that.
  double selection_score = 0;
  /// Number of classes with a single point, which always trained; see `Folds`.
  std::size_t always_train = 0;
  /// The winner's boundary; a machine whose boundary is given does not store it.
  BoundaryChoice boundary{};
  /// Points left out of a larger part, if a neighbour was better there and is the winner; else 0.
  std::size_t moved_by = 0;

  /// Returns the winner.
  [[nodiscard]] const ChoiceCandidate& chosen() const { return candidates[best]; }

  /// Fits the chosen machine, or that of pairs of classes if they won. \throws as the machine.
  template <InputSet I, Observer O = detail::IgnoreProgress>
  [[nodiscard]] auto fit(const I& inputs, std::span<const int> labels, O&& observer = {},
                         StopToken stop = {}) const {
    if constexpr (Machine::any_number_of_classes && !Machine::one_against_one) {
      if (chosen().one_against_one) {
        return OneVsOne(machine.machine()).fit(inputs, labels, observer, std::move(stop));
      }
    }
    return machine.fit(inputs, labels, observer, std::move(stop));
  }
};

namespace detail {

/// Returns the machine with another kernel, these settings and its chosen soft boundary.
template <class Machine, class Kernel>
[[nodiscard]] Machine with_choice(const Machine& machine, const Kernel& kernel,
                                  FitSettings settings, BoundaryChoice choice) {
  settings.chosen = true;
  if (chooses_boundary(machine.sampler(), settings)) {
    settings.boundary_choice = std::move(choice);
  } else {
    settings.soft_boundary = settings.soft_boundary.with_factor(choice.relative_lambda);
  }
  return with_settings(machine, kernel, std::move(settings));
}

/// Returns the choice by `choose_on` on standardised inputs, for a machine that standardises.
template <class Machine, class I, class ChooseOn>
[[nodiscard]] Choice<Machine> choose_on_standardised(const Machine& machine, const I& inputs,
                                                     ChooseOn&& choose_on) {
  using Kernel = std::remove_cvref_t<decltype(machine.kernel())>;
  return on_standardised<Kernel>(inputs, "choose", [&](const auto& scaled, const auto&) {
    auto choice = choose_on(without_standardising(machine), scaled);
    FitSettings settings = choice.machine.settings();
    settings.standardise = true;
    return Choice<Machine>{
        with_settings(choice.machine, choice.machine.kernel(), std::move(settings)),
        std::move(choice.candidates),
        choice.best,
        choice.selection_score,
        choice.always_train,
        std::move(choice.boundary),
        choice.moved_by};
  });
}

/// Most classes for which `choose` tries machines of pairs.
inline constexpr std::size_t most_classes_by_pairs = 30;

}  // namespace detail

/// Chooses the kernel and the soft boundary with the smallest out-of-fold log loss: for every
/// kernel and lambda (or label noise) of the grid, it fits machines of the sampler's kind with few
/// draws to all but one fold, and computes the likelihood of the labels of the points left out from
/// their outputs, at the best slope (`fit_slope`). Kernel values are computed once for all
/// boundaries of a kernel and bias. A candidate that is not consistent within 200 passes is
/// dropped; one whose loss on a first fold of 200 points or more is four standard errors above the
/// best one's there, and whose errors are no fewer, is tried on that fold alone (its loss is the
/// best one's and the difference there) and cannot win. With more points than the part has, the
/// winner and its neighbours are judged again, on one split of a larger part; one that is better by
/// more than two standard errors wins, and is tried on all folds if it was not. Same seed, same
/// choice, at any number of threads. Cost: at most folds times candidates fits of few draws, n^2
/// kernel values per kernel, n at most about `grid.boundary.points`.
///
/// The choice keeps all settings of `machine` that the grid does not vary. \throws NotSeparable if
/// no candidate is consistent, BudgetTooSmall unless `settings().memory` holds 24 n^2 bytes,
/// Stopped, std::invalid_argument on a grid without kernels, boundaries or draws, or with
/// boundaries out of range or order; as `fit` and `Folds::stratified`.
template <class Machine, class Kernel, InputSet I, Observer O = detail::IgnoreProgress>
[[nodiscard]] Choice<Machine> choose(const Machine& machine, const ChoiceGrid<Kernel>& grid,
                                     const I& inputs, std::span<const int> labels,
                                     O&& observer = {}, StopToken stop = {}) {
  const char* const f = "choose";
  detail::require_draws<Machine>();
  const FitSettings& settings = machine.settings();
  if (settings.standardise) {
    return detail::choose_on_standardised(
        machine, inputs, [&](const Machine& plain, const auto& scaled) {
          return choose(plain, grid, scaled, labels, observer, stop);
        });
  }
  detail::check(!grid.kernels.empty(), f, "grid", "has no kernel");
  using Sampler = std::remove_cvref_t<decltype(machine.sampler())>;
  const bool by_noise = detail::chooses_boundary(machine.sampler(), settings) &&
                        detail::chooses_label_noise<Sampler>(settings);
  const std::vector<double>& boundaries = detail::checked_values(grid.boundary, by_noise, f);
  const std::ptrdiff_t n = detail::input_count(inputs);
  std::vector<int> classes = detail::check_labels(n, labels, f, Machine::any_number_of_classes);
  detail::check_inputs(inputs, f);
  const bool of_pairs = Machine::one_against_one && classes.size() > 2;
  if (of_pairs) detail::check_boundary_of_pairs(settings.soft_boundary, f);
  const detail::ChoicePart part(labels, classes, grid.boundary.points, settings.seed);
  if (const double needed = 24.0 * std::pow(static_cast<double>(part.points.size()), 2);
      needed > static_cast<double>(settings.memory)) {
    throw BudgetTooSmall(detail::join(f, ": memory is ", settings.memory, " bytes, ",
                                      part.points.size(), " points need ", needed,
                                      "; raise memory or choose on fewer points"));
  }
  const OutOfFold folds =
      detail::empty_out_of_fold(part.labels, std::move(classes),
                                Folds::stratified(part.labels, grid.boundary.folds, settings.seed));
  std::vector<ChoiceCandidate> candidates;
  detail::StageProgress<std::remove_reference_t<O>> stage{observer, "choosing",
                                                          grid.kernels.size()};
  const RunControl control{std::ref(stage), stop, detail::thread_count(settings.threads)};
  const auto check_not_stopped = [&] {
    detail::ensure<Stopped>(!stage.stopped && !stop.stop_requested(), f,
                            ": stopped while choosing");
  };
  const auto settings_of = [&](const ChoiceCandidate& one) {
    FitSettings result = settings;
    if (!grid.biases.empty()) result.bias = one.bias;
    return result;
  };
  const auto values_of = [&](const ChoiceCandidate& one, std::span<const PointIndex> points) {
    const Kernel& kernel = grid.kernels[one.kernel];
    const double added = detail::absolute_bias(kernel, settings_of(one), inputs, f);
    return detail::kernel_values_of(detail::with_bias(kernel, added), inputs, points,
                                    control.threads);
  };
  using Scalar = detail::kernel_scalar_t<I>;
  const auto sampler = detail::search_sampler(machine.sampler(), grid.boundary.draws);
  detail::BestOfFirstFold best_of_first_fold;
  // Tries the candidates from `first` on, which share a kernel and a bias.
  const auto try_from = [&](std::size_t first) {
    const ChoiceCandidate& one = candidates[first];
    detail::try_boundaries<Scalar>(values_of(one, part.points), folds, part.labels, sampler,
                                   settings_of(one), control, std::span(candidates).subspan(first),
                                   &best_of_first_fold);
    check_not_stopped();
  };
  const double own_bias = settings.bias.value_or(default_bias);
  // Tries a kernel with the boundaries from `from` to `to`.
  const auto try_kernel = [&](std::size_t k, double bias, bool pairs, std::size_t from,
                              std::size_t to) {
    if (from >= to) return;
    const std::size_t first = candidates.size();
    for (const double x : std::span(boundaries).subspan(from, to - from)) {
      candidates.push_back({.kernel = k,
                            .relative_lambda = by_noise ? 0 : x,
                            .label_noise = by_noise ? x : 0,
                            .bias = bias,
                            .one_against_one = pairs});
    }
    try_from(first);
  };
  for (std::size_t k = 0; k < grid.kernels.size(); ++k, ++stage.done) {
    try_kernel(k, grid.biases.empty() ? 0 : own_bias, of_pairs, 0, boundaries.size());
  }
  auto best = detail::best_candidate(candidates, grid.by_error);
  if (!best) {
    throw NotSeparable(detail::join(f, ": none of ", candidates.size(),
                                    " candidates found a classifier without training error; add "
                                    "larger ",
                                    by_noise ? "label noise" : "lambda", "s to the grid"));
  }
  const auto near = [&](const ChoiceCandidate& one) {  // Boundaries next to this one.
    const auto found =
        std::find(boundaries.begin(), boundaries.end(), one.relative_lambda + one.label_noise);
    const auto l = static_cast<std::size_t>(found - boundaries.begin());
    return std::pair(l == 0 ? 0 : l - 1, std::min(l + 2, boundaries.size()));
  };
  const ChoiceCandidate of_kernels = candidates[*best];
  for (const double bias : grid.biases) {
    if (bias == own_bias) continue;
    const auto [from, to] = near(of_kernels);
    try_kernel(of_kernels.kernel, bias, of_kernels.one_against_one, from, to);
  }
  best = detail::best_candidate(candidates, grid.by_error);
  if (grid.one_against_one && !of_pairs && settings.soft_boundary.works_on_subsets() &&
      folds.classes.size() > 2 && folds.classes.size() <= detail::most_classes_by_pairs) {
    const ChoiceCandidate ahead = candidates[*best];
    const std::size_t first = candidates.size();
    // Returns the best candidate of pairs, if it is clearly better.
    const auto best_of_pairs = [&]() -> std::optional<std::size_t> {
      const auto found =
          detail::best_candidate(std::span(candidates).subspan(first), grid.by_error);
      if (!found || !detail::is_clearly_better(candidates[first + *found], ahead, grid.by_error,
                                               folds.points.size())) {
        return std::nullopt;
      }
      return first + *found;
    };
    const auto [from, to] = near(ahead);
    try_kernel(ahead.kernel, ahead.bias, true, from, to);
    for (std::size_t k = 0; best_of_pairs() && k < grid.kernels.size(); ++k) {
      const bool tried = k == ahead.kernel;
      try_kernel(k, ahead.bias, true, 0, tried ? from : boundaries.size());
      try_kernel(k, ahead.bias, true, tried ? to : boundaries.size(), boundaries.size());
    }
    if (const auto pairs = best_of_pairs()) best = pairs;
  }
  std::size_t moved_by = 0;
  const auto held = static_cast<std::size_t>(std::sqrt(static_cast<double>(settings.memory) / 24));
  if (const std::size_t more = std::min({held, grid.more_points, static_cast<std::size_t>(n)});
      2 * more >= 3 * part.points.size()) {
    const detail::ChoicePart large(labels, folds.classes, more, settings.seed);
    const auto [at, left_out] = detail::refine_on_larger_part<Scalar>(
        candidates, *best, large, folds.classes, sampler, settings_of(candidates[*best]), control,
        grid.by_error, [&](const ChoiceCandidate& one) { return values_of(one, large.points); });
    ChoiceCandidate& found = candidates[at];
    if (found.first_fold_alone) {  // Behind on few points, ahead on more: it needs its own scores.
      detail::try_boundaries<Scalar>(values_of(found, part.points), folds, part.labels, sampler,
                                     settings_of(found), control, std::span(&found, 1));
    }
    check_not_stopped();
    if (at != *best && found.consistent) {
      best = at;
      moved_by = left_out;
    }
  }
  const ChoiceCandidate& winner = candidates[*best];
  BoundaryChoice boundary =
      detail::boundary_of(winner, values_of(winner, part.points), folds, part, machine.sampler(),
                          grid.boundary.draws, settings_of(winner), control);
  check_not_stopped();
  for (const ChoiceCandidate& one : candidates) {
    if (one.kernel == winner.kernel && one.bias == winner.bias &&
        one.one_against_one == winner.one_against_one) {
      boundary.candidates.push_back(one);
    }
  }
  std::stable_sort(boundary.candidates.begin(), boundary.candidates.end(),
                   [](const ChoiceCandidate& a, const ChoiceCandidate& b) {
                     return a.relative_lambda + a.label_noise < b.relative_lambda + b.label_noise;
                   });
  return {detail::with_choice(machine, grid.kernels[winner.kernel], settings_of(winner), boundary),
          candidates,
          *best,
          winner.loss,
          folds.folds.always_train,
          boundary,
          moved_by};
}

/// Chooses among Gaussian kernels of 1/4, 1/2, 1 and 2 times the median distance of the inputs and,
/// unless the machine's settings give a bias, the biases 0, 0.3 and 1; also tries pairs of classes.
template <class Machine, class I, Observer O = detail::IgnoreProgress>
  requires DenseInputs<I> || SparseInputs<I>
[[nodiscard]] Choice<Machine> choose(const Machine& machine, const I& inputs,
                                     std::span<const int> labels, O&& observer = {},
                                     StopToken stop = {}) {
  if (machine.settings().standardise) {
    return detail::choose_on_standardised(machine, inputs,
                                          [&](const Machine& plain, const auto& scaled) {
                                            return choose(plain, scaled, labels, observer, stop);
                                          });
  }
  ChoiceGrid<Gaussian> grid;
  if constexpr (std::same_as<std::remove_cvref_t<decltype(machine.boundary())>,
                             AutomaticBoundary>) {
    grid.boundary = machine.boundary();
  }
  grid.one_against_one = true;
  if (!machine.settings().bias) grid.biases = {0, 0.3, default_bias};
  for (const double factor : {0.25, 0.5, 1.0, 2.0}) {
    grid.kernels.push_back(Gaussian::from_median(inputs, factor));
  }
  return choose(machine, grid, inputs, labels, std::forward<O>(observer), std::move(stop));
}

namespace detail {

/// Leaves out the folds in turn; `choose_on(inputs, labels, observer)` returns the choice on the
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
        const auto classifier = choice.fit(part, of_train, told, stop);
        // A fit that raised lambda has another slope.
        const double slope =
            classifier.parts().slope > 0 ? classifier.parts().slope : choice.chosen().slope;
        return Eigen::MatrixXd(slope * classifier.shifted(classifier.decision_values(
                                           select_inputs(inputs, left_out))));
      });
  return result;
}

}  // namespace detail

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
  return detail::nested_by(machine, inputs, labels, folds, observer, stop,
                           [&](const auto& part, const std::vector<int>& of_part, auto& watched) {
                             return choose(machine, grid, part, of_part, watched, stop);
                           });
}

/// Estimates the performance of `choose` with its default Gaussian kernels.
template <class Machine, InputSet I, Observer O = detail::IgnoreProgress>
[[nodiscard]] OutOfFold nested(const Machine& machine, const I& inputs, std::span<const int> labels,
                               std::size_t folds = 5, O&& observer = {}, StopToken stop = {}) {
  return detail::nested_by(machine, inputs, labels, folds, observer, stop,
                           [&](const auto& part, const std::vector<int>& of_part, auto& watched) {
                             return choose(machine, part, of_part, watched, stop);
                           });
}

}}  // namespace bpm
