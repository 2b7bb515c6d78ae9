// SPDX-License-Identifier: MIT
#include "experiment.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "bpm/samplers/gibbs/log_evidence.hpp"
#include "bpm/samplers/sample_version_space.hpp"
#include "bpm/version_space/version_space.hpp"
#include "common/svm.hpp"
#include "common/tasks.hpp"

namespace bpm_examples {

namespace {

using Gram = bpm::PrecomputedGram<double>;
using Space = bpm::KernelVersionSpace<double>;

constexpr std::size_t folds = 5;
constexpr std::array<double, 9> costs{0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000};

double error_percent(const Eigen::VectorXd& outputs, std::span<const int> labels) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    wrong += labels[i] * outputs[static_cast<Eigen::Index>(i)] > 0 ? 0U : 1U;
  }
  return 100 * static_cast<double>(wrong) / static_cast<double>(labels.size());
}

Space space_of(const Gram& gram, const NoisySplit& split) {
  return Space(gram, {split.train_labels.begin(), split.train_labels.end()});
}

/// A seed for the work on a split, far from the streams of the splits themselves.
std::uint64_t seed_of(const NoiseOptions& options, std::size_t split) {
  constexpr std::uint64_t far = std::uint64_t{1} << 40U;
  return bpm::RandomEngine(options.common.seed, far + split)();
}

/// What one split tells.
struct SplitOutcome {
  double svm_percent = 0;
  double svm_cost = 0;
  std::array<double, noise_levels.size()> percent{};
  std::array<double, noise_levels.size()> training_errors{};
  std::array<double, noise_levels.size()> standard_errors{};
};

SplitOutcome run_split(const NoisySplit& split, const NoiseOptions& options, std::uint64_t seed) {
  SplitOutcome outcome;
  outcome.svm_cost = choose_svm_cost(split, bpm::RandomEngine(seed, 0));
  const SvmClassifier svm =
      train_svm(split.train_kernel, split.train_labels, {.cost = outcome.svm_cost});
  outcome.svm_percent = error_percent(svm.decision_values(split.test_kernel), split.test_labels);

  const Gram gram(split.train_kernel);
  const Space space = space_of(gram, split);
  // From much noise to little, each from the centre of the one before: with little noise a chain
  // that starts consistent with wrong labels takes long to give them up.
  std::vector<double> start;
  for (std::size_t k = noise_levels.size(); k-- > 0;) {
    bpm::KernelGibbs gibbs;
    gibbs.label_noise = noise_levels[k];
    gibbs.steps = options.steps;
    gibbs.burn_in = std::max<std::uint64_t>(1, options.steps / 4);
    gibbs.start_coefficients = start;
    bpm::RandomStreams streams{.seed = seed, .next = 1 + 1000 * k};
    bpm::KernelGibbs::State state;
    const auto report = bpm::sample_version_space(
        gibbs, space, streams, {}, [](const bpm::Draw&) {}, state);
    const std::vector<double>& alpha = state.centre().coefficients;
    start = alpha;
    outcome.percent[k] = error_percent(
        split.test_kernel * Eigen::Map<const Eigen::VectorXd>(alpha.data(), std::ssize(alpha)),
        split.test_labels);
    outcome.training_errors[k] =
        report.chains->mean_errors / static_cast<double>(split.train_labels.size());
    outcome.standard_errors[k] = report.chains->standard_error;
  }
  return outcome;
}

SplitMean mean_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  SplitMean mean;
  for (const double value : values) mean.value += value / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean.value) * (value - mean.value);
  mean.standard_error = std::sqrt(squares / (n - 1) / n);
  return mean;
}

/// Everything about a set, as it comes in.
struct SetOutcome {
  std::vector<SplitOutcome> splits;
  std::vector<std::array<bpm::LogEvidence, noise_levels.size()>> evidence;
};

NoiseSetResult summarise(const NoiseSet& set, const SetOutcome& outcome,
                         const NoiseOptions& options) {
  NoiseSetResult result;
  result.name = set.name;
  const NoisySplit first = make_noisy_split(set, options, 0);
  result.train_size = first.train_labels.size();
  result.test_size = first.test_labels.size();
  result.flipped = first.flipped;
  std::vector<double> svm;
  std::vector<double> chosen;
  for (const SplitOutcome& split : outcome.splits) {
    svm.push_back(split.svm_percent);
    chosen.push_back(split.svm_cost);
  }
  std::ranges::sort(chosen);
  result.svm_error_percent = mean_of(svm);
  result.svm_cost = chosen[chosen.size() / 2];
  for (std::size_t k = 0; k < noise_levels.size(); ++k) {
    NoiseResult level;
    level.noise = noise_levels[k];
    std::vector<double> gibbs;
    for (const SplitOutcome& split : outcome.splits) {
      gibbs.push_back(split.percent[k]);
      level.chains.add(split.standard_errors[k]);
      level.training_errors +=
          split.training_errors[k] / static_cast<double>(outcome.splits.size());
    }
    level.error_percent = mean_of(gibbs);
    level.test = paired_t_test(svm, gibbs);
    double variance = 0;
    const auto n = static_cast<double>(outcome.evidence.size());
    for (const auto& evidence : outcome.evidence) {
      level.log_evidence += evidence[k].value / n;
      variance += evidence[k].standard_error * evidence[k].standard_error / (n * n);
    }
    level.log_evidence_se = std::sqrt(variance);
    result.levels.push_back(level);
    if (level.log_evidence > result.levels[result.best].log_evidence) {
      result.best = k;
    }
  }
  return result;
}

}  // namespace

double choose_svm_cost(const NoisySplit& split, bpm::RandomEngine engine) {
  const std::size_t m = split.train_labels.size();
  std::vector<std::size_t> order(m);
  bpm::random_permutation(std::span(order), engine);
  // The classes by turns: each fold has its share of both.
  std::vector<std::size_t> fold(m);
  std::array<std::size_t, 2> seen{};
  for (const std::size_t i : order) {
    fold[i] = seen[split.train_labels[i] > 0 ? 1 : 0]++ % folds;
  }
  std::array<std::size_t, costs.size()> errors{};
  for (std::size_t f = 0; f < folds; ++f) {
    std::vector<Eigen::Index> train;
    std::vector<Eigen::Index> test;
    std::vector<int> train_labels;
    std::vector<int> test_labels;
    for (std::size_t i = 0; i < m; ++i) {
      (fold[i] == f ? test : train).push_back(static_cast<Eigen::Index>(i));
      (fold[i] == f ? test_labels : train_labels).push_back(split.train_labels[i]);
    }
    const bpm::RowMatrix<double> train_kernel = split.train_kernel(train, train);
    const bpm::RowMatrix<double> test_kernel = split.train_kernel(test, train);
    for (std::size_t k = 0; k < costs.size(); ++k) {
      const SvmClassifier svm = train_svm(train_kernel, train_labels, {.cost = costs[k]});
      errors[k] += static_cast<std::size_t>(
          std::llround(error_percent(svm.decision_values(test_kernel), test_labels) *
                       static_cast<double>(test.size()) / 100));
    }
  }
  return costs[static_cast<std::size_t>(std::ranges::min_element(errors) - errors.begin())];
}

std::vector<NoiseSetResult> run_noise(const std::vector<NoiseSet>& sets,
                                      const NoiseOptions& options, const NoiseObserver& observer) {
  std::vector<SetOutcome> outcomes(sets.size());
  for (SetOutcome& outcome : outcomes) {
    outcome.splits.resize(options.splits);
    outcome.evidence.resize(options.evidence_splits);
  }
  // Each set's evidence, one task a split and a q, then its splits.
  const std::size_t evidence_tasks = options.evidence_splits * noise_levels.size();
  const std::size_t tasks = evidence_tasks + options.splits;
  const auto work = [&](std::size_t set, std::size_t task) {
    const std::size_t number =
        task < evidence_tasks ? task / noise_levels.size() : task - evidence_tasks;
    const NoisySplit split = make_noisy_split(sets[set], options, number);
    const std::uint64_t seed = seed_of(options, number);
    if (task >= evidence_tasks) {
      outcomes[set].splits[number] = run_split(split, options, seed);
      return;
    }
    const std::size_t level = task % noise_levels.size();
    const Gram gram(split.train_kernel);
    bpm::RandomStreams streams{.seed = seed, .next = 1'000'000 + 10 * level};
    outcomes[set].evidence[number][level] =
        bpm::log_evidence(space_of(gram, split), noise_levels[level],
                          {.steps = options.evidence_steps, .pilot_steps = 200}, streams);
  };
  const std::size_t all = sets.size() * tasks;
  const bool finished = run_tasks(
      options.common.threads, all, [&](std::size_t task) { work(task / tasks, task % tasks); },
      [&](std::size_t done) {
        return observer(static_cast<double>(done) / static_cast<double>(all));
      });
  std::vector<NoiseSetResult> results;
  for (std::size_t s = 0; s < sets.size() && finished; ++s) {
    results.push_back(summarise(sets[s], outcomes[s], options));
  }
  return results;
}

}  // namespace bpm_examples
