// SPDX-License-Identifier: MIT
#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/decision/scores.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "catch.hpp"
#include "mnist/pictures.hpp"

namespace {

struct PicturePoints {
  bpm::RowMatrix<float> inputs;
  std::vector<int> labels;
};

/// Points of a plane in sectors, the classes 3, 4, ...
PicturePoints sectors(int count, int classes, std::uint64_t seed) {
  bpm::RandomEngine engine(seed);
  PicturePoints points{bpm::RowMatrix<float>(count, 2), {}};
  for (int i = 0; i < count; ++i) {
    const double turn = 6.28318 * bpm::uniform_unit(engine);
    const double radius = 0.5 + bpm::uniform_unit(engine);
    points.inputs.row(i) << static_cast<float>(radius * std::cos(turn)),
        static_cast<float>(radius * std::sin(turn));
    points.labels.push_back(3 + static_cast<int>(turn / 6.28319 * classes));
  }
  return points;
}

}  // namespace

TEST_CASE("all voices together make the difference of the outputs, the loudest come first",
          "[examples]") {
  const int classes = GENERATE(2, 4);
  const PicturePoints train = sectors(60, classes, 1);
  PicturePoints test = sectors(200, classes, 2);
  test.labels[7] = test.labels[7] == 3 ? 4 : 3;  // One that cannot be read right.
  const auto fitted = bpm::OneVsRest(bpm::BayesPointMachine(
                                         bpm::Polynomial(4), {},
                                         {.soft_boundary = bpm::SoftBoundary::hard(), .bias = 0}))
                          .fit(train.inputs, train.labels);
  const Eigen::MatrixXd values = fitted.decision_values(test.inputs);
  const std::vector<int> decided = fitted.labels_of(values);
  const std::vector<double> scores = bpm::gap_scores(values);
  const auto label_of = [&](bpm::PointIndex number) {
    return train.labels[static_cast<std::size_t>(number)];
  };
  const auto all = bpm_examples::judged_digits(fitted, test.inputs, values, test.labels, scores,
                                               label_of, 1000, 5, 1000);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < decided.size(); ++i) wrong += decided[i] != test.labels[i] ? 1 : 0;
  REQUIRE(wrong >= 1);
  REQUIRE(all.size() == wrong + 5);
  double last_score = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < all.size(); ++k) {
    const auto& digit = all[k];
    CAPTURE(classes, k, digit.number);
    const auto i = static_cast<std::size_t>(digit.number);
    CHECK(digit.label == test.labels[i]);
    CHECK(digit.decided == decided[i]);
    CHECK((digit.decided != digit.label) == (k < wrong));
    if (k < wrong) CHECK(digit.other == digit.label);
    CHECK(digit.other != digit.decided);
    const double gap = digit.decided_output - digit.other_output;
    CHECK(gap >= 0);
    // Mistakes from the surest on; the others from the least sure on.
    if (k == wrong) last_score = 0;
    CHECK((k < wrong ? scores[i] <= last_score : scores[i] >= last_score));
    last_score = scores[i];
    double sum = 0;
    for (std::size_t v = 0; v < digit.for_it.size(); ++v) {
      const auto& voice = digit.for_it[v];
      CHECK(voice.part > 0);
      CHECK(voice.label == label_of(voice.number));
      if (v > 0) CHECK(voice.part <= digit.for_it[v - 1].part);
      sum += voice.part;
    }
    for (std::size_t v = 0; v < digit.against_it.size(); ++v) {
      CHECK(digit.against_it[v].part < 0);
      if (v > 0) CHECK(digit.against_it[v].part >= digit.against_it[v - 1].part);
      sum += digit.against_it[v].part;
    }
    CHECK(sum == Approx(gap).margin(1e-6));
  }
  const auto few = bpm_examples::judged_digits(fitted, test.inputs, values, test.labels, scores,
                                               label_of, 1, 0, 2);
  REQUIRE(few.size() == 1);
  CHECK(few[0].number == all[0].number);
  CHECK(few[0].for_it.size() == 2);
  CHECK(few[0].for_it[1].number == all[0].for_it[1].number);
}
