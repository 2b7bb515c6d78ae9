// SPDX-License-Identifier: MIT
#include "kernel_interpolation/agreement_limit.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "bpm/bounds/gibbs_bound.hpp"
#include "bpm/core/random.hpp"
#include "catch.hpp"

TEST_CASE("the limit of an agreement holds as often as it says; a mean does not", "[examples]") {
  // Voter k says +1 where v^2 exceeds a threshold of its own, the same at all inputs v; thresholds
  // and inputs are uniform: alpha = E[(2 v^2 - 1)^2] = 4 / 5 - 4 / 3 + 1.
  constexpr double known = 4.0 / 5 - 4.0 / 3 + 1;
  constexpr int runs = 2000;
  constexpr int inputs = 40;
  constexpr int voters = 40;
  constexpr double delta = 0.1;
  bpm::RandomEngine engine(9);
  int missed = 0;
  int missed_by_mean = 0;
  for (int run = 0; run < runs; ++run) {
    std::vector<double> thresholds(voters);
    for (double& t : thresholds) t = bpm::uniform_unit(engine);
    double sum = 0;
    for (int i = 0; i < inputs; ++i) {
      const double v = bpm::uniform_unit(engine);
      double mean = 0;
      for (const double t : thresholds) mean += (v * v > t ? 1.0 : -1.0) / voters;
      sum += mean * mean;
    }
    const double mean = std::min(1.0, sum / inputs);
    missed += bpm_examples::agreement_limit(mean, inputs, voters, delta) < known ? 1 : 0;
    missed_by_mean += mean < known ? 1 : 0;
  }
  CHECK(missed <= delta * runs);
  CHECK(missed_by_mean > 2 * delta * runs);
}

TEST_CASE("the limit of an agreement by hand", "[examples]") {
  CHECK(bpm_examples::agreement_limit(0.3, 400, 10'000, 0.05) ==
        Approx(bpm::kl_upper_inverse(0.3, std::log(40.0) / 400) +
               4 * std::sqrt(std::log(40.0) / 20'000)));
  CHECK(bpm_examples::agreement_limit(0.3, 400, 2, 0.05) == 1);
}
