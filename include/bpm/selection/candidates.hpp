// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"
#include "bpm/decision/class_probabilities.hpp"
#include "bpm/decision/scores.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/run_sampler.hpp"
#include "bpm/machine/train.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/selection/out_of_fold.hpp"
#include "bpm/version_space/soft_boundary.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Returns whether a fit that chooses its boundary chooses label noise, not lambda; class weights
/// need a lambda.
template <class Sampler>
[[nodiscard]] bool chooses_label_noise(const FitSettings& settings) {
  return Sampler::traits.takes_label_noise && !settings.soft_boundary.has_class_weights();
}

/// Returns a sampler that tries a candidate with few draws: a trial if the sampler has trials.
template <class Sampler>
[[nodiscard]] auto search_sampler(const Sampler& sampler, std::uint64_t draws) {
  if constexpr (Sampler::traits.has_trials) {
    return sampler.trial(draws);
  } else {
    return sampler.with_draws(draws);
  }
}

/// Returns whether probabilities have an offset per class beside the slope: if several
/// one-against-rest machines compete, or class weights shift the boundary, which no slope undoes.
[[nodiscard]] inline bool wants_offsets(const SoftBoundary& boundary, std::size_t classes) {
  return classes > 2 || boundary.has_class_weights();
}

/// Returns about `most` points or fewer, ascending: of every class its share, but at least ten
/// where it has them.
[[nodiscard]] BPM_INLINE std::vector<PointIndex> stratified_part(std::span<const int> labels,
                                                                 std::size_t most,
                                                                 std::uint64_t seed);

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

/// A candidate and the outputs of its machines at points left out.
struct Trial {
  ChoiceCandidate* candidate;
  OutOfFold outputs;
};

/// Sets the results of candidates tried on the same points. Returns each candidate's losses at
/// these points or, with `by_error`, the errors, 0 or 1, of the labels that a fit would predict,
/// which offsets move unless there are class weights.
BPM_INLINE std::vector<std::vector<double>> judge(std::span<const Trial> trials,
                                                  const SoftBoundary& boundary,
                                                  bool by_error = false);

/// Returns whether losses `one` are smaller by `errors` standard errors of the mean difference.
[[nodiscard]] inline bool is_ahead(const std::vector<double>& one, const std::vector<double>& other,
                                   double errors) {
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    sum += other[i] - one[i];
    squares += (other[i] - one[i]) * (other[i] - one[i]);
  }
  const auto n = static_cast<double>(one.size());
  return sum > 0 && sum * sum > errors * errors * (squares - sum * sum / n);
}

/// Candidate with the smallest loss on the first fold among those tried there.
struct BestOfFirstFold {
  std::vector<double> losses{};  ///< Losses at the points of the first fold.
  double loss = std::numeric_limits<double>::infinity();
  double error = 1;
  double loss_of_all = 0;  ///< Its loss over all folds.
  double error_of_all = 0;

  /// Returns whether another candidate is far behind: by four standard errors of the mean
  /// difference of losses, and without fewer errors.
  [[nodiscard]] bool is_far_ahead_of(const ChoiceCandidate& other,
                                     const std::vector<double>& of_other) const {
    return is_ahead(losses, of_other, 4) && other.error >= error;
  }
};

/// Least points of a first fold on which candidates far behind are dropped.
inline constexpr std::size_t least_points_to_race = 200;

/// Computes the out-of-fold scores of all soft boundaries for one kernel, fold by fold, in each
/// from soft to hard: boundaries from the first inconsistent one on are not tried again, since
/// harder ones demand more. With `best`, candidates far behind it on a large first fold are tried
/// on that fold alone: see `ChoiceCandidate::first_fold_alone`.
template <class Scalar, class Sampler>
void try_boundaries(const DenseGram<Scalar>& values, const OutOfFold& folds,
                    std::span<const int> labels, const Sampler& sampler,
                    const FitSettings& settings, const RunControl& control,
                    std::span<ChoiceCandidate> candidates, BestOfFirstFold* best = nullptr) {
  std::vector<Trial> trials;  // From soft to hard.
  for (std::size_t l = candidates.size(); l-- > 0;) trials.push_back({&candidates[l], folds});
  BestOfFirstFold ahead;
  if (best != nullptr) ahead = *best;
  const ChoiceCandidate* own = nullptr;  // The leader, if among these candidates.
  std::vector<ChoiceCandidate*> behind;
  for (std::size_t k = 0; k < folds.folds.count && !trials.empty(); ++k) {
    const FoldValues<Scalar> part(values, folds.folds, k, labels);
    std::vector<Trial> of_fold;
    for (Trial& one : trials) {
      const ChoiceCandidate& candidate = *one.candidate;
      auto found =
          outputs_of_left_out(part, with_noise_of(sampler, candidate.label_noise),
                              settings.soft_boundary.with_factor(candidate.relative_lambda),
                              folds.classes, settings, control, candidate.one_against_one);
      if (!found) break;
      put_outputs(one.outputs, part.left_out, *found);
      of_fold.push_back({one.candidate,
                         {.folds = {},
                          .classes = folds.classes,
                          .points = part.left_out,
                          .labels = labels_at(labels, part.left_out),
                          .decision_values = *std::move(found)}});
    }
    for (; trials.size() > of_fold.size(); trials.pop_back()) {
      trials.back().candidate->consistent = false;
    }
    if (k > 0 || best == nullptr || part.left_out.size() < least_points_to_race || trials.empty()) {
      continue;
    }
    const auto losses = judge(of_fold, settings.soft_boundary);
    for (std::size_t i = 0; i < trials.size(); ++i) {
      const ChoiceCandidate& one = *trials[i].candidate;
      if (one.loss >= ahead.loss) continue;
      ahead = {losses[i], one.loss, one.error};
      own = &one;
    }
    std::vector<Trial> near;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      if (ahead.is_far_ahead_of(*trials[i].candidate, losses[i])) {
        behind.push_back(trials[i].candidate);
      } else {
        near.push_back(std::move(trials[i]));
      }
    }
    trials = std::move(near);
  }
  if (own != nullptr && !own->consistent) {  // Inconsistent on another fold: it leads none.
    try_boundaries(values, folds, labels, sampler, settings, control, candidates);
    return;
  }
  if (!trials.empty()) judge(trials, settings.soft_boundary);
  if (best == nullptr) return;
  if (own != nullptr) {
    ahead.loss_of_all = own->loss;
    ahead.error_of_all = own->error;
  }
  for (ChoiceCandidate* one : behind) {
    one->loss += ahead.loss_of_all - ahead.loss;
    one->error += ahead.error_of_all - ahead.error;
    one->first_fold_alone = true;
  }
  *best = std::move(ahead);
}

/// Returns the winner, of least loss. Ties, within 0.1 of its standard error, or equal shares of
/// errors, go to the larger lambda or label noise, then to the later kernel. Excludes candidates
/// tried on the first fold alone. Empty if no other candidate is consistent.
[[nodiscard]] BPM_INLINE std::optional<std::size_t> best_candidate(
    std::span<const ChoiceCandidate> candidates, bool by_error = false);

/// Returns whether the loss (or the share of errors) among `points` points is smaller by its
/// standard error and one point: without errors, standard errors are almost 0.
[[nodiscard]] inline bool is_clearly_better(const ChoiceCandidate& one, const ChoiceCandidate& than,
                                            bool by_error, std::size_t points) {
  const auto n = static_cast<double>(points);
  if (!by_error) return one.loss + one.standard_error + 1 / n < than.loss;
  return one.error + error_of_share(one.error, n) + 1 / n < than.error;
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
                                           classes, settings, control, one.one_against_one)) {
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

BPM_INLINE std::vector<std::vector<double>> judge(std::span<const Trial> trials,
                                                  const SoftBoundary& boundary, bool by_error) {
  std::vector<Eigen::Ref<const Eigen::MatrixXd>> values;
  for (const Trial& one : trials) values.emplace_back(one.outputs.decision_values);
  const OutOfFold& points = trials.front().outputs;
  const auto slopes = fit_slopes(values, points.labels, points.classes,
                                 wants_offsets(boundary, points.classes.size()));
  std::vector<std::vector<double>> losses;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    ChoiceCandidate& candidate = *trials[i].candidate;
    candidate.consistent = true;
    candidate.first_fold_alone = false;
    candidate.loss = slopes[i].loss;
    candidate.standard_error = slopes[i].standard_error;
    candidate.slope = slopes[i].slope;
    candidate.offsets = slopes[i].offsets;
    const Eigen::MatrixXd probabilities =
        probabilities_of(values[i], candidate.slope, candidate.offsets, points.points.size());
    const FittedSlope moved = boundary.has_class_weights() ? FittedSlope{} : slopes[i];
    candidate.error = trials[i].outputs.error(moved);
    losses.push_back(log_losses(probabilities, points.labels, points.classes));
    for (std::size_t k = 0; by_error && k < points.labels.size(); ++k) {
      const int said = trials[i].outputs.predicted(static_cast<Eigen::Index>(k), moved);
      losses.back()[k] = said != points.labels[k] ? 1 : 0;
    }
  }
  return losses;
}

BPM_INLINE std::optional<std::size_t> best_candidate(std::span<const ChoiceCandidate> candidates,
                                                     bool by_error) {
  const auto score = [by_error](const ChoiceCandidate& one) {
    return by_error ? one.error : one.loss;
  };
  const auto can_be_taken = [](const ChoiceCandidate& one) {
    return one.consistent && !one.first_fold_alone;
  };
  std::optional<std::size_t> least;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (can_be_taken(candidates[i]) &&
        (!least || score(candidates[i]) < score(candidates[*least]))) {
      least = i;
    }
  }
  if (!least) return least;
  const double tie = by_error ? 0 : 0.1 * candidates[*least].standard_error;
  const double enough = score(candidates[*least]) + tie;
  std::size_t best = *least;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const ChoiceCandidate& one = candidates[i];
    if (!can_be_taken(one) || score(one) > enough) continue;
    const auto rank = [](const ChoiceCandidate& c) {
      return std::tuple(c.relative_lambda, c.label_noise, c.kernel);
    };
    if (rank(one) > rank(candidates[best])) best = i;
  }
  return best;
}

#endif

}  // namespace detail
}}  // namespace bpm
