// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "bpm/core/random.hpp"
#include "check.hpp"

/// \file
/// Random splits of a data set into a training and a test part.

namespace bpm_examples {

/// Rows of a data set, in random order.
struct Split {
  std::vector<std::ptrdiff_t> train;
  std::vector<std::ptrdiff_t> test;
};

/// How many rows go where.
struct SplitShape {
  double train_fraction = 0.6;  ///< In (0, 1); the number of rows is rounded to the nearest.
  /// At most so many rows in the training part; those above it go to the test part.
  std::size_t train_limit = std::numeric_limits<std::size_t>::max();
};

/// Split `number` of `count` rows under a seed: the same with every compiler, whichever others are
/// made. \throws std::invalid_argument unless both parts have a row.
[[nodiscard]] inline Split random_split(std::size_t count, const SplitShape& shape,
                                        std::uint64_t seed, std::uint64_t number) {
  check(count < std::numeric_limits<std::uint32_t>::max(), "random_split: count is ", count,
        ", must be below 2^32 - 1");
  check(shape.train_fraction > 0 && shape.train_fraction < 1, "random_split: train_fraction is ",
        shape.train_fraction, ", must be between 0 and 1");
  const auto rounded =
      static_cast<std::size_t>(std::llround(shape.train_fraction * static_cast<double>(count)));
  const std::size_t train = std::min(rounded, shape.train_limit);
  check(train >= 1 && train < count, "random_split: count is ", count, ", which leaves ", train,
        " training rows; both parts need one");
  std::vector<std::ptrdiff_t> rows(count);
  bpm::RandomEngine engine = bpm::RandomStreams{.seed = seed}.stream(number);
  bpm::random_permutation(std::span<std::ptrdiff_t>(rows), engine);
  const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(train);
  return {{rows.begin(), middle}, {middle, rows.end()}};
}

}  // namespace bpm_examples
