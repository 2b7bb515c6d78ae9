// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/table_encoding.hpp"
#include "positions.hpp"

/// \file
/// Files of data of any of the formats, and what is done to their rows before a machine sees them.

namespace bpm_examples {

/// Rows as a machine takes them. Bytes are exact and fast: whole numbers from 0 to 255.
using Inputs = std::variant<bpm::RowMatrix<double>, bpm::RowMatrix<float>,
                            bpm::RowMatrix<std::uint8_t>, bpm::SparseRowMatrix<double>>;

/// Inputs, one per row, and what the file says of each. Labels are those of `bpm::LabelledData`.
struct Data {
  Inputs inputs;
  std::vector<int> labels{};  ///< Empty where there are none.
  std::vector<std::string> class_names{};
  std::vector<std::string> feature_names{};  ///< Of a table with a header.
  /// How the inputs were made of the table's columns, where these are words or miss values.
  std::optional<bpm::TableEncoding> encoding{};
  Positions positions{};             ///< Of a table that trains.
  std::vector<std::string> notes{};  ///< What reading took for granted.
  std::string name{};                ///< Of the file, for messages.
  std::string format{};              ///< csv, libsvm or idx.
  bpm::MixedTable kept{};            ///< `ReadOptions::kept`, as words; each column has a name.
  std::size_t repeated = 0;          ///< First rows that were in the block before already.
  std::size_t rows_before = 0;       ///< Rows of the file before the first one.

  [[nodiscard]] Eigen::Index rows() const;
  [[nodiscard]] Eigen::Index columns() const;
  /// The rows of these numbers, in their order.
  [[nodiscard]] Data part(std::span<const bpm::PointIndex> points) const;
};

/// How a file is read.
struct ReadOptions {
  std::string label{};  ///< A column's name or number from 1, last, first; empty: not given.
  std::string header = "auto";
  std::string format = "auto";
  std::string ignored{};     ///< Columns by names or numbers from 1, with commas between.
  std::string kept{};        ///< The same of those whose fields are wanted as they are.
  std::string categories{};  ///< The same of those with words, or auto.
  bpm::TableEncoding::Missing missing = bpm::TableEncoding::Missing::error;
  std::vector<std::string> missing_words{};  ///< Of a table, beside those that all have.
  char decimal = '.';
  int sparse_columns = 0;  ///< Of LIBSVM's format; 0: as in the file.
};

/// The columns that a model takes: how many, and their names where it has any.
struct ModelColumns {
  Eigen::Index count = 0;
  std::vector<std::string> names{};
  std::optional<bpm::TableEncoding> encoding{};  ///< Of a table, if they are made of one.
  Positions positions{};                         ///< By which one without names is read.
};

/// Of so many rows those by which columns of words and missing values are understood.
using TrainingRows = std::function<std::vector<bpm::PointIndex>(std::size_t count)>;

/// The file, "-" for standard input, gzipped or not. `labelled`: whether rows have labels though
/// none were asked for (training) or have none (prediction). `columns`: the features there must be;
/// a count of 0: those of the file. `training`: absent, all rows.
/// Throws `bpm::DataError` on what cannot be read, `UsageError` on options that the format lacks.
[[nodiscard]] Data read_data(const std::string& path, const ReadOptions& options, bool labelled,
                             const ModelColumns& columns = {}, const TrainingRows& training = {});

/// Standard input without labels, as `read_data`, in blocks: what is at hand where it pauses, some
/// megabytes where it does not. Each block is taken, until `take` says no; its errors have the
/// lines of the whole. How lines are read is decided by the first two rows, or by the options.
void read_standard_input(const ReadOptions& options, const ModelColumns& columns,
                         const std::function<bool(Data)>& take);

/// The first row that is all zeros.
[[nodiscard]] std::optional<Eigen::Index> zero_row(const Inputs& inputs);

/// The same rows, dense. Throws `bpm::DataError` where they would take more than `most` bytes.
[[nodiscard]] bpm::RowMatrix<double> dense_numbers(const Inputs& inputs,
                                                   std::size_t most = std::size_t{4} << 30U);

}  // namespace bpm_examples
