// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/random.hpp"
#include "bpm/data/source.hpp"
#include "bpm/kernels/kernel.hpp"
#include "mnist_data.hpp"

/// \file
/// The problem of "Kernel interpolation as a Bayes point machine": even against odd digits.

namespace bpm_examples {

/// Inputs and signs: +1 for an even digit, -1 for an odd one.
struct SignedDigits {
  bpm::RowMatrix<double> inputs;  ///< Pixels / 255, standardised with MNIST's mean and deviation.
  std::vector<signed char> signs;

  /// The signs as numbers.
  [[nodiscard]] Eigen::VectorXd labels() const {
    Eigen::VectorXd values(std::ssize(signs));
    for (Eigen::Index i = 0; i < values.size(); ++i) values[i] = signs[static_cast<std::size_t>(i)];
    return values;
  }
};

/// Training digits to choose from and test digits.
struct EvenOdd {
  std::string source;  ///< One line for the screen.
  bool drawn = false;  ///< Not MNIST.
  bpm::LabelledData<bpm::RowMatrix<std::uint8_t>> pool;
  SignedDigits test;

  [[nodiscard]] const char* name() const noexcept { return drawn ? "drawn" : "mnist"; }
};

[[nodiscard]] inline signed char even_sign(int digit) {
  return static_cast<signed char>(digit % 2 == 0 ? 1 : -1);
}

[[nodiscard]] inline bpm::RowMatrix<double> standardised(
    const bpm::RowMatrix<std::uint8_t>& images) {
  return ((images.cast<double>().array() / 255 - 0.1307) / 0.3081).matrix();
}

/// All 60 000 training digits of MNIST, or four times `largest` drawn ones, and the first `test`
/// test digits. Throws as `load_digits`.
[[nodiscard]] inline EvenOdd load_even_odd(const std::filesystem::path& data, Eigen::Index largest,
                                           Eigen::Index test, int threads) {
  const bool found = std::ranges::any_of(
      data_places(data), [](const auto& place) { return mnist_in(place).has_value(); });
  Digits digits = load_digits(data, found ? mnist_train_size : 4 * largest, test, threads);
  EvenOdd result;
  result.source = digits.source;
  result.drawn = digits.drawn;
  result.pool = std::move(digits.train);
  result.test.inputs = standardised(digits.test.inputs);
  for (const int digit : digits.test.labels) result.test.signs.push_back(even_sign(digit));
  return result;
}

/// `count` of the training digits, at random: those from `begin` on in an order that the engine
/// draws. \throws std::invalid_argument where there are not so many.
[[nodiscard]] inline SignedDigits random_subset(const EvenOdd& digits, Eigen::Index count,
                                                bpm::RandomEngine engine, Eigen::Index begin = 0) {
  bpm::detail::check(count <= std::ssize(digits.pool.labels) - begin, "random_subset", "count",
                     "is ", count, ", there are ", std::ssize(digits.pool.labels) - begin);
  std::vector<Eigen::Index> order(digits.pool.labels.size());
  bpm::random_permutation(std::span(order), engine);
  bpm::RowMatrix<std::uint8_t> images(count, digits.pool.inputs.cols());
  SignedDigits chosen;
  for (Eigen::Index i = 0; i < count; ++i) {
    const Eigen::Index row = order[static_cast<std::size_t>(begin + i)];
    images.row(i) = digits.pool.inputs.row(row);
    chosen.signs.push_back(even_sign(digits.pool.labels[static_cast<std::size_t>(row)]));
  }
  chosen.inputs = standardised(images);
  return chosen;
}

}  // namespace bpm_examples
