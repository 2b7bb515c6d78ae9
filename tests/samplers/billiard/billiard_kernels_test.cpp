// SPDX-License-Identifier: MIT
// Runs of `Billiard` from every start and on hard kernels: rank 1, rank-deficient, near-singular,
// with lambda.
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "billiard_problems.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "catch.hpp"

using namespace law_tests;
using bpm::Billiard;
using sampler_tests::Outcome;

namespace {

/// An observer that ends a run that never ends by itself.
bpm::RunControl at_most(int calls) {
  return {[calls](const bpm::Progress&) mutable { return --calls >= 0; }, {}, 1};
}

}  // namespace

TEST_CASE("billiard: starts by caller, perceptron and largest margin lead to one centre") {
  const Problem& problem = easy_problem();
  Billiard sampler{.draws = 50, .bounces_per_draw = 1000};
  std::vector<Numbers> centres;
  std::vector<double> margins;
  const auto add = [&] {
    Continued<> run;
    run.go_on(sampler, problem.space);
    centres.push_back(run.state.centre().outputs);
    margins.push_back(run.report.chains->start_margin);
    return run.report.perceptron ? run.report.perceptron->mistakes : 0;
  };
  CHECK(add() == 0);
  sampler.start = bpm::ConePlan::Start::perceptron;
  CHECK(add() > 0);
  const Eigen::VectorXd given =
      sampler_tests::run(Billiard{.draws = 1}, problem.space).draws.front().alpha();
  sampler.start_coefficients.assign(given.data(), given.data() + given.size());
  for (double& value : sampler.start_coefficients) value *= 37;  // Any norm will do.
  CHECK(add() == 0);
  CHECK(margins[0] > margins[1]);
  CHECK(margins[1] > 0);
  CHECK(margins[2] > 0);
  CHECK(angle(centres[0], centres[1]) < 0.02);
  CHECK(angle(centres[0], centres[2]) < 0.02);
}

TEST_CASE("billiard: one point, and rank 1, have one classifier; every budget ends") {
  const Problem one(Kernel::Constant(1, 1, 4.0), {-1});
  const Problem line(Kernel::Ones(3, 3), {-1, -1, -1});
  for (const Problem* problem : {&one, &line}) {
    const Outcome outcome = run({.draws = 9}, *problem);
    REQUIRE(outcome.draws.size() == 9);
    CHECK(all_inside(*problem, outcome.draws));
    CHECK(outcome.draws.front().outputs == outcome.draws.back().outputs);
    CHECK(outcome.report.converged);
    CHECK(outcome.report.chains->rank == 1);
    CHECK(std::abs(outcome.report.chains->mean_norm - 1) <= 1e-12);
    CHECK(outcome.report.chains->standard_error <= 1e-12);
    CHECK(outcome.report.chains->chain_angle <= 1e-12);
    CHECK(run({.bounces = 5000}, *problem, at_most(200)).report.converged);
    CHECK(run({.accuracy = 0.01}, *problem, at_most(200)).report.converged);
  }
}

TEST_CASE("billiard: rank-deficient and near-singular kernels, soft or not") {
  const Kernel inputs = tilted_inputs(40, 2, 0.0, 12);
  Kernel twice(40, 2);
  twice << inputs.topRows(20), inputs.topRows(20);
  const Kernel narrow = tilted_inputs(40, 1, 0.0, 12);
  const Problem deficient(linear_kernel(inputs), labels_by_first(inputs));
  const Problem repeated(gaussian_kernel(twice, 1.0), labels_by_first(twice));
  const Problem singular(gaussian_kernel(narrow, 0.01), labels_by_first(narrow, 0.4));
  const Problem soft(gaussian_kernel(narrow, 0.01), labels_by_first(narrow, 0.4),
                     Numbers(40, 1e-6));
  CHECK(run({.draws = 1}, deficient).report.chains->rank == 2);
  CHECK(run({.draws = 1}, repeated).report.chains->rank <= 20);
  CHECK(run({.draws = 1}, singular).report.chains->rank < 12);
  CHECK(run({.draws = 1}, soft).report.chains->rank == 40);
  for (const Problem* problem : {&deficient, &repeated, &singular, &soft}) {
    Continued<> run;
    run.go_on({.draws = 20, .bounces_per_draw = 100}, problem->space);
    INFO("rank " << run.report.chains->rank << ": " << run.report.reason);
    CHECK(run.report.converged);
    CHECK(all_inside(*problem, run.draws, 1e-4));  // Coefficients are of size 1e6.
    bool inside = true;
    for (std::ptrdiff_t i = 0; i < 40; ++i) {
      const auto at = static_cast<std::size_t>(i);
      inside = inside && run.state.centre().outputs[at] * problem->space.label(i) > 0 &&
               std::isfinite(run.state.centre().coefficients[at]);
    }
    CHECK(inside);
    CHECK(run.report.chains->repairs == 0);
    CHECK(run.report.chains->start_margin > 0);
  }
}

TEST_CASE("billiard: lambda of each point is in norms and outputs") {
  // Orthogonal points with lambda: the orthant again, its outputs scaled.
  const Problem problem(Kernel::Identity(4, 4), {1, -1, 1, -1}, {0, 3, 8, 15});
  Continued<> run;
  run.go_on({.draws = 50, .bounces_per_draw = 1000}, problem.space);
  CHECK(all_inside(problem, run.draws));
  const bpm::CentreOfMass& centre = run.state.centre();
  for (std::size_t i = 0; i < 4; ++i) {
    const double side = i % 2 == 0 ? 1 : -1;
    const double root = static_cast<double>(i + 1);
    CHECK(std::abs(side * centre.outputs[i] / (root * centre.norm) - 0.5) < 0.01);
    CHECK(std::abs(side * centre.coefficients[i] * root / centre.norm - 0.5) < 0.01);
  }
  CHECK(std::abs(centre.norm - 2 * std::sqrt(2 / std::numbers::pi) / mean_normal_norm(4)) < 0.01);
}

TEST_CASE("billiard: bytes grow with the square of the points") {
  const Billiard sampler{.chains = 2};
  CHECK(sampler.memory_need({1000, 1, 1, 4}).bytes >= 8 * 2 * 1000 * 1000);
  CHECK(sampler.memory_need({1000, 1, 1, 4}).bytes <= 8 * 7 * 1000 * 1000);  // And outputs kept.
  // Two chains more keep less than one matrix more.
  CHECK(Billiard{}.memory_need({1000, 1, 1, 4}).bytes <= 8 * 8 * 1000 * 1000);
}
