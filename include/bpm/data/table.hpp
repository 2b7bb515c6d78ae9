// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <istream>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/data/source.hpp"
#if BPM_BODIES
#include "bpm/data/table_lines.hpp"
#include "bpm/data/text.hpp"
#endif

/// \file
/// Tables as text: an input per line, fields separated by commas or something else, with or without
/// names in the first line. Features are numbers, labels integers or words.

namespace bpm { inline namespace BPM_TARGET {

#if BPM_BODIES
namespace detail {

/// Parser of the numbers of one column, which are all percentages or none.
class NumberColumn {
 public:
  explicit NumberColumn(char decimal) : decimal_(decimal) {}

  /// Returns no value for a field that is no finite number, or a percentage unlike earlier ones.
  [[nodiscard]] std::optional<double> parse(std::string_view field) {
    const auto number = parse_table_number(field, decimal_);
    if (!number || !std::isfinite(number->value)) return std::nullopt;
    if (number->value != 0) {  // Zero is also 0 %.
      if (percent_.value_or(number->percent) != number->percent) return std::nullopt;
      percent_ = number->percent;
    }
    return number->value;
  }
  /// Returns the number of a field. \throws DataError if the field is no number of this column.
  [[nodiscard]] double value(std::string_view field, const FieldPlace& place) {
    if (const auto number = parse(field)) return *number;
    const auto any = parse_table_number(field, decimal_);
    const bool mixed = any && std::isfinite(any->value) && percent_.has_value();
    throw DataError(join(place, "found ", Quoted{field}, ", expected ",
                         !mixed      ? "a finite number"
                         : *percent_ ? "a percentage as before"
                                     : "a number that is no percentage, as before"));
  }

 private:
  char decimal_;
  std::optional<bool> percent_;
};

/// Adds a note if a column may be an index of the rows: it counts them, as pandas writes, or has a
/// different whole number in each of at least ten rows.
template <class Numbers>
void note_count(const Numbers& column, std::string_view name, const TableLines& lines,
                std::size_t field, std::vector<std::string>& notes) {
  constexpr std::ptrdiff_t enough = 10;
  if (std::ssize(column) < enough) return;
  std::vector<double> values(column.begin(), column.end());
  if (std::any_of(values.begin(), values.end(), [](double v) { return v != std::floor(v); })) {
    return;
  }
  const bool ascends = std::is_sorted(values.begin(), values.end());
  std::sort(values.begin(), values.end());
  if (std::adjacent_find(values.begin(), values.end()) != values.end()) return;
  const double first = values.front();
  const bool counts = ascends && (first == 0 || first == 1) &&
                      values.back() - first == static_cast<double>(values.size() - 1);
  notes.push_back(join(name, ": column ", field + 1,
                       field < lines.names().size() ? " ('" + lines.names()[field] + "')" : "",
                       counts ? " counts the rows" : " has another whole number in each row",
                       ", and is a feature unless it is ignored"));
}

/// A column of a table whose kind is known only after its last field.
class MixedColumn {
 public:
  MixedColumn(std::optional<MixedTable::Kind> kind, const TableSettings& settings)
      : kind_(kind),
        missing_{settings.missing_words},
        fills_(settings.missing),
        parser_(settings.decimal) {}

  /// Adds a field. \throws DataError on a word in a column of numbers, or a missing value if none
  /// is allowed.
  void add(std::string_view field, const FieldPlace& place) {
    const bool missing = kind_ == MixedTable::Kind::numbers ? missing_.among_numbers(field)
                                                            : missing_.among_words(field);
    ensure<DataError>(fills_ || !missing, place, "found the missing value ", Quoted{field},
                      ", expected a value");
    if (kind_ == MixedTable::Kind::numbers) {
      numbers_.push_back(missing ? std::numeric_limits<double>::quiet_NaN()
                                 : parser_.value(field, place));
      return;
    }
    if (kind_) {
      // All of the column are words.
    } else if (missing_.among_numbers(field)) {
      numbers_.push_back(std::numeric_limits<double>::quiet_NaN());
      if (!missing_.among_words(field) && !perhaps_missing_) {
        perhaps_missing_ = field;
        first_line_ = first_word_ ? first_line_ : place.line;
      }
    } else if (const auto number = parser_.parse(field); number && !first_word_) {
      numbers_.push_back(*number);
    } else if (!first_word_) {
      first_word_ = field;
      first_line_ = place.line;
      numbers_.clear();
    }
    text_ += field;
    ends_.push_back(text_.size());
  }

  /// Moves the content to `column`. \throws DataError on too many words for categories.
  void move_to(MixedTable::Column& column, std::string_view file, std::size_t field,
               std::span<const std::string> names) {
    const auto is_nan = [](double v) { return std::isnan(v); };
    const bool holds_words =
        kind_ == MixedTable::Kind::words || first_word_ ||
        (!kind_ && perhaps_missing_ && std::all_of(numbers_.begin(), numbers_.end(), is_nan));
    if (!holds_words) {
      ensure<DataError>(fills_ || !perhaps_missing_, FieldPlace{file, first_line_, field, names},
                        "found the missing value ", Quoted{perhaps_missing_.value_or("")},
                        ", expected a value");
      column.numbers = std::move(numbers_);
      return;
    }
    column.kind = MixedTable::Kind::words;
    std::map<std::string_view, int> places;
    const auto word = [&](std::size_t i) {
      const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
      return std::string_view(text_).substr(begin, ends_[i] - begin);
    };
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      if (!missing_.among_words(word(i))) places.emplace(word(i), 0);
    }
    constexpr std::size_t few = 20;
    constexpr std::size_t most = 1000;
    ensure<DataError>(kind_ || places.size() <= few ||
                          (2 * places.size() <= ends_.size() && places.size() <= most),
                      FieldPlace{file, first_line_, field, names}, "found ",
                      Quoted{first_word_.value_or("")}, " in a column of ", places.size(),
                      " different words, expected numbers, or fewer words for categories");
    for (auto& [text, place] : places) {
      place = static_cast<int>(column.words.size());
      column.words.emplace_back(text);
    }
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      column.word_of.push_back(missing_.among_words(word(i)) ? -1 : places.at(word(i)));
    }
  }

 private:
  std::optional<MixedTable::Kind> kind_;
  MissingWords missing_;
  bool fills_;
  NumberColumn parser_;
  std::vector<double> numbers_;    ///< Numbers of the fields while all are numbers.
  std::string text_;               ///< All fields, concatenated.
  std::vector<std::size_t> ends_;  ///< End of each field in `text_`.
  std::optional<std::string> first_word_;
  std::optional<std::string> perhaps_missing_;  ///< First field missing only as a number.
  std::size_t first_line_ = 0;                  ///< Line of the first word or missing number.
};

}  // namespace detail
#endif

/// Reads a table: each line is an input and, unless settings.label is `none`, its label.
///
/// If every label is an integer (also written +1 or 1.0), these are the labels. If one is no
/// number, or a code, digits with a leading zero or (20 at most) beyond int, all are words:
/// class_names has the distinct ones, sorted by their bytes, and class_names[k] has the label k.
/// Another file may have other words: compare class_names before a classifier predicts its inputs.
/// feature_names comes from the header, without the label's name.
///
/// A field may be in double quotes and then contain delimiters, and doubled quotes, but no line
/// end. Blank lines are skipped, except rows of missing values between tabs, and lines between
/// others in a table of one column; line ends may be LF or CR LF. A feature too small for double is
/// 0; a percentage is a hundredth of its number, in a column of percentages alone; true and false,
/// in any case, are 1 and 0.
///
/// Cost: one pass; the values exist twice for a moment, when they become a matrix. Each distinct
/// label is stored once, and found in logarithmic time.
/// \tparam Scalar float or double; values are read as double and rounded to it.
/// \throws DataError that names line, column and, if there is a header, the column's name where a
/// value is missing (an empty field, NA, N/A, `#N/A`, NaN, null, ? or a backslash and N; of numbers
/// also a point, hyphens or None), a feature is not a finite number, a label is a number but
/// neither an integer that fits an int nor a code, or a quoted field does not end as it should;
/// where a line has another number of fields than the first; where there is no such label column,
/// or two of its name, no column that is a feature, or no line of data; where `features` or
/// `ignored` name columns that a header lacks, or has twice, or `ignored` one where there are no
/// such fields. \throws std::invalid_argument where the delimiter is a double quote or a line end,
/// the label's index is negative, or the label has a name and the header is `no`, or on settings
/// that only `read_mixed_table` has.
template <class Scalar = double>
[[nodiscard]] LabelledData<RowMatrix<Scalar>> read_table(std::istream& stream,
                                                         std::string_view name = "table stream",
                                                         const TableSettings& settings = {});

/// Reads a table from a file: a path or `GzipFile`.
template <class Scalar = double, detail::File File>
[[nodiscard]] LabelledData<RowMatrix<Scalar>> read_table(const File& file,
                                                         const TableSettings& settings = {}) {
  const detail::OpenFile opened = detail::open(file);
  return read_table<Scalar>(*opened.stream, opened.name, settings);
}

/// Reads a table with columns of words and of numbers, or with missing values, to be encoded by a
/// `TableEncoding`. As `read_table`, except for `settings.words` and the settings after it.
/// feature_names are those of the table's columns.
///
/// An automatic column of words has at most 20 different words, or at most half as many as rows,
/// and 1000: more are no categories, but names, or numbers with an error among them.
///
/// Cost: one pass; fields of automatic columns remain text until the end.
/// \throws DataError, std::invalid_argument as `read_table`; DataError too where an automatic
/// column has more words, a table of words alone may or may not begin with names, the kinds are
/// more or fewer than the features, or a header lacks one of `words`, or has it twice.
[[nodiscard]] BPM_INLINE LabelledData<MixedTable> read_mixed_table(
    std::istream& stream, std::string_view name = "table stream",
    const TableSettings& settings = {});

/// Reads a mixed table from a file: a path or `GzipFile`.
template <detail::File File>
[[nodiscard]] LabelledData<MixedTable> read_mixed_table(const File& file,
                                                        const TableSettings& settings = {}) {
  const detail::OpenFile opened = detail::open(file);
  return read_mixed_table(*opened.stream, opened.name, settings);
}

#if BPM_BODIES

template <class Scalar>
LabelledData<RowMatrix<Scalar>> read_table(std::istream& stream, std::string_view name,
                                           const TableSettings& settings) {
  detail::check(settings.words.empty() && !settings.automatic_words && settings.kinds.empty() &&
                    !settings.missing && settings.missing_words.empty(),
                "read_table", "settings",
                "have words, kinds or missing: read_mixed_table has these");
  detail::TableLines lines(stream, name, settings);
  std::vector<Scalar> values;
  std::vector<detail::NumberColumn> columns(lines.features().size(),
                                            detail::NumberColumn(settings.decimal));
  lines.for_each([&](std::size_t c, std::string_view field, const detail::FieldPlace& place) {
    detail::ensure<DataError>(!lines.missing().among_numbers(field), place,
                              "found the missing value ", detail::Quoted{field},
                              ", expected a finite number");
    const double value = columns[c].value(field, place);
    detail::ensure<DataError>(std::abs(value) <= double{std::numeric_limits<Scalar>::max()}, place,
                              "found ", detail::Quoted{field}, ", expected a finite number");
    values.push_back(static_cast<Scalar>(value));
  });
  if (lines.may_be_names()) lines.ask_for_header();
  LabelledData<RowMatrix<Scalar>> data;
  const std::ptrdiff_t width = std::ssize(columns);
  data.inputs =
      Eigen::Map<const RowMatrix<Scalar>>(values.data(), std::ssize(values) / width, width);
  lines.labels().move_to(data);
  data.notes = lines.notes();
  for (std::size_t c = 0; c < lines.features().size(); ++c) {
    const std::size_t i = lines.features()[c];
    if (i < lines.names().size()) data.feature_names.push_back(lines.names()[i]);
    detail::note_count(data.inputs.col(static_cast<Eigen::Index>(c)), name, lines, i, data.notes);
  }
  return data;
}

BPM_INLINE LabelledData<MixedTable> read_mixed_table(std::istream& stream, std::string_view name,
                                                     const TableSettings& settings) {
  detail::TableLines lines(stream, name, settings);
  std::vector<detail::MixedColumn> columns;
  for (std::size_t c = 0; c < lines.features().size(); ++c) {
    columns.emplace_back(lines.kind(c), settings);
  }
  lines.for_each([&](std::size_t c, std::string_view field, const detail::FieldPlace& place) {
    columns[c].add(field, place);
  });
  LabelledData<MixedTable> data;
  bool may_be_names = lines.is_undecided();
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const std::size_t i = lines.features()[c];
    MixedTable::Column& column = data.inputs.columns.emplace_back();
    columns[c].move_to(column, name, i, lines.names());
    if (i < lines.names().size()) {
      column.name = lines.names()[i];
      data.feature_names.push_back(column.name);
    }
    detail::note_count(column.numbers, name, lines, i, data.notes);
    may_be_names = may_be_names && column.rows() > 2 && !column.word_of.empty() &&
                   std::count(column.word_of.begin(), column.word_of.end(), column.word_of[0]) == 1;
  }
  if (may_be_names) lines.ask_for_header("words that no other line has");
  if (lines.may_be_names()) lines.ask_for_header();
  lines.labels().move_to(data);
  data.notes.insert(data.notes.begin(), lines.notes().begin(), lines.notes().end());
  return data;
}

#endif

}}  // namespace bpm
