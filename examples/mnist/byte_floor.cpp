// SPDX-License-Identifier: MIT
// The rate of oneDNN's product of bytes, where the program is built with it.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "floor.hpp"

#ifdef BPM_WITH_ONEDNN
#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>
#endif

namespace bpm_examples {

#ifdef BPM_WITH_ONEDNN

std::optional<double> byte_product_rate(int threads) {
  constexpr dnnl_dim_t n = 3072;
  constexpr int rounds = 8;
  const auto size = static_cast<std::size_t>(n * n);
  std::vector<std::uint8_t> a(size);
  std::vector<std::int8_t> b(size);
  std::vector<std::int32_t> c(size);
  for (std::size_t i = 0; i < size; ++i) {
    a[i] = static_cast<std::uint8_t>(i * 37 % 256);
    b[i] = static_cast<std::int8_t>(static_cast<int>(i * 53 % 256) - 128);
  }
  const std::int32_t offset = 0;
  // oneDNN multiplies on all threads of OpenMP. Asked of the runtime that it brought along: linking
  // OpenMP would make Eigen's products parallel as well.
  using SetThreads = void (*)(int);
  if (void* const found = ::dlsym(RTLD_DEFAULT, "omp_set_num_threads")) {
    reinterpret_cast<SetThreads>(found)(threads);
  }
  double best = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    if (dnnl_gemm_u8s8s32('N', 'N', 'F', n, n, n, 1.0F, a.data(), n, 0, b.data(), n, 0, 0.0F,
                          c.data(), n, &offset) != dnnl_success) {
      throw std::runtime_error("--floor: oneDNN's product of bytes failed");
    }
    best = std::max(
        best, 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) /
                  std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

#else

std::optional<double> byte_product_rate(int /*threads*/) { return std::nullopt; }

#endif

}  // namespace bpm_examples
