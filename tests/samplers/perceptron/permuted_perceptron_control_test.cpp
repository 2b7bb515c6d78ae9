// SPDX-License-Identifier: MIT
// Settings, stopping, progress, and exceptions from outside.
#include <Eigen/Core>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/samplers/sample_version_space.hpp"
#include "catch.hpp"
#include "problems.hpp"

using namespace sampler_tests;
using bpm::PermutedPerceptron;
using Catch::Matchers::Equals;

namespace {

using RowSpace = bpm::KernelVersionSpace<float>;
using WindowSpace = bpm::KernelVersionSpace<float>;

struct Fixture {
  Inputs inputs = random_inputs(300, 5, 51);
  Labels labels = random_labels(300, 51);
  NarrowValues on_demand{narrow_gaussian, inputs};
  Matrix matrix{on_demand};
  RowSpace rows{matrix, labels};
  WindowSpace windows{on_demand, labels};
};

std::string perceptron_message(const PermutedPerceptron& sampler, const RowSpace& space) {
  try {
    (void)run(sampler, space);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing thrown";
}

}  // namespace

TEST_CASE("settings out of range are refused") {
  const Fixture f;
  CHECK(perceptron_message({.draws = 0}, f.rows) ==
        "PermutedPerceptron: draws is 0, must be 1 or more");
  CHECK(perceptron_message({.margin = -0.5}, f.rows) ==
        "PermutedPerceptron: margin is -0.5, must be finite and not negative");
  CHECK(perceptron_message({.margin = std::numeric_limits<double>::quiet_NaN()}, f.rows) ==
        "PermutedPerceptron: margin is nan, must be finite and not negative");
  CHECK(perceptron_message({.margin = std::numeric_limits<double>::infinity()}, f.rows) ==
        "PermutedPerceptron: margin is inf, must be finite and not negative");
}

TEST_CASE("problems in step must be there and of one size") {
  const Fixture f;
  bpm::RandomStreams streams;
  const auto sink = [](const bpm::Draw&) {};
  CHECK_THROWS_WITH(
      PermutedPerceptron{}.sample(std::span<const RowSpace>(), streams, bpm::RunControl{}, sink),
      Equals("PermutedPerceptron: spaces is empty, expected a problem"));
  const Inputs fewer = random_inputs(20, 5, 1);
  const NarrowValues values(narrow_gaussian, fewer);
  const Matrix small(values);
  const std::vector<RowSpace> spaces{f.rows, {small, random_labels(20, 1)}};
  CHECK_THROWS_WITH(run_in_step(PermutedPerceptron{}, spaces),
                    Equals("PermutedPerceptron: spaces has 20 entries, expected 300 (as the first "
                           "problem has)"));
  CHECK(streams.next == 0);
}

TEST_CASE("a stop request leaves the draws that a shorter run makes") {
  const Fixture f;
  const unsigned threads = GENERATE(1U, 2U, 3U, 7U);
  const bool windowed = GENERATE(false, true);
  CAPTURE(threads, windowed);
  const Outcome all = run(PermutedPerceptron{.draws = 40}, f.rows);

  std::stop_source source;
  const bpm::RunControl control{{}, source.get_token(), threads};
  bpm::RandomStreams streams;
  std::vector<KeptDraw> draws;
  const auto sink = [&](const bpm::Draw& draw) {
    draws.emplace_back(draw);
    if (draws.size() == 3) source.request_stop();
  };
  const PermutedPerceptron sampler{.draws = 40};
  const bpm::SamplerReport report =
      windowed ? bpm::sample_version_space(sampler, f.windows, streams, control, sink)
               : bpm::sample_version_space(sampler, f.rows, streams, control, sink);
  REQUIRE(report.stopped);
  CHECK(report.reason == "stopped");
  CHECK_FALSE(report.converged);
  CHECK(report.perceptron->training_errors == 0);
  REQUIRE(draws.size() >= 3);
  if (threads == 1) CHECK(draws.size() == 3);
  CHECK(draws.size() < 40);
  CHECK(report.draws == draws.size());
  CHECK(streams.next == draws.size());
  // The run with that count is the same run, in its report too.
  const Outcome shorter = run(PermutedPerceptron{.draws = draws.size()}, f.rows);
  CHECK(shorter.draws == draws);
  CHECK(shorter.report.perceptron->mistakes == report.perceptron->mistakes);
  CHECK(shorter.report.perceptron->passes == report.perceptron->passes);
  // And it can be continued.
  (void)bpm::sample_version_space(PermutedPerceptron{.draws = 40 - draws.size()}, f.rows, streams,
                                  bpm::RunControl{},
                                  [&](const bpm::Draw& draw) { draws.emplace_back(draw); });
  CHECK(draws == all.draws);
}

TEST_CASE("a run that is stopped before it starts makes no draw") {
  const Fixture f;
  std::stop_source source;
  source.request_stop();
  for (const unsigned threads : {1U, 3U}) {
    const Outcome outcome = run(PermutedPerceptron{}, f.windows, {{}, source.get_token(), threads});
    CHECK(outcome.draws.empty());
    CHECK(outcome.next == 0);
    CHECK(outcome.report.stopped);
    CHECK_FALSE(outcome.report.converged);
  }
}

TEST_CASE("an observer stops a run and is told how far it came") {
  const Fixture f;
  const unsigned threads = GENERATE(1U, 3U);
  std::atomic<int> inside{0};
  bool alone = true;
  std::vector<bpm::Progress> told;
  const auto observer = [&](const bpm::Progress& progress) {
    alone = alone && ++inside == 1;
    told.push_back(progress);
    --inside;
    return progress.draws < 2;
  };
  std::vector<KeptDraw> draws;
  bpm::RandomStreams streams;
  // Reports come every 50 ms at most; a slow sink lets one pass between draws.
  const bpm::SamplerReport report =
      bpm::sample_version_space(PermutedPerceptron{.draws = 30}, f.rows, streams,
                                {observer, {}, threads}, [&](const bpm::Draw& draw) {
                                  draws.emplace_back(draw);
                                  std::this_thread::sleep_for(std::chrono::milliseconds(60));
                                });
  CHECK(alone);
  CHECK(report.stopped);
  CHECK(report.draws == draws.size());
  CHECK(draws.size() >= 2);
  CHECK(draws.size() < 30);
  CHECK(run(PermutedPerceptron{.draws = draws.size()}, f.rows).draws == draws);
  REQUIRE(told.size() >= 2);
  CHECK(told.front().stage == "draws");
  CHECK(told.front().draws_total == 30);
  CHECK(told.front().draws == 0);
  CHECK(told.back().draws >= 2);
  CHECK(told.back().mistakes > 0);
  CHECK(told.back().passes > 0);
  for (const bpm::Progress& progress : told) {
    CHECK(progress.fraction >= 0);
    CHECK(progress.fraction <= 1);
  }
}

TEST_CASE("an exception from the sink comes out, on any number of threads") {
  const Fixture f;
  for (const unsigned threads : {1U, 2U, 3U, 7U}) {
    CAPTURE(threads);
    bpm::RandomStreams streams;
    std::size_t received = 0;
    const auto sink = [&](const bpm::Draw&) {
      if (++received == 3) throw std::runtime_error("the sink is full");
    };
    CHECK_THROWS_WITH(bpm::sample_version_space(PermutedPerceptron{.draws = 20}, f.rows, streams,
                                                on_threads(threads), sink),
                      Equals("the sink is full"));
    CHECK(received == 3);
  }
}

TEST_CASE("an exception from an observer comes out, on any number of threads") {
  const Fixture f;
  for (const unsigned threads : {1U, 3U}) {
    const auto observer = [](const bpm::Progress&) -> bool {
      throw std::runtime_error("the observer fell");
    };
    CHECK_THROWS_WITH(run(PermutedPerceptron{}, f.rows, {observer, {}, threads}),
                      Equals("the observer fell"));
  }
}

TEST_CASE("an exception from an observer comes out while other threads are at work") {
  // The first call comes before the first piece. When it throws the others have begun, and soon
  // wait for work: they must hear that there is none. (Later than 50 ms they would be told, too.)
  const Fixture f;
  const auto observer = [](const bpm::Progress&) -> bool {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    throw std::runtime_error("the observer fell");
  };
  CHECK_THROWS_WITH(run(PermutedPerceptron{}, f.rows, {observer, {}, 3}),
                    Equals("the observer fell"));
}

TEST_CASE("an exception from a kernel comes out, on any number of threads") {
  std::vector<int> inputs(400);
  std::iota(inputs.begin(), inputs.end(), 0);
  std::atomic<bool> broken{false};
  std::atomic<int> calls{0};
  const auto kernel = [&](int a, int b) {
    if (broken && ++calls > 5000) throw std::runtime_error("the kernel broke");
    return a == b ? 1.0 : 0.0;
  };
  const bpm::detail::OnDemandGram values(kernel, inputs);
  const bpm::KernelVersionSpace space(values, random_labels(400, 2));
  broken = true;
  for (const unsigned threads : {1U, 2U, 7U}) {
    CAPTURE(threads);
    calls = 0;
    CHECK_THROWS_WITH(run(PermutedPerceptron{.draws = 10}, space, on_threads(threads)),
                      Equals("the kernel broke"));
  }
}
