// SPDX-License-Identifier: MIT
// Each rank holds some of the points; one process alone has them all and must find the same model.
#include "bpm/cluster/sharded_one_vs_rest.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "hard.hpp"
#include "message_of.hpp"
#include "rank_problems.hpp"

using namespace rank_tests;
using Catch::Matchers::ContainsSubstring;
using test_support::message_of;

namespace {

/// Points of rank r: uneven parts in the order of the ranks.
struct Part {
  std::ptrdiff_t begin = 0;
  std::ptrdiff_t end = 0;
};
Part part_of(std::ptrdiff_t m) {
  constexpr double cuts[]{0, 0.1, 0.45, 0.5, 1};
  return {static_cast<std::ptrdiff_t>(static_cast<double>(m) * cuts[rank()]),
          static_cast<std::ptrdiff_t>(static_cast<double>(m) * cuts[rank() + 1])};
}

template <class I>
I rows_of(const I& inputs, Part part) {
  return inputs.middleRows(part.begin, part.end - part.begin);
}
std::vector<int> labels_of(const std::vector<int>& labels, Part part) {
  return {labels.begin() + part.begin, labels.begin() + part.end};
}

template <class Kernel, class I>
void check_same(const Kernel& k, const I& inputs, const std::vector<int>& labels,
                const bpm::PermutedPerceptron& sampler, const bpm::FitSettings& settings,
                std::ptrdiff_t group = 0) {
  const Part part = part_of(inputs.rows());
  const auto alone =
      bpm::OneVsRest(bpm::BayesPointMachine(k, sampler, test_support::hard(settings)))
          .fit(inputs, labels);
  bpm::ShardedOneVsRest machine(k, sampler, test_support::hard(settings));
  machine.group = group;
  const auto fitted = machine.fit(rows_of(inputs, part), labels_of(labels, part));
  CHECK(fitted.classes() == alone.classes());
  CHECK(fitted.notes.chosen == alone.notes.chosen);
  REQUIRE(fitted.support() == alone.support());
  CHECK(fitted.coefficients() == alone.coefficients());
  CHECK(fitted.decision_values(inputs) == alone.decision_values(inputs));
  CHECK(fitted.predict(inputs) == alone.predict(inputs));
  CHECK(fitted.report().perceptron->mistakes == alone.report().perceptron->mistakes);
  CHECK(fitted.report().perceptron->passes == alone.report().perceptron->passes);
  CHECK(fitted.report().perceptron->training_errors == 0);
  CHECK(fitted.report().converged);
  CHECK(same_on_all(fitted.report().kernel_evaluations));
}

}  // namespace

TEST_CASE("shards find the model of one process, bit for bit") {
  const Problem problem = make_problem(900);
  bpm::FitSettings settings = one_thread();
  for (const std::ptrdiff_t group : {0, 70, 600, 5000}) {
    CAPTURE(group);
    check_same(kernel, problem.inputs, problem.labels, {.draws = 2}, settings, group);
  }
  // All ranks see inputs far from the origin from one point, whatever rows they have.
  check_same(kernel, bpm::RowMatrix<float>(problem.inputs.array() + 300), problem.labels,
             {.draws = 1}, settings);
  settings.seed = 3;
  settings.threads = 3;
  check_same(kernel, problem.inputs, problem.labels, {.draws = 1, .margin = 0.5}, settings);
}

TEST_CASE("shards: soft boundaries, bytes, double, distances, two classes") {
  const Problem problem = make_problem(300);
  bpm::FitSettings settings = one_thread();
  settings.soft_boundary = bpm::SoftBoundary::per_class({{4, 0.3}, {5, 0.1}, {6, 0.2}});
  check_same(kernel, problem.inputs, problem.labels, {.draws = 1, .max_passes = 100'000}, settings,
             100);
  settings.soft_boundary = bpm::SoftBoundary::relative(0.5);
  bpm::RowMatrix<std::uint8_t> bytes(300, 5);
  for (Eigen::Index i = 0; i < bytes.size(); ++i) {
    bytes.data()[i] = static_cast<std::uint8_t>(127 + 120 * problem.inputs.data()[i]);
  }
  check_same(bpm::Polynomial(5, 1.0 / 65025, 1), bytes, problem.labels,
             {.draws = 1, .max_passes = 100'000}, settings);
  settings.soft_boundary = {};
  const bpm::RowMatrix<double> exact = problem.inputs.cast<double>();
  std::vector<int> two = problem.labels;
  for (int& label : two) label = label == 4 ? -1 : 1;
  check_same(bpm::Laplacian(0.5), exact, two, {.draws = 2}, settings);
  // A weight of a class of which the first rank has no point.
  std::fill(two.begin(), two.begin() + 30, 1);
  settings.soft_boundary = bpm::SoftBoundary::relative(0.5).with_class_weights({{-1, 3.0}});
  settings.chosen = true;
  check_same(kernel, problem.inputs, two, {.draws = 1, .max_passes = 100'000}, settings);
}

TEST_CASE("shards: a stop of one rank stops all, without a gap") {
  const Problem problem = make_problem(300);
  const Part part = part_of(300);
  const bpm::ShardedOneVsRest machine(kernel, {.draws = 100'000}, test_support::hard(one_thread()));
  const auto fitted =
      machine.fit(rows_of(problem.inputs, part), labels_of(problem.labels, part),
                  [](const bpm::Progress& now) { return rank() != 2 || now.draws < 3; });
  CHECK(fitted.report().stopped);
  CHECK(fitted.report().draws >= 3);
  CHECK(same_on_all(fitted.report().draws));
  const std::string message = message_of([&] {
    static_cast<void>(machine.fit(rows_of(problem.inputs, part), labels_of(problem.labels, part),
                                  [](const bpm::Progress&) { return rank() != 1; }));
  });
  CHECK_THAT(message, ContainsSubstring("stopped before the first draw"));
  CHECK(same_text_on_all(message));
}

TEST_CASE("shards: errors are the same on all ranks") {
  const Problem problem = make_problem(300);
  const Part part = part_of(300);
  struct Case {
    std::string what;
    std::function<void(Inputs&, std::vector<int>&, bpm::PermutedPerceptron&, bpm::FitSettings&)>
        change;
  };
  const bool odd = rank() == 2;
  const std::vector<Case> cases{
      {"must be finite",
       [&](auto& x, auto&, auto&, auto&) {
         if (odd) x(0, 0) = std::numeric_limits<float>::quiet_NaN();
       }},
      {"labels has 14 entries, expected 15",
       [&](auto&, auto& y, auto&, auto&) {
         if (odd) y.pop_back();
       }},
      {"inputs is empty, expected one input or more on each rank",
       [&](auto& x, auto& y, auto&, auto&) {
         if (odd) {
           x = Inputs(0, 5);
           y.clear();
         }
       }},
      {"labels are all 4 on all ranks",
       [&](auto&, auto& y, auto&, auto&) {
         for (int& label : y) label = 4;
       }},
      {"columns of the inputs of rank 2 differ",
       [&](auto& x, auto&, auto&, auto&) {
         if (odd) x = Inputs(x.leftCols(4));
       }},
      {"settings of rank 2 differ",
       [&](auto&, auto&, auto&, auto& s) {
         if (odd) s.seed = 7;
       }},
      {"settings of rank 2 differ",
       [&](auto&, auto&, auto&, auto& s) {
         s.soft_boundary = bpm::SoftBoundary::uniform(odd ? 0.5 : 2.0);
       }},
      {"settings of rank 2 differ",
       [&](auto&, auto&, auto&, auto& s) {
         if (odd) s.soft_boundary = bpm::SoftBoundary::uniform(0.5);
       }},
      {"soft_boundary is automatic, must be given: shards choose none",
       [&](auto&, auto&, auto&, auto& s) { s.soft_boundary = bpm::SoftBoundary::automatic(); }},
      {"bias must be 0: give shards a kernel that has it, by biased",
       [&](auto&, auto&, auto&, auto& s) { s.bias.reset(); }},
      {"keep_draws is true, must be false: shards keep the mean alone",
       [&](auto&, auto&, auto&, auto& s) { s.keep_draws = true; }},
      {"standardise is true, must be false: no rank has all inputs; scale them before",
       [&](auto&, auto&, auto&, auto& s) { s.standardise = true; }},
      {"still made ", [&](auto&, auto&, auto& p, auto&) { p.max_passes = 2; }},
      {"margin is -1", [&](auto&, auto&, auto& p, auto&) { p.margin = -1; }},
      {"one per training point",
       [&](auto&, auto&, auto&, auto& s) {
         s.soft_boundary = bpm::SoftBoundary::per_point(std::vector<double>(3, 0.5));
       }},
  };
  for (const Case& one : cases) {
    Inputs inputs = rows_of(problem.inputs, part);
    std::vector<int> labels = labels_of(problem.labels, part);
    bpm::PermutedPerceptron sampler{.draws = 2};
    bpm::FitSettings settings = one_thread();
    one.change(inputs, labels, sampler, settings);
    const std::string message = message_of([&] {
      static_cast<void>(bpm::ShardedOneVsRest(kernel, sampler, settings).fit(inputs, labels));
    });
    CHECK_THAT(message, ContainsSubstring(one.what));
    CHECK(same_text_on_all(message));
  }
  const Inputs inputs = rows_of(problem.inputs, part);
  const std::vector<int> labels = labels_of(problem.labels, part);
  CHECK_THAT(message_of([&] {
               const auto other = bpm::Gaussian::from_sigma(odd ? 0.5 : 0.4);
               static_cast<void>(
                   bpm::ShardedOneVsRest(other, {}, test_support::hard()).fit(inputs, labels));
             }),
             ContainsSubstring("kernel values of rank 2 differ"));
  bpm::ShardedOneVsRest negative(kernel, {}, test_support::hard());
  negative.group = -1;
  CHECK_THAT(message_of([&] { static_cast<void>(negative.fit(inputs, labels)); }),
             ContainsSubstring("group is -1"));
  bpm::ShardedOneVsRest vast(kernel, {}, test_support::hard());
  vast.group = std::ptrdiff_t{1} << 40U;
  CHECK_THAT(message_of([&] { static_cast<void>(vast.fit(inputs, labels)); }),
             ContainsSubstring(": its inputs are one message"));
  CHECK_THROWS_AS(
      bpm::ShardedOneVsRest(kernel, {.max_passes = 1}, test_support::hard()).fit(inputs, labels),
      bpm::NotSeparable);
  // No bias: the zero input has no sign. A huge input: no kernel value in range.
  Inputs zero = inputs;
  if (odd) zero.row(0).setZero();
  const auto at_zero = [&] {
    static_cast<void>(bpm::ShardedOneVsRest(bpm::Polynomial(2, 1, 0), {}, test_support::hard())
                          .fit(zero, labels));
  };
  CHECK_THROWS_AS(at_zero(), bpm::NotSeparable);
  CHECK(message_of(at_zero) ==
        "ShardedOneVsRest::fit: point 0 of a rank has k(x, x) = 0, so no classifier gives it a "
        "sign; add a bias to the kernel or a soft boundary lambda > 0");
  Inputs huge = inputs;
  if (odd) huge.row(0).setConstant(1e18F);
  CHECK_THROWS_AS(
      bpm::ShardedOneVsRest(bpm::Polynomial(5), {}, test_support::hard()).fit(huge, labels),
      bpm::KernelValueError);
}

TEST_CASE("norms of shards are summed in the order of the points, from rank to rank") {
  // Orthogonal inputs: every point is one mistake, w = sum_i y_i x_i, norm(w)^2 = sum_i |x_i|^2. In
  // order the ones are lost one by one beside 2^54; added up by rank they would not be.
  constexpr std::ptrdiff_t each = 3;
  bpm::RowMatrix<double> inputs = bpm::RowMatrix<double>::Zero(each, 4 * each);
  std::vector<int> labels;
  for (std::ptrdiff_t i = 0; i < each; ++i) {
    inputs(i, each * rank() + i) = rank() == 0 && i == 0 ? 0x1p27 : 1.0;
    labels.push_back(i % 2 == 0 ? 1 : -1);
  }
  const auto fitted =
      bpm::ShardedOneVsRest(bpm::Linear(), {.draws = 1}, test_support::hard(one_thread()))
          .fit(inputs, labels);
  REQUIRE(fitted.support().size() == 4 * each);
  for (std::ptrdiff_t s = 0; s < 4 * each; ++s) {
    CHECK(fitted.coefficients()(s, 0) == (s % each % 2 == 0 ? 0x1p-27 : -0x1p-27));
  }
}
