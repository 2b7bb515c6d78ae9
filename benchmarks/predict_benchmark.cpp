// SPDX-License-Identifier: MIT
#include <benchmark/benchmark.h>

#include <concepts>
#include <cstdint>

#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "digit_data.hpp"
#include "floor.hpp"

// predict/<inputs>: all outputs of ten classes, for that many digits at once, by a machine fitted
// to 4000 digits; predict/1 is the latency of a single digit. one_vs_rest/<m>: a whole fit of ten
// draws of ten classes to m digits, hard boundaries and no bias. predict_byte, one_vs_rest_byte:
// pixels as bytes. One thread. The floors: the inner products of all inputs with the support, or
// reading both; the inner products of the kernel values that the fit computed.

namespace {

using bpm_benchmarks::Floor;
using bpm_benchmarks::Product;
using bpm_benchmarks::thousands;

template <class Scalar>
inline constexpr Product digit_product =
    std::same_as<Scalar, std::uint8_t> ? Product::byte : Product::float_;

template <class Scalar>
auto fit_digits(std::ptrdiff_t count) {
  const auto& data = bpm_benchmarks::kept_digits<Scalar>(count);
  const double unit = bpm_benchmarks::pixel_unit<Scalar>;
  bpm::FitSettings settings{.soft_boundary = bpm::SoftBoundary::hard(), .bias = 0};
  settings.threads = 1;
  return bpm::OneVsRest(bpm::BayesPointMachine(bpm::Polynomial(5, unit * unit), {}, settings))
      .fit(data.inputs, data.labels);
}

template <class Scalar>
void predict(benchmark::State& state) {
  static const auto fitted = fit_digits<Scalar>(4000);
  const auto& others = bpm_benchmarks::kept_digits<Scalar>(state.range(0), 1'000'000);
  for (auto _ : state) {
    benchmark::DoNotOptimize(fitted.decision_values(others.inputs));
  }
  state.counters["support"] = static_cast<double>(fitted.support().size());
  state.SetItemsProcessed(state.iterations() * state.range(0));
  const auto support = static_cast<double>(fitted.support().size());
  const auto inputs = static_cast<double>(state.range(0));
  const auto features = static_cast<double>(others.inputs.cols());
  const double bytes = (support + inputs) * features * sizeof(Scalar);
  report_floor(state, Floor()
                          .operations(2 * inputs * support * features, digit_product<Scalar>)
                          .stream(bytes, bytes));
}

template <class Scalar>
void one_vs_rest(benchmark::State& state) {
  const auto& data = bpm_benchmarks::kept_digits<Scalar>(state.range(0));
  double evaluations = 0;
  for (auto _ : state) {
    const auto fitted = fit_digits<Scalar>(state.range(0));
    evaluations = static_cast<double>(fitted.report().kernel_evaluations);
  }
  state.counters["kernel_evaluations"] = evaluations;
  const auto features = static_cast<double>(data.inputs.cols());
  report_floor(state, Floor().operations(2 * evaluations * features, digit_product<Scalar>));
}

BENCHMARK(predict<float>)
    ->Name("predict")
    ->RangeMultiplier(10)
    ->Range(1, 10000)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(predict<std::uint8_t>)
    ->Name("predict_byte")
    ->RangeMultiplier(10)
    ->Range(1, 10000)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(one_vs_rest<float>)->Name("one_vs_rest")->Apply(thousands<8>);
BENCHMARK(one_vs_rest<std::uint8_t>)->Name("one_vs_rest_byte")->Apply(thousands<8>);

}  // namespace
