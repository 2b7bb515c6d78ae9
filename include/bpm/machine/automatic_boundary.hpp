// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/candidates.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/out_of_fold.hpp"
#include "bpm/machine/run_sampler.hpp"
#include "bpm/samplers/sampler.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Returns about `most` points or fewer, ascending: of every class its share, but at least ten
/// where it has them.
[[nodiscard]] BPM_INLINE std::vector<PointIndex> stratified_part(std::span<const int> labels,
                                                                 std::size_t most,
                                                                 std::uint64_t seed);

/// Returns whether a fit with these settings chooses lambda or label noise. \throws
/// std::invalid_argument if it would, but the sampler has start coefficients, which belong to the
/// version space of one lambda.
template <class Sampler>
[[nodiscard]] bool chooses_boundary(const Sampler& sampler, const FitSettings& settings) {
  if (!settings.soft_boundary.is_automatic() || admits_training_errors(sampler)) return false;
  if constexpr (sees_cones<Sampler>) {
    check(sampler.plan().start_coefficients.empty(), sampler.plan().name, "soft_boundary",
          "is automatic, must be given with start_coefficients, which lie in its version space");
  }
  return true;
}

/// Number of points on which the soft boundary is chosen: fewer for samplers that see a cone, whose
/// cost grows with the cube of the points.
template <class Sampler>
inline constexpr std::size_t points_to_choose_on = sees_cones<Sampler> ? 500 : 3000;

/// Returns the bytes of kernel values for the choice of lambda, of the part and of a fold, if
/// classes are about equally large.
template <class Sampler>
[[nodiscard]] constexpr std::size_t bytes_to_choose(std::size_t points, std::size_t problems) {
  // A stratified part has at least ten points of every class.
  const std::size_t part =
      std::min(points, std::max(points_to_choose_on<Sampler>, 10 * (problems + 1)));
  return 16 * part * part;
}

/// Points and labels on which `choose_boundary` tries candidates.
struct ChoicePart {
  std::vector<PointIndex> points;
  std::vector<int> labels;
  std::size_t can_be_left_out = 0;  ///< Number of points not alone in their class.
  double largest_class = 0;         ///< Share of the largest class.
  double loss_of_shares = 0;        ///< Log loss of predicting the classes' shares.

  ChoicePart(std::span<const int> all, const std::vector<int>& classes, std::size_t most,
             std::uint64_t seed);
};

/// Returns the exponent g with which the best slope of probabilities grows with the number of
/// training points, s ~ m^g, from two slopes: that of `whole`, fitted on all points of `values`,
/// and that of half of them. g is from 0 to 0.6: noisy classes may suggest more, but such growth
/// does not last. 0 if half of the points give no slope.
template <class Scalar, class Sampler>
[[nodiscard]] double slope_growth(const DenseGram<Scalar>& values, const OutOfFold& folds,
                                  std::span<const int> labels, const Sampler& sampler,
                                  const FitSettings& settings, const RunControl& control,
                                  const ChoiceCandidate& whole) {
  const std::vector<PointIndex> half = stratified_part(labels, labels.size() / 2, settings.seed);
  const std::vector<int> half_labels = labels_at(labels, half);
  const double more = static_cast<double>(labels.size()) / static_cast<double>(half.size());
  const auto alone = std::count_if(folds.classes.begin(), folds.classes.end(), [&](int label) {
    return std::count(half_labels.begin(), half_labels.end(), label) < 2;
  });
  if (!(whole.slope > 0) || more < 1.2 || alone > 0) return 0;
  ChoiceCandidate part{.relative_lambda = whole.relative_lambda, .label_noise = whole.label_noise};
  try_boundaries<Scalar>(
      FoldValues<Scalar>::part_of(values, half, 0),
      empty_out_of_fold(half_labels, folds.classes,
                        Folds::stratified(half_labels, folds.folds.count, settings.seed)),
      half_labels, sampler, settings, control, std::span(&part, 1));
  if (!part.consistent) return 0;
  return std::clamp(std::log(whole.slope / part.slope) / std::log(more), 0.0, 0.6);
}

/// Returns `BoundaryChoice::draw_chance`, from the slope of `mean`, of `draws` draws, and that of
/// single draws. Up to 0.9; 0 for samplers that see a cone, whose centre is no such mean.
template <class Scalar, class Sampler>
[[nodiscard]] double draw_chance(const DenseGram<Scalar>& values, const OutOfFold& folds,
                                 std::span<const int> labels, const Sampler& sampler,
                                 std::uint64_t draws, const FitSettings& settings,
                                 const RunControl& control, const ChoiceCandidate& mean) {
  if constexpr (!sees_cones<Sampler>) {
    ChoiceCandidate one{.relative_lambda = mean.relative_lambda, .label_noise = mean.label_noise};
    if (draws > 1 && mean.slope > 0) {
      try_boundaries<Scalar>(values, folds, labels, search_sampler(sampler, 1), settings, control,
                             std::span(&one, 1));
    }
    if (one.consistent) {
      const double ratio = one.slope / mean.slope;
      return std::clamp((1 - ratio * ratio) / (1 - 1 / static_cast<double>(draws)), 0.0, 0.9);
    }
  }
  return 0;
}

/// Returns the choice that a fit adopts from the candidate chosen on a part of the points, with
/// `draws` draws per fold.
template <class Scalar, class Sampler>
[[nodiscard]] BoundaryChoice boundary_of(const ChoiceCandidate& chosen,
                                         const DenseGram<Scalar>& values, const OutOfFold& folds,
                                         const ChoicePart& part, const Sampler& sampler,
                                         std::uint64_t draws, const FitSettings& settings,
                                         const RunControl& control) {
  const auto points = static_cast<double>(part.points.size());
  const auto left_out = static_cast<double>(folds.points.size());
  return {.relative_lambda = chosen.relative_lambda,
          .label_noise = chosen.label_noise,
          .slope = chosen.slope,
          .offsets = chosen.offsets,
          .growth = slope_growth(values, folds, part.labels, search_sampler(sampler, draws),
                                 settings, control, chosen),
          .draw_chance =
              draw_chance(values, folds, part.labels, sampler, draws, settings, control, chosen),
          .fold_rows = points - left_out / static_cast<double>(folds.folds.count),
          .fold_draws = draws,
          .points = part.can_be_left_out,
          .largest_class = part.largest_class,
          .loss_of_shares = part.loss_of_shares};
}

/// Returns the largest number of points, up to `most`, for whose choice the memory suffices.
[[nodiscard]] inline std::size_t points_in_memory(std::size_t memory, std::size_t most) {
  return std::min(most, static_cast<std::size_t>(std::sqrt(static_cast<double>(memory) / 24)));
}

/// Judges the winner of a small part again on a larger one; returns the new winner and the number
/// of points left out. It walks through the grid, to the next softer or harder boundary or the next
/// kernel, as long as a neighbour is better on one split, a fifth left out. The folds of the small
/// part judge by more points: so the end of the walk must be better than its beginning by more than
/// two standard errors of the mean difference. values_of(candidate) returns kernel values on the
/// larger part. Cost: a fit of few draws each, and the values of each kernel.
template <class Scalar, class Sampler, class ValuesOf>
[[nodiscard]] std::pair<std::size_t, std::size_t> refine_on_larger_part(
    std::span<const ChoiceCandidate> candidates, std::size_t best, const ChoicePart& part,
    const std::vector<int>& classes, const Sampler& sampler, const FitSettings& settings,
    const RunControl& control, bool by_error, const ValuesOf& values_of) {
  Folds split = Folds::stratified(part.labels, 5, settings.seed);
  for (std::int32_t& fold : split.of_point) fold = fold == 0 ? 0 : -1;
  split.count = 1;
  const OutOfFold left_out = empty_out_of_fold(part.labels, classes, std::move(split));
  // Losses or errors of points left out, by candidate; empty without a consistent classifier.
  std::vector<std::optional<std::vector<double>>> losses(candidates.size());
  std::optional<FoldValues<Scalar>> values;
  std::size_t kernel = 0;  // Kernel of `values`; all have the same bias.
  const auto losses_of = [&](std::size_t i) -> const std::vector<double>& {
    if (losses[i]) return *losses[i];
    ChoiceCandidate one = candidates[i];
    if (!values || kernel != one.kernel) {
      values.reset();
      values.emplace(values_of(one), left_out.folds, 0, part.labels);
      kernel = one.kernel;
    }
    losses[i].emplace();
    if (auto outputs = outputs_of_left_out(*values, with_noise_of(sampler, one.label_noise),
                                           settings.soft_boundary.with_factor(one.relative_lambda),
                                           classes, settings, control)) {
      Trial trial{&one, left_out};
      trial.outputs.decision_values = *std::move(outputs);
      losses[i] = judge({&trial, 1}, settings.soft_boundary, by_error).front();
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
    // Neighbours of the winner along one axis of the grid.
    for (const int direction : {1, -1}) {
      for (const bool kernels : {false, true}) {
        std::optional<std::size_t> next;
        for (std::size_t i = 0; i < candidates.size(); ++i) {
          const ChoiceCandidate& one = candidates[i];
          const ChoiceCandidate& from = candidates[best];
          const auto place = [&](const ChoiceCandidate& c) {
            return kernels ? static_cast<double>(c.kernel) : c.relative_lambda + c.label_noise;
          };
          const bool same = one.bias == from.bias && one.one_against_one == from.one_against_one &&
                            (kernels ? one.relative_lambda + one.label_noise ==
                                           from.relative_lambda + from.label_noise
                                     : one.kernel == from.kernel);
          if (!one.consistent || !same || direction * (place(one) - place(from)) <= 0) continue;
          if (!next || direction * (place(one) - place(candidates[*next])) < 0) next = i;
        }
        if (next && is_better(*next, best, 0)) {
          best = *next;
          moved = true;
        }
      }
    }
    if (!control.go_on({.stage = "choosing"})) break;
  }
  return {is_better(best, first, 2) ? best : first, left_out.points.size()};
}

/// Chooses lambda / k(x, x), or label noise for samplers that take it, by the smallest out-of-fold
/// log loss on a part of the points, as `choose` does for one kernel: five folds, five draws each.
/// `values`: kernel values on the part; none if it has too few points to judge by. Memory:
/// `bytes_to_choose`. \throws Stopped.
template <class T, class Sampler>
[[nodiscard]] BoundaryChoice choose_boundary(const ChoicePart& part, const DenseGram<T>& values,
                                             const Sampler& sampler, const FitSettings& settings,
                                             const std::vector<int>& classes,
                                             const RunControl& control, std::string_view function) {
  BoundaryChoice choice{.points = part.can_be_left_out,
                        .largest_class = part.largest_class,
                        .loss_of_shares = part.loss_of_shares};
  if (chooses_label_noise<Sampler>(settings)) {
    for (const double q : default_label_noises) {
      choice.candidates.push_back({.label_noise = q, .one_against_one = settings.one_against_one});
    }
  } else {
    for (const double lambda : default_relative_lambdas) {
      choice.candidates.push_back(
          {.relative_lambda = lambda, .one_against_one = settings.one_against_one});
    }
  }
  if (values.size() == 0) return choice;  // Too few points to judge by.
  const auto observer = [&](const Progress& now) { return control.go_on(now); };
  StageProgress<decltype(observer)> stage{observer, "choosing the soft boundary"};
  const RunControl watched{std::ref(stage), control.stop, control.threads};
  const OutOfFold folds = empty_out_of_fold(
      part.labels, classes,
      Folds::stratified(part.labels, std::min<std::size_t>(5, part.can_be_left_out),
                        settings.seed));
  BestOfFirstFold best_of_first_fold;
  try_boundaries<T>(values, folds, part.labels, search_sampler(sampler, draws_to_try), settings,
                    watched, choice.candidates, &best_of_first_fold);
  if (const auto best = best_candidate(choice.candidates)) {
    auto candidates = std::move(choice.candidates);
    choice = boundary_of(candidates[*best], values, folds, part, sampler, draws_to_try, settings,
                         watched);
    choice.candidates = std::move(candidates);
  } else {
    choice.relative_lambda = choice.candidates.back().relative_lambda;
    choice.label_noise = choice.candidates.back().label_noise;
  }
  ensure<Stopped>(!stage.stopped && !control.stop.stop_requested(), function,
                  ": stopped while choosing the soft boundary");
  return choice;
}

/// Returns a given choice, after checks. \throws std::invalid_argument on numbers (except offsets)
/// not finite or negative, a draw_chance of 1 or more, label noise if the sampler takes none.
[[nodiscard]] inline BoundaryChoice begun_choice(BoundaryChoice choice, bool takes_label_noise,
                                                 std::string_view function) {
  check_not_negative(function, "boundary_choice", choice.relative_lambda);
  check_not_negative(function, "boundary_choice", choice.label_noise);
  check(takes_label_noise || choice.label_noise == 0, function, "boundary_choice",
        "has label noise, which the sampler does not take");
  check_not_negative(function, "boundary_choice", choice.slope);
  check_not_negative(function, "boundary_choice", choice.growth);
  check_not_negative(function, "boundary_choice", choice.fold_rows);
  check(choice.draw_chance >= 0 && choice.draw_chance < 1, function, "boundary_choice",
        "has a draw_chance of ", choice.draw_chance, ", must be at least 0 and below 1");
  choice.raised = 0;
  return choice;
}

/// Returns the boundary that the settings give as a choice, else chooses one for kernel and inputs.
template <class Kernel, class Sampler, class I>
[[nodiscard]] BoundaryChoice choose_boundary(const Kernel& kernel, const Sampler& sampler,
                                             const FitSettings& settings, const I& inputs,
                                             const std::vector<int>& classes,
                                             std::span<const int> labels, const RunControl& control,
                                             std::string_view function) {
  if (settings.boundary_choice) {
    return begun_choice(*settings.boundary_choice, Sampler::traits.takes_label_noise, function);
  }
  using T = kernel_scalar_t<I>;
  const ChoicePart part(labels, classes, points_to_choose_on<Sampler>, settings.seed);
  const DenseGram<T> values = part.can_be_left_out < 2
                                  ? DenseGram<T>(Buffer<T>(0), 0)
                                  : kernel_values_of(kernel, inputs, part.points, control.threads);
  return choose_boundary(part, values, sampler, settings, classes, control, function);
}

/// Most raises of lambda: from 0 to 96 times k(x, x).
inline constexpr unsigned most_raises = 12;

/// Raises lambda to the next larger value of the grid, beyond its end to twice as much; or sets the
/// least label noise, with which every run is consistent.
inline void raise_boundary(BoundaryChoice& choice, bool label_noise = false) {
  const auto& grid = default_relative_lambdas;
  const auto larger = std::upper_bound(grid.begin(), grid.end(), choice.relative_lambda);
  if (label_noise) {
    choice.label_noise = default_label_noises[1];
  } else {
    choice.relative_lambda = larger == grid.end() ? 2 * choice.relative_lambda : *larger;
  }
  ++choice.raised;
  for (const ChoiceCandidate& one : choice.candidates) {
    if (one.relative_lambda == choice.relative_lambda && one.label_noise == choice.label_noise &&
        one.slope > 0) {
      choice.slope = one.slope;
      choice.offsets = one.offsets;
    }
  }
}

/// Returns the sampler of a fit with this boundary; draws added later have the same limits. \throws
/// std::invalid_argument as `check_settings`: a given choice may be out of range.
template <class Sampler>
[[nodiscard]] Sampler sampler_at(Sampler sampler, const BoundaryChoice& choice) {
  if constexpr (Sampler::traits.has_trials) sampler.limit_as_trials();
  sampler = with_noise_of(sampler, choice.label_noise);
  sampler.check_settings();
  return sampler;
}

#if BPM_BODIES

BPM_INLINE std::vector<PointIndex> stratified_part(std::span<const int> labels, std::size_t most,
                                                   std::uint64_t seed) {
  std::vector<PointIndex> order(labels.size());
  RandomEngine engine(seed, ~std::uint64_t{1});
  random_permutation(std::span(order), engine);
  std::stable_sort(order.begin(), order.end(),
                   [&](PointIndex a, PointIndex b) { return labels[a] < labels[b]; });
  std::vector<PointIndex> part;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && labels[order[end]] == labels[order[begin]]) ++end;
    const std::size_t count = end - begin;
    const std::size_t share = labels.size() <= most ? count : count * most / labels.size();
    const std::size_t taken = std::min(count, std::max<std::size_t>(10, share));
    for (std::size_t i = begin; i < begin + taken; ++i) part.push_back(order[i]);
  }
  std::sort(part.begin(), part.end());
  return part;
}

BPM_INLINE ChoicePart::ChoicePart(std::span<const int> all, const std::vector<int>& classes,
                                  std::size_t most, std::uint64_t seed)
    : points(stratified_part(all, most, seed)), labels(labels_at(all, points)) {
  for (const int label : classes) {
    const auto count = static_cast<std::size_t>(std::count(labels.begin(), labels.end(), label));
    if (count > 1) can_be_left_out += count;
    const double share = static_cast<double>(count) / static_cast<double>(labels.size());
    largest_class = std::max(largest_class, share);
    if (count > 0) loss_of_shares -= share * std::log(share);
  }
}

#endif

}}}  // namespace bpm::detail
