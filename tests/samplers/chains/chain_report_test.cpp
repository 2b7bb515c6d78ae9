// SPDX-License-Identifier: MIT
#include "bpm/samplers/chains/chain_report.hpp"

#include <cmath>

#include "catch.hpp"

TEST_CASE("reports of several problems merge to counts and to the worst of the rest") {
  const bpm::ChainReport first{.chains = 2,
                               .burn_in = 10,
                               .path_length = 3,
                               .refresh_length = 8,
                               .standard_error = 0.1,
                               .effective_draws = 50,
                               .chain_angle = 0.3,
                               .mean_norm = 0.9,
                               .rank = 5,
                               .residual = 1e-9,
                               .start_margin = 0.2};
  bpm::ChainReport merged;
  CHECK(std::isinf(merged.standard_error));
  merged.merge(first);
  CHECK(merged.standard_error == 0.1);
  CHECK(merged.start_margin == 0.2);
  bpm::ChainReport second = first;
  second.standard_error = 0.05;
  second.effective_draws = 20;
  second.chain_angle = 0.4;
  second.mean_norm = 0.95;
  second.start_margin = 0.1;
  second.rank = 7;
  merged.merge(second);
  CHECK(merged.chains == 2);
  CHECK(merged.burn_in == 20);
  CHECK(merged.path_length == 6);
  CHECK(merged.standard_error == 0.1);
  CHECK(merged.effective_draws == 20);
  CHECK(merged.chain_angle == 0.4);
  CHECK(merged.mean_norm == 0.9);
  CHECK(merged.start_margin == 0.1);
  CHECK(merged.rank == 7);
}

TEST_CASE("a later run's report is that of all draws, and counts are sums") {
  bpm::ChainReport report{.steps = 10, .chains = 2, .standard_error = 0.1};
  report.append({.steps = 5, .chains = 2, .standard_error = 0.07});
  CHECK(report.steps == 15);
  CHECK(report.standard_error == 0.07);
  // Ended before its chains moved: that tells nothing of the centre.
  report.append({.steps = 1});
  CHECK(report.steps == 16);
  CHECK(report.chains == 2);
  CHECK(report.standard_error == 0.07);
}
