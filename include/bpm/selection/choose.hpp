// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
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
#include "bpm/decision/scores.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/one_vs_one.hpp"
#include "bpm/machine/train.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "bpm/selection/candidates.hpp"
#include "bpm/selection/out_of_fold.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// Grid of candidates for `choose`: every kernel with every soft boundary, or label noise.
template <class Kernel>
struct ChoiceGrid {
  std::vector<Kernel> kernels;  ///< From narrow to wide: the last of equals wins.
  /// Number of first kernels, tried one by one while the narrowest is best (or none consistent).
  std::size_t narrower = 0;
  std::size_t wider = 0;         ///< The same of the last kernels, while the widest one is best.
  AutomaticBoundary boundary{};  ///< Soft boundaries to try, and how; not the machine's.
  /// Biases to try (`FitSettings::bias`), with the best kernel and the lambdas next to the best;
  /// the machine's own is always a candidate. Empty: that alone.
  std::vector<double> biases{};
  /// Whether to try machines of pairs of classes (`OneVsOne`) for three to 30 classes: with the
  /// best kernel, bias, boundaries next to the best and, if better, with all. They win by a
  /// standard error and one point. Not with class weights, lambdas by point, several processes.
  bool one_against_one = false;
  bool by_error = false;  ///< Minimise the share of errors, not the log loss.
  /// Size of a larger part that judges the winner again, as the best lambda and width change with
  /// the number of points. Training set and memory limit it. Skipped below 3/2 of the part.
  std::size_t more_points = 8000;
};

/// Result of `choose`.
template <class Machine>
struct Choice {
  /// The machine with the chosen kernel. If its fits choose lambda, they begin with the chosen one
  /// (`FitSettings::boundary_choice`) and its slope; else lambda is the chosen one. If pairs of
  /// classes won, `fit` fits a `OneVsOne` of it.
  Machine machine;
  /// All candidates, in the order tried: kernels, each with its boundaries; biases; pairs.
  std::vector<ChoiceCandidate> candidates;
  std::size_t best = 0;  ///< Index of the winner in `candidates`.
  /// The winner's loss, optimistic since it chose: `nested` estimates the loss on other data.
  double selection_score = 0;
  std::size_t always_train = 0;  ///< Number of classes with a single point, which always trained.
  BoundaryChoice boundary{};     ///< The winner's, which a machine with a given boundary lacks.
  std::size_t moved_by = 0;      ///< Points left out of a larger part that made the winner; else 0.

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

/// What `choose` sees of machine and inputs.
struct ChoiceTask {
  const FitSettings& settings;
  std::span<const int> labels;
  const std::vector<int>& classes;
  bool chooses, by_noise;   ///< Whether fits choose their boundary; whether that is label noise.
  bool of_means, of_pairs;  ///< Whether machines are means of draws; whether of pairs of classes.
  /// Returns the fits to folds of these points, with a kernel by its number and the settings' bias.
  std::function<FoldFits(std::size_t, const FitSettings&, std::span<const PointIndex>)> fits_of;
};

/// Chooses as `choose`; kernels are numbers. Returns settings in the place of the machine.
[[nodiscard]] BPM_INLINE Choice<FitSettings> choose_among(const ChoiceTask&,
                                                          const ChoiceGrid<std::size_t>&,
                                                          const RunControl&);

/// Chooses as `choose`, on inputs that have been standardised if the machine does that.
template <class Machine, class Kernel, class I, class O>
[[nodiscard]] Choice<Machine> choose_on(const Machine& machine, const ChoiceGrid<Kernel>& grid,
                                        const I& inputs, std::span<const int> labels, O& observer,
                                        const StopToken& stop) {
  require_draws<Machine>();
  using Sampler = std::remove_cvref_t<decltype(machine.sampler())>;
  const FitSettings& settings = machine.settings();
  const std::vector<int> classes =
      check_labels(input_count(inputs), labels, "choose", Machine::any_number_of_classes);
  check_inputs(inputs, "choose");
  const RunControl control = run_control(settings, observer, stop);
  const bool chooses = chooses_boundary(machine.sampler(), settings);
  auto [chosen, candidates, best, score, alone, boundary, moved_by] = choose_among(
      {settings, labels, classes, chooses, chooses && chooses_label_noise<Sampler>(settings),
       !sees_cones<Sampler>, Machine::one_against_one && classes.size() > 2,
       [&](std::size_t k, const FitSettings& with, std::span<const PointIndex> points) {
         const auto kernel =
             with_bias(grid.kernels[k], absolute_bias(grid.kernels[k], with, inputs, "choose"));
         return fold_fits(kernel_values_of(kernel, inputs, points, control.threads),
                          machine.sampler());
       }},
      {std::vector<std::size_t>(grid.kernels.size()), grid.narrower, grid.wider, grid.boundary,
       grid.biases, grid.one_against_one, grid.by_error, grid.more_points},
      control);
  Machine made = with_settings(machine, grid.kernels[candidates[best].kernel], std::move(chosen));
  return {std::move(made), std::move(candidates), best,    score,
          alone,           std::move(boundary),   moved_by};
}

#if BPM_BODIES

/// Returns how soft a candidate's boundary is: its lambda, or its label noise.
[[nodiscard]] inline double softness_of(const ChoiceCandidate& one) {
  return one.relative_lambda + one.label_noise;
}

/// Judges the winner of a small part again on a larger one, of which the first fold of `search` is
/// left out. Walks through the grid, to the next softer or harder boundary or the next kernel, as
/// long as a neighbour is better; returns the end if it is better than the beginning, which more
/// points judged, by two standard errors of the mean difference.
[[nodiscard]] inline std::size_t refine_on_larger_part(
    const CandidateSearch& search, std::span<const ChoiceCandidate> candidates, std::size_t best,
    bool by_error, const std::function<FoldFits(const ChoiceCandidate&)>& fits_of) {
  const Fold fold(search.folds.folds, 0, search.part.labels);
  const OutOfFold left_out = first_fold(search.folds, search.part.labels);
  // Losses or errors of points left out, by candidate; empty without a consistent classifier.
  std::vector<std::optional<std::vector<double>>> losses(candidates.size());
  FoldFits::result_type fit;
  std::size_t kernel = 0;  // Kernel of `fit`; all have the same bias.
  const auto losses_of = [&](std::size_t i) -> const std::vector<double>& {
    if (losses[i]) return *losses[i];
    ChoiceCandidate one = candidates[i];
    if (!fit || kernel != one.kernel) {
      fit = nullptr;
      fit = fits_of(one)(fold);
      kernel = one.kernel;
    }
    losses[i].emplace();
    if (auto outputs = fit(search, one)) {
      Trial trial{&one, left_out};
      trial.outputs.decision_values = *std::move(outputs);
      losses[i] = judge({&trial, 1}, search.settings.soft_boundary, by_error).front();
    }
    return *losses[i];
  };
  const auto is_better = [&](std::size_t i, std::size_t than, double errors) {
    return !losses_of(i).empty() &&
           (losses_of(than).empty() || is_ahead(losses_of(i), losses_of(than), errors));
  };
  const std::size_t first = best;
  for (bool moved = true; moved;) {
    moved = false;
    for (const int direction : {1, -1}) {  // Neighbours along one axis of the grid.
      for (const bool kernels : {false, true}) {
        std::optional<std::size_t> next;
        for (std::size_t i = 0; i < candidates.size(); ++i) {
          const ChoiceCandidate& one = candidates[i];
          const ChoiceCandidate& from = candidates[best];
          const auto place = [&](const ChoiceCandidate& c) {
            return kernels ? static_cast<double>(c.kernel) : softness_of(c);
          };
          const bool same =
              one.bias == from.bias && one.one_against_one == from.one_against_one &&
              (kernels ? softness_of(one) == softness_of(from) : one.kernel == from.kernel);
          if (!one.consistent || !same || direction * (place(one) - place(from)) <= 0) continue;
          if (!next || direction * (place(one) - place(candidates[*next])) < 0) next = i;
        }
        if (!next || !is_better(*next, best, 0)) continue;
        best = *next;
        moved = true;
      }
    }
    if (!search.control.go_on({.stage = "choosing"})) break;
  }
  return is_better(best, first, 2) ? best : first;
}

BPM_INLINE Choice<FitSettings> choose_among(const ChoiceTask& task,
                                            const ChoiceGrid<std::size_t>& grid,
                                            const RunControl& given) {
  const char* const f = "choose";
  const FitSettings& settings = task.settings;
  check(grid.narrower < grid.kernels.size() && grid.wider < grid.kernels.size() - grid.narrower, f,
        "grid", "has no kernel that is tried in any case");
  std::size_t narrowest = grid.narrower, widest = grid.kernels.size() - 1 - grid.wider;
  const std::vector<double>& boundaries = checked_values(grid.boundary, task.by_noise, f);
  if (task.of_pairs) check_boundary_of_pairs(settings.soft_boundary, f);
  const ChoicePart part(task.labels, grid.boundary.points, settings.seed);
  const double needed = 24.0 * std::pow(static_cast<double>(part.points.size()), 2);
  ensure<BudgetTooSmall>(needed <= static_cast<double>(settings.memory), f, ": memory is ",
                         settings.memory, " bytes, ", part.points.size(), " points need ", needed,
                         "; raise memory or choose on fewer points");
  StageProgress stage{given.observer, "choosing", widest + 1 - narrowest};
  const RunControl control{std::ref(stage), given.stop, given.threads};
  const auto check_not_stopped = [&] {
    ensure<Stopped>(!stage.stopped && !given.stop.stop_requested(), f, ": stopped while choosing");
  };
  const CandidateSearch search{grid.boundary.draws,
                               task.of_means,
                               settings,
                               control,
                               part,
                               part.folds(task.classes, grid.boundary.folds, settings.seed)};
  const auto settings_of = [&](const ChoiceCandidate& one) {
    FitSettings result = settings;
    if (!grid.biases.empty()) result.bias = one.bias;
    return result;
  };
  const auto fits_of = [&](const ChoiceCandidate& one, const ChoicePart& points) {
    return task.fits_of(one.kernel, settings_of(one), points.points);
  };
  std::vector<ChoiceCandidate> candidates;
  BestOfFirstFold best_of_first_fold;
  const double own_bias = settings.bias.value_or(default_bias);
  // Tries candidates like this one with the boundaries from `from` to `to`.
  const auto try_like = [&](const ChoiceCandidate& one, std::size_t from, std::size_t to) {
    if (from >= to) return;
    const std::size_t first = candidates.size();
    add_candidates(candidates, one, std::span(boundaries).subspan(from, to - from), task.by_noise);
    try_boundaries(search, fits_of(one, part), std::span(candidates).subspan(first),
                   &best_of_first_fold);
    check_not_stopped();
  };
  const auto try_kernel = [&](std::size_t k) {
    try_like(
        {.kernel = k, .bias = grid.biases.empty() ? 0 : own_bias, .one_against_one = task.of_pairs},
        0, boundaries.size());
    return best_candidate(candidates, grid.by_error);
  };
  std::optional<std::size_t> best;
  for (std::size_t k = narrowest; k <= widest; ++k, ++stage.done) best = try_kernel(k);
  for (;; ++stage.done) {  // Beyond an end that is best.
    const std::size_t k = best ? candidates[*best].kernel : narrowest;
    const bool narrower = k == narrowest && narrowest > 0;
    if (!narrower && (!best || k < widest || widest + 1 == grid.kernels.size())) break;
    ++stage.parts;
    best = try_kernel(narrower ? --narrowest : ++widest);
  }
  ensure<NotSeparable>(best.has_value(), f, ": none of ", candidates.size(),
                       " candidates found a classifier without training error; add larger ",
                       task.by_noise ? "label noise" : "lambda", "s to the grid");
  const auto near = [&](const ChoiceCandidate& one) {  // Boundaries next to this one.
    const auto found = std::find(boundaries.begin(), boundaries.end(), softness_of(one));
    const auto l = static_cast<std::size_t>(found - boundaries.begin());
    return std::pair(l == 0 ? 0 : l - 1, std::min(l + 2, boundaries.size()));
  };
  const ChoiceCandidate of_kernels = candidates[*best];
  for (const double bias : grid.biases) {
    if (bias == own_bias) continue;
    const auto [from, to] = near(of_kernels);
    try_like({.kernel = of_kernels.kernel, .bias = bias, .one_against_one = task.of_pairs}, from,
             to);
  }
  best = best_candidate(candidates, grid.by_error);
  constexpr std::size_t most_classes_by_pairs = 30;
  if (grid.one_against_one && !task.of_pairs && settings.soft_boundary.works_on_subsets() &&
      task.classes.size() > 2 && task.classes.size() <= most_classes_by_pairs) {
    const ChoiceCandidate ahead = candidates[*best];
    const std::size_t first = candidates.size();
    // Returns the best candidate of pairs, if it is clearly better.
    const auto best_of_pairs = [&]() -> std::optional<std::size_t> {
      const auto found = best_candidate(std::span(candidates).subspan(first), grid.by_error);
      const std::size_t points = search.folds.points.size();
      if (found && is_clearly_better(candidates[first + *found], ahead, grid.by_error, points)) {
        return first + *found;
      }
      return std::nullopt;
    };
    const auto [from, to] = near(ahead);
    ChoiceCandidate pairs{.kernel = ahead.kernel, .bias = ahead.bias, .one_against_one = true};
    try_like(pairs, from, to);
    for (std::size_t k = narrowest; best_of_pairs() && k <= widest; ++k) {
      const bool tried = k == ahead.kernel;
      pairs.kernel = k;
      try_like(pairs, 0, tried ? from : boundaries.size());
      try_like(pairs, tried ? to : boundaries.size(), boundaries.size());
    }
    if (const auto found = best_of_pairs()) best = found;
  }
  std::size_t moved_by = 0;
  const auto held = static_cast<std::size_t>(std::sqrt(static_cast<double>(settings.memory) / 24));
  if (const std::size_t more = std::min({held, grid.more_points, task.labels.size()});
      2 * more >= 3 * part.points.size()) {
    const ChoicePart large(task.labels, more, settings.seed);
    const auto on_more = search.on(large, 5);
    const std::size_t at =
        refine_on_larger_part(on_more, candidates, *best, grid.by_error,
                              [&](const ChoiceCandidate& one) { return fits_of(one, large); });
    ChoiceCandidate& found = candidates[at];  // Behind on few points, it needs its own scores.
    if (found.first_fold_alone) try_boundaries(search, fits_of(found, part), {&found, 1});
    check_not_stopped();
    if (at != *best && found.consistent) {
      best = at;
      moved_by = on_more.folds.folds.points(0, true).size();
    }
  }
  const ChoiceCandidate& winner = candidates[*best];
  auto boundary = boundary_of(search, fits_of(winner, part), winner);
  check_not_stopped();
  for (const ChoiceCandidate& one : candidates) {
    if (one.kernel == winner.kernel && one.bias == winner.bias &&
        one.one_against_one == winner.one_against_one) {
      boundary.candidates.push_back(one);
    }
  }
  std::stable_sort(boundary.candidates.begin(), boundary.candidates.end(),
                   [](const ChoiceCandidate& a, const ChoiceCandidate& b) {
                     return softness_of(a) < softness_of(b);
                   });
  FitSettings chosen = settings_of(winner);
  chosen.chosen = true;
  // Of pairs a given boundary is noted too, so that machines of a class against the rest refuse it.
  if (task.chooses || winner.one_against_one) chosen.boundary_choice = boundary;
  if (!task.chooses) {
    chosen.soft_boundary = settings.soft_boundary.with_factor(boundary.relative_lambda);
  }
  return {
      std::move(chosen),   candidates, *best, winner.loss, part.labels.size() - part.choice.points,
      std::move(boundary), moved_by};
}

#endif

}  // namespace detail

/// Chooses the kernel and the soft boundary with the smallest out-of-fold log loss: machines of the
/// sampler's kind, with few draws, are fitted to all but one fold; from their outputs at the points
/// left out comes the likelihood of the labels there, at the best slope (`fit_slope`). A candidate
/// not consistent within 200 passes is dropped; one whose loss on a first fold of 200 points or
/// more is four standard errors above the best one's there, with no fewer errors, is tried on that
/// fold alone (its loss is the best one's and the difference there) and cannot win. With more
/// points than the part has, the winner and its neighbours are judged again on one split of a
/// larger part. Same seed, same choice, at any number of threads. Cost: at most folds times
/// candidates fits of few draws, n^2 kernel values per kernel and bias, n at most about
/// `grid.boundary.points`. The choice keeps all settings of `machine` that the grid does not vary.
/// \throws NotSeparable if no candidate is consistent, BudgetTooSmall unless `settings().memory`
/// holds 24 n^2 bytes, Stopped, std::invalid_argument on a grid without kernels, boundaries or
/// draws, or with boundaries out of range or order; as `fit` and `Folds::stratified`.
template <class Machine, class Kernel, InputSet I, Observer O = detail::IgnoreProgress>
[[nodiscard]] Choice<Machine> choose(const Machine& machine, const ChoiceGrid<Kernel>& grid,
                                     const I& inputs, std::span<const int> labels,
                                     O&& observer = {}, StopToken stop = {}) {
  return detail::on_inputs_of_fit<std::remove_cvref_t<decltype(machine.kernel())>>(
      machine.settings(), inputs, "choose", [&](const auto& given, const auto&) {
        return detail::choose_on(machine, grid, given, labels, observer, stop);
      });
}

/// Chooses among Gaussian kernels of 1/4, 1/2, 1 and 2 times the median distance of the inputs and,
/// unless the settings give a bias, the biases 0, 0.3 and 1; tries pairs of classes as well.
template <class Machine, class I, Observer O = detail::IgnoreProgress>
  requires DenseInputs<I> || SparseInputs<I>
[[nodiscard]] Choice<Machine> choose(const Machine& machine, const I& inputs,
                                     std::span<const int> labels, O&& observer = {},
                                     StopToken stop = {}) {
  return detail::on_inputs_of_fit<std::remove_cvref_t<decltype(machine.kernel())>>(
      machine.settings(), inputs, "choose", [&](const auto& given, const auto&) {
        ChoiceGrid<Gaussian> grid;
        grid.one_against_one = true;
        if constexpr (std::same_as<std::remove_cvref_t<decltype(machine.boundary())>,
                                   AutomaticBoundary>) {
          grid.boundary = machine.boundary();
        }
        if (!machine.settings().bias) grid.biases = {0, 0.3, default_bias};
        for (const double factor : {0.25, 0.5, 1.0, 2.0}) {
          grid.kernels.push_back(Gaussian::from_median(given, factor));
        }
        return detail::choose_on(machine, grid, given, labels, observer, stop);
      });
}

}}  // namespace bpm
