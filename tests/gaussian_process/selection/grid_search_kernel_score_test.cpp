// SPDX-License-Identifier: MIT
// Scores of kernels on a training set.
#include "bpm/gaussian_process/selection/grid_search.hpp"

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"

namespace {

struct Data {
  bpm::RowMatrix<double> inputs;
  std::vector<signed char> signs;
};

/// Points in a square, labelled by a wave of the length 3.
Data wave(Eigen::Index count) {
  bpm::RandomEngine engine(5, 0);
  Data data{bpm::RowMatrix<double>(count, 2), {}};
  for (Eigen::Index i = 0; i < count; ++i) {
    for (Eigen::Index k = 0; k < 2; ++k) data.inputs(i, k) = 3 * bpm::uniform_unit(engine);
    data.signs.push_back(std::sin(2.1 * data.inputs(i, 0)) > 0 ? 1 : -1);
  }
  return data;
}

}  // namespace

TEST_CASE("kernel scores tell a kernel that fits from one that does not") {
  const Data data = wave(80);
  const auto score = [&](double sigma) {
    return bpm::KernelScore(bpm::Gaussian::from_sigma(sigma), data.inputs, data.signs, {}, 1);
  };
  const bpm::KernelScore narrow = score(0.03);
  const bpm::KernelScore fitting = score(1.0);
  REQUIRE(narrow.failure.empty());
  REQUIRE(fitting.failure.empty());
  // Narrow: points are independent, P_Y = 2^-n, and nothing is known of the next.
  CHECK(narrow.log_evidence == Approx(-80 * std::log(2.0)).epsilon(0.02));
  CHECK(narrow.gibbs_error == Approx(0.5).margin(0.05));
  CHECK(fitting.log_evidence > narrow.log_evidence + 15);
  CHECK(fitting.c_bound < narrow.c_bound);
  CHECK(fitting.bayes_error < 0.15);
  const bpm::SearchResult found =
      bpm::grid_search({bpm::geometric_values(0.03, 3, 5)},
                       [&](const std::vector<double>& p) { return score(p[0]).log_evidence; });
  CHECK(found.best[0] > 0.2);
}

TEST_CASE("a kernel that cannot separate the data scores worst and says why") {
  Data data = wave(40);
  const bpm::KernelScore score(bpm::Linear(), data.inputs, data.signs, {}, 1);
  CHECK_FALSE(score.failure.empty());
  CHECK(score.log_evidence == -std::numeric_limits<double>::infinity());
  CHECK(score.c_bound == 1);
  // With noise it can live.
  CHECK(bpm::KernelScore(bpm::Linear(), data.inputs, data.signs, {.noise_deviation = 1}, 1)
            .failure.empty());
  data.signs.pop_back();
  CHECK_THROWS_AS(bpm::KernelScore(bpm::Linear(), data.inputs, data.signs), std::invalid_argument);
}
