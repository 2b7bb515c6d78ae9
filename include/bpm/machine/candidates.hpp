// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
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
#include "bpm/core/target.hpp"
#include "bpm/decision/class_probabilities.hpp"
#include "bpm/decision/evaluation.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/out_of_fold.hpp"
#include "bpm/machine/run_sampler.hpp"
#include "bpm/version_space/soft_boundary.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// Default grid of lambda / k(x, x).
inline const std::vector<double> default_relative_lambdas{0, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3};

namespace detail {

/// Default grid of label noise, in place of lambda.
inline const std::vector<double> default_label_noises{0, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3};

/// Returns whether a fit that chooses its boundary chooses label noise, not lambda; class weights
/// need a lambda.
template <class Sampler>
[[nodiscard]] bool chooses_label_noise(const FitSettings& settings) {
  return Sampler::traits.takes_label_noise && !settings.soft_boundary.has_class_weights();
}

/// Returns the sampler with a candidate's label noise, if it takes any.
template <class Sampler>
[[nodiscard]] Sampler with_noise_of(const Sampler& sampler, double label_noise) {
  if constexpr (Sampler::traits.takes_label_noise) {
    if (label_noise > 0) return sampler.with_label_noise(label_noise);
  }
  return sampler;
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

/// Number of draws of each fold's machine.
inline constexpr std::uint64_t draws_to_try = 5;

/// Returns whether probabilities have an offset per class beside the slope: if several
/// one-against-rest machines compete, or class weights shift the boundary, which no slope undoes.
[[nodiscard]] inline bool wants_offsets(const SoftBoundary& boundary, std::size_t classes) {
  return classes > 2 || boundary.has_class_weights();
}

/// Whether a sampler can fit machines of pairs of classes: in one process.
template <class Sampler>
inline constexpr bool fits_pairs = !Sampler::traits.collective;

/// Checks settings for pairs of classes. \throws std::invalid_argument if others exclude them.
template <class Sampler>
void check_pairs(const FitSettings& settings, std::size_t classes, std::string_view function) {
  if (!settings.one_against_one || classes <= 2) return;
  check(fits_pairs<Sampler>, function, "one_against_one",
        "is true, must be false with this sampler: one process fits pairs of classes");
  check(settings.soft_boundary.works_on_subsets(), function, "soft_boundary",
        "must be one for any points with one_against_one: automatic, or a lambda that is the same "
        "for all, relative or per class");
}

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
                              folds.classes, settings, control);
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

#if BPM_BODIES

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
