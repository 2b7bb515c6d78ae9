// SPDX-License-Identifier: MIT
#include "bpm/samplers/billiard/billiard_burn_in.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/version_space/cone.hpp"
#include "bpm/version_space/version_space.hpp"
#include "catch.hpp"

using bpm::detail::RefreshSearch;

namespace {

constexpr std::size_t candidate_count = RefreshSearch::candidates.size();

/// Runs a race in which candidate `best` errs by `small` and the others by 1.
double winner_of(std::size_t best, double small, std::uint64_t seed) {
  RefreshSearch race(100, 8, 8, 2048, 0.1);
  bpm::RandomEngine engine(seed);
  bpm::NormalDraws normal;
  std::size_t turn = 0;
  while (!race.done()) {
    CHECK(race.refresh_length() == RefreshSearch::candidates[turn % candidate_count]);
    std::vector<double> mean;
    for (int k = 0; k < 8; ++k) {
      mean.push_back(5 + normal(engine) * (turn % candidate_count == best ? small : 1.0));
    }
    race.add(mean.data());
    ++turn;
  }
  CHECK(turn == candidate_count * RefreshSearch::rounds);
  return race.winner();
}

}  // namespace

TEST_CASE("refresh search: the candidate whose means agree best with all wins") {
  for (std::size_t best = 0; best < candidate_count; ++best) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      CHECK(winner_of(best, 0.2, seed) == RefreshSearch::candidates[best]);
    }
  }
}

TEST_CASE("refresh search: a longer length between directions buys more bounces a turn") {
  for (const std::ptrdiff_t rank : {2, 40, 400}) {
    RefreshSearch race(400, rank, (rank + 7) / 8 * 8, 2048, 0.05);
    const std::vector<double> zeros(static_cast<std::size_t>((rank + 7) / 8 * 8), 0.0);
    std::uint64_t last = 0;
    for (std::size_t c = 0; c < candidate_count; ++c) {
      CHECK(race.turn_bounces() >= 16);
      CHECK(race.turn_bounces() <= 2048);
      CHECK(race.turn_bounces() >= last);
      last = race.turn_bounces();
      race.add(zeros.data());
    }
    CHECK(race.turn_bounces() < last);  // The next round begins with the shortest.
  }
}

TEST_CASE("refresh search: turns are never shorter than 16 bounces") {
  const RefreshSearch race(1, 2000, 2000, 20, 3.0);
  CHECK(race.turn_bounces() == 16);
}

TEST_CASE("refresh search: of equals the first") {
  RefreshSearch race(10, 3, 8, 2048, 0.5);
  const std::vector<double> same(8, 1.0);
  while (!race.done()) race.add(same.data());
  CHECK(race.winner() == RefreshSearch::candidates[0]);
}

TEST_CASE("billiard burn-in: it lasts as long as was asked for, or settles once after the search") {
  using Values = bpm::PrecomputedGram<double>;
  const bpm::RowMatrix<double> kernel = bpm::RowMatrix<double>::Identity(4, 4);
  const Values values(kernel);
  const bpm::Cone cone(bpm::KernelVersionSpace<double>(values, {1, 1, -1, 1}));
  for (const std::uint64_t wanted : {0U, 10'000'000U}) {
    bpm::detail::BilliardBurnIn burn_in(0, wanted);
    std::uint64_t bounces = 0;
    std::uint64_t last = 0;
    while (burn_in.stage_end() != bpm::detail::BilliardBurnIn::never &&
           burn_in.stage_end() != wanted) {
      last = bounces;
      bounces = burn_in.stage_end();
      burn_in.next_stage(cone, bounces, 0.5 * static_cast<double>(bounces), [](double* mean) {
        for (int k = 0; k < 4; ++k) mean[k] = 1;
      });
    }
    if (wanted == 0) {
      CHECK(bounces == last + 1024);
    } else {
      CHECK(burn_in.stage_end() == wanted);
      CHECK(bounces < wanted);
      burn_in.next_stage(cone, wanted, 1, [](double*) {});
      CHECK(burn_in.stage_end() == bpm::detail::BilliardBurnIn::never);
    }
  }
}
