// SPDX-License-Identifier: MIT
#include <benchmark/benchmark.h>

#include <Eigen/Core>
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "digit_data.hpp"
#include "floor.hpp"

// kernel_block/<kernel>/<scalar>/<rows>: a block of rows x 256 kernel values of digits (784 numbers
// each), as windowed evaluation asks for it. The rate counts the inner products only, two
// operations a number, so it can be held against a matrix product's (eigen_product, byte_product).
// The floor: these operations, or reading the inputs and writing the values. The Laplacian's sums
// of distances have as many operations and are no matrix product; they get the same floor. Blocks
// are what all kernel values are made of, and no public name: this reaches below `kernel_matrix`.

namespace {

using bpm::PointIndex;
using bpm_benchmarks::Floor;
using bpm_benchmarks::Product;
using bpm_benchmarks::report_floor;

constexpr std::ptrdiff_t window = 256;

template <class Scalar>
inline constexpr Product product_of = std::same_as<Scalar, std::uint8_t> ? Product::byte
                                      : std::same_as<Scalar, double>     ? Product::double_
                                                                         : Product::float_;

template <class Scalar, class Kernel>
void kernel_block(benchmark::State& state, const Kernel& kernel) {
  using Inputs = bpm::RowMatrix<Scalar>;
  using Value = bpm::detail::kernel_scalar_t<Inputs>;
  const std::ptrdiff_t rows = state.range(0);
  const auto& data = bpm_benchmarks::kept_digits<Scalar>(window + rows);
  const bpm::detail::PreparedInputs<Inputs> inputs(data.inputs);
  std::vector<PointIndex> points(static_cast<std::size_t>(window + rows));
  std::iota(points.begin(), points.end(), PointIndex{0});
  const std::span<const PointIndex> all(points);
  std::vector<Value> values(static_cast<std::size_t>(window * rows));
  bpm::detail::BlockScratch<Value> scratch;
  for (auto _ : state) {
    bpm::detail::kernel_block(kernel, inputs, all.subspan(static_cast<std::size_t>(window)), inputs,
                              all.first(static_cast<std::size_t>(window)), values.data(), window,
                              scratch);
    benchmark::ClobberMemory();
  }
  const double operations = 2.0 * static_cast<double>(window * rows * data.inputs.cols());
  state.counters["flop/s"] = benchmark::Counter(
      operations * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  const double bytes = static_cast<double>(data.inputs.size()) * sizeof(Scalar) +
                       static_cast<double>(values.size()) * sizeof(Value);
  report_floor(state, Floor().operations(operations, product_of<Scalar>).stream(bytes, bytes));
}

template <class Multiply>
void time_product(benchmark::State& state, Product product, Multiply&& multiply) {
  for (auto _ : state) multiply();
  const auto size = static_cast<double>(state.range(0));
  const double operations = 2 * size * size * size;
  state.counters["flop/s"] = benchmark::Counter(
      operations * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  report_floor(state, Floor().operations(operations, product));
}

template <class Scalar>
void eigen_product(benchmark::State& state) {
  const Eigen::Index n = state.range(0);
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  const Matrix a = Matrix::Random(n, n);
  const Matrix b = Matrix::Random(n, n);
  Matrix c(n, n);
  time_product(state, product_of<Scalar>, [&] {
    c.noalias() = a * b;
    benchmark::ClobberMemory();
  });
}

void byte_product(benchmark::State& state) {
  time_product(state, Product::byte, [&] { bpm_benchmarks::multiply_bytes(state.range(0)); });
}

template <class Scalar, class Kernel>
void add(const std::string& kernel_name, const std::string& scalar_name, const Kernel& kernel) {
  benchmark::RegisterBenchmark(
      ("kernel_block/" + kernel_name + "/" + scalar_name).c_str(),
      [kernel](benchmark::State& state) { kernel_block<Scalar>(state, kernel); })
      ->Arg(1)
      ->Arg(16)
      ->Arg(240)
      ->Arg(2000)
      ->Unit(benchmark::kMicrosecond);
}

template <class Scalar>
void add_all(const std::string& scalar_name) {
  const double unit = bpm_benchmarks::pixel_unit<Scalar>;
  add<Scalar>("linear", scalar_name, bpm::Linear{});
  add<Scalar>("polynomial", scalar_name, bpm::Polynomial(5, unit * unit));
  add<Scalar>("gaussian", scalar_name, bpm::Gaussian::from_sigma(5 / unit));
  add<Scalar>("laplacian", scalar_name, bpm::Laplacian(50 / unit));
  add<Scalar>("arc_cosine", scalar_name, bpm::ArcCosine(3));
}

[[maybe_unused]] const bool registered = [] {
  add_all<float>("float");
  add_all<double>("double");
  add_all<std::uint8_t>("byte");
  const auto add_product = [](const char* name, void (*function)(benchmark::State&)) {
    benchmark::RegisterBenchmark(name, function)->Arg(2048)->Unit(benchmark::kMillisecond);
  };
  add_product("eigen_product/float", eigen_product<float>);
  add_product("eigen_product/double", eigen_product<double>);
  if (bpm_benchmarks::has_byte_product()) {
    add_product("byte_product", byte_product);
  }
  return true;
}();

}  // namespace
