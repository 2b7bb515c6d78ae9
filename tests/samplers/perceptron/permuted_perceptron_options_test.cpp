// SPDX-License-Identifier: MIT
// Margin, Novikoff's bound, caps.
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "catch.hpp"
#include "message_of.hpp"
#include "problems.hpp"

using namespace sampler_tests;
using bpm::PermutedPerceptron;
using Catch::Matchers::ContainsSubstring;

namespace {

using LinearValues = bpm::detail::OnDemandGram<bpm::Linear, Inputs>;
using RowSpace = bpm::KernelVersionSpace<float>;

/// Reports of draws 0 .. draws - 1, each by a run of its own.
template <class Space>
std::vector<bpm::SamplerReport> one_by_one(PermutedPerceptron sampler, const Space& space,
                                           std::uint64_t draws) {
  std::vector<bpm::SamplerReport> reports;
  sampler.draws = 1;
  for (std::uint64_t n = 0; n < draws; ++n) {
    reports.push_back(run(sampler, space, {}, {.seed = 1, .next = n}).report);
  }
  return reports;
}

/// A version space of a user's own, which may have any number of points.
struct Sized : bpm::KernelVersionSpace<double> {
  Sized(const bpm::detail::Gram<double>& gram, std::ptrdiff_t count)
      : KernelVersionSpace(gram, {1, -1}), points(count) {}
  [[nodiscard]] std::ptrdiff_t size() const noexcept { return points; }
  std::ptrdiff_t points;
};

}  // namespace

TEST_CASE("mistakes stay within Novikoff's bound on data of known margin") {
  const double wanted = GENERATE(0.05, 0.2, 0.7);
  const double margin = GENERATE(0.0, 0.5, 3.0);
  const bool soft = GENERATE(false, true);
  CAPTURE(wanted, margin, soft);
  const SeparableProblem problem = separable_problem(200, 4, wanted, 6);
  REQUIRE(problem.margin > wanted - 1e-6);
  const LinearValues on_demand(bpm::Linear{}, problem.inputs);
  const Matrix matrix(on_demand);
  const RowSpace space(matrix, problem.labels, soft ? random_lambda(200, 6) : nullptr);
  double radius = 0;
  for (std::ptrdiff_t i = 0; i < space.size(); ++i) radius = std::max(radius, space.diagonal(i));
  const double bound = (radius + 2 * margin) / (problem.margin * problem.margin);
  const PermutedPerceptron sampler{.max_passes = 100000, .margin = margin};
  for (const bpm::SamplerReport& report : one_by_one(sampler, space, 10)) {
    REQUIRE(report.converged);
    CHECK(static_cast<double>(report.perceptron->mistakes) <= bound);
  }
}

TEST_CASE("with a margin every signed output of w before scaling is above it") {
  const double margin = 2.5;
  const std::ptrdiff_t m = 120;
  const Inputs inputs = random_inputs(m, 5, 4);
  const Labels labels = random_labels(m, 4);
  const NarrowValues on_demand(narrow_gaussian, inputs);
  const Matrix matrix(on_demand);
  const Eigen::MatrixXd kernel = values_of(matrix);
  const Outcome outcome =
      run(PermutedPerceptron{.draws = 4, .max_passes = 100000, .margin = margin},
          RowSpace(matrix, labels));
  REQUIRE(outcome.report.converged);
  for (const KeptDraw& draw : outcome.draws) {
    const Textbook textbook =
        textbook_perceptron(kernel, labels, nullptr, order_of(m, {}, draw.number), margin);
    CHECK(same_classifier(draw, textbook, labels));
    double smallest = 1e300;
    for (std::ptrdiff_t i = 0; i < m; ++i) {
      smallest = std::min(smallest, labels[static_cast<std::size_t>(i)] * textbook.outputs[i]);
    }
    CHECK(smallest > margin);
  }
}

TEST_CASE("a draw beyond max_passes ends the run; the draws before it stand") {
  const Inputs inputs = random_inputs(150, 5, 31);
  const NarrowValues on_demand(narrow_gaussian, inputs);
  const Matrix matrix(on_demand);
  const Labels labels = random_labels(150, 31);
  const RowSpace space(matrix, labels);
  const bpm::KernelVersionSpace<float> windows(on_demand, labels);
  const auto alone = one_by_one({}, space, 30);
  const std::uint64_t cap = alone[0].perceptron->passes;
  const auto first = std::find_if(alone.begin(), alone.end(), [&](const auto& report) {
    return report.perceptron->passes > cap;
  });
  REQUIRE(first != alone.end());
  const auto good = static_cast<std::uint64_t>(first - alone.begin());
  const Outcome expected = run(PermutedPerceptron{.draws = good}, space);

  for (const unsigned threads : {1U, 2U, 3U, 7U}) {
    CAPTURE(threads, good, cap);
    const PermutedPerceptron sampler{.draws = good + 9, .max_passes = cap};
    const Outcome outcome = run(sampler, space, on_threads(threads));
    CHECK_FALSE(outcome.report.converged);
    CHECK_FALSE(outcome.report.stopped);
    CHECK(outcome.report.draws == good);
    CHECK(outcome.next == good);
    CHECK(outcome.draws == expected.draws);
    CHECK(outcome.report.perceptron->mistakes == expected.report.perceptron->mistakes);
    CHECK(outcome.report.perceptron->passes == expected.report.perceptron->passes);
    CHECK(outcome.report.perceptron->training_errors > 0);
    const std::string pass = "mistakes in pass " + std::to_string(cap);
    CHECK_THAT(outcome.report.reason,
               ContainsSubstring("draw " + std::to_string(good) + " still made ") &&
                   ContainsSubstring(pass) && ContainsSubstring("the last of max_passes"));
    CHECK(run(sampler, windows, on_threads(threads)).report.reason == outcome.report.reason);
  }
}

TEST_CASE("max_passes 0 is a limit of its own, so that a hopeless problem ends") {
  // 5e6 visits: 100 000 passes over 50 points.
  const std::vector<int> inputs(50, 1);
  const auto kernel = [](int a, int b) { return a == b ? 1.0 : 0.0; };
  const bpm::detail::OnDemandGram on_demand(kernel, inputs);
  const bpm::detail::DenseGram<double> matrix(on_demand);
  Labels labels(50, 1);
  labels[7] = -1;
  const Outcome outcome =
      run(PermutedPerceptron{.draws = 1}, bpm::KernelVersionSpace<double>(matrix, labels));
  CHECK_FALSE(outcome.report.converged);
  CHECK_THAT(outcome.report.reason, ContainsSubstring("in pass 100000 "));
}

TEST_CASE("the reason names the problem that failed, not one with more mistakes that is done") {
  Inputs inputs = random_inputs(80, 5, 34);
  inputs.row(1) = inputs.row(0);
  const auto kernel = bpm::biased(bpm::Gaussian::from_sigma(0.3), 4.0);
  const bpm::detail::OnDemandGram<decltype(kernel), Inputs> on_demand(kernel, inputs);
  const Matrix matrix(on_demand);
  Labels hard = random_labels(80, 34);
  hard[0] = hard[1] = 1;
  Labels hopeless(80, 1);  // Equal inputs 0 and 1 with different labels.
  hopeless[1] = -1;
  const std::uint64_t passes =
      run(PermutedPerceptron{.draws = 1}, RowSpace(matrix, hard)).report.perceptron->passes;
  const std::vector<RowSpace> spaces{{matrix, hard}, {matrix, hopeless}};
  const Outcome outcome =
      run_in_step(PermutedPerceptron{.draws = 1, .max_passes = passes + 1}, spaces);
  CHECK_FALSE(outcome.report.converged);
  CHECK(outcome.report.perceptron->training_errors > 0);
  CHECK_THAT(outcome.report.reason, ContainsSubstring("problem 1"));
}

TEST_CASE("problems have points, all of them the same number") {
  const bpm::RowMatrix<double> values = bpm::RowMatrix<double>::Identity(2, 2);
  const bpm::PrecomputedGram<double> gram(values);
  const auto refusal = [&](const std::vector<std::ptrdiff_t>& sizes) {
    std::vector<Sized> spaces;
    for (const std::ptrdiff_t size : sizes) spaces.emplace_back(gram, size);
    return test_support::message_of(
        [&] { bpm::detail::check_spaces(std::span<const Sized>(spaces), "f"); });
  };
  CHECK(refusal({2, 2}) == "nothing was thrown");
  CHECK(refusal({}) == "f: spaces is empty, expected a problem");
  CHECK(refusal({0}) == "f: spaces have no points");
  CHECK(refusal({2, 1}) == "f: spaces has 1 entries, expected 2 (as the first problem has)");
}
