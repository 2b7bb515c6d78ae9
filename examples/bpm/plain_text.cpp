// SPDX-License-Identifier: MIT
#include "plain_text.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>

#include "bpm/core/errors.hpp"
#include "bpm/data/table.hpp"

namespace bpm_examples {

namespace {

[[nodiscard]] std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// The text's first word, in lower case.
[[nodiscard]] std::string keyword(std::string_view text) {
  std::string word(text.substr(0, text.find_first_of(" \t")));
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
  return word;
}

[[nodiscard]] std::string all_of(std::istream& stream) {
  std::string text((std::istreambuf_iterator<char>(stream)), {});
  stream.clear();
  stream.seekg(0);
  return text;
}

/// The first lines, as far as 64 KB hold them.
struct Beginning {
  std::string bytes;
  std::vector<std::string_view> lines{};

  explicit Beginning(std::istream& stream) : bytes(std::size_t{1} << 16U, '\0') {
    stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(stream.gcount()));
    stream.clear();
    stream.seekg(0);
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
      lines.emplace_back(std::string_view(bytes).substr(at, end - at));
      at = end + 1;
    }
  }
};

/// How many fields a line has between delimiters outside quotes; by blanks, runs of them.
[[nodiscard]] std::size_t count_fields(std::string_view line, char delimiter) {
  std::size_t count = 0;
  bool quoted = false;
  bool inside = false;
  for (const char c : delimiter == ' ' ? trimmed(line) : line) {
    quoted = quoted != (c == '"');
    const bool between = !quoted && (delimiter == ' ' ? c == ' ' || c == '\t' : c == delimiter);
    if (delimiter == ' ') {
      count += !between && !inside ? 1 : 0;
    } else {
      count += between ? 1 : 0;
    }
    inside = !between;
  }
  return delimiter == ' ' ? count : count + 1;
}

/// One of comma, semicolon and tab that stands outside quotes, else '|' that as many stand of in
/// the next line, else a blank.
[[nodiscard]] char delimiter_of(std::string_view line, std::string_view next, char decimal) {
  bool quoted = false;
  for (const char c : line) {
    quoted = quoted != (c == '"');
    if (!quoted && (c == ',' || c == ';' || c == '\t') && c != decimal) return c;
  }
  const std::size_t bars = count_fields(line, '|');
  return bars > 1 && count_fields(next, '|') == bars ? '|' : ' ';
}

// --- ARFF, of Weka and OpenML --------------------------------------------------------------------

/// A name or value with the quotes that tables have: ARFF's are single too, with backslashes.
[[nodiscard]] std::string in_double_quotes(std::string_view text) {
  std::string quoted = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    quoted += text[i];
    if (text[i] == '"') quoted += '"';
  }
  return quoted + '"';
}

/// The end of a quoted text that begins at `at`; npos where there is none.
[[nodiscard]] std::size_t closing_quote(std::string_view line, std::size_t at) {
  const char mark = line[at];
  for (++at; at < line.size() && line[at] != mark; ++at) {
    if (line[at] == '\\') ++at;
  }
  return at < line.size() ? at : std::string_view::npos;
}

/// A row of ARFF as one of a table.
[[nodiscard]] std::string arff_row(std::string_view line) {
  std::string row;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const std::size_t end =
        line[at] == '\'' || line[at] == '"' ? closing_quote(line, at) : std::string_view::npos;
    if (end == std::string_view::npos) {
      row += line[at];
    } else {
      row += in_double_quotes(line.substr(at + 1, end - at - 1));
      at = end;
    }
  }
  return row;
}

[[nodiscard]] std::string table_of_arff(const std::string& text, const std::string& name,
                                        bpm::TableSettings& settings) {
  struct Attribute {
    std::string name;
    bool is_number;
  };
  std::vector<Attribute> attributes;
  std::string names;
  std::string table;
  bool data = false;
  std::size_t number = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string_view content = trimmed(line);
    if (data) {
      if (content.starts_with('{')) {
        throw bpm::DataError(name + ":" + std::to_string(number) +
                             ": found a sparse row of ARFF, expected a value of each attribute; "
                             "write it in LIBSVM's format");
      }
      if (!content.starts_with('%')) table += arff_row(content);
    } else if (const std::string word = keyword(content); word == "@attribute") {
      std::string_view rest = trimmed(content.substr(word.size()));
      std::size_t end = rest.find_first_of(" \t{");
      std::string_view own = rest.substr(0, end);
      if (rest.starts_with('\'') || rest.starts_with('"')) {
        end = closing_quote(rest, 0);
        if (end != std::string_view::npos) own = rest.substr(1, end++ - 1);
      }
      if (end == std::string_view::npos) {
        throw bpm::DataError(name + ":" + std::to_string(number) +
                             ": found an attribute of ARFF without a type, expected one");
      }
      names += (names.empty() ? "" : ",") + in_double_quotes(own);
      const std::string type = keyword(trimmed(rest.substr(end)));
      attributes.push_back(
          {std::string(own), type == "numeric" || type == "real" || type == "integer"});
    } else if (word == "@data") {
      data = true;
      table += names;
    }
    table += '\n';
  }
  if (names.empty() || !data) {
    throw bpm::DataError(name + ":" + std::to_string(number) +
                         ": found the end of an ARFF file, expected @attribute and @data");
  }
  settings.delimiter = ',';
  settings.comment = '\0';
  settings.header = bpm::TableSettings::Header::yes;
  if (settings.words.empty() && !settings.automatic_words && settings.kinds.empty()) {
    const auto* const index = std::get_if<Eigen::Index>(&settings.label);
    const auto* const label_name = std::get_if<std::string>(&settings.label);
    const auto* const place = std::get_if<bpm::TableSettings::LabelColumn>(&settings.label);
    for (std::size_t i = 0; i < attributes.size(); ++i) {
      using Label = bpm::TableSettings::LabelColumn;
      const bool label =
          (index != nullptr && static_cast<std::size_t>(*index) == i) ||
          (label_name != nullptr && *label_name == attributes[i].name) ||
          (place != nullptr && ((*place == Label::last && i + 1 == attributes.size()) ||
                                (*place == Label::first && i == 0)));
      if (!label && !attributes[i].is_number) settings.words.emplace_back(attributes[i].name);
    }
  }
  return table;
}

// --- Others --------------------------------------------------------------------------------------

/// Whether a line is neither blank nor a comment.
[[nodiscard]] bool is_of_table(std::string_view line, const bpm::TableSettings& settings) {
  const std::string_view text = trimmed(line);
  return !text.empty() && (settings.comment == '\0' || !text.starts_with(settings.comment));
}

/// Whether the first line has one field fewer than the two that follow, and letters: R's names of
/// columns, without one for the names of rows. A delimiter at the end of rows is none of this.
[[nodiscard]] bool lacks_a_name(const std::vector<std::string_view>& lines, char delimiter) {
  if (lines.size() < 3) return false;
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
  const std::size_t names = count_fields(lines[0], delimiter);
  return names > 1 && std::ranges::any_of(lines[0], is_letter) &&
         count_fields(lines[1], delimiter) == names + 1 &&
         count_fields(lines[2], delimiter) == names + 1 &&
         (delimiter == ' ' || !trimmed(lines[1]).ends_with(delimiter));
}

}  // namespace

PlainText plain_text(std::unique_ptr<std::istream> stream, const std::string& name,
                     bpm::TableSettings& settings) {
  const auto text_of = [](std::string text) {
    return PlainText{std::make_unique<std::istringstream>(std::move(text))};
  };
  Beginning beginning(*stream);
  const std::string& bytes = beginning.bytes;
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff")) {
    throw bpm::DataError(name +
                         ": found text in UTF-16, expected UTF-8: save it so, or convert it by "
                         "iconv -f UTF-16 -t UTF-8");
  }
  if (bytes.find('\r') != std::string::npos && bytes.find('\n') == std::string::npos) {
    std::string text = all_of(*stream);
    std::ranges::replace(text, '\r', '\n');
    return plain_text(std::make_unique<std::istringstream>(std::move(text)), name, settings);
  }
  auto& lines = beginning.lines;
  const auto blank = [](std::string_view line) { return trimmed(line).empty(); };
  const auto first = std::ranges::find_if_not(
      lines, [&](std::string_view line) { return blank(line) || trimmed(line).starts_with('%'); });
  if (first != lines.end() && keyword(trimmed(*first)) == "@relation") {
    return text_of(table_of_arff(all_of(*stream), name, settings));
  }
  if (lines.empty()) return {std::move(stream)};
  if (const std::string_view line = trimmed(lines[0]);
      line.size() == 5 && keyword(line.substr(0, 3)) == "sep" && line[3] == '=') {
    if (settings.delimiter == '\0') settings.delimiter = line[4];
    std::string text = all_of(*stream);
    text.erase(0, std::min(text.find('\n'), text.size()));
    return text_of(std::move(text));
  }
  std::erase_if(lines, [&](std::string_view line) { return !is_of_table(line, settings); });
  if (settings.delimiter != '\0' || lines.size() < 2) return {std::move(stream)};
  const char delimiter = delimiter_of(lines[0], lines[1], settings.decimal);
  if (delimiter == '|') settings.delimiter = '|';
  if (settings.header == bpm::TableSettings::Header::no || !lacks_a_name(lines, delimiter)) {
    return {std::move(stream)};
  }
  std::string text = all_of(*stream);
  text.insert(static_cast<std::size_t>(lines[0].data() - bytes.data()),
              std::string("\"row names\"") + delimiter);
  settings.header = bpm::TableSettings::Header::yes;
  settings.ignored.emplace_back(Eigen::Index{0});
  PlainText result = text_of(std::move(text));
  result.notes.push_back(name +
                         ": the first line has a name fewer than the rows have fields: the first "
                         "column is taken for names of rows, and ignored");
  return result;
}

std::vector<std::string> first_fields(std::istream& stream, const bpm::TableSettings& settings) {
  stream.clear();
  stream.seekg(0);
  std::string line;
  while (std::getline(stream, line) && !is_of_table(line, settings)) line.clear();
  stream.clear();
  stream.seekg(0);
  // Read as names, with itself for a row.
  std::istringstream twice(line + '\n' + line);
  try {
    return bpm::read_mixed_table(twice, "",
                                 {.delimiter = settings.delimiter,
                                  .header = bpm::TableSettings::Header::yes,
                                  .label = bpm::TableSettings::LabelColumn::none,
                                  .comment = settings.comment,
                                  .decimal = settings.decimal,
                                  .automatic_words = true,
                                  .missing = true})
        .feature_names;
  } catch (const bpm::DataError&) {
    return {};
  } catch (const std::invalid_argument&) {  // A delimiter that is none.
    return {};
  }
}

}  // namespace bpm_examples
