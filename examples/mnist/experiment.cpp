// SPDX-License-Identifier: MIT
#include "experiment.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "bpm/errors.hpp"
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
  experiment.settings.soft_boundary = options.soft_boundary();
  experiment.settings.seed = options.common.seed;
  experiment.settings.threads = static_cast<unsigned>(options.common.threads);
  experiment.settings.memory = options.memory;
  // Single draws are evaluated by coefficients and outputs of all of them, ten classes each; where
  // the budget does not hold these, only the mean is kept.
  const double of_a_draw =
      10 * sizeof(double) * static_cast<double>(options.train + 2 * options.test);
  experiment.settings.keep_draws =
      static_cast<double>(options.draws) * of_a_draw <= static_cast<double>(options.memory);
  return experiment;
}

void plan_memory(const Experiment& experiment, const DigitInputs& digits, MnistReport& report) {
  std::vector<int> classes = digits.train_labels;
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  const auto forecast = [&](std::size_t memory) {
    return std::visit(
        [&](const auto& sampler) {
          return forecast_with(sampler, experiment, digits, classes.size(), memory);
        },
        experiment.sampler);
  };
  report.memory.budget = experiment.settings.memory;
  report.memory.dense = forecast(std::numeric_limits<std::size_t>::max()).total();
  report.memory.windowed = forecast(report.memory.dense - 1).total();
  report.memory.inputs =
      static_cast<std::size_t>(digits.train.size() + digits.test.size()) * sizeof(float);
  if (report.memory.windowed > report.memory.budget && report.sampler != "perceptron") {
    throw bpm::BudgetTooSmall(chains_too_large(report));
  }
  report.strategy = bpm::to_string(forecast(experiment.settings.memory).strategy);
}

void run_experiment(const Experiment& experiment, const DigitInputs& digits,
                    const std::function<void(const bpm::Progress&)>& progress,
                    MnistReport& report) {
  std::visit([&](const auto& sampler) { run_with(sampler, experiment, digits, progress, report); },
             experiment.sampler);
}

}  // namespace bpm_examples
