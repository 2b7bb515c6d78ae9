// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
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
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/classifier.hpp"
#include "bpm/machine/classifier_parts.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/fit_warnings.hpp"
#include "bpm/machine/input_encoding.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/run_sampler.hpp"
#include "bpm/machine/strategy.hpp"
#include "bpm/machine/train.hpp"
#include "bpm/machine/training.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/soft_boundary.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// Whether a sampler can fit machines of pairs of classes: by draws, in one process.
template <class Sampler>
inline constexpr bool fits_pairs = requires { requires !Sampler::traits.collective; };

/// Checks that machines of pairs of classes can share the boundary. \throws std::invalid_argument.
inline void check_boundary_of_pairs(const SoftBoundary& boundary, std::string_view function) {
  check(boundary.works_on_subsets(), function, "soft_boundary",
        "must be one for any points with pairs of classes: automatic, or a lambda that is the same "
        "for all, relative or per class");
}

}  // namespace detail

/// Many classes by one machine for each of the C (C - 1) / 2 pairs of classes: the decision value
/// of a class is the mean of tanh(f / u) over its pairs, f the machine's decision value, positive
/// for the class, and u its mean at the machine's own support, weighted by the size of coefficients
/// (`output_unit`), so that far from a pair no machine outweighs another. It suits classes that lie
/// inside others, where no border against all others does; `choose` tries it for machines of
/// `OneVsRest`. Two classes are one pair, as in a `BayesPointMachine`.
///
/// Its classifiers have no norms, margins, training errors and warnings from them, which belong to
/// one border. All pairs have one lambda, or label noise, chosen by their joint outputs at points
/// left out, from which probabilities come at every size. Cost: fits to 2 m / C points on average,
/// one after the other, and predictions of C (C - 1) / 2 columns; each pair has its own strategy
/// within `FitSettings::memory`, beside a copy of its inputs.
template <class Kernel, class Sampler = PermutedPerceptron, class Boundary = AutomaticBoundary>
class OneVsOne {
  static_assert(!std::is_void_v<Sampler>, "OneVsOne is of a machine: BayesPointMachine(kernel)");
  static_assert(detail::fits_pairs<Sampler>,
                "pairs of classes are fitted by draws, in one process");

 public:
  static constexpr bool any_number_of_classes = true;  ///< Fits two classes or more.
  static constexpr bool one_against_one = true;        ///< Fits pairs of classes.
  static constexpr bool makes_draws = true;            ///< Its fits make draws.

  /// Fits every pair of classes with this machine.
  explicit OneVsOne(BayesPointMachine<Kernel, Sampler, Boundary> machine)
      : machine_(std::move(machine)) {}

  /// Fits to m inputs and their labels, two or more distinct integers. Arguments and errors as in
  /// `BayesPointMachine::fit`; errors of a pair name its classes. \throws std::invalid_argument on
  /// class weights, or lambdas by point; Stopped if stopped before every pair has a draw.
  template <class I, Observer O = detail::IgnoreProgress>
  [[nodiscard]] Classifier<Kernel, detail::training_inputs_t<Kernel, I>> fit(
      const I& inputs, detail::LabelList labels, O&& observer = {}, StopToken stop = {}) const;

  /// Returns the memory that `fit` needs on these inputs with this many classes; each pair chooses
  /// its own strategy. \throws BudgetTooSmall as `fit` would.
  template <InputSet I>
  [[nodiscard]] MemoryForecast forecast(const I& inputs, std::size_t classes) const {
    return detail::forecast_of(machine_, inputs, detail::subproblem_count(classes),
                               "OneVsOne::forecast", classes > 2 ? detail::pair_count(classes) : 0);
  }

  /// The machine that fits each pair of classes.
  [[nodiscard]] const BayesPointMachine<Kernel, Sampler, Boundary>& machine() const noexcept {
    return machine_;
  }
  /// The machine's kernel.
  [[nodiscard]] const Kernel& kernel() const noexcept { return machine_.kernel(); }
  /// The machine's sampler.
  [[nodiscard]] const Sampler& sampler() const noexcept { return machine_.sampler(); }
  /// The machine's settings.
  [[nodiscard]] const FitSettings& settings() const noexcept { return machine_.settings(); }
  /// The machine's boundary, or the search for it.
  [[nodiscard]] const Boundary& boundary() const noexcept { return machine_.boundary(); }

 private:
  BayesPointMachine<Kernel, Sampler, Boundary> machine_;
};

/// Says that what is given is no machine.
template <class Other>
  requires(!requires(const Other& it) { it.sampler(); })
OneVsOne(Other) -> OneVsOne<Other, void>;

namespace detail {

/// Kernel values on some of the points of a training set, and what is known of these points.
template <class T>
struct PartValues {
  MemoryQuestion question;
  std::vector<std::vector<PointIndex>> equal;  ///< Groups of equal inputs.
  std::function<std::unique_ptr<Gram<T>>(Strategy)> gram;
};

/// Fits the machines of all pairs, one after the other; returns their means, in units of
/// `output_unit`, and adds their reports. A boundary that was `chosen` is softened until every pair
/// has a classifier. If a clock or an accuracy ends the sampler's draws, the first pair determines
/// their number for all. \throws NotSeparable in the name of a pair's classes; as `train`.
template <class T, class Sampler>
[[nodiscard]] std::vector<DrawMean> fit_each_pair(
    const Sampler& given, FitSettings settings, std::optional<BoundaryChoice>& chosen,
    const std::function<PartValues<T>(std::span<const PointIndex>)>& values_on,
    std::span<const int> labels, const std::vector<int>& classes, const RunControl& control,
    std::string_view function, SamplerReport& report) {
  const SoftBoundary boundary = settings.soft_boundary;
  if (!chosen && boundary.is_automatic()) settings.soft_boundary = SoftBoundary::hard();
  const auto points_of = points_of_pairs(classes, labels);
  std::vector<DrawMean> means;
  Sampler sampler = given;
  std::string why;
  const auto fit_pair = [&](std::size_t number, std::size_t a, std::size_t b) {
    if (!why.empty()) return;
    const std::string of_pair = join(function, " of the classes ", classes[a], " and ", classes[b],
                                     ", whose points alone are counted");
    const std::vector<PointIndex>& points = points_of[number];
    RunControl watched = control;
    watched.observer = [&](const Progress& now) {
      return control.observer(now.of_part(number, points_of.size()));
    };
    const PartValues<T> values = values_on(points);

    Sampler draws = sampler;
    if constexpr (sees_cones<Sampler>) {
      if (number > 0) draws = sampler.with_draws(report.draws);
    }
    DrawFit<Sampler> fit(draws, settings, labels_at(labels, points), {classes[a], classes[b]},
                         forecast_memory(values.question, draws, settings, of_pair));
    try {
      auto gram = values.gram(fit.forecast.strategy);
      why = train(gram, values.equal, fit, watched, of_pair);
      if (!why.empty()) {
        why.insert(0, of_pair + ": ");
        return;
      }
      const DrawMean& mean = fit.state.means[0];
      means.push_back(
          mean.on_points(points, std::ssize(labels), output_unit(*gram, fit.problems, mean)));
    } catch (const KernelValueError& error) {
      throw KernelValueError(join(of_pair, ": ", error.what()));
    }
    const std::uint64_t fewest =
        number == 0 ? fit.state.report.draws : std::min(report.draws, fit.state.report.draws);
    report.merge(fit.state.report);
    report.draws = fewest;
  };
  for (;;) {
    if (chosen) {
      settings.soft_boundary = boundary.with_factor(chosen->relative_lambda);
      sampler = sampler_at(given, *chosen);
    }
    means.clear();
    report = {.converged = true};
    why.clear();
    for_each_pair(classes.size(), fit_pair);
    if (why.empty()) return means;
    if (!chosen || chosen->raised >= most_raises) throw NotSeparable(why);
    raise_boundary(*chosen, Sampler::traits.takes_label_noise && !boundary.has_class_weights());
  }
}

/// Fits three classes or more by machines of pairs of classes. `scaling`: of inputs that have been
/// standardised. \throws as `OneVsOne::fit`.
template <class Kernel, class Sampler, class Boundary, InputSet I, class O>
[[nodiscard]] Classifier<Kernel, owned_inputs_t<I>> fit_pairs(
    const BayesPointMachine<Kernel, Sampler, Boundary>& machine, const I& inputs,
    std::span<const int> labels, const std::vector<int>& classes, O& observer,
    const StopToken& stop, std::string_view function, std::optional<Standardisation> scaling) {
  const auto start = std::chrono::steady_clock::now();
  const FitSettings& settings = machine.settings();
  machine.sampler().check_settings();
  check_inputs(inputs, function);
  check_boundary_of_pairs(settings.soft_boundary, function);
  if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
    static_cast<void>(make_gram(machine.kernel(), inputs));  // Checks the matrix.
  }
  const MemoryForecast forecast =
      forecast_of(machine, inputs, classes.size(), function, pair_count(classes.size()));
  const double bias = absolute_bias(machine.kernel(), settings, inputs, function);
  const auto kernel = with_bias(machine.kernel(), bias);
  const RunControl control = run_control(settings, observer, stop);
  std::optional<BoundaryChoice> chosen =
      chosen_boundary(machine, kernel, inputs, classes, labels, control, function, true);
  const auto values_on = [&](std::span<const PointIndex> points) {
    const auto part = std::make_shared<const owned_inputs_t<I>>([&]() -> owned_inputs_t<I> {
      if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
        return inputs(points, points);
      } else {
        return select_inputs(inputs, points);
      }
    }());
    return PartValues<kernel_scalar_t<I>>{
        question_of(kernel, *part), equal_groups<Kernel>(*part, input_hashes(*part)),
        [part, &kernel](Strategy strategy) { return make_gram(kernel, *part, strategy); }};
  };
  SamplerReport report;
  const auto means = fit_each_pair<kernel_scalar_t<I>>(
      machine.sampler(), settings, chosen, values_on, labels, classes, control, function, report);
  auto parts = parts_of_means(machine.kernel(), inputs, classes, means);
  parts.one_against_one = true;
  parts.bias = bias;
  parts.threads = settings.threads;
  parts.standardisation = std::move(scaling);
  if (chosen) {
    parts.slope = chosen->slope * chosen->slope_factor(labels.size(), report.draws);
    if (parts.slope > 0) {
      parts.offsets = chosen->offsets;
      parts.probability_rows = chosen->points;
    }
  }
  std::vector<FitWarning> warnings;
  if (chosen) {
    if (const auto warning = no_better_out_of_fold(*chosen)) warnings.push_back(*warning);
  }
  report.mistaken_points.clear();  // Not defined for pairs.
  Notes notes = notes_of_fit(settings, parts, inputs, std::move(chosen), forecast,
                             std::move(report), std::move(warnings), seconds_since(start));
  return Classifier<Kernel, owned_inputs_t<I>>(std::move(parts), std::move(notes));
}

}  // namespace detail

template <class Kernel, class Sampler, class Boundary>
template <class I, Observer O>
Classifier<Kernel, detail::training_inputs_t<Kernel, I>> OneVsOne<Kernel, Sampler, Boundary>::fit(
    const I& inputs, detail::LabelList given_labels, O&& observer, StopToken stop) const {
  const std::span<const int> labels = given_labels.list();
  const char* const f = "OneVsOne::fit";
  const std::vector<int> classes = detail::check_labels(detail::input_count(inputs), labels, f);
  if (classes.size() == 2) {
    return detail::fit_machine(machine_, true, inputs, labels, observer, std::move(stop), f);
  }
  return detail::on_inputs_of_fit<Kernel>(
      settings(), inputs, f, [&](const auto& given, std::optional<Standardisation> scaling) {
        return detail::fit_pairs(machine_, given, labels, classes, observer, stop, f,
                                 std::move(scaling));
      });
}

namespace detail {

/// Checks that a machine makes draws in one process, as folds and choices require.
template <class Machine>
constexpr void require_draws() {
  static_assert(Machine::makes_draws,
                "folds are for machines that sample: expectation propagation chooses by its "
                "evidence, by itself (SoftBoundary::automatic), and has leave_one_out");
  if constexpr (Machine::makes_draws) {
    using Sampler = std::remove_cvref_t<decltype(std::declval<Machine>().sampler())>;
    static_assert(!Sampler::traits.collective,
                  "folds and choices are made by one process: give them a machine with a "
                  "PermutedPerceptron, on every rank alike");
  }
}

/// Returns the machine with another kernel and these settings.
template <class Machine, class Kernel>
[[nodiscard]] Machine with_settings(const Machine& machine, const Kernel& kernel,
                                    FitSettings settings) {
  auto boundary = machine.boundary();
  if constexpr (std::same_as<decltype(boundary), SoftBoundary>) boundary = settings.soft_boundary;
  return Machine(
      BayesPointMachine(kernel, machine.sampler(), std::move(boundary), std::move(settings)));
}

}  // namespace detail

}}  // namespace bpm
