// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"
#include "bpm/decision/class_probabilities.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/machine/automatic_boundary.hpp"
#include "bpm/machine/candidates.hpp"
#include "bpm/machine/draw_mean.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/make_gram.hpp"
#include "bpm/machine/run_sampler.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/soft_boundary.hpp"

/// \file
/// The part of a fit that sees kernel values, and neither kernel nor inputs: draws, softer
/// boundaries, and probabilities from points that draws hold out.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Number of held-out outputs that suffice for a slope and an offset per class.
inline constexpr std::size_t enough_left_out = 3000;

/// Returns the number of draws that hold out the last tenth of their permutation for calibration:
/// enough for about 3000 outputs, at most 2. 0 below 6000 points, where folds calibrate. It depends
/// on the number of points alone, so that a draw does not depend on when it is made. docs/theory.md
/// compares alternatives.
[[nodiscard]] constexpr std::uint64_t left_out_draws(std::size_t points) {
  constexpr std::size_t twice_the_part = 6000;
  constexpr std::size_t most = 2;
  const std::size_t tenth = points / 10;
  if (points < twice_the_part) return 0;
  return std::min(most, (enough_left_out + tenth - 1) / tenth);
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

/// Returns the control of a run with these settings. The observer must outlive it.
template <Observer O>
[[nodiscard]] RunControl run_control(const FitSettings& settings, O& observer, StopToken stop) {
  return {[&observer](const Progress& progress) { return notify(observer, progress); },
          std::move(stop), thread_count(settings.threads)};
}

/// Returns a control that, once its observer has asked to stop, keeps asking: processes that
/// compute alone can stop only when they communicate next.
template <class Sampler>
[[nodiscard]] RunControl lasting_control(RunControl control) {
  if constexpr (Sampler::traits.collective) {
    control.observer = [ask = std::move(control.observer),
                        stopped = std::make_shared<std::atomic<bool>>(false)](const Progress& now) {
      if (ask && !ask(now)) *stopped = true;
      return !*stopped;
    };
  }
  return control;
}

/// Returns the control for work that one of several processes does alone: nothing stops it there,
/// since the others would wait for it.
template <class Sampler>
[[nodiscard]] RunControl without_stop(const RunControl& control) {
  RunControl result = control;
  if constexpr (Sampler::traits.collective) {
    result.stop = {};
    result.observer = [&control](const Progress& now) {
      static_cast<void>(control.observer(now));
      return true;
    };
  }
  return result;
}

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

/// Returns the report of run() on kernel values, with the cost of those in memory; without draws if
/// their computation was stopped.
template <class T, class Run>
[[nodiscard]] SamplerReport run_on_values(const Gram<T>& values, Run&& run) {
  SamplerReport report{.stopped = true, .reason = "stopped"};
  if (values.complete()) report = run();
  report.kernel_evaluations += values.evaluations();
  report.kernel_seconds += values.seconds();
  return report;
}

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
  if (fit.boundary) control.left_out_draws = left_out_draws(fit.labels.list().size());
  if (!fit.problems.lambda) {
    fit.problems.resolve_lambda(*gram, fit.settings.soft_boundary, fit.labels.list());
  }
  if (!admits_training_errors(sampler)) {
    std::string why = why_not_separable(*gram, equal, fit.problems);
    if (!why.empty()) return why;
  }
  hold_values(gram, fit.forecast, without_stop<Sampler>(control));
  const Gram<T>& values = *gram;
  const SamplerReport report = run_on_values(
      values, [&] { return run_sampler(sampler, values, fit.problems, control, state); });
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
