// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/kernel.hpp"

/// \file
/// Preprocessing of inputs by statistics of the training rows: standardising, and what a model
/// knows of columns of words and missing values.

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// Dense rows of float or double, which can be scaled.
template <class I>
concept ScalableInputs = DenseInputs<I> && std::floating_point<typename I::Scalar>;

/// Returns a column's name in messages.
[[nodiscard]] inline std::string named(const std::string& name) {
  return name.empty() ? "" : " ('" + name + "')";
}

}  // namespace detail

/// Mean and deviation of every feature of some inputs, which standardise others: (x - mean) /
/// deviation, column by column.
struct Standardisation {
  Eigen::RowVectorXd mean;  ///< Mean of each column.
  /// Deviation sqrt(mean (x - mean)^2) of each column; 1 if a column is constant.
  Eigen::RowVectorXd deviation;
  std::vector<Eigen::Index> constant{};  ///< Constant columns, which become 0 for any input.

  /// Computes them from these inputs, except for columns `to_stay` as they are, such as the 0 and 1
  /// of `TableEncoding::indicators`: these have mean 0 and deviation 1. Cost: two passes. \throws
  /// std::invalid_argument without an input, on numbers that are not finite or so small or large
  /// that a deviation is 0 or infinite, or on an unknown column to stay.
  template <detail::ScalableInputs I>
  [[nodiscard]] static Standardisation of(const I& inputs,
                                          std::span<const Eigen::Index> to_stay = {}) {
    const char* const f = "Standardisation::of";
    detail::check(inputs.rows() > 0, f, "inputs", "is empty, expected one input or more");
    detail::check_inputs(inputs, f);
    Standardisation result{Eigen::RowVectorXd::Zero(inputs.cols()),
                           Eigen::RowVectorXd::Ones(inputs.cols())};
    for (const Eigen::Index c : to_stay) {
      detail::check(c >= 0 && c < inputs.cols(), f, "to_stay", "has ", c, ", must be below ",
                    inputs.cols());
    }
    std::vector<bool> stays(static_cast<std::size_t>(inputs.cols()), false);
    for (const Eigen::Index c : to_stay) stays[static_cast<std::size_t>(c)] = true;
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

  /// Returns x standardised, in the precision of x or a requested one (for bytes: float). \throws
  /// std::invalid_argument on another number of columns, or if the members are inconsistent.
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

/// Encoding of a table's columns as columns of inputs, one after the other: a column of words
/// becomes a column per category, 1 for the row's category and 0 elsewhere; numbers stay, and
/// missing values become their mean, with an additional column that is 1 there if an indicator is
/// wanted. It is computed from a training set, stored with its classifier
/// (`Notes::encoding`), and applied to every table to predict. The bodies of its functions are in
/// bpm/machine/table_encoding.hpp, which bpm/bpm.hpp and bpm/data.hpp include.
///
///     const bpm::TableSettings layout{.automatic_words = true, .missing = true};
///     const auto table = bpm::read_mixed_table("train.csv", layout);
///     const auto encoding =
///         bpm::TableEncoding::of(table.inputs, bpm::TableEncoding::Missing::mean);
///     auto classifier = machine.fit(encoding.apply(table.inputs), table.labels);
///     classifier.notes.encoding = encoding;
struct TableEncoding {
  /// Treatment of missing values.
  enum class Missing {
    error,     ///< They are an error.
    mean,      ///< The mean of the column; for words no category, all zeros.
    indicator  ///< As `mean`, with an indicator for each column that has any.
  };

  /// Encoding of one column of the table.
  struct Column {
    std::string name{};  ///< Name in the table; empty: none.
    /// Kind of the column; words become a 0 or 1 for each category.
    MixedTable::Kind kind = MixedTable::Kind::numbers;
    std::vector<std::string> categories{};  ///< Categories of words, ascending.
    std::optional<double> fill{};           ///< Value for missing ones; absent: they are an error.
    bool indicator = false;  ///< Whether a further column is 1 where a value is missing.

    template <class Self, class Visit>
    static void visit_members(Self& self, Visit&& visit) {
      visit("name", self.name);
      visit("kind", self.kind);
      detail::visit_unless({}, "categories", self.categories, visit);
      visit("fill", self.fill);
      detail::visit_unless(false, "indicator", self.indicator, visit);
    }

    /// Returns the number of columns of inputs.
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

  /// Computes the encoding from some rows of a table, or all, which alone determine categories,
  /// means and indicators. Cost: one pass. \throws std::invalid_argument without a row, if a number
  /// is infinite, a row's value is missing with `Missing::error`, or a column misses all values; on
  /// unknown rows, columns of different lengths, and words that do not ascend or are unknown.
  [[nodiscard]] static TableEncoding of(const MixedTable& table, Missing missing = Missing::error,
                                        std::span<const PointIndex> rows = {});

  /// Returns the inputs, rows x size(), of a table with the same columns. A word that is no
  /// category has zeros in all of them: `unknown` reports it.
  /// \throws std::invalid_argument on columns of another number or kind, or a value that is missing
  ///         or infinite where that is an error.
  [[nodiscard]] RowMatrix<double> apply(const MixedTable& table) const;

  /// Returns notes on words that are no categories, one sentence per column: the number of rows
  /// that have one, and the first of them.
  [[nodiscard]] std::vector<std::string> unknown(const MixedTable& table) const;

  /// Returns the number of columns of inputs.
  [[nodiscard]] Eigen::Index size() const {
    Eigen::Index count = 0;
    for (const Column& column : columns) count += column.size();
    return count;
  }
  /// Returns the columns' names, "colour=red", "age", "age is missing"; empty if a column has none.
  [[nodiscard]] std::vector<std::string> feature_names() const;
  /// Returns the columns of inputs that are 0 or 1, of categories and indicators, which need no
  /// scaling.
  [[nodiscard]] std::vector<Eigen::Index> indicators() const;
  /// Returns the names of the table's columns, for `TableSettings::features`; empty if unnamed.
  [[nodiscard]] std::vector<std::string> names() const;
  /// Returns the kinds of the table's columns, for `TableSettings::kinds`.
  [[nodiscard]] std::vector<MixedTable::Kind> kinds() const;
  /// Checks the encoding. \throws std::invalid_argument unless categories ascend and belong to
  /// columns of words, and `fill` is finite.
  void check(const char* function) const {
    for (const Column& column : columns) {
      detail::check(std::adjacent_find(column.categories.begin(), column.categories.end(),
                                       std::greater_equal<>{}) == column.categories.end() &&
                        (column.categories.empty() || column.kind == MixedTable::Kind::words),
                    function, "encoding", "has categories", detail::named(column.name),
                    " that do not ascend, or are of numbers");
      detail::check(std::isfinite(column.fill.value_or(0)), function, "encoding",
                    "fills what is missing by ", column.fill.value_or(0), ", must be finite");
    }
  }
  /// Returns whether values may be missing, for `TableSettings::missing`.
  [[nodiscard]] bool fills() const;
};

}}  // namespace bpm
