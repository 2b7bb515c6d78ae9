// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/data/source.hpp"
#include "bpm/kernels/kernel.hpp"
#include "common/mnist_data.hpp"

/// \file
/// Digits as the networks see them.

namespace bpm_examples {

/// Images, one per row, and +1 for even, -1 for odd digits.
struct ParityDigits {
  bpm::RowMatrix<float> inputs;
  Eigen::VectorXf labels;
};

/// (pixel / 255 - 0.1307) / 0.3081, the mean and deviation of MNIST's training pixels, then each
/// image scaled to |x|^2 = number of pixels.
[[nodiscard]] inline ParityDigits parity_digits(
    const bpm::LabelledData<bpm::RowMatrix<std::uint8_t>>& digits,
    std::span<const std::uint32_t> chosen) {
  ParityDigits result;
  const Eigen::Index pixels = digits.inputs.cols();
  result.inputs.resize(std::ssize(chosen), pixels);
  result.labels.resize(std::ssize(chosen));
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    const Eigen::RowVectorXd image =
        (digits.inputs.row(chosen[i]).cast<double>().array() / 255 - 0.1307) / 0.3081;
    result.inputs.row(row) =
        (image * (std::sqrt(static_cast<double>(pixels)) / image.norm())).cast<float>();
    result.labels[row] = digits.labels[chosen[i]] % 2 == 0 ? 1.0F : -1.0F;
  }
  return result;
}

/// `count` different numbers below `total`, in random order.
[[nodiscard]] inline std::vector<std::uint32_t> choose_rows(std::size_t count, std::size_t total,
                                                            bpm::RandomEngine engine) {
  if (count > total) {
    throw std::invalid_argument(std::to_string(count) + " digits were asked for, there are " +
                                std::to_string(total));
  }
  std::vector<std::uint32_t> order(total);
  bpm::random_permutation(std::span(order), engine);
  order.resize(count);
  return order;
}

/// Numbers of the random streams: a size's results do not depend on the other sizes.
[[nodiscard]] inline bpm::RandomEngine stream_of(std::uint64_t seed, Eigen::Index size,
                                                 std::uint64_t number) {
  return bpm::RandomStreams{.seed = seed}.stream((static_cast<std::uint64_t>(size) << 24U) +
                                                 number);
}

}  // namespace bpm_examples
