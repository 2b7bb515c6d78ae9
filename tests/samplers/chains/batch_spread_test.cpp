// SPDX-License-Identifier: MIT
// Batch means on an autoregression, whose mean has a known variance, and quantiles from tables.
#include "bpm/samplers/chains/batch_spread.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bpm/core/random/draws.hpp"
#include "bpm/core/random/engine.hpp"
#include "catch.hpp"

TEST_CASE("batch spread: the mean of an autoregression") {
  const double phi = GENERATE(0.0, 0.6);
  bpm::RandomEngine engine(1, 2);
  bpm::NormalDraws normal;
  double ratio = 0;
  double independent = 0;
  constexpr int runs = 100;
  constexpr std::size_t count = 1'024;
  for (int run = 0; run < runs; ++run) {
    std::vector<double> values(count);
    double x = normal(engine) / std::sqrt(1 - phi * phi);
    double squares = 0;
    for (double& value : values) {
      x = phi * x + normal(engine);
      value = 5 + x;
      squares += x * x;
    }
    const auto n = static_cast<double>(count);
    const double truth = 1 / ((1 - phi) * (1 - phi) * n);
    ratio += bpm::detail::batch_spread(values).variance / truth / runs;
    independent += squares / n / n / truth / runs;
  }
  // The largest of four estimates is too large by a third.
  CHECK(ratio > 1);
  CHECK(ratio < 1.7);
  // Values taken to be independent say a quarter of it: the mutant.
  if (phi > 0) CHECK(independent < 0.3);
}

TEST_CASE("batch spread: few values, and values that do not fill the batches") {
  const std::vector<double> eight{1, 2, 3, 4, 5, 6, 7, 8};
  const bpm::detail::BatchSpread spread = bpm::detail::batch_spread(eight);
  CHECK(spread.variance == Approx(6.0 / 8));
  CHECK(spread.freedom == 7);
  std::vector<double> nine = eight;
  nine.insert(nine.begin(), 100.0);
  CHECK(bpm::detail::batch_spread(nine).variance == Approx(6.0 / 8));
  CHECK(bpm::detail::batch_spread(std::vector<double>(100, 2.0)).variance == 0);
}

TEST_CASE("student quantile: values from tables") {
  using bpm::detail::student_quantile;
  CHECK(student_quantile(0.975, 5) == Approx(2.5706).epsilon(1e-3));
  CHECK(student_quantile(0.95, 7) == Approx(1.8946).epsilon(1e-3));
  CHECK(student_quantile(0.99, 7) == Approx(2.9980).epsilon(1e-3));
  CHECK(student_quantile(0.99, 10) == Approx(2.7638).epsilon(1e-3));
  CHECK(student_quantile(0.999, 10) == Approx(4.1437).epsilon(2e-3));
  CHECK(student_quantile(0.025, 30) == Approx(-2.0423).epsilon(1e-3));
  CHECK(student_quantile(0.99, std::numeric_limits<double>::infinity()) ==
        Approx(2.326348).epsilon(1e-6));
}
