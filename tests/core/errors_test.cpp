// SPDX-License-Identifier: MIT
#include "bpm/core/errors.hpp"

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "message_of.hpp"

namespace {

/// Counts how often it is printed.
struct Printed {
  int* times;
  friend std::ostream& operator<<(std::ostream& out, const Printed& printed) {
    ++*printed.times;
    return out << "printed";
  }
};

}  // namespace

TEST_CASE("join prints its arguments one after the other", "[detail]") {
  CHECK(bpm::detail::join("a", 1, ' ', 2.5) == "a1 2.5");
  CHECK(bpm::detail::join("x is ", 0.1234567891) == "x is 0.1234567891");
  const std::string word = "word";
  CHECK(bpm::detail::join(word, std::string_view("s"), true, ~std::uint64_t{0}, std::int64_t{-3},
                          0.5F, 1e300, short{7}) == "words118446744073709551615-30.51e+3007");
  int times = 0;
  CHECK(bpm::detail::join(Printed{&times}, '!') == "printed!");
  CHECK(times == 1);
}

TEST_CASE("a failed check names function, argument and value", "[detail]") {
  CHECK_THROWS_AS(bpm::detail::check(false, "f", "x", "is ", -1), std::invalid_argument);
  CHECK_THROWS_WITH(bpm::detail::check(false, "f", "x", "is ", -1, ", must be positive"),
                    "f: x is -1, must be positive");
  CHECK_THROWS_WITH(bpm::detail::fail("f", "x", "is wrong"), "f: x is wrong");
}

TEST_CASE("a check that holds prints nothing", "[detail]") {
  int times = 0;
  bpm::detail::check(true, "f", "x", Printed{&times});
  CHECK(times == 0);
}

TEST_CASE("check_size says how many there are and why", "[detail]") {
  CHECK_NOTHROW(bpm::detail::check_size("f", "labels", std::size_t{4}, 4L, "one per input"));
  CHECK_THROWS_WITH(bpm::detail::check_size("f", "labels", std::size_t{3}, 4L, "one per input"),
                    "f: labels has 3 entries, expected 4 (one per input)");
}

TEST_CASE("what a unit for other instructions made names the flags of both", "[detail]") {
  CHECK_NOTHROW(bpm::detail::MadeFor{}.check("Thing"));
  CHECK_THROWS_AS(bpm::detail::MadeFor{999}.check("Thing"), std::invalid_argument);
  const auto made_for = [](int target) {
    const std::string text =
        test_support::message_of([&] { bpm::detail::refuse_target("Thing", target); });
    return text.substr(0, text.find(", is asked by one with "));
  };
  CHECK(made_for(8110) ==
        "Thing: was made by a unit compiled with -mavx512f -mavx512bw -mfma and VNNI");
  CHECK(made_for(6100) == "Thing: was made by a unit compiled with -mavx2 -mfma");
  CHECK(made_for(4001) == "Thing: was made by a unit compiled with -msse4.2 -DBPM_PLAIN_ARRAYS");
  CHECK(made_for(2020) == "Thing: was made by a unit compiled with NEON +dotprod");
  CHECK_THROWS_WITH(bpm::detail::refuse_target("Thing", 999),
                    Catch::Matchers::ContainsSubstring(
                        ": compile all units that include bpm with the same -march"));
}

TEST_CASE("what is refused names the flags of this unit too, whichever made it", "[detail]") {
  // Older and newer instructions alike; and what it says of itself is what others say of it.
  const auto message = [](int target) {
    return test_support::message_of([&] { bpm::detail::MadeFor{target}.check("Thing"); });
  };
  CHECK(message(BPM_TARGET_NUMBER) == "nothing was thrown");
  const std::string made = "Thing: was made by a unit compiled with ";
  const std::string asked = ", is asked by one with ";
  const std::string own =
      test_support::message_of([] { bpm::detail::refuse_target("Thing", BPM_TARGET_NUMBER); });
  const std::string flags = own.substr(made.size(), own.find(asked) - made.size());
  for (const int other : {1000, BPM_TARGET_NUMBER - 1, BPM_TARGET_NUMBER + 1}) {
    CAPTURE(other);
    CHECK(message(other).starts_with(made));
    CHECK_THAT(message(other), Catch::Matchers::ContainsSubstring(asked + flags + ": compile"));
  }
}

TEST_CASE("checks of numbers hold at their borders", "[detail]") {
  const auto taken = [](auto&& check) {
    return test_support::message_of([&] { check(); }) == "nothing was thrown";
  };
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double tiny = std::numeric_limits<double>::denorm_min();
  const auto positive = [&](double x) {
    return taken([&] { bpm::detail::check_positive("f", "x", x); });
  };
  CHECK((positive(tiny) && positive(1e308)));
  CHECK_FALSE((positive(0) || positive(-1) || positive(infinity) || positive(nan)));
  const auto not_negative = [&](double x) {
    return taken([&] { bpm::detail::check_not_negative("f", "x", x); });
  };
  CHECK((not_negative(0) && not_negative(1e308)));
  CHECK_FALSE((not_negative(-tiny) || not_negative(infinity) || not_negative(nan)));
  const auto probability = [&](double x) {
    return taken([&] { bpm::detail::check_probability("f", "x", x); });
  };
  CHECK((probability(0) && probability(1)));
  CHECK_FALSE((probability(-tiny) || probability(std::nextafter(1.0, 2.0)) || probability(nan)));
  const auto delta = [&](double x) {
    return taken([&] { bpm::detail::check_delta("f", "x", x); });
  };
  CHECK((delta(tiny) && delta(std::nextafter(1.0, 0.0))));
  CHECK_FALSE((delta(0) || delta(1) || delta(nan)));
  const auto count = [&](std::uint64_t x) {
    return taken([&] { bpm::detail::check_count("f", "x", x); });
  };
  CHECK((count(0) && count((std::uint64_t{1} << 63U) - 1)));
  CHECK_FALSE((count(std::uint64_t{1} << 63U) || count(~std::uint64_t{0})));
  const auto at_least = [&](int x) {
    return taken([&] { bpm::detail::check_at_least("f", "x", x, 3); });
  };
  CHECK((at_least(3) && !at_least(2)));
  const auto signs = [&](std::vector<signed char> all) {
    return taken([&] { bpm::detail::check_signs("f", all, 2, "one per input"); });
  };
  CHECK(signs({1, -1}));
  CHECK_FALSE((signs({1, 0}) || signs({1, 2}) || signs({1}) || signs({1, 1, 1})));
}

TEST_CASE("a factor is finite below its diagonal and positive on it", "[detail]") {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto refusal = [](Eigen::Matrix2d factor, std::ptrdiff_t size = 2) {
    return test_support::message_of([&] { bpm::detail::check_factor("f", "L", factor, size); });
  };
  const Eigen::Matrix2d good{{1, infinity}, {-3, 2}};  // What stands above is not looked at.
  CHECK(refusal(good) == "nothing was thrown");
  CHECK(refusal(good, 3) == "f: L is 2 x 2, expected 3 x 3");
  CHECK(refusal(Eigen::Matrix2d{{0, 0}, {0, 1}}) == "f: L at 0, 0 is 0, must be positive");
  CHECK(refusal(Eigen::Matrix2d{{1, 0}, {0, -1}}) == "f: L at 1, 1 is -1, must be positive");
  CHECK(refusal(Eigen::Matrix2d{{1, 0}, {0, infinity}}) == "f: L at 1, 1 is inf, must be finite");
  CHECK(refusal(Eigen::Matrix2d{{1, 0}, {-infinity, 1}}) == "f: L at 1, 0 is -inf, must be finite");
}
