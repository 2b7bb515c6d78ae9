// SPDX-License-Identifier: MIT
#include "bpm/samplers/billiard/facet_search.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "bpm/core/random.hpp"
#include "catch.hpp"

using bpm::detail::FlightClock;

TEST_CASE("flight clock: arcs below half a turn add up, whole turns included") {
  for (const double longest : {0.01, 1.0, std::numbers::pi - 1e-6}) {
    bpm::RandomEngine engine(3);
    FlightClock clock;
    clock.restart(std::numeric_limits<double>::infinity());
    double sum = 0;
    double off = 0;
    for (int n = 0; n < 2000; ++n) {
      const double arc = longest * bpm::uniform_unit(engine);
      double c = std::cos(arc);
      double s = std::sin(arc);
      CHECK_FALSE(clock.reaches_stop(c, s));
      clock.turn(c, s);
      sum += arc;
      off = std::max(off, std::abs(clock.angle() - sum));
    }
    CHECK(off <= 1e-10);
  }
}

TEST_CASE("flight clock: a stop is reached once, at its angle, wherever it lies") {
  bpm::RandomEngine engine(4);
  for (int trial = 0; trial < 3000; ++trial) {
    const double stop = -2 * std::log(1 - bpm::uniform_unit(engine)) * (trial % 3 == 0 ? 10 : 1);
    FlightClock clock;
    clock.restart(stop);
    double flown = 0;
    for (bool reached = false; !reached;) {
      const double arc = (std::numbers::pi - 1e-9) * bpm::uniform_unit(engine);
      double c = std::cos(arc);
      double s = std::sin(arc);
      reached = clock.reaches_stop(c, s);
      REQUIRE(reached == (flown + arc >= stop));
      flown = reached ? stop : flown + arc;
      clock.turn(c, s);
      REQUIRE(std::abs(clock.angle() - flown) <= 1e-10);
    }
  }
}

TEST_CASE("flight clock: a stop in the past is reached at once") {
  FlightClock clock;
  clock.restart(-1);
  double c = std::cos(0.5);
  double s = std::sin(0.5);
  REQUIRE(clock.reaches_stop(c, s));
  CHECK(std::abs(c - 1) <= 1e-15);
  CHECK(std::abs(s) <= 1e-15);
  clock.restart(5);
  for (int n = 0; n < 4; ++n) clock.turn(std::cos(1.0), std::sin(1.0));
  clock.set_stop(3.9);
  c = std::cos(0.5);
  s = std::sin(0.5);
  REQUIRE(clock.reaches_stop(c, s));
  CHECK(c == 1);
  CHECK(s == 0);
}
