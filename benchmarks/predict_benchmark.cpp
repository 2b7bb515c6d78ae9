// SPDX-License-Identifier: MIT
#include <benchmark/benchmark.h>

#include "bpm/kernels/polynomial.hpp"
#include "bpm/machine/one_vs_rest.hpp"
#include "digit_data.hpp"

// predict/<inputs>: all outputs of ten classes, for that many digits at once, by a machine fitted
// to 4000 digits. One thread.

namespace {

void predict(benchmark::State& state) {
  static const auto fitted = [] {
    const bpm_benchmarks::DigitData<float> data(4000);
    bpm::FitSettings settings;
    settings.threads = 1;
    return bpm::OneVsRest(bpm::BayesPointMachine(bpm::Polynomial(5), {}, settings))
        .fit(data.inputs, data.labels);
  }();
  const bpm_benchmarks::DigitData<float> others(state.range(0), 1'000'000);
  for (auto _ : state) {
    benchmark::DoNotOptimize(fitted.decision_values(others.inputs));
  }
  state.counters["support"] = static_cast<double>(fitted.support().size());
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(predict)->Arg(1)->Arg(10)->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond);

}  // namespace
