// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <array>
#include <concepts>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <ios>
#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// A path for a message: its bytes, on Windows in UTF-8. (There `path::string` may throw.)
[[nodiscard]] inline std::string text_of(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

}  // namespace detail

/// Inputs, one per row, and the label of each: labels[i] belongs to row i. `labels` is empty where
/// the source holds none, the names where it has none.
template <class Inputs>
struct LabelledData {
  Inputs inputs;                                ///< n rows, in the order of the source.
  std::vector<int> labels;                      ///< n; of words their places in `class_names`.
  std::vector<std::string> class_names = {};    ///< class_names[k]: what label k stands for.
  std::vector<std::string> feature_names = {};  ///< One a column of the inputs.
  /// What the reader took for granted and its user should know, a sentence each.
  std::vector<std::string> notes = {};
};

namespace detail {

// Where readers get their bytes from.

/// The content of a file, and the name that begins messages about it.
struct OpenFile {
  std::unique_ptr<std::istream> stream;
  std::string name;
};

/// Opens a file for reading. Throws `DataError` where that fails.
[[nodiscard]] inline OpenFile open_file(const std::filesystem::path& path) {
  // A directory opens like a file on some systems and fails only when read.
  std::error_code ignored;
  ensure<DataError>(!std::filesystem::is_directory(path, ignored), text_of(path),
                    ": is a directory, expected a file");
  auto file = std::make_unique<std::ifstream>(path, std::ios::binary);
  ensure<DataError>(!file->fail(), text_of(path), ": cannot be opened for reading");
  return {std::move(file), text_of(path)};
}

/// All that is left of a stream. \throws DataError, with the offset, where reading fails.
[[nodiscard]] inline std::string read_all(std::istream& stream, std::string_view name) {
  std::string bytes;
  // Of a file all that is left, so that it is not copied as it grows.
  if (stream.good() && stream.rdbuf()->in_avail() > 0) {
    bytes.reserve(static_cast<std::size_t>(stream.rdbuf()->in_avail()));
  }
  std::array<char, 1 << 16> block;
  while (stream.read(block.data(), block.size()), stream.gcount() > 0) {
    bytes.append(block.data(), static_cast<std::size_t>(stream.gcount()));
  }
  ensure<DataError>(!stream.bad(), name, ": byte ", bytes.size(), ": reading failed");
  return bytes;
}

/// The most bytes that a reader takes where a few in the file could ask for any number, unless it
/// is told otherwise.
inline constexpr std::size_t default_limit = std::size_t{1} << 30U;

/// What readers take in the place of a stream: a path, or `GzipFile`, which opens itself.
template <class F>
concept File = std::convertible_to<const F&, std::filesystem::path> || requires(const F& file) {
  { file.open() } -> std::same_as<OpenFile>;
};

template <File F>
[[nodiscard]] OpenFile open(const F& file) {
  if constexpr (std::convertible_to<const F&, std::filesystem::path>) {
    return open_file(file);
  } else {
    return file.open();
  }
}

}  // namespace detail

/// How a table is laid out. As it stands, it reads most files as they come.
struct TableSettings {
  /// Whether the first line holds names: see `header`.
  enum class Header {
    automatic,  ///< As its fields and those of the second line tell.
    yes,        ///< It holds the names of all fields.
    no          ///< It is data.
  };
  /// Where the label of a line stands.
  enum class LabelColumn {
    first,  ///< In the leftmost field that is not ignored.
    last,   ///< In the rightmost likewise; where it is of `features`, in the only one that is not.
    none    ///< Nowhere: all fields are features.
  };

  /// Stands between two fields. A space means any run of spaces and tabs; otherwise spaces and tabs
  /// around a field are ignored. '\0' is automatic: of comma, semicolon and tab outside quotes, the
  /// one that comes first in the first line; a space where there is none of them. (The first line
  /// is the first that is neither blank nor a comment.)
  char delimiter = '\0';
  /// Whether the first line holds the names of the columns. Automatic: it does if at least one of
  /// its feature fields is neither a number nor missing while the same field of the second line is
  /// a number (where others of its fields are numbers a note says so); if the label is given by
  /// name; if it has all the names in `features`, or one in `ignored` or `words`; or if it counts
  /// its fields from 0, behind an empty one or not, as pandas writes names that are none (then a
  /// note says so). One that counts from elsewhere, 1990, 1991,
  /// ..., may be either: an error asks. So may one whose features are different numbers without a
  /// sign, and whose label is a word, where the second's is a number or where no other line has it
  /// and all others have theirs twice; also a number above a word, where the features are whole
  /// numbers and those of the second line are not.
  Header header = Header::automatic;
  /// The field that is the label, also by its index from 0 or by its name in the header.
  std::variant<LabelColumn, Eigen::Index, std::string> label = LabelColumn::last;
  /// The columns that are features, by their names in the header and in this order, whatever order
  /// the file has; all others but the label are skipped. Empty: all but the label. Without a header
  /// columns are what they are by position.
  std::vector<std::string> features{};
  /// Columns that are skipped, by index from 0 or by name in the header.
  std::vector<std::variant<Eigen::Index, std::string>> ignored{};
  /// A line that begins with this character is skipped, which a note says; '\0' means that there
  /// are no comments.
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
  /// Fields that say so, beside those that `read_table` names.
  std::vector<std::string> missing_words{};
};

}}  // namespace bpm
