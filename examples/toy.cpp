// SPDX-License-Identifier: MIT
// The smallest useful program: two classes of points in the plane, a disc and what lies around it,
// learned from 200 points with 5 % of their labels wrong. Prints the error on 2000 more and a map
// of what was learned.
#include <bpm/bpm.hpp>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <vector>

namespace {

struct Points {
  bpm::RowMatrix<float> inputs;  // One point a row.
  std::vector<int> labels;       // 1 inside the disc of radius 0.6, 0 outside.
};

Points draw_points(int count, double wrong_labels, std::uint64_t seed) {
  bpm::RandomEngine engine(seed);
  Points points{bpm::RowMatrix<float>(count, 2), {}};
  for (int i = 0; i < count; ++i) {
    const double x = 2 * bpm::uniform_unit(engine) - 1;
    const double y = 2 * bpm::uniform_unit(engine) - 1;
    points.inputs.row(i) << static_cast<float>(x), static_cast<float>(y);
    const bool inside = x * x + y * y < 0.36;
    const bool wrong = bpm::uniform_unit(engine) < wrong_labels;
    points.labels.push_back(inside != wrong ? 1 : 0);
  }
  return points;
}

}  // namespace

int main() {
  const Points training = draw_points(200, 0.05, 1);
  const Points test = draw_points(2000, 0, 2);

  // Some labels are wrong: the fit finds out how soft its boundary has to be.
  const bpm::BayesPointMachine machine(bpm::Gaussian::from_sigma(0.5),
                                       bpm::PermutedPerceptron{.draws = 50});
  const auto fitted = machine.fit(training.inputs, training.labels);

  const std::vector<int> predicted = fitted.predict(test.inputs);
  int errors = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    errors += predicted[i] != test.labels[i] ? 1 : 0;
  }
  std::cout << fitted.report().draws << " draws, test error "
            << 100.0 * errors / static_cast<double>(predicted.size()) << " %\n";

  bpm::RowMatrix<float> across(41, 2);
  for (int line = 0; line < 21; ++line) {
    for (int column = 0; column < 41; ++column) {
      across.row(column) << static_cast<float>(column - 20) / 20,
          static_cast<float>(10 - line) / 10;
    }
    for (const int label : fitted.predict(across)) std::cout << (label == 1 ? '#' : '.');
    std::cout << '\n';
  }
}
