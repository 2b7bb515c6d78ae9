// SPDX-License-Identifier: MIT
#include "bpm/kernel_values/panels.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bpm/core/random.hpp"
#include "catch.hpp"

namespace detail = bpm::detail;

TEMPLATE_TEST_CASE("a panel holds columns side by side, step by step", "[detail]", float, double,
                   std::uint32_t) {
  constexpr std::ptrdiff_t width = detail::panel_width<TestType>;
  const TestType flip = std::integral<TestType> ? TestType(0x80) : TestType(0);
  for (const std::ptrdiff_t length : {0, 1, 2, 15, 16, 17, 33, 50}) {
    std::vector<TestType> numbers(static_cast<std::size_t>(width * length) + 1);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<TestType>(i + 1);
    std::vector<const TestType*> columns;
    for (std::ptrdiff_t c = 0; c < width; ++c) columns.push_back(numbers.data() + c * length);
    for (std::ptrdiff_t count = 1; count <= width; ++count) {
      std::vector<TestType> panel(static_cast<std::size_t>(width * length) + 1, TestType(99));
      detail::pack_panel<TestType>(columns.data(), count, length, flip, panel.data());
      bool right = panel.back() == TestType(99);
      for (std::ptrdiff_t k = 0; k < length; ++k) {
        for (std::ptrdiff_t c = 0; c < count; ++c) {
          TestType expected = columns[static_cast<std::size_t>(c)][k];
          if constexpr (std::integral<TestType>) expected ^= flip;
          right = right && panel[static_cast<std::size_t>(k * width + c)] == expected;
        }
        for (std::ptrdiff_t c = count; c < width && !std::integral<TestType>; ++c) {
          right = right && panel[static_cast<std::size_t>(k * width + c)] == TestType(0);
        }
      }
      if (!right) {
        CAPTURE(length, count);
        CHECK(right);
      }
    }
  }
  STATIC_REQUIRE(detail::panel_count<TestType>(0) == 0);
  STATIC_REQUIRE(detail::panel_count<TestType>(width) == 1);
  STATIC_REQUIRE(detail::panel_count<TestType>(width + 1) == 2);
}

TEMPLATE_TEST_CASE("the steps at which some row is not zero", "[detail]", float, double,
                   std::uint32_t) {
  bpm::RandomEngine engine(4);
  int wrong = 0;
  for (std::ptrdiff_t length = 0; length <= 70; ++length) {
    for (const double share : {0.0, 0.1, 0.5, 1.0}) {
      std::vector<std::vector<TestType>> rows(4);
      std::vector<const TestType*> pointers;
      for (auto& row : rows) {
        for (std::ptrdiff_t k = 0; k < length; ++k) {
          const bool some = bpm::uniform_unit(engine) < share / 4;
          TestType value = some ? std::numeric_limits<TestType>::min() : TestType(0);
          if constexpr (std::integral<TestType>) {
            value = some ? TestType(0x80000000U) : TestType(0);
          } else if (bpm::uniform_below(engine, 2) == 0) {
            value = some ? -std::numeric_limits<TestType>::denorm_min() : -TestType(0);
          }
          row.push_back(value);
        }
        pointers.push_back(row.data());
      }
      for (const std::ptrdiff_t begin : {std::ptrdiff_t{0}, length / 3}) {
        const auto expect = [&](std::size_t count) {
          std::vector<std::uint32_t> steps;
          for (std::ptrdiff_t k = begin; k < length; ++k) {
            bool any = false;
            for (std::size_t i = 0; i < count; ++i) any = any || rows[i].data()[k] != TestType(0);
            if (any) steps.push_back(static_cast<std::uint32_t>(k));
          }
          return steps;
        };
        // Room for a register more, as is asked for; nothing beyond that is written.
        std::vector<std::uint32_t> steps(static_cast<std::size_t>(length - begin) + 17, 7777);
        auto found = detail::active_steps<4>(pointers.data(), begin, length, steps.data());
        wrong += steps.back() != 7777 ? 1 : 0;
        steps.resize(static_cast<std::size_t>(found));
        wrong += steps != expect(4) ? 1 : 0;
        steps.assign(static_cast<std::size_t>(length - begin) + 17, 7777);
        found = detail::active_steps<1>(pointers.data(), begin, length, steps.data());
        wrong += steps.back() != 7777 ? 1 : 0;
        steps.resize(static_cast<std::size_t>(found));
        wrong += steps != expect(1) ? 1 : 0;
      }
    }
  }
  CHECK(wrong == 0);
}
