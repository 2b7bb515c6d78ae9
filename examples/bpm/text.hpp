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

/// A line of a report: a name, then what there is to say.
inline std::ostream& report_line(std::ostream& out, std::string_view name) {
  return out << std::left << std::setw(14) << name << std::right;
}

}  // namespace bpm_examples
