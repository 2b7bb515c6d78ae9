// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "bpm/data/source.hpp"

/// \file
/// Where a table has its label and what is no feature, for files that do not name their columns.

namespace bpm_examples {

/// Of a table as the one that trained, from 0: `Notes::label_column` and
/// `ignored_columns`.
struct Positions {
  std::optional<Eigen::Index> label{};  ///< Absent: the last column that is not ignored.
  std::vector<Eigen::Index> ignored{};  ///< Ascending.

  /// Whether there is nothing to say: the label is last, and nothing is ignored.
  [[nodiscard]] bool usual() const { return !label && ignored.empty(); }
  /// The label's column in a table of so many features.
  [[nodiscard]] Eigen::Index label_among(Eigen::Index features) const;
  /// "the label is in column 1, column 4 is ignored".
  [[nodiscard]] std::string words(Eigen::Index features) const;
};

/// Of a table whose first line has these fields, by the settings it is read with.
[[nodiscard]] Positions positions_of(const std::vector<std::string>& fields,
                                     const bpm::TableSettings& settings);

/// What is asked of a table that a model is to read.
struct PositionsWanted {
  const Positions& known;     ///< The model's.
  Eigen::Index features;      ///< Columns of the table that are.
  bool labelled;              ///< Whether it has labels that are needed.
  bool label_given;           ///< Whether the user says where.
  const std::string& source;  ///< For messages.
};

/// Puts a model's positions into the settings of a table without its names, as far as the user does
/// not say where label and ignored columns are; returns what to say of it.
/// \throws bpm::DataError where the table has another number of columns, or can be read in two
/// ways.
[[nodiscard]] std::vector<std::string> take_positions(const PositionsWanted& wanted,
                                                      const std::vector<std::string>& fields,
                                                      bpm::TableSettings& settings);

}  // namespace bpm_examples
