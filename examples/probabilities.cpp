// SPDX-License-Identifier: MIT
// Class probabilities, by expectation propagation: what a Gaussian process with the same kernel
// says. Labels are drawn with known probabilities, so that those predicted can be judged.
#include <algorithm>
#include <bpm/bpm.hpp>
#include <bpm/gaussian_process.hpp>
#include <cmath>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <vector>

namespace {

struct Points {
  bpm::RowMatrix<float> inputs;  // One point a row, in [-2, 2]^2.
  Eigen::VectorXd truth;         // The probability of the label 1.
  std::vector<int> labels;       // Drawn with it: 1 or 0.
};

Points draw_points(int count, std::uint64_t seed) {
  bpm::RandomEngine engine(seed);
  Points points{bpm::RowMatrix<float>(count, 2), Eigen::VectorXd(count), {}};
  for (int i = 0; i < count; ++i) {
    const double x = 4 * bpm::uniform_unit(engine) - 2;
    const double y = 4 * bpm::uniform_unit(engine) - 2;
    points.inputs.row(i) << static_cast<float>(x), static_cast<float>(y);
    points.truth[i] = 1 / (1 + std::exp(-3 * (y - std::sin(2 * x))));
    points.labels.push_back(bpm::uniform_unit(engine) < points.truth[i] ? 1 : 0);
  }
  return points;
}

}  // namespace

int main() {
  const Points training = draw_points(400, 1);
  const Points test = draw_points(20'000, 2);

  // Labels are uncertain where the classes meet: a point's label is the sign of its output plus
  // noise. Of three widths the log evidence, log P(all labels), tells the best: no test data.
  std::cout << std::fixed << "width   log evidence   |predicted - true probability|\n";
  double best_evidence = -1e300;
  Eigen::VectorXd best;
  for (const double width : {0.3, 1.0, 3.0}) {
    const bpm::BayesPointMachine machine(bpm::scaled(bpm::Gaussian::from_sigma(width), 4.0),
                                         bpm::ExpectationPropagation{.noise_deviation = 1.0},
                                         {.bias = 0});
    const auto fitted = machine.fit(training.inputs, training.labels);
    const Eigen::VectorXd probability = fitted.predict_probability(test.inputs);
    std::cout << std::setprecision(1) << std::setw(5) << width << std::setw(15)
              << fitted.log_evidence() << std::setprecision(3) << std::setw(20)
              << (probability - test.truth).cwiseAbs().mean() << '\n';
    if (fitted.log_evidence() > best_evidence) {
      best_evidence = fitted.log_evidence();
      best = probability;
    }
  }

  // Calibrated: of the points with a predicted probability near p, a share of p has the label 1.
  std::cout << "\npredicted    points   share with label 1\n";
  for (int tenth = 0; tenth < 10; ++tenth) {
    int points = 0;
    int positive = 0;
    double sum = 0;
    for (Eigen::Index i = 0; i < best.size(); ++i) {
      if (std::min(9, static_cast<int>(10 * best[i])) != tenth) continue;
      ++points;
      sum += best[i];
      positive += test.labels[i];
    }
    std::cout << std::setw(9) << sum / points << std::setw(10) << points << std::setw(14)
              << static_cast<double>(positive) / points << '\n';
  }
}
