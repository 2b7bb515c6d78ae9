// SPDX-License-Identifier: MIT
// Rejection: three overlapping clouds, and a machine that says which points it is not sure about.
// Prints the error of those that it accepts, and a threshold, chosen on points held out, for points
// that come one by one.
#include <bpm/bpm.hpp>
#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <vector>

namespace {

struct Points {
  bpm::RowMatrix<float> inputs;  // One point a row.
  std::vector<int> labels;       // 0, 1, 2: the cloud that the point was drawn from.
};

Points draw_points(int count, std::uint64_t seed) {
  bpm::RandomEngine engine(seed);
  bpm::NormalDraws normal;
  Points points{bpm::RowMatrix<float>(count, 2), {}};
  for (int i = 0; i < count; ++i) {
    const int cloud = i % 3;
    const double x = normal(engine) + (cloud == 1 ? 3.0 : 0.0);
    const double y = normal(engine) + (cloud == 2 ? 3.0 : 0.0);
    points.inputs.row(i) << static_cast<float>(x), static_cast<float>(y);
    points.labels.push_back(cloud);
  }
  return points;
}

}  // namespace

int main() {
  const Points training = draw_points(600, 1);
  const Points held_out = draw_points(3000, 2);
  const Points test = draw_points(3000, 3);

  // The clouds overlap, so no smooth classifier is right everywhere: the fit finds out how soft its
  // boundary has to be.
  const bpm::OneVsRest machine(
      bpm::BayesPointMachine(bpm::Gaussian::from_sigma(2.0), bpm::PermutedPerceptron{.draws = 30}));
  const auto fitted = machine.fit(training.inputs, training.labels);

  // A row of outputs has three numbers; the gap between the best two says how sure the machine is.
  const Eigen::MatrixXd values = fitted.decision_values(test.inputs);
  const std::vector<double> scores = bpm::gap_scores(fitted.shifted(values));
  const std::vector<bool> correct = bpm::correct_predictions(test.labels, fitted.labels_of(values));
  std::cout << std::fixed << std::setprecision(2) << "rejected %   error % of the accepted\n";
  const std::vector<double> rates{0, 0.05, 0.10, 0.20, 0.30};
  for (const auto& point : bpm::error_reject_curve(scores, correct, rates)) {
    std::cout << std::setw(10) << 100 * point.rate << std::setw(14) << 100 * point.error << '\n';
  }

  // One in a hundred wrong, at most, among those accepted: by points that were not trained on.
  const Eigen::MatrixXd held_out_values = fitted.decision_values(held_out.inputs);
  const auto choice = bpm::threshold_for_error(
      bpm::gap_scores(fitted.shifted(held_out_values)),
      bpm::correct_predictions(held_out.labels, fitted.labels_of(held_out_values)), 0.01);
  if (!choice) return 1;
  const bpm::Rejector rejector{choice->threshold};
  int accepted = 0;
  int errors = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!rejector.accepts(scores[i])) continue;
    ++accepted;
    errors += correct[i] ? 0 : 1;
  }
  std::cout << "\nfor an error of 1 %, reject gaps below " << choice->threshold << ": "
            << 100.0 * accepted / 3000 << " % of the test points are accepted, "
            << 100.0 * errors / accepted << " % of them wrong\n";
}
