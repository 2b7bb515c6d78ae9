// SPDX-License-Identifier: MIT
#include "experiment.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "classifiers.hpp"
#include "common/machine_info.hpp"
#include "common/splits.hpp"
#include "common/tasks.hpp"

namespace bpm_examples {

namespace {

/// Kernel values in double, all at once.
template <class Kernel>
bpm::RowMatrix<double> kernel_values(const Kernel& kernel, const Inputs& left,
                                     const Inputs& right) {
  const Eigen::ArrayXXd products = left * right.transpose();
  const Eigen::ArrayXXd left_norms =
      left.rowwise().squaredNorm().array().replicate(1, right.rows());
  const Eigen::ArrayXXd right_norms =
      right.rowwise().squaredNorm().transpose().array().replicate(left.rows(), 1);
  return kernel.from_inner_products(products, left_norms, right_norms).matrix();
}

template <class Kernel>
KernelSplit make_kernel_split(const Kernel& kernel, const InputSplit& inputs) {
  return {kernel_values(kernel, inputs.train, inputs.train),
          kernel_values(kernel, inputs.test, inputs.train), inputs.train_labels,
          inputs.test_labels};
}

InputSplit make_input_split(const BenchmarkSet& set, const BenchmarkData& data, std::uint64_t seed,
                            std::uint64_t number) {
  const SplitShape shape{.train_limit = set.train_limit};
  InputSplit split = take_split(data, random_split(data.labels.size(), shape, seed, number));
  if (set.standardise) {
    standardise(split);
  }
  return split;
}

/// The seed of a split's samplers; its streams are not those that made the split.
std::uint64_t sampler_seed(std::uint64_t seed, std::uint64_t number) {
  constexpr std::uint64_t far = std::uint64_t{1} << 40U;
  return bpm::RandomEngine(seed, far + number)();
}

/// Calls work(number) for every split, on all threads. False: the observer stopped it.
bool for_each_split(const RobustOptions& options, const std::string& name,
                    const SplitObserver& observer, const std::function<void(std::uint64_t)>& work) {
  return run_tasks(
      options.common.threads, options.splits, [&](std::size_t number) { work(number); },
      [&](std::size_t done) { return observer(name, done, options.splits); });
}

MeanError mean_error(const std::vector<double>& percents) {
  MeanError result{.splits = percents.size()};
  const auto n = static_cast<double>(percents.size());
  for (const double percent : percents) result.percent += percent / n;
  double squares = 0;
  for (const double percent : percents) {
    squares += (percent - result.percent) * (percent - result.percent);
  }
  result.standard_error = std::sqrt(squares / (n - 1) / n);
  if (percents.size() < 2) {
    result.standard_error = std::nan("");
    result.percent = percents.empty() ? std::nan("") : result.percent;
  }
  return result;
}

ClassifierResult bayes_points(const std::vector<SplitOutcome>& outcomes,
                              std::optional<double> SplitOutcome::*error) {
  std::vector<double> percents;
  for (const SplitOutcome& outcome : outcomes) {
    if (outcome.*error) {
      percents.push_back(*(outcome.*error));
    }
  }
  return {mean_error(percents), outcomes.size() - percents.size()};
}

template <class Part>
ClassifierResult machines(const std::vector<SplitOutcome>& outcomes, Part&& part) {
  ClassifierResult result;
  std::vector<double> percents;
  for (const SplitOutcome& outcome : outcomes) {
    const SvmOutcome& svm = part(outcome);
    percents.push_back(svm.error_percent);
    result.not_separated += svm.training_errors > 0 ? 1U : 0U;
  }
  result.error = mean_error(percents);
  return result;
}

const SvmOutcome& through_origin(const SplitOutcome& outcome) { return outcome.svm; }
const SvmOutcome& with_bias(const SplitOutcome& outcome) { return *outcome.svm_bias; }

PairedTest compare_pairs(const std::vector<SplitOutcome>& outcomes) {
  std::vector<double> svm;
  std::vector<double> bpm;
  for (const SplitOutcome& outcome : outcomes) {
    if (outcome.bpm) {
      svm.push_back(outcome.svm.error_percent);
      bpm.push_back(*outcome.bpm);
    }
  }
  if (svm.size() >= 2) {
    return paired_t_test(svm, bpm);
  }
  const double unknown = std::nan("");
  return {.pairs = svm.size(),
          .mean = unknown,
          .standard_error = unknown,
          .t = unknown,
          .p_value = unknown,
          .p_two_sided = unknown};
}

double median_centre_error(const std::vector<SplitOutcome>& outcomes) {
  std::vector<double> errors;
  for (const SplitOutcome& outcome : outcomes) {
    if (outcome.bpm) {
      errors.push_back(outcome.standard_error);
    }
  }
  if (errors.empty()) {
    return std::nan("");
  }
  std::ranges::sort(errors);
  return errors[errors.size() / 2];
}

ChainCheck check_chains(const std::vector<SplitOutcome>& outcomes) {
  ChainCheck chains;
  for (const SplitOutcome& outcome : outcomes) {
    if (outcome.bpm) chains.add(outcome.standard_error);
  }
  return chains;
}

/// The values of lambda on each split in turn, so that they are compared on the same splits.
std::optional<std::vector<FigurePoint>> run_figure(
    const std::string& name, const std::vector<double>& lambdas, const RobustOptions& options,
    const SplitObserver& observer, const std::function<KernelSplit(std::uint64_t)>& make_split) {
  std::vector<std::vector<SplitOutcome>> outcomes(lambdas.size(),
                                                  std::vector<SplitOutcome>(options.splits));
  const bool finished = for_each_split(options, name, observer, [&](std::uint64_t number) {
    const KernelSplit split = make_split(number);
    ComparisonSettings settings{.seed = sampler_seed(options.common.seed, number),
                                .bounces = options.bounces};
    for (std::size_t k = 0; k < lambdas.size(); ++k) {
      settings.lambda = lambdas[k];
      outcomes[k][number] = compare(split, settings);
    }
  });
  if (!finished) {
    return std::nullopt;
  }
  std::vector<FigurePoint> points;
  for (std::size_t k = 0; k < lambdas.size(); ++k) {
    points.push_back({name, lambdas[k], bayes_points(outcomes[k], &SplitOutcome::bpm),
                      machines(outcomes[k], through_origin), check_chains(outcomes[k])});
  }
  return points;
}

/// `count` points of the two clouds, the classes by turns.
void draw_clouds(Eigen::Index count, bpm::RandomEngine& engine, Inputs& inputs,
                 std::vector<int>& labels) {
  bpm::NormalDraws normal;
  inputs.resize(count, 2);
  for (Eigen::Index i = 0; i < count; ++i) {
    const int label = i % 2 == 0 ? 1 : -1;
    labels.push_back(label);
    inputs(i, 0) = label + normal(engine);
    inputs(i, 1) = normal(engine);
  }
}

}  // namespace

std::optional<TableRow> run_benchmark_set(const BenchmarkSet& set, const BenchmarkData& data,
                                          const RobustOptions& options,
                                          const SplitObserver& observer) {
  const WallTimer timer;
  TableRow row;
  row.set = &set;
  row.width = options.width(set.sigma);
  row.lambda = options.lambda;
  row.splits = options.splits;
  const Split first = random_split(data.labels.size(), {.train_limit = set.train_limit}, 1, 0);
  row.train_size = first.train.size();
  row.test_size = first.test.size();
  const auto kernel = bpm::Gaussian::from_width(row.width);
  std::vector<SplitOutcome> outcomes(options.splits);
  const bool finished =
      for_each_split(options, std::string(set.name), observer, [&](std::uint64_t number) {
        const InputSplit inputs = make_input_split(set, data, options.common.seed, number);
        outcomes[number] = compare(make_kernel_split(kernel, inputs),
                                   {.lambda = options.lambda,
                                    .seed = sampler_seed(options.common.seed, number),
                                    .bounces = options.bounces,
                                    .perceptron_draws = options.draws,
                                    .svm_with_bias = true});
      });
  if (!finished) {
    return std::nullopt;
  }
  row.bpm = bayes_points(outcomes, &SplitOutcome::bpm);
  row.perceptron = bayes_points(outcomes, &SplitOutcome::perceptron);
  row.svm = machines(outcomes, through_origin);
  row.svm_bias = machines(outcomes, with_bias);
  row.test = compare_pairs(outcomes);
  row.centre_error = median_centre_error(outcomes);
  row.bounces = std::ranges::min(outcomes, {}, &SplitOutcome::bounces).bounces;
  row.chains = check_chains(outcomes);
  for (const SplitOutcome& outcome : outcomes) {
    row.bpm_of_splits.push_back(outcome.bpm.value_or(std::nan("")));
    row.svm_of_splits.push_back(outcome.svm.error_percent);
  }
  row.seconds = timer.seconds();
  return row;
}

std::vector<double> toy_lambdas() {
  return {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100};
}

std::vector<double> heart_lambdas() { return {0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10}; }

std::optional<std::vector<FigurePoint>> run_toy(const RobustOptions& options,
                                                const SplitObserver& observer) {
  return run_figure("toy", toy_lambdas(), options, observer, [&](std::uint64_t number) {
    bpm::RandomEngine engine(options.common.seed, number);
    InputSplit inputs;
    draw_clouds(20, engine, inputs.train, inputs.train_labels);
    draw_clouds(1000, engine, inputs.test, inputs.test_labels);
    return make_kernel_split(bpm::Linear(), inputs);
  });
}

std::optional<std::vector<FigurePoint>> run_heart(const BenchmarkData& data,
                                                  const RobustOptions& options,
                                                  const SplitObserver& observer) {
  const BenchmarkSet& heart = *find_benchmark_set("heart");
  const auto kernel = bpm::Gaussian::from_width(heart.sigma);
  return run_figure("heart", heart_lambdas(), options, observer, [&](std::uint64_t number) {
    return make_kernel_split(kernel, make_input_split(heart, data, options.common.seed, number));
  });
}

}  // namespace bpm_examples
