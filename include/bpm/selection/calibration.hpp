// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/decision/class_probabilities.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/run_sampler.hpp"
#include "bpm/machine/train.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/selection/candidates.hpp"
#include "bpm/selection/out_of_fold.hpp"
#include "bpm/version_space/soft_boundary.hpp"

/// \file
/// Slope and offsets of a fit's probabilities, from the folds that chose its boundary and from
/// points that its draws hold out.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

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
  ChoiceCandidate part{.relative_lambda = whole.relative_lambda,
                       .label_noise = whole.label_noise,
                       .one_against_one = whole.one_against_one};
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
    ChoiceCandidate one{.relative_lambda = mean.relative_lambda,
                        .label_noise = mean.label_noise,
                        .one_against_one = mean.one_against_one};
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

/// Returns the factor of offsets found on so many outputs of one or two draws: with fewer outputs,
/// more of an offset is chance. 1 with class weights, whose deliberate shift of the boundary the
/// offsets must undo completely.
[[nodiscard]] inline double share_of_offsets(std::size_t outputs, const SoftBoundary& boundary) {
  if (boundary.has_class_weights()) return 1;
  return std::sqrt(std::min(1.0, static_cast<double>(outputs) / enough_left_out));
}

/// Held-out outputs of the draws of all subproblems, a row per draw and point, without draws for
/// which a subproblem has none.
struct OutputsLeftOut {
  Eigen::MatrixXd decision_values;  ///< Outputs, rows x subproblems.
  std::vector<int> labels;          ///< Labels of the rows.

  OutputsLeftOut(std::span<const DrawMean> means, std::span<const int> all);
};

/// Slope and offsets of a fit's probabilities, fields of `ClassifierParts`: from the held-out
/// outputs of its own draws, if these are enough; else from the out-of-fold outputs of the choice
/// of the boundary, of machines of fewer points, whose outputs have another scale.
struct FitProbabilities {
  double slope = 0;
  std::vector<double> offsets{};
  std::size_t rows = 0;

  /// `given`: the boundary of the settings.
  FitProbabilities(const BoundaryChoice& choice, const SoftBoundary& given,
                   std::span<const DrawMean> means, std::span<const int> labels,
                   const std::vector<int>& classes);
};

#if BPM_BODIES

BPM_INLINE FitProbabilities::FitProbabilities(const BoundaryChoice& choice,
                                              const SoftBoundary& given,
                                              std::span<const DrawMean> means,
                                              std::span<const int> labels,
                                              const std::vector<int>& classes) {
  const std::uint64_t draws = means[0].count();
  const OutputsLeftOut noted(means, labels);
  if (noted.labels.size() >= 500) {
    rows = noted.labels.size();
    FittedSlope fitted = fit_slope(noted.decision_values, noted.labels, classes,
                                   wants_offsets(given, classes.size()));
    const double factor = choice.slope_of_draws(draws);  // Outputs of single draws.
    slope = factor * fitted.slope;
    const double share = factor * share_of_offsets(rows, given);
    for (const double offset : fitted.offsets) offsets.push_back(share * offset);
  } else if (choice.slope > 0) {
    slope = choice.slope * choice.slope_factor(labels.size(), draws);
    offsets = choice.offsets;
    rows = choice.points;
  }
}

BPM_INLINE OutputsLeftOut::OutputsLeftOut(std::span<const DrawMean> means,
                                          std::span<const int> all) {
  std::vector<std::vector<const KeptDraw*>> draws;  // By draw and subproblem.
  for (const KeptDraw& first : means[0].left_out()) {
    std::vector<const KeptDraw*> one;
    for (const DrawMean& mean : means) {
      const auto& noted = mean.left_out();
      const auto found = std::lower_bound(
          noted.begin(), noted.end(), first.number,
          [](const KeptDraw& draw, std::uint64_t number) { return draw.number < number; });
      if (found != noted.end() && found->number == first.number &&
          found->support == first.support) {
        one.push_back(&*found);
      }
    }
    if (one.size() < means.size()) continue;
    for (const PointIndex i : first.support) labels.push_back(all[static_cast<std::size_t>(i)]);
    draws.push_back(std::move(one));
  }
  decision_values.resize(std::ssize(labels), std::ssize(means));
  Eigen::Index row = 0;
  for (const auto& draw : draws) {
    const auto rows = std::ssize(draw[0]->coefficients);
    for (std::size_t c = 0; c < draw.size(); ++c) {
      decision_values.col(static_cast<Eigen::Index>(c)).segment(row, rows) =
          Eigen::Map<const Eigen::VectorXd>(draw[c]->coefficients.data(), rows);
    }
    row += rows;
  }
}

#endif

}}}  // namespace bpm::detail
