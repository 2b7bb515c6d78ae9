// SPDX-License-Identifier: MIT
#include "rates.hpp"

#include <benchmark/benchmark.h>
#include <time.h>

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace bpm_benchmarks {

namespace {

constexpr Eigen::Index product_size = 2048;

template <class Scalar>
double measure_product() {
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  const Matrix a = Matrix::Random(product_size, product_size);
  const Matrix b = Matrix::Random(product_size, product_size);
  Matrix c(product_size, product_size);
  const double seconds = best_seconds([&] {
    c.noalias() = a * b;
    benchmark::DoNotOptimize(c.data());
    benchmark::ClobberMemory();
  });
  const auto n = static_cast<double>(product_size);
  return 2 * n * n * n / seconds;
}

/// Eight registers of 64 bytes: enough sums side by side that none waits for another.
constexpr int chunk = 128;
using Chunk = Eigen::Array<float, chunk, 1>;

double measure_reading(const std::vector<float>& values, int sweeps) {
  const auto count = static_cast<std::ptrdiff_t>(values.size());
  const double seconds = best_seconds([&] {
    Chunk sum = Chunk::Zero();
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      const float* const x = values.data();
      for (std::ptrdiff_t i = 0; i + chunk <= count; i += chunk) {
        sum += Eigen::Map<const Chunk>(x + i);
      }
      benchmark::ClobberMemory();
    }
    benchmark::DoNotOptimize(sum.data());
  });
  return static_cast<double>(count) * sizeof(float) * sweeps / seconds;
}

double measure_update(std::vector<float>& values, int sweeps) {
  const auto count = static_cast<std::ptrdiff_t>(values.size() / 2) / chunk * chunk;
  const double seconds = best_seconds([&] {
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      const float* const x = values.data();
      float* const y = values.data() + count;
      for (std::ptrdiff_t i = 0; i + chunk <= count; i += chunk) {
        Eigen::Map<Chunk>(y + i) += 1e-9F * Eigen::Map<const Chunk>(x + i);
      }
      benchmark::ClobberMemory();
    }
  });
  return 3 * static_cast<double>(count) * sizeof(float) * sweeps / seconds;
}

Rates::Stream measure_stream(std::ptrdiff_t working_set) {
  std::vector<float> values(static_cast<std::size_t>(working_set) / sizeof(float), 1.0F);
  // Trials of a few milliseconds at the least, whatever the size.
  const auto sweeps = static_cast<int>(std::max<std::ptrdiff_t>(1, (64 << 20) / working_set));
  return {working_set, std::max(measure_reading(values, sweeps), measure_update(values, sweeps))};
}

Rates measure() {
  Rates result;
  for (const std::ptrdiff_t kibibytes : {16, 256, 4096, 262144}) {
    result.streams.push_back(measure_stream(kibibytes * 1024));
  }
  result.float_operations = measure_product<float>();
  result.double_operations = measure_product<double>();
  result.byte_operations = measure_byte_product();
  return result;
}

}  // namespace

double thread_seconds() {
  ::timespec now = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::optional<double> Rates::operations(Product product) const {
  switch (product) {
    case Product::float_:
      return float_operations;
    case Product::double_:
      return double_operations;
    case Product::byte:
      return byte_operations;
  }
  return std::nullopt;
}

double Rates::bytes_per_second(double working_set) const {
  double rate = streams.front().bytes_per_second;
  for (const Stream& stream : streams) {
    if (static_cast<double>(stream.working_set) <= working_set) rate = stream.bytes_per_second;
  }
  return rate;
}

const Rates& rates() {
  static const Rates measured = measure();
  return measured;
}

}  // namespace bpm_benchmarks
