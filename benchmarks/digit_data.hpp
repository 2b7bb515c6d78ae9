// SPDX-License-Identifier: MIT
#pragma once

#include <benchmark/benchmark.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "bpm/kernels/kernel.hpp"
#include "common/drawn_digits.hpp"

namespace bpm_benchmarks {

/// 1000, 2000, 4000, ... to `most` thousand digits.
template <int most>
void thousands(benchmark::internal::Benchmark* each) {
  for (int count = 1; count <= most; count *= 2) each->Arg(1000 * count);
  each->Unit(benchmark::kMillisecond);
}

/// Inputs and labels of `count` drawn digits, the same for every program and run: pixels over 255,
/// or the pixels themselves where the inputs are bytes.
template <class Scalar>
struct DigitData {
  explicit DigitData(std::ptrdiff_t count, std::uint64_t first = 0) {
    const auto digits = bpm_examples::draw_digits(count, 1, first);
    if constexpr (std::same_as<Scalar, std::uint8_t>) {
      inputs = digits.images;
    } else {
      inputs = digits.images.template cast<Scalar>() / Scalar{255};
    }
    labels = digits.labels;
  }

  bpm::RowMatrix<Scalar> inputs;
  std::vector<int> labels;
};

/// The same, drawn once and kept: a benchmark's function is called again for every repetition.
template <class Scalar>
[[nodiscard]] const DigitData<Scalar>& kept_digits(std::ptrdiff_t count, std::uint64_t first = 0) {
  static std::map<std::pair<std::ptrdiff_t, std::uint64_t>, DigitData<Scalar>> kept;
  const std::pair key(count, first);
  const auto found = kept.find(key);
  return found != kept.end() ? found->second
                             : kept.emplace(key, DigitData<Scalar>(count, first)).first->second;
}

/// The pixel of a byte in units of the other inputs; kernels take its square for inner products.
template <class Scalar>
inline constexpr double pixel_unit = std::same_as<Scalar, std::uint8_t> ? 1.0 / 255 : 1.0;

}  // namespace bpm_benchmarks
