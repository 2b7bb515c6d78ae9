// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "catch.hpp"

/// \file
/// Numbers in the documents beside the results of the runs that they come from: docs/results, which
/// benchmarks/reproduce.sh writes.

namespace docs_test {

using Json = nlohmann::json;

inline const std::filesystem::path root = BPM_SOURCE_DIR;

/// docs/results/NAME.json, with the commit, the compiler and the machine of the run.
inline Json stored(const std::string& name) {
  const std::filesystem::path path = root / "docs" / "results" / (name + ".json");
  std::ifstream file(path);
  if (!file) {
    throw std::runtime_error(path.string() + " is missing: benchmarks/reproduce.sh " + name +
                             " writes it");
  }
  return Json::parse(file);
}

/// Runs that have not been made again since the programs last changed: what is shown of them is of
/// an earlier commit, and no test holds it. A test sees to it that the list names no run that is
/// stored.
inline const std::vector<std::string> not_stored{};

/// Whether a run is to be compared.
inline bool is_stored(const std::string& name) {
  return std::find(not_stored.begin(), not_stored.end(), name) == not_stored.end();
}

/// What the program wrote: the value of `--json`.
inline Json results(const std::string& name) { return stored(name).at("result"); }

inline bool has(const Json& one, const Json& keys) {
  for (const auto& [key, value] : keys.items()) {
    if (one.at(key) != value) return false;
  }
  return true;
}

/// A bound with so many decimals, never below itself.
inline double rounded_up(double bound, int decimals) {
  const double scale = std::pow(10, decimals);
  return std::ceil(bound * scale - 1e-9) / scale;
}

inline double number(const Json& object, const char* key) { return object.at(key).get<double>(); }

/// The entry of a list whose keys have these values.
inline const Json& entry(const Json& list, const Json& keys) {
  for (const Json& one : list) {
    if (has(one, keys)) return one;
  }
  throw std::runtime_error("no entry has " + keys.dump());
}

/// The largest value of a key over the entries that have these values.
inline double largest(const Json& list, const Json& keys, const std::string& key) {
  double most = -std::numeric_limits<double>::infinity();
  for (const Json& one : list) {
    if (has(one, keys)) most = std::max(most, one.at(key).get<double>());
  }
  return most;
}

/// Mean of a key over the entries that have these values.
inline double mean(const Json& list, const Json& keys, const std::string& key) {
  double sum = 0;
  int count = 0;
  for (const Json& one : list) {
    if (!has(one, keys)) continue;
    sum += one.at(key).get<double>();
    ++count;
  }
  if (count == 0) throw std::runtime_error("no entry has " + keys.dump());
  return sum / count;
}

/// A document. Every number asked for is held against what it shows there: it may differ by half a
/// unit of the last digit shown (zeros that end a whole number of three or more digits are none).
/// With BPM_WRITE_TABLES in the environment a number that differs is replaced in the file instead,
/// with as many digits; the sentences around it remain the author's.
class Page {
 public:
  explicit Page(const std::string& name) : path_(root / name) {
    std::ifstream file(path_);
    text_.assign(std::istreambuf_iterator<char>(file), {});
    REQUIRE_FALSE(text_.empty());
  }
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;
  ~Page() {
    if (changed_) std::ofstream(path_) << text_;
  }

  /// The numbers in a cell of the table whose first line begins with `head`: in the row that begins
  /// with `row`, `column` cells behind that; column 0: all of the row that follows.
  void cell(const std::string& head, const std::string& row, std::size_t column,
            const std::vector<double>& values) {
    const std::size_t table = text_.find("\n" + head);
    if (table == std::string::npos) throw std::runtime_error(path_.string() + ": no table " + head);
    const std::size_t end = std::min(text_.find("\n\n", table), text_.size());
    std::size_t at = text_.find("\n" + row, table + 1);
    if (at > end) throw std::runtime_error(path_.string() + ": " + head + " has no row " + row);
    at += row.size();  // On its last character, which may be a bar.
    for (std::size_t k = 0; k < column; ++k) at = text_.find('|', at + (k > 0 ? 1 : 0));
    INFO(path_.filename() << ", " << row << ", column " << column);
    compare(at + 1, text_.find(column > 0 ? '|' : '\n', at + 1), values);
  }

  /// Numbers in a sentence, which stand where `pattern` has "{}". Spaces and line ends are one.
  void sentence(const std::string& pattern, const std::vector<double>& values) {
    std::string expression;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      const char c = pattern[i];
      if (pattern.compare(i, 2, "{}") == 0) {
        expression += "[-0-9.e]*[0-9]";
        ++i;
      } else if (c == ' ') {
        expression += "\\s+";
      } else {
        expression += std::isalnum(static_cast<unsigned char>(c)) != 0 ? "" : "\\";
        expression += c;
      }
    }
    std::smatch found;
    if (!std::regex_search(text_, found, std::regex(expression))) {
      throw std::runtime_error(path_.string() + ": no sentence " + pattern);
    }
    INFO(path_.filename() << ", \"" << pattern << '"');
    auto at = static_cast<std::size_t>(found.position());
    std::size_t next = 0;
    for (const double value : values) {
      const std::size_t hole = pattern.find("{}", next);
      skip(pattern.substr(next, hole - next), at);
      compare_number(at, value);
      at = end_of_number(at);
      next = hole + 2;
    }
  }

 private:
  [[nodiscard]] static bool digit(char c) { return c >= '0' && c <= '9'; }

  /// Past the text of a pattern, in which one space stands for any.
  void skip(const std::string& pattern, std::size_t& at) const {
    for (const char c : pattern) {
      if (c != ' ') {
        ++at;
        continue;
      }
      while (text_[at] == ' ' || text_[at] == '\n') ++at;
    }
  }

  /// 4 914, 13.6, -291, 5.4e10.
  [[nodiscard]] std::size_t end_of_number(std::size_t at) const {
    static const std::regex number(R"(-?\d{1,3}( \d{3})+(?!\d)|-?\d+(\.\d+)?(e-?\d+)?)");
    std::smatch found;
    const auto from = text_.begin() + static_cast<std::ptrdiff_t>(at);
    if (!std::regex_search(from, text_.end(), found, number,
                           std::regex_constants::match_continuous)) {
      throw std::runtime_error(path_.string() + ": no number in \"" + text_.substr(at, 40) + '"');
    }
    return at + static_cast<std::size_t>(found.length());
  }

  void compare(std::size_t begin, std::size_t end, const std::vector<double>& values) {
    for (const double value : values) {
      while (begin < end && !digit(text_[begin])) ++begin;
      if (begin < end && text_[begin - 1] == '-') --begin;
      if (begin >= end) throw std::runtime_error(path_.string() + ": too few numbers in a cell");
      const std::size_t before = text_.size();
      compare_number(begin, value);
      end += text_.size() - before;
      begin = end_of_number(begin);
    }
  }

  void compare_number(std::size_t at, double value) {
    const std::size_t length = end_of_number(at) - at;
    std::string shown = text_.substr(at, length);
    const bool spaces = shown.find(' ') != std::string::npos;
    std::erase(shown, ' ');
    const std::size_t e = std::min(shown.find('e'), shown.size());
    const std::size_t point = shown.find('.');
    int places = 0;  // Digits behind the point; zeros that end a whole number, negative.
    if (point != std::string::npos) {
      places = static_cast<int>(e - point - 1);
    } else {
      const std::size_t last = std::max<std::size_t>(shown.find_last_not_of('0', e - 1), 1);
      if (e > 2) places = -static_cast<int>(e - 1 - std::min(last, e - 1));
    }
    if (e < shown.size()) places -= std::stoi(shown.substr(e + 1));
    const double unit = std::pow(10.0, -places);
    if (std::getenv("BPM_WRITE_TABLES") == nullptr) {
      CAPTURE(shown, value);
      CHECK(std::abs(std::stod(shown) - value) <= 0.5 * unit * (1 + 1e-6));
      return;
    }
    if (std::abs(std::stod(shown) - value) <= 0.5 * unit * (1 + 1e-6)) return;
    // Two digits at least, as a number of fewer digits is read.
    if (places < 0) places = std::max(places, 1 - static_cast<int>(std::floor(std::log10(value))));
    char text[64];
    if (e < shown.size()) {
      std::snprintf(text, sizeof text, "%.*e",
                    point == std::string::npos ? 0 : static_cast<int>(e - point - 1), value);
    } else {
      std::snprintf(text, sizeof text, "%.*f", std::max(0, places),
                    places < 0
                        ? std::round(value * std::pow(10.0, places)) * std::pow(10.0, -places)
                        : value);
    }
    std::string number = std::regex_replace(text, std::regex(R"(e\+?(-?)0*)"), "e$1");
    if (spaces) {
      for (std::size_t k = number.size(); k > 3;) number.insert(k -= 3, " ");
    }
    text_.replace(at, length, number);
    changed_ = true;
  }

  std::filesystem::path path_;
  std::string text_;
  bool changed_ = false;
};

}  // namespace docs_test
