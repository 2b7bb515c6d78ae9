// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/machine/automatic_boundary.hpp"
#include "bpm/machine/draw_mean.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/fit_steps.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/make_gram.hpp"
#include "bpm/machine/run_sampler.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/soft_boundary.hpp"

/// \file
/// The part of a fit that sees kernel values, and neither kernel nor inputs.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Labels in any contiguous list: refers to an lvalue or a view, copies others.
class LabelList {
 public:
  template <class L>
    requires std::convertible_to<L, std::span<const int>>
  LabelList(L&& labels) {  // NOLINT: stands for a parameter of type span.
    if constexpr (std::is_lvalue_reference_v<L> || std::ranges::borrowed_range<L>) {
      labels_ = labels;
    } else {
      kept_ = std::make_shared<const std::vector<int>>(labels.begin(), labels.end());
      labels_ = *kept_;
    }
  }
  [[nodiscard]] std::span<const int> list() const noexcept { return labels_; }

 private:
  std::shared_ptr<const std::vector<int>> kept_;
  std::span<const int> labels_;
};

/// Sums over draws of all subproblems of a training set, with everything from which `train` makes
/// more of them, except the kernel values.
template <class Sampler>
struct DrawFit {
  Sampler given_sampler;        ///< The sampler as given.
  SoftBoundary given_boundary;  ///< The soft boundary as given.
  Sampler sampler;              ///< The sampler with the chosen boundary, as the settings.
  FitSettings settings;
  LabelList labels;
  Subproblems problems;
  MemoryForecast forecast;
  TrainingState<Sampler> state{};
  std::optional<BoundaryChoice> boundary{};  ///< The chosen boundary, if the fit chooses it.

  DrawFit(const Sampler& with, const FitSettings& given, LabelList all,
          const std::vector<int>& classes, const MemoryForecast& memory)
      : given_sampler(with),
        given_boundary(given.soft_boundary),
        sampler(with),
        settings(given),
        labels(std::move(all)),
        problems(classes, labels.list()),
        forecast(memory) {
    if (given_boundary.is_automatic() && !chooses_boundary(with, given)) {
      settings.soft_boundary = SoftBoundary::hard();
    }
    begin();
  }

  /// Sets the state without draws.
  void begin() {
    state = no_draws<Sampler>(std::ssize(labels.list()), problems.size(), settings.seed,
                              settings.keep_draws);
    problems.lambda.reset();
  }

  /// Sets a chosen boundary, in the place of one that was chosen before.
  void take_boundary(BoundaryChoice choice) {
    boundary = std::move(choice);
    settings.soft_boundary = settings.soft_boundary.with_factor(boundary->relative_lambda);
    sampler = sampler_at(sampler, *boundary);
  }
};

/// Adds the sampler's draws to the state, from kernel values that it first holds in memory as the
/// forecast says, and resolves lambda if necessary. `equal`: groups of equal inputs. Returns why
/// the points have no classifier without training error, as far as is known; empty if the draws
/// were made, or if it was stopped. \throws KernelValueError; NotConverged if an approximation did
/// not reach its tolerance; Stopped if a subproblem has no draw at all.
template <class T, class Sampler>
[[nodiscard]] std::string add_draws(std::unique_ptr<Gram<T>>& gram,
                                    std::span<const std::vector<PointIndex>> equal,
                                    const Sampler& sampler, DrawFit<Sampler>& fit,
                                    TrainingState<Sampler>& state, RunControl control,
                                    std::string_view function) {
  control.draws_at_once = fit.forecast.draws_at_once;
  control.threads = fit.forecast.threads;
  if (fit.boundary) {
    control.chosen_lambda = fit.boundary->relative_lambda;
    control.left_out_draws = left_out_draws(fit.labels.list().size());
  }
  if (!fit.problems.lambda) {
    fit.problems.resolve_lambda(*gram, fit.settings.soft_boundary, fit.labels.list());
  }
  if (!admits_training_errors(sampler)) {
    std::string why = why_not_separable(*gram, equal, fit.problems);
    if (!why.empty()) return why;
  }
  hold_values(gram, fit.forecast, without_stop<Sampler>(control));
  SamplerReport report;
  if (gram->complete()) {
    report = run_sampler(sampler, std::as_const(*gram), fit.problems, control, state);
  } else {
    report.stopped = true;
    report.reason = "stopped";
  }
  report.kernel_evaluations += gram->evaluations();
  report.kernel_seconds += gram->seconds();
  if (!report.converged && !report.stopped) {
    return join("no classifier without training error was found: ", report.reason,
                report.advice == SamplerReport::Advice::soften_or_raise_limits
                    ? "; set a soft boundary lambda > 0, or raise the sampler's limits"
                    : "");
  }
  for (const DrawMean& mean : state.means) {
    ensure<Stopped>(mean.count() > 0, function, ": stopped before the first draw was finished");
  }
  state.report.append(report);
  return {};
}

/// Makes the draws of a fit, with a larger lambda, or with label noise where the sampler takes it,
/// while no classifier has no training error and the fit chooses its boundary. Returns the reason
/// of the last failure, as `add_draws`. \throws as `add_draws`.
template <class T, class Sampler>
[[nodiscard]] std::string train(std::unique_ptr<Gram<T>>& gram,
                                std::span<const std::vector<PointIndex>> equal,
                                DrawFit<Sampler>& fit, const RunControl& control,
                                std::string_view function) {
  for (;;) {
    std::string why = add_draws(gram, equal, fit.sampler, fit, fit.state, control, function);
    if (why.empty() || !fit.boundary || fit.boundary->raised >= most_raises) return why;
    BoundaryChoice larger = *std::move(fit.boundary);
    raise_boundary(larger,
                   Sampler::traits.takes_label_noise && !fit.given_boundary.has_class_weights());
    fit.take_boundary(std::move(larger));
    fit.begin();
  }
}

}}}  // namespace bpm::detail
