// SPDX-License-Identifier: MIT
#pragma once

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
#include "bpm/selection/calibration.hpp"
#include "bpm/selection/candidates.hpp"
#include "bpm/selection/out_of_fold.hpp"
#include "bpm/version_space/soft_boundary.hpp"

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
[[nodiscard]] BPM_INLINE const std::vector<double>& checked_values(
    const AutomaticBoundary& boundary, bool by_noise, std::string_view function);

/// Chooses lambda / k(x, x), or label noise for samplers that take it, by the smallest out-of-fold
/// log loss on a part of the points, as `choose` does for one kernel. `values`: kernel values on
/// the part; none if it has too few points to judge by. `pairs`: of pairs of classes, three or
/// more. \throws Stopped; as `checked_values`.
template <class T, class Sampler>
[[nodiscard]] BoundaryChoice choose_boundary(const AutomaticBoundary& boundary,
                                             const ChoicePart& part, const DenseGram<T>& values,
                                             const Sampler& sampler, const FitSettings& settings,
                                             const std::vector<int>& classes, bool pairs,
                                             const RunControl& control, std::string_view function) {
  BoundaryChoice choice{.points = part.can_be_left_out,
                        .largest_class = part.largest_class,
                        .loss_of_shares = part.loss_of_shares};
  const bool by_noise = chooses_label_noise<Sampler>(settings);
  for (const double value : checked_values(boundary, by_noise, function)) {
    choice.candidates.push_back({.relative_lambda = by_noise ? 0 : value,
                                 .label_noise = by_noise ? value : 0,
                                 .one_against_one = pairs});
  }
  if (values.size() == 0) return choice;  // Too few points to judge by.
  const auto observer = [&](const Progress& now) { return control.go_on(now); };
  StageProgress<decltype(observer)> stage{observer, "choosing the soft boundary"};
  const RunControl watched{std::ref(stage), control.stop, control.threads};
  const OutOfFold folds = empty_out_of_fold(
      part.labels, classes,
      Folds::stratified(part.labels, std::min(boundary.folds, part.can_be_left_out),
                        settings.seed));
  BestOfFirstFold best_of_first_fold;
  try_boundaries<T>(values, folds, part.labels, search_sampler(sampler, boundary.draws), settings,
                    watched, choice.candidates, &best_of_first_fold);
  if (const auto best = best_candidate(choice.candidates)) {
    auto candidates = std::move(choice.candidates);
    choice = boundary_of(candidates[*best], values, folds, part, sampler, boundary.draws, settings,
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
    using T = kernel_scalar_t<I>;
    const ChoicePart part(labels, classes, points<Sampler>(boundary), settings.seed);
    const DenseGram<T> values =
        part.can_be_left_out < 2 ? DenseGram<T>(Buffer<T>(0), 0)
                                 : kernel_values_of(kernel, inputs, part.points, control.threads);
    return choose_boundary(boundary, part, values, sampler, settings, classes, pairs, control,
                           function);
  }
};

#if BPM_BODIES

BPM_INLINE const std::vector<double>& checked_values(const AutomaticBoundary& boundary,
                                                     bool by_noise, std::string_view function) {
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

#endif

}  // namespace detail

// Templates that bpm::compiled contains, for kernel values in float and double: those of samplers
// and their choices, for any kernel; and machines of dense inputs with the Gaussian kernel and with
// `RuntimeKernel`. WORD is `extern template`, or `template` for the definitions.
#define BPM_DETAIL_OF_SAMPLER(WORD, S, T)                                                         \
  WORD SamplerReport run_sampler(const S&, const Gram<T>&, const Subproblems&, const RunControl&, \
                                 TrainingState<S>&);                                              \
  WORD void try_boundaries(const DenseGram<T>&, const OutOfFold&, std::span<const int>, const S&, \
                           const FitSettings&, const RunControl&, std::span<ChoiceCandidate>,     \
                           BestOfFirstFold*);                                                     \
  WORD BoundaryChoice choose_boundary(                                                            \
      const AutomaticBoundary&, const ChoicePart&, const DenseGram<T>&, const S&,                 \
      const FitSettings&, const std::vector<int>&, bool, const RunControl&, std::string_view);    \
  WORD std::string train(std::unique_ptr<Gram<T>>&, std::span<const std::vector<PointIndex>>,     \
                         DrawFit<S>&, const RunControl&, std::string_view);                       \
  WORD BoundaryChoice boundary_of(const ChoiceCandidate&, const DenseGram<T>&, const OutOfFold&,  \
                                  const ChoicePart&, const S&, std::uint64_t, const FitSettings&, \
                                  const RunControl&);

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

#define BPM_DETAIL_OF_KERNEL(WORD, K, T)                               \
  WORD class OnDemandGram<K, RowMatrix<T>>;                            \
  WORD class OnDemandGram<WithConstant<K, std::plus<>>, RowMatrix<T>>; \
  WORD class SupportValues<K, RowMatrix<T>>;

#define BPM_DETAIL_OF_MACHINE(WORD, K, T)                   \
  WORD class Classifier<K, RowMatrix<T>>;                   \
  WORD class Training<K, PermutedPerceptron, RowMatrix<T>>; \
  WORD Eigen::MatrixXd Classifier<K, RowMatrix<T>>::decision_values(const RowMatrix<T>&) const;

#define BPM_DETAIL_MACHINES(WORD)                   \
  namespace detail {                                \
  BPM_DETAIL_OF_KERNEL(WORD, Gaussian, float)       \
  BPM_DETAIL_OF_KERNEL(WORD, Gaussian, double)      \
  BPM_DETAIL_OF_KERNEL(WORD, RuntimeKernel, float)  \
  BPM_DETAIL_OF_KERNEL(WORD, RuntimeKernel, double) \
  }                                                 \
  BPM_DETAIL_OF_MACHINE(WORD, Gaussian, float)      \
  BPM_DETAIL_OF_MACHINE(WORD, Gaussian, double)     \
  BPM_DETAIL_OF_MACHINE(WORD, RuntimeKernel, float) \
  BPM_DETAIL_OF_MACHINE(WORD, RuntimeKernel, double)

#define BPM_DETAIL_FIT(WORD, Machine, K, T)                                                   \
  WORD Classifier<K, RowMatrix<T>> Machine<K>::fit(const RowMatrix<T>&, std::span<const int>, \
                                                   detail::IgnoreProgress&&, StopToken) const;
#define BPM_DETAIL_FITS(WORD)                                    \
  BPM_DETAIL_FIT(WORD, BayesPointMachine, Gaussian, float)       \
  BPM_DETAIL_FIT(WORD, BayesPointMachine, Gaussian, double)      \
  BPM_DETAIL_FIT(WORD, BayesPointMachine, RuntimeKernel, float)  \
  BPM_DETAIL_FIT(WORD, BayesPointMachine, RuntimeKernel, double) \
  BPM_DETAIL_FIT(WORD, OneVsRest, Gaussian, float)               \
  BPM_DETAIL_FIT(WORD, OneVsRest, Gaussian, double)              \
  BPM_DETAIL_FIT(WORD, OneVsRest, RuntimeKernel, float)          \
  BPM_DETAIL_FIT(WORD, OneVsRest, RuntimeKernel, double)

struct Billiard;
struct KernelGibbs;

#if !BPM_BODIES
namespace detail {
BPM_DETAIL_OF_VALUES(extern template, float)
BPM_DETAIL_OF_VALUES(extern template, double)
}  // namespace detail
BPM_DETAIL_MACHINES(extern template)
BPM_DETAIL_FITS(extern template)
#endif

}}  // namespace bpm
