// SPDX-License-Identifier: MIT
#include <benchmark/benchmark.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "bpm/core/random.hpp"
#include "common/billiard_chain.hpp"
#include "cone_data.hpp"
#include "floor.hpp"

// billiard_bounce/<flight>/<m>: time of one bounce in a run of 1e5 with defaults: burn-in with its
// search for the refresh length, new directions, centre, drift control and draws included; kernel
// matrix, factor and start are not. Its floor: d, nu and a row of the matrix are read, d and nu
// written. billiard_bounce/naive/<m>: the bounce of "Robust Bayes Point
// Machines" written plainly with matrix-vector products, O(m^2); the same floor.
// billiard_floor/<m>: a loop that does nothing but stream these bytes.

namespace {

using bpm_benchmarks::ConeData;
using bpm_benchmarks::Floor;
using bpm_benchmarks::report_floor;

/// The bytes of a bounce, each from the cache that can hold what it is part of.
Floor bounce_floor(std::ptrdiff_t points) {
  const double vector = sizeof(double) * static_cast<double>(points);
  return Floor()
      .stream(4 * vector, 2 * vector)
      .stream(vector, vector * static_cast<double>(points));
}

std::ptrdiff_t features_of(std::ptrdiff_t points) { return points <= 100 ? 5 : 10; }

void billiard_bounce(benchmark::State& state, bpm_examples::Flight flight) {
  const ConeData data(state.range(0), features_of(state.range(0)));
  constexpr std::uint64_t bounces = 100'000;
  std::uint64_t seed = 0;
  double refreshes = 0;
  double repairs = 0;
  while (state.KeepRunningBatch(bounces)) {
    bpm_examples::BilliardChain chain(data.cone, {.flight = flight}, data.start,
                                      bpm::RandomEngine(++seed));
    while (!chain.burn_in(data.cone, bounces)) {
    }
    while (chain.burnt() + chain.bounces() < bounces) {
      chain.advance(data.cone, bounces - chain.burnt() - chain.bounces());
    }
    const bpm::CentreOfMass centre = chain.centre(data.cone);
    benchmark::DoNotOptimize(centre.coefficients.data());
    refreshes += static_cast<double>(chain.refreshes());
    repairs += static_cast<double>(chain.repairs());
    state.counters["refresh_length"] = chain.refresh_length();
  }
  state.counters["refreshes"] = refreshes / static_cast<double>(seed);
  state.counters["repairs"] = repairs / static_cast<double>(seed);
  report_floor(state, bounce_floor(state.range(0)));
}

void billiard_floor(benchmark::State& state) {
  const ConeData data(state.range(0), features_of(state.range(0)));
  const std::ptrdiff_t length = data.cone.output_stride();
  std::vector<double> d(static_cast<std::size_t>(length), 1.0);
  std::vector<double> nu(static_cast<std::size_t>(length), 1e-3);
  bpm::RandomEngine engine(1);
  const auto points = static_cast<std::uint32_t>(data.cone.points());
  constexpr int rows = 1000;
  std::vector<std::uint32_t> order(rows);
  for (auto& i : order) i = bpm::uniform_below(engine, points);
  while (state.KeepRunningBatch(rows)) {
    for (const std::uint32_t i : order) {
      const double* const row = data.cone.product_row(i);
      double* const x = d.data();
      double* const y = nu.data();
      for (std::ptrdiff_t k = 0; k < length; ++k) {
        const double old = x[k];
        x[k] = 0.8 * old + 0.6 * y[k];
        y[k] = 0.8 * y[k] - 0.6 * old + 1e-9 * row[k];
      }
      benchmark::DoNotOptimize(x);
      benchmark::ClobberMemory();
    }
  }
  state.SetBytesProcessed(state.iterations() * 5 * length *
                          static_cast<std::ptrdiff_t>(sizeof(double)));
  report_floor(state, bounce_floor(state.range(0)));
}

/// The published bounce on coefficients alone: every inner product through the kernel matrix.
void naive_bounce(benchmark::State& state) {
  const ConeData data(state.range(0), features_of(state.range(0)));
  const Eigen::Index m = state.range(0);
  const Eigen::MatrixXd kernel = data.kernel;
  Eigen::VectorXd y(m);
  for (Eigen::Index i = 0; i < m; ++i) y[i] = data.labels[static_cast<std::size_t>(i)];
  Eigen::VectorXd gamma = Eigen::VectorXd::Zero(m);
  data.cone.add_dual_coefficients(data.start.data(), 1.0, gamma.data());
  Eigen::VectorXd beta(m);
  Eigen::VectorXd alpha = gamma;
  bpm::RandomEngine engine(1);
  const auto norm = [&](const Eigen::VectorXd& a) { return std::sqrt(a.dot(kernel * a)); };
  const auto new_direction = [&] {
    for (Eigen::Index i = 0; i < m; ++i) beta[i] = 2 * bpm::uniform_unit(engine) - 1;
    beta /= norm(beta);
  };
  new_direction();
  Eigen::Index last = -1;
  double total = 0;
  for (auto _ : state) {
    Eigen::Index hit = -1;
    double tau = std::numeric_limits<double>::infinity();
    Eigen::VectorXd nu;
    do {
      const Eigen::VectorXd d = y.cwiseProduct(kernel * gamma);
      nu = y.cwiseProduct(kernel * beta);
      for (Eigen::Index i = 0; i < m; ++i) {
        const double time = -d[i] / nu[i];
        if (i != last && time > 0 && time < tau) {
          tau = time;
          hit = i;
        }
      }
      if (hit < 0) new_direction();
    } while (hit < 0);
    const Eigen::VectorXd before = gamma;
    gamma += tau * beta;
    gamma /= norm(gamma);
    beta[hit] -= 2 * nu[hit] * y[hit] / kernel(hit, hit);
    beta /= norm(beta);
    Eigen::VectorXd middle = before + gamma;
    middle /= norm(middle);
    const double chord = norm(gamma - before);
    const double mu = total / (total + chord);
    total += chord;
    const double c = alpha.dot(kernel * middle);
    const double moved = mu * mu * (1 - c);
    const double rho = mu * std::sqrt((2 - moved) / (1 + c));
    alpha = rho * alpha + (1 - moved - rho * c) * middle;
    benchmark::DoNotOptimize(alpha.data());
    last = hit;
  }
  report_floor(state, bounce_floor(m));
}

BENCHMARK_CAPTURE(billiard_bounce, geodesic, bpm_examples::Flight::geodesic)
    ->Arg(60)
    ->Arg(400)
    ->Arg(2000);
BENCHMARK_CAPTURE(billiard_bounce, published, bpm_examples::Flight::published)
    ->Arg(60)
    ->Arg(400)
    ->Arg(2000);
BENCHMARK(naive_bounce)->Name("billiard_bounce/naive")->Arg(60)->Arg(400);
BENCHMARK(billiard_floor)->Arg(60)->Arg(400)->Arg(2000);

}  // namespace
