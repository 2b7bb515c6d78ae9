// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>

/// \file
/// How the commands write numbers and lines.

namespace bpm_examples {

/// A share in percent: "1.25 %".
[[nodiscard]] inline std::string percent_text(double share) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << 100 * share << " %";
  return text.str();
}

/// A number with so many digits.
[[nodiscard]] inline std::string number_text(double number, int digits = 4) {
  std::ostringstream text;
  text << std::setprecision(digits) << number;
  return text.str();
}

/// "1 row", "5 rows".
[[nodiscard]] inline std::string count_text(std::size_t count, std::string_view one,
                                            std::string_view many) {
  return std::to_string(count) + ' ' + std::string(count == 1 ? one : many);
}

/// What the library says of rows, in the words of the file: without the function, rows and columns
/// from 1 on, where so many rows of the file stand before.
[[nodiscard]] inline std::string in_words_of(std::string_view file, std::string_view what,
                                             std::size_t rows_before = 0) {
  constexpr std::string_view name =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789:";
  if (const std::size_t end = what.find(": ");
      end != std::string_view::npos &&
      what.substr(0, end).find_first_not_of(name) == std::string_view::npos) {
    what.remove_prefix(end + 2);
  }
  std::string text(file);
  text += ": ";
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  bool rows = false;  // Within "points 3 and 5".
  while (!what.empty()) {
    const auto take = [&](std::string_view from, std::string_view to) {
      if (!what.starts_with(from) || what.size() == from.size() || !digit(what[from.size()])) {
        return false;
      }
      text += to;
      what.remove_prefix(from.size());
      return true;
    };
    const bool row = take("points ", "rows ") || take("point ", "row ") ||
                     take("inputs row ", "row ") || take("in column ", "in column ") ||
                     (rows && take(" and ", " and "));
    rows = row;
    if (!row) {
      text += what.front();
      what.remove_prefix(1);
      continue;
    }
    std::size_t number = 0;
    while (!what.empty() && digit(what.front())) {
      number = 10 * number + static_cast<std::size_t>(what.front() - '0');
      what.remove_prefix(1);
    }
    text += std::to_string(number + 1 + (text.ends_with("column ") ? 0 : rows_before));
  }
  return text;
}

/// A line of a report: a name, then what there is to say.
inline std::ostream& report_line(std::ostream& out, std::string_view name) {
  return out << std::left << std::setw(14) << name << std::right;
}

}  // namespace bpm_examples
