// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"
#include "bpm/decision/class_probabilities.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/run_sampler.hpp"
#include "bpm/machine/train.hpp"
#include "bpm/machine/training.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/selection/candidates.hpp"
#include "bpm/selection/out_of_fold.hpp"
#include "bpm/version_space/soft_boundary.hpp"

/// \file
/// The search for a fit's soft boundary; slope and offsets of its probabilities, from the folds
/// that chose the boundary and from points that its draws hold out.

namespace bpm { inline namespace BPM_TARGET {

/// Search of a fit for its soft boundary, the default of machines: a plain value (for expectation
/// propagation, which chooses by the evidence, its lambdas and points alone). It tries every
/// lambda, or label noise for samplers that take it, by folds of a part of the points; the least
/// out-of-fold log loss wins. The same outputs give the slope of probabilities. A boundary that
/// `FitSettings::soft_boundary` gives is used without a search.
struct AutomaticBoundary {
  /// Values of lambda / k(x, x), ascending.
  std::vector<double> relative_lambdas = detail::default_relative_lambdas;
  /// Values of label noise in place of lambda, for samplers that take it, have none, and whose soft
  /// boundary is automatic, without class weights; ascending, below 1/2.
  std::vector<double> label_noises = detail::default_label_noises;
  std::size_t folds = 5;    ///< Number of parts, each left out once.
  std::uint64_t draws = 5;  ///< Draws of each fold's machine.
  /// Size of the part for the search: of more points the seed draws about this many, stratified. A
  /// fit by a sampler that sees a cone, whose cost grows with the cube of the points, takes at most
  /// 500.
  std::size_t points = 3000;
};

namespace detail {

/// Returns the values that a search tries, of label noise or of lambda.
/// \throws std::invalid_argument without values or draws, on values out of range or order.
[[nodiscard]] inline const std::vector<double>& checked_values(const AutomaticBoundary& boundary,
                                                               bool by_noise,
                                                               std::string_view function) {
  const std::vector<double>& values = by_noise ? boundary.label_noises : boundary.relative_lambdas;
  const char* const what = by_noise ? "label noise" : "lambda";
  check(!values.empty(), function, "boundary", "has no ", what);
  check(boundary.draws >= 1, function, "boundary", "has 0 draws, must have 1 or more");
  for (const double value : values) {
    check(value >= 0 && (by_noise ? value < 0.5 : std::isfinite(value)), function, "boundary",
          "has the ", what, " ", value,
          by_noise ? ", must be at least 0 and below 1/2" : ", must be finite and not negative");
  }
  check(std::is_sorted(values.begin(), values.end()), function, "boundary", "has ", what,
        "s that do not ascend");
  return values;
}

/// Chooses lambda / k(x, x), or label noise for samplers that take it, by the smallest out-of-fold
/// log loss on a part of the points, as `choose` does for one kernel. `fits`: on the part; empty if
/// it has too few points to judge by. `of_means`: see `CandidateSearch`. `pairs`: of pairs of
/// classes, three or more. \throws Stopped; as `checked_values`.
[[nodiscard]] BPM_INLINE BoundaryChoice choose_boundary(
    const AutomaticBoundary& boundary, const ChoicePart& part, const FoldFits& fits, bool by_noise,
    bool of_means, const FitSettings& settings, const std::vector<int>& classes, bool pairs,
    const RunControl& control, std::string_view function);

/// Returns the factor of offsets found on so many outputs of one or two draws: with fewer outputs,
/// more of an offset is chance. 1 with class weights, whose deliberate shift of the boundary the
/// offsets must undo completely.
[[nodiscard]] inline double share_of_offsets(std::size_t outputs, const SoftBoundary& boundary) {
  if (boundary.has_class_weights()) return 1;
  return std::sqrt(std::min(1.0, static_cast<double>(outputs) / enough_left_out));
}

/// Returns the held-out outputs of the draws of all subproblems, a row per draw and point, without
/// draws for which a subproblem has none.
[[nodiscard]] BPM_INLINE OutOfFold outputs_held_out(std::span<const DrawMean> means,
                                                    std::span<const int> labels,
                                                    const std::vector<int>& classes);

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

template <>
struct BoundarySearch<AutomaticBoundary> {
  static constexpr bool searches = true;
  using Probabilities = FitProbabilities;

  template <class Sampler>
  [[nodiscard]] static std::size_t points(const AutomaticBoundary& boundary) {
    return sees_cones<Sampler> ? std::min<std::size_t>(boundary.points, 500) : boundary.points;
  }

  template <class Sampler>
  [[nodiscard]] static std::size_t bytes(const AutomaticBoundary& boundary, std::size_t all,
                                         std::size_t problems) {
    // A stratified part has at least ten points of every class.
    const std::size_t part =
        std::min(all, std::max(points<Sampler>(boundary), 10 * (problems + 1)));
    return 16 * part * part;
  }

  template <class Kernel, class Sampler, class I>
  [[nodiscard]] static BoundaryChoice choose(const AutomaticBoundary& boundary,
                                             const Kernel& kernel, const Sampler& sampler,
                                             const FitSettings& settings, const I& inputs,
                                             const std::vector<int>& classes,
                                             std::span<const int> labels, const RunControl& control,
                                             std::string_view function, bool pairs) {
    const ChoicePart part(labels, points<Sampler>(boundary), settings.seed);
    FoldFits fits;  // It stays empty without points enough to leave out.
    if (part.choice.points >= 2)
      fits = fold_fits(kernel_values_of(kernel, inputs, part.points, control.threads), sampler);
    return choose_boundary(boundary, part, fits, chooses_label_noise<Sampler>(settings),
                           !sees_cones<Sampler>, settings, classes, pairs, control, function);
  }
};

#if BPM_BODIES

/// Returns the slope of a candidate's machines; 0 without a consistent classifier.
[[nodiscard]] inline double slope_of(const CandidateSearch& search, const FoldFits& fits,
                                     ChoiceCandidate candidate) {
  try_boundaries(search, fits, {&candidate, 1});
  return candidate.consistent ? candidate.slope : 0;
}

/// Returns the exponent g with which the best slope of probabilities grows with the number of
/// training points, s ~ m^g, from two slopes: that of `whole`, fitted on all points of the part,
/// and that of half of them. g is from 0 to 0.6: noisy classes may suggest more, but such growth
/// does not last. 0 if half of the points give no slope.
[[nodiscard]] inline double slope_growth(const CandidateSearch& search, const FoldFits& fits,
                                         const ChoiceCandidate& whole) {
  const std::size_t points = search.part.labels.size();
  const ChoicePart half(search.part.labels, points / 2, search.settings.seed);
  const double more = static_cast<double>(points) / static_cast<double>(half.labels.size());
  const bool alone = half.choice.points < half.labels.size();
  if (!(whole.slope > 0) || more < 1.2 || alone) return 0;

  const FoldFits fits_on_half = [&](Fold fold) {
    for (PointIndex& i : fold.train) i = half.points[std::size_t(i)];
    for (PointIndex& i : fold.left_out) i = half.points[std::size_t(i)];
    return fits(fold);
  };
  const double slope = slope_of(search.on(half, search.folds.folds.count), fits_on_half, whole);
  return slope > 0 ? std::clamp(std::log(whole.slope / slope) / std::log(more), 0.0, 0.6) : 0;
}

/// Returns `BoundaryChoice::draw_chance`, from the slope of `mean` and that of single draws. Up to
/// 0.9; 0 for samplers that see a cone, whose centre is no such mean.
[[nodiscard]] inline double draw_chance(const CandidateSearch& search, const FoldFits& fits,
                                        const ChoiceCandidate& mean) {
  if (!search.of_means || search.draws <= 1 || !(mean.slope > 0)) return 0;
  CandidateSearch single = search;
  single.draws = 1;
  const double ratio = slope_of(single, fits, mean) / mean.slope;
  const double shared = 1 - 1 / static_cast<double>(search.draws);
  return ratio > 0 ? std::clamp((1 - ratio * ratio) / shared, 0.0, 0.9) : 0;
}

/// Returns the choice that a fit adopts from the candidate chosen on a part of the points.
[[nodiscard]] inline BoundaryChoice boundary_of(const CandidateSearch& search, const FoldFits& fits,
                                                const ChoiceCandidate& chosen) {
  const OutOfFold& folds = search.folds;
  BoundaryChoice choice = search.part.choice;
  choice.relative_lambda = chosen.relative_lambda;
  choice.label_noise = chosen.label_noise;
  choice.slope = chosen.slope;
  choice.offsets = chosen.offsets;
  choice.growth = slope_growth(search, fits, chosen);
  choice.draw_chance = draw_chance(search, fits, chosen);
  choice.fold_rows =
      static_cast<double>(search.part.points.size()) -
      static_cast<double>(folds.points.size()) / static_cast<double>(folds.folds.count);
  choice.fold_draws = search.draws;
  return choice;
}

BPM_INLINE BoundaryChoice choose_boundary(const AutomaticBoundary& boundary, const ChoicePart& part,
                                          const FoldFits& fits, bool by_noise, bool of_means,
                                          const FitSettings& settings,
                                          const std::vector<int>& classes, bool pairs,
                                          const RunControl& control, std::string_view function) {
  std::vector<ChoiceCandidate> candidates;
  add_candidates(candidates, {.one_against_one = pairs},
                 checked_values(boundary, by_noise, function), by_noise);
  BoundaryChoice choice = part.choice;
  if (fits) {  // Else too few points to judge by.
    StageProgress stage{control.observer, "choosing the soft boundary"};
    const RunControl watched{std::ref(stage), control.stop, control.threads};
    const CandidateSearch search{
        boundary.draws,
        of_means,
        settings,
        watched,
        part,
        part.folds(classes, std::min(boundary.folds, part.choice.points), settings.seed)};
    BestOfFirstFold best_of_first_fold;
    try_boundaries(search, fits, candidates, &best_of_first_fold);
    if (const auto best = best_candidate(candidates)) {
      choice = boundary_of(search, fits, candidates[*best]);
    } else {
      choice.relative_lambda = candidates.back().relative_lambda;
      choice.label_noise = candidates.back().label_noise;
    }
    ensure<Stopped>(!stage.stopped && !control.stop.stop_requested(), function,
                    ": stopped while choosing the soft boundary");
  }
  choice.candidates = std::move(candidates);
  return choice;
}

BPM_INLINE FitProbabilities::FitProbabilities(const BoundaryChoice& choice,
                                              const SoftBoundary& given,
                                              std::span<const DrawMean> means,
                                              std::span<const int> labels,
                                              const std::vector<int>& classes) {
  const std::uint64_t draws = means[0].count();
  const OutOfFold held_out = outputs_held_out(means, labels, classes);
  if (held_out.labels.size() >= 500) {
    rows = held_out.labels.size();
    const FittedSlope fitted = held_out.slope(wants_offsets(given, classes.size()));
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

BPM_INLINE OutOfFold outputs_held_out(std::span<const DrawMean> means, std::span<const int> labels,
                                      const std::vector<int>& classes) {
  OutOfFold result{.folds = {}, .classes = classes};
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
    result.points.insert(result.points.end(), first.support.begin(), first.support.end());
    draws.push_back(std::move(one));
  }
  result.labels = labels_at(labels, result.points);
  result.decision_values.resize(std::ssize(result.labels), std::ssize(means));
  for (std::size_t c = 0; c < means.size(); ++c) {
    double* to = result.decision_values.data() +
                 static_cast<Eigen::Index>(c) * result.decision_values.rows();
    for (const auto& draw : draws) {
      to = std::copy(draw[c]->coefficients.begin(), draw[c]->coefficients.end(), to);
    }
  }
  return result;
}

#endif

}  // namespace detail

// Templates that bpm::compiled contains, for kernel values in float and double: what samplers do
// with any kernel's values; and machines of dense inputs with the Gaussian kernel and with
// `RuntimeKernel`. WORD is `extern template`, or `template` for the definitions.
#define BPM_DETAIL_OF_SAMPLER(WORD, S, T)                                                         \
  WORD SamplerReport run_sampler(const S&, const Gram<T>&, const Subproblems&, const RunControl&, \
                                 TrainingState<S>&);                                              \
  WORD FoldFits fold_fits(DenseGram<T>, const S&);                                                \
  WORD std::string train(std::unique_ptr<Gram<T>>&, std::span<const std::vector<PointIndex>>,     \
                         DrawFit<S>&, const RunControl&, std::string_view);

#define BPM_DETAIL_OF_VALUES(WORD, T)                                                           \
  WORD void hold_values(std::unique_ptr<Gram<T>>&, const MemoryForecast&, const RunControl&);   \
  WORD class DenseGram<T>;                                                                      \
  WORD void Subproblems::resolve_lambda(const Gram<T>&, const SoftBoundary&,                    \
                                        std::span<const int>);                                  \
  WORD SamplerReport sample_perceptrons(const PerceptronLimits&,                                \
                                        std::span<const KernelVersionSpace<T>>, RandomStreams&, \
                                        std::uint64_t, const RunControl&, const AnySink&);      \
  BPM_DETAIL_OF_SAMPLER(WORD, PermutedPerceptron, T)                                            \
  BPM_DETAIL_OF_SAMPLER(WORD, Billiard, T)                                                      \
  BPM_DETAIL_OF_SAMPLER(WORD, KernelGibbs, T)

#define BPM_DETAIL_FIT(WORD, Machine, K, T)                                                \
  WORD Classifier<K, RowMatrix<T>> Machine<K>::fit(const RowMatrix<T>&, detail::LabelList, \
                                                   detail::IgnoreProgress&&, StopToken) const;

#define BPM_DETAIL_OF_KERNEL(WORD, K, T)                                                        \
  WORD class detail::OnDemandGram<K, RowMatrix<T>>;                                             \
  WORD class detail::OnDemandGram<detail::WithConstant<K, std::plus<>>, RowMatrix<T>>;          \
  WORD class detail::SupportValues<K, RowMatrix<T>>;                                            \
  WORD class Classifier<K, RowMatrix<T>>;                                                       \
  WORD class Training<K, PermutedPerceptron, RowMatrix<T>>;                                     \
  WORD Eigen::MatrixXd Classifier<K, RowMatrix<T>>::decision_values(const RowMatrix<T>&) const; \
  BPM_DETAIL_FIT(WORD, BayesPointMachine, K, T)                                                 \
  BPM_DETAIL_FIT(WORD, OneVsRest, K, T)

#define BPM_DETAIL_MACHINES(WORD)                  \
  BPM_DETAIL_OF_KERNEL(WORD, Gaussian, float)      \
  BPM_DETAIL_OF_KERNEL(WORD, Gaussian, double)     \
  BPM_DETAIL_OF_KERNEL(WORD, RuntimeKernel, float) \
  BPM_DETAIL_OF_KERNEL(WORD, RuntimeKernel, double)

struct Billiard;
struct KernelGibbs;

#if !BPM_BODIES
namespace detail {
BPM_DETAIL_OF_VALUES(extern template, float)
BPM_DETAIL_OF_VALUES(extern template, double)
}  // namespace detail
BPM_DETAIL_MACHINES(extern template)
#endif

}}  // namespace bpm
