// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
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
#include "bpm/kernels/radial.hpp"
#include "bpm/machine/automatic_boundary.hpp"
#include "bpm/machine/candidates.hpp"
#include "bpm/machine/cross_validate.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/out_of_fold.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// What `choose` tries: every kernel with every soft boundary, or label noise.
template <class Kernel>
struct ChoiceGrid {
  std::vector<Kernel> kernels;  ///< From narrow to wide: of equals the last is taken.
  /// lambda over k(x, x), ascending.
  std::vector<double> relative_lambdas = default_relative_lambdas;
  /// In their place for samplers that take label noise, have none, and whose soft boundary is
  /// automatic, without class weights; ascending, below 1/2.
  std::vector<double> label_noises = detail::default_label_noises;
  std::size_t folds = 5;                       ///< Parts, each left out once: a machine has 4/5.
  std::uint64_t draws = detail::draws_to_try;  ///< Of each fold's machine.
  /// Of more points a stratified part of about so many is taken, drawn by the machine's seed.
  std::size_t points = 3000;
  /// Biases to be tried (`FitSettings::bias`), with the best kernel and the lambdas about the best;
  /// the machine's own stays among them. Empty: that alone.
  std::vector<double> biases{};
  /// Of three to 30 classes: machines of pairs of classes (`FitSettings::one_against_one`) are
  /// tried too, with the best kernel and bias and the boundaries about the best and, where these
  /// are better, with all boundaries and kernels. They are taken where what is judged by is smaller
  /// by its standard error and a point. Not with class weights, lambdas by point or side, folders
  /// of draws.
  bool one_against_one = false;
  bool by_error = false;  ///< The share of errors is to be small, not the log loss.
  /// On about so many, as far as there are more and the memory holds their kernel values, the
  /// winner is judged once more against its neighbours in the grid, as the best lambda and width
  /// move with the number of points; but not on fewer than 3/2 of the part. 0: it is not.
  std::size_t more_points = 8000;
};

/// What `choose` found.
template <class Machine>
struct Choice {
  /// The one given, with the kernel chosen. Where its fits choose lambda they begin with the one
  /// chosen (`FitSettings::boundary_choice`), and have its slope; else lambda is that one. One of
  /// pairs of classes, where these were chosen: it is fitted by `fit` alone.
  Machine machine;
  /// All, in the grid's order: kernels, then boundaries; then other biases, then pairs of classes.
  std::vector<ChoiceCandidate> candidates;
  std::size_t best = 0;  ///< The place of the winner in `candidates`.
  /// The winner's loss: smaller than what it will be on other data, since it was chosen for it. An
  /// estimate takes folds around the whole of `choose`.
  double selection_score = 0;
  /// How many classes have a single point, which always trained; see `Folds`.
  std::size_t always_train = 0;
  /// What was found of the winner; a machine whose boundary is given has no place for it.
  BoundaryChoice boundary{};
  /// On how many points of a larger part a neighbour was better, and is the winner; else 0.
  std::size_t moved_by = 0;

  /// The winner.
  [[nodiscard]] const ChoiceCandidate& chosen() const { return candidates[best]; }
};

namespace detail {

/// The same machine with another kernel, these settings and what was chosen for its soft boundary.
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

/// What `choose_on` chooses on the standardised inputs, for a machine that standardises.
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

/// Classes up to which `choose` tries machines of pairs of them.
inline constexpr std::size_t most_classes_by_pairs = 30;

}  // namespace detail

/// The kernel and the soft boundary with the smallest out-of-fold log loss: for every kernel and
/// lambda (or label noise) of the grid, machines of the sampler's kind with few draws are fitted to
/// all but one fold, and the outputs at the points left out are judged by the likelihood of their
/// labels, at the slope that suits them best (`fit_slope`). Kernel values are computed once for all
/// boundaries of a kernel and bias. A candidate that is not consistent within 200 passes is
/// dropped; one whose loss on a first fold of 200 points or more is four standard errors above the
/// best one's there, and whose errors are no fewer, is tried on that fold alone (its loss is the
/// best one's and the difference there) and not taken. Of more points than the part has, the winner
/// and its neighbours are judged once more, on one split of a larger part; one that is better by
/// more than two standard errors is taken, and tried on all folds where it was not. Same seed, same
/// choice, at any number of threads. Cost: at most folds times candidates fits of few draws, n^2
/// kernel values per kernel, n at most about `grid.points`.
///
/// What `machine` has beside kernel, boundary and what else the grid tries is kept. \throws
/// NotSeparable where no candidate is consistent, BudgetTooSmall unless `settings().memory` holds
/// 24 n^2 bytes, Stopped, std::invalid_argument on a grid without kernels, boundaries or draws, or
/// with boundaries out of range or order; as `fit` and `Folds::stratified`.
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
  const std::vector<double>& boundaries = by_noise ? grid.label_noises : grid.relative_lambdas;
  const char* const what = by_noise ? "label noise" : "lambda";
  detail::check(!boundaries.empty(), f, "grid", "has no ", what);
  detail::check(grid.draws >= 1, f, "grid", "has 0 draws, must have 1 or more");
  for (const double boundary : boundaries) {
    detail::check(
        boundary >= 0 && (by_noise ? boundary < 0.5 : std::isfinite(boundary)), f, "grid",
        "has the ", what, " ", boundary,
        by_noise ? ", must be at least 0 and below 1/2" : ", must be finite and not negative");
  }
  detail::check(std::ranges::is_sorted(boundaries), f, "grid", "has ", what,
                "s that do not ascend");
  const std::ptrdiff_t n = detail::input_count(inputs);
  std::vector<int> classes = detail::check_labels(n, labels, f);
  detail::check(Machine::any_number_of_classes || classes.size() == 2, f, "labels", "have ",
                classes.size(), " classes, expected two; use OneVsRest for more");
  detail::check_inputs(inputs, f);
  detail::check_pairs<Sampler>(settings, classes.size(), f);
  const detail::ChoicePart part(labels, classes, grid.points, settings.seed);
  if (const double needed = 24.0 * std::pow(static_cast<double>(part.points.size()), 2);
      needed > static_cast<double>(settings.memory)) {
    throw BudgetTooSmall(detail::join(f, ": memory is ", settings.memory, " bytes, ",
                                      part.points.size(), " points need ", needed,
                                      "; raise memory or choose on fewer points"));
  }
  const OutOfFold folds = detail::empty_out_of_fold(
      part.labels, std::move(classes), Folds::stratified(part.labels, grid.folds, settings.seed));
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
    result.one_against_one = one.one_against_one;
    return result;
  };
  const auto values_of = [&](const ChoiceCandidate& one, std::span<const PointIndex> points) {
    const Kernel& kernel = grid.kernels[one.kernel];
    const double added = detail::absolute_bias(kernel, settings_of(one), inputs, f);
    return detail::kernel_values_of(detail::with_bias(kernel, added), inputs, points,
                                    control.threads);
  };
  using Scalar = detail::kernel_scalar_t<I>;
  const auto sampler = detail::to_try(machine.sampler(), grid.draws);
  detail::BestOfFirstFold best_of_first_fold;
  // Candidates from `first` on, which have a kernel and a bias.
  const auto try_from = [&](std::size_t first) {
    const ChoiceCandidate& one = candidates[first];
    detail::try_boundaries<Scalar>(values_of(one, part.points), folds, part.labels, sampler,
                                   settings_of(one), control, std::span(candidates).subspan(first),
                                   &best_of_first_fold);
    check_not_stopped();
  };
  const double own_bias = settings.bias.value_or(default_bias);
  // A kernel with the boundaries from `from` to `to`.
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
    try_kernel(k, grid.biases.empty() ? 0 : own_bias, settings.one_against_one, 0,
               boundaries.size());
  }
  auto best = detail::best_candidate(candidates, grid.by_error);
  if (!best) {
    throw NotSeparable(detail::join(f, ": none of ", candidates.size(),
                                    " candidates found a classifier without training error; add "
                                    "larger ",
                                    what, "s to the grid"));
  }
  const auto near = [&](const ChoiceCandidate& one) {  // The boundaries about this one's.
    const auto found = std::ranges::find(boundaries, one.relative_lambda + one.label_noise);
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
  if (grid.one_against_one && !settings.one_against_one && detail::fits_pairs<Sampler> &&
      settings.soft_boundary.fits_any_points() && folds.classes.size() > 2 &&
      folds.classes.size() <= detail::most_classes_by_pairs) {
    const ChoiceCandidate ahead = candidates[*best];
    const std::size_t first = candidates.size();
    // The best of pairs, if it is clearly better.
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
  if (const std::size_t more = detail::points_in_memory(
          settings.memory, std::min(grid.more_points, static_cast<std::size_t>(n)));
      2 * more >= 3 * part.points.size()) {
    const detail::ChoicePart large(labels, folds.classes, more, settings.seed);
    const auto [at, left_out] = detail::judged_on_more<Scalar>(
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
                          grid.draws, settings_of(winner), control);
  check_not_stopped();
  std::ranges::copy_if(candidates, std::back_inserter(boundary.candidates),
                       [&](const ChoiceCandidate& one) {
                         return one.kernel == winner.kernel && one.bias == winner.bias &&
                                one.one_against_one == winner.one_against_one;
                       });
  std::ranges::stable_sort(boundary.candidates, {}, [](const ChoiceCandidate& one) {
    return one.relative_lambda + one.label_noise;
  });
  return {detail::with_choice(machine, grid.kernels[winner.kernel], settings_of(winner), boundary),
          candidates,
          *best,
          winner.loss,
          folds.folds.always_train,
          boundary,
          moved_by};
}

/// The same with Gaussian kernels of 1/4, 1/2, 1 and 2 times the median distance of the inputs and,
/// unless the machine's settings give a bias, the biases 0, 0.3 and 1; and one class against one.
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
  grid.one_against_one = true;
  if (!machine.settings().bias) grid.biases = {0, 0.3, default_bias};
  for (const double factor : {0.25, 0.5, 1.0, 2.0}) {
    grid.kernels.push_back(Gaussian::from_median(inputs, factor));
  }
  return choose(machine, grid, inputs, labels, std::forward<O>(observer), std::move(stop));
}

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
/// decision values are s f + b by each fold's fit (without b where class weights move labels): log
/// odds, so that a slope of 1 says that probabilities are right.
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
