// SPDX-License-Identifier: MIT
// Runs of `Billiard`: budgets, stopping, going on, threads, reports.
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/sample_version_space.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "billiard_problems.hpp"
#include "catch.hpp"

using namespace law_tests;
using bpm::Billiard;
using sampler_tests::KeptDraw;
using sampler_tests::Outcome;

TEST_CASE("billiard: draws are classifiers of norm 1 inside, numbered, the report adds up") {
  const Outcome outcome = run({.draws = 31, .bounces_per_draw = 50}, easy_problem());
  REQUIRE(outcome.draws.size() == 31);
  CHECK(all_inside(easy_problem(), outcome.draws));
  for (std::size_t n = 0; n < 31; ++n) {
    CHECK(outcome.draws[n].number == n);
    CHECK(outcome.draws[n].weight == 1);
  }
  CHECK(outcome.next == 31);
  const bpm::SamplerReport& report = outcome.report;
  CHECK(report.draws == 31);
  CHECK(report.converged);
  CHECK_FALSE(report.stopped);
  CHECK(report.reason.empty());
  CHECK(report.chains->repairs == 0);
  CHECK_FALSE(report.perceptron);
  CHECK(report.chains->chains == 4);
  CHECK(report.chains->rank == 4);
  CHECK(report.chains->residual >= 0);
  CHECK(report.chains->residual <= 1e-10);
  CHECK(report.chains->start_margin > 0);
  CHECK(report.chains->path_length > 0);
  CHECK(report.chains->steps > 1000);
  CHECK(report.chains->steps < 2600);
  CHECK(report.chains->standard_error > 0);
  CHECK(report.chains->standard_error < 1);
  CHECK(report.chains->burn_in >= 2 * 8192);
  CHECK((report.chains->refresh_length == 2 || report.chains->refresh_length == 8 ||
         report.chains->refresh_length == 32 || report.chains->refresh_length == 128));
  CHECK(report.chains->effective_draws > 10);
  CHECK(report.chains->chain_angle > 0);
  CHECK(report.chains->chain_angle < 0.5);
  CHECK(report.chains->mean_norm > 0.5);
  CHECK(report.chains->mean_norm < 1);
}

TEST_CASE("billiard: the centre is inside, norm and outputs are its own") {
  Continued<> continued;
  continued.go_on({.draws = 10, .bounces_per_draw = 100}, easy_problem().space);
  const bpm::CentreOfMass& centre = continued.state.centre();
  REQUIRE(centre.coefficients.size() == 20);
  REQUIRE(centre.outputs.size() == 20);
  double squared = 0;
  for (Eigen::Index i = 0; i < 20; ++i) {
    double output = 0;
    for (Eigen::Index j = 0; j < 20; ++j) {
      output += easy_problem().kernel(i, j) * centre.coefficients[static_cast<std::size_t>(j)];
    }
    CHECK(std::abs(output - centre.outputs[static_cast<std::size_t>(i)]) <= 1e-10);
    CHECK(output * easy_problem().space.label(i) > 0);
    CHECK(centre.coefficients[static_cast<std::size_t>(i)] * easy_problem().space.label(i) >= 0);
    squared += output * centre.coefficients[static_cast<std::size_t>(i)];
  }
  CHECK(std::abs(std::sqrt(squared) - centre.norm) <= 1e-12);
  CHECK(std::abs(continued.report.chains->mean_norm - centre.norm) <= 1e-12);
}

TEST_CASE("billiard: budgets by bounces, tolerance, seconds and accuracy; the first counts") {
  const Outcome by_bounces = run({.bounces_per_draw = 20, .bounces = 30'000}, easy_problem());
  CHECK(by_bounces.report.converged);
  CHECK(by_bounces.report.chains->steps >= 30'000);
  CHECK(by_bounces.report.chains->steps < 30'000 + 2 * 64 * 20 * 2);
  CHECK(by_bounces.draws.size() > 1000);
  CHECK(by_bounces.next == by_bounces.draws.size());

  const Outcome by_tolerance =
      run({.bounces_per_draw = 20, .tolerance = 1 / 30'000.0}, easy_problem());
  CHECK(by_tolerance.draws == by_bounces.draws);

  const Outcome both =
      run({.bounces_per_draw = 20, .bounces = 30'000, .tolerance = 1e-9}, easy_problem());
  CHECK(both.draws == by_bounces.draws);

  const Outcome by_draws =
      run({.draws = 7, .bounces_per_draw = 20, .bounces = 30'000}, easy_problem());
  CHECK(by_draws.draws.size() == 7);
  CHECK(by_draws.report.converged);

  const Outcome by_seconds = run({.bounces_per_draw = 20, .seconds = 0.02}, easy_problem());
  CHECK(by_seconds.report.converged);
  CHECK_FALSE(by_seconds.draws.empty());

  const Outcome by_accuracy = run({.bounces_per_draw = 100, .accuracy = 0.004}, easy_problem());
  CHECK(by_accuracy.report.converged);
  CHECK(by_accuracy.report.chains->standard_error <= 0.004);
  CHECK(by_accuracy.draws.size() >= 4);
}

TEST_CASE("billiard: a tolerance too small to be a number of bounces is no limit") {
  const Outcome outcome =
      run({.draws = 200, .bounces_per_draw = 20, .tolerance = 1e-300}, easy_problem());
  CHECK(outcome.draws.size() == 200);
}

TEST_CASE("billiard: two draws and four more are six, to the bit; so is the centre") {
  for (const unsigned chains : {1U, 2U, 3U}) {
    Billiard sampler{.draws = 6, .bounces_per_draw = 30, .chains = chains};
    Continued<> whole;
    whole.go_on(sampler, easy_problem().space);
    Continued<> parts;
    sampler.draws = 2;
    parts.go_on(sampler, easy_problem().space);
    const std::uint64_t bounces = parts.report.chains->steps;
    sampler.draws = 4;
    parts.go_on(sampler, easy_problem().space);
    CHECK(whole.draws == parts.draws);
    CHECK(whole.streams == parts.streams);
    CHECK(whole.state.centre().coefficients == parts.state.centre().coefficients);
    CHECK(whole.state.centre().norm == parts.state.centre().norm);
    CHECK(whole.report.chains->standard_error == parts.report.chains->standard_error);
    CHECK(whole.report.chains->path_length == parts.report.chains->path_length);
    CHECK(whole.report.chains->start_margin == parts.report.chains->start_margin);
    CHECK(parts.report.draws == 4);  // Counts are of the run, the chains' report of all.
    CHECK(whole.report.chains->steps == bounces + parts.report.chains->steps);
  }
}

TEST_CASE("billiard: the same draws on one, two and three threads") {
  const Billiard sampler{.draws = 20, .bounces_per_draw = 30, .chains = 3};
  const Outcome one = run(sampler, easy_problem(), sampler_tests::on_threads(1));
  for (const unsigned threads : {2U, 3U}) {
    const Outcome more = run(sampler, easy_problem(), sampler_tests::on_threads(threads));
    CHECK(one.draws == more.draws);
    CHECK(one.report.chains->standard_error == more.report.chains->standard_error);
    CHECK(one.report.chains->steps == more.report.chains->steps);
  }
}

TEST_CASE("billiard: seeds and streams make different runs, the same ones the same run") {
  const Billiard sampler{.draws = 4, .bounces_per_draw = 30};
  const Outcome one = run(sampler, easy_problem());
  CHECK(run(sampler, easy_problem()).draws == one.draws);
  CHECK(run(sampler, easy_problem(), {}, {.seed = 2}).draws != one.draws);
  CHECK(run(sampler, easy_problem(), {}, {.seed = 1, .next = 7}).draws.front().coefficients !=
        one.draws.front().coefficients);
}

TEST_CASE("billiard: runs one after another share no path") {
  // One draw of two chains each: no chain of the second run is one of the first.
  const Billiard sampler{.draws = 1, .bounces_per_draw = 30, .chains = 2};
  bpm::Cone cone = bpm::Cone(easy_problem().space);
  cone.form_products();
  bpm::RandomStreams streams;
  std::vector<Numbers> first_draws;
  for (int number = 0; number < 2; ++number) {
    Billiard::State state;
    (void)bpm::sample_version_space(
        sampler, easy_problem().space, streams, {}, [](const bpm::Draw&) {}, state);
    for (bpm::detail::GeodesicChain& chain : state.chains) {
      while (!(chain.weight() > 0)) (void)chain.advance(cone, 1000);
      first_draws.push_back({chain.position().begin(), chain.position().end()});
    }
  }
  for (std::size_t a = 0; a < first_draws.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) CHECK(first_draws[a] != first_draws[b]);
  }
}

TEST_CASE("billiard: an observer sees progress and stops a run") {
  bool burning_in = false;
  bool changing = false;
  double last = 0;
  const bpm::RunControl watch{
      [&](const bpm::Progress& progress) {
        if (progress.stage == "burn-in") {
          burning_in = true;
          CHECK(progress.draws == 0);
        } else if (progress.stage != "draws") {
          CHECK((progress.stage == "factor" || progress.stage == "products" ||
                 progress.stage == "start"));
          CHECK_FALSE(burning_in);
        }
        CHECK(progress.draws_total == 1000);
        CHECK(progress.fraction >= last);
        CHECK(progress.fraction <= 1);
        last = progress.fraction;
        changing = changing || progress.change > 0;
        return true;
      },
      {},
      1};
  const Billiard sampler{.draws = 1000, .bounces_per_draw = 30};
  const Outcome whole = run(sampler, easy_problem(), watch);
  CHECK(burning_in);
  CHECK(changing);
  CHECK(last > 0);

  const bpm::RunControl stopping{
      [](const bpm::Progress& progress) { return progress.draws == 0; }, {}, 1};
  const Outcome part = run(sampler, easy_problem(), stopping);
  CHECK(part.report.stopped);
  CHECK_FALSE(part.report.converged);
  CHECK(part.report.reason == "stopped");
  REQUIRE_FALSE(part.draws.empty());
  REQUIRE(part.draws.size() < whole.draws.size());
  CHECK(std::vector<KeptDraw>(whole.draws.begin(), whole.draws.begin() + std::ssize(part.draws)) ==
        part.draws);
  CHECK(part.report.draws == part.draws.size());
  CHECK(part.next == part.draws.size());
}

TEST_CASE("billiard: a stopped run goes on as if nothing had happened") {
  const Billiard sampler{.draws = 800, .bounces_per_draw = 30};
  const Outcome whole = run(sampler, easy_problem());
  Continued<> parts;
  int calls = 0;
  parts.go_on(
      sampler, easy_problem().space,
      {[&](const bpm::Progress& progress) { return progress.draws < 100 || ++calls < 2; }, {}, 1});
  REQUIRE(parts.report.stopped);
  REQUIRE(parts.draws.size() < 800);
  CHECK(parts.state.centre().coefficients.size() == 20);
  Billiard rest = sampler;
  rest.draws = 800 - parts.draws.size();
  parts.go_on(rest, easy_problem().space);
  CHECK(parts.draws == whole.draws);
}

TEST_CASE("billiard: stopped in the burn-in there is nothing, and it says so") {
  std::stop_source source;
  source.request_stop();
  Continued<> run;
  run.go_on({.draws = 5}, easy_problem().space, {{}, source.get_token(), 1});
  CHECK(run.report.stopped);
  CHECK_FALSE(run.report.converged);
  CHECK(run.report.reason == "stopped before the first draw");
  CHECK(run.draws.empty());
  CHECK(run.state.empty());
  CHECK(run.state.centre().coefficients.empty());
  CHECK(run.streams.next == 0);
  // From the start again.
  run.go_on({.draws = 5}, easy_problem().space);
  CHECK(run.draws == sampler_tests::run(Billiard{.draws = 5}, easy_problem().space).draws);
}

TEST_CASE("billiard: a token stops between draws") {
  std::stop_source source;
  Continued<> run;
  run.go_on({.draws = 100'000, .bounces_per_draw = 30}, easy_problem().space,
            {[&](const bpm::Progress& progress) {
               if (progress.draws > 0) source.request_stop();
               return true;
             },
             source.get_token(), 2});
  CHECK(run.report.stopped);
  CHECK(run.report.reason == "stopped");
  CHECK_FALSE(run.draws.empty());
  CHECK(run.draws.size() < 100'000);
}
