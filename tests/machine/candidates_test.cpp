// SPDX-License-Identifier: MIT
#include "bpm/machine/candidates.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "bpm/kernels/radial.hpp"
#include "bpm/machine/automatic_boundary.hpp"
#include "catch.hpp"
#include "noisy_points.hpp"

using bpm::ChoiceCandidate;
using bpm::detail::BestOfFirstFold;
using test_support::noisy_rings;

TEST_CASE("far behind are losses four standard errors of their difference away", "[machine]") {
  // Differences of mean 1 and deviation d at n = 100 points: standard error d / 10.
  const std::vector<double> losses(100, 0.5);
  const auto other = [](double d) {
    std::vector<double> result;
    for (int i = 0; i < 100; ++i) result.push_back(1.5 + (i % 2 == 0 ? d : -d));
    return result;
  };
  const BestOfFirstFold best{.losses = losses, .loss = 0.5, .error = 0.1};
  const ChoiceCandidate worse{.error = 0.2};
  CHECK(best.is_far_ahead_of(worse, other(2.49)));
  CHECK_FALSE(best.is_far_ahead_of(worse, other(2.51)));
  CHECK_FALSE(best.is_far_ahead_of(worse, losses));
  CHECK_FALSE(best.is_far_ahead_of(worse, std::vector<double>(100, 0.1)));
  // Fewer errors may be what is chosen by.
  CHECK_FALSE(best.is_far_ahead_of(ChoiceCandidate{.error = 0.09}, other(1)));
}

TEST_CASE("candidates far behind on a large first fold are judged by it alone", "[machine]") {
  const int classes = GENERATE(2, 3);
  const int count = GENERATE(600, 1000);  // 120 and 200 points a fold.
  const auto [inputs, labels] = noisy_rings(count, classes, 0.1);
  std::vector<int> all{0, 1, 2};
  all.resize(static_cast<std::size_t>(classes));
  const bpm::detail::ChoicePart part(labels, all, labels.size(), 1);
  bpm::Folds five = bpm::Folds::stratified(labels, 5, 1);
  bpm::Folds first = five;
  first.count = 1;
  for (auto& fold : first.of_point) fold = fold == 0 ? 0 : -1;
  const auto tried = [&](double width, const bpm::Folds& folds, BestOfFirstFold* best) {
    std::vector<ChoiceCandidate> result;
    for (const double x : {0.3, 1.0, 3.0}) result.push_back({.relative_lambda = x});
    bpm::detail::try_boundaries<float>(
        bpm::detail::kernel_values_of(bpm::Gaussian::from_width(width), inputs, part.points, 1),
        bpm::detail::empty_out_of_fold(labels, all, folds), labels,
        bpm::PermutedPerceptron{.draws = 1, .max_passes = 200}, {}, {}, result, best);
    return result;
  };
  const auto least = [](const std::vector<ChoiceCandidate>& candidates) {
    return std::ranges::min(candidates, {}, &ChoiceCandidate::loss).loss;
  };
  BestOfFirstFold best;
  std::size_t dropped = 0;
  for (const double width : {0.3, 0.02}) {
    const auto alone = tried(width, five, nullptr);
    const auto on_first = tried(width, first, nullptr);
    const auto together = tried(width, five, &best);
    // The best of the first width stays; the others are behind it.
    if (width == 0.3) CHECK(least(together) == least(alone));
    for (std::size_t l = 0; l < together.size(); ++l) {
      CAPTURE(classes, count, width, l);
      REQUIRE(together[l].consistent);
      if (together[l].loss == alone[l].loss) continue;
      ++dropped;
      // Offsets have one ridge for all that are judged together.
      CHECK(together[l].loss == Approx(on_first[l].loss).epsilon(1e-3));
      CHECK(together[l].loss > best.loss);
    }
  }
  // None where the fold is small; of the wrong widths most where it is large.
  if (count == 600) CHECK(dropped == 0);
  if (count == 1000) CHECK(dropped >= 3);
}
