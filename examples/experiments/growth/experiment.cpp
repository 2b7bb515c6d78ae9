// SPDX-License-Identifier: MIT
#include "growth/experiment.hpp"

#include <Eigen/Core>
#include <utility>

#include "bpm/core/errors.hpp"
#include "bpm/decision/evaluation.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "common/drawn_digits.hpp"
#include "common/machine_info.hpp"

namespace bpm_examples {

std::vector<GrowthResult> run_growth(
    const GrowthOptions& options,
    const std::function<bool(std::int64_t, const bpm::Progress&)>& progress) {
  constexpr std::uint64_t drawing_seed = 1;
  // Beyond any training set, so that the test digits are the same for all.
  constexpr std::uint64_t first_test_digit = 1'000'000'000;
  const DrawnDigits test =
      draw_digits(options.test, drawing_seed, first_test_digit, options.common.threads);
  bpm::PermutedPerceptron sampler;
  sampler.draws = options.draws;
  bpm::FitSettings settings{.soft_boundary = bpm::SoftBoundary::hard(), .bias = 0};
  settings.seed = options.common.seed;
  settings.threads = static_cast<unsigned>(options.common.threads);
  settings.memory = options.memory;
  // (<x, x'> + 1)^5 on pixels / 255.
  const bpm::Polynomial kernel(5, 1.0 / (255.0 * 255.0), 1);
  const bpm::OneVsRest machine(bpm::BayesPointMachine(kernel, sampler, settings));

  std::vector<GrowthResult> results;
  for (const Eigen::Index size : options.sizes) {
    if (!progress(size, {.stage = "drawing digits"})) {
      throw bpm::Stopped("stopped");
    }
    const DrawnDigits train = draw_digits(size, drawing_seed, 0, options.common.threads);
    WallTimer timer;
    const auto fitted = machine.fit(train.images, train.labels,
                                    [&](const bpm::Progress& now) { return progress(size, now); });
    GrowthResult result;
    result.train_seconds = timer.restart();
    const auto predicted = fitted.predict(test.images);
    result.predict_seconds = timer.seconds();
    const bpm::SamplerReport& report = fitted.report();
    if (report.stopped) {
      throw bpm::Stopped("stopped");
    }
    result.points = size;
    result.strategy = bpm::to_string(fitted.forecast().strategy);
    result.kernel_evaluations = report.kernel_evaluations;
    result.mistakes = report.perceptron->mistakes;
    result.passes_mean = static_cast<double>(report.perceptron->passes) /
                         static_cast<double>(report.draws * fitted.classes().size());
    result.support = fitted.support().size();
    result.forecast_bytes = fitted.forecast().total();
    result.input_bytes = static_cast<std::size_t>(train.images.size() + test.images.size());
    result.test_error_percent = 100 * bpm::error_rate(test.labels, predicted);
    result.peak_memory_bytes = peak_resident_bytes();
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace bpm_examples
