// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "bpm/core/check.hpp"

namespace bpm {

/// Every combination of the values of several parameters, the last one running fastest:
/// {{1, 2}, {5, 6, 7}} makes 6 points of 2 parameters.
/// \throws std::invalid_argument without
/// parameters or if one has no value.
[[nodiscard]] inline std::vector<std::vector<double>> parameter_grid(
    const std::vector<std::vector<double>>& values) {
  detail::check(!values.empty(), "parameter_grid", "values",
                "are empty, expected one list a "
                "parameter");
  std::vector<std::vector<double>> points{{}};
  for (std::size_t k = 0; k < values.size(); ++k) {
    detail::check(!values[k].empty(), "parameter_grid", "values", "of parameter ", k, " are empty");
    std::vector<std::vector<double>> longer;
    for (const auto& point : points) {
      for (const double value : values[k]) {
        longer.push_back(point);
        longer.back().push_back(value);
      }
    }
    points = std::move(longer);
  }
  return points;
}

/// `count` values from `low` to `high` in equal ratios.
/// \throws std::invalid_argument unless 0 < low <= high, both finite, and count >= 1.
[[nodiscard]] inline std::vector<double> geometric_values(double low, double high,
                                                          std::size_t count) {
  const char* const f = "geometric_values";
  detail::check(low > 0 && std::isfinite(low), f, "low", "is ", low,
                ", must be positive and finite");
  detail::check(high >= low && std::isfinite(high), f, "high", "is ", high,
                ", must be finite and at least ", low);
  detail::check(count >= 1, f, "count", "is 0, must be 1 or more");
  std::vector<double> values;
  for (std::size_t k = 0; k < count; ++k) {
    const double part = count == 1 ? 0.0 : static_cast<double>(k) / static_cast<double>(count - 1);
    values.push_back(k == 0 ? low
                     : k + 1 == count
                         ? high
                         : std::exp((1 - part) * std::log(low) + part * std::log(high)));
  }
  return values;
}

/// What a search has found.
struct SearchResult {
  std::vector<double> best;  ///< Parameters of the largest value.
  double value = -std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> points;  ///< All that were tried, in order.
  std::vector<double> values;               ///< Their values.
  bool converged = true;                    ///< False where a limit of evaluations ended it.

  /// What a PAC-Bayes bound pays for a kernel chosen on the bound's own data from a grid fixed in
  /// advance: log(number of kernels). (Points that a search chose as it went are no such grid.)
  [[nodiscard]] double log_size() const { return std::log(static_cast<double>(points.size())); }
};

/// The largest value of `score(parameters)` over given points; the first of several. Not a number
/// counts as -infinity.
/// \throws std::invalid_argument without points, or if no point has a value above -infinity.
template <std::invocable<const std::vector<double>&> Score>
[[nodiscard]] SearchResult grid_search(const std::vector<std::vector<double>>& points,
                                       Score&& score) {
  detail::check(!points.empty(), "grid_search", "points", "are empty");
  SearchResult result;
  for (const auto& point : points) {
    double value = std::invoke(score, point);
    if (std::isnan(value)) value = -std::numeric_limits<double>::infinity();
    result.points.push_back(point);
    result.values.push_back(value);
    if (value > result.value) {
      result.value = value;
      result.best = point;
    }
  }
  detail::check(!result.best.empty(), "grid_search", "score", "is -infinity at all of ",
                points.size(), " points: none of them works");
  return result;
}

}  // namespace bpm
