// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <charconv>
#include <clocale>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <istream>
#include <limits>
#include <map>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>
#include <version>

#include "bpm/core/target.hpp"
#include "bpm/data/source.hpp"

/// \file
/// Lines, numbers and labels of text formats, independent of the user's locale.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Text in quotes, printable and of bounded length, for a message.
struct Quoted {
  std::string_view text;

  friend std::ostream& operator<<(std::ostream& out, const Quoted& quoted) {
    constexpr std::size_t longest = 40;
    out << '\'';
    for (const char c : quoted.text.substr(0, longest)) {
      const auto code = static_cast<unsigned char>(c);
      out << (code < 0x20 || code == 0x7f ? '?' : c);
    }
    return out << (quoted.text.size() > longest ? "'..." : "'");
  }
};

/// Name of a delimiter, for a message.
struct Delimiter {
  char value;

  friend std::ostream& operator<<(std::ostream& out, const Delimiter& delimiter) {
    return delimiter.value == ' ' ? out << "blanks" : out << Quoted{{&delimiter.value, 1}};
  }
};

/// The first names of columns, for a message.
struct ColumnList {
  std::span<const std::string_view> names;

  friend std::ostream& operator<<(std::ostream& out, const ColumnList& list) {
    constexpr std::size_t most = 10;
    for (std::size_t i = 0; i < std::min(list.names.size(), most); ++i) {
      out << (i == 0 ? "" : ", ") << Quoted{list.names[i]};
    }
    return list.names.size() > most ? out << ", ..." : out;
  }
};

[[nodiscard]] inline std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Returns the index of a decimal number's first nonzero digit before its exponent; npos: none.
[[nodiscard]] inline std::size_t first_digit(std::string_view text) {
  return text.substr(0, text.find_first_of("eE")).find_first_of("123456789");
}

// The from_chars of libstdc++ for i386 rounds twice.
#if defined(__cpp_lib_to_chars) && !defined(__i386__)
inline constexpr bool from_chars_reads_double = true;
#else
inline constexpr bool from_chars_reads_double = false;
#endif

/// Returns whether the text equals a lower-case word, in any case.
[[nodiscard]] inline bool is_word(std::string_view text, std::string_view word) {
  return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                    [](char c, char lower) { return (c | 0x20) == lower; });
}

/// Returns the text as a double, as `parse_number` does, by `std::strtod`: for numbers out of
/// range, and for standard libraries whose `std::from_chars` lacks double (libc++) or rounds it
/// wrongly. It replaces '.' by the locale's decimal point.
[[nodiscard]] inline std::optional<double> parse_by_strtod(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative ? 1 : 0);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (is_word(digits, "inf") || is_word(digits, "infinity")) return negative ? -infinity : infinity;
  if (is_word(digits, "nan")) return std::numeric_limits<double>::quiet_NaN();

  std::size_t at = 0;
  const auto count_digits = [&] {
    const std::size_t begin = at;
    while (at < digits.size() && digits[at] >= '0' && digits[at] <= '9') ++at;
    return at - begin;
  };
  const auto skip = [&](char a, char b) {
    const bool there = at < digits.size() && (digits[at] == a || digits[at] == b);
    if (there) ++at;
    return there;
  };
  std::size_t mantissa = count_digits();
  if (skip('.', '.')) mantissa += count_digits();
  if (mantissa == 0) return std::nullopt;
  if (skip('e', 'E')) {
    static_cast<void>(skip('+', '-'));
    if (count_digits() == 0) return std::nullopt;
  }
  if (at != digits.size()) return std::nullopt;

  std::string local(text);
  if (const std::size_t point = local.find('.'); point != std::string::npos) {
    local.replace(point, 1, std::localeconv()->decimal_point);
  }
  char* end = nullptr;
  const double value = std::strtod(local.c_str(), &end);
  if (end != local.c_str() + local.size()) return std::nullopt;
  if (std::isinf(value)) return infinity;
  return value == 0 && first_digit(text) != std::string_view::npos ? 0.0 : value;
}

/// Returns the whole text as a number, or no value if it is none. A double that is too large
/// becomes infinite, one that is too small 0; other types out of range yield no value. It accepts a
/// leading '+', unlike from_chars.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') {
    text.remove_prefix(1);
  }
  if constexpr (std::floating_point<Number> && !from_chars_reads_double) {
    return parse_by_strtod(text);
  } else {
    Number value{};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if constexpr (std::floating_point<Number>) {
      if (error == std::errc::result_out_of_range && stop == end) return parse_by_strtod(text);
    }
    if (error != std::errc{} || stop != end) {
      return std::nullopt;
    }
    return value;
  }
}

/// A number in a table.
struct TableNumber {
  double value = 0;
  bool percent = false;
};

/// Parses like `parse_number`, with another decimal sign if given, a percentage as its hundredth,
/// and true and false, in any case, as 1 and 0.
[[nodiscard]] inline std::optional<TableNumber> parse_table_number(std::string_view text,
                                                                   char decimal = '.') {
  if (decimal == '.') {
    if (const auto value = parse_number<double>(text)) return TableNumber{*value};
  }
  if (is_word(text, "true")) return TableNumber{1};
  if (is_word(text, "false")) return TableNumber{0};
  const bool percent = text.ends_with('%');
  if (percent) text = trim(text.substr(0, text.size() - 1));
  if (decimal == '.') {
    const auto value = percent ? parse_number<double>(text) : std::nullopt;
    return value ? std::optional(TableNumber{*value / 100, true}) : std::nullopt;
  }
  std::string pointed(text);
  for (char& c : pointed) {
    if (c == '.') return std::nullopt;  // The point may separate thousands.
    if (c == decimal) c = '.';
  }
  const auto value = parse_number<double>(pointed);
  if (!value) return std::nullopt;
  return TableNumber{percent ? *value / 100 : *value, percent};
}

/// Returns the text as a class label: an integer, also +1 or 1.0, but no number rounded to 0.
template <class... Where>
[[nodiscard]] int parse_label(std::string_view text, const Where&... where) {
  const std::optional<double> value = parse_number<double>(text);
  ensure<DataError>(value && *value >= std::numeric_limits<int>::min() &&
                        *value <= std::numeric_limits<int>::max() && *value == std::floor(*value) &&
                        (*value != 0 || first_digit(text) == std::string_view::npos),
                    where..., "found ", Quoted{text}, ", expected an integer label");
  return static_cast<int>(*value);
}

/// Lines of a stream, counted from 1, without line ends (LF or CR LF) and byte order mark.
class Lines {
 public:
  Lines(std::istream& stream, std::string_view name) : stream_(stream), name_(name) {}

  /// Reads the next line; returns false at the end. \throws DataError where reading fails.
  [[nodiscard]] bool next() {
    if (!std::getline(stream_, line_)) {
      ensure<DataError>(!stream_.bad(), name_, ":", number_ + 1, ": reading failed");
      return false;
    }
    ++number_;
    if (!line_.empty() && line_.back() == '\r') {
      line_.pop_back();
    }
    if (number_ == 1 && line_.starts_with("\xef\xbb\xbf")) {
      line_.erase(0, 3);
    }
    return true;
  }

  [[nodiscard]] std::string_view text() const { return line_; }
  [[nodiscard]] std::size_t number() const { return number_; }

 private:
  std::istream& stream_;
  std::string_view name_;
  std::string line_;
  std::size_t number_ = 0;
};

/// Returns the integer from which the fields of a line count, as in 0, 1, 2 or 1990, 1991, 1992, if
/// they do. They must be three or more, or two after an empty one.
[[nodiscard]] inline std::optional<long> first_count(std::span<const std::string_view> fields) {
  if (fields.size() < 3) return std::nullopt;
  const std::size_t begin = fields[0].empty() ? 1 : 0;
  const auto first = parse_number<int>(fields[begin]);
  for (std::size_t i = begin; first && i < fields.size(); ++i) {
    if (fields[i] != std::to_string(*first + static_cast<long long>(i - begin))) {
      return std::nullopt;
    }
  }
  return first;
}

/// Returns the delimiter of a table with this first line: the first comma, semicolon or tab outside
/// quotes that is no decimal sign, else a space.
[[nodiscard]] inline char find_delimiter(std::string_view text, char decimal) {
  bool quoted = false;
  for (const char c : text) {
    quoted = quoted != (c == '"');
    if (!quoted && (c == ',' || c == ';' || c == '\t') && c != decimal) return c;
  }
  return ' ';
}

/// Returns whether all fields but the label's are different numbers of these characters alone.
[[nodiscard]] inline bool holds_numbers(std::span<const std::string_view> fields, std::size_t label,
                                        std::string_view of) {
  for (auto field = fields.begin(); field != fields.end(); ++field) {
    if (field != fields.begin() + static_cast<std::ptrdiff_t>(label) &&
        (field->find_first_not_of(of) != std::string_view::npos || !parse_number<double>(*field) ||
         std::find(fields.begin(), field, *field) != field)) {
      return false;
    }
  }
  return true;
}

/// Texts of missing values.
struct MissingWords {
  std::span<const std::string> more{};  ///< Texts beside the standard ones.

  /// Returns true for an empty field, ?, a backslash and N, any case of NA, N/A, #N/A, NaN, null,
  /// and `more`.
  [[nodiscard]] bool among_words(std::string_view text) const {
    constexpr std::string_view known[] = {"na", "n/a", "#n/a", "nan", "null"};
    const auto is = [text](std::string_view word) { return is_word(text, word); };
    return text.empty() || text == "?" || text == "\\N" ||
           std::any_of(std::begin(known), std::end(known), is) ||
           std::find(more.begin(), more.end(), text) != more.end();
  }
  /// Returns true also for a point, hyphens or None, which are words in columns of words.
  [[nodiscard]] bool among_numbers(std::string_view text) const {
    return among_words(text) || text == "." || is_word(text, "none") ||
           text.find_first_not_of('-') == std::string_view::npos;
  }
};

/// Position of a field, which a message shows as "file:3: column 2 ('width'): ".
struct FieldPlace {
  std::string_view file;
  std::size_t line;
  std::size_t column;  ///< Index from 0.
  std::span<const std::string> names;

  friend std::ostream& operator<<(std::ostream& out, const FieldPlace& place) {
    out << place.file << ':' << place.line << ": column " << place.column + 1;
    if (place.column < place.names.size()) {
      out << " (" << Quoted{place.names[place.column]} << ')';
    }
    return out << ": ";
  }
};

/// Labels, which are all integers, or words that numbers replace.
class LabelWords {
 public:
  void add(std::string_view text, const FieldPlace& place) {
    auto found = ids_.find(text);
    if (found == ids_.end()) {
      ensure<DataError>(!MissingWords().among_words(text), place, "found the missing value ",
                        Quoted{text}, ", expected a label");
      // A code has 2 to 20 digits, and a leading zero or more than int holds.
      const bool is_code = text.size() > 1 && text.size() <= 20 &&
                           text.find_first_not_of("0123456789") == std::string_view::npos &&
                           (text.front() == '0' || !parse_number<int>(text));
      const bool is_word = is_code || !parse_number<double>(text);
      integers_.push_back(is_word ? 0 : parse_label(text, place));
      words_ = words_ || is_word;
      found = ids_.emplace(text, static_cast<int>(ids_.size())).first;
    }
    labels_.push_back(found->second);
  }

  /// Returns whether the first label is a word that no other line has; unless `others_may`, also
  /// the only such label.
  [[nodiscard]] bool first_is_alone(bool others_may = false) const {
    std::vector<std::size_t> counts(ids_.size(), 0);
    for (const int id : labels_) ++counts[static_cast<std::size_t>(id)];
    return counts.size() > 2 && counts[0] == 1 &&
           (others_may || std::count(counts.begin(), counts.end(), 1U) == 1) && is_word(0);
  }

  [[nodiscard]] bool empty() const { return labels_.empty(); }

  /// Moves the labels, and the words if there are any, to `data`.
  template <class Inputs>
  void move_to(LabelledData<Inputs>& data) {
    if (words_) {
      for (const auto& [word, id] : ids_) {  // sorted
        integers_[static_cast<std::size_t>(id)] = static_cast<int>(data.class_names.size());
        data.class_names.push_back(word);
      }
    }
    for (int& label : labels_) {
      label = integers_[static_cast<std::size_t>(label)];
    }
    data.labels = std::move(labels_);
  }

 private:
  [[nodiscard]] bool is_word(int id) const {
    return std::any_of(ids_.begin(), ids_.end(), [id](const auto& one) {
      return one.second == id && !parse_number<double>(one.first);
    });
  }

  std::map<std::string, int, std::less<>> ids_;  ///< Id of each text, in order of appearance.
  std::vector<int> integers_;                    ///< Label of each id.
  std::vector<int> labels_;                      ///< Id of each line's label.
  bool words_ = false;
};

}}}  // namespace bpm::detail
