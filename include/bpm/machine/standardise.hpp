// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <type_traits>
#include <utility>

#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/machine/choose.hpp"
#include "bpm/machine/cross_validate.hpp"
#include "bpm/machine/input_encoding.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// A machine whose inputs are standardised by mean and deviation of the training set; its
/// classifiers do the same to what they are asked (`ClassifierParts::standardisation`).
///
///     const auto classifier = bpm::Standardise(bpm::BayesPointMachine(kernel)).fit(inputs,
///     labels);
///
/// For dense rows of float or double.
template <class Machine>
class Standardise {
 public:
  explicit Standardise(Machine machine) : machine_(std::move(machine)) {}

  /// As the machine's. Memory: a copy of the inputs.
  template <InputSet I, Observer O = detail::IgnoreProgress>
  [[nodiscard]] auto fit(const I& inputs, std::span<const int> labels, O&& observer = {},
                         StopToken stop = {}) const {
    const Standardisation scaling = of(inputs);
    return machine_.fit(scaling.apply(inputs), labels, observer, std::move(stop))
        .with_standardisation(scaling);
  }

  /// As the machine's; the copy of the inputs is beside it.
  template <InputSet I, class... Classes>
  [[nodiscard]] MemoryForecast forecast(const I& inputs, Classes... classes) const {
    return machine_.forecast(inputs, classes...);
  }

  [[nodiscard]] const Machine& machine() const noexcept { return machine_; }

  /// Mean and deviation of these inputs; compiles for those that can be scaled.
  template <class I>
  [[nodiscard]] static Standardisation of(const I& inputs) {
    static_assert(
        detail::ScalableInputs<I>,
        "Standardise is for dense rows of float or double: bytes, sparse rows and types of "
        "your own are taken as they are, by the machine itself");
    return Standardisation::of(inputs);
  }

 private:
  Machine machine_;
};

/// `choose` on the standardised inputs.
template <class Machine, class Kernel, class I, Observer O = detail::IgnoreProgress>
[[nodiscard]] Choice<Standardise<Machine>> choose(const Standardise<Machine>& machine,
                                                  const ChoiceGrid<Kernel>& grid, const I& inputs,
                                                  std::span<const int> labels, O&& observer = {},
                                                  StopToken stop = {}) {
  auto choice = choose(machine.machine(), grid, machine.of(inputs).apply(inputs), labels,
                       std::forward<O>(observer), std::move(stop));
  return {Standardise(std::move(choice.machine)),
          std::move(choice.candidates),
          choice.best,
          choice.selection_score,
          choice.always_train,
          std::move(choice.boundary)};
}
template <class Machine, class I, Observer O = detail::IgnoreProgress>
[[nodiscard]] Choice<Standardise<Machine>> choose(const Standardise<Machine>& machine,
                                                  const I& inputs, std::span<const int> labels,
                                                  O&& observer = {}, StopToken stop = {}) {
  auto choice = choose(machine.machine(), machine.of(inputs).apply(inputs), labels,
                       std::forward<O>(observer), std::move(stop));
  return {Standardise(std::move(choice.machine)),
          std::move(choice.candidates),
          choice.best,
          choice.selection_score,
          choice.always_train,
          std::move(choice.boundary)};
}

/// `cross_validate` on inputs standardised once, by all of them.
template <class Machine, class I, Observer O = detail::IgnoreProgress>
[[nodiscard]] OutOfFold cross_validate(const Standardise<Machine>& machine, const I& inputs,
                                       std::span<const int> labels, std::size_t folds = 5,
                                       O&& observer = {}, StopToken stop = {}) {
  return cross_validate(machine.machine(), machine.of(inputs).apply(inputs), labels, folds,
                        std::forward<O>(observer), std::move(stop));
}

}}  // namespace bpm
