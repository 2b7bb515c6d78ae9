// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <istream>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>

#include "bpm/data/source.hpp"

/// \file
/// Lines, numbers and labels of text formats. Numbers are read by `std::from_chars`: the user's
/// locale never changes what a file says.

namespace bpm::detail {

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

[[nodiscard]] inline std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// The whole text as a number; empty where it is none or beyond the range of the type. A leading
/// '+' is accepted, which from_chars does not do.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') {
    text.remove_prefix(1);
  }
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if constexpr (std::floating_point<Number>) {
    // Out of range by a negative exponent: too small to tell from 0.
    if (error == std::errc::result_out_of_range && stop == end &&
        (text.find("e-") != text.npos || text.find("E-") != text.npos)) {
      return Number{0};
    }
  }
  if (error != std::errc{} || stop != end) {
    return std::nullopt;
  }
  return value;
}

/// The text as a finite `Scalar`; `where` begins the message of the DataError thrown otherwise.
/// Read as double and rounded once more for float, so that tiny values become 0 and not errors.
template <class Scalar, class... Where>
[[nodiscard]] Scalar parse_value(std::string_view text, const Where&... where) {
  const std::optional<double> value = parse_number<double>(text);
  // Written so that NaN fails as well.
  ensure<DataError>(value && std::abs(*value) <= double{std::numeric_limits<Scalar>::max()},
                    where..., "found ", Quoted{text}, ", expected a finite number");
  return static_cast<Scalar>(*value);
}

/// The text as a class label: an integer, also written +1 or 1.0.
template <class... Where>
[[nodiscard]] int parse_label(std::string_view text, const Where&... where) {
  const std::optional<double> value = parse_number<double>(text);
  ensure<DataError>(value && *value >= std::numeric_limits<int>::min() &&
                        *value <= std::numeric_limits<int>::max() && *value == std::floor(*value),
                    where..., "found ", Quoted{text}, ", expected an integer label");
  return static_cast<int>(*value);
}

/// The lines of a stream, counted from 1, without their ends (LF or CR LF) and without a byte
/// order mark.
class Lines {
 public:
  Lines(std::istream& stream, std::string_view name) : stream_(stream), name_(name) {}

  /// Moves to the next line; false at the end. Throws DataError where reading fails.
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

}  // namespace bpm::detail
