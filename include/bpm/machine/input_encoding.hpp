// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/members.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/kernel.hpp"

/// \file
/// What is done to inputs before a kernel sees them, by what the training rows say: standardising,
/// columns of words and missing values.

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// Dense rows of float or double: what can be scaled.
template <class I>
concept ScalableInputs = DenseInputs<I> && std::floating_point<typename I::Scalar>;

}  // namespace detail

/// The mean and the deviation of every feature of some inputs, and other inputs by them:
/// (x - mean) / deviation, column by column.
struct Standardisation {
  Eigen::RowVectorXd mean;  ///< Of each column.
  /// sqrt(mean (x - mean)^2); 1 where a column is constant.
  Eigen::RowVectorXd deviation;
  std::vector<Eigen::Index> constant{};  ///< Columns that are: they become 0, of any input.

  /// Of these inputs, but for columns that are to stay as they are, such as the 0 and 1 of
  /// `TableEncoding::indicators`: these have mean 0 and deviation 1. Cost: two passes.
  /// \throws std::invalid_argument without an input, on numbers that are not finite or so small or
  ///         large that a deviation is 0 or infinite, or on a column to stay that there is not.
  template <detail::ScalableInputs I>
  [[nodiscard]] static Standardisation of(const I& inputs,
                                          std::span<const Eigen::Index> to_stay = {}) {
    const char* const f = "Standardisation::of";
    detail::check(inputs.rows() > 0, f, "inputs", "is empty, expected one input or more");
    detail::check_inputs(inputs, f);
    Standardisation result{Eigen::RowVectorXd::Zero(inputs.cols()),
                           Eigen::RowVectorXd::Ones(inputs.cols())};
    std::vector<bool> stays(static_cast<std::size_t>(inputs.cols()), false);
    for (const Eigen::Index c : to_stay) {
      detail::check(c >= 0 && c < inputs.cols(), f, "to_stay", "has ", c, ", must be below ",
                    inputs.cols());
      stays[static_cast<std::size_t>(c)] = true;
    }
    const auto rows = static_cast<double>(inputs.rows());
    for (Eigen::Index c = 0; c < inputs.cols(); ++c) {
      if (stays[static_cast<std::size_t>(c)]) continue;
      double sum = 0;
      double squares = 0;
      bool same = true;
      for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
        sum += static_cast<double>(inputs(i, c)) / rows;
        same = same && inputs(i, c) == inputs(0, c);
      }
      if (same) {
        result.mean[c] = static_cast<double>(inputs(0, c));
        result.constant.push_back(c);
        continue;
      }
      for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
        const double away = static_cast<double>(inputs(i, c)) - sum;
        squares += away * away / rows;
      }
      result.mean[c] = sum;
      result.deviation[c] = std::sqrt(squares);
      detail::check(result.deviation[c] > 0 && std::isfinite(result.deviation[c]), f, "inputs",
                    "have a deviation of ", result.deviation[c], " in column ", c,
                    ", must be positive and finite: scale them");
    }
    return result;
  }

  /// In the precision of x, or another that is asked for (of bytes: float).
  /// \throws std::invalid_argument on another number of columns, or where the parts of this one
  ///         disagree.
  template <DenseInputs I, std::floating_point Scalar = detail::kernel_scalar_t<I>>
  [[nodiscard]] RowMatrix<Scalar> apply(const I& inputs) const {
    detail::check_size("Standardisation::apply", "inputs", inputs.cols(), mean.size(),
                       "columns: one per feature");
    detail::check_size("Standardisation::apply", "deviation", deviation.size(), mean.size(),
                       "one per feature");
    for (const Eigen::Index c : constant) {
      detail::check(c >= 0 && c < mean.size(), "Standardisation::apply", "constant",
                    "names column ", c, ", must be below ", mean.size());
    }
    RowMatrix<Scalar> scaled(inputs.rows(), inputs.cols());
    for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
      for (Eigen::Index c = 0; c < inputs.cols(); ++c) {
        scaled(i, c) =
            static_cast<Scalar>((static_cast<double>(inputs(i, c)) - mean[c]) / deviation[c]);
      }
    }
    for (const Eigen::Index c : constant) scaled.col(c).setZero();
    return scaled;
  }
};

/// How the columns of a table become columns of inputs, one after the other: a column of words
/// becomes a column a category, 1 where it is the row's and 0 elsewhere; numbers stay, and what is
/// missing becomes their mean, with a column beside it that is 1 there if an indicator is wanted.
/// Found on a training set, kept with its classifier (`ClassifierParts::encoding`), and applied to
/// whatever that is asked about.
///
///     const bpm::TableSettings layout{.automatic_words = true, .missing = true};
///     const auto table = bpm::read_mixed_table("train.csv", layout);
///     const auto encoding =
///         bpm::TableEncoding::of(table.inputs, bpm::TableEncoding::Missing::mean);
///     const auto classifier =
///         machine.fit(encoding.apply(table.inputs), table.labels).with_encoding(encoding);
struct TableEncoding {
  /// What becomes of missing values.
  enum class Missing {
    error,     ///< An error.
    mean,      ///< The mean of the column; of words no category, all zeros.
    indicator  ///< The same, with an indicator more for each column that misses any.
  };

  /// What becomes of one column of the table.
  struct Column {
    std::string name{};  ///< As in the table; empty: none.
    /// Words become a 0 or 1 for each category.
    MixedTable::Kind kind = MixedTable::Kind::numbers;
    std::vector<std::string> categories{};  ///< Of words, in ascending order.
    std::optional<double> fill{};  ///< In the place of a missing value; absent: that is an error.
    bool indicator = false;        ///< Whether there is a column more, 1 where a value is missing.

    template <class Self, class Visit>
    static void visit_members(Self& self, Visit&& visit) {
      visit("name", self.name);
      visit("kind", self.kind);
      detail::visit_unless({}, "categories", self.categories, visit);
      visit("fill", self.fill);
      detail::visit_unless(false, "indicator", self.indicator, visit);
    }

    /// How many columns of inputs it becomes.
    [[nodiscard]] Eigen::Index size() const {
      const bool words = kind == MixedTable::Kind::words;
      return (words ? std::ssize(categories) : 1) + (indicator ? 1 : 0);
    }
  };
  std::vector<Column> columns{};  ///< One per column of the table.

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("columns", self.columns);
  }

  /// Of some rows of a table, or of all: categories, means and what is missing are theirs alone.
  /// Cost: one pass. \throws std::invalid_argument without a row, where a number is infinite, a
  /// row's value is missing though that is an error, or a column misses all values; on rows that
  /// are not there, columns of different lengths, and words that do not ascend or are not there.
  [[nodiscard]] static TableEncoding of(const MixedTable& table, Missing missing = Missing::error,
                                        std::span<const PointIndex> rows = {});

  /// The inputs, rows x size(), of a table with the same columns. A word that is none of the
  /// categories has zeros in all of them: `unknown` says which.
  /// \throws std::invalid_argument on columns of another number or kind, or a value that is missing
  ///         or infinite where that is an error.
  [[nodiscard]] RowMatrix<double> apply(const MixedTable& table) const;

  /// What to say of words that are no categories, one sentence per column: how many rows have one,
  /// and the first of them.
  [[nodiscard]] std::vector<std::string> unknown(const MixedTable& table) const;

  /// The columns of inputs.
  [[nodiscard]] Eigen::Index size() const {
    Eigen::Index count = 0;
    for (const Column& column : columns) count += column.size();
    return count;
  }
  /// A name for each of them, "colour=red", "age", "age is missing"; empty where columns have none.
  [[nodiscard]] std::vector<std::string> feature_names() const;
  /// The columns of inputs that are 0 or 1, of categories and indicators: nothing is to be scaled
  /// in them.
  [[nodiscard]] std::vector<Eigen::Index> indicators() const {
    std::vector<Eigen::Index> found;
    Eigen::Index next = 0;
    for (const Column& column : columns) {
      if (column.kind == MixedTable::Kind::numbers) ++next;
      const Eigen::Index end = next + column.size() - (column.kind == MixedTable::Kind::numbers);
      while (next < end) found.push_back(next++);
    }
    return found;
  }
  /// The names of the table's columns, for `TableSettings::features`; empty where it had none.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const Column& column : columns) {
      if (column.name.empty()) return {};
      found.push_back(column.name);
    }
    return found;
  }
  /// Their kinds, for `TableSettings::kinds`.
  [[nodiscard]] std::vector<MixedTable::Kind> kinds() const {
    std::vector<MixedTable::Kind> found;
    for (const Column& column : columns) found.push_back(column.kind);
    return found;
  }
  /// \throws std::invalid_argument unless categories ascend and are of columns of words, and what
  ///         fills is finite.
  void check(const char* function) const;
  /// Whether values may be missing, for `TableSettings::missing`.
  [[nodiscard]] bool fills() const {
    return std::ranges::all_of(columns, [](const Column& one) { return one.fill.has_value(); });
  }

 private:
  [[nodiscard]] static std::string named(const std::string& name) {
    return name.empty() ? "" : " ('" + name + "')";
  }
  [[nodiscard]] static std::string place(const MixedTable::Column& column, std::size_t c,
                                         PointIndex row) {
    return detail::join("feature ", c + 1, named(column.name), " at point ", row);
  }
  /// A table made by hand may be anything.
  static void check_column(const MixedTable::Column& column, std::size_t c, std::ptrdiff_t rows,
                           const char* function);
  [[nodiscard]] static bool is_missing(const MixedTable::Column& column, PointIndex i) {
    const auto row = static_cast<std::size_t>(i);
    return column.kind == MixedTable::Kind::words ? column.word_of[row] < 0
                                                  : std::isnan(column.numbers[row]);
  }
  /// Of each word of a column its category, -1 where it is none.
  [[nodiscard]] static std::vector<int> places_of(const Column& encoded,
                                                  const MixedTable::Column& column) {
    std::vector<int> places;
    for (const std::string& word : column.words) {
      const auto found = std::ranges::lower_bound(encoded.categories, word);
      const bool known = found != encoded.categories.end() && *found == word;
      places.push_back(known ? static_cast<int>(found - encoded.categories.begin()) : -1);
    }
    return places;
  }
};

#if BPM_BODIES

BPM_INLINE TableEncoding TableEncoding::of(const MixedTable& table, Missing missing,
                                           std::span<const PointIndex> rows) {
  const char* const f = "TableEncoding::of";
  detail::check(table.rows() > 0, f, "table", "has no row, expected one or more");
  const std::vector<PointIndex> all = detail::first_points(rows.empty() ? table.rows() : 0);
  if (rows.empty()) rows = all;
  TableEncoding result;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const MixedTable::Column& column = table.columns[c];
    check_column(column, c, table.rows(), f);
    Column& encoded = result.columns.emplace_back();
    encoded.name = column.name;
    encoded.kind = column.kind;
    double sum = 0;
    double count = 0;
    std::vector<bool> occurs(column.words.size(), false);
    for (const PointIndex i : rows) {
      detail::check(i >= 0 && i < table.rows(), f, "rows", "has ", i, ", must be below ",
                    table.rows());
      if (is_missing(column, i)) {
        detail::check(missing != Missing::error, f, "table", "misses ", place(column, c, i),
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
                      place(column, c, i), ", must be finite");
        sum += (column.numbers[row] - sum) / count;
      }
    }
    detail::check(count > 0, f, "table", "has no value of feature ", c + 1, named(column.name),
                  ", must have one: leave the column out");
    // Of words all categories are 0 where none is known.
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
                  " in feature ", c + 1, named(encoded.name), ", must have ",
                  words ? "words" : "numbers");
    check_column(column, c, table.rows(), f);
    const std::vector<int> places = places_of(encoded, column);
    for (PointIndex i = 0; i < table.rows(); ++i) {
      const auto row = static_cast<std::size_t>(i);
      if (is_missing(column, i)) {
        detail::check(encoded.fill.has_value(), f, "table", "misses ", place(column, c, i),
                      ", must have it: the encoding knows no other value");
        if (!words) inputs(i, first) = *encoded.fill;
        if (encoded.indicator) inputs(i, first + encoded.size() - 1) = 1;
      } else if (words) {
        const int category = places[static_cast<std::size_t>(column.word_of[row])];
        if (category >= 0) inputs(i, first + category) = 1;
      } else {
        detail::check(std::isfinite(column.numbers[row]), f, "table", "is infinite in ",
                      place(column, c, i), ", must be finite");
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
    const std::vector<int> places = places_of(columns[c], column);
    const auto is_unknown = [&](int word) {
      return word >= 0 && places[static_cast<std::size_t>(word)] < 0;
    };
    const auto count = std::ranges::count_if(column.word_of, is_unknown);
    if (count == 0) continue;
    const int word = *std::ranges::find_if(column.word_of, is_unknown);
    notes.push_back(detail::join(
        "feature ", c + 1, named(columns[c].name), ": ", count,
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

BPM_INLINE void TableEncoding::check(const char* function) const {
  for (const Column& column : columns) {
    detail::check(std::ranges::is_sorted(column.categories, std::less_equal<>{}) &&
                      (column.categories.empty() || column.kind == MixedTable::Kind::words),
                  function, "encoding", "has categories", named(column.name),
                  " that do not ascend, or are of numbers");
    detail::check(std::isfinite(column.fill.value_or(0)), function, "encoding",
                  "fills what is missing by ", column.fill.value_or(0), ", must be finite");
  }
}

BPM_INLINE void TableEncoding::check_column(const MixedTable::Column& column, std::size_t c,
                                            std::ptrdiff_t rows, const char* function) {
  detail::check_size(function, "table", column.rows(), rows, "rows in every column");
  detail::check(std::ranges::is_sorted(column.words, std::less_equal<>{}), function, "table",
                "has words that do not ascend in feature ", c + 1, named(column.name));
  for (const int word : column.word_of) {
    detail::check(word < std::ssize(column.words), function, "table", "has word ", word,
                  " in feature ", c + 1, named(column.name), ", must be below ",
                  column.words.size());
  }
}

#endif

}}  // namespace bpm
