// SPDX-License-Identifier: MIT
#include "experiment.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bpm/core/errors.hpp"
#include "common/program.hpp"
#include "floor.hpp"
#include "machines.hpp"

namespace bpm_examples {

namespace {

/// Why chains do not fit, in the words of this program.
std::string chains_too_large(const MnistReport& report) {
  using report_detail::bytes_text;
  const auto train = static_cast<double>(report.train_size);
  const double part =
      static_cast<double>(report.memory.budget) / static_cast<double>(report.memory.windowed);
  // What grows with the square of the size is most of it; a tenth of room for the rest.
  const double fits = 0.9 * train * std::sqrt(part);
  const double unit = std::pow(10.0, std::max(0.0, std::floor(std::log10(fits)) - 1));
  return "--sampler " + report.sampler +
         " keeps matrices of N x N numbers: " + std::to_string(report.train_size) +
         " training digits need " + bytes_text(report.memory.windowed) + ", --memory is " +
         bytes_text(report.memory.budget) + ", enough for some " +
         std::to_string(std::max(1LL, std::llround(std::floor(fits / unit) * unit))) +
         "; give --train N or more --memory";
}

}  // namespace

Experiment make_experiment(const MnistOptions& options) {
  Experiment experiment{options.make_kernel(), {}, {}};
  if (options.sampler == "billiard") {
    experiment.sampler = bpm::Billiard{};
  } else if (options.sampler == "gibbs") {
    experiment.sampler = bpm::KernelGibbs{};
  }
  std::visit([&](auto& sampler) { sampler.draws = options.draws; }, experiment.sampler);
  experiment.image = options.image;
  experiment.unit = options.normalise;
  experiment.floor = options.floor;
  experiment.verify = options.verify;
  experiment.pictures = !options.pictures.empty();
  experiment.risk = options.risk;
  experiment.delta = options.delta;
  experiment.settings.soft_boundary = options.soft_boundary();
  experiment.settings.bias = 0;
  experiment.settings.seed = options.common.seed;
  experiment.settings.threads = static_cast<unsigned>(options.common.threads);
  experiment.settings.memory = options.memory;
  // Single draws are evaluated by coefficients and outputs of all of them, ten classes each; where
  // the budget does not hold these, only the mean is kept.
  const double of_a_draw =
      10 * sizeof(double) * static_cast<double>(options.train + 2 * options.test);
  experiment.settings.keep_draws =
      static_cast<double>(options.draws) * of_a_draw <= static_cast<double>(options.memory);
  if (options.verify && !experiment.settings.keep_draws) {
    throw UsageError(
        "--verify looks at every draw, and --memory does not hold them all; give more "
        "of it, or fewer draws");
  }
  return experiment;
}

void plan_memory(const Experiment& experiment, const DigitInputs& digits, MnistReport& report) {
  std::vector<int> classes = digits.train_labels;
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  const auto forecast = [&](const bpm::FitSettings& settings) {
    return std::visit(
        [&](const auto& sampler) {
          return forecast_with(sampler, experiment, digits, classes.size(), settings);
        },
        experiment.sampler);
  };
  const auto forecast_with_strategy = [&](bpm::Strategy strategy) {
    bpm::FitSettings settings = experiment.settings;
    settings.memory = std::numeric_limits<std::size_t>::max();
    settings.strategy = strategy;
    return forecast(settings);
  };
  report.memory.budget = experiment.settings.memory;
  report.memory.dense = forecast_with_strategy(bpm::Strategy::dense).total();
  report.memory.windowed = forecast_with_strategy(bpm::Strategy::windowed).total();
  report.memory.inputs = digits.size_in_bytes();
  if (report.memory.windowed > report.memory.budget && report.sampler != "perceptron") {
    throw bpm::BudgetTooSmall(chains_too_large(report));
  }
  report.strategy = bpm::to_string(forecast(experiment.settings).strategy);
}

void run_experiment(const Experiment& experiment, const DigitInputs& digits,
                    const std::function<void(const bpm::Progress&)>& progress,
                    MnistReport& report) {
  std::visit([&](const auto& sampler) { run_with(sampler, experiment, digits, progress, report); },
             experiment.sampler);
  if (experiment.floor) {
    progress({.stage = "matrix products"});
    const auto d = static_cast<double>(digits.columns());
    const std::optional<double> rate =
        digits.bytes ? byte_product_rate(report.threads) : float_product_rate(report.threads);
    if (rate) {
      report.floor_seconds = 2 * d * static_cast<double>(report.kernel_evaluations) / *rate;
      report.predict_floor_seconds = 2 * d * static_cast<double>(report.test_size) *
                                     static_cast<double>(report.support_union) / *rate;
    }
    report.floor_missing = !rate;
    progress({.stage = "matrix products", .fraction = 1});
  }
}

}  // namespace bpm_examples
