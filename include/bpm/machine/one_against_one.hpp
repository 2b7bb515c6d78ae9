// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"
#include "bpm/decision/scores.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/automatic_boundary.hpp"
#include "bpm/machine/classifier.hpp"
#include "bpm/machine/fingerprint.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/fit_steps.hpp"
#include "bpm/machine/fit_warnings.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/run_sampler.hpp"
#include "bpm/machine/strategy.hpp"
#include "bpm/samplers/sampler.hpp"

/// \file
/// Many classes by a machine for each pair of them: see `OneVsRest`.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// The coefficients of machines of pairs of classes, in units of `output_unit`.
struct PairCoefficients {
  PairCoefficients(std::ptrdiff_t points, std::size_t pairs)
      : of_mean(RowMatrix<double>::Zero(points, static_cast<Eigen::Index>(pairs))) {}

  RowMatrix<double> of_mean;                 ///< m x P.
  std::vector<RowMatrix<double>> of_draw;    ///< Of draws that every pair kept.
  std::vector<std::vector<double>> weights;  ///< Of these draws, P each.
  SamplerReport report{.converged = true};
  MemoryForecast forecast{};  ///< The largest of a pair.

  void add(std::size_t pair, std::span<const PointIndex> points, const DrawMean& mean,
           double unit) {
    const auto column = static_cast<Eigen::Index>(pair);
    for (std::size_t k = 0; k < points.size(); ++k) {
      of_mean(points[k], column) = mean.coefficient(static_cast<std::ptrdiff_t>(k)) / unit;
    }
    if (pair == 0)
      of_draw.assign(mean.kept().size(), RowMatrix<double>::Zero(of_mean.rows(), of_mean.cols()));
    if (pair == 0) weights.resize(of_draw.size());
    of_draw.resize(std::min(of_draw.size(), mean.kept().size()));
    for (std::size_t n = 0; n < of_draw.size(); ++n) {
      const KeptDraw& draw = mean.kept()[n];
      weights[n].push_back(draw.weight);
      for (std::size_t s = 0; s < draw.support.size(); ++s) {
        of_draw[n](points[draw.support[s]], column) = draw.coefficients[s] / unit;
      }
    }
  }

  void add(const SamplerReport& of_pair, bool first) {
    const std::uint64_t fewest = first ? of_pair.draws : std::min(report.draws, of_pair.draws);
    report.merge(of_pair);
    report.draws = fewest;
  }

  /// Points with a coefficient, ascending.
  [[nodiscard]] std::vector<PointIndex> support() const {
    std::vector<PointIndex> result;
    for (PointIndex i = 0; i < of_mean.rows(); ++i) {
      const auto has = [i](const RowMatrix<double>& of) { return (of.row(i).array() != 0).any(); };
      if (has(of_mean) || std::ranges::any_of(of_draw, has)) result.push_back(i);
    }
    return result;
  }
};

/// The machines of all pairs, one after the other, with this boundary. \throws as `fit_pairs`.
template <class Kernel, class Sampler, InputSet I, class O>
[[nodiscard]] PairCoefficients coefficients_of_all(
    const Kernel& kernel, const Sampler& sampler, const FitSettings& settings, const I& inputs,
    std::span<const int> labels, const std::vector<int>& classes, const SoftBoundary& boundary,
    O& observer, const StopToken& stop, std::string_view function) {
  const auto points = points_of_pairs(classes, labels);
  PairCoefficients result(input_count(inputs), points.size());
  for_each_pair(classes.size(), [&](std::size_t pair, std::size_t a, std::size_t b) {
    const auto watch = [&](Progress now) {
      now.fraction =
          (static_cast<double>(pair) + now.fraction) / static_cast<double>(points.size());
      return notify(observer, now);
    };
    const auto of_pair = [&] {
      if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
        return owned_inputs_t<I>(inputs(points[pair], points[pair]));
      } else {
        return select_inputs(inputs, points[pair]);
      }
    }();
    const std::vector<int> labels_of_pair = labels_at(labels, points[pair]);
    Subproblems problems({classes[a], classes[b]}, labels_of_pair);
    const MemoryForecast forecast =
        forecast_memory(kernel, sampler, settings, of_pair, 1, function);
    if (forecast.total() > result.forecast.total()) result.forecast = forecast;
    RunControl control = run_control(settings, watch, stop);
    control.draws_at_once = forecast.draws_at_once;
    control.threads = forecast.threads;
    double unit = 1;
    std::optional<DrawMean> mean;
    const SamplerReport report = with_kernel_values(
        kernel, of_pair, forecast, control,
        [&](const auto& gram) {
          problems.resolve_lambda(gram, boundary, labels_of_pair);
          if (!admits_training_errors(sampler)) {
            std::vector<std::uint64_t> hashes;
            if constexpr (!std::same_as<Kernel, PrecomputedKernel>) hashes = input_hashes(of_pair);
            check_separable(gram, of_pair, hashes, problems, function);
          }
        },
        [&](const auto& gram) {
          auto state =
              first_run(sampler, gram, problems, settings.seed, settings.keep_draws, control);
          mean = std::move(state.means[0]);
          if (mean->count() > 0) unit = output_unit(gram, problems, *mean);
          return std::move(state.report);
        });
    ensure_consistent(report, function);
    ensure<Stopped>(!report.stopped && mean && mean->count() > 0, function,
                    ": stopped before every pair of classes had its draws");
    result.add(pair, points[pair], *mean, unit);
    result.add(report, pair == 0);
  });
  return result;
}

/// A fit of three classes and more by machines of pairs of classes: see `OneVsRest`. lambda, or
/// label noise, is one for all pairs, chosen by what all of them say of points left out.
/// \throws std::invalid_argument on a soft boundary that is not one for any points, and where
///         several processes fit; Stopped where a pair lacks draws; as `OneVsRest::fit`.
template <class Machine, InputSet I, class O>
[[nodiscard]] auto fit_pairs(const Machine& machine, const I& inputs, std::span<const int> labels,
                             std::vector<int> classes, O& observer, const StopToken& stop,
                             std::string_view function) {
  using Kernel = std::remove_cvref_t<decltype(machine.kernel())>;
  using Sampler = std::remove_cvref_t<decltype(machine.sampler())>;
  using Inputs = owned_inputs_t<I>;
  const auto start = std::chrono::steady_clock::now();
  const FitSettings& settings = machine.settings();
  machine.sampler().check_settings();
  check_inputs(inputs, function);
  check(!Sampler::traits.collective, function, "one_against_one",
        "is true, must be false with this sampler: one process fits pairs of classes");
  check(settings.soft_boundary.fits_any_points(), function, "soft_boundary",
        "must be one for any points with one_against_one: automatic, or a lambda that is the same "
        "for all, relative or per class");
  const double bias = absolute_bias(machine.kernel(), settings, inputs, function);
  const auto kernel = with_bias(machine.kernel(), bias);
  std::optional<PairCoefficients> found;
  const auto fit = [&](const SoftBoundary& boundary, const Sampler& sampler) {
    found = coefficients_of_all(kernel, sampler, settings, inputs, labels, classes, boundary,
                                observer, stop, function);
  };
  std::optional<BoundaryChoice> chosen;
  if (chooses_boundary(machine.sampler(), settings)) {
    chosen = fit_with_automatic_boundary<Sampler>(
        settings,
        [&] {
          return choose_boundary(kernel, machine.sampler(), settings, inputs, classes, labels,
                                 run_control(settings, observer, stop), function);
        },
        [&](const BoundaryChoice& choice) {
          fit(settings.soft_boundary.with_factor(choice.relative_lambda),
              sampler_at(machine.sampler(), choice));
        },
        function);
  } else {
    fit(settings.soft_boundary.is_automatic() ? SoftBoundary::hard() : settings.soft_boundary,
        machine.sampler());
  }

  const std::vector<PointIndex> support = found->support();
  auto kept = [&] {
    if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
      return Inputs(0, input_count(inputs));
    } else {
      return select_inputs(inputs, support);
    }
  }();
  ClassifierParts<Kernel, Inputs> parts{.kernel = machine.kernel(),
                                        .inputs = std::move(kept),
                                        .support = support,
                                        .coefficients = found->of_mean(support, Eigen::all),
                                        .classes = std::move(classes),
                                        .one_against_one = true,
                                        .bias = bias,
                                        .threads = settings.threads};
  const Eigen::Index pairs = parts.coefficients.cols();
  parts.draw_coefficients.resize(std::ssize(support), std::ssize(found->of_draw) * pairs);
  for (std::size_t n = 0; n < found->of_draw.size(); ++n) {
    parts.draw_coefficients.middleCols(static_cast<Eigen::Index>(n) * pairs, pairs) =
        found->of_draw[n](support, Eigen::all);
    parts.draw_numbers.push_back(n);
    parts.draw_weights.insert(parts.draw_weights.end(), found->weights[n].begin(),
                              found->weights[n].end());
  }
  parts.seed = settings.seed;
  if (chosen && chosen->slope > 0) {
    parts.slope = chosen->slope * chosen->slope_factor(labels.size(), found->report.draws);
    parts.offsets = chosen->offsets;
    parts.probability_rows = chosen->points;
  }
  if (chosen) {
    if (const auto warning = no_better_out_of_fold(*chosen)) parts.warnings.push_back(*warning);
  }
  warn_of_inputs(machine.kernel(), inputs, parts.warnings);
  parts.boundary = std::move(chosen);
  parts.report = std::move(found->report);
  parts.report.mistaken_points.clear();  // Of a draw of all classes there are none.
  parts.forecast = found->forecast;
  parts.training_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return Classifier<Kernel, Inputs>(std::move(parts));
}

}}}  // namespace bpm::detail
