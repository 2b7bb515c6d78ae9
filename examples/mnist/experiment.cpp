// SPDX-License-Identifier: MIT
// The machines: the one place where the library's templates are instantiated.
#include "experiment.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bpm/decision/evaluation.hpp"
#include "bpm/decision/scores.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/one_vs_rest.hpp"
#include "common/digest.hpp"
#include "common/interrupt.hpp"
#include "common/machine_info.hpp"

namespace bpm_examples {

namespace {

template <class Kernel>
bpm::OneVsRest<Kernel> make_machine(const Kernel& kernel, const Experiment& experiment,
                                    const bpm::FitSettings& settings) {
  return bpm::OneVsRest(bpm::BayesPointMachine(kernel, experiment.sampler, settings));
}

template <class Fitted>
std::string digest_of(const Fitted& fitted) {
  std::vector<Coefficient> coefficients;
  for (std::size_t s = 0; s < fitted.support().size(); ++s) {
    for (std::size_t c = 0; c < fitted.classes().size(); ++c) {
      coefficients.push_back(
          {fitted.classes()[c], fitted.support()[s],
           fitted.coefficients()(static_cast<Eigen::Index>(s), static_cast<Eigen::Index>(c))});
    }
  }
  return model_digest(std::move(coefficients));
}

template <class Fitted>
void report_training(const Fitted& fitted, Eigen::Index train_size, MnistReport& report) {
  const bpm::SamplerReport& training = fitted.report();
  report.draws = static_cast<std::int64_t>(training.draws);
  report.kernel_seconds = training.kernel_seconds;
  report.kernel_evaluations = training.kernel_evaluations;
  report.mistakes = training.mistakes;
  report.passes_mean = static_cast<double>(training.passes) /
                       static_cast<double>(training.draws * fitted.classes().size());
  report.support_union = fitted.support().size();
  report.useful_evaluations = report.support_union * static_cast<std::uint64_t>(train_size);
  report.training_errors = training.training_errors;
  report.strategy = bpm::to_string(fitted.strategy());
  report.model_digest = digest_of(fitted);
}

void report_test(const Eigen::MatrixXd& values, const std::vector<int>& predicted,
                 const std::vector<int>& labels, MnistReport& report) {
  report.test_error_percent = 100 * bpm::error_rate(labels, predicted);
  const std::vector<bool> correct = bpm::correct_predictions(labels, predicted);
  const std::vector<double> largest = bpm::largest_output_scores(values);
  const std::vector<double> gap = bpm::gap_scores(values);
  report.rejection = rejection_rows(largest, correct);
  report.rejection_gap = rejection_rows(gap, correct);
  constexpr std::size_t fine = 100;
  report.curve = rejection_rows(largest, correct, fine);
  report.curve_gap = rejection_rows(gap, correct, fine);
}

template <class Kernel>
void run_with(const Kernel& kernel, const Experiment& experiment, const DigitInputs& digits,
              const std::function<void(const bpm::Progress&)>& progress, MnistReport& report) {
  WallTimer timer;
  const auto fitted = [&] {
    const InterruptGuard guard;
    return make_machine(kernel, experiment, experiment.settings)
        .fit(digits.train, digits.train_labels, [&](const bpm::Progress& now) {
          progress(now);
          return !guard.interrupted();
        });
  }();
  report.train_seconds = timer.seconds();
  report_training(fitted, digits.train.rows(), report);
  if (report.draws == report.draws_wanted) {
    progress({.stage = "draws",
              .fraction = 1,
              .draws = fitted.report().draws,
              .draws_total = experiment.sampler.draws});
  }

  progress({.stage = "test digits"});
  timer.restart();
  const Eigen::MatrixXd values = fitted.decision_values(digits.test);
  report.predict_seconds = timer.seconds();
  progress({.stage = "test digits", .fraction = 1});
  report_test(values, fitted.labels_of(values), digits.test_labels, report);

  if (experiment.settings.keep_draws) {
    progress({.stage = "single draws"});
    report.single_draw_error_percent = 100 * fitted.gibbs_error(digits.test, digits.test_labels);
    progress({.stage = "single draws", .fraction = 1});
  }
}

}  // namespace

Experiment make_experiment(const MnistOptions& options) {
  Experiment experiment{options.make_kernel(), {}, {}};
  experiment.sampler.draws = options.draws;
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
    bpm::FitSettings settings = experiment.settings;
    settings.memory = memory;
    return std::visit(
        [&](const auto& kernel) {
          return make_machine(kernel, experiment, settings).forecast(digits.train, classes.size());
        },
        experiment.kernel);
  };
  report.memory.budget = experiment.settings.memory;
  report.memory.dense = forecast(std::numeric_limits<std::size_t>::max()).total();
  report.memory.windowed = forecast(report.memory.dense - 1).total();
  report.memory.inputs =
      static_cast<std::size_t>(digits.train.size() + digits.test.size()) * sizeof(float);
  report.strategy = bpm::to_string(forecast(experiment.settings.memory).strategy);
}

void run_experiment(const Experiment& experiment, const DigitInputs& digits,
                    const std::function<void(const bpm::Progress&)>& progress,
                    MnistReport& report) {
  std::visit([&](const auto& kernel) { run_with(kernel, experiment, digits, progress, report); },
             experiment.kernel);
}

}  // namespace bpm_examples
