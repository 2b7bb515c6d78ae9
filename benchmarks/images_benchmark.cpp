// SPDX-License-Identifier: MIT
#include <benchmark/benchmark.h>

#include <cstdint>

#include "bpm/images/deformation.hpp"
#include "bpm/images/gradient_features.hpp"
#include "bpm/images/virtual_examples.hpp"
#include "digit_data.hpp"
#include "floor.hpp"

// image_copies/<transform>/<n>: a copy each of n digits of 28 x 28 bytes, one thread. The floor:
// reading the digits and writing the copies. image_features/gradient/<n>: their features, likewise.

namespace {

template <class Transform>
void image_copies(benchmark::State& state) {
  const Eigen::Index count = state.range(0);
  const auto& digits = bpm_benchmarks::kept_digits<std::uint8_t>(count);
  const bpm::VirtualExamples examples({28, 28}, digits.inputs, Transform{});
  bpm::RowMatrix<std::uint8_t> copies(count, digits.inputs.cols());
  for (auto _ : state) {
    examples.fill(examples.all(1, 2), copies, 1);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * count);
  const double bytes = 2.0 * static_cast<double>(copies.size());
  report_floor(state, bpm_benchmarks::Floor().stream(bytes, bytes));
}

void image_features(benchmark::State& state) {
  const Eigen::Index count = state.range(0);
  const auto& digits = bpm_benchmarks::kept_digits<std::uint8_t>(count);
  const bpm::GradientFeatures gradients({28, 28});
  for (auto _ : state) {
    benchmark::DoNotOptimize(gradients(digits.inputs, 1));
  }
  state.SetItemsProcessed(state.iterations() * count);
  const double bytes = static_cast<double>(digits.inputs.size() + count * gradients.size());
  report_floor(state, bpm_benchmarks::Floor().stream(bytes, bytes));
}

BENCHMARK(image_features)->Name("image_features/gradient")->Arg(1000);
BENCHMARK(image_copies<bpm::Shifts>)->Name("image_copies/shifts")->Arg(1000);
BENCHMARK(image_copies<bpm::Deformation>)->Name("image_copies/deformation")->Arg(1000);

}  // namespace
