// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace bpm {

/// What a strategy's kernel values cost on the machine at hand, measured in a few milliseconds.
struct CostRates {
  double value_seconds = 0;   ///< To compute one kernel value, on one thread.
  double touch_seconds = 0;   ///< To write a byte of memory for the first time.
  double read_seconds = 0;    ///< To read one value of a kept row in a random order.
  double stream_seconds = 0;  ///< To read a byte of memory in order.
};

/// The expected seconds of training by each strategy. A model, to choose by and to hold against
/// what was measured:
///
///     dense          m^2 / 2 values computed, m^2 / 2 mirrored out of order, m^2 written for the
///                    first time, D E m read in order
///     windowed       D E m values computed
///     windowed+rows  the same less the values read from R kept rows, R m written
///
/// over the threads, where m is the number of points, D of draws, and E = m^0.85 the expected
/// number of points a draw at which some class makes a mistake. It is that of handwritten digits, 2
/// 500 of 10 000 and 11 500 of 60 000; other data differ, and all strategies but the first with
/// them. All D draws together are expected to make their mistakes at 0.75 E sqrt(D) points.
struct CostForecast {
  bool measured = false;  ///< False: the choice needed no model, and all that follows is zero.
  CostRates rates{};
  double dense_seconds = 0;
  double windowed_seconds = 0;
  double windowed_rows_seconds = 0;
};

namespace detail {

/// `kept_rows`: rows that the budget holds.
[[nodiscard]] inline CostForecast cost_forecast(const CostRates& rates, double points, double draws,
                                                double kept_rows, double threads,
                                                std::size_t value_bytes) {
  const double mistakes = std::pow(points, 0.85);
  const double asked = draws * mistakes;
  const double distinct = std::min({points, asked, 0.75 * mistakes * std::sqrt(draws)});
  const double kept = std::min(kept_rows, distinct);
  const double found = (asked - distinct) * kept / distinct;
  const double value = rates.value_seconds / threads;
  const double touch = rates.touch_seconds * static_cast<double>(value_bytes) / threads;
  CostForecast forecast{.measured = true, .rates = rates};
  const double read = rates.read_seconds / threads;
  const double stream = rates.stream_seconds * static_cast<double>(value_bytes) / threads;
  forecast.dense_seconds =
      points * points * (value / 2 + read / 2 + touch) + asked * points * stream;
  forecast.windowed_seconds = asked * points * value;
  // A value that is kept is written out of order once, at the price of a read.
  forecast.windowed_rows_seconds =
      points * ((asked - found) * value + found * read + kept * (touch + read));
  return forecast;
}

}  // namespace detail
}  // namespace bpm
