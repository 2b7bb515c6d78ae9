// SPDX-License-Identifier: MIT
#include <benchmark/benchmark.h>

#include <concepts>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/version_space/version_space.hpp"
#include "digit_data.hpp"
#include "floor.hpp"

// perceptron_pass/<m>: the first pass of ten classes in step over m digits, kernel values computed
// in windows; perceptron_pass_byte/<m>: of pixels as bytes. The floor: the inner products of the
// kernel values that were computed. perceptron_draw/<m>: one draw of ten classes from its first
// pass to the one without a mistake, the whole kernel matrix in memory. The floor: every mistake
// changes the outputs of all points by a multiply-add in double precision, or the rows of the
// points that a class erred on are read once. Passes are less than a fit, so these reach below the
// machine: to kernel values on demand and to the labels of its binary subproblems.

namespace {

using bpm_benchmarks::Floor;
using bpm_benchmarks::Product;
using bpm_benchmarks::thousands;

template <class Scalar>
using Values = bpm::detail::OnDemandGram<bpm::Polynomial, bpm::RowMatrix<Scalar>>;

template <class Scalar>
bpm::Polynomial digit_kernel() {
  const double unit = bpm_benchmarks::pixel_unit<Scalar>;
  return bpm::Polynomial(5, unit * unit);
}

template <class Gram>
auto digit_spaces(const Gram& gram, const std::vector<int>& labels) {
  std::vector<bpm::KernelVersionSpace<typename Gram::Scalar>> spaces;
  for (const int digit : bpm::detail::distinct_labels(labels)) {
    spaces.emplace_back(gram, bpm::detail::one_against_rest(labels, digit));
  }
  return spaces;
}

template <class Scalar>
void perceptron_pass(benchmark::State& state) {
  const auto& data = bpm_benchmarks::kept_digits<Scalar>(state.range(0));
  const Values<Scalar> gram(digit_kernel<Scalar>(), data.inputs);
  const auto spaces = digit_spaces(gram, data.labels);
  bpm::PermutedPerceptron sampler;
  sampler.draws = 1;
  sampler.max_passes = 1;
  bpm::SamplerReport report;
  for (auto _ : state) {
    bpm::RandomStreams streams;
    report = sampler.sample(std::span(spaces), streams, bpm::RunControl{}, [](const bpm::Draw&) {});
  }
  state.counters["kernel_evaluations"] = static_cast<double>(report.kernel_evaluations);
  const auto features = static_cast<double>(data.inputs.cols());
  constexpr Product product = std::same_as<Scalar, std::uint8_t> ? Product::byte : Product::float_;
  const double bytes = static_cast<double>(data.inputs.size()) * sizeof(Scalar);
  report_floor(
      state, Floor()
                 .operations(2 * features * static_cast<double>(report.kernel_evaluations), product)
                 .stream(bytes, bytes));
}

void perceptron_draw(benchmark::State& state) {
  const auto& data = bpm_benchmarks::kept_digits<float>(state.range(0));
  const bpm::detail::DenseGram<float> gram(Values<float>(digit_kernel<float>(), data.inputs));
  const auto spaces = digit_spaces(gram, data.labels);
  bpm::PermutedPerceptron sampler;
  sampler.draws = 1;
  bpm::SamplerReport report;
  std::set<bpm::PointIndex> support;
  for (auto _ : state) {
    bpm::RandomStreams streams;
    report = sampler.sample(
        std::span(spaces), streams, bpm::RunControl{},
        [&](const bpm::Draw& draw) { support.insert(draw.support.begin(), draw.support.end()); });
  }
  state.counters["mistakes"] = static_cast<double>(report.perceptron->mistakes);
  state.counters["rows"] = static_cast<double>(support.size());
  const auto points = static_cast<double>(state.range(0));
  const double row = points * sizeof(float);
  report_floor(state, Floor()
                          .operations(2 * points * static_cast<double>(report.perceptron->mistakes),
                                      Product::double_)
                          .stream(row * static_cast<double>(support.size()), row * points));
}

BENCHMARK(perceptron_pass<float>)->Name("perceptron_pass")->Apply(thousands<32>);
BENCHMARK(perceptron_pass<std::uint8_t>)->Name("perceptron_pass_byte")->Apply(thousands<32>);
BENCHMARK(perceptron_draw)->Apply(thousands<8>);

}  // namespace
