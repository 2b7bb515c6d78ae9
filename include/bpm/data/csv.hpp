// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <istream>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/data/labelled_data.hpp"
#include "bpm/data/text.hpp"

/// \file
/// Numbers separated by commas (or another character), one input a line. No quoting and no missing
/// values: every field is a number.

namespace bpm {

/// How a file of separated values is laid out.
struct CsvSettings {
  /// Which field of a line is the label.
  enum class LabelColumn { first, last, none };
  /// Stands between two fields. A space means any run of spaces and tabs; otherwise spaces and tabs
  /// around a field are ignored.
  char delimiter = ',';
  /// The first line that is neither blank nor a comment holds names and is skipped.
  bool header = false;
  LabelColumn label = LabelColumn::last;
  /// A line that begins with this character is skipped; '\0' means that there are no comments.
  char comment = '#';
};

namespace detail {

/// Cuts a line into fields, without the blanks around them.
inline void split_fields(std::string_view line, char delimiter,
                         std::vector<std::string_view>& fields) {
  fields.clear();
  if (delimiter == ' ') {
    std::size_t begin = line.find_first_not_of(" \t");
    while (begin != std::string_view::npos) {
      const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
      fields.push_back(line.substr(begin, end - begin));
      begin = line.find_first_not_of(" \t", end);
    }
    return;
  }
  for (;;) {
    const std::size_t end = line.find(delimiter);
    fields.push_back(trim(line.substr(0, end)));
    if (end == std::string_view::npos) {
      return;
    }
    line.remove_prefix(end + 1);
  }
}

}  // namespace detail

/// Reads separated values: each line an input and, unless settings.label is `none`, its label, an
/// integer (also written +1 or 1.0). Blank lines are skipped, line ends may be LF or CR LF.
///
/// Cost: one pass; the values are held twice for a moment, when the matrix is made from them.
/// \tparam Scalar float or double; values are read as double and rounded to it.
/// \throws DataError that names line and column where a field is not a finite number, a label not
/// an integer, or a line has another number of fields than the first; and where there is no line
/// of data.
template <class Scalar = double>
[[nodiscard]] LabelledData<RowMatrix<Scalar>> read_csv(std::istream& stream,
                                                       std::string_view name = "CSV stream",
                                                       const CsvSettings& settings = {}) {
  using LabelColumn = CsvSettings::LabelColumn;
  detail::Lines lines(stream, name);
  std::vector<std::string_view> fields;
  std::vector<Scalar> values;
  std::vector<int> labels;
  std::size_t first_line = 0;  // Of data.
  std::size_t width = 0;       // Its number of fields.
  Eigen::Index rows = 0;
  bool header = settings.header;
  while (lines.next()) {
    const std::string_view content = detail::trim(lines.text());
    if (content.empty() || (settings.comment != '\0' && content.front() == settings.comment)) {
      continue;
    }
    if (std::exchange(header, false)) {
      continue;
    }
    detail::split_fields(lines.text(), settings.delimiter, fields);
    if (rows == 0) {
      width = fields.size();
      first_line = lines.number();
      const std::size_t least = settings.label == LabelColumn::none ? 1 : 2;
      detail::ensure<DataError>(width >= least, name, ":", first_line, ": found ", width,
                                " field, expected ", least,
                                " or more (a label and at least one value), separated by ",
                                detail::Quoted{{&settings.delimiter, 1}});
    }
    detail::ensure<DataError>(fields.size() == width, name, ":", lines.number(), ": found ",
                              fields.size(), " fields, expected ", width, " as in line ",
                              first_line);
    for (std::size_t i = 0; i < width; ++i) {
      if ((settings.label == LabelColumn::first && i == 0) ||
          (settings.label == LabelColumn::last && i + 1 == width)) {
        labels.push_back(
            detail::parse_label(fields[i], name, ":", lines.number(), ": column ", i + 1, ": "));
      } else {
        values.push_back(detail::parse_value<Scalar>(fields[i], name, ":", lines.number(),
                                                     ": column ", i + 1, ": "));
      }
    }
    ++rows;
  }
  detail::ensure<DataError>(rows > 0, name, ":", lines.number(),
                            ": found the end, expected a line of data");
  return {Eigen::Map<const RowMatrix<Scalar>>(values.data(), rows, std::ssize(values) / rows),
          std::move(labels)};
}

/// The same, from a file: a path or `GzipFile`.
template <class Scalar = double, detail::File File>
[[nodiscard]] LabelledData<RowMatrix<Scalar>> read_csv(const File& file,
                                                       const CsvSettings& settings = {}) {
  const detail::OpenFile opened = detail::open(file);
  return read_csv<Scalar>(*opened.stream, opened.name, settings);
}

}  // namespace bpm
