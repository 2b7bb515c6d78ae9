// SPDX-License-Identifier: MIT
// The classifiers: the one place where the library's templates are instantiated.
#include "classifiers.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "common/svm.hpp"

namespace bpm_examples {

namespace {

/// Passes that a perceptron may take: some tenths of a second on these sets.
constexpr std::uint64_t most_passes = 50'000;

double error_percent(const Eigen::VectorXd& outputs, const std::vector<int>& labels) {
  std::size_t errors = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const int predicted = outputs[static_cast<Eigen::Index>(i)] > 0 ? 1 : -1;
    errors += predicted != labels[i] ? 1U : 0U;
  }
  return 100.0 * static_cast<double>(errors) / static_cast<double>(labels.size());
}

/// The Bayes point by a sampler; nothing where it finds no version space.
template <class Sampler>
std::optional<double> bayes_point_error(const KernelSplit& split, const Sampler& sampler,
                                        const ComparisonSettings& settings,
                                        SplitOutcome* chains = nullptr) {
  const bpm::BayesPointMachine machine(
      bpm::PrecomputedKernel{}, sampler,
      {.soft_boundary = bpm::SoftBoundary::uniform(settings.lambda),
       .seed = settings.seed,
       .threads = 1});
  try {
    const auto fitted = machine.fit(split.train, split.train_labels);
    if (chains != nullptr) {
      chains->standard_error = fitted.report().chains->standard_error;
      chains->bounces = fitted.report().chains->steps;
    }
    return error_percent(fitted.decision_values(split.test), split.test_labels);
  } catch (const bpm::NotSeparable&) {
    return std::nullopt;
  }
}

SvmOutcome svm_outcome(const SvmClassifier& fitted, const KernelSplit& split) {
  return {error_percent(fitted.decision_values(split.test), split.test_labels),
          fitted.training_errors};
}

/// Draws are where the run may end; the centre is that of the whole path.
bpm::Billiard make_billiard(const ComparisonSettings& settings) {
  return {.bounces_per_draw = std::max<std::uint64_t>(1, settings.bounces / 100),
          .bounces = settings.bounces};
}

}  // namespace

SplitOutcome compare(const KernelSplit& split, const ComparisonSettings& settings) {
  bpm::RowMatrix<double> train = split.train;
  train.diagonal().array() += settings.lambda;
  const SvmClassifier svm = train_svm(train, split.train_labels, {.bias = SvmBias::none});
  SplitOutcome outcome;
  outcome.svm = svm_outcome(svm, split);
  if (settings.svm_with_bias) {
    outcome.svm_bias =
        svm_outcome(train_svm(train, split.train_labels, {.bias = SvmBias::free}), split);
  }
  outcome.bpm = bayes_point_error(split, make_billiard(settings), settings, &outcome);
  if (settings.perceptron_draws > 0) {
    const bpm::PermutedPerceptron perceptron{.draws = settings.perceptron_draws,
                                             .max_passes = most_passes};
    outcome.perceptron = bayes_point_error(split, perceptron, settings);
  }
  return outcome;
}

}  // namespace bpm_examples
