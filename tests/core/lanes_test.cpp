// SPDX-License-Identifier: MIT
#include "bpm/core/lanes.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bpm/core/random.hpp"
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

TEMPLATE_TEST_CASE("a number in every lane; lanes stored at any address", "[detail]", float, double,
                   std::int32_t, std::uint32_t) {
  constexpr int width = bpm::detail::lane_count<TestType>;
  const auto value = std::numeric_limits<TestType>::max();
  const auto all = bpm::detail::broadcast_lanes(value);
  for (int l = 0; l < width; ++l) CHECK(all[l] == value);
  std::array<TestType, width> numbers{};
  for (std::size_t l = 0; l < width; ++l) numbers[l] = static_cast<TestType>(l + 1);
  const auto lanes = bpm::detail::load_lanes(numbers.data());
  for (std::size_t offset = 0; offset <= width; ++offset) {
    std::array<TestType, 3 * width> stored{};
    bpm::detail::store_lanes(stored.data() + offset, lanes);
    for (std::size_t i = 0; i < stored.size(); ++i) {
      const bool inside = i >= offset && i < offset + width;
      CHECK(stored[i] == (inside ? static_cast<TestType>(i - offset + 1) : TestType{0}));
    }
  }
}

TEMPLATE_TEST_CASE("lanes are multiplied and added as single numbers are", "[detail]", float,
                   double) {
  constexpr int width = bpm::detail::lane_count<TestType>;
  using Numbers = std::array<TestType, width>;
  bpm::RandomEngine engine(9);
  bpm::NormalDraws normal;
  int differ = 0;
  int differ_from_fma = 0;
  for (int repeat = 0; repeat < 500; ++repeat) {
    Numbers a{};
    Numbers b{};
    Numbers sum{};
    for (std::size_t l = 0; l < width; ++l) {
      a[l] = static_cast<TestType>(normal(engine));
      b[l] = static_cast<TestType>(normal(engine));
      // Close to the negative product: what is left shows how often was rounded.
      sum[l] = static_cast<TestType>(repeat % 2 == 0 ? -a[l] * b[l] : TestType(normal(engine)));
    }
    const auto result = bpm::detail::lanes_multiply_add<TestType>(
        bpm::detail::load_lanes(a.data()), bpm::detail::load_lanes(b.data()),
        bpm::detail::load_lanes(sum.data()));
    for (std::size_t l = 0; l < width; ++l) {
      const TestType found = result[static_cast<int>(l)];
      differ += found != bpm::detail::multiply_add(a[l], b[l], sum[l]) ? 1 : 0;
      differ_from_fma += found != std::fma(a[l], b[l], sum[l]) ? 1 : 0;
    }
  }
  CHECK(differ == 0);
#if defined(__FMA__) || defined(__FP_FAST_FMA) || defined(__aarch64__)
  CHECK(differ_from_fma == 0);
#else
  CHECK(differ_from_fma > 0);
#endif
}

TEMPLATE_TEST_CASE("a square of lanes is transposed", "[detail]", float, double, std::uint32_t) {
  constexpr int width = bpm::detail::lane_count<TestType>;
  std::array<TestType, width * width> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<TestType>(i);
  bpm::detail::Lanes<TestType> square[width];
  for (int i = 0; i < width; ++i) square[i] = bpm::detail::load_lanes(numbers.data() + i * width);
  bpm::detail::transpose_lanes<TestType>(square);
  bool right = true;
  for (int i = 0; i < width; ++i) {
    for (int l = 0; l < width; ++l) {
      right = right && square[i][l] == static_cast<TestType>(l * width + i);
    }
  }
  CHECK(right);
}

TEMPLATE_TEST_CASE("multiply_add rounds once or twice, and everywhere the same", "[detail]", float,
                   double) {
  // 1 + 2 e + e^2 - 1 - 2 e: e^2 if the product is not rounded, 0 if it is.
  const TestType e = std::numeric_limits<TestType>::epsilon();
  const TestType difference = bpm::detail::multiply_add<TestType>(1 + e, 1 + e, -1 - 2 * e);
  CHECK((difference == e * e || difference == 0));
  const bool fused = difference != 0;

  // The order of a sum of products is the same in long loops, short ones and their remainders.
  bpm::RandomEngine engine(1);
  bpm::NormalDraws normal;
  int different = 0;
  for (std::size_t n = 1; n < 100; ++n) {
    std::vector<TestType> a(n);
    std::vector<TestType> b(n);
    for (std::size_t i = 0; i < n; ++i) {
      a[i] = static_cast<TestType>(normal(engine));
      b[i] = static_cast<TestType>(normal(engine));
    }
    TestType sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum = bpm::detail::multiply_add(a[i], b[i], sum);
    volatile TestType expected = 0;
    for (std::size_t i = 0; i < n; ++i) {
      volatile TestType product = a[i] * b[i];
      expected = fused ? std::fma(a[i], b[i], static_cast<TestType>(expected))
                       : static_cast<TestType>(expected) + product;
    }
    different += static_cast<int>(sum != expected);
  }
  CHECK(different == 0);
}
