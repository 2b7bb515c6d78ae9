// SPDX-License-Identifier: MIT
#include "bpm/machine/cost_forecast.hpp"

#include <cmath>

#include "catch.hpp"

using bpm::CostForecast;
using bpm::CostRates;
using bpm::detail::cost_forecast;

namespace {

bool close(double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); }

constexpr CostRates rates{
    .value_seconds = 1e-6, .touch_seconds = 1e-9, .read_seconds = 1e-8, .stream_seconds = 1e-10};

}  // namespace

TEST_CASE("the cost model by hand") {
  // m = 2^20, so that E = m^0.85 = 2^17. Of D E = 2^19 points asked for in four draws 0.75 * 2^17 *
  // 2 = 196608 are distinct. Half of their rows are kept: of the 327680 repetitions half are read.
  const double m = 1048576;
  const CostForecast cost = cost_forecast(rates, m, 4, 98304, 2, 4);
  CHECK(cost.measured);
  CHECK(cost.rates.value_seconds == 1e-6);
  CHECK(cost.rates.touch_seconds == 1e-9);
  CHECK(cost.rates.read_seconds == 1e-8);
  // Half of the values computed, half mirrored, all written, 2^19 rows read in order.
  CHECK(close(cost.dense_seconds, m * m * (0.25e-6 + 2.5e-9 + 2e-9) + 524288 * m * 2e-10));
  CHECK(close(cost.windowed_seconds, 524288 * m * 0.5e-6));
  CHECK(close(cost.windowed_rows_seconds,
              m * ((524288 - 163840) * 0.5e-6 + 163840 * 5e-9 + 98304 * (2e-9 + 5e-9))));
  // Doubles take twice as long to write, threads share everything.
  CHECK(close(cost_forecast(rates, m, 4, 0, 1, 8).dense_seconds,
              m * m * (0.5e-6 + 5e-9 + 8e-9) + 524288 * m * 8e-10));
  const CostForecast one = cost_forecast(rates, m, 4, 98304, 1, 4);
  CHECK(close(one.dense_seconds, 2 * cost.dense_seconds));
  CHECK(close(one.windowed_seconds, 2 * cost.windowed_seconds));
  CHECK(close(one.windowed_rows_seconds, 2 * cost.windowed_rows_seconds));
}

TEST_CASE("rows to spare are not used, and without any nothing is gained") {
  const double m = 1048576;
  const CostForecast none = cost_forecast(rates, m, 4, 0, 2, 4);
  CHECK(close(none.windowed_rows_seconds, none.windowed_seconds));
  // More rows than distinct points: as many as those.
  const CostForecast enough = cost_forecast(rates, m, 4, 196608, 2, 4);
  const CostForecast more = cost_forecast(rates, m, 4, m, 2, 4);
  CHECK(more.windowed_rows_seconds == enough.windowed_rows_seconds);
  CHECK(close(enough.windowed_rows_seconds,
              m * (196608 * 0.5e-6 + 327680 * 5e-9 + 196608 * (2e-9 + 5e-9))));
  // No more points are mistaken than there are.
  const CostForecast many = cost_forecast(rates, m, 10000, m, 2, 4);
  CHECK(close(many.windowed_rows_seconds,
              m * (m * 0.5e-6 + (131072e4 - m) * 5e-9 + m * (2e-9 + 5e-9))));
}

TEST_CASE("a forecast that was not measured is zero") {
  const CostForecast cost;
  CHECK_FALSE(cost.measured);
  CHECK(cost.dense_seconds == 0);
  CHECK(cost.windowed_seconds == 0);
  CHECK(cost.windowed_rows_seconds == 0);
  CHECK(cost.rates.value_seconds == 0);
}
