// SPDX-License-Identifier: MIT
// The sampler as a machine uses it: draws, centre, report, settings.
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/samplers/sample_version_space.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/version_space.hpp"
#include "catch.hpp"
#include "gibbs_problems.hpp"
#include "problems.hpp"

using namespace sampler_tests;
using bpm::KernelGibbs;
using GibbsDirection = bpm::KernelGibbs::Direction;
using GramSpace = bpm::KernelVersionSpace<double>;

static_assert(bpm::Sampler<KernelGibbs, GramSpace>);

namespace {

/// Normal inputs under the linear kernel; labels of a plane, some turned round.
struct FlippedProblem {
  FlippedProblem(std::ptrdiff_t m, std::ptrdiff_t r, std::ptrdiff_t flipped) {
    bpm::RandomEngine engine(8, 102);
    bpm::NormalDraws normal;
    bpm::RowMatrix<double> inputs(m, r);
    std::vector<signed char> labels;
    for (std::ptrdiff_t i = 0; i < m; ++i) {
      for (std::ptrdiff_t k = 0; k < r; ++k) inputs(i, k) = normal(engine);
      const bool positive = inputs.row(i).sum() > 0;
      labels.push_back(positive == (i >= flipped) ? 1 : -1);
    }
    kernel = inputs * inputs.transpose();
    space = std::make_unique<GramSpace>(gram_of(), labels);
  }
  const bpm::PrecomputedGram<double>& gram_of() {
    gram = std::make_unique<bpm::PrecomputedGram<double>>(kernel);
    return *gram;
  }

  bpm::RowMatrix<double> kernel;
  std::unique_ptr<bpm::PrecomputedGram<double>> gram;
  std::unique_ptr<GramSpace> space;
};

struct GibbsRun {
  std::vector<KeptDraw> draws;
  bpm::SamplerReport report;
  KernelGibbs::State state;
};

GibbsRun gibbs_run(const KernelGibbs& sampler, const GramSpace& space,
                   KernelGibbs::State state = {}, bpm::RandomStreams streams = {},
                   const bpm::RunControl& control = {}) {
  GibbsRun run;
  run.state = std::move(state);
  run.report = bpm::sample_version_space(
      sampler, space, streams, control,
      [&](const bpm::Draw& draw) { run.draws.emplace_back(draw); }, run.state);
  return run;
}

int errors_of(const KeptDraw& draw, const GramSpace& space) {
  int errors = 0;
  for (std::size_t i = 0; i < draw.outputs.size(); ++i) {
    errors += space.label(static_cast<std::ptrdiff_t>(i)) * draw.outputs[i] > 0 ? 0 : 1;
  }
  return errors;
}

}  // namespace

TEST_CASE("KernelGibbs: draws have norm 1 and stand in version space") {
  const GibbsDirection directions = GENERATE(GibbsDirection::isotropic, GibbsDirection::input);
  const FlippedProblem problem(20, 5, 0);
  const GibbsRun run = gibbs_run({.draws = 25, .directions = directions}, *problem.space);
  REQUIRE(run.report.converged);
  REQUIRE(run.draws.size() == 25);
  CHECK(run.report.draws == 25);
  CHECK(run.report.chains->steps >= 2500);
  CHECK_FALSE(run.report.perceptron);
  CHECK(run.report.chains->rank == 5);
  CHECK(run.report.chains->chains == 4);
  CHECK(run.report.chains->burn_in > 0);
  CHECK(run.report.chains->mean_errors == 0);
  CHECK(run.report.chains->start_margin > 0);
  bpm::detail::BlockScratch<double> scratch;
  for (const KeptDraw& draw : run.draws) {
    CHECK(errors_of(draw, *problem.space) == 0);
    const Eigen::VectorXd outputs = problem.space->outputs(draw.alpha(), scratch);
    const Eigen::Map<const Eigen::VectorXd> given(draw.outputs.data(), 20);
    CHECK((outputs - given).cwiseAbs().maxCoeff() < 1e-9);
    CHECK(std::abs(draw.alpha().dot(outputs) - 1) < 1e-9);
  }
}

TEST_CASE("KernelGibbs: the centre lies as far from the truth as the report says", "[at length]") {
  struct Case {
    double noise;
    std::ptrdiff_t flipped;
    GibbsDirection directions;
  };
  const Case c =
      GENERATE(Case{0, 0, GibbsDirection::isotropic}, Case{0, 0, GibbsDirection::input},
               Case{0.1, 2, GibbsDirection::isotropic}, Case{0.1, 2, GibbsDirection::input});
  CAPTURE(c.noise, c.directions == GibbsDirection::input);
  const FlippedProblem problem(10, 3, c.flipped);
  const GibbsRun run = gibbs_run(
      {.draws = 1000, .label_noise = c.noise, .directions = c.directions}, *problem.space);
  REQUIRE(run.report.converged);
  const bpm::Cone cone = bpm::Cone(*problem.space);
  const WeightedMoments truth = weighted_moments(cone, c.noise, 200'000);
  const std::vector<double> found = cone.coordinates(run.state.centre().coefficients);
  double square = 0;
  double norm = 0;
  double error = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    square += std::pow(found[k] - truth.mean[k], 2);
    norm += found[k] * found[k];
    error += truth.error[k] * truth.error[k];
  }
  const double own = run.report.chains->standard_error * std::sqrt(norm);
  CHECK(std::sqrt(square) < 4 * std::hypot(own, std::sqrt(error)));
  CHECK(own < 0.02);
  CHECK(std::abs(std::sqrt(norm) - run.state.centre().norm) < 1e-9);
  CHECK(std::abs(run.report.chains->mean_norm - run.state.centre().norm) < 1e-9);
  const double errors = truth.mean.back();
  CHECK(std::abs(run.report.chains->mean_errors - errors) < 0.05 + 0.05 * errors);
}

TEST_CASE("KernelGibbs: threads and pieces change no bit") {
  const double noise = GENERATE(0.0, 0.1);
  const FlippedProblem problem(15, 4, 0);
  const KernelGibbs sampler{.draws = 12, .steps_per_draw = 20, .chains = 3, .label_noise = noise};
  const GibbsRun once = gibbs_run(sampler, *problem.space);
  const GibbsRun threaded = gibbs_run(sampler, *problem.space, {}, {}, on_threads(3));
  CHECK(once.draws == threaded.draws);
  CHECK(once.state.centre().coefficients == threaded.state.centre().coefficients);
  KernelGibbs part = sampler;
  part.draws = 5;
  const GibbsRun first = gibbs_run(part, *problem.space);
  part.draws = 7;
  const GibbsRun second = gibbs_run(part, *problem.space, first.state, {.seed = 1, .next = 5});
  std::vector<KeptDraw> both = first.draws;
  both.insert(both.end(), second.draws.begin(), second.draws.end());
  CHECK(both == once.draws);
  CHECK(second.state.centre().coefficients == once.state.centre().coefficients);
}

TEST_CASE("KernelGibbs: noise admits training errors where nothing separates the data") {
  const FlippedProblem problem(30, 3, 4);
  const GibbsRun hard = gibbs_run({.draws = 5}, *problem.space);
  CHECK_FALSE(hard.report.converged);
  CHECK(hard.draws.empty());
  CHECK_THAT(hard.report.reason, Catch::Matchers::ContainsSubstring("label noise q > 0"));
  const GibbsRun soft = gibbs_run({.draws = 100, .label_noise = 0.1}, *problem.space);
  CHECK(soft.report.converged);
  REQUIRE(soft.draws.size() == 100);
  double errors = 0;
  for (const KeptDraw& draw : soft.draws) errors += errors_of(draw, *problem.space) / 100.0;
  CHECK(errors > 2);
  CHECK(std::abs(soft.report.chains->mean_errors - errors) < 1);
}

TEST_CASE("KernelGibbs: a caller's start") {
  const FlippedProblem problem(10, 3, 0);
  KernelGibbs sampler{.draws = 3};
  sampler.start_coefficients = gibbs_run(sampler, *problem.space).draws[1].coefficients;
  // Coefficients of the support, which is the pivots: make them one per point.
  const GibbsRun first = gibbs_run({.draws = 1}, *problem.space);
  std::vector<double> alpha(10, 0.0);
  for (std::size_t s = 0; s < first.draws[0].support.size(); ++s) {
    alpha[static_cast<std::size_t>(first.draws[0].support[s])] = first.draws[0].coefficients[s];
  }
  using Catch::Matchers::ContainsSubstring;
  CHECK_THROWS_WITH(gibbs_run(sampler, *problem.space),
                    ContainsSubstring("KernelGibbs: start_coefficients has 3 entries"));
  sampler.start_coefficients = alpha;
  CHECK(gibbs_run(sampler, *problem.space).report.converged);
  for (double& value : sampler.start_coefficients) value = -value;
  CHECK_THROWS_WITH(gibbs_run(sampler, *problem.space),
                    ContainsSubstring("start_coefficients lie outside version space") &&
                        ContainsSubstring("or allow label noise"));
  sampler.label_noise = 0.1;
  CHECK(gibbs_run(sampler, *problem.space).report.converged);
}

TEST_CASE("KernelGibbs: other budgets end a run") {
  const FlippedProblem problem(10, 3, 0);
  const GibbsRun steps = gibbs_run({.steps = 5000}, *problem.space);
  CHECK(steps.report.converged);
  CHECK(steps.report.chains->steps >= 5000);
  const GibbsRun accurate = gibbs_run({.accuracy = 0.02}, *problem.space);
  CHECK(accurate.report.converged);
  CHECK(accurate.report.chains->standard_error <= 0.02);
  const bpm::RunControl impatient{[](const bpm::Progress&) { return false; }, {}, 1};
  const GibbsRun stopped = gibbs_run({.draws = 50}, *problem.space, {}, {}, impatient);
  CHECK(stopped.report.stopped);
  CHECK_FALSE(stopped.report.converged);
}

TEST_CASE("KernelGibbs: settings out of range are named") {
  using Catch::Matchers::ContainsSubstring;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const auto check = [](const KernelGibbs& sampler, const char* text) {
    CHECK_THROWS_AS(sampler.check_settings(), std::invalid_argument);
    CHECK_THROWS_WITH(sampler.check_settings(), ContainsSubstring(text));
  };
  check({.label_noise = 0.5}, "KernelGibbs: label_noise is 0.5, must be at least 0 and below 1/2");
  check({.label_noise = -1e-9}, "label_noise is -1e-09");
  check({.label_noise = nan}, "label_noise is nan");
  check({.directions = static_cast<GibbsDirection>(5)},
        "KernelGibbs: directions is 5, must be isotropic or input");
  check({.draws = 0},
        "draws is 0, must be 1 or more, or empty to leave it to steps, seconds or accuracy");
  check({.steps_per_draw = 0}, "steps_per_draw is 0, must be 1 or more");
  check({.seconds = infinite}, "seconds is inf");
  check({.accuracy = -1}, "accuracy is -1");
  check({.chains = 0}, "chains is 0");
  check({.start = static_cast<bpm::ConePlan::Start>(9)}, "start is 9");
  check({.start_coefficients = {1.0, nan}}, "start_coefficients at 1 is nan");
  check({.factor_tolerance = 1}, "factor_tolerance is 1");
  CHECK_NOTHROW(KernelGibbs{}.check_settings());
}

TEST_CASE("KernelGibbs: the memory forecast grows with what is kept") {
  const KernelGibbs isotropic;
  const KernelGibbs input{.directions = GibbsDirection::input};
  CHECK(isotropic.memory_need({1000, 1, 1, 8}).bytes > 2U * 1000 * 1000 * 8);
  CHECK(input.memory_need({1000, 1, 1, 8}).bytes > isotropic.memory_need({1000, 1, 1, 8}).bytes);
}
