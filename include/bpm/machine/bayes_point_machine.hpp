// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "bpm/core/errors.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/classifier.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/input_encoding.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/strategy.hpp"
#include "bpm/machine/training.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"

namespace bpm { inline namespace BPM_TARGET {

struct ExpectationPropagation;

namespace detail {

/// Fits of machines with this sampler. Expectation propagation specialises it.
template <class Sampler>
struct Fitting {
  static_assert(!std::same_as<Sampler, ExpectationPropagation>,
                "expectation propagation has a machine of its own: include "
                "bpm/gaussian_process/expectation_propagation/machine.hpp");

  template <class Kernel, class I>
  using Fitted = Classifier<Kernel, training_inputs_t<Kernel, I>>;
  static constexpr bool makes_draws = true;

  /// Returns the object that has `memory_need`.
  [[nodiscard]] static const Sampler& demand(const Sampler& sampler) { return sampler; }

  template <class Machine, InputSet I, class O>
  [[nodiscard]] static auto fit(const Machine& machine, bool any_number, const I& inputs,
                                std::span<const int> labels, O& observer, StopToken stop,
                                std::string_view function, std::optional<Standardisation> scaling) {
    return start_training(machine, any_number, inputs, labels, observer, std::move(stop), function)
        .classifier(std::move(scaling));
  }
};

/// Calls use(inputs, standardisation) with the standardised inputs.
/// \throws std::invalid_argument unless they are dense rows of float or double.
template <class Kernel, class I, class Use>
[[nodiscard]] auto on_standardised(const I& inputs, std::string_view function, Use&& use) {
  if constexpr (ScalableInputs<I> && !std::same_as<Kernel, PrecomputedKernel>) {
    check_inputs(inputs, function);
    const Standardisation scaling = Standardisation::of(inputs);
    return use(scaling.apply(inputs), scaling);
  } else {
    fail(
        function, "standardise",
        "is true, must be false of inputs that are no dense rows of float or double: bytes, sparse "
        "rows, types of your own and kernel values are taken as they are");
    return use(inputs, Standardisation{});
  }
}

/// Checks that a training does not standardise. \throws std::invalid_argument.
inline void check_not_standardised(const FitSettings& settings, std::string_view function) {
  check(!settings.standardise, function, "standardise",
        "is true, must be false of a training: give it Standardisation::of(inputs).apply(inputs)");
}

template <class Boundary>
concept SomeBoundary =
    std::same_as<Boundary, AutomaticBoundary> || std::same_as<Boundary, SoftBoundary>;

/// Calls use(inputs, standardisation) with the inputs that a fit with these settings takes.
template <class Kernel, class I, class Use>
[[nodiscard]] auto on_inputs_of_fit(const FitSettings& settings, const I& inputs,
                                    std::string_view function, Use&& use) {
  if (settings.standardise) return on_standardised<Kernel>(inputs, function, use);
  return use(inputs, std::nullopt);
}

/// Fits a machine of two classes, or of any number, on standardised inputs if its settings request
/// them.
template <class Kernel, class Sampler, class Boundary, class I, class O>
[[nodiscard]] typename Fitting<Sampler>::template Fitted<Kernel, I> fit_machine(
    const BayesPointMachine<Kernel, Sampler, Boundary>& machine, bool any_number, const I& inputs,
    std::span<const int> labels, O& observer, StopToken stop, std::string_view function) {
  return on_inputs_of_fit<Kernel>(machine.settings(), inputs, function,
                                  [&](const auto& given, std::optional<Standardisation> scaling) {
                                    return Fitting<Sampler>::fit(machine, any_number, given, labels,
                                                                 observer, std::move(stop),
                                                                 function, std::move(scaling));
                                  });
}

}  // namespace detail

/// A Bayes point machine for two classes: the centre of mass of version space, approximated by the
/// mean of a sampler's draws ("Large Scale Bayes Point Machines", (4)).
///
/// Another kernel or sampler is another template argument:
///
///     #include <bpm/machine.hpp>
///
///     bpm::RowMatrix<float> inputs = ...;            // one input per row
///     std::vector<int> labels = ...;                 // any two integers
///     const bpm::BayesPointMachine machine(bpm::Gaussian::from_sigma(1.0));
///     const auto classifier = machine.fit(inputs, labels);
///     const std::vector<int> predicted = classifier.predict(others);
///
/// A user's own kernel is a callable on two inputs, of any type:
///
///     const auto prefix = [](const std::string& a, const std::string& b) {
///       const auto [end, other] = std::ranges::mismatch(a, b);
///       return double(end - a.begin());                // letters that both begin with
///     };
///     const auto words = bpm::BayesPointMachine(prefix).fit(std::vector<std::string>{...},
///     labels);
///
/// The soft boundary is the third: `AutomaticBoundary`, the default, finds it. A given one needs no
/// search, whose code is then not compiled either:
///
///     const bpm::BayesPointMachine machine(kernel, bpm::SoftBoundary::relative(0.1));
///
/// A fit does not change the machine.
template <class Kernel, class Sampler = PermutedPerceptron, class Boundary = AutomaticBoundary>
class BayesPointMachine {
  static_assert(detail::CanBeKernel<Kernel>,
                "a kernel needs double operator()(const Input&, const Input&) const, a function of "
                "two inputs of the training set; see bpm/kernels/kernel.hpp");
  static_assert(detail::HasTraits<Sampler> || std::same_as<Sampler, ExpectationPropagation>,
                "the second argument is a sampler, with the traits of bpm/samplers/sampler.hpp, or "
                "a soft boundary; settings are the third, after the sampler: "
                "BayesPointMachine(kernel, PermutedPerceptron{}, settings)");
  static_assert(detail::SomeBoundary<Boundary>, "a boundary is AutomaticBoundary or SoftBoundary");
  using Fitting = detail::Fitting<Sampler>;
  static constexpr bool searches = detail::BoundarySearch<Boundary>::searches;

 public:
  static constexpr bool any_number_of_classes = false;       ///< Fits exactly two classes.
  static constexpr bool one_against_one = false;             ///< `OneVsOne` fits pairs of classes.
  static constexpr bool makes_draws = Fitting::makes_draws;  ///< Whether fits make draws.

  /// Keeps kernel, sampler and settings; `fit` checks them.
  explicit BayesPointMachine(Kernel kernel, Sampler sampler = {}, FitSettings settings = {})
    requires(!detail::SomeBoundary<Sampler> && detail::BoundarySearch<Boundary>::searches)
      : kernel_(std::move(kernel)), sampler_(std::move(sampler)), settings_(std::move(settings)) {}

  /// Keeps a boundary too. A soft boundary takes the place of that of the settings.
  template <std::same_as<Boundary> B>
  BayesPointMachine(Kernel kernel, Sampler sampler, B boundary, FitSettings settings = {})
      : kernel_(std::move(kernel)),
        sampler_(std::move(sampler)),
        settings_(std::move(settings)),
        boundary_(std::move(boundary)) {
    if constexpr (!searches) settings_.soft_boundary = boundary_;
  }
  /// Keeps kernel, boundary and settings, with the sampler as it is by default.
  template <std::same_as<Boundary> B>
  BayesPointMachine(Kernel kernel, B boundary, FitSettings settings = {})
      : BayesPointMachine(std::move(kernel), Sampler{}, std::move(boundary), std::move(settings)) {}

  /// Fits to m inputs and their labels, two distinct integers; the larger is the positive class.
  ///
  /// `observer` receives the progress and may stop the fit, as may `stop`; a stopped fit returns
  /// the Bayes point of the finished draws, with `stopped` set in its report. Cost: kernel
  /// evaluations as the sampler needs them; memory as `forecast` returns it.
  /// \throws std::invalid_argument on empty inputs, sizes that disagree, numbers that are not
  ///         finite, labels that are not of two classes, settings out of range.
  /// \throws NotSeparable if no classifier without training error was found (names lambda).
  /// \throws BudgetTooSmall if `settings().memory` is below what is needed at least.
  /// \throws KernelValueError on kernel values that are not finite or near overflow.
  /// \throws Stopped if stopped before the first draw.
  template <class I, Observer O = detail::IgnoreProgress>
  [[nodiscard]] typename detail::Fitting<Sampler>::template Fitted<Kernel, I> fit(
      const I& inputs, detail::LabelList labels, O&& observer = {}, StopToken stop = {}) const;

  /// Returns a `Training`, which can make more draws; it refers to lvalue inputs and labels.
  /// \throws std::invalid_argument with `standardise`; as `fit`.
  template <class I, Observer O = detail::IgnoreProgress>
    requires makes_draws
  [[nodiscard]] auto train(I&& inputs, detail::LabelList labels, O&& observer = {},
                           StopToken stop = {}) const {
    detail::check_not_standardised(settings(), "BayesPointMachine::train");
    return detail::start_training(*this, false, std::forward<I>(inputs), std::move(labels),
                                  observer, std::move(stop), "BayesPointMachine::train");
  }

  /// Returns the memory and strategy that `fit` will take on these inputs.
  /// \throws BudgetTooSmall as `fit` would.
  template <InputSet I>
  [[nodiscard]] MemoryForecast forecast(const I& inputs) const {
    return detail::forecast_of(*this, inputs, 1, "BayesPointMachine::forecast");
  }

  /// The kernel.
  [[nodiscard]] const Kernel& kernel() const noexcept { return kernel_; }
  /// The sampler as given, not that of a fit.
  [[nodiscard]] const Sampler& sampler() const noexcept { return sampler_; }
  /// The settings.
  [[nodiscard]] const FitSettings& settings() const noexcept { return settings_; }
  /// The boundary, or the search for it.
  [[nodiscard]] const Boundary& boundary() const noexcept { return boundary_; }

 private:
  Kernel kernel_;
  Sampler sampler_;
  FitSettings settings_;
  Boundary boundary_{};
};

/// Deduces a machine with a boundary, and permuted perceptrons.
template <class Kernel, detail::SomeBoundary Boundary>
BayesPointMachine(Kernel, Boundary, FitSettings = {})
    -> BayesPointMachine<Kernel, PermutedPerceptron, Boundary>;
/// Deduces a machine with a sampler and a boundary.
template <class Kernel, class Sampler, detail::SomeBoundary Boundary>
BayesPointMachine(Kernel, Sampler, Boundary, FitSettings = {})
    -> BayesPointMachine<Kernel, Sampler, Boundary>;

/// Many classes by one binary subproblem per class, the class against the rest; the largest
/// decision value wins ("Large Scale Bayes Point Machines", section 4). The classes share kernel
/// values and, where the sampler supports it, advance in step on one permutation per draw; the
/// result is that of separate runs. Two classes are one subproblem, as in a `BayesPointMachine`.
/// `OneVsOne` fits pairs of classes instead.
///
///     const bpm::OneVsRest machine(bpm::BayesPointMachine(bpm::Polynomial(5)));
///     const auto classifier = machine.fit(images, digits);
///     const std::vector<int> predicted = classifier.predict(others);
template <class Kernel, class Sampler = PermutedPerceptron, class Boundary = AutomaticBoundary>
class OneVsRest {
  static_assert(!std::is_void_v<Sampler>, "OneVsRest is of a machine: BayesPointMachine(kernel)");

 public:
  static constexpr bool any_number_of_classes = true;  ///< Fits two classes or more.
  static constexpr bool one_against_one = false;       ///< `OneVsOne` fits pairs of classes.
  /// Whether fits make draws.
  static constexpr bool makes_draws = detail::Fitting<Sampler>::makes_draws;

  /// Fits every class against the rest with this machine.
  explicit OneVsRest(BayesPointMachine<Kernel, Sampler, Boundary> machine)
      : machine_(std::move(machine)) {}

  /// Fits to m inputs and their labels, two or more distinct integers. Arguments, cost and errors
  /// as in `BayesPointMachine::fit`; memory grows with the number of classes.
  template <class I, Observer O = detail::IgnoreProgress>
  [[nodiscard]] typename detail::Fitting<Sampler>::template Fitted<Kernel, I> fit(
      const I& inputs, detail::LabelList labels, O&& observer = {}, StopToken stop = {}) const;

  /// Returns a `Training`, which can make more draws; it refers to lvalue inputs and labels.
  /// \throws std::invalid_argument with `standardise`; as `fit`.
  template <class I, Observer O = detail::IgnoreProgress>
    requires makes_draws
  [[nodiscard]] auto train(I&& inputs, detail::LabelList labels, O&& observer = {},
                           StopToken stop = {}) const {
    detail::check_not_standardised(settings(), "OneVsRest::train");
    return detail::start_training(machine_, true, std::forward<I>(inputs), std::move(labels),
                                  observer, std::move(stop), "OneVsRest::train");
  }

  /// Returns the memory and strategy that `fit` will take on these inputs with this many classes.
  /// \throws BudgetTooSmall as `fit` would.
  template <InputSet I>
  [[nodiscard]] MemoryForecast forecast(const I& inputs, std::size_t classes) const {
    return detail::forecast_of(machine_, inputs, detail::subproblem_count(classes),
                               "OneVsRest::forecast");
  }

  /// The machine that fits each class against the rest.
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
OneVsRest(Other) -> OneVsRest<Other, void>;

// Not inline, so that they are not compiled again where bpm::compiled has them.

template <class Kernel, class Sampler, class Boundary>
template <class I, Observer O>
typename detail::Fitting<Sampler>::template Fitted<Kernel, I>
BayesPointMachine<Kernel, Sampler, Boundary>::fit(const I& inputs, detail::LabelList labels,
                                                  O&& observer, StopToken stop) const {
  return detail::fit_machine(*this, false, inputs, labels.list(), observer, std::move(stop),
                             "BayesPointMachine::fit");
}

template <class Kernel, class Sampler, class Boundary>
template <class I, Observer O>
typename detail::Fitting<Sampler>::template Fitted<Kernel, I>
OneVsRest<Kernel, Sampler, Boundary>::fit(const I& inputs, detail::LabelList labels, O&& observer,
                                          StopToken stop) const {
  return detail::fit_machine(machine_, true, inputs, labels.list(), observer, std::move(stop),
                             "OneVsRest::fit");
}

}}  // namespace bpm
