// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/fitted_one_vs_rest.hpp"
#include "bpm/machine/labels.hpp"

namespace bpm {

/// Many classes by one machine a class against the rest; the largest decision value wins ("Large
/// Scale Bayes Point Machines", section 4). The classes share kernel values and, where the sampler
/// offers it, advance in step on one permutation a draw; the result equals class by class.
///
///     const bpm::OneVsRest machine(bpm::BayesPointMachine(bpm::Polynomial(5)));
///     const auto fitted = machine.fit(images, digits);
///     const std::vector<int> predicted = fitted.predict(others);
template <class Kernel, class Sampler = PermutedPerceptron>
class OneVsRest {
 public:
  explicit OneVsRest(BayesPointMachine<Kernel, Sampler> machine) : machine_(std::move(machine)) {}

  /// Fits to m inputs and their labels, two or more distinct integers. Arguments, cost and errors
  /// as in `BayesPointMachine::fit`; memory grows with the number of classes.
  template <InputSet I, Observer O = IgnoreProgress>
    requires std::same_as<Kernel, PrecomputedKernel> || KernelOn<Kernel, I>
  [[nodiscard]] FittedOneVsRest<Kernel, Sampler, owned_inputs_t<I>> fit(
      const I& inputs, std::span<const int> labels, O&& observer = {},
      std::stop_token stop = {}) const {
    const RunControl control = detail::run_control(machine_.settings(), observer, std::move(stop));
    return {machine_.kernel(), machine_.sampler(), machine_.settings(), inputs, labels, control};
  }

  /// What `fit` will take on these inputs with this many classes.
  /// \throws BudgetTooSmall as `fit` would.
  template <InputSet I>
  [[nodiscard]] MemoryForecast forecast(const I& inputs, std::size_t classes) const {
    return detail::forecast_memory(machine_.kernel(), machine_.sampler(), machine_.settings(),
                                   inputs, classes, "OneVsRest::forecast");
  }

  [[nodiscard]] const BayesPointMachine<Kernel, Sampler>& machine() const noexcept {
    return machine_;
  }

 private:
  BayesPointMachine<Kernel, Sampler> machine_;
};

}  // namespace bpm
