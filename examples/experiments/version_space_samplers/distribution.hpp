// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

/// \file
/// How two samples compare.

namespace bpm_examples {

/// sup_x |F_a(x) - F_b(x)| of the two samples' distribution functions (Kolmogorov and Smirnov).
/// Neither may be empty.
[[nodiscard]] inline double ks_statistic(std::vector<double> a, std::vector<double> b) {
  std::ranges::sort(a);
  std::ranges::sort(b);
  double largest = 0;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const double x = std::min(a[i], b[j]);
    while (i < a.size() && a[i] == x) ++i;  // Ties step together.
    while (j < b.size() && b[j] == x) ++j;
    largest = std::max(largest, std::abs(static_cast<double>(i) / static_cast<double>(a.size()) -
                                         static_cast<double>(j) / static_cast<double>(b.size())));
  }
  return largest;
}

/// The statistic that two samples of one continuous law exceed with probability 5 %, by the
/// asymptotic law; less often where values are tied.
[[nodiscard]] inline double ks_critical(std::size_t a, std::size_t b) {
  return 1.358 *
         std::sqrt(static_cast<double>(a + b) / (static_cast<double>(a) * static_cast<double>(b)));
}

/// The q-quantile, 0 <= q <= 1, by linear interpolation between order statistics. `values` is
/// sorted and not empty.
[[nodiscard]] inline double quantile(std::span<const double> values, double q) {
  const double place = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

/// Autocorrelation of a series at a lag; 0 where it is constant or too short.
[[nodiscard]] inline double autocorrelation(std::span<const double> series, std::size_t lag) {
  if (series.size() <= lag + 1) {
    return 0;
  }
  double mean = 0;
  for (const double value : series) mean += value / static_cast<double>(series.size());
  double squares = 0;
  double products = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    squares += (series[i] - mean) * (series[i] - mean);
    if (i + lag < series.size()) products += (series[i] - mean) * (series[i + lag] - mean);
  }
  return squares > 0 ? products / squares : 0;
}

/// Values and how many of the sample are equal to each.
struct Bar {
  double value = 0;
  std::size_t count = 0;
};

/// Counts each value of the sample, ascending.
[[nodiscard]] inline std::vector<Bar> count_values(std::vector<double> values) {
  std::ranges::sort(values);
  std::vector<Bar> bars;
  for (const double value : values) {
    if (bars.empty() || bars.back().value != value) bars.push_back({value, 0});
    ++bars.back().count;
  }
  return bars;
}

}  // namespace bpm_examples
