// SPDX-License-Identifier: MIT
// A kernel interpolator as a Bayes point machine, and a bound on its error that comes from the
// training set alone: how probable are the labels' signs under the Gaussian process of the kernel?
#include <bpm/bpm.hpp>
#include <bpm/gaussian_process.hpp>
#include <cmath>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <vector>

namespace {

struct Points {
  bpm::RowMatrix<double> inputs;  // One point a row, in the square [-1, 1]^2.
  std::vector<int> labels;        // 1 above a line, else -1.
};

Points draw_points(int count, std::uint64_t seed) {
  bpm::RandomEngine engine(seed);
  Points points{bpm::RowMatrix<double>(count, 2), {}};
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < 2; ++j) points.inputs(i, j) = 2 * bpm::uniform_unit(engine) - 1;
    points.labels.push_back(points.inputs(i, 1) > 0.5 * points.inputs(i, 0) ? 1 : -1);
  }
  return points;
}

}  // namespace

int main() {
  const Points training = draw_points(300, 1);
  const Points test = draw_points(2000, 2);
  const auto points = static_cast<std::ptrdiff_t>(training.labels.size());
  const bpm::Exponential kernel(4.0);

  // The interpolator of the labels 1 and -1: the Bayes point of an isotropic posterior.
  const auto interpolator = bpm::KernelInterpolator(kernel).train(training.inputs, training.labels);
  // No training error, and the kernel as it is.
  const bpm::FitSettings exact{.soft_boundary = bpm::SoftBoundary::hard(), .bias = 0};
  // The centre of mass of version space interpolates, too: other labels with the same signs. Here
  // as expectation propagation finds it, quickly and nearly right.
  const auto centre = bpm::BayesPointMachine(kernel, bpm::ExpectationPropagation{}, exact)
                          .fit(training.inputs, training.labels);

  // With P the probability of the signs, theorem 1 of "Kernel interpolation as a Bayes point
  // machine" bounds the centre's error by log 1/P, the interpolator's by a larger complexity.
  const double complexity =
      bpm::KernelComplexity(interpolator.factor().llt(), interpolator.signs()).value();
  bpm::RandomStreams streams{.seed = 1};
  const bpm::OrthantProbability probability =
      bpm::orthant_probability(bpm::kernel_matrix(kernel, training.inputs), interpolator.signs(),
                               {.standard_error = 0.5}, streams);
  // One in a hundred: half for the training set, half for the estimate of P.
  const bpm::Confidence confidence = bpm::Confidence::shared(0.01);
  const double upper = probability.upper_log_inverse(1 - confidence.estimate);

  std::cout << std::fixed << std::setprecision(1)
            << "log 1/P, nats: " << -probability.log_probability << " +- "
            << probability.standard_error << ", with 99.5 % confidence at most " << upper
            << ";\ncomplexity of the labels 1 and -1, never smaller: " << complexity
            << "\n\n                      test error %   bound of the exact centre, %\n";
  const auto print = [&](const char* name, const auto& fitted, double bound) {
    std::cout << name << std::setw(10)
              << 100 * bpm::error_rate(test.labels, fitted.predict(test.inputs)) << std::setw(26)
              << 100 * bound << '\n';
  };
  print("labels 1 and -1     ", interpolator.classifier(),
        bpm::BayesPointBound(complexity, points, {.confidence = bpm::Confidence::exact(0.01)})
            .value());
  print("the centre's labels ", centre,
        bpm::BayesPointBound(upper, points, {.confidence = confidence}).value());
  std::cout << "\nwithout the point itself, the interpolator errs on "
            << 100 * interpolator.leave_one_out_error() << " % of the training points\n";
}
