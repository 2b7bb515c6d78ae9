// SPDX-License-Identifier: MIT
// The same bits from whole-matrix work in a program built with OpenMP, whatever its threads.

#include <omp.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/gaussian_process/ensembles/posterior_ensemble.hpp"
#include "bpm/gaussian_process/expectation_propagation/expectation_propagation.hpp"
#include "bpm/gaussian_process/orthant/orthant_probability.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/version_space/version_space.hpp"
#include "catch.hpp"
#include "same_bits.hpp"

namespace {

struct Results {
  Eigen::VectorXd votes;
  double log_evidence = 0;
  double log_probability = 0;

  friend bool operator==(const Results& a, const Results& b) {
    return a.votes == b.votes && a.log_evidence == b.log_evidence &&
           a.log_probability == b.log_probability;
  }
};

Results run() {
  const auto inputs = test_support::rough_inputs<double>(300, 6, 1);
  const bpm::Gaussian kernel = bpm::Gaussian::from_sigma(3);
  const bpm::RowMatrix<double> matrix = bpm::kernel_matrix(kernel, inputs);
  std::vector<signed char> signs;
  for (Eigen::Index i = 0; i < inputs.rows(); ++i) signs.push_back(inputs(i, 0) > 0 ? 1 : -1);
  const bpm::PrecomputedGram<double> gram(matrix);
  const bpm::KernelVersionSpace<double> space(gram, signs);
  Results results;
  results.log_evidence = bpm::expectation_propagation(space).log_evidence;
  bpm::RandomStreams streams;
  results.log_probability =
      bpm::orthant_probability(matrix, signs, {.standard_error = 0, .draws = 64}, streams)
          .log_probability;
  const Eigen::LLT<Eigen::MatrixXd> factor(matrix);
  const auto others = test_support::rough_inputs<double>(300, 6, 2);
  const bpm::PosteriorEnsemble ensemble(factor, bpm::kernel_matrix(kernel, others, inputs),
                                        bpm::kernel_diagonal_values(kernel, others), 2);
  results.votes = ensemble.votes(bpm::IsotropicValues(signs, 1, {}), 2'000).positive;
  return results;
}

}  // namespace

TEST_CASE("expectation propagation, orthants and votes: same bits on 1 and 4 OpenMP threads",
          "[openmp][bits]") {
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const Results one = run();
  omp_set_num_threads(4);
  const Results four = run();
  omp_set_num_threads(before);
  CHECK(std::isfinite(one.log_evidence));
  CHECK(one == four);
}
