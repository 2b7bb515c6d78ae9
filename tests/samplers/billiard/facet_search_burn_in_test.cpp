// SPDX-License-Identifier: MIT
#include "bpm/samplers/billiard/facet_search.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/version_space/cone.hpp"
#include "catch.hpp"
#include "law.hpp"

using namespace law_tests;
using bpm::detail::BilliardBurnIn;

namespace {

constexpr std::size_t candidate_count = BilliardBurnIn::candidates.size();

/// Ends the stage; `mean` writes its mean position. The ball flies `free_path` to each bounce.
template <class Mean>
void end_stage(BilliardBurnIn& burn_in, const bpm::Cone& cone, double free_path, Mean&& mean) {
  const std::uint64_t bounces = burn_in.stage_end();
  burn_in.next_stage(cone, bounces, free_path * static_cast<double>(bounces), mean);
}

void write_ones(double* mean) { std::fill_n(mean, 3, 1.0); }

/// Runs a race in which candidate `best` errs by `small` and the others by 1.
double winner_of(std::size_t best, double small, std::uint64_t seed) {
  static const bpm::Cone cone = orthant(8);
  BilliardBurnIn burn_in(0, 0);
  bpm::RandomEngine engine(seed);
  bpm::NormalDraws normal;
  end_stage(burn_in, cone, 0.1, write_ones);
  for (std::size_t turn = 0; turn < BilliardBurnIn::turns; ++turn) {
    CHECK(burn_in.refresh_length() == BilliardBurnIn::candidates[turn % candidate_count]);
    end_stage(burn_in, cone, 0.1, [&](double* mean) {
      for (int k = 0; k < 8; ++k) {
        mean[k] = 5 + normal(engine) * (turn % candidate_count == best ? small : 1.0);
      }
    });
  }
  const double winner = burn_in.refresh_length();
  end_stage(burn_in, cone, 0.1, write_ones);
  CHECK(burn_in.stage_end() == BilliardBurnIn::never);
  CHECK(burn_in.refresh_length() == winner);
  return winner;
}

}  // namespace

TEST_CASE("refresh search: the candidate whose means agree best with all wins") {
  for (std::size_t best = 0; best < candidate_count; ++best) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      CHECK(winner_of(best, 0.2, seed) == BilliardBurnIn::candidates[best]);
    }
  }
}

TEST_CASE("refresh search: a longer length between directions buys more bounces a turn") {
  for (const std::ptrdiff_t rank : {2, 40, 300}) {
    const bpm::Cone cone = tilted_cone(300, rank, 1.0, 3);
    BilliardBurnIn burn_in(0, 0);
    std::uint64_t last = 0;
    std::uint64_t turn = 0;
    for (std::size_t c = 0; c <= candidate_count; ++c) {
      const std::uint64_t before = burn_in.stage_end();
      end_stage(burn_in, cone, 0.05, write_ones);
      turn = burn_in.stage_end() - before;
      CHECK(turn >= 16);
      CHECK(turn <= 2048);
      if (c == candidate_count) break;
      CHECK(turn >= last);
      last = turn;
    }
    CHECK(turn < last);  // The next round begins with the shortest.
  }
}

TEST_CASE("refresh search: turns are never shorter than 16 bounces") {
  BilliardBurnIn burn_in(0, 0);
  const std::uint64_t before = burn_in.stage_end();
  end_stage(burn_in, orthant(100), 1000.0, write_ones);
  CHECK(burn_in.stage_end() == before + 16);
}

TEST_CASE("refresh search: of equals the first") {
  const bpm::Cone cone = orthant(3);
  BilliardBurnIn burn_in(0, 0);
  for (std::size_t turn = 0; turn <= BilliardBurnIn::turns; ++turn) {
    end_stage(burn_in, cone, 0.5, write_ones);
  }
  CHECK(burn_in.refresh_length() == BilliardBurnIn::candidates[0]);
}

TEST_CASE("billiard burn-in: it lasts as long as was asked for, or settles once after the search") {
  const bpm::Cone cone = orthant(4);
  for (const std::uint64_t wanted : {0U, 10'000'000U}) {
    BilliardBurnIn burn_in(0, wanted);
    std::uint64_t bounces = 0;
    std::uint64_t last = 0;
    while (burn_in.stage_end() != BilliardBurnIn::never && burn_in.stage_end() != wanted) {
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
      CHECK(burn_in.stage_end() == BilliardBurnIn::never);
    }
  }
}
