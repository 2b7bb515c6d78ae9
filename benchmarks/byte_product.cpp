// SPDX-License-Identifier: MIT
// The matrix product of bytes by oneDNN, where the program is built with it.
#include <cstddef>
#include <optional>

#include "rates.hpp"

#ifdef BPM_WITH_ONEDNN

#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace bpm_benchmarks {

namespace {

/// oneDNN multiplies on all threads of OpenMP. Asked of the runtime that it brought along: linking
/// OpenMP would make Eigen's products parallel as well.
void use_one_thread() {
  using SetThreads = void (*)(int);
  if (void* const found = ::dlsym(RTLD_DEFAULT, "omp_set_num_threads")) {
    reinterpret_cast<SetThreads>(found)(1);
  }
}

struct ByteMatrices {
  explicit ByteMatrices(std::ptrdiff_t n)
      : a(static_cast<std::size_t>(n * n)), b(a.size()), c(a.size()) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      a.data()[i] = static_cast<std::uint8_t>(i * 7 % 251);
      b.data()[i] = static_cast<std::int8_t>(static_cast<int>(i * 11 % 253) - 126);
    }
  }
  std::vector<std::uint8_t> a;
  std::vector<std::int8_t> b;
  std::vector<std::int32_t> c;
};

}  // namespace

bool has_byte_product() { return true; }

void multiply_bytes(std::ptrdiff_t n) {
  static ByteMatrices matrices(n);
  if (static_cast<std::ptrdiff_t>(matrices.a.size()) != n * n) matrices = ByteMatrices(n);
  use_one_thread();
  const std::int32_t no_offset = 0;
  const dnnl_status_t status = ::dnnl_gemm_u8s8s32(
      'N', 'N', 'F', n, n, n, 1.0F, matrices.a.data(), n, std::uint8_t{0}, matrices.b.data(), n,
      std::int8_t{0}, 0.0F, matrices.c.data(), n, &no_offset);
  if (status != dnnl_success) {
    throw std::runtime_error("oneDNN refused the product of bytes");
  }
  benchmark::DoNotOptimize(matrices.c.data());
  benchmark::ClobberMemory();
}

std::optional<double> measure_byte_product() {
  constexpr std::ptrdiff_t size = 2048;
  multiply_bytes(size);  // Makes its machine code.
  const double seconds = best_seconds([] { multiply_bytes(size); });
  const auto n = static_cast<double>(size);
  return 2 * n * n * n / seconds;
}

}  // namespace bpm_benchmarks

#else

namespace bpm_benchmarks {

bool has_byte_product() { return false; }
void multiply_bytes(std::ptrdiff_t /*n*/) {}
std::optional<double> measure_byte_product() { return std::nullopt; }

}  // namespace bpm_benchmarks

#endif
