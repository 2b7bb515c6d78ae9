// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <type_traits>
#include <utility>

#include "bpm/core/stop_token.hpp"
#include "bpm/core/target.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/classifier.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/strategy.hpp"
#include "bpm/machine/training.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// Many classes by one binary subproblem per class, it against the rest; the largest decision value
/// wins ("Large Scale Bayes Point Machines", section 4). The classes share kernel values and, where
/// the sampler offers it, advance in step on one permutation per draw; the result equals class by
/// class. Two classes are one subproblem, as of a `BayesPointMachine`.
///
///     const bpm::OneVsRest machine(bpm::BayesPointMachine(bpm::Polynomial(5)));
///     const auto classifier = machine.fit(images, digits);
///     const std::vector<int> predicted = classifier.predict(others);
template <class Kernel, class Sampler = PermutedPerceptron>
class OneVsRest {
 public:
  explicit OneVsRest(BayesPointMachine<Kernel, Sampler> machine) : machine_(std::move(machine)) {}

  /// Fits to m inputs and their labels, two or more distinct integers. Arguments, cost and errors
  /// as in `BayesPointMachine::fit`; memory grows with the number of classes.
  template <InputSet I, Observer O = detail::IgnoreProgress>
    requires detail::TrainableOn<Kernel, I>
  [[nodiscard]] Classifier<Kernel, detail::owned_inputs_t<I>> fit(const I& inputs,
                                                                  std::span<const int> labels,
                                                                  O&& observer = {},
                                                                  StopToken stop = {}) const {
    return detail::start_training(machine_, true, inputs, labels, observer, std::move(stop),
                                  "OneVsRest::fit")
        .classifier();
  }

  /// The same, and can go on: see `Training`. Inputs and labels that are lvalues are referred to.
  template <class I, Observer O = detail::IgnoreProgress>
    requires detail::TrainableOn<Kernel, std::remove_cvref_t<I>>
  [[nodiscard]] auto train(I&& inputs, detail::LabelList labels, O&& observer = {},
                           StopToken stop = {}) const {
    return detail::start_training(machine_, true, std::forward<I>(inputs), std::move(labels),
                                  observer, std::move(stop), "OneVsRest::train");
  }

  /// What `fit` will take on these inputs with this many classes.
  /// \throws BudgetTooSmall as `fit` would.
  template <InputSet I>
  [[nodiscard]] MemoryForecast forecast(const I& inputs, std::size_t classes) const {
    return detail::forecast_memory(machine_.kernel(), machine_.sampler(), machine_.settings(),
                                   inputs, detail::subproblem_count(classes),
                                   "OneVsRest::forecast");
  }

  [[nodiscard]] const BayesPointMachine<Kernel, Sampler>& machine() const noexcept {
    return machine_;
  }

 private:
  BayesPointMachine<Kernel, Sampler> machine_;
};

}}  // namespace bpm
