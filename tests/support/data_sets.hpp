// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernels/kernel.hpp"

/// \file
/// Small data sets with labels that are any integers, in no order.

namespace machine_tests {

using Doubles = bpm::RowMatrix<double>;

inline constexpr std::array<int, 3> three_classes{7, -3, 40};

/// Which of the three classes point i belongs to.
inline int class_of(std::ptrdiff_t i) { return three_classes[static_cast<std::size_t>(i % 3)]; }

inline std::vector<int> three_labels(std::ptrdiff_t m) {
  std::vector<int> labels;
  for (std::ptrdiff_t i = 0; i < m; ++i) labels.push_back(class_of(i));
  return labels;
}

/// The same with class 40 joined to class 7.
inline std::vector<int> two_labels(std::ptrdiff_t m) {
  std::vector<int> labels = three_labels(m);
  for (int& label : labels) label = label == 40 ? 7 : label;
  return labels;
}

/// Points around the corners of a triangle, each class within reach of `spread` of its corner in
/// either coordinate; the classes can be told apart by straight lines up to 0.4.
inline Doubles triangle(std::ptrdiff_t m, std::uint64_t seed, double spread = 0.4) {
  bpm::RandomEngine engine(seed, 3);
  Doubles inputs(m, 2);
  for (std::ptrdiff_t i = 0; i < m; ++i) {
    const double angle = 2.0943951023931953 * static_cast<double>(i % 3);
    inputs(i, 0) = std::cos(angle) + spread * (2 * bpm::uniform_unit(engine) - 1);
    inputs(i, 1) = std::sin(angle) + spread * (2 * bpm::uniform_unit(engine) - 1);
  }
  return inputs;
}

/// Words, each class mostly in letters of its own.
inline std::vector<std::string> words(std::ptrdiff_t m, std::uint64_t seed) {
  const std::array<std::string, 3> letters{"abcdxy", "efghxy", "ijklxy"};
  bpm::RandomEngine engine(seed, 4);
  std::vector<std::string> inputs;
  for (std::ptrdiff_t i = 0; i < m; ++i) {
    std::string word;
    const std::uint32_t length = 6 + bpm::uniform_below(engine, 6);
    for (std::uint32_t k = 0; k < length; ++k) {
      word += letters[static_cast<std::size_t>(i % 3)][bpm::uniform_below(engine, 6)];
    }
    inputs.push_back(word);
  }
  return inputs;
}

/// How many pairs of equal two-letter pieces two words share, and one: the spectrum kernel.
struct CommonPairs {
  double operator()(const std::string& a, const std::string& b) const {
    double common = 1;
    for (std::size_t i = 0; i + 1 < a.size(); ++i) {
      for (std::size_t j = 0; j + 1 < b.size(); ++j) {
        common += a[i] == b[j] && a[i + 1] == b[j + 1] ? 1 : 0;
      }
    }
    return common;
  }
};

inline double accuracy(const std::vector<int>& found, const std::vector<int>& expected) {
  double right = 0;
  for (std::size_t i = 0; i < found.size(); ++i) right += found[i] == expected[i] ? 1 : 0;
  return right / static_cast<double>(found.size());
}

}  // namespace machine_tests
