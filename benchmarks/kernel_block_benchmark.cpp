// SPDX-License-Identifier: MIT
#include <benchmark/benchmark.h>

#include <numeric>
#include <string>
#include <vector>

#include "bpm/kernels/arc_cosine.hpp"
#include "bpm/kernels/blocks.hpp"
#include "bpm/kernels/gaussian.hpp"
#include "bpm/kernels/laplacian.hpp"
#include "bpm/kernels/linear.hpp"
#include "bpm/kernels/polynomial.hpp"
#include "digit_data.hpp"

// kernel_block/<kernel>/<scalar>/<rows>: a block of rows x 256 kernel values of digits (784 numbers
// each), as windowed evaluation asks for it. The rate counts the inner products only, two
// operations a number, so it can be held against a matrix product's (eigen_product).

namespace {

using bpm::PointIndex;

constexpr std::ptrdiff_t window = 256;

template <class Scalar, class Kernel>
void kernel_block(benchmark::State& state, const Kernel& kernel) {
  const std::ptrdiff_t rows = state.range(0);
  const bpm_benchmarks::DigitData<Scalar> data(window + rows);
  const bpm::PreparedInputs<bpm::RowMatrix<Scalar>> inputs(data.inputs);
  std::vector<PointIndex> points(static_cast<std::size_t>(window + rows));
  std::iota(points.begin(), points.end(), PointIndex{0});
  const std::span<const PointIndex> all(points);
  std::vector<Scalar> values(static_cast<std::size_t>(window * rows));
  bpm::BlockScratch<Scalar> scratch;
  for (auto _ : state) {
    bpm::kernel_block(kernel, inputs, all.subspan(static_cast<std::size_t>(window)), inputs,
                      all.first(static_cast<std::size_t>(window)), values.data(), window, scratch);
    benchmark::ClobberMemory();
  }
  const double operations = 2.0 * static_cast<double>(window * rows * data.inputs.cols());
  state.counters["flop/s"] = benchmark::Counter(
      operations * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

template <class Scalar>
void eigen_product(benchmark::State& state) {
  const Eigen::Index n = state.range(0);
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  const Matrix a = Matrix::Random(n, n);
  const Matrix b = Matrix::Random(n, n);
  Matrix c(n, n);
  for (auto _ : state) {
    c.noalias() = a * b;
    benchmark::ClobberMemory();
  }
  const auto size = static_cast<double>(n);
  state.counters["flop/s"] =
      benchmark::Counter(2 * size * size * size * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
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
  add<Scalar>("linear", scalar_name, bpm::Linear{});
  add<Scalar>("polynomial", scalar_name, bpm::Polynomial(5));
  add<Scalar>("gaussian", scalar_name, bpm::Gaussian::from_sigma(5));
  add<Scalar>("laplacian", scalar_name, bpm::Laplacian(50));
  add<Scalar>("arc_cosine", scalar_name, bpm::ArcCosine(3));
  benchmark::RegisterBenchmark(("eigen_product/" + scalar_name).c_str(), eigen_product<Scalar>)
      ->Arg(2048)
      ->Unit(benchmark::kMillisecond);
}

[[maybe_unused]] const bool registered = [] {
  add_all<float>("float");
  add_all<double>("double");
  return true;
}();

}  // namespace
