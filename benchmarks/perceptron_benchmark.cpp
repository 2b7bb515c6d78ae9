// SPDX-License-Identifier: MIT
#include <benchmark/benchmark.h>

#include <span>
#include <vector>

#include "bpm/gram/dense_gram.hpp"
#include "bpm/gram/on_demand_gram.hpp"
#include "bpm/kernels/polynomial.hpp"
#include "bpm/machine/detail/labels.hpp"
#include "bpm/samplers/permuted_perceptron.hpp"
#include "bpm/version_space/kernel_version_space.hpp"
#include "digit_data.hpp"

// perceptron_pass/<m>: the first pass of ten classes in step over m digits, kernel values computed
// in windows. perceptron_pass_rows/<m>: the same with the whole kernel matrix in memory.

namespace {

using Inputs = bpm::RowMatrix<float>;
using Values = bpm::OnDemandGram<bpm::Polynomial, Inputs>;

template <class Gram>
void one_pass(benchmark::State& state, const Gram& gram, const std::vector<int>& labels) {
  std::vector<bpm::KernelVersionSpace<Gram>> spaces;
  for (const int digit : bpm::detail::distinct_labels(labels)) {
    spaces.emplace_back(gram, bpm::detail::one_against_rest(labels, digit));
  }
  bpm::PermutedPerceptron sampler;
  sampler.draws = 1;
  sampler.max_passes = 1;
  double evaluations = 0;
  for (auto _ : state) {
    bpm::RandomStreams streams;
    const auto report =
        sampler.sample_in_step(std::span<const bpm::KernelVersionSpace<Gram>>(spaces), streams,
                               bpm::RunControl{}, [](const bpm::Draw&) {});
    evaluations += static_cast<double>(report.kernel_evaluations);
  }
  state.counters["kernel_evaluations"] =
      benchmark::Counter(evaluations, benchmark::Counter::kAvgIterations);
}

void perceptron_pass(benchmark::State& state) {
  const bpm_benchmarks::DigitData<float> data(state.range(0));
  one_pass(state, Values(bpm::Polynomial(5), data.inputs), data.labels);
}

void perceptron_pass_rows(benchmark::State& state) {
  const bpm_benchmarks::DigitData<float> data(state.range(0));
  const bpm::DenseGram<float> gram(Values(bpm::Polynomial(5), data.inputs));
  one_pass(state, gram, data.labels);
}

BENCHMARK(perceptron_pass)->Arg(2000)->Arg(4000)->Arg(8000)->Unit(benchmark::kMillisecond);
BENCHMARK(perceptron_pass_rows)->Arg(2000)->Arg(4000)->Arg(8000)->Unit(benchmark::kMillisecond);

}  // namespace
