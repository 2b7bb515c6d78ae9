// SPDX-License-Identifier: MIT
#include "bpm/core/errors.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

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
