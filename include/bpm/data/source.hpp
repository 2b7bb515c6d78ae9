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

/// Returns a path as text for messages; on Windows in UTF-8, since `path::string` may throw.
[[nodiscard]] inline std::string text_of(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

}  // namespace detail

/// Inputs, one per row, and the label of each: labels[i] belongs to row i. `labels` is empty for a
/// source without labels, and the names for one without names.
template <class Inputs>
struct LabelledData {
  Inputs inputs;                                ///< n rows, in the order of the source.
  std::vector<int> labels;                      ///< Labels, n; for words indices in `class_names`.
  std::vector<std::string> class_names = {};    ///< class_names[k] is the word of label k.
  std::vector<std::string> feature_names = {};  ///< One name per column of the inputs.
  /// Assumptions of the reader that its user should know, one sentence each.
  std::vector<std::string> notes = {};
};

namespace detail {

// Sources of bytes for readers.

/// The content of a file, and the name that begins messages about it.
struct OpenFile {
  std::unique_ptr<std::istream> stream;
  std::string name;
};

/// Opens a file for reading. \throws DataError where that fails.
[[nodiscard]] inline OpenFile open_file(const std::filesystem::path& path) {
  // A directory opens like a file on some systems and fails only when read.
  std::error_code ignored;
  ensure<DataError>(!std::filesystem::is_directory(path, ignored), text_of(path),
                    ": is a directory, expected a file");
  auto file = std::make_unique<std::ifstream>(path, std::ios::binary);
  ensure<DataError>(!file->fail(), text_of(path), ": cannot be opened for reading");
  return {std::move(file), text_of(path)};
}

/// Returns the rest of a stream. \throws DataError, with the offset, where reading fails.
[[nodiscard]] inline std::string read_all(std::istream& stream, std::string_view name) {
  std::string bytes;
  // Reserves memory for the rest of a file, so that growth copies nothing.
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

/// Default limit of the bytes that a reader allocates where a few bytes of the file could demand
/// any number.
inline constexpr std::size_t default_limit = std::size_t{1} << 30U;

/// Arguments that readers accept in place of a stream: a path, or `GzipFile`, which opens itself.
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

/// Layout of a table. The defaults read most files.
struct TableSettings {
  /// Whether the first line has names: see `header`.
  enum class Header {
    automatic,  ///< The reader decides by the first two lines.
    yes,        ///< The line has the names of all fields.
    no          ///< The line is data.
  };
  /// Position of the label in a line.
  enum class LabelColumn {
    first,  ///< Leftmost field that is not ignored.
    last,   ///< Rightmost such field; if it is in `features`, the only field that is not.
    none    ///< No label: all fields are features.
  };

  /// Character between two fields. A space means any run of spaces and tabs; otherwise spaces and
  /// tabs around a field are ignored. '\0' is automatic: the first comma, semicolon or tab outside
  /// quotes in the first line, or a space if it has none. (The first line is the first that is
  /// neither blank nor a comment.)
  char delimiter = '\0';
  /// Whether the first line has the names of the columns. Automatic: it does if at least one of its
  /// feature fields is neither a number nor missing while the same field of the second line is a
  /// number (a note reports if others of its fields are numbers); if the label is given by name; if
  /// it has all the names in `features`, or one in `ignored` or `words`; or if it counts its fields
  /// from 0, with or without an empty first one, as pandas writes columns without names (a note
  /// reports this). A line that counts from elsewhere, 1990, 1991, ..., is ambiguous: an error
  /// asks. So does a line whose features are different numbers without a sign, and whose label is a
  /// word, where the second line's is a number or where no other line has it and all others have
  /// theirs twice; also a number above a word, where the features are whole numbers and those of
  /// the second line are not.
  Header header = Header::automatic;
  /// The label's field, by position, by index from 0 or by its name in the header.
  std::variant<LabelColumn, Eigen::Index, std::string> label = LabelColumn::last;
  /// The columns that are features, by their names in the header, in this order whatever the order
  /// of the file; all others but the label are skipped. Empty: all but the label. Without a header,
  /// position alone identifies columns.
  std::vector<std::string> features{};
  /// Columns that are skipped, by index from 0 or by name in the header.
  std::vector<std::variant<Eigen::Index, std::string>> ignored{};
  /// First character of comment lines, which are skipped; a note reports their number. '\0': the
  /// file has no comments.
  char comment = '#';
  /// Decimal sign of features. If it is a comma, it is never the automatic delimiter, and a point
  /// in a number is an error, since it may separate thousands.
  char decimal = '.';

  // Settings of `read_mixed_table` alone; `read_table` accepts only their defaults.

  /// Columns of words, by index from 0 or by name in the header.
  std::vector<std::variant<Eigen::Index, std::string>> words{};
  /// Whether columns with a field that is no number also become columns of words.
  bool automatic_words = false;
  /// Kinds of the features in their order, as in `TableEncoding::kinds`. Empty: by `words` and
  /// `automatic_words`.
  std::vector<MixedTable::Kind> kinds{};
  /// Whether features may be missing.
  bool missing = false;
  /// Further texts of missing values, beside those that `read_table` names.
  std::vector<std::string> missing_words{};
};

}}  // namespace bpm
