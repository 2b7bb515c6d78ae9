// SPDX-License-Identifier: MIT
#include "bpm/decision/evaluation.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <vector>

#include "bpm/core/random.hpp"
#include "catch.hpp"

TEST_CASE("a confusion matrix counted by hand", "[decision]") {
  const std::vector<int> labels{7, 7, 7, -2, -2, 5};
  const std::vector<int> predicted{7, 5, 7, -2, 7, 9};
  const auto matrix = bpm::confusion_matrix(labels, predicted);
  CHECK(matrix.classes == std::vector<int>{-2, 5, 7, 9});
  Eigen::Matrix<std::int64_t, 4, 4> expected;
  expected << 1, 0, 1, 0,  //
      0, 0, 0, 1,          //
      0, 1, 2, 0,          //
      0, 0, 0, 0;
  CHECK(matrix.counts == expected);
  CHECK(bpm::error_rate(labels, predicted) == 0.5);
  CHECK(bpm::correct_predictions(labels, predicted) ==
        std::vector<bool>{true, false, true, true, false, false});

  const auto scores = bpm::class_scores(matrix);
  REQUIRE(scores.size() == 4);
  CHECK(scores[0].label == -2);
  CHECK(scores[0].inputs == 2);
  CHECK(scores[0].predicted == 1);
  CHECK(scores[0].correct == 1);
  CHECK(scores[0].recall.value() == 0.5);
  CHECK(scores[0].precision.value() == 1.0);
  CHECK(scores[1].recall.value() == 0);
  CHECK(scores[1].precision.value() == 0);
  CHECK(scores[2].recall.value() == 2.0 / 3);
  CHECK(scores[0].f1.value() == Approx(2 / (1 / 0.5 + 1 / 1.0)));
  CHECK(scores[1].f1.value() == 0);
  CHECK(scores[3].f1.value() == 0);  // Never there, predicted once.
  CHECK(scores[2].precision.value() == 2.0 / 3);
  CHECK_FALSE(scores[3].recall.has_value());  // No input of class 9.
  CHECK(scores[3].precision.value() == 0);
}

TEST_CASE("a confusion matrix keeps the given order of classes", "[decision]") {
  const std::vector<int> labels{1, 2, 2};
  const std::vector<int> predicted{2, 2, 1};
  const std::vector<int> classes{2, 3, 1};
  const auto matrix = bpm::confusion_matrix(labels, predicted, classes);
  CHECK(matrix.classes == classes);
  Eigen::Matrix<std::int64_t, 3, 3> expected;
  expected << 1, 0, 1,  //
      0, 0, 0,          //
      1, 0, 0;
  CHECK(matrix.counts == expected);
  const auto scores = bpm::class_scores(matrix);
  CHECK(scores[1].label == 3);
  CHECK_FALSE(scores[1].recall.has_value());
  CHECK_FALSE(scores[1].precision.has_value());
}

TEST_CASE("evaluation identities on random labels", "[decision]") {
  bpm::RandomEngine engine(13);
  for (int repeat = 0; repeat < 100; ++repeat) {
    const std::size_t n = 1 + bpm::uniform_below(engine, 40);
    std::vector<int> labels(n);
    std::vector<int> predicted(n);
    for (std::size_t i = 0; i < n; ++i) {
      labels[i] = 3 * static_cast<int>(bpm::uniform_below(engine, 5)) - 4;
      predicted[i] = 3 * static_cast<int>(bpm::uniform_below(engine, 5)) - 4;
    }
    const auto matrix = bpm::confusion_matrix(labels, predicted);
    CHECK(matrix.counts.sum() == static_cast<std::int64_t>(n));
    CHECK(bpm::error_rate(labels, predicted) ==
          static_cast<double>(static_cast<std::int64_t>(n) - matrix.counts.trace()) /
              static_cast<double>(n));
    for (std::size_t a = 0; a < matrix.classes.size(); ++a) {
      for (std::size_t b = 0; b < matrix.classes.size(); ++b) {
        std::int64_t count = 0;
        for (std::size_t i = 0; i < n; ++i) {
          count += labels[i] == matrix.classes[a] && predicted[i] == matrix.classes[b] ? 1 : 0;
        }
        CHECK(matrix.counts(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)) == count);
      }
    }
    // The mean recall, weighted by inputs, is the rate of right answers; so for precision.
    std::int64_t right = 0;
    for (const auto& scores : bpm::class_scores(matrix)) {
      right += scores.correct;
    }
    CHECK(right == matrix.counts.trace());
    // With labels and predictions exchanged the matrix is transposed.
    CHECK(bpm::confusion_matrix(predicted, labels).counts == matrix.counts.transpose());
  }
}

TEST_CASE("F1 is the harmonic mean of precision and recall, and absent where nothing is there",
          "[decision]") {
  bpm::RandomEngine engine(3);
  const std::vector<int> classes{0, 1, 2, 3, 4};
  std::vector<int> labels;
  std::vector<int> predicted;
  for (int i = 0; i < 300; ++i) {
    labels.push_back(static_cast<int>(4 * bpm::uniform_unit(engine)));
    predicted.push_back(bpm::uniform_unit(engine) < 0.7
                            ? labels.back()
                            : static_cast<int>(4 * bpm::uniform_unit(engine)));
  }
  const auto scores = bpm::class_scores(bpm::confusion_matrix(labels, predicted, classes));
  for (int c = 0; c < 4; ++c) {
    double both = 0;
    double of_class = 0;
    double said = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      both += labels[i] == c && predicted[i] == c ? 1 : 0;
      of_class += labels[i] == c ? 1 : 0;
      said += predicted[i] == c ? 1 : 0;
    }
    const auto& one = scores[static_cast<std::size_t>(c)];
    CHECK(one.recall.value() == Approx(both / of_class));
    CHECK(one.precision.value() == Approx(both / said));
    CHECK(one.f1.value() == Approx(2 / (of_class / both + said / both)));
  }
  CHECK_FALSE(scores[4].f1.has_value());
}

TEST_CASE("the area under the ROC curve is the share of pairs in the right order", "[decision]") {
  bpm::RandomEngine engine(4);
  for (const std::size_t levels : {2, 5, 1000000}) {
    std::vector<double> scores;
    std::vector<bool> positive;
    for (int i = 0; i < 150; ++i) {
      positive.push_back(bpm::uniform_unit(engine) < 0.3);
      const double score = bpm::uniform_unit(engine) + (positive.back() ? 0.3 : 0);
      // Few levels: many scores are equal.
      scores.push_back(std::floor(score * static_cast<double>(levels)) - 1);
    }
    double pairs = 0;
    double right = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      for (std::size_t j = 0; j < scores.size(); ++j) {
        if (!positive[i] || positive[j]) continue;
        ++pairs;
        right += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
      }
    }
    CAPTURE(levels);
    CHECK(bpm::area_under_roc(scores, positive).value() == Approx(right / pairs).epsilon(1e-12));
    // Every point is that of some threshold, which counts as brute force does.
    const auto curve = bpm::roc_curve(scores, positive);
    std::vector<double> distinct = scores;
    std::sort(distinct.begin(), distinct.end(), std::greater<>());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    REQUIRE(curve.size() == distinct.size() + 1);
    CHECK(curve[0].true_positive_rate == 0);
    CHECK(curve.back().false_positive_rate == 1);
    for (std::size_t k = 0; k < distinct.size(); ++k) {
      double of_positive = 0;
      double of_negative = 0;
      double positives = 0;
      for (std::size_t i = 0; i < scores.size(); ++i) {
        positives += positive[i] ? 1 : 0;
        if (scores[i] >= distinct[k]) (positive[i] ? of_positive : of_negative) += 1;
      }
      CHECK(curve[k + 1].true_positive_rate == Approx(of_positive / positives));
      CHECK(curve[k + 1].false_positive_rate ==
            Approx(of_negative / (static_cast<double>(scores.size()) - positives)));
    }
  }
  const std::vector<double> two{-1, 1};
  CHECK(bpm::area_under_roc(two, std::vector<bool>{false, true}).value() == 1);
  CHECK(bpm::area_under_roc(two, std::vector<bool>{true, false}).value() == 0);
  CHECK_FALSE(bpm::area_under_roc(two, std::vector<bool>{true, true}).has_value());
  CHECK(bpm::roc_curve(two, std::vector<bool>{false, false}).empty());
  CHECK_THROWS_WITH(bpm::roc_curve({}, std::vector<bool>{}),
                    "roc_curve: scores is empty, must hold at least one score");
  CHECK_THROWS_WITH(bpm::area_under_roc(two, std::vector<bool>{true}),
                    "roc_curve: positive has 1 entries, expected 2 (one per score)");
  const std::vector<double> broken{0, std::numeric_limits<double>::quiet_NaN()};
  CHECK_THROWS_WITH(bpm::roc_curve(broken, std::vector<bool>{true, false}),
                    "roc_curve: scores[1] is NaN");
}

TEST_CASE("labels may be any integers", "[decision]") {
  const std::vector<int> labels{std::numeric_limits<int>::min(), std::numeric_limits<int>::max()};
  const auto matrix = bpm::confusion_matrix(labels, labels);
  CHECK(matrix.classes == labels);
  CHECK(matrix.counts.trace() == 2);
}

TEST_CASE("evaluation refuses bad arguments", "[decision]") {
  const std::vector<int> none;
  const std::vector<int> two{1, 2};
  const std::vector<int> three{1, 2, 1};
  CHECK_THROWS_AS(bpm::error_rate(none, none), std::invalid_argument);
  CHECK_THROWS_WITH(bpm::error_rate(none, none),
                    "error_rate: labels is empty, must hold at least one label");
  CHECK_THROWS_WITH(bpm::correct_predictions(none, none),
                    "correct_predictions: labels is empty, must hold at least one label");
  CHECK_THROWS_WITH(bpm::confusion_matrix(none, none),
                    "confusion_matrix: labels is empty, must hold at least one label");
  CHECK_THROWS_WITH(bpm::error_rate(two, three),
                    "error_rate: predicted has 3 entries, expected 2 (one per label)");
  CHECK_THROWS_WITH(bpm::correct_predictions(three, two),
                    "correct_predictions: predicted has 2 entries, expected 3 (one per label)");
  CHECK_THROWS_WITH(bpm::confusion_matrix(three, two),
                    "confusion_matrix: predicted has 2 entries, expected 3 (one per label)");
  const std::vector<int> twice{2, 1, 2};
  CHECK_THROWS_WITH(bpm::confusion_matrix(two, two, twice),
                    "confusion_matrix: classes holds 2 twice, must be distinct");
  const std::vector<int> other{1, 3};
  CHECK_THROWS_WITH(bpm::confusion_matrix(two, two, other),
                    "confusion_matrix: labels[1] is 2, must be one of the given classes");
  const std::vector<int> ones{1, 1};
  CHECK_THROWS_WITH(bpm::confusion_matrix(ones, two, other),
                    "confusion_matrix: predicted[1] is 2, must be one of the given classes");
  bpm::ConfusionMatrix broken;
  broken.classes = {1, 2};
  broken.counts.setZero(2, 1);
  CHECK_THROWS_WITH(bpm::class_scores(broken),
                    "class_scores: counts is 2 x 1, must have one row and column for each of the "
                    "2 classes");
}
