// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include "bpm/kernels/inputs.hpp"
#include "common/drawn_digits.hpp"

namespace bpm_benchmarks {

/// Inputs and labels of `count` drawn digits, pixels over 255; the same for every program and run.
template <class Scalar>
struct DigitData {
  explicit DigitData(std::ptrdiff_t count, std::uint64_t first = 0) {
    const auto digits = bpm_examples::draw_digits(count, 1, first);
    inputs = digits.images.template cast<Scalar>() / Scalar{255};
    labels = digits.labels;
  }

  bpm::RowMatrix<Scalar> inputs;
  std::vector<int> labels;
};

}  // namespace bpm_benchmarks
