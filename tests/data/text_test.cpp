// SPDX-License-Identifier: MIT
#include "bpm/data/text.hpp"

#include <clocale>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "bpm/core/random/draws.hpp"
#include "bpm/core/random/engine.hpp"
#include "catch.hpp"

namespace {

/// Bit for bit; NaN is NaN.
bool is_same_number(const std::optional<double>& a, const std::optional<double>& b) {
  if (!a || !b) return !a && !b;
  return (std::isnan(*a) && std::isnan(*b)) || (*a == *b && std::signbit(*a) == std::signbit(*b));
}

/// [-]digits[.digits][e[+-]digits], of up to 25 digits; one in four without a point or exponent.
std::string random_decimal(bpm::RandomEngine& engine) {
  const auto below = [&](std::uint64_t n) { return bpm::uniform_below(engine, n); };
  std::string text = below(2) == 0 ? "-" : "";
  const std::uint64_t length = 1 + below(25);
  const std::uint64_t point = below(length + 8);
  for (std::uint64_t i = 0; i < length; ++i) {
    if (i == point) text += '.';
    text += static_cast<char>('0' + below(10));
  }
  if (below(2) == 0) {
    text += below(2) == 0 ? 'e' : 'E';
    if (below(2) == 0) text += below(2) == 0 ? '-' : '+';
    text += std::to_string(below(below(2) == 0 ? 20 : 400));
  }
  return text;
}

}  // namespace

TEST_CASE("text: strtod reads numbers as from_chars does") {
  if (!bpm::detail::from_chars_reads_double) return;  // There it is strtod that reads.
  bpm::RandomEngine engine(7);
  std::size_t different = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const std::string text = random_decimal(engine);
    if (!is_same_number(bpm::detail::parse_by_strtod(text),
                        bpm::detail::parse_number<double>(text))) {
      ++different;
      UNSCOPED_INFO(text);
    }
  }
  CHECK(different == 0);
}

TEST_CASE("text: what strtod alone would take for a number") {
  for (const std::string_view text :
       {"",        "-",    ".",    "-.",    "e5",  "1e",        "1e+", "1.5e-",
        " 1",      "1 ",   "0x10", "0x1p3", "1,5", "1..2",      "--1", "1e5.0",
        "infinit", "nanx", "1d3",  "+",     "1\n", "INFINITYX", "-e1", "1_000"}) {
    CAPTURE(text);
    CHECK_FALSE(bpm::detail::parse_by_strtod(text));
    CHECK_FALSE(bpm::detail::parse_number<double>(text));
  }
  for (const std::string_view text : {"inf",
                                      "-inf",
                                      "INF",
                                      "Infinity",
                                      "nan",
                                      "-nan",
                                      "1e400",
                                      "-1e400",
                                      "1e-400",
                                      "0e999999999",
                                      "1.7976931348623157e308",
                                      "1.7976931348623159e308",
                                      "4.9e-324",
                                      "2.4e-324",
                                      "2.5e-324",
                                      "1.",
                                      ".5",
                                      "00.10",
                                      "-0",
                                      "-0.0e5",
                                      "9007199254740993",
                                      "2.2250738585072011e-308"}) {
    CAPTURE(text);
    CHECK(is_same_number(bpm::detail::parse_by_strtod(text),
                         bpm::detail::parse_number<double>(text)));
    CHECK(bpm::detail::parse_by_strtod(text));
  }
}

TEST_CASE("text: the decimal point of the locale changes nothing") {
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  for (const char* const name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"}) {
    if (std::setlocale(LC_NUMERIC, name) == nullptr) continue;
    const auto value = bpm::detail::parse_by_strtod("-12.5e1");
    const auto comma = bpm::detail::parse_by_strtod("-12,5e1");
    std::setlocale(LC_NUMERIC, before.c_str());
    CHECK(value == -125.0);
    CHECK_FALSE(comma);
    return;
  }
  WARN("no locale with a decimal comma is installed here");
}
