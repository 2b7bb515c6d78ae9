// SPDX-License-Identifier: MIT
#include "data.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <istream>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "bpm/core/errors.hpp"
#include "bpm/data/gzip.hpp"
#include "bpm/data/idx.hpp"
#include "bpm/data/svmlight.hpp"
#include "bpm/data/table.hpp"
#include "bpm/kernels/kernel.hpp"
#include "common/program.hpp"
#include "plain_text.hpp"
#include "text.hpp"

namespace bpm_examples {

namespace {

namespace fs = std::filesystem;

/// An unpacked file, to be read from its beginning.
struct Source {
  std::unique_ptr<std::istream> stream;
  std::string name;
};

constexpr const char* standard_input = "standard input";

[[nodiscard]] Source open_source(const std::string& path) {
  // What a file unpacks to is the user's own business here: the data are theirs.
  constexpr std::size_t any = std::size_t{1} << 40U;
  const bool standard = path == "-";
  auto file = bpm::GzipFile{standard ? fs::path("/dev/stdin") : fs::path(path), any}.open();
  return {std::move(file.stream), standard ? standard_input : path};
}

/// Appends what standard input has, until it pauses or that are `most` bytes; waits for the first.
/// False at the end.
[[nodiscard]] bool read_more(std::string& bytes, std::size_t most) {
  std::array<char, std::size_t{1} << 16U> block{};
  for (std::size_t added = 0;;) {
    const auto count = ::read(STDIN_FILENO, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw bpm::DataError(std::string(standard_input) + ": reading failed");
    if (count == 0) return false;
    bytes.append(block.data(), static_cast<std::size_t>(count));
    added += static_cast<std::size_t>(count);
    ::pollfd in{STDIN_FILENO, POLLIN, 0};
    if (added >= most || ::poll(&in, 1, 0) == 0) return true;
  }
}

/// Whether a field is a number; also a percentage.
[[nodiscard]] bool is_number(std::string text, char decimal = '.') {
  if (decimal != '.') {
    if (text.find('.') != std::string::npos) return false;
    std::ranges::replace(text, decimal, '.');
  }
  if (text.ends_with('%')) text.pop_back();
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return !text.empty() && end == text.c_str() + text.size();
}

/// Returns the index of a field index:value of LIBSVM's format; -1 of any other field.
[[nodiscard]] long index_of_pair(const std::string& field) {
  const std::size_t colon = field.find_first_not_of("0123456789");
  const bool pair = colon != std::string::npos && colon > 0 && colon <= 10 && field[colon] == ':' &&
                    is_number(field.substr(colon + 1));
  return pair ? std::stol(field) : -1;
}

/// By the first bytes: IDX begins with two zeros; a line of LIBSVM's format has index:value behind
/// its label; everything else is a table.
[[nodiscard]] std::string format_of(std::istream& stream) {
  std::array<char, 3> magic{};
  stream.read(magic.data(), magic.size());
  const bool idx = stream.gcount() == 3 && magic[0] == 0 && magic[1] == 0 && magic[2] == 8;
  stream.clear();
  stream.seekg(0);
  if (idx) return "idx";
  std::string format = "csv";
  for (std::string line; std::getline(stream, line);) {
    line.resize(std::min(line.find('#'), line.size()));
    std::istringstream text(line);
    std::string label;
    std::string second;
    std::string third;
    text >> label >> second >> third;
    if (label.empty()) continue;
    // A label alone is a row of zeros, but nothing that a table could be.
    if (!second.empty()) {
      const long index = index_of_pair(second);
      // A time of day may stand behind a date, which is no label: so a word as label, or a pair in
      // its place, takes a second index above the first. Both are refused with their cure.
      if ((index >= 0 && line.find_first_of(",;") == std::string::npos &&
           (is_number(label) || index_of_pair(third) > index ||
            (index_of_pair(label) >= 0 && index_of_pair(label) < index))) ||
          second.starts_with("qid:")) {
        format = "libsvm";
      }
      break;
    }
    if (label.find_first_not_of("+-0123456789") != std::string::npos) break;
  }
  stream.clear();
  stream.seekg(0);
  return format;
}

/// Columns of a list with commas between, by number from 1 or by name.
[[nodiscard]] std::vector<std::variant<Eigen::Index, std::string>> columns_of(
    const std::string& text, const char* option) {
  std::vector<std::variant<Eigen::Index, std::string>> columns;
  std::istringstream list(text);
  for (std::string column; std::getline(list, column, ',');) {
    int place = 0;
    const auto [stop, bad] = std::from_chars(column.data(), column.data() + column.size(), place);
    if (bad == std::errc() && stop == column.data() + column.size()) {
      if (place < 1) {
        throw UsageError(std::string(option) + ": columns count from 1, '" + column + "' is none");
      }
      columns.emplace_back(Eigen::Index{place - 1});
    } else {
      columns.emplace_back(column);
    }
  }
  return columns;
}

[[nodiscard]] bpm::TableSettings table_settings(const ReadOptions& options, bool labelled) {
  bpm::TableSettings settings;
  using Header = bpm::TableSettings::Header;
  settings.header = options.header == "yes"  ? Header::yes
                    : options.header == "no" ? Header::no
                                             : Header::automatic;
  using Label = bpm::TableSettings::LabelColumn;
  const std::string& label = options.label;
  int number = 0;
  const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), number);
  const bool whole = error == std::errc() && end == label.data() + label.size();
  if (label.empty()) {
    settings.label = labelled ? Label::last : Label::none;
  } else if (label == "last") {
    settings.label = Label::last;
  } else if (label == "first") {
    settings.label = Label::first;
  } else if (whole) {
    if (number < 1) throw UsageError("--label: columns count from 1, '" + label + "' is none");
    settings.label = Eigen::Index{number - 1};
  } else {
    if (settings.header == Header::no) {
      throw UsageError("--label: with --header no a column has a number, not the name '" + label +
                       "'");
    }
    settings.label = label;
  }
  settings.ignored = columns_of(options.ignored, "--ignore");
  settings.automatic_words = options.categories == "auto";
  if (!settings.automatic_words) {
    settings.words = columns_of(options.categories, "--categories");
  }
  settings.missing = options.missing != bpm::TableEncoding::Missing::error;
  settings.missing_words = options.missing_words;
  settings.decimal = options.decimal;
  return settings;
}

/// Dense as bytes, if they are that and take no more memory than sparse would, else as numbers of
/// up to eight times as much memory: products with what is zero are left out there as well.
[[nodiscard]] Inputs packed(bpm::SparseRowMatrix<double> sparse) {
  const auto entries = static_cast<double>(sparse.nonZeros());
  const double cells = static_cast<double>(sparse.rows()) * static_cast<double>(sparse.cols());
  const auto values = Eigen::Map<const Eigen::VectorXd>(sparse.valuePtr(), sparse.nonZeros());
  constexpr double of_an_entry = sizeof(double) + sizeof(int);
  if (sparse.nonZeros() > 0 && cells <= of_an_entry * entries && bpm::are_bytes(values)) {
    bpm::RowMatrix<std::uint8_t> bytes =
        bpm::RowMatrix<std::uint8_t>::Zero(sparse.rows(), sparse.cols());
    for (Eigen::Index i = 0; i < sparse.rows(); ++i) {
      for (bpm::SparseRowMatrix<double>::InnerIterator entry(sparse, i); entry; ++entry) {
        bytes(i, entry.col()) = static_cast<std::uint8_t>(entry.value());
      }
    }
    return bytes;
  }
  if (cells * sizeof(double) <= 8 * of_an_entry * entries) {
    return bpm::RowMatrix<double>(sparse);
  }
  return sparse;
}

/// The file of the labels of an IDX file of images: the one given, or the one named likewise.
[[nodiscard]] std::string idx_labels(const std::string& path, const ReadOptions& options) {
  if (!options.label.empty()) return options.label;
  std::string name = fs::path(path).filename().string();
  const auto replace = [&name](std::string_view what, std::string_view by) {
    const std::size_t at = name.find(what);
    if (at == std::string::npos) return false;
    name.replace(at, what.size(), by);
    return true;
  };
  const bool named = replace("images", "labels");
  static_cast<void>(replace("idx3", "idx1"));
  const fs::path found = fs::path(path).parent_path() / name;
  if (!named || !fs::exists(found)) {
    throw bpm::DataError(path + ": holds images without labels; name the IDX file of the labels " +
                         "by --label FILE");
  }
  return found.string();
}

void check_columns(const Data& data, Eigen::Index columns, const ReadOptions& options, bool table,
                   bool labelled) {
  if (columns == 0 || data.columns() == columns) return;
  std::string message = data.name + ": found " + std::to_string(data.columns()) +
                        " features, the model has " + std::to_string(columns);
  if (table && labelled && data.columns() > columns) {
    message += "; leave out by --ignore what was left out in training";
  } else if (table && options.label.empty() && data.columns() == columns + 1) {
    message += "; if one column is the label, name it by --label";
  }
  throw bpm::DataError(message);
}

/// Rows by their numbers.
template <class Rows>
[[nodiscard]] Rows rows_of(const Rows& rows, std::span<const bpm::PointIndex> points) {
  if constexpr (std::same_as<Rows, bpm::SparseRowMatrix<double>>) {
    Rows chosen(std::ssize(points), rows.cols());
    for (Eigen::Index i = 0; i < chosen.rows(); ++i) {
      chosen.startVec(i);
      for (typename Rows::InnerIterator entry(rows, points[static_cast<std::size_t>(i)]); entry;
           ++entry) {
        chosen.insertBack(i, entry.col()) = entry.value();
      }
    }
    chosen.finalize();
    return chosen;
  } else {
    Rows chosen(std::ssize(points), rows.cols());
    for (Eigen::Index i = 0; i < chosen.rows(); ++i) {
      chosen.row(i) = rows.row(points[static_cast<std::size_t>(i)]);
    }
    return chosen;
  }
}

/// What the fields of a column are.
struct ColumnFacts {
  std::size_t rows = 0;
  std::size_t numbers = 0;
  std::size_t words = 0;            ///< Different ones.
  bool only_first_is_word = false;  ///< All others are numbers or missing.
  std::size_t grouped = 0;          ///< Numbers with a comma (or point) before each three digits,
  bool all_grouped = true;          ///< which all have that have one.
};

/// Whether a number has its digits in groups of three, 1,252 or 12,300,000.5, by `mark`.
[[nodiscard]] bool in_groups(std::string_view text, char mark) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  std::size_t at = std::min(text.find(mark), text.size());
  if (at == 0 || at > 3 || text.front() == '0' || at == text.size()) return false;
  if (text.substr(0, at).find_first_not_of("0123456789") != std::string_view::npos) return false;
  while (at < text.size() && text[at] == mark) {
    if (text.size() < at + 4 ||
        text.substr(at + 1, 3).find_first_not_of("0123456789") != std::string_view::npos) {
      return false;
    }
    at += 4;
  }
  return at == text.size() || text[at] == (mark == ',' ? '.' : ',');
}

/// Of each column; nothing where lines differ in their width.
[[nodiscard]] std::vector<ColumnFacts> facts_of(std::istream& stream, bpm::TableSettings settings) {
  const std::size_t width = first_fields(stream, settings).size();
  settings.label = bpm::TableSettings::LabelColumn::none;
  settings.header = bpm::TableSettings::Header::no;
  settings.features.clear();
  settings.ignored.clear();
  settings.kinds.clear();
  settings.words.clear();
  for (std::size_t c = 0; c < width; ++c) settings.words.emplace_back(static_cast<Eigen::Index>(c));
  settings.missing = true;
  bpm::MixedTable table;
  try {
    table = bpm::read_mixed_table(stream, "", settings).inputs;
  } catch (const bpm::DataError&) {
    return {};
  }
  std::vector<ColumnFacts> facts(table.columns.size());
  for (std::size_t c = 0; c < facts.size(); ++c) {
    const bpm::MixedTable::Column& column = table.columns[c];
    ColumnFacts& found = facts[c];
    std::vector<std::size_t> counts(column.words.size(), 0);
    for (const int word : column.word_of) {
      if (word >= 0) ++counts[static_cast<std::size_t>(word)];
    }
    found.rows = column.word_of.size();
    const int first = column.word_of[0];
    found.only_first_is_word = first >= 0;
    for (std::size_t k = 0; k < column.words.size(); ++k) {
      const std::string& field = column.words[k];
      const bool number = is_number(field, settings.decimal);
      if (number) found.numbers += counts[k];
      if (!number) ++found.words;
      const bool lone = static_cast<int>(k) == first && counts[k] == 1;
      if (number == lone) found.only_first_is_word = false;
      const char mark = settings.decimal == ',' && field.find('.') != std::string::npos ? '.' : ',';
      if (in_groups(field, mark)) {
        found.grouped += counts[k];
      } else if (field.find(mark) != std::string::npos) {
        found.all_grouped = false;
      }
    }
  }
  return facts;
}

/// Columns whose every comma has three digits behind it, read as a decimal sign.
void note_thousands(const std::vector<ColumnFacts>& facts, Data& data) {
  for (std::size_t c = 0; c < facts.size(); ++c) {
    if (facts[c].grouped < 2 || !facts[c].all_grouped) continue;
    data.notes.push_back(data.name + ": column " + std::to_string(c + 1) +
                         ": every comma has three digits behind it, as those between thousands, "
                         "and is read as a decimal sign");
  }
}

/// The number behind `before` in a message; 0 where there is none.
[[nodiscard]] std::size_t number_behind(const std::string& what, std::string_view before) {
  const std::size_t at = what.find(before);
  std::size_t number = 0;
  if (at != std::string::npos) {
    std::from_chars(what.data() + at + before.size(), what.data() + what.size(), number);
  }
  return number;
}

/// What to type where a table is not understood: the message with it.
/// `trained`: by a model's columns, which are as they are.
[[nodiscard]] std::string with_cure(const std::string& what, const ReadOptions& options,
                                    bool labelled, bool trained, std::istream& stream,
                                    const bpm::TableSettings& settings) {
  if (what.ends_with("expected to be told which"))
    return what + ": say --header yes or --header no";
  const std::string label =
      labelled || !options.label.empty() ? "" : "; if that column is the label, name it by --label";
  if (what.find(": found the missing value ") != std::string::npos) {
    const bool is_label = what.ends_with("expected a label");
    if (trained && !is_label) return what + "; no row that trained missed one" + label;
    return is_label ? what : what + "; --missing mean or indicator fills it" + label;
  }
  const bool of_number = what.ends_with("expected a finite number");
  if (of_number || what.ends_with("fewer words for categories")) {
    const std::vector<ColumnFacts> facts = facts_of(stream, settings);
    const std::size_t column = number_behind(what, ": column ");
    const ColumnFacts of_column =
        column > 0 && column <= facts.size() ? facts[column - 1] : ColumnFacts{};
    if (of_column.grouped > 0 && of_column.all_grouped) {
      return what + "; the " + (options.decimal == '.' ? "commas" : "points") +
             " of this column stand between thousands: take them out" + label;
    }
    const std::size_t begin = what.find("found '");
    const std::size_t comma =
        begin == std::string::npos ? begin : what.find_first_not_of("+-0123456789", begin + 7);
    if (comma != std::string::npos && what[comma] == ',' && options.decimal == '.') {
      return what + "; --decimal , reads it" + label;
    }
    if (!trained && of_number && options.header == "auto" && of_column.only_first_is_word &&
        of_column.numbers > 0) {
      return what + "; if the first line holds names, say --header yes";
    }
    if (!trained && 2 * of_column.numbers > of_column.rows) {
      return what + "; " + std::to_string(of_column.numbers) +
             " fields of this column are numbers: if the word means that a value is missing, name "
             "it by --missing-words, "
             "and --missing mean or indicator fills it" +
             label;
    }
    if (!trained && of_number && of_column.words > 20) {
      return what + "; --ignore leaves the column out" + label;
    }
  }
  if (what.ends_with("fewer words for categories")) {
    return what + "; --ignore leaves the column out, --categories with its name takes it as it is";
  }
  if (what.ends_with("which is one of the features, expected it in another")) {
    return what + "; name it by --label";
  }
  if (trained && of_number) {
    return what + ", as in the rows that trained" + label;
  }
  if (of_number) {
    return what + "; --categories auto makes a column of each word" + label;
  }
  return what;
}

/// What to do where a file of LIBSVM's format is not understood: the message with it.
[[nodiscard]] std::string with_sparse_cure(const std::string& what) {
  if (what.find(": found index '0'") != std::string::npos) {
    return what +
           "; features count from 1 here: scikit-learn's dump_svmlight_file writes them so by "
           "zero_based=False";
  }
  if (what.ends_with("expected an integer label")) {
    const bool pair = what.find(':', what.find("found '")) != std::string::npos;
    return what +
           (pair ? "; a line begins with its label: put any number, such as 0, before each row"
                 : "; give each class a number");
  }
  return what;
}

/// Columns that were taken for words because of few fields among many numbers.
void note_doubtful_columns(const Data& data, const bpm::MixedTable& table,
                           std::vector<std::string>& notes) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const bpm::MixedTable::Column& column = table.columns[c];
    if (column.kind != bpm::MixedTable::Kind::words) continue;
    std::vector<bool> number;
    std::string first;
    for (const std::string& word : column.words) {
      number.push_back(is_number(word));
      if (!number.back() && first.empty()) first = word;
    }
    const auto numbers = std::ranges::count_if(column.word_of, [&](int word) {
      return word >= 0 && number[static_cast<std::size_t>(word)];
    });
    if (first.empty() || 2 * numbers <= std::ssize(column.word_of)) continue;
    notes.push_back(data.name + ": feature " + std::to_string(c + 1) +
                    (column.name.empty() ? "" : " ('" + column.name + "')") + " holds " +
                    std::to_string(numbers) + " numbers of " +
                    std::to_string(column.word_of.size()) +
                    ", and is taken for words because of '" + first +
                    "'; if that means a missing value, say --missing-words and --missing");
  }
}

/// Whether a line behind the first begins with '#' and has as many fields: a row then, such as of
/// colours, and no comment.
[[nodiscard]] bool has_rows_like_comments(std::istream& stream) {
  // What stands between fields, one of them at most in most files; else the words.
  const auto fields = [](const std::string& line) {
    const auto marks =
        std::ranges::count_if(line, [](char c) { return c == ',' || c == ';' || c == '\t'; });
    if (marks > 0) return marks;
    std::istringstream words(line);
    return -std::distance(std::istream_iterator<std::string>(words), {});
  };
  std::optional<std::ptrdiff_t> width;
  bool found = false;
  for (std::string line; !found && std::getline(stream, line);) {
    const std::size_t at = line.find_first_not_of(" \t\r");
    if (at == std::string::npos) continue;
    if (line[at] == '#') {
      found = width && *width == fields(line);
    } else if (!width) {
      width = fields(line);
    }
  }
  stream.clear();
  stream.seekg(0);
  return found;
}

/// A name that two columns have names none: then columns go by position, in all that the model is
/// asked about.
void drop_double_names(const ModelColumns& columns, Data& data) {
  if (columns.count > 0) return;
  std::vector<std::string> sorted = data.feature_names;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice == sorted.end()) return;
  data.notes.push_back(data.name + ": two columns have the name '" + *twice +
                       "': columns go by their position");
  data.feature_names.clear();
}

/// The fields of `--keep`, in its order, of a table whose header is known.
[[nodiscard]] bpm::MixedTable kept_columns(std::istream& stream, const ReadOptions& options,
                                           const std::vector<std::string>& fields, bool header,
                                           bpm::TableSettings settings, const std::string& name) {
  std::vector<std::size_t> places;
  for (const auto& column : columns_of(options.kept, "--keep")) {
    const auto* const number = std::get_if<Eigen::Index>(&column);
    const auto found = number != nullptr
                           ? std::next(fields.begin(), std::min(*number, std::ssize(fields)))
                       : header ? std::ranges::find(fields, std::get<std::string>(column))
                                : fields.end();
    if (found == fields.end()) {
      throw bpm::DataError(name + ": has no column " +
                           (number != nullptr ? std::to_string(*number + 1)
                                              : "'" + std::get<std::string>(column) + "'") +
                           " for --keep");
    }
    places.push_back(static_cast<std::size_t>(found - fields.begin()));
  }
  using Header = bpm::TableSettings::Header;
  settings.header = header ? Header::yes : Header::no;
  settings.label = bpm::TableSettings::LabelColumn::none;
  settings.features.clear();
  settings.ignored.clear();
  settings.kinds.clear();
  settings.words.clear();
  for (std::size_t c = 0; c < fields.size(); ++c) {
    const bool kept = std::ranges::find(places, c) != places.end();
    (kept ? settings.words : settings.ignored).emplace_back(static_cast<Eigen::Index>(c));
  }
  settings.missing = true;
  stream.clear();
  stream.seekg(0);
  const bpm::MixedTable table = bpm::read_mixed_table(stream, name, settings).inputs;
  bpm::MixedTable kept;
  for (const std::size_t place : places) {
    const auto before = std::ranges::count_if(settings.words, [&](const auto& one) {
      return std::get<Eigen::Index>(one) < static_cast<Eigen::Index>(place);
    });
    kept.columns.push_back(table.columns[static_cast<std::size_t>(before)]);
    if (!header) kept.columns.back().name = "column " + std::to_string(place + 1);
  }
  return kept;
}

/// A table, of numbers alone or not.
void read_any_table(std::unique_ptr<std::istream> file, const ReadOptions& options, bool labelled,
                    const ModelColumns& columns, const TrainingRows& training, Data& data) {
  bpm::TableSettings settings = table_settings(options, labelled);
  PlainText text = plain_text(std::move(file), data.name, settings);
  std::istream& stream = *text.stream;
  if (has_rows_like_comments(stream)) settings.comment = '\0';
  settings.features = columns.names;
  if (columns.encoding) {
    settings.features = columns.encoding->names();
    settings.kinds = columns.encoding->kinds();
    settings.missing = columns.encoding->fills();
  }
  const std::vector<std::string> fields = first_fields(stream, settings);
  if (columns.count > 0) {
    const std::vector<std::string> said = take_positions(
        {.known = columns.positions,
         .features = columns.encoding ? std::ssize(columns.encoding->columns) : columns.count,
         .labelled = labelled,
         .label_given = !options.label.empty(),
         .source = data.name},
        fields, settings);
    text.notes.insert(text.notes.end(), said.begin(), said.end());
  }
  const auto take = [&](auto table) {
    if (columns.count == 0 && labelled) data.positions = positions_of(fields, settings);
    data.labels = std::move(table.labels);
    data.class_names = std::move(table.class_names);
    data.feature_names = std::move(table.feature_names);
    data.notes = text.notes;
    data.notes.insert(data.notes.end(), table.notes.begin(), table.notes.end());
    drop_double_names(columns, data);
    return std::move(table.inputs);
  };
  const auto read = [&] {
    if (!settings.automatic_words && settings.words.empty() && settings.kinds.empty() &&
        !settings.missing && settings.missing_words.empty()) {
      data.inputs = take(bpm::read_table<double>(stream, data.name, settings));
      return;
    }
    const bpm::MixedTable table = take(bpm::read_mixed_table(stream, data.name, settings));
    if (settings.automatic_words) note_doubtful_columns(data, table, data.notes);
    data.encoding = columns.encoding;
    if (!data.encoding) {
      std::vector<bpm::PointIndex> rows;
      if (training) rows = training(static_cast<std::size_t>(table.rows()));
      data.encoding = bpm::TableEncoding::of(table, options.missing, rows);
      if (data.feature_names.empty()) {
        for (bpm::TableEncoding::Column& column : data.encoding->columns) column.name.clear();
      }
    }
    for (const std::string& note : data.encoding->unknown(table)) {
      data.notes.push_back(data.name + ": " + note);
    }
    data.inputs = data.encoding->apply(table);
    if (!data.feature_names.empty()) data.feature_names = data.encoding->feature_names();
  };
  try {
    read();
    if (!options.kept.empty()) {
      data.kept =
          kept_columns(stream, options, fields, !data.feature_names.empty(), settings, data.name);
    }
    if (settings.decimal == ',') note_thousands(facts_of(stream, settings), data);
  } catch (const bpm::DataError& error) {
    const std::string what = error.what();
    if (what.ends_with(" before the label") && settings.header != bpm::TableSettings::Header::no) {
      // No number of a column, but perhaps the name of one: a year.
      settings.label = options.label;
      stream.clear();
      stream.seekg(0);
      try {
        return read();
      } catch (const bpm::DataError& by_name) {
        const std::string second = by_name.what();
        if (second.find(": found no column ") == std::string::npos) {
          throw bpm::DataError(
              with_cure(second, options, labelled, columns.count > 0, stream, settings));
        }
        throw bpm::DataError(what + ", and no column has the name '" + options.label + "'");
      }
    }
    throw bpm::DataError(with_cure(what, options, labelled, columns.count > 0, stream, settings));
  } catch (const std::invalid_argument& error) {
    throw bpm::DataError(in_words_of(data.name, error.what()));
  }
}

[[nodiscard]] Data read_source(Source source, const std::string& path, const ReadOptions& options,
                               bool labelled, const ModelColumns& columns,
                               const TrainingRows& training = {}) {
  const std::string format = options.format == "auto" ? format_of(*source.stream) : options.format;
  const auto refuse_table_option = [&](bool given, const char* name) {
    if (given) {
      throw UsageError(std::string(name) + " is of tables; '" + source.name +
                       "' is read in the format " + format);
    }
  };
  Data data;
  data.name = source.name;
  data.format = format;
  if (options.sparse_columns > 0 && format != "libsvm") {
    throw UsageError("--features is of LIBSVM's format; '" + source.name +
                     "' is read in the format " + format);
  }
  if (format == "csv") {
    read_any_table(std::move(source.stream), options, labelled, columns, training, data);
    check_columns(data, columns.count, options, true, labelled);
    if (!columns.names.empty() && data.feature_names.empty()) {
      data.notes.push_back(data.name + ": has no header, columns are taken by position");
    } else if (columns.count > 0 && columns.names.empty() && !data.feature_names.empty()) {
      data.notes.push_back(data.name +
                           ": the model has no names of columns, they are taken by "
                           "position");
    }
    return data;
  }
  refuse_table_option(options.header != "auto", "--header");
  refuse_table_option(!options.ignored.empty(), "--ignore");
  refuse_table_option(!options.kept.empty(), "--keep");
  refuse_table_option(!options.categories.empty(), "--categories");
  refuse_table_option(options.missing != bpm::TableEncoding::Missing::error, "--missing");
  refuse_table_option(!options.missing_words.empty(), "--missing-words");
  refuse_table_option(options.decimal != '.', "--decimal");
  if (format == "libsvm") {
    refuse_table_option(!options.label.empty() && options.label != "first", "--label");
    const auto read = [&] {
      try {
        return bpm::read_svmlight_sparse<double>(
            *source.stream, source.name,
            columns.count > 0 ? columns.count : options.sparse_columns);
      } catch (const bpm::DataError& error) {
        throw bpm::DataError(with_sparse_cure(error.what()));
      }
    };
    auto rows = read();
    data.notes = std::move(rows.notes);
    // Without it the file is asked about: the number is there, and may be anything.
    if (labelled || !options.label.empty()) data.labels = std::move(rows.labels);
    data.inputs = packed(std::move(rows.inputs));
    return data;
  }
  if (path == "-" && options.label.empty() && labelled) {
    throw UsageError("--label: images from standard input need the file of their labels");
  }
  data.inputs = bpm::read_idx_images(*source.stream, source.name);
  if (labelled || !options.label.empty()) {
    const std::string labels = idx_labels(path, options);
    Source named = open_source(labels);
    data.labels = bpm::read_idx_labels(*named.stream, named.name);
    if (std::ssize(data.labels) != data.rows()) {
      throw bpm::DataError(path + ": holds " + std::to_string(data.rows()) + " images, " + labels +
                           " " + std::to_string(data.labels.size()) + " labels");
    }
  }
  check_columns(data, columns.count, options, false, labelled);
  return data;
}

/// The message, which may begin with a line of `source`, where so many lines more stand before.
[[nodiscard]] std::string with_later_line(std::string what, std::size_t after, std::size_t more) {
  const std::string source = std::string(standard_input) + ":";
  const std::size_t line = what.starts_with(source) ? number_behind(what, source) : 0;
  if (line <= after) return what;
  return what.replace(source.size(), std::to_string(line).size(), std::to_string(line + more));
}

}  // namespace

Eigen::Index Data::rows() const {
  return std::visit([](const auto& rows) { return Eigen::Index{rows.rows()}; }, inputs);
}
Eigen::Index Data::columns() const {
  return std::visit([](const auto& rows) { return Eigen::Index{rows.cols()}; }, inputs);
}

Data Data::part(std::span<const bpm::PointIndex> points) const {
  Data result{std::visit([&](const auto& rows) -> Inputs { return rows_of(rows, points); }, inputs),
              {},
              class_names,
              feature_names,
              encoding,
              positions,
              {},
              name,
              format};
  if (!labels.empty()) {
    for (const bpm::PointIndex i : points) {
      result.labels.push_back(labels[static_cast<std::size_t>(i)]);
    }
  }
  return result;
}

Data read_data(const std::string& path, const ReadOptions& options, bool labelled,
               const ModelColumns& columns, const TrainingRows& training) {
  return read_source(open_source(path), path, options, labelled, columns, training);
}

void read_standard_input(const ReadOptions& options, const ModelColumns& columns,
                         const std::function<bool(Data)>& take) {
  ReadOptions now = options;
  const auto read = [&](std::string text) {
    return read_source({std::make_unique<std::istringstream>(std::move(text)), standard_input}, "-",
                       now, false, columns);
  };
  constexpr std::size_t most = std::size_t{1} << 22U;
  std::string bytes;  // Not yet in a block.
  bool more = true;
  while (more && bytes.size() < 3) more = read_more(bytes, most);
  if (now.format == "idx" || bytes.starts_with(std::string("\0\0\x08", 3)) ||
      bytes.starts_with("\x1f\x8b")) {
    // No lines: images, or packed. What was read is put back, as a file.
    while (more) more = read_more(bytes, most);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
    if (!file || std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size() ||
        std::fseek(file.get(), 0, SEEK_SET) != 0 ||
        ::dup2(::fileno(file.get()), STDIN_FILENO) < 0) {
      throw bpm::DataError(std::string(standard_input) + ": no temporary file can be written");
    }
    take(read_data("-", options, false, columns));
    return;
  }
  const auto is_blank = [](std::string_view line) {
    return line.find_first_not_of(" \r\n") == std::string_view::npos;
  };
  // The first lines say how all are read: each block of a table begins with those up to its second
  // row, whose answers are known.
  std::string head;
  std::size_t head_lines = 0;
  std::size_t head_rows = 0;
  std::size_t content = 0;  // Lines of it that are neither blank nor comments.
  std::size_t next = 0;     // So many may be enough.
  std::size_t lines = 0;    // Of all blocks.
  std::size_t rows = 0;
  bool settled = false;
  const auto take_head = [&](Data data) {
    data.repeated = data.rows_before = head_rows;
    rows = head_rows = static_cast<std::size_t>(data.rows());
    now.format = data.format;
    if (data.format == "csv") now.header = data.feature_names.empty() ? "no" : "yes";
    settled = head_rows > 1 || data.format == "libsvm";
    if (data.format == "libsvm") {
      head.clear();
      head_lines = head_rows = 0;
    }
    return take(std::move(data));
  };
  for (;;) {
    std::size_t end = 0;
    while (!settled && end < bytes.size()) {
      const std::size_t stop = std::min(bytes.find('\n', end), bytes.size() - 1) + 1;
      if (more && bytes[stop - 1] != '\n') break;
      const std::string line = bytes.substr(end, stop - end);
      end = stop;
      head += line;
      ++head_lines;
      lines = head_lines;
      if (is_blank(line)) continue;
      content += line.starts_with('#') || line.starts_with('%') ? 0U : 1U;
      if (content == 0 || (head_lines < next && end < bytes.size())) continue;
      // Whether it has names is seen by the second line.
      std::istringstream first(head);
      if (content < 2 && now.header == "auto" && format_of(first) == "csv") continue;
      std::optional<Data> data;
      try {
        data = read(head);
      } catch (const bpm::DataError& error) {
        // The head of ARFF, and names without one of the rows' names, are followed by more lines.
        const bool ends_early =
            std::string_view(error.what()).find(": found the end") != std::string_view::npos;
        if (content > 2 && !ends_early) throw;
        next = head_lines + 1 + head_lines / 4;  // Thousands of attributes are not read as often.
        continue;
      }
      if (!take_head(std::move(*data))) return;
    }
    bytes.erase(0, end);
    if (!settled && !more) {
      take_head(read(head));
      return;
    }
    end = settled ? (more ? bytes.rfind('\n') + 1 : bytes.size()) : 0;
    // Blank lines between others may be rows.
    while (more && end > 0) {
      const std::size_t begin = end > 1 ? bytes.rfind('\n', end - 2) + 1 : 0;
      if (!is_blank(std::string_view(bytes).substr(begin, end - begin))) break;
      end = begin;
    }
    if (end > 0) {
      const auto block = bytes.begin() + static_cast<std::ptrdiff_t>(end);
      Data data;
      try {
        data = read(head + bytes.substr(0, end));
      } catch (const bpm::DataError& error) {
        throw bpm::DataError(with_later_line(error.what(), head_lines, lines - head_lines));
      }
      data.repeated = head_rows;
      data.rows_before = rows;
      rows += static_cast<std::size_t>(data.rows()) - head_rows;
      if (!take(std::move(data))) return;
      lines += static_cast<std::size_t>(std::count(bytes.begin(), block, '\n'));
      bytes.erase(bytes.begin(), block);
    }
    if (!more) return;
    more = read_more(bytes, most);
  }
}

std::optional<Eigen::Index> zero_row(const Inputs& inputs) {
  return std::visit(
      [](const auto& rows) -> std::optional<Eigen::Index> {
        for (Eigen::Index i = 0; i < rows.rows(); ++i) {
          if (rows.row(i).template cast<double>().squaredNorm() == 0) return i;
        }
        return std::nullopt;
      },
      inputs);
}

bpm::RowMatrix<double> dense_numbers(const Inputs& inputs, std::size_t most) {
  return std::visit(
      [most]<class Rows>(const Rows& rows) -> bpm::RowMatrix<double> {
        if (static_cast<double>(rows.rows()) * static_cast<double>(rows.cols()) * sizeof(double) >
            static_cast<double>(most)) {
          throw bpm::BudgetTooSmall(
              std::to_string(rows.rows()) + " rows of " + std::to_string(rows.cols()) +
              " features, dense, take more than " + std::to_string(most) +
              " bytes; give a larger --memory, or leave out --standardise, and "
              "--sampler but perceptron");
        }
        if constexpr (std::same_as<Rows, bpm::SparseRowMatrix<double>>) {
          return bpm::RowMatrix<double>(rows);
        } else {
          return rows.template cast<double>();
        }
      },
      inputs);
}

}  // namespace bpm_examples
