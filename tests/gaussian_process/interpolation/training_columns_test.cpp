// SPDX-License-Identifier: MIT
#include "bpm/gaussian_process/interpolation/training_columns.hpp"

#include <Eigen/Core>
#include <vector>

#include "bpm/kernels/gaussian.hpp"
#include "catch.hpp"
#include "interpolation_problems.hpp"

using namespace interpolation_tests;

TEST_CASE("blocks of kernel values cover every input once, in any number of threads") {
  const Inputs x = random_inputs(30, 3, 1);
  const Inputs z = random_inputs(200, 3, 2);  // Blocks of 96, 96 and 8.
  const bpm::detail::TrainingColumns<bpm::Gaussian, Inputs> columns(bpm::Gaussian::from_sigma(1.0),
                                                                    x);
  CHECK(columns.points() == 30);
  for (const unsigned threads : {1U, 3U}) {
    Eigen::MatrixXd found = Eigen::MatrixXd::Zero(200, 30);
    std::vector<long> inputs_of(threads, 0);
    Eigen::VectorXd selves = Eigen::VectorXd::Zero(200);
    columns.for_each_block(z, true, threads, "f",
                           [&](unsigned worker, std::ptrdiff_t first, std::ptrdiff_t rows,
                               const double* values, const double* self) {
                             inputs_of.at(worker) += rows;
                             for (std::ptrdiff_t r = 0; r < rows; ++r) {
                               selves[first + r] += self[r];
                               for (std::ptrdiff_t j = 0; j < 30; ++j) {
                                 found(first + r, j) += values[r * 30 + j];
                               }
                             }
                           });
    long total = 0;
    for (const long inputs : inputs_of) total += inputs;
    CHECK(total == 200);
    CHECK(largest(found - gaussian_matrix(z, x)) < 1e-14);
    CHECK(largest(selves - Eigen::VectorXd::Ones(200)) < 1e-15);
  }
}
