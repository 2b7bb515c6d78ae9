// SPDX-License-Identifier: MIT
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <optional>

#include "rates.hpp"

namespace bpm_benchmarks {

/// The least time that a piece of work can take on one core: its operations at the rate of a large
/// matrix product, or its bytes at the rate of a stream, whichever is longer. What is added here
/// must be work that no way of doing it can avoid; what a floor leaves out only lowers it.
class Floor {
 public:
  /// Operations, two a multiply-add, on numbers of this kind.
  Floor& operations(double count, Product product) {
    const std::optional<double> rate = rates().operations(product);
    known_ = known_ && rate.has_value();
    compute_ += rate ? count / *rate : 0;
    return *this;
  }
  /// Bytes that are read or written, of a working set of that many bytes: the caches that hold it
  /// are faster than memory.
  Floor& stream(double bytes, double working_set) {
    move_ += bytes / rates().bytes_per_second(working_set);
    return *this;
  }
  /// The work is spread over so many threads.
  Floor& threads(double count) {
    threads_ = count;
    return *this;
  }

  /// Absent where a rate could not be measured.
  [[nodiscard]] std::optional<double> seconds() const {
    return known_ ? std::optional(std::max(compute_, move_) / threads_) : std::nullopt;
  }

 private:
  double compute_ = 0;
  double move_ = 0;
  double threads_ = 1;
  bool known_ = true;
};

/// Leaves the floor of one iteration with the benchmark's results, as the counter `floor_seconds`.
inline void report_floor(benchmark::State& state, const Floor& floor) {
  if (const auto seconds = floor.seconds()) {
    state.counters["floor_seconds"] = *seconds;
  }
}

}  // namespace bpm_benchmarks
