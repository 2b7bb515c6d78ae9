// SPDX-License-Identifier: MIT
#include "bpm/data/text.hpp"

#include <clocale>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bpm/core/random.hpp"
#include "bpm/machine/labels.hpp"
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

TEST_CASE("text: a million decimals, by from_chars and by strtod") {
  bpm::RandomEngine engine(7);
  bpm::detail::WordHash numbers;
  bpm::detail::WordHash by_strtod;
  for (int i = 0; i < 1'000'000; ++i) {
    const std::string text = random_decimal(engine);
    numbers.add(bpm::detail::parse_number<double>(text).value());
    by_strtod.add(bpm::detail::parse_by_strtod(text).value());
  }
  // Of GCC's from_chars on x86-64: the same wherever numbers are rounded rightly.
  CHECK(numbers.value() == 0x0d21454fce8ca181ULL);
  CHECK(by_strtod.value() == 0x0d21454fce8ca181ULL);
}

TEST_CASE("text: decimals and what they are") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::pair<std::string_view, double> numbers[] = {
      {"inf", infinity},
      {"-inf", -infinity},
      {"INF", infinity},
      {"Infinity", infinity},
      {"nan", nan},
      {"-nan", nan},
      {"1e400", infinity},
      {"-1e400", infinity},  // Out of range: infinite, whatever its sign.
      {"1e-400", 0.0},
      {"-1e-400", 0.0},
      {"0e999999999", 0.0},
      {"-0", -0.0},
      {"-0.0e5", -0.0},
      {"1.7976931348623157e308", 0x1.fffffffffffffp1023},
      {"1.7976931348623159e308", infinity},
      {"4.9e-324", 0x1p-1074},
      {"2.5e-324", 0x1p-1074},
      {"2.4e-324", 0.0},
      {"2.2250738585072011e-308", 0x0.fffffffffffffp-1022},
      {"9007199254740993", 0x1p53},
      {"9007199254740995", 9007199254740996.0},
      {"557417307.319e18", 0x1.cd15b4c7605a9p88},
      {"1.", 1.0},
      {".5", 0.5},
      {"00.10", 0.1},
      {"1E+2", 100.0}};
  for (const auto& [text, value] : numbers) {
    CAPTURE(text);
    CHECK(is_same_number(bpm::detail::parse_number<double>(text), value));
    CHECK(is_same_number(bpm::detail::parse_by_strtod(text), value));
  }
}

TEST_CASE("text: what is no number, though strtod or from_chars alone would take a part of it") {
  for (const std::string_view text :
       {"",        "-",    ".",    "-.",    "e5",  "1e",        "1e+", "1.5e-",
        " 1",      "1 ",   "0x10", "0x1p3", "1,5", "1..2",      "--1", "1e5.0",
        "infinit", "nanx", "1d3",  "+",     "1\n", "INFINITYX", "-e1", "1_000"}) {
    CAPTURE(text);
    CHECK_FALSE(bpm::detail::parse_by_strtod(text));
    CHECK_FALSE(bpm::detail::parse_number<double>(text));
  }
}

TEST_CASE("text: the decimal point of the locale changes nothing") {
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  for (const char* const name :
       {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8", "de-DE"}) {
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
