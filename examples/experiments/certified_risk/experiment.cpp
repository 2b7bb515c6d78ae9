// SPDX-License-Identifier: MIT
#include "certified_risk/experiment.hpp"

#include <Eigen/Core>
#include <utility>

#include "bpm/core/errors.hpp"
#include "bpm/decision/evaluation.hpp"
#include "bpm/decision/scores.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "common/machine_info.hpp"
#include "common/mnist_data.hpp"

namespace bpm_examples {

CertifiedRiskResult run_certified_risk(const CertifiedRiskOptions& options,
                                       const std::function<bool(const bpm::Progress&)>& watch) {
  const Digits digits =
      load_digits(options.common.data, options.train, options.test, options.common.threads);
  const auto threads = static_cast<unsigned>(options.common.threads);
  // (<x, x'> + 1)^5 on pixels / 255.
  const bpm::Polynomial kernel(5, 1.0 / (255.0 * 255.0), 1);
  const bpm::OneVsRest machine(bpm::BayesPointMachine(kernel, bpm::PermutedPerceptron{},
                                                      {.soft_boundary = bpm::SoftBoundary::hard(),
                                                       .seed = options.common.seed,
                                                       .threads = threads,
                                                       .bias = 0}));
  const auto classifier = machine.fit(digits.train.inputs, digits.train.labels, watch);
  if (classifier.report().stopped) throw bpm::Stopped("stopped");
  const Eigen::MatrixXd outputs = classifier.decision_values(digits.test.inputs);
  Population population(
      bpm::gap_scores(classifier.shifted(outputs)),
      bpm::correct_predictions(digits.test.labels, classifier.labels_of(outputs)));
  const WallTimer timer;
  auto levels = draw_thresholds(population, options.samples, options.sample_size,
                                options.common.seed, options.common.threads, watch);
  return {digits.drawn, std::move(population), std::move(levels), timer.seconds()};
}

}  // namespace bpm_examples
