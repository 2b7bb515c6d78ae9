// SPDX-License-Identifier: MIT
#include <benchmark/benchmark.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/gaussian_process/ensembles/posterior_ensemble.hpp"
#include "bpm/gaussian_process/expectation_propagation/expectation_propagation.hpp"
#include "bpm/gaussian_process/orthant/orthant_probability.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/version_space/cone.hpp"
#include "bpm/version_space/version_space.hpp"
#include "digit_data.hpp"
#include "floor.hpp"

// Even against odd drawn digits, arc-cosine kernel of depth 7. expectation_propagation/<n>: from
// the cone to convergence, one thread; sweeps told. orthant_probability/<n>: to a standard error of
// 0.5 of log P, all threads; the error told. posterior_votes/<n>: voters of the isotropic posterior
// on 2048 inputs, all threads; items are votes. Their floors: the multiply-adds that the headers
// state, of the sweeps, the tridiagonal form and the draws, and the votes; trajectories and
// evaluations of the normal distribution are not in them.

namespace {

using bpm_benchmarks::Floor;
using bpm_benchmarks::Product;
using bpm_benchmarks::report_floor;

double all_threads() { return std::max(1U, std::thread::hardware_concurrency()); }

struct Problem {
  explicit Problem(std::ptrdiff_t count) {
    const bpm_benchmarks::DigitData<double> digits(count);
    const bpm_benchmarks::DigitData<double> others(2048, 1'000'000);
    const bpm::ArcCosine kernel(7);
    gram = bpm::kernel_matrix(kernel, digits.inputs);
    cross = bpm::kernel_matrix(kernel, others.inputs, digits.inputs);
    self = bpm::kernel_diagonal_values(kernel, others.inputs);
    for (const int digit : digits.labels) {
      signs.push_back(static_cast<signed char>(digit % 2 == 0 ? 1 : -1));
    }
  }

  bpm::RowMatrix<double> gram;
  Eigen::MatrixXd cross;
  Eigen::VectorXd self;
  std::vector<signed char> signs;
};

void expectation_propagation(benchmark::State& state) {
  const Problem problem(state.range(0));
  const bpm::PrecomputedGram<double> gram(problem.gram);
  const bpm::Cone cone = bpm::Cone(bpm::KernelVersionSpace<double>(gram, problem.signs));
  double sweeps = 0;
  for (auto _ : state) {
    const bpm::EpPosterior posterior = bpm::expectation_propagation(cone);
    sweeps = static_cast<double>(posterior.sweeps);
  }
  state.counters["sweeps"] = sweeps;
  const auto m = static_cast<double>(cone.points());
  const auto r = static_cast<double>(cone.rank());
  report_floor(state, Floor().operations(sweeps * (4 * m * r * r + r * r * r), Product::double_));
}

void orthant_probability(benchmark::State& state) {
  const Problem problem(state.range(0));
  const Eigen::MatrixXd covariance = problem.gram;
  double draws = 0;
  for (auto _ : state) {
    bpm::RandomStreams streams;
    const bpm::OrthantProbability found = bpm::orthant_probability(
        covariance, problem.signs, {.standard_error = 0.5}, streams, {.threads = 0});
    state.counters["standard_error"] = found.standard_error;
    draws = static_cast<double>(found.draws);
  }
  const auto n = static_cast<double>(state.range(0));
  report_floor(state,
               Floor()
                   .operations(2 * (8.0 / 3 * n * n * n + 2 * n * n * draws), Product::double_)
                   .threads(all_threads()));
}

void posterior_votes(benchmark::State& state) {
  const Problem problem(state.range(0));
  const Eigen::MatrixXd covariance = problem.gram;
  const Eigen::LLT<Eigen::MatrixXd> factor(covariance);
  const bpm::PosteriorEnsemble ensemble(factor, problem.cross, problem.self);
  const bpm::IsotropicValues labels(factor, problem.signs, {});
  constexpr std::uint64_t voters = 4096;
  for (auto _ : state) {
    benchmark::DoNotOptimize(ensemble.votes(labels, voters).positive.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(voters * 2048));
  const double products = 2.0 * 2048 * static_cast<double>(voters * problem.signs.size());
  report_floor(state, Floor().operations(products, Product::float_).threads(all_threads()));
}

BENCHMARK(expectation_propagation)->Arg(300)->Arg(1000)->Arg(2000)->Unit(benchmark::kMillisecond);
BENCHMARK(orthant_probability)
    ->Arg(300)
    ->Arg(1000)
    ->Arg(2000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(posterior_votes)->Arg(300)->Arg(1000)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
