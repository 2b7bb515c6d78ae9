// SPDX-License-Identifier: MIT
// What ends a run of chains, and what such a run refuses.
#include <cmath>
#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "billiard_problems.hpp"
#include "bpm/core/random.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/chains/largest_margin.hpp"
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "bpm/samplers/sample_version_space.hpp"
#include "bpm/version_space/cone.hpp"
#include "catch.hpp"

namespace {

using namespace law_tests;

template <class Sampler>
bpm::SamplerReport report_of(const Sampler& sampler) {
  bpm::RandomStreams streams;
  return bpm::sample_version_space(sampler, easy_problem().space, streams, bpm::RunControl{},
                                   [](const bpm::Draw&) {});
}

template <class Call>
std::string invalid_argument_of(Call&& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing thrown";
}

}  // namespace

/// What is chosen later is no number until then: nothing can be computed from it by mistake.
template <class Count>
concept Arithmetic = requires(Count count) { 100'000 / count; } ||
                     requires(Count count) { count + 1; } || std::convertible_to<Count, double>;
static_assert(!Arithmetic<decltype(bpm::Billiard::draws)>);
static_assert(!Arithmetic<decltype(bpm::KernelGibbs::draws)>);
static_assert(Arithmetic<decltype(bpm::Billiard::bounces)>);

TEST_CASE("chain budgets: 100 draws where nothing is said, else what is said alone") {
  CHECK(report_of(bpm::Billiard{}).draws == 100);
  CHECK(report_of(bpm::KernelGibbs{}).draws == 100);
  const auto long_run = report_of(bpm::Billiard{.bounces = 300'000});
  CHECK(long_run.draws > 200);
  CHECK(long_run.chains->steps >= 300'000);
  const auto exact = report_of(bpm::Billiard{.accuracy = 0.002});
  CHECK(exact.chains->standard_error <= 0.002);
  CHECK(report_of(bpm::KernelGibbs{.steps = 20'000}).chains->steps >= 20'000);
}

TEST_CASE("chain budgets: an accuracy is believed after 20 draws of four chains, not before") {
  // A round is a draw of each chain where draws are this long.
  const auto loose = report_of(bpm::Billiard{.bounces_per_draw = 100'000, .accuracy = 3});
  CHECK(loose.converged);
  CHECK(loose.draws == 80);
  CHECK(loose.chains->chains == 4);
  CHECK(invalid_argument_of([] { (void)report_of(bpm::Billiard{.accuracy = 3, .chains = 3}); }) ==
        "Billiard: chains is 3, must be at least 4 where accuracy ends the run");
  CHECK(invalid_argument_of([] {
          (void)report_of(bpm::KernelGibbs{.accuracy = 3, .chains = 1});
        }) == "KernelGibbs: chains is 1, must be at least 4 where accuracy ends the run");
  // The chains of a run without it may be fewer.
  CHECK(report_of(bpm::Billiard{.draws = 4, .chains = 1}).draws == 4);
}

TEST_CASE("chain budgets: bounces and steps are passed by one draw at most") {
  for (const std::uint64_t budget : {100U, 1000U, 50'000U}) {
    CAPTURE(budget);
    const auto billiard = report_of(bpm::Billiard{.bounces = budget});
    CHECK(billiard.chains->steps >= budget * 8 / 10);  // Draws are steps of path, not of bounces.
    CHECK(billiard.chains->steps < budget + 3000);
    const auto gibbs = report_of(bpm::KernelGibbs{.steps = budget});
    CHECK(gibbs.chains->steps >= budget);
    CHECK(gibbs.chains->steps < budget + 200);
  }
  CHECK(report_of(bpm::Billiard{.tolerance = 1e-3}).chains->steps < 4000);
}

TEST_CASE("chain budgets: a clock is asked within long draws, once there is a draw") {
  const auto report = report_of(bpm::Billiard{.bounces_per_draw = 1000, .seconds = 0.05});
  CHECK(report.converged);
  CHECK(report.draws > 0);
}

TEST_CASE("chain budgets: with_draws leaves draws as the only budget") {
  const bpm::Billiard billiard{.bounces = 5, .seconds = 1, .tolerance = 0.1, .accuracy = 0.1};
  CHECK(report_of(billiard.with_draws(7)).draws == 7);
  const bpm::KernelGibbs gibbs{.steps = 5, .seconds = 1, .accuracy = 0.1};
  CHECK(report_of(gibbs.with_draws(7)).draws == 7);
}

TEST_CASE("chain state: one of another version space is refused") {
  bpm::RandomStreams streams;
  bpm::Billiard::State state;
  const auto drop = [](const bpm::Draw&) {};
  (void)bpm::sample_version_space(bpm::Billiard{}, easy_problem().space, streams, bpm::RunControl{},
                                  drop, state);
  const Problem other(Kernel::Identity(3, 3), {1, 1, -1});
  CHECK(invalid_argument_of([&] {
          (void)bpm::sample_version_space(bpm::Billiard{}, other.space, streams, bpm::RunControl{},
                                          drop, state);
        }).find("Billiard: state belongs to a version space of ") == 0);
  // Nor does one of fewer chains pass for as many as an accuracy asks for.
  CHECK(invalid_argument_of([&] {
          (void)bpm::sample_version_space(bpm::Billiard{.chains = 2}, easy_problem().space, streams,
                                          bpm::RunControl{}, drop, state);
        }) == "Billiard: chains is 2, the state that goes on has 4");
}

TEST_CASE("chains that are given a start refuse one that is none") {
  const bpm::Cone cone(easy_problem().space, 0);
  const auto message_from = [&](const bpm::KernelGibbs& sampler, const std::vector<double>& start) {
    return invalid_argument_of([&] {
      bpm::RandomStreams streams;
      bpm::KernelGibbs::State state;
      (void)sampler.sample(
          cone, start, streams, {}, [](const bpm::Draw&) {}, state);
    });
  };
  const auto entries = static_cast<std::size_t>(cone.rank());
  CHECK(message_from({}, std::vector<double>(entries - 1, 1.0)) ==
        "KernelGibbs: start has " + std::to_string(entries - 1) + " entries, must have " +
            std::to_string(entries) + ", the rank of the cone");
  CHECK(message_from({}, std::vector<double>(entries, 0.0)) ==
        "KernelGibbs: start lies outside version space");
  CHECK(message_from({.directions = bpm::KernelGibbs::Direction::input},
                     std::vector<double>(entries, 1.0)) ==
        "KernelGibbs: cone has no products, which steps along inputs need: call "
        "Cone::form_products");
}
