// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "bpm/core/check.hpp"

namespace bpm::detail {

/// The distinct labels, ascending.
[[nodiscard]] inline std::vector<int> distinct_labels(std::span<const int> labels) {
  std::vector<int> classes(labels.begin(), labels.end());
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  return classes;
}

/// +1 where the label is `positive`, -1 elsewhere.
[[nodiscard]] inline std::vector<signed char> one_against_rest(std::span<const int> labels,
                                                               int positive) {
  std::vector<signed char> signs(labels.size());
  std::transform(labels.begin(), labels.end(), signs.begin(),
                 [&](int label) { return static_cast<signed char>(label == positive ? 1 : -1); });
  return signs;
}

/// Checks that there are as many labels as inputs, some at all, and of two classes or more; returns
/// the classes.
[[nodiscard]] inline std::vector<int> check_labels(std::ptrdiff_t inputs,
                                                   std::span<const int> labels,
                                                   std::string_view function) {
  check(inputs > 0, function, "inputs", "is empty, expected one input or more of each class");
  check(inputs <= std::numeric_limits<std::int32_t>::max(), function, "inputs", "has ", inputs,
        " entries, must be fewer than 2^31");
  check_size(function, "labels", labels.size(), inputs, "one per input");
  std::vector<int> classes = distinct_labels(labels);
  check(classes.size() >= 2, function, "labels", "are all ", classes[0],
        ", expected two classes or more");
  return classes;
}

}  // namespace bpm::detail
