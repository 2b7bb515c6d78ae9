// SPDX-License-Identifier: MIT
// An input's outputs are the same bits in a batch of any size, on any threads.
#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "catch.hpp"
#include "data_sets.hpp"
#include "hard.hpp"

using namespace machine_tests;

namespace {

/// m points uniform in a cube.
Doubles cube(Eigen::Index m, double side, std::uint64_t seed) {
  bpm::RandomEngine engine(seed);
  Doubles points(m, 5);
  for (auto& value : points.reshaped()) value = side * bpm::uniform_unit(engine);
  return points;
}

/// Models on three numbers of threads, of more support points than two blocks hold: nearly
/// orthogonal inputs with random labels.
template <class Scalar>
long rows_that_differ(const bpm::Gaussian& kernel, double side) {
  const Eigen::Index m = 1150;
  const bpm::RowMatrix<Scalar> inputs = cube(m, side, 1).cast<Scalar>();
  bpm::RandomEngine engine(3);
  std::vector<int> labels;
  for (Eigen::Index i = 0; i < m; ++i) labels.push_back(int(bpm::uniform_below(engine, 3)));
  const bpm::RowMatrix<Scalar> others = cube(1000, side, 2).cast<Scalar>();
  Eigen::MatrixXd expected;
  long count = 0;
  for (const unsigned threads : {1U, 2U, 5U}) {
    const auto model =
        bpm::OneVsRest(bpm::BayesPointMachine(
                           kernel, bpm::PermutedPerceptron{.draws = 1},
                           test_support::hard({.soft_boundary = bpm::SoftBoundary::uniform(0.5),
                                               .threads = threads,
                                               .bias = 0.5})))  // Outputs are divided.
            .fit(inputs, labels);
    REQUIRE(model.support().size() > 1024);
    if (threads == 1) expected = model.decision_values(others);
    // 32 queries are one chunk: threads share the blocks of support points; 33 are two chunks.
    for (const Eigen::Index size : {1000, 129, 33, 32, 5, 2, 1}) {
      for (const Eigen::Index first : {Eigen::Index{0}, 1000 - size}) {
        const bpm::RowMatrix<Scalar> some = others.middleRows(first, size);
        count += (model.decision_values(some).array() != expected.middleRows(first, size).array())
                     .rowwise()
                     .any()
                     .count();
      }
    }
  }
  return count;
}

}  // namespace

TEST_CASE("the same bits in a batch of any size, on any threads: floats") {
  CHECK(rows_that_differ<float>(bpm::Gaussian::from_sigma(0.3), 2) == 0);
}

TEST_CASE("the same bits in a batch of any size, on any threads: bytes") {
  CHECK(rows_that_differ<std::uint8_t>(bpm::Gaussian::from_sigma(30), 200) == 0);
}
