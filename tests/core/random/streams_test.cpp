// SPDX-License-Identifier: MIT
#include "bpm/core/random.hpp"

#include "catch.hpp"

TEST_CASE("a stream is the engine of its seed and number, whatever comes next", "[random]") {
  const bpm::RandomStreams fresh{.seed = 9, .next = 0};
  const bpm::RandomStreams later{.seed = 9, .next = 5};
  CHECK(fresh.stream(3) == bpm::RandomEngine(9, 3));
  CHECK(later.stream(3) == fresh.stream(3));
  CHECK_FALSE(fresh.stream(4) == fresh.stream(3));
  CHECK_FALSE(bpm::RandomStreams{.seed = 10, .next = 0}.stream(3) == fresh.stream(3));
}

TEST_CASE("streams are values", "[random]") {
  STATIC_REQUIRE(bpm::RandomStreams{} == bpm::RandomStreams{.seed = 1, .next = 0});
  STATIC_REQUIRE_FALSE(bpm::RandomStreams{} == bpm::RandomStreams{.seed = 1, .next = 1});
}
