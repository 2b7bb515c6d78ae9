// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/machine/input_encoding.hpp"

/// \file
/// The functions of `TableEncoding`, for programs with tables of words and missing values.

#if BPM_BODIES

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

[[nodiscard]] inline std::string place_in_table(const MixedTable::Column& column, std::size_t c,
                                                PointIndex row) {
  return join("feature ", c + 1, named(column.name), " at point ", row);
}

/// Checks a column, since a table made by hand may have any content.
inline void check_column(const MixedTable::Column& column, std::size_t c, std::ptrdiff_t rows,
                         const char* function) {
  check_size(function, "table", column.rows(), rows, "rows in every column");
  check(std::adjacent_find(column.words.begin(), column.words.end(), std::greater_equal<>{}) ==
            column.words.end(),
        function, "table", "has words that do not ascend in feature ", c + 1, named(column.name));
  for (const int word : column.word_of) {
    check(word < std::ssize(column.words), function, "table", "has word ", word, " in feature ",
          c + 1, named(column.name), ", must be below ", column.words.size());
  }
}

[[nodiscard]] inline bool is_missing(const MixedTable::Column& column, PointIndex i) {
  const auto row = static_cast<std::size_t>(i);
  return column.kind == MixedTable::Kind::words ? column.word_of[row] < 0
                                                : std::isnan(column.numbers[row]);
}

/// Returns the category of each word of a column; -1: none.
[[nodiscard]] inline std::vector<int> places_of(const TableEncoding::Column& encoded,
                                                const MixedTable::Column& column) {
  std::vector<int> places;
  for (const std::string& word : column.words) {
    const auto found = std::lower_bound(encoded.categories.begin(), encoded.categories.end(), word);
    const bool known = found != encoded.categories.end() && *found == word;
    places.push_back(known ? static_cast<int>(found - encoded.categories.begin()) : -1);
  }
  return places;
}

}  // namespace detail

BPM_INLINE TableEncoding TableEncoding::of(const MixedTable& table, Missing missing,
                                           std::span<const PointIndex> rows) {
  const char* const f = "TableEncoding::of";
  detail::check(table.rows() > 0, f, "table", "has no row, expected one or more");
  const std::vector<PointIndex> all = detail::first_points(rows.empty() ? table.rows() : 0);
  if (rows.empty()) rows = all;
  TableEncoding result;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const MixedTable::Column& column = table.columns[c];
    detail::check_column(column, c, table.rows(), f);
    Column& encoded = result.columns.emplace_back();
    encoded.name = column.name;
    encoded.kind = column.kind;
    double sum = 0;
    double count = 0;
    std::vector<bool> occurs(column.words.size(), false);
    for (const PointIndex i : rows) {
      detail::check(i >= 0 && i < table.rows(), f, "rows", "has ", i, ", must be below ",
                    table.rows());
      if (detail::is_missing(column, i)) {
        detail::check(missing != Missing::error, f, "table", "misses ",
                      detail::place_in_table(column, c, i),
                      ", must have it unless Missing is mean or indicator");
        encoded.indicator = missing == Missing::indicator;
        continue;
      }
      const auto row = static_cast<std::size_t>(i);
      ++count;
      if (column.kind == MixedTable::Kind::words) {
        occurs[static_cast<std::size_t>(column.word_of[row])] = true;
      } else {
        detail::check(std::isfinite(column.numbers[row]), f, "table", "is infinite in ",
                      detail::place_in_table(column, c, i), ", must be finite");
        sum += (column.numbers[row] - sum) / count;
      }
    }
    detail::check(count > 0, f, "table", "has no value of feature ", c + 1,
                  detail::named(column.name), ", must have one: leave the column out");
    // A missing word has 0 in all categories.
    if (missing != Missing::error) {
      encoded.fill = column.kind == MixedTable::Kind::words ? 0 : sum;
    }
    for (std::size_t w = 0; w < occurs.size(); ++w) {
      if (occurs[w]) encoded.categories.push_back(column.words[w]);
    }
  }
  return result;
}

BPM_INLINE RowMatrix<double> TableEncoding::apply(const MixedTable& table) const {
  const char* const f = "TableEncoding::apply";
  detail::check_size(f, "table", table.columns.size(), columns.size(),
                     "columns, as the one that was encoded");
  RowMatrix<double> inputs = RowMatrix<double>::Zero(table.rows(), size());
  Eigen::Index first = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const Column& encoded = columns[c];
    const MixedTable::Column& column = table.columns[c];
    const bool words = encoded.kind == MixedTable::Kind::words;
    detail::check(column.kind == encoded.kind, f, "table", "has ", words ? "numbers" : "words",
                  " in feature ", c + 1, detail::named(encoded.name), ", must have ",
                  words ? "words" : "numbers");
    detail::check_column(column, c, table.rows(), f);
    const std::vector<int> places = detail::places_of(encoded, column);
    for (PointIndex i = 0; i < table.rows(); ++i) {
      const auto row = static_cast<std::size_t>(i);
      if (detail::is_missing(column, i)) {
        detail::check(encoded.fill.has_value(), f, "table", "misses ",
                      detail::place_in_table(column, c, i),
                      ", must have it: the encoding knows no other value");
        if (!words) inputs(i, first) = *encoded.fill;
        if (encoded.indicator) inputs(i, first + encoded.size() - 1) = 1;
      } else if (words) {
        const int category = places[static_cast<std::size_t>(column.word_of[row])];
        if (category >= 0) inputs(i, first + category) = 1;
      } else {
        detail::check(std::isfinite(column.numbers[row]), f, "table", "is infinite in ",
                      detail::place_in_table(column, c, i), ", must be finite");
        inputs(i, first) = column.numbers[row];
      }
    }
    first += encoded.size();
  }
  return inputs;
}

BPM_INLINE std::vector<std::string> TableEncoding::unknown(const MixedTable& table) const {
  std::vector<std::string> notes;
  for (std::size_t c = 0; c < std::min(columns.size(), table.columns.size()); ++c) {
    const MixedTable::Column& column = table.columns[c];
    const std::vector<int> places = detail::places_of(columns[c], column);
    const auto is_unknown = [&](int word) {
      return word >= 0 && places[static_cast<std::size_t>(word)] < 0;
    };
    const auto count = std::count_if(column.word_of.begin(), column.word_of.end(), is_unknown);
    if (count == 0) continue;
    const int word = *std::find_if(column.word_of.begin(), column.word_of.end(), is_unknown);
    notes.push_back(detail::join(
        "feature ", c + 1, detail::named(columns[c].name), ": ", count,
        count == 1 ? " row has" : " rows have", " a word that training has not seen, such as '",
        column.words[static_cast<std::size_t>(word)], "', and no category"));
  }
  return notes;
}

BPM_INLINE std::vector<std::string> TableEncoding::feature_names() const {
  std::vector<std::string> names;
  for (const Column& column : columns) {
    if (column.name.empty()) return {};
    if (column.kind == MixedTable::Kind::numbers) names.push_back(column.name);
    for (const std::string& word : column.categories) names.push_back(column.name + "=" + word);
    if (column.indicator) names.push_back(column.name + " is missing");
  }
  return names;
}

BPM_INLINE std::vector<Eigen::Index> TableEncoding::indicators() const {
  std::vector<Eigen::Index> found;
  Eigen::Index next = 0;
  for (const Column& column : columns) {
    if (column.kind == MixedTable::Kind::numbers) ++next;
    const Eigen::Index end = next + column.size() - (column.kind == MixedTable::Kind::numbers);
    while (next < end) found.push_back(next++);
  }
  return found;
}

BPM_INLINE std::vector<std::string> TableEncoding::names() const {
  std::vector<std::string> found;
  for (const Column& column : columns) {
    if (column.name.empty()) return {};
    found.push_back(column.name);
  }
  return found;
}

BPM_INLINE std::vector<MixedTable::Kind> TableEncoding::kinds() const {
  std::vector<MixedTable::Kind> found;
  for (const Column& column : columns) found.push_back(column.kind);
  return found;
}

BPM_INLINE bool TableEncoding::fills() const {
  return std::all_of(columns.begin(), columns.end(),
                     [](const Column& one) { return one.fill.has_value(); });
}

}}  // namespace bpm

#endif
