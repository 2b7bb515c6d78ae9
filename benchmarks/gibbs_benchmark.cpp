// SPDX-License-Identifier: MIT
#include <benchmark/benchmark.h>

#include <cstdint>

#include "bpm/core/random.hpp"
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "cone_data.hpp"
#include "floor.hpp"

// gibbs_step/<directions>/<m>: one step of the kernel Gibbs sampler with its part of the block
// product of directions and of the average. gibbs_step/..._noise: q = 0.05, all 2 m arcs of the
// circle. The floor: an isotropic direction's outputs are a product of m x r numbers, those along
// an input a row of the matrix; the outputs of the position are read and written. Sorting is not in
// it.

namespace {

using bpm_benchmarks::ConeData;

void gibbs_step(benchmark::State& state, bpm::KernelGibbs::Direction directions, double noise) {
  const ConeData data(state.range(0), state.range(0) <= 100 ? 5 : 10);
  bpm::KernelGibbs settings;
  settings.directions = directions;
  settings.label_noise = noise;
  settings.burn_in = 1;
  bpm::detail::GibbsChain chain(data.cone, settings, data.start, bpm::RandomEngine(1));
  constexpr std::uint64_t steps = 1000;
  while (!chain.burn_in(data.cone, steps)) {
  }
  while (state.KeepRunningBatch(steps)) {
    const std::uint64_t end = chain.steps() + steps;
    while (chain.steps() < end) chain.advance(data.cone, end - chain.steps());
  }
  const auto points = static_cast<double>(data.cone.points());
  const double vector = sizeof(double) * points;
  bpm_benchmarks::Floor floor;
  floor.stream(2 * vector, 2 * vector);
  if (directions == bpm::KernelGibbs::Direction::isotropic) {
    floor.operations(2 * points * static_cast<double>(data.cone.rank()),
                     bpm_benchmarks::Product::double_);
  } else {
    floor.stream(vector, vector * points);
  }
  report_floor(state, floor);
}

BENCHMARK_CAPTURE(gibbs_step, isotropic, bpm::KernelGibbs::Direction::isotropic, 0.0)
    ->Arg(60)
    ->Arg(400)
    ->Arg(2000);
BENCHMARK_CAPTURE(gibbs_step, isotropic_noise, bpm::KernelGibbs::Direction::isotropic, 0.05)
    ->Arg(60)
    ->Arg(400)
    ->Arg(2000);
BENCHMARK_CAPTURE(gibbs_step, input, bpm::KernelGibbs::Direction::input, 0.0)
    ->Arg(60)
    ->Arg(400)
    ->Arg(2000);
BENCHMARK_CAPTURE(gibbs_step, input_noise, bpm::KernelGibbs::Direction::input, 0.05)
    ->Arg(60)
    ->Arg(400)
    ->Arg(2000);

}  // namespace
