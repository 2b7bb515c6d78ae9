// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <functional>
#include <istream>
#include <limits>
#include <map>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/target.hpp"
#include "bpm/data/labelled_data.hpp"
#include "bpm/data/table_lines.hpp"
#include "bpm/data/text.hpp"

/// \file
/// Tables as text: an input a line, fields separated by commas or something else, with or without
/// names in the first line. Features are numbers, labels integers or words.

namespace bpm::inline BPM_TARGET {

namespace detail {

/// Labels that are all integers, or else words in the place of which stand numbers.
class LabelWords {
 public:
  void add(std::string_view text, const FieldPlace& place) {
    auto found = ids_.find(text);
    if (found == ids_.end()) {
      ensure<DataError>(!is_missing(text), place, "found the missing value ", Quoted{text},
                        ", expected a label");
      const bool is_word = !parse_number<double>(text);
      integers_.push_back(is_word ? 0 : parse_label(text, place));
      words_ = words_ || is_word;
      found = ids_.emplace(text, static_cast<int>(ids_.size())).first;
    }
    labels_.push_back(found->second);
  }

  /// Whether the first label is a word, the only one that stands only once.
  [[nodiscard]] bool only_first_is_alone() const {
    std::vector<std::size_t> counts(ids_.size(), 0);
    for (const int id : labels_) ++counts[static_cast<std::size_t>(id)];
    return !counts.empty() && counts[0] == 1 && counts.size() > 2 &&
           std::ranges::count(counts, 1U) == 1 && is_word(0);
  }

  /// Moves the labels, and the words if there are any, into `data`.
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
    return std::ranges::any_of(ids_, [id](const auto& one) {
      return one.second == id && !parse_number<double>(one.first);
    });
  }

  std::map<std::string, int, std::less<>> ids_;  ///< Of each text, in the order of appearance.
  std::vector<int> integers_;                    ///< Of each id.
  std::vector<int> labels_;                      ///< An id each.
  bool words_ = false;
};

}  // namespace detail

/// Reads a table: each line an input and, unless settings.label is `none`, its label.
///
/// If every label is an integer (also written +1 or 1.0), these are the labels. If one is no
/// number, all are words: class_names holds the distinct ones, sorted by their bytes, and the label
/// of class_names[k] is k. Other files have other words: compare class_names before a classifier
/// meets them. feature_names comes from the header, without the label's name.
///
/// A field may stand in double quotes, in which it may hold delimiters, and quotes if doubled, but
/// no line end. Blank lines are skipped, line ends may be LF or CR LF. A feature too small for
/// double is 0.
///
/// Cost: one pass; the values are held twice for a moment, when the matrix is made from them. Each
/// distinct label is held once, and looked up in logarithmic time.
/// \tparam Scalar float or double; values are read as double and rounded to it.
/// \throws DataError that names line, column and, if there is a header, the column's name where a
/// value is missing (an empty field, NA, NaN, null or ?), a feature is not a finite number, a label
/// is a number but no integer that fits an int, or a quoted field does not end as it should; where
/// a line has another number of fields than the first; where there is no such label column, or
/// two of its name; and where there is no line of data.
/// \throws std::invalid_argument where the delimiter is a double quote or a line end, the label's
/// index is negative, or the label has a name and the header is `no`. Where `features` or `ignored`
/// name columns that a header lacks, or has twice, DataError.
template <class Scalar = double>
[[nodiscard]] LabelledData<RowMatrix<Scalar>> read_table(std::istream& stream,
                                                         std::string_view name = "table stream",
                                                         const TableSettings& settings = {}) {
  detail::TableLines lines(stream, name, settings);
  std::vector<Scalar> values;
  detail::LabelWords labels;
  Eigen::Index rows = 0;
  lines.for_each([&](const detail::TableLines::Line& line) {
    if (lines.label() < line.fields.size()) {
      labels.add(line.fields[lines.label()], lines.place(line, lines.label()));
    }
    for (const std::size_t i : lines.features()) {
      const std::string_view field = line.fields[i];
      const detail::FieldPlace place = lines.place(line, i);
      detail::ensure<DataError>(!detail::is_missing(field), place, "found the missing value ",
                                detail::Quoted{field}, ", expected a finite number");
      values.push_back(detail::parse_value<Scalar>(field, place));
    }
    ++rows;
  });
  if (lines.may_be_names() && labels.only_first_is_alone()) lines.ask_for_header();
  LabelledData<RowMatrix<Scalar>> data;
  data.inputs = Eigen::Map<const RowMatrix<Scalar>>(values.data(), rows, std::ssize(values) / rows);
  labels.move_to(data);
  data.notes = lines.notes();
  for (std::size_t c = 0; c < lines.features().size(); ++c) {
    const std::size_t i = lines.features()[c];
    if (i < lines.names().size()) data.feature_names.push_back(lines.names()[i]);
    const auto column = data.inputs.col(static_cast<Eigen::Index>(c)).array();
    const auto first = static_cast<double>(column[0]);
    constexpr Eigen::Index enough = 10;
    if (rows >= enough && (first == 0 || first == 1) &&
        (column == Eigen::ArrayX<Scalar>::LinSpaced(
                       rows, static_cast<Scalar>(first),
                       static_cast<Scalar>(first) + static_cast<Scalar>(rows - 1)))
            .all()) {
      data.notes.push_back(detail::join(
          name, ": column ", i + 1, i < lines.names().size() ? " ('" + lines.names()[i] + "')" : "",
          " counts the rows, and is a feature unless it is ignored"));
    }
  }
  return data;
}

/// The same, from a file: a path or `GzipFile`.
template <class Scalar = double, detail::File File>
[[nodiscard]] LabelledData<RowMatrix<Scalar>> read_table(const File& file,
                                                         const TableSettings& settings = {}) {
  const detail::OpenFile opened = detail::open(file);
  return read_table<Scalar>(*opened.stream, opened.name, settings);
}

}  // namespace bpm
