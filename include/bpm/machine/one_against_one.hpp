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
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/classifier.hpp"
#include "bpm/machine/classifier_parts.hpp"
#include "bpm/machine/draw_mean.hpp"
#include "bpm/machine/fingerprint.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/fit_warnings.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/make_gram.hpp"
#include "bpm/machine/run_sampler.hpp"
#include "bpm/machine/strategy.hpp"
#include "bpm/machine/train.hpp"
#include "bpm/machine/training.hpp"
#include "bpm/samplers/sampler.hpp"

/// \file
/// Many classes by a machine for each pair of them: see `OneVsRest`.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

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

/// The machine of a pair of classes.
struct PairMachine {
  std::vector<PointIndex> points;      ///< Training set indices of the pair's points.
  std::vector<double> coefficients{};  ///< Coefficients of `points`, in units of `output_unit`.
  std::vector<KeptDraw> draws{};       ///< Kept draws in units of `output_unit`, indexing `points`.
};

/// The machines of all pairs.
struct PairMachines {
  std::vector<PairMachine> all{};
  SamplerReport report{.converged = true};

  /// Returns the points with a coefficient, ascending, among so many.
  [[nodiscard]] std::vector<PointIndex> support(std::ptrdiff_t points) const {
    std::vector<bool> has(static_cast<std::size_t>(points));
    for (const PairMachine& pair : all) {
      for (std::size_t k = 0; k < pair.points.size(); ++k) {
        if (pair.coefficients[k] != 0) has[pair.points[k]] = true;
      }
      for (const KeptDraw& draw : pair.draws) {
        for (const PointIndex s : draw.support) has[pair.points[s]] = true;
      }
    }
    std::vector<PointIndex> result;
    for (PointIndex i = 0; i < points; ++i) {
      if (has[i]) result.push_back(i);
    }
    return result;
  }

  /// Writes coefficients and draws to `parts`, whose support and inputs are set.
  template <class Parts>
  void put(std::ptrdiff_t points, Parts& parts) const {
    const auto pairs = std::ssize(all);
    std::size_t kept = all[0].draws.size();
    for (const PairMachine& pair : all) kept = std::min(kept, pair.draws.size());
    std::vector<Eigen::Index> row(static_cast<std::size_t>(points));
    for (std::size_t s = 0; s < parts.support.size(); ++s) {
      row[parts.support[s]] = static_cast<Eigen::Index>(s);
    }
    parts.coefficients.setZero(std::ssize(parts.support), pairs);
    parts.draw_coefficients.setZero(std::ssize(parts.support),
                                    static_cast<Eigen::Index>(kept) * pairs);
    for (Eigen::Index p = 0; p < pairs; ++p) {
      const PairMachine& pair = all[static_cast<std::size_t>(p)];
      for (std::size_t k = 0; k < pair.points.size(); ++k) {
        if (pair.coefficients[k] == 0) continue;
        parts.coefficients(row[pair.points[k]], p) = pair.coefficients[k];
      }
    }
    for (std::size_t n = 0; n < kept; ++n) {
      parts.draw_numbers.push_back(n);
      for (Eigen::Index p = 0; p < pairs; ++p) {
        const PairMachine& pair = all[static_cast<std::size_t>(p)];
        const KeptDraw& draw = pair.draws[n];
        parts.draw_weights.push_back(draw.weight);
        for (std::size_t s = 0; s < draw.support.size(); ++s) {
          parts.draw_coefficients(row[pair.points[draw.support[s]]],
                                  static_cast<Eigen::Index>(n) * pairs + p) = draw.coefficients[s];
        }
      }
    }
  }
};

/// Fits the machines of all pairs, one after the other, with this boundary. If a clock or an
/// accuracy ends the sampler's draws, the first pair determines their number for all. Returns, in
/// the name of a pair's classes, why it has no classifier without training error; empty if all
/// have one. \throws as `train`.
template <class Kernel, class Sampler, InputSet I, class O>
[[nodiscard]] std::string fit_each_pair(const Kernel& kernel, const Sampler& sampler,
                                        FitSettings settings, const I& inputs,
                                        std::span<const int> labels,
                                        const std::vector<int>& classes, O& observer,
                                        const StopToken& stop, std::string_view function,
                                        PairMachines& result) {
  auto points = points_of_pairs(classes, labels);
  std::string why;
  result = {};
  settings.one_against_one = false;
  for_each_pair(classes.size(), [&](std::size_t number, std::size_t a, std::size_t b) {
    if (!why.empty()) return;
    const std::string of_pair = join(function, " of the classes ", classes[a], " and ", classes[b],
                                     ", whose points alone are counted");
    const auto watch = [&](const Progress& now) {
      return notify(observer, now.of_part(number, points.size()));
    };
    PairMachine pair{.points = std::move(points[number])};
    const auto of_points = [&] {
      if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
        return owned_inputs_t<I>(inputs(pair.points, pair.points));
      } else {
        return select_inputs(inputs, pair.points);
      }
    }();
    const std::vector<int> labels_of_pair = labels_at(labels, pair.points);
    const auto draws = [&] {
      if constexpr (sees_cones<Sampler>) {
        if (number > 0) return sampler.with_draws(result.report.draws);
      }
      return sampler;
    }();
    DrawFit<Sampler> fit(draws, settings, labels_of_pair, {classes[a], classes[b]},
                         forecast_memory(kernel, draws, settings, of_points, 1, of_pair));
    double unit = 1;
    try {
      auto gram = make_gram(kernel, of_points, fit.forecast.strategy);
      why = train(gram, equal_groups_of<Kernel>(of_points, input_hashes(of_points)), fit,
                  run_control(settings, watch, stop), of_pair);
      if (!why.empty()) {
        why = join(of_pair, ": ", why);
        return;
      }
      unit = output_unit(*gram, fit.problems, fit.state.means[0]);
    } catch (const KernelValueError& error) {
      throw KernelValueError(join(of_pair, ": ", error.what()));
    }
    const DrawMean& mean = fit.state.means[0];
    for (std::ptrdiff_t i = 0; i < std::ssize(pair.points); ++i) {
      pair.coefficients.push_back(mean.coefficient(i) / unit);
    }
    pair.draws = mean.kept();
    for (KeptDraw& draw : pair.draws) {
      for (double& alpha : draw.coefficients) alpha /= unit;
    }
    result.all.push_back(std::move(pair));
    const SamplerReport& report = fit.state.report;
    const std::uint64_t fewest =
        number == 0 ? report.draws : std::min(result.report.draws, report.draws);
    result.report.merge(report);
    result.report.draws = fewest;
  });
  return why;
}

/// Fits three classes or more by machines of pairs of classes: see `OneVsRest`. All pairs have one
/// lambda, or label noise, chosen by their joint outputs at points left out.
/// \throws std::invalid_argument as `check_pairs`; Stopped before every pair has a draw; as
///         `OneVsRest::fit`.
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
  check_pairs<Sampler>(settings, classes.size(), function);
  if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
    const RowMatrix<typename I::Scalar>& whole = inputs;
    const PrecomputedGram<typename I::Scalar> checked(whole);  // Checks the matrix.
  }
  const MemoryForecast forecast = forecast_of(machine, inputs, classes.size(), function);
  const double bias = absolute_bias(machine.kernel(), settings, inputs, function);
  const auto kernel = with_bias(machine.kernel(), bias);
  std::optional<BoundaryChoice> chosen = chosen_boundary(
      machine, kernel, inputs, classes, labels, run_control(settings, observer, stop), function);
  PairMachines found;
  for (;;) {
    FitSettings given = settings;
    Sampler sampler = machine.sampler();
    if (chosen) {
      given.soft_boundary = given.soft_boundary.with_factor(chosen->relative_lambda);
      sampler = sampler_at(sampler, *chosen);
    } else if (given.soft_boundary.is_automatic()) {
      given.soft_boundary = SoftBoundary::hard();
    }
    const std::string why = fit_each_pair(kernel, sampler, std::move(given), inputs, labels,
                                          classes, observer, stop, function, found);
    if (why.empty()) break;
    if (!chosen || chosen->raised >= most_raises) throw NotSeparable(why);
    raise_boundary(
        *chosen, Sampler::traits.takes_label_noise && !settings.soft_boundary.has_class_weights());
  }

  std::vector<PointIndex> support = found.support(input_count(inputs));
  auto kept = [&] {
    if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
      return Inputs(0, input_count(inputs));
    } else {
      return select_inputs(inputs, support);
    }
  }();
  ClassifierParts<Kernel, Inputs> parts{.kernel = machine.kernel(),
                                        .inputs = std::move(kept),
                                        .support = std::move(support),
                                        .coefficients = {},
                                        .classes = std::move(classes),
                                        .mean_diagonal = mean_diagonal_of<Kernel>(inputs),
                                        .origin = origin_of(machine.kernel(), inputs),
                                        .one_against_one = true,
                                        .bias = bias,
                                        .threads = settings.threads};
  found.put(input_count(inputs), parts);
  Notes notes;
  notes.seed = settings.seed;
  notes.chosen = settings.chosen;
  if (chosen && chosen->slope > 0) {
    parts.slope = chosen->slope * chosen->slope_factor(labels.size(), found.report.draws);
    parts.offsets = chosen->offsets;
    parts.probability_rows = chosen->points;
  }
  if (chosen) {
    if (const auto warning = no_better_out_of_fold(*chosen)) notes.warnings.push_back(*warning);
  }
  warn_of_inputs(machine.kernel(), inputs, parts.origin, notes.warnings);
  notes.boundary = std::move(chosen);
  notes.report = std::move(found.report);
  warn_of_chains(notes.report, notes.warnings);
  notes.report.mistaken_points.clear();  // Not defined for pairs.
  notes.forecast = forecast;
  notes.training_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return Classifier<Kernel, Inputs>(std::move(parts), std::move(notes));
}

}}}  // namespace bpm::detail
