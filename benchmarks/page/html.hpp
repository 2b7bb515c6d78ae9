// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iomanip>
#include <locale>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plots.hpp"
#include "table.hpp"

/// \file
/// The page itself: one HTML file that needs nothing else.

namespace bpm_benchmarks {

/// The text with what HTML would read as its own replaced.
[[nodiscard]] inline std::string escape_html(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

/// The number with three digits that count.
[[nodiscard]] inline std::string three_digits(double value) {
  if (value == 0 || !std::isfinite(value)) return value == 0 ? "0" : "-";
  std::ostringstream text;
  text.imbue(std::locale::classic());
  const int before = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  if (before > 6 || before < -2) {
    text << std::scientific << std::setprecision(2) << value;
  } else {
    text << std::fixed << std::setprecision(std::max(0, 3 - before)) << value;
  }
  return text.str();
}

/// 12.3 ms: three digits and the unit that suits.
[[nodiscard]] inline std::string seconds_text(double seconds) {
  static constexpr std::array<std::pair<double, const char*>, 4> units{
      {{1.0, " s"}, {1e-3, " ms"}, {1e-6, " us"}, {1e-9, " ns"}}};
  for (const auto& [unit, name] : units) {
    if (seconds >= unit) return three_digits(seconds / unit) + name;
  }
  return three_digits(seconds / 1e-9) + " ns";
}

namespace html_detail {

inline constexpr std::string_view style = R"(
body { font: 15px/1.45 sans-serif; color: #202020; max-width: 72em; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { padding: .15em .7em; text-align: right; border-bottom: 1px solid #d8d8d8; white-space: nowrap; }
th { border-bottom: 2px solid #808080; }
th:first-child, td:first-child, .text td, .text th { text-align: left; }
.slower { background: #fbe3d6; }
.faster { background: #d9f0e3; }
.note { color: #505050; }
svg { max-width: 100%; height: auto; }
)";

inline std::string cell(const std::string& text, const std::string& kind = "") {
  return (kind.empty() ? "<td>" : "<td class=\"" + kind + "\">") + escape_html(text) + "</td>";
}

inline std::string optional_number(const std::optional<double>& value) {
  return value ? three_digits(*value) : "-";
}

inline void write_row(std::ostream& out, const TableRow& row, bool compares) {
  const Measured& measured = *row.measured;
  out << "<tr>" << cell(measured.name);
  if (measured.seconds.empty()) {
    out << "<td colspan=\"" << (compares ? 9 : 6)
        << "\">not measured: " << escape_html(measured.error) << "</td></tr>\n";
    return;
  }
  out << cell(std::to_string(measured.seconds.size())) << cell(seconds_text(measured.median()))
      << cell(measured.seconds.size() > 1 ? seconds_text(measured.seconds.front()) + " to " +
                                                seconds_text(measured.seconds.back())
                                          : "-")
      << cell(measured.floor_seconds ? seconds_text(*measured.floor_seconds) : "-")
      << cell(optional_number(row.over_floor)) << cell(optional_number(row.growth));
  if (compares) {
    if (row.comparison) {
      const Comparison& comparison = *row.comparison;
      out << cell(seconds_text(comparison.old_seconds)) << cell(three_digits(comparison.ratio))
          << cell(comparison.verdict, comparison.verdict);
    } else {
      out << cell("-") << cell("-") << cell("new");
    }
  }
  out << "</tr>\n";
}

inline void write_list(std::ostream& out, const std::string& head,
                       const std::vector<std::string>& names) {
  if (names.empty()) return;
  out << "<p class=\"note\">" << escape_html(head);
  for (std::size_t i = 0; i < names.size(); ++i) {
    out << (i > 0 ? ", " : " ") << escape_html(names[i]);
  }
  out << "</p>\n";
}

inline void write_difference(std::ostream& out, const Difference& difference) {
  if (!difference.context.empty()) {
    out << "<p>The two runs were not made alike:</p>\n<table class=\"text\"><tr><th>what</th>"
           "<th>new</th><th>old</th></tr>\n";
    for (const auto& entry : difference.context) {
      out << "<tr>" << cell(entry.name) << cell(entry.now) << cell(entry.before) << "</tr>\n";
    }
    out << "</table>\n";
  }
  write_list(out, "Only in the new run:", difference.only_new);
  write_list(out, "Only in the old run:", difference.only_old);
}

}  // namespace html_detail

/// All that the page shows. `plots` has the finished images of each family.
struct Page {
  const Run& run;
  const std::vector<Family>& families;
  std::vector<std::vector<std::string>> plots;
  std::optional<Difference> difference;  ///< Present where it compares two runs.
};

[[nodiscard]] inline std::string page_text(const Page& page) {
  using html_detail::cell;
  const bool compares = page.difference.has_value();
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<title>Benchmarks of bpm</title>\n<style>"
      << html_detail::style << "</style>\n</head>\n<body>\n<h1>Benchmarks of bpm</h1>\n"
      << "<p>Times are those of one iteration: the median of the repetitions, and from the fastest "
         "to the slowest of them; processor time of the benchmark's thread, or the clock's where "
         "the name ends in real_time. The floor is the least time the work can take on this "
         "machine: its operations at the rate of a large matrix product, or its bytes at the rate "
         "of a stream, whichever is longer, by the rates measured in the same run. The growth is "
         "the exponent from the next smaller size: 1 is linear.</p>\n";
  if (compares) {
    out << "<p>Compared with an older run by the ratio of the medians, new over old. Faster and "
           "slower are said only where the repetitions of the two runs do not overlap; where one "
           "run has a single repetition its spread is not known.</p>\n";
    html_detail::write_difference(out, *page.difference);
  }
  for (std::size_t i = 0; i < page.families.size(); ++i) {
    const Family& family = page.families[i];
    out << "<h2>" << escape_html(family.name) << "</h2>\n<table>\n<tr><th>benchmark</th><th>runs"
        << "</th><th>time</th><th>spread</th><th>floor</th><th>time / floor</th><th>growth</th>"
        << (compares ? "<th>old time</th><th>new / old</th><th></th>" : "") << "</tr>\n";
    for (const TableRow& row : family.rows) html_detail::write_row(out, row, compares);
    out << "</table>\n";
    if (i < page.plots.size()) {
      for (const std::string& plot : page.plots[i]) out << "<figure>" << plot << "</figure>\n";
    }
  }
  out << "<h2>The run</h2>\n<table class=\"text\">\n";
  for (const auto& [name, value] : page.run.context) {
    out << "<tr>" << cell(name) << cell(value) << "</tr>\n";
  }
  out << "</table>\n</body>\n</html>\n";
  return out.str();
}

}  // namespace bpm_benchmarks
