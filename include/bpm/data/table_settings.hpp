// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <string>
#include <variant>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// How a table is laid out. As it stands, it reads most files as they come.
struct TableSettings {
  enum class Header { automatic, yes, no };
  enum class LabelColumn { first, last, none };

  /// Stands between two fields. A space means any run of spaces and tabs; otherwise spaces and tabs
  /// around a field are ignored. '\0' is automatic: of comma, semicolon and tab outside quotes, the
  /// one that comes first in the first line; a space where there is none of them. (The first line
  /// is the first that is neither blank nor a comment.)
  char delimiter = '\0';
  /// Whether the first line holds the names of the columns. Automatic: it does if at least one of
  /// its feature fields is neither a number nor missing while the same field of the second line is
  /// a number; if the label is given by name; if it has all the names in `features`; or if it
  /// counts its fields from 0, behind an empty one or not, as pandas writes names that are none
  /// (then a note says so). A first line that counts from elsewhere, 1990, 1991, ..., may be
  /// either: an error asks. So may one whose features are different whole numbers where those of
  /// the second are not all whole, and whose label is of another kind than the second's (number or
  /// word), or a word that no other line has where all others have theirs twice.
  Header header = Header::automatic;
  /// The field that is the label, also by its index from 0 or by its name in the header.
  std::variant<LabelColumn, Eigen::Index, std::string> label = LabelColumn::last;
  /// The columns that are features, by their names in the header and in this order, whatever order
  /// the file has; all others but the label are skipped. Empty: all but the label. Without a header
  /// columns are what they are by position.
  std::vector<std::string> features{};
  /// Columns that are skipped, by index from 0 or by name in the header.
  std::vector<std::variant<Eigen::Index, std::string>> ignored{};
  /// A line that begins with this character is skipped; '\0' means that there are no comments.
  char comment = '#';
  /// Stands before the decimals of features. If it is a comma, a delimiter found automatically is
  /// none, and a point in a number is an error, as it may stand between thousands.
  char decimal = '.';

  // The rest is for `read_mixed_table`, `read_table` takes none of it.

  /// Columns whose fields are words, by index from 0 or by name in the header.
  std::vector<std::variant<Eigen::Index, std::string>> words{};
  /// Columns with a field that is no number hold words too.
  bool automatic_words = false;
  /// The kinds of the features, in their order, as `TableEncoding::kinds` has them. Empty: as
  /// above.
  std::vector<MixedTable::Kind> kinds{};
  /// Features may be missing.
  bool missing = false;
};

}}  // namespace bpm
