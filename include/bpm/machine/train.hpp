// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
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
#include "bpm/machine/classifier_parts.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/run_sampler.hpp"
#include "bpm/machine/strategy.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/soft_boundary.hpp"

/// \file
/// The part of a fit that sees kernel values, and neither kernel nor inputs: draws, softer
/// boundaries, and the numbers of a classifier that their means give.

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

/// Returns the sampler with a candidate's label noise, if it takes any.
template <class Sampler>
[[nodiscard]] Sampler with_noise_of(const Sampler& sampler, double label_noise) {
  if constexpr (Sampler::traits.takes_label_noise) {
    if (label_noise > 0) return sampler.with_label_noise(label_noise);
  }
  return sampler;
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

/// Returns a given choice, after checks. `pairs`: whether the fit is of pairs of classes. \throws
/// std::invalid_argument on numbers (except offsets) not finite or negative, a draw_chance of 1 or
/// more, label noise if the sampler takes none, a choice of the other kind of machines.
[[nodiscard]] inline BoundaryChoice begun_choice(BoundaryChoice choice, bool takes_label_noise,
                                                 std::string_view function, bool pairs = false) {
  check(choice.candidates.empty() || choice.candidates[0].one_against_one == pairs, function,
        "boundary_choice",
        pairs ? "is of a class against the rest, must be of pairs of classes"
              : "is of pairs of classes: fit them by Choice::fit, or OneVsOne");
  for (const double number : {choice.relative_lambda, choice.label_noise, choice.slope,
                              choice.growth, choice.fold_rows}) {
    check_not_negative(function, "boundary_choice", number);
  }
  check(takes_label_noise || choice.label_noise == 0, function, "boundary_choice",
        "has label noise, which the sampler does not take");
  check(choice.draw_chance >= 0 && choice.draw_chance < 1, function, "boundary_choice",
        "has a draw_chance of ", choice.draw_chance, ", must be at least 0 and below 1");
  choice.raised = 0;
  return choice;
}

/// Most raises of lambda: from 0 to 96 times k(x, x).
inline constexpr unsigned most_raises = 12;

/// Raises lambda to the next larger value that was tried, else of the default grid, beyond its end
/// to twice as much; or sets the least label noise, with which every run is consistent.
inline void raise_boundary(BoundaryChoice& choice, bool label_noise = false) {
  const auto& grid = default_relative_lambdas;
  const auto larger = std::upper_bound(grid.begin(), grid.end(), choice.relative_lambda);
  double tried = std::numeric_limits<double>::infinity();
  for (const ChoiceCandidate& one : choice.candidates) {
    if (one.relative_lambda > choice.relative_lambda) tried = std::min(tried, one.relative_lambda);
  }
  if (label_noise) {
    choice.label_noise = default_label_noises[1];
  } else if (std::isfinite(tried)) {
    choice.relative_lambda = tried;
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

/// Returns the mean decision value of a machine of two classes at its training points, weighted by
/// the size of their coefficients, under the plain kernel and positive where it is right: sum_i
/// alpha_i o_i / sqrt(k(x_i, x_i)) / sum_i |alpha_i|. It is the unit in which machines of different
/// pairs of classes are compared; 1 if it is not positive.
template <class T>
[[nodiscard]] double output_unit(const Gram<T>& gram, const Subproblems& problems,
                                 const DrawMean& mean) {
  double sum = 0;
  double sizes = 0;
  for (std::ptrdiff_t i = 0; i < gram.size(); ++i) {
    const double alpha = mean.coefficient(i);
    const auto self = static_cast<double>(gram.diagonal(i));
    if (alpha == 0 || !(self > 0)) continue;
    sum += alpha * mean.plain_output(i, problems.lambda_at(i)) / std::sqrt(self);
    sizes += std::abs(alpha);
  }
  return sum > 0 ? sum / sizes : 1;
}

/// Sets support, coefficients, kept draws, norms, margins and errors of these means. `more`: points
/// of the support beside those with a coefficient. `problems`: none for means of pairs of classes,
/// which have no norms, margins and errors.
BPM_INLINE void set_means(const PartNumbers& parts, std::span<const DrawMean> means,
                          const Subproblems* problems, std::span<const PointIndex> more);

#if BPM_BODIES

BPM_INLINE void set_means(const PartNumbers& parts, std::span<const DrawMean> means,
                          const Subproblems* problems, std::span<const PointIndex> more) {
  const std::ptrdiff_t m = means[0].size();
  const auto columns = std::ssize(means);
  // Index of each point in the support; -1: not in it.
  std::vector<Eigen::Index> place(static_cast<std::size_t>(m), -1);
  std::size_t kept = std::numeric_limits<std::size_t>::max();
  for (const PointIndex i : more) place[std::size_t(i)] = 0;
  for (const DrawMean& mean : means) {
    kept = std::min(kept, mean.kept().size());
    for (std::ptrdiff_t i = 0; i < m; ++i) {
      if (mean.coefficient(i) != 0) place[std::size_t(i)] = 0;
    }
    for (const KeptDraw& draw : mean.kept()) {
      for (const PointIndex i : draw.support) place[std::size_t(i)] = 0;
    }
  }
  for (std::ptrdiff_t i = 0; i < m; ++i) {
    if (place[std::size_t(i)] < 0) continue;
    place[std::size_t(i)] = std::ssize(parts.support);
    parts.support.push_back(static_cast<PointIndex>(i));
  }
  const Eigen::Index size = std::ssize(parts.support);
  parts.coefficients.resize(size, columns);
  for (Eigen::Index s = 0; s < size; ++s) {
    for (Eigen::Index c = 0; c < columns; ++c) {
      parts.coefficients(s, c) = means[std::size_t(c)].coefficient(parts.support[std::size_t(s)]);
    }
  }
  parts.draw_coefficients.setZero(size, static_cast<Eigen::Index>(kept) * columns);
  for (std::size_t n = 0; n < kept; ++n) {
    parts.draw_numbers.push_back(means[0].kept()[n].number);
    for (Eigen::Index c = 0; c < columns; ++c) {
      const KeptDraw& draw = means[std::size_t(c)].kept()[n];
      parts.draw_weights.push_back(draw.weight);
      for (std::size_t s = 0; s < draw.support.size(); ++s) {
        parts.draw_coefficients(place[std::size_t(draw.support[s])],
                                static_cast<Eigen::Index>(n) * columns + c) = draw.coefficients[s];
      }
    }
  }
  for (std::size_t p = 0; problems != nullptr && p < means.size(); ++p) {
    const DrawMean& mean = means[p];
    const double norm = mean.norm();
    double smallest = std::numeric_limits<double>::infinity();
    std::size_t errors = 0;
    for (std::ptrdiff_t i = 0; i < m; ++i) {
      const int sign = problems->signs[p][std::size_t(i)];
      smallest = std::min(smallest, sign * mean.output(i));
      errors += sign * mean.plain_output(i, problems->lambda_at(i)) <= 0 ? 1U : 0U;
    }
    parts.mean_norms.push_back(norm);
    parts.training_margins.push_back(smallest / norm);
    parts.training_errors.push_back(errors);
  }
}

#endif

}}}  // namespace bpm::detail
