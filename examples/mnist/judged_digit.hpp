// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "bpm/core/points.hpp"

namespace bpm_examples {

/// A support point's part of the difference of two outputs: the parts of all add up to it.
struct Voice {
  bpm::PointIndex number = 0;  ///< Among all examples.
  int label = 0;
  double part = 0;
  std::vector<std::uint8_t> image{};
};

/// A test digit, the class that it was given and the one that came second, or is right.
struct JudgedDigit {
  Eigen::Index number = 0;  ///< Among the test digits.
  int label = 0;
  int decided = 0;
  int other = 0;
  double decided_output = 0;
  double other_output = 0;
  std::vector<Voice> for_it;      ///< Parts of the difference of both outputs, the largest first,
  std::vector<Voice> against_it;  ///< and the most negative first.
  std::vector<std::uint8_t> image{};
};

}  // namespace bpm_examples
