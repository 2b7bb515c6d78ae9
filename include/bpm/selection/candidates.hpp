// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"
#include "bpm/decision/class_probabilities.hpp"
#include "bpm/decision/scores.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/labels.hpp"
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

/// A part of the points, on which candidates are tried.
struct ChoicePart {
  std::vector<PointIndex> points;
  std::vector<int> labels;
  /// Points that can be left out, and shares of classes.
  BoundaryChoice choice{};

  /// Draws about `most` points or fewer, ascending: of every class its share, but at least ten
  /// where it has them.
  ChoicePart(std::span<const int> all, std::size_t most, std::uint64_t seed);

  /// Returns folds of the part, with all outputs zero. \throws as `Folds::stratified`.
  [[nodiscard]] OutOfFold folds(const std::vector<int>& classes, std::size_t count,
                                std::uint64_t seed) const {
    return empty_out_of_fold(labels, classes, Folds::stratified(labels, count, seed));
  }
};

/// Adds candidates like this one with these values of lambda / k(x, x), or of label noise.
inline void add_candidates(std::vector<ChoiceCandidate>& candidates, ChoiceCandidate one,
                           std::span<const double> values, bool by_noise) {
  for (const double value : values) {
    (by_noise ? one.label_noise : one.relative_lambda) = value;
    candidates.push_back(one);
  }
}

struct CandidateSearch;

/// Returns, of one sampler on one source of kernel values, fits of candidates to the points of a
/// fold that train: their outputs at those left out, as `outputs_of_left_out`. It is all that a
/// search sees of kernel, inputs and sampler.
using FoldFits = std::function<std::function<std::optional<Eigen::MatrixXd>(
    const CandidateSearch&, const ChoiceCandidate&)>(const Fold&)>;

/// A search that tries candidates out of fold, on a part of the points.
struct CandidateSearch {
  std::uint64_t draws;          ///< Draws of each fold's machine.
  bool of_means;                ///< Whether machines are means of their draws.
  const FitSettings& settings;  ///< Settings of the fit.
  const RunControl& control;
  const ChoicePart& part;
  OutOfFold folds;  ///< Folds of the part, with all outputs zero.

  /// Returns the same search on another part, by so many folds.
  [[nodiscard]] CandidateSearch on(const ChoicePart& other, std::size_t count) const {
    return {draws,   of_means, settings,
            control, other,    other.folds(folds.classes, count, settings.seed)};
  }
};

/// Returns the fits of this sampler, which must outlive them, to folds of the points of `values`.
template <class Scalar, class Sampler>
[[nodiscard]] FoldFits fold_fits(DenseGram<Scalar> values, const Sampler& sampler) {
  return [all = std::make_shared<const DenseGram<Scalar>>(std::move(values)),
          &sampler](const Fold& fold) -> FoldFits::result_type {
    return [of_fold = std::make_shared<const FoldValues<Scalar>>(*all, fold), labels = fold.labels,
            &sampler](const CandidateSearch& search, const ChoiceCandidate& one) {
      return outputs_of_left_out(
          *of_fold, labels, search.folds.classes,
          with_noise_of(search_sampler(sampler, search.draws), one.label_noise),
          search.settings.soft_boundary.with_factor(one.relative_lambda), search.settings.seed,
          search.control, one.one_against_one);
    };
  };
}

/// A candidate and the outputs of its machines at points left out.
struct Trial {
  ChoiceCandidate* candidate;
  OutOfFold outputs;
};

/// Sets the results of candidates tried on the same points. Returns each candidate's losses at
/// these points or, with `by_error`, the errors, 0 or 1, of the labels that a fit would predict,
/// which offsets move unless there are class weights.
BPM_INLINE std::vector<std::vector<double>> judge(std::span<const Trial>, const SoftBoundary&,
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

/// Returns whether the loss (or the share of errors) among `points` points is smaller by its
/// standard error and one point: without errors, standard errors are almost 0.
[[nodiscard]] inline bool is_clearly_better(const ChoiceCandidate& one, const ChoiceCandidate& than,
                                            bool by_error, std::size_t points) {
  const auto n = static_cast<double>(points);
  if (!by_error) return one.loss + one.standard_error + 1 / n < than.loss;
  return one.error + error_of_share(one.error, n) + 1 / n < than.error;
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

/// Returns the points that the first fold leaves out, with all outputs zero. The others always
/// train.
[[nodiscard]] inline OutOfFold first_fold(const OutOfFold& all, std::span<const int> labels) {
  Folds folds = all.folds;
  folds.count = 1;
  for (std::int32_t& fold : folds.of_point) fold = fold == 0 ? 0 : -1;
  return empty_out_of_fold(labels, all.classes, std::move(folds));
}

/// Computes the out-of-fold scores of all soft boundaries for one kernel, fold by fold, in each
/// from soft to hard: boundaries from the first inconsistent one on are not tried again, since
/// harder ones demand more. With `best`, candidates far behind it on a large first fold are tried
/// on that fold alone: see `ChoiceCandidate::first_fold_alone`.
BPM_INLINE void try_boundaries(const CandidateSearch&, const FoldFits&, std::span<ChoiceCandidate>,
                               BestOfFirstFold* best = nullptr);

/// Returns the winner, of least loss. Ties, within 0.1 of its standard error, or equal shares of
/// errors, go to the larger lambda or label noise, then to the later kernel. Excludes candidates
/// tried on the first fold alone. Empty if no other candidate is consistent.
[[nodiscard]] inline std::optional<std::size_t> best_candidate(
    std::span<const ChoiceCandidate> candidates, bool by_error = false) {
  const auto score = [by_error](const ChoiceCandidate& one) {
    if (!one.consistent || one.first_fold_alone) return std::numeric_limits<double>::infinity();
    return by_error ? one.error : one.loss;
  };
  const auto rank = [](const ChoiceCandidate& one) {
    return std::tuple(one.relative_lambda, one.label_noise, one.kernel);
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    if (score(candidates[i]) < score(candidates[best])) best = i;
  }
  if (candidates.empty() || !std::isfinite(score(candidates[best]))) return std::nullopt;
  const double tie = by_error ? 0 : 0.1 * candidates[best].standard_error;
  const double enough = score(candidates[best]) + tie;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (score(candidates[i]) <= enough && rank(candidates[i]) > rank(candidates[best])) best = i;
  }
  return best;
}

#if BPM_BODIES

BPM_INLINE ChoicePart::ChoicePart(std::span<const int> all, std::size_t most, std::uint64_t seed) {
  const auto classes = shuffled_classes(all, RandomEngine(seed, ~std::uint64_t{1}));
  std::vector<std::size_t> counts;
  for (const auto& [label, order] : classes) {
    const std::size_t share = all.size() <= most ? order.size() : order.size() * most / all.size();
    counts.push_back(std::min(order.size(), std::max<std::size_t>(10, share)));
    points.insert(points.end(), order.begin(),
                  order.begin() + static_cast<std::ptrdiff_t>(counts.back()));
  }
  std::sort(points.begin(), points.end());
  labels = labels_at(all, points);
  for (const std::size_t count : counts) {
    if (count > 1) choice.points += count;
    const double share = static_cast<double>(count) / static_cast<double>(labels.size());
    choice.largest_class = std::max(choice.largest_class, share);
    choice.loss_of_shares -= share * std::log(share);
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
    const FittedSlope moved = boundary.has_class_weights() ? FittedSlope{} : slopes[i];
    candidate.error = trials[i].outputs.error(moved);
    losses.push_back(log_losses(
        probabilities_of(values[i], candidate.slope, candidate.offsets, points.labels.size()),
        points.labels, points.classes));
    for (std::size_t k = 0; by_error && k < points.labels.size(); ++k) {
      const int said = trials[i].outputs.predicted(static_cast<Eigen::Index>(k), moved);
      losses.back()[k] = said != points.labels[k] ? 1 : 0;
    }
  }
  return losses;
}

BPM_INLINE void try_boundaries(const CandidateSearch& search, const FoldFits& fits,
                               std::span<ChoiceCandidate> candidates, BestOfFirstFold* best) {
  const OutOfFold& folds = search.folds;
  const SoftBoundary& boundary = search.settings.soft_boundary;
  const OutOfFold first = first_fold(folds, search.part.labels);
  std::vector<Trial> trials;  // From soft to hard.
  for (std::size_t l = candidates.size(); l-- > 0;) trials.push_back({&candidates[l], folds});
  BestOfFirstFold ahead;
  if (best != nullptr) ahead = *best;
  const ChoiceCandidate* own = nullptr;  // The leader, if among these candidates.
  std::vector<ChoiceCandidate*> behind;
  constexpr std::size_t least_to_race = 200;

  for (std::size_t k = 0; k < folds.folds.count && !trials.empty(); ++k) {
    const Fold fold(folds.folds, k, search.part.labels);
    const auto fit = fits(fold);
    std::vector<Trial> of_fold;
    for (Trial& one : trials) {
      auto outputs = fit(search, *one.candidate);
      if (!outputs) break;
      put_outputs(one.outputs, fold.left_out, *outputs);
      of_fold.push_back({one.candidate, first});
      of_fold.back().outputs.decision_values = *std::move(outputs);
    }
    for (; trials.size() > of_fold.size(); trials.pop_back()) {
      trials.back().candidate->consistent = false;
    }
    if (k > 0 || best == nullptr || first.points.size() < least_to_race || trials.empty()) {
      continue;
    }
    const auto losses = judge(of_fold, boundary);
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
    try_boundaries(search, fits, candidates, nullptr);
    return;
  }
  if (!trials.empty()) judge(trials, boundary);
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

#endif

}  // namespace detail
}}  // namespace bpm
