// SPDX-License-Identifier: MIT
#pragma once

#include <limits>
#include <span>
#include <string>

#include "bpm/bounds/vote_bound.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/gaussian_process/expectation_propagation/expectation_propagation.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernel_values/dense_gram.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/version_space/kernel_version_space.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// What a kernel is worth on a training set, by figures that need no other data.
struct KernelScore {
  KernelScore() = default;  ///< Of no kernel: the worst.
  /// Scores a kernel on inputs and signs (+1, -1). Kernels under which expectation propagation
  /// fails, as a search meets them, get the worst score and say why; bad arguments throw. Cost: the
  /// kernel matrix, its factor and the sweeps of expectation propagation. \throws as
  /// `OnDemandGram`, `KernelVersionSpace` and `ExpectationPropagation::check_settings`.
  template <class Kernel, InputSet I>
    requires detail::KernelOn<Kernel, I>
  KernelScore(const Kernel& kernel, const I& inputs, std::span<const signed char> signs,
              const ExpectationPropagation& settings = {}, unsigned threads = 0) {
    detail::check_inputs(inputs, "KernelScore");
    settings.check_settings();
    const detail::OnDemandGram<Kernel, I> values(kernel, inputs);
    const detail::DenseGram<detail::kernel_scalar_t<I>> gram(values, threads);
    const KernelVersionSpace<detail::kernel_scalar_t<I>> space(gram, {signs.begin(), signs.end()});
    try {
      const EpPosterior posterior = expectation_propagation(space, settings);
      const EpPosterior::LeaveOneOut left_out = posterior.leave_one_out();
      log_evidence = posterior.log_evidence;
      gibbs_error = left_out.gibbs_error;
      bayes_error = left_out.bayes_error;
      agreement = left_out.agreement;
      if (agreement > 0) c_bound = CBound(gibbs_error, agreement).value();
    } catch (const NotConverged& error) {
      failure = error.what();
    } catch (const NotSeparable& error) {
      failure = error.what();
    }
  }

  /// log P(labels) of the Gaussian process, by expectation propagation: the evidence. -infinity
  /// where the kernel failed.
  double log_evidence = -std::numeric_limits<double>::infinity();
  /// The C-bound 1 - (1 - 2 e)^2 / alpha of the posterior's leave-one-out Gibbs error e and
  /// agreement alpha; 1 where it says nothing. The third suggestion of "Kernel interpolation as a
  /// Bayes point machine": choose by what bounds the majority, not by the evidence, which bounds
  /// the mean voter. An estimate, no certificate: the leave-one-out rates are of the training set.
  double c_bound = 1;
  double gibbs_error = 0.5;  ///< Leave-one-out.
  double bayes_error = 1;    ///< Leave-one-out: of the Bayes classifier.
  double agreement = 0;      ///< Leave-one-out.
  std::string failure;       ///< Why the kernel has no score; empty if it has.
};

}}  // namespace bpm
