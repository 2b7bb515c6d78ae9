// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "bpm/core/target.hpp"
#include "bpm/machine/boundary_choice.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/out_of_fold.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/version_space/soft_boundary.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// What is tried for lambda, over k(x, x).
inline const std::vector<double> default_relative_lambdas{0, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3};

namespace detail {

/// What is tried for label noise in the place of lambda.
inline const std::vector<double> default_label_noises{0, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3};

/// Whether a fit that chooses its boundary chooses label noise, not lambda: class weights are a
/// lambda's.
template <class Sampler>
[[nodiscard]] bool chooses_label_noise(const FitSettings& settings) {
  return Sampler::traits.takes_label_noise && !settings.soft_boundary.has_class_weights();
}

/// The sampler with a candidate's label noise, where it takes any.
template <class Sampler>
[[nodiscard]] Sampler with_noise_of(const Sampler& sampler, double label_noise) {
  if constexpr (Sampler::traits.takes_label_noise) {
    if (label_noise > 0) return sampler.with_label_noise(label_noise);
  }
  return sampler;
}

/// Passes in which a perceptron of an automatic boundary must be consistent.
inline constexpr std::uint64_t passes_to_try = 200;

/// A sampler that tries: few draws, and a perceptron that gives up where an automatic boundary's
/// fit does, and keeps nothing on disk. Passes are counted, so that what is chosen does not depend
/// on the machine it runs on.
template <class Sampler>
[[nodiscard]] auto to_try(const Sampler& sampler, std::uint64_t draws) {
  if constexpr (std::derived_from<Sampler, PermutedPerceptron>) {
    PermutedPerceptron brief = sampler;
    brief.draws = draws;
    brief.max_passes = passes_to_try;
    return brief;
  } else {
    return sampler.with_draws(draws);
  }
}

/// Draws of each fold's machine.
inline constexpr std::uint64_t draws_to_try = 5;

/// Whether probabilities have an offset per class beside the slope: where several one-against-rest
/// machines are compared, and where class weights shift the boundary, which no slope undoes.
[[nodiscard]] inline bool wants_offsets(const SoftBoundary& boundary, std::size_t classes) {
  return classes > 2 || boundary.has_class_weights();
}

/// The out-of-fold scores of all soft boundaries for one kernel, a fold after the other, each from
/// soft to hard: beyond the first that is not consistent none is tried again, since a harder one
/// asks for more.
template <class Scalar, class Sampler>
void try_boundaries(const DenseGram<Scalar>& values, const OutOfFold& folds,
                    std::span<const int> labels, const Sampler& sampler,
                    const FitSettings& settings, const RunControl& control,
                    std::span<ChoiceCandidate> candidates) {
  std::vector<OutOfFold> outputs(candidates.size(), folds);
  std::size_t smallest = 0;  // Of those that are consistent so far.
  for (std::size_t k = 0; k < folds.folds.count; ++k) {
    const FoldValues<Scalar> part(values, folds.folds, k, labels);
    for (std::size_t l = candidates.size(); l-- > smallest;) {
      const auto found =
          outputs_of_left_out(part, with_noise_of(sampler, candidates[l].label_noise),
                              settings.soft_boundary.with_factor(candidates[l].relative_lambda),
                              folds.classes, settings.seed, control);
      if (!found) {
        smallest = l + 1;
        break;
      }
      put_outputs(outputs[l], part.left_out, *found);
    }
  }
  for (std::size_t l = smallest; l < candidates.size(); ++l) {
    const FittedSlope slope =
        outputs[l].slope(wants_offsets(settings.soft_boundary, folds.classes.size()));
    ChoiceCandidate& candidate = candidates[l];
    candidate.consistent = true;
    candidate.loss = slope.loss;
    candidate.standard_error = slope.standard_error;
    candidate.slope = slope.slope;
    candidate.offsets = slope.offsets;
    candidate.error = outputs[l].error();
  }
}

/// Of losses (or shares of errors) that are equal to a tenth of the loss's standard error the
/// larger lambda or label noise, then the later kernel. Empty where no candidate is consistent.
[[nodiscard]] inline std::optional<std::size_t> best_candidate(
    std::span<const ChoiceCandidate> candidates, bool by_error = false) {
  const auto score = [by_error](const ChoiceCandidate& one) {
    return by_error ? one.error : one.loss;
  };
  std::optional<std::size_t> least;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].consistent && (!least || score(candidates[i]) < score(candidates[*least]))) {
      least = i;
    }
  }
  if (!least) return least;
  const double tie = by_error ? 0 : 0.1 * candidates[*least].standard_error;
  const double enough = score(candidates[*least]) + tie;
  std::size_t best = *least;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const ChoiceCandidate& one = candidates[i];
    if (!one.consistent || score(one) > enough) continue;
    const auto rank = [](const ChoiceCandidate& c) {
      return std::tuple(c.relative_lambda, c.label_noise, c.kernel);
    };
    if (rank(one) > rank(candidates[best])) best = i;
  }
  return best;
}

}  // namespace detail
}}  // namespace bpm
