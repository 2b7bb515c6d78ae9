// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

/// \file
/// What one core of this machine can do, measured once a run: the rates that the floors of the
/// benchmarks are computed from. All are of one thread, best of several trials, by the thread's
/// processor time.

namespace bpm_benchmarks {

/// Which numbers a matrix product multiplies.
enum class Product { float_, double_, byte };

struct Rates {
  /// How fast numbers of a working set of so many bytes go through a core: the better of reading
  /// them (a sum) and of y += a x, whose reads and writes both count.
  struct Stream {
    std::ptrdiff_t working_set = 0;  ///< bytes
    double bytes_per_second = 0;
  };

  std::vector<Stream> streams;  ///< By ascending working set, from the first cache to memory.
  double float_operations = 0;  ///< Eigen's product of large square matrices, operations a second.
  double double_operations = 0;
  /// oneDNN's product of unsigned and signed bytes; absent in a program built without it.
  std::optional<double> byte_operations;

  [[nodiscard]] std::optional<double> operations(Product product) const;
  /// The rate of the largest working set that is not larger than this one, so that it is never
  /// slower than what the caches allow.
  [[nodiscard]] double bytes_per_second(double working_set) const;
};

/// Measured at the first call, in a few seconds.
[[nodiscard]] const Rates& rates();

/// Whether this program is built with oneDNN.
[[nodiscard]] bool has_byte_product();
/// Multiplies two n x n matrices of bytes, kept from call to call, by oneDNN; without it, nothing.
void multiply_bytes(std::ptrdiff_t n);

/// Operations a second of oneDNN's product; absent without it.
[[nodiscard]] std::optional<double> measure_byte_product();

/// Seconds of processor time of the calling thread.
[[nodiscard]] double thread_seconds();

/// Seconds that one call of `work` takes at best, of as many as a quarter of a second holds, at
/// least one.
template <class Work>
[[nodiscard]] double best_seconds(Work&& work) {
  constexpr double enough = 0.25;
  double best = 0;
  double total = 0;
  for (int call = 0; call == 0 || total < enough; ++call) {
    const double start = thread_seconds();
    work();
    const double passed = thread_seconds() - start;
    total += passed;
    best = call == 0 || passed < best ? passed : best;
  }
  return best;
}

}  // namespace bpm_benchmarks
