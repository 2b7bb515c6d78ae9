// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <istream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/data/source.hpp"
#include "bpm/data/text.hpp"

/// \file
/// The lines and fields of a table, and which of them are features, a label or names.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Reads a table line by line; the first lines determine delimiter, names and label column.
class TableLines {
 public:
  struct Line {
    std::string text;                      ///< Storage of the fields.
    std::vector<std::string_view> fields;  ///< Fields without quotes and surrounding blanks.
    std::size_t number = 0;                ///< Number of the line in the file, from 1.
  };

  /// All three must outlive the object.
  TableLines(std::istream& stream, std::string_view name, const TableSettings& settings)
      : settings_(settings), name_(name), lines_(stream, name), delimiter_(settings.delimiter) {
    const auto* const index = std::get_if<Eigen::Index>(&settings.label);
    const auto* const label_name = std::get_if<std::string>(&settings.label);
    check(delimiter_ != '"' && delimiter_ != '\n' && delimiter_ != '\r', "read_table", "delimiter",
          "must be neither a double quote nor a line end");
    check(index == nullptr || *index >= 0, "read_table", "label", "is column ",
          index == nullptr ? 0 : *index, ", must be 0 or more");
    check(label_name == nullptr || settings.header != TableSettings::Header::no, "read_table",
          "label", "is a name, which needs a header");
    const bool found = read(first_);
    more_ = found && read(line_);
    first_number_ = first_.number;
    if (found) {
      find_label();
      has_header_ = label_name != nullptr || is_header();
    }
    ensure<DataError>(found && (more_ || !has_header_), name, ":", lines_.number(),
                      ": found the end, expected a line of data");
    if (has_header_) {
      names_.assign(first_.fields.begin(), first_.fields.end());
    }
    find_features();
  }

  /// Adds all labels to `labels`, and calls take(feature, field, place) for all features, by line.
  template <class Take>
  void for_each(Take&& take) {
    const auto take_line = [&](const Line& line) {
      if (label_ < line.fields.size()) labels_.add(line.fields[label_], place(line, label_));
      for (std::size_t c = 0; c < features_.size(); ++c) {
        take(c, line.fields[features_[c]], place(line, features_[c]));
      }
    };
    if (!has_header_) take_line(first_);
    for (; more_; more_ = read(line_)) {
      ensure<DataError>(line_.fields.size() == width(), name_, ":", line_.number, ": found ",
                        line_.fields.size(), " fields, expected ", width(), " as in line ",
                        first_.number);
      take_line(line_);
    }
    if (comments_ > 0) {
      notes_.push_back(join(name_, ": ", comments_,
                            comments_ == 1 ? " line begins" : " lines begin", " with ",
                            Quoted{{&settings_.comment, 1}}, ", and ",
                            comments_ == 1 ? "is skipped" : "are skipped"));
    }
  }

  [[nodiscard]] std::size_t width() const { return first_.fields.size(); }
  /// Returns whether the first line, read as data, may be names: its features are different
  /// numbers, and its label is unlike all others.
  [[nodiscard]] bool may_be_names() const { return may_be_names_ && labels_.first_is_alone(); }
  /// Returns whether a first line of words could also be names.
  [[nodiscard]] bool is_undecided() const {
    return !has_header_ && settings_.header == TableSettings::Header::automatic &&
           (labels_.empty() || labels_.first_is_alone(true));
  }
  [[noreturn]] void ask_for_header(
      std::string_view kind = "numbers beside a label unlike others") const {
    throw DataError(join(name_, ":", first_number_, ": found a line of ", kind,
                         ", which may be names of columns or a row, expected to be told which"));
  }
  [[nodiscard]] LabelWords& labels() { return labels_; }
  /// Fields of the features, in the order of the features.
  [[nodiscard]] const std::vector<std::size_t>& features() const { return features_; }
  /// Returns the kind of a feature; no value: automatic.
  [[nodiscard]] std::optional<MixedTable::Kind> kind(std::size_t feature) const {
    if (!settings_.kinds.empty()) return settings_.kinds[feature];
    if (words_[features_[feature]]) return MixedTable::Kind::words;
    if (settings_.automatic_words) return std::nullopt;
    return MixedTable::Kind::numbers;
  }
  [[nodiscard]] MissingWords missing() const { return {settings_.missing_words}; }
  /// Notes for `LabelledData::notes`.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  /// Names of all columns; empty without a header.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] FieldPlace place(const Line& line, std::size_t column) const {
    return {name_, line.number, column, names_};
  }

 private:
  /// Reads the next line that is neither blank nor a comment; returns false at the end. In a table
  /// of one column, blank lines between others are rows of a missing value.
  [[nodiscard]] bool read(Line& line) {
    while (held_ || lines_.next()) {
      const std::string_view content = trim(lines_.text());
      if (content.empty() && !is_row_of_nothing(lines_.text())) {
        blank_ += width() == 1 ? 1U : 0U;
        continue;
      }
      if (settings_.comment != '\0' && content.starts_with(settings_.comment)) {
        ++comments_;
        continue;
      }
      held_ = blank_ > 0;
      if (held_) {
        line = {.text = {}, .fields = {{}}, .number = lines_.number() - blank_--};
        return true;
      }
      if (delimiter_ == '\0') {
        delimiter_ = find_delimiter(content, settings_.decimal);
      }
      line.text = lines_.text();
      line.number = lines_.number();
      split(line);
      return true;
    }
    return false;
  }

  /// Returns whether a blank line has as many tabs as the first line: all its values are missing.
  [[nodiscard]] bool is_row_of_nothing(std::string_view line) const {
    return delimiter_ == '\t' && first_.fields.size() > 1 &&
           static_cast<std::size_t>(std::count(line.begin(), line.end(), '\t')) + 1 == width();
  }

  /// Splits a line into fields, and replaces doubled quotes in the line itself.
  void split(Line& line) const {
    std::string& text = line.text;
    line.fields.clear();
    for (std::size_t at = 0;; ++at) {
      // A tab that is the delimiter is no blank.
      at = std::min(text.find_first_not_of(delimiter_ == '\t' ? " " : " \t", at), text.size());
      if (at == text.size() && delimiter_ == ' ') {
        return;
      }
      const bool quoted = at < text.size() && text[at] == '"';
      std::size_t begin = at;
      std::size_t end = at;
      if (quoted) {
        begin = end = ++at;
        for (;; ++at, ++end) {
          ensure<DataError>(at < text.size(), place(line, line.fields.size()),
                            "found no closing quote, expected one in the same line");
          if (text[at] == '"' && (++at == text.size() || text[at] != '"')) {
            break;
          }
          text[end] = text[at];
        }
      }
      const std::size_t stop =
          std::min(delimiter_ == ' ' ? text.find_first_of(" \t", at) : text.find(delimiter_, at),
                   text.size());
      const std::string_view rest = std::string_view(text).substr(at, stop - at);
      ensure<DataError>(!quoted || trim(rest).empty(), place(line, line.fields.size()), "found ",
                        Quoted{rest}, " after the closing quote, expected ", Delimiter{delimiter_},
                        " or the end of the line");
      if (!quoted) {
        end = stop;
      }
      line.fields.push_back(trim(std::string_view(text).substr(begin, end - begin)));
      at = stop;
      if (at == text.size()) {
        return;
      }
    }
  }

  /// Sets label_ from the settings and the first line.
  void find_label() {
    using LabelColumn = TableSettings::LabelColumn;
    const auto* const column = std::get_if<LabelColumn>(&settings_.label);
    if (column != nullptr && *column == LabelColumn::none) {
      return;
    }
    ensure<DataError>(width() >= 2, name_, ":", first_.number, ": found ", width(),
                      " field, expected 2 or more (a label and at least one value), separated by ",
                      Delimiter{delimiter_});
    if (column != nullptr) {
      const bool first = *column == LabelColumn::first;
      label_ = first ? 0 : width() - 1;
      for (std::size_t i = 1; i < width() && is_ignored(label_); ++i) {
        label_ = first ? i : width() - 1 - i;
      }
    } else if (const auto* const index = std::get_if<Eigen::Index>(&settings_.label)) {
      label_ = static_cast<std::size_t>(*index);
      ensure<DataError>(label_ < width(), name_, ":", first_.number, ": found ", width(),
                        " fields, expected ", label_, " before the label");
    } else {
      const std::string& wanted = std::get<std::string>(settings_.label);
      label_ = column_of(wanted);
    }
    ensure<DataError>(!is_ignored(label_), name_, ":", first_.number,
                      ": found the label in column ", label_ + 1,
                      ", which is ignored, expected it in another");
  }

  /// Returns whether the settings ignore a column of the first line.
  [[nodiscard]] bool is_ignored(std::size_t i) const {
    return std::any_of(settings_.ignored.begin(), settings_.ignored.end(), [&](const auto& one) {
      const auto* const index = std::get_if<Eigen::Index>(&one);
      return index != nullptr ? static_cast<std::size_t>(*index) == i
                              : std::get<std::string>(one) == first_.fields[i];
    });
  }

  /// Returns the only column of a name in the first line. \throws DataError.
  [[nodiscard]] std::size_t column_of(std::string_view wanted) const {
    const auto found = std::find(first_.fields.begin(), first_.fields.end(), wanted);
    ensure<DataError>(found != first_.fields.end(), name_, ":", first_.number, ": found no column ",
                      Quoted{wanted}, ", expected one of ", ColumnList{first_.fields});
    ensure<DataError>(std::find(found + 1, first_.fields.end(), wanted) == first_.fields.end(),
                      name_, ":", first_.number, ": found two columns ", Quoted{wanted},
                      ", expected one");
    return static_cast<std::size_t>(found - first_.fields.begin());
  }

  /// Sets features_ from the settings and the first line.
  void find_features() {
    const std::vector<bool> skipped = columns_of(settings_.ignored, "ignored column");
    words_ = columns_of(settings_.words, "column of words");
    if (has_header_ && !settings_.features.empty()) {
      for (const std::string& wanted : settings_.features) {
        features_.push_back(column_of(wanted));
        const std::variant<Eigen::Index, std::string> named(wanted);
        ensure<DataError>(
            std::count(settings_.ignored.begin(), settings_.ignored.end(), named) == 0, name_, ":",
            first_.number, ": found the feature ", Quoted{wanted},
            " among the ignored columns, expected it to be used");
      }
      find_other_label();
      ensure<DataError>(std::find(features_.begin(), features_.end(), label_) == features_.end(),
                        name_, ":", first_.number, ": found the label in column ", label_ + 1,
                        ", which is one of the features, expected it in another");
      if (!std::is_sorted(features_.begin(), features_.end())) {
        notes_.push_back(join(name_, ": the columns are in another order, and matched by name"));
      }
      const std::size_t used = features_.size() + (label_ < width() ? 1 : 0);
      if (used < width()) {
        notes_.push_back(join(name_, ": ", width() - used, " of ", width(),
                              " columns are not among the features, and skipped"));
      }
    } else {
      for (std::size_t i = 0; i < width(); ++i) {
        if (i != label_ && !skipped[i]) features_.push_back(i);
      }
    }
    ensure<DataError>(!features_.empty(), name_, ":", first_.number,
                      ": found no column that is a feature, expected one");
    ensure<DataError>(settings_.kinds.empty() || settings_.kinds.size() == features_.size(), name_,
                      ":", first_.number, ": found ", features_.size(), " features, expected ",
                      settings_.kinds.size());
  }

  /// If the last column is a feature, makes the only column that is none the label; adds a note if
  /// the choice is not unique.
  void find_other_label() {
    const auto* const column = std::get_if<TableSettings::LabelColumn>(&settings_.label);
    if (column == nullptr || *column != TableSettings::LabelColumn::last) return;
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < width(); ++i) {
      const auto used = std::find(features_.begin(), features_.end(), i);
      if (used == features_.end() && !is_ignored(i)) others.push_back(i);
    }
    const bool is_last = std::find(others.begin(), others.end(), label_) != others.end();
    if (is_last ? others.size() == 1 : others.size() != 1) return;
    if (!is_last) label_ = others[0];
    notes_.push_back(
        join(name_, ": the label is in column ", label_ + 1, " (", Quoted{names_[label_]},
             is_last ? "), the last that is no feature" : "), the only one that is no feature"));
  }

  /// Returns which columns a list of indices and names contains.
  [[nodiscard]] std::vector<bool> columns_of(
      const std::vector<std::variant<Eigen::Index, std::string>>& list,
      std::string_view what) const {
    std::vector<bool> listed(width(), false);
    for (const auto& column : list) {
      if (const auto* const index = std::get_if<Eigen::Index>(&column)) {
        ensure<DataError>(*index >= 0 && static_cast<std::size_t>(*index) < width(), name_, ":",
                          first_.number, ": found ", width(), " fields, expected more than ",
                          *index, ", the index of the ", what);
        listed[static_cast<std::size_t>(*index)] = true;
      } else {
        const auto& wanted = std::get<std::string>(column);
        ensure<DataError>(has_header_, name_, ":", first_.number,
                          ": found no header, expected one with the ", what, " ", Quoted{wanted});
        listed[column_of(wanted)] = true;
      }
    }
    return listed;
  }

  [[nodiscard]] bool is_header() {
    if (settings_.header != TableSettings::Header::automatic) {
      return settings_.header == TableSettings::Header::yes;
    }
    const auto is_there = [&](const std::string& wanted) {
      return std::find(first_.fields.begin(), first_.fields.end(), wanted) != first_.fields.end();
    };
    if (!settings_.features.empty() &&
        std::all_of(settings_.features.begin(), settings_.features.end(), is_there)) {
      return true;
    }
    if (const auto from = first_count(first_.fields); from && more_ && !first_count(line_.fields)) {
      ensure<DataError>(*from == 0, name_, ":", first_.number,
                        ": found a line that counts its fields from ", *from,
                        ", which may be names of columns or a row, expected to be told which");
      notes_.push_back(
          join(name_, ": the first line counts the columns, and is taken for their names"));
      return true;
    }
    constexpr std::string_view digits = "0123456789";
    may_be_names_ = more_ && settings_.features.empty() && label_ < line_.fields.size() &&
                    holds_numbers(first_.fields, label_, "0123456789.");
    if (may_be_names_) {
      const bool over_others = holds_numbers(first_.fields, label_, digits) &&
                               !holds_numbers(line_.fields, label_, digits);
      const bool number = parse_number<double>(first_.fields[label_]).has_value();
      const bool second = parse_number<double>(line_.fields[label_]).has_value();
      if (over_others ? number != second : !number && second) ask_for_header();
    }
    // Accepts either decimal sign, so that an error names the number and not the header.
    const auto is_missing = [&](std::string_view field) { return missing().among_numbers(field); };
    const auto is_number = [&](std::string_view field) {
      return !is_missing(field) &&
             (parse_table_number(field).has_value() || parse_table_number(field, ',').has_value());
    };
    for (std::size_t i = 0; i < std::min(width(), line_.fields.size()); ++i) {
      const std::string_view field = first_.fields[i];
      if (i != label_ && !is_number(field) && !is_missing(field) && is_number(line_.fields[i])) {
        if (std::any_of(first_.fields.begin(), first_.fields.end(), is_number)) {
          notes_.push_back(join(name_, ": the first line has numbers and ", Quoted{field},
                                ", and is taken for names of columns"));
        }
        return true;
      }
    }
    // Names in the settings that the first line contains make it a header.
    for (const auto* list : {&settings_.words, &settings_.ignored}) {
      for (const auto& column : *list) {
        const auto* wanted = std::get_if<std::string>(&column);
        if (wanted != nullptr && is_there(*wanted)) return true;
      }
    }
    return false;
  }

  const TableSettings& settings_;
  std::string_view name_;
  Lines lines_;
  char delimiter_;
  Line first_;
  Line line_;          ///< Current line after the first.
  bool more_ = false;  ///< Whether there is a current line.
  bool has_header_ = false;
  bool may_be_names_ = false;
  std::size_t blank_ = 0;         ///< Blank lines, rows of one column, still to return.
  bool held_ = false;             ///< Whether the current line waits for them.
  std::size_t comments_ = 0;      ///< Number of skipped comment lines.
  std::size_t first_number_ = 0;  ///< Number of the first line in the file.
  std::size_t label_ = std::numeric_limits<std::size_t>::max();  ///< Field; beyond all: none.
  LabelWords labels_;
  std::vector<std::size_t> features_;
  std::vector<bool> words_;  ///< Whether the settings list a column as words.
  std::vector<std::string> notes_;
  std::vector<std::string> names_;
};

}}}  // namespace bpm::detail
