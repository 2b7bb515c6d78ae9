// SPDX-License-Identifier: MIT
#include "bpm/detail/lanes.hpp"

#include <array>
#include <cmath>
#include <cstddef>

#include "bpm/random/draws.hpp"
#include "bpm/random/engine.hpp"
#include "catch.hpp"

TEMPLATE_TEST_CASE("lanes add by halving", "[detail]", float, double) {
  using bpm::detail::Lanes;
  constexpr int width = bpm::detail::lane_count<TestType>;
  STATIC_REQUIRE(width * sizeof(TestType) == bpm::detail::register_bytes);
  bpm::RandomEngine engine(3);
  for (int repeat = 0; repeat < 100; ++repeat) {
    std::array<TestType, width> values{};
    for (auto& value : values) {
      value = static_cast<TestType>(std::exp(20 * bpm::uniform_unit(engine) - 10));
    }
    const Lanes<TestType> lanes = bpm::detail::load_lanes(values.data());
    // The order is part of the promise of equal bits: it must be this one in every block.
    std::array<TestType, width> expected = values;
    for (std::size_t half = width / 2; half > 0; half /= 2) {
      for (std::size_t l = 0; l < half; ++l) expected[l] += expected[l + half];
    }
    CHECK(bpm::detail::sum_lanes<TestType, width>(lanes) == expected[0]);
  }
}

TEMPLATE_TEST_CASE("lanes load from any address", "[detail]", float, double) {
  constexpr int width = bpm::detail::lane_count<TestType>;
  std::array<TestType, 3 * width> values{};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<TestType>(i + 1);
  for (std::size_t offset = 0; offset <= 2 * width; ++offset) {
    const auto lanes = bpm::detail::load_lanes(values.data() + offset);
    // 1 + 2 + ... are exact, so the sum tells which were loaded.
    const auto first = static_cast<double>(offset + 1);
    CHECK(static_cast<double>(bpm::detail::sum_lanes<TestType, width>(lanes)) ==
          width * first + width * (width - 1) / 2);
  }
}

TEMPLATE_TEST_CASE("the distance of lanes is the absolute difference of each", "[detail]", float,
                   double) {
  constexpr int width = bpm::detail::lane_count<TestType>;
  std::array<TestType, width> a{};
  std::array<TestType, width> b{};
  double expected = 0;
  for (std::size_t l = 0; l < width; ++l) {
    a[l] = static_cast<TestType>(l) - 3;
    b[l] = static_cast<TestType>(2 * (l % 3)) - 1;
    expected += std::abs(static_cast<double>(a[l]) - static_cast<double>(b[l]));
  }
  const auto x = bpm::detail::load_lanes(a.data());
  const auto z = bpm::detail::load_lanes(b.data());
  const auto forth = bpm::detail::lanes_distance<TestType>(x, z);
  const auto back = bpm::detail::lanes_distance<TestType>(z, x);
  CHECK(static_cast<double>(bpm::detail::sum_lanes<TestType, width>(forth)) == expected);
  CHECK(static_cast<double>(bpm::detail::sum_lanes<TestType, width>(back)) == expected);
}
