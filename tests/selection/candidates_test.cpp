// SPDX-License-Identifier: MIT
#include "bpm/selection/candidates.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/decision/class_probabilities.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "bpm/version_space/soft_boundary.hpp"
#include "catch.hpp"
#include "message_of.hpp"
#include "noisy_points.hpp"

using bpm::ChoiceCandidate;
using bpm::detail::BestOfFirstFold;
using test_support::noisy_rings;

TEST_CASE("far behind are losses four standard errors of their difference away", "[selection]") {
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

TEST_CASE("ahead are losses by so many standard errors of their difference", "[selection]") {
  // Errors at 100 points: 12 of one alone, 4 of the other alone. The mean difference is 0.08, its
  // standard error sqrt(16 - 0.64) / 100 = 0.0392.
  std::vector<double> one(100, 0);
  std::vector<double> other(100, 0);
  for (std::size_t i = 0; i < 16; ++i) (i < 12 ? other : one)[i] = 1;
  using bpm::detail::is_ahead;
  CHECK(is_ahead(one, other, 0));
  CHECK(is_ahead(one, other, 2.04));
  CHECK_FALSE(is_ahead(one, other, 2.05));
  CHECK_FALSE(is_ahead(other, one, 0));
  CHECK_FALSE(is_ahead(one, one, 0));
}

TEST_CASE("candidates are judged point by point, by losses or errors", "[selection]") {
  bpm::OutOfFold outputs{.folds = {}, .classes = {0, 1}, .points = {0, 1, 2, 3}};
  outputs.labels = {0, 0, 1, 1};
  outputs.decision_values = Eigen::Vector4d(-2, 1, 2, 3);
  ChoiceCandidate one;
  const bpm::detail::Trial trial{&one, outputs};
  const auto losses = bpm::detail::judge({&trial, 1}, bpm::SoftBoundary::automatic());
  const auto errors = bpm::detail::judge({&trial, 1}, bpm::SoftBoundary::automatic(), true);
  CHECK(errors.front() == std::vector<double>{0, 1, 0, 0});
  CHECK(one.error == 0.25);
  REQUIRE(losses.front().size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    const double away = one.slope * (outputs.labels[i] == 1 ? 1 : -1) *
                        outputs.decision_values(static_cast<Eigen::Index>(i), 0);
    CHECK(losses.front()[i] == Approx(std::log(1 + std::exp(-away))));
  }
}

TEST_CASE("the best candidate's outputs choose the ridge of all offsets", "[selection]") {
  // Eight in ten are of one class. The bad candidate hardly tells the classes apart and lacks their
  // numbers; the good one tells them all, and offsets change nothing for it.
  bpm::RandomEngine engine(3);
  bpm::NormalDraws normal;
  bpm::OutOfFold good{.folds = {}, .classes = {0, 1, 2}};
  good.decision_values.resize(200, 3);
  for (int i = 0; i < 200; ++i) {
    good.points.push_back(i);
    good.labels.push_back(i % 10 == 0 ? 1 : i % 10 == 1 ? 2 : 0);
  }
  bpm::OutOfFold bad = good;
  for (Eigen::Index i = 0; i < 200; ++i) {
    const int label = good.labels[static_cast<std::size_t>(i)];
    for (Eigen::Index c = 0; c < 3; ++c) {
      good.decision_values(i, c) = c == label ? 4 + 0.1 * normal(engine) : 0;
      bad.decision_values(i, c) = (c == label ? 0.5 : 0) + normal(engine);
    }
  }
  ChoiceCandidate of_good;
  ChoiceCandidate of_bad;
  const auto offsets_of_bad = [&](const std::vector<bpm::detail::Trial>& trials) {
    bpm::detail::judge(trials, bpm::SoftBoundary::automatic());
    return of_bad.offsets;
  };
  const auto alone = offsets_of_bad({{&of_bad, bad}});
  const auto behind = offsets_of_bad({{&of_good, good}, {&of_bad, bad}});
  CHECK(of_good.loss < of_bad.loss);
  CHECK(behind != alone);
  CHECK(offsets_of_bad({{&of_bad, bad}, {&of_good, good}}) == behind);
}

TEST_CASE("offsets are for three machines or more, and for class weights", "[selection]") {
  using bpm::detail::wants_offsets;
  const auto plain = bpm::SoftBoundary::automatic();
  const auto weighted = plain.with_class_weights({{1, 2.0}});
  CHECK_FALSE(wants_offsets(plain, 2));
  CHECK(wants_offsets(plain, 3));
  CHECK(wants_offsets(weighted, 2));
  CHECK(wants_offsets(weighted, 3));
  // These weights are a lambda's: with them no label noise is chosen.
  using bpm::detail::chooses_label_noise;
  CHECK(chooses_label_noise<bpm::KernelGibbs>({.soft_boundary = plain}));
  CHECK_FALSE(chooses_label_noise<bpm::KernelGibbs>({.soft_boundary = weighted}));
  CHECK_FALSE(chooses_label_noise<bpm::PermutedPerceptron>({.soft_boundary = plain}));
}

TEST_CASE("a candidate's slope, offsets, losses and errors are those of its own outputs",
          "[selection]") {
  // Seven in ten are of class 0, which the outputs say too rarely.
  bpm::RandomEngine engine(5);
  bpm::NormalDraws normal;
  const int classes = GENERATE(2, 3);
  bpm::OutOfFold first{.folds = {}, .classes = {0, 1, 2}};
  first.classes.resize(static_cast<std::size_t>(classes));
  first.decision_values.resize(120, classes == 2 ? 1 : 3);
  for (int i = 0; i < 120; ++i) {
    first.points.push_back(i);
    first.labels.push_back(i % 10 < 7 ? 0 : 1 + i % (classes - 1));
  }
  bpm::OutOfFold second = first;
  for (bpm::OutOfFold* one : {&first, &second}) {
    const double shift = one == &first ? 0.8 : 0.4;
    for (Eigen::Index i = 0; i < 120; ++i) {
      const int label = one->labels[static_cast<std::size_t>(i)];
      for (Eigen::Index c = 0; c < one->decision_values.cols(); ++c) {
        const bool own = classes == 2 ? label == 1 : label == c;
        const bool rare = classes == 2 || c > 0;
        one->decision_values(i, c) = (own ? 1 : -1) + (rare ? shift : 0) + normal(engine);
      }
    }
  }
  for (const bool weighted : {false, true}) {
    CAPTURE(classes, weighted);
    bpm::SoftBoundary boundary = bpm::SoftBoundary::automatic();
    if (weighted) boundary = boundary.with_class_weights({{1, 2.0}});
    std::vector<ChoiceCandidate> of(2);
    of[1].first_fold_alone = true;
    const std::vector<bpm::detail::Trial> trials{{&of[0], first}, {&of[1], second}};
    const auto losses = bpm::detail::judge(trials, boundary);
    REQUIRE(losses.size() == 2);
    const auto fitted = bpm::detail::fit_slopes(
        {trials[0].outputs.decision_values, trials[1].outputs.decision_values}, first.labels,
        first.classes, classes == 3 || weighted);
    for (std::size_t k = 0; k < 2; ++k) {
      const ChoiceCandidate& found = of[k];
      const bpm::OutOfFold& outputs = trials[k].outputs;
      CHECK(found.consistent);
      CHECK_FALSE(found.first_fold_alone);
      CHECK(found.slope == fitted[k].slope);
      CHECK(found.offsets == fitted[k].offsets);
      CHECK(found.loss == fitted[k].loss);
      CHECK(found.standard_error == fitted[k].standard_error);
      CHECK(found.offsets.empty() == (classes == 2 && !weighted));
      // Softmax and labels by plain arithmetic; of two classes the first has the value 0.
      const double rare = 1 / (120.0 + 2) / (classes - 1);
      int wrong = 0;
      int wrong_without = 0;
      for (Eigen::Index i = 0; i < 120; ++i) {
        std::vector<double> plain(static_cast<std::size_t>(classes), 0.0);
        std::vector<double> z = plain;
        for (Eigen::Index c = 0; c < outputs.decision_values.cols(); ++c) {
          const auto at = static_cast<std::size_t>(classes == 2 ? 1 : c);
          plain[at] = outputs.decision_values(i, c);
          const double offset =
              found.offsets.empty() ? 0 : found.offsets[static_cast<std::size_t>(c)];
          z[at] = found.slope * plain[at] + offset;
        }
        const auto label = static_cast<std::size_t>(outputs.labels[static_cast<std::size_t>(i)]);
        const auto largest = [](const std::vector<double>& all) {
          return static_cast<std::size_t>(std::ranges::max_element(all) - all.begin());
        };
        wrong += largest(z) != label ? 1 : 0;
        wrong_without += largest(plain) != label ? 1 : 0;
        std::vector<double> p;
        double sum = 0;
        for (const double value : z) sum += std::exp(value);
        const double most = classes == 2 ? 1 - rare : 1;
        for (const double value : z) p.push_back(std::clamp(std::exp(value) / sum, rare, most));
        sum = 0;
        for (const double one : p) sum += one;
        CHECK(losses[k][static_cast<std::size_t>(i)] == Approx(-std::log(p[label] / sum)));
      }
      // Class weights move labels on purpose: no offset gives them back.
      CHECK(found.error == Approx((weighted ? wrong_without : wrong) / 120.0));
      if (classes == 3 || weighted) CHECK(wrong != wrong_without);
    }
  }
}

TEST_CASE("ties of losses are a tenth of a standard error, of errors none", "[selection]") {
  using bpm::detail::best_candidate;
  const auto candidate = [](double lambda, double noise, std::size_t kernel, double loss,
                            double error) {
    return ChoiceCandidate{.kernel = kernel,
                           .relative_lambda = lambda,
                           .label_noise = noise,
                           .consistent = true,
                           .loss = loss,
                           .standard_error = 0.2,
                           .error = error};
  };
  // The least is 0.5: up to 0.52 is as good.
  const std::vector<ChoiceCandidate> lambdas{candidate(0.1, 0, 0, 0.5, 0.11),
                                             candidate(1, 0, 0, 0.519, 0.12),
                                             candidate(3, 0, 0, 0.521, 0.1)};
  CHECK(best_candidate(lambdas) == 1);
  CHECK(best_candidate(lambdas, true) == 2);
  // The larger lambda, the larger label noise, the later kernel, in this order.
  CHECK(best_candidate(std::vector{candidate(0, 0.1, 0, 0.5, 0), candidate(0, 0.2, 0, 0.5, 0),
                                   candidate(0, 0, 1, 0.5, 0)}) == 1);
  CHECK(best_candidate(std::vector{candidate(0, 0, 1, 0.5, 0), candidate(0.1, 0, 0, 0.5, 0)}) == 1);
  CHECK(best_candidate(std::vector{candidate(0, 0, 1, 0.5, 0), candidate(0, 0, 0, 0.5, 0)}) == 0);
}

namespace {

/// Candidates of one Gaussian kernel, tried on points dealt to folds.
struct Trying {
  bpm::RowMatrix<float> inputs;
  std::vector<int> labels;
  std::vector<int> classes;
  std::vector<double> lambdas;

  [[nodiscard]] std::vector<ChoiceCandidate> operator()(double width, const bpm::Folds& folds,
                                                        BestOfFirstFold* best) const {
    std::vector<ChoiceCandidate> result;
    for (const double x : lambdas) result.push_back({.relative_lambda = x});
    const bpm::PermutedPerceptron sampler;
    const bpm::FitSettings settings;
    const bpm::RunControl control;
    const bpm::detail::ChoicePart all(labels, labels.size(), 1);
    const bpm::detail::CandidateSearch search{
        1, true, settings, control, all, bpm::detail::empty_out_of_fold(labels, classes, folds)};
    bpm::detail::try_boundaries(
        search,
        bpm::detail::fold_fits<float>(
            bpm::detail::kernel_values_of(bpm::Gaussian::from_width(width), inputs, all.points, 1),
            sampler),
        result, best);
    return result;
  }
};

/// The first fold of some alone.
[[nodiscard]] bpm::Folds first_of(bpm::Folds folds) {
  folds.count = 1;
  for (auto& fold : folds.of_point) fold = fold == 0 ? 0 : -1;
  return folds;
}

[[nodiscard]] double least(const std::vector<ChoiceCandidate>& candidates) {
  return std::ranges::min(candidates, {}, &ChoiceCandidate::loss).loss;
}

}  // namespace

TEST_CASE("candidates far behind on a large first fold are tried there alone",
          "[selection][at length]") {
  const int classes = GENERATE(2, 3);
  const int count = GENERATE(600, 1000);  // 120 and 200 points a fold.
  const auto [inputs, labels] = noisy_rings(count, classes, 0.1);
  std::vector<int> all{0, 1, 2};
  all.resize(static_cast<std::size_t>(classes));
  const Trying tried{inputs, labels, all, {0.3, 1.0, 3.0}};
  const bpm::Folds five = bpm::Folds::stratified(labels, 5, 1);
  BestOfFirstFold best;
  std::size_t dropped = 0;
  for (const double width : {0.3, 0.02}) {
    const auto alone = tried(width, five, nullptr);
    const auto on_first = tried(width, first_of(five), nullptr);
    const auto together = tried(width, five, &best);
    // The best of the first width stays; the others are behind it.
    if (width == 0.3) CHECK(least(together) == least(alone));
    for (std::size_t l = 0; l < together.size(); ++l) {
      CAPTURE(classes, count, width, l);
      REQUIRE(together[l].consistent);
      if (together[l].loss == alone[l].loss) continue;
      ++dropped;
      // Offsets have one ridge for all that are judged together.
      CHECK(together[l].loss - best.loss_of_all ==
            Approx(on_first[l].loss - best.loss).epsilon(1e-2));
      CHECK(together[l].error - best.error_of_all ==
            Approx(on_first[l].error - best.error).margin(0.006));  // A point of the fold at most.
      CHECK(together[l].loss > best.loss_of_all);
      CHECK(together[l].error >= best.error_of_all);
      // An estimate of what all folds would have said.
      CHECK(together[l].loss == Approx(alone[l].loss).epsilon(0.15));
    }
  }
  if (count == 1000) {
    const auto alone = tried(0.3, five, nullptr);
    CHECK(std::ranges::count(alone, best.loss_of_all, &ChoiceCandidate::loss) == 1);
  }
  // None where the fold is small; of the wrong widths most where it is large.
  if (count == 600) CHECK(dropped == 0);
  if (count == 1000) CHECK(dropped >= 3);
}

TEST_CASE("an easy first fold makes nobody better that was tried there alone", "[selection]") {
  // The labels of all folds but the first are noisy.
  auto [inputs, labels] = noisy_rings(1000, 2, 0);
  const bpm::Folds five = bpm::Folds::stratified(labels, 5, 1);
  bpm::RandomEngine engine(1);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (five.of_point[i] > 0 && bpm::uniform_unit(engine) < 0.3) labels[i] = 1 - labels[i];
  }
  const Trying tried{inputs, labels, {0, 1}, {0.3, 1.0, 3.0}};
  BestOfFirstFold best;
  const auto good = tried(1, five, &best);
  const auto bad = tried(0.2, five, &best);
  CHECK(least(tried(0.2, first_of(five), nullptr)) < least(good));
  CHECK(least(bad) > least(good));
}

TEST_CASE("where the best of the first fold is not consistent later nobody is behind it",
          "[selection]") {
  // One input twice, with two labels, one of them left out by the first fold: consistent there.
  auto [inputs, labels] = noisy_rings(1000, 2, 0);
  const bpm::Folds five = bpm::Folds::stratified(labels, 5, 1);
  const auto in_first = std::ranges::find(five.of_point, 0) - five.of_point.begin();
  const auto other = std::ranges::find(five.of_point, 1) - five.of_point.begin();
  inputs.row(in_first) = inputs.row(other);
  labels[static_cast<std::size_t>(in_first)] = 1 - labels[static_cast<std::size_t>(other)];
  const Trying tried{inputs, labels, {0, 1}, {0, 30}};
  BestOfFirstFold best;
  REQUIRE(tried(0.5, first_of(five), nullptr)[0].consistent);
  const auto alone = tried(0.5, five, nullptr);
  const auto together = tried(0.5, five, &best);
  CHECK_FALSE(together[0].consistent);
  CHECK(together[1].consistent);
  CHECK(together[1].loss == alone[1].loss);
  CHECK(best.losses.empty());
}
