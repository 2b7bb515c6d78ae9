// SPDX-License-Identifier: MIT
#include "positions.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <variant>

#include "bpm/core/errors.hpp"

namespace bpm_examples {

namespace {

using Column = std::variant<Eigen::Index, std::string>;
using Fields = std::vector<std::string>;
using Columns = std::vector<Eigen::Index>;

[[nodiscard]] bool is_in(const Columns& columns, Eigen::Index column) {
  return std::ranges::find(columns, column) != columns.end();
}

/// The column's number; that of no field where there is none.
[[nodiscard]] Eigen::Index place_of(const Column& column, const Fields& fields) {
  const auto* const index = std::get_if<Eigen::Index>(&column);
  if (index != nullptr) return *index;
  return std::ranges::find(fields, std::get<std::string>(column)) - fields.begin();
}

[[nodiscard]] Columns ignored_by(const bpm::TableSettings& settings, const Fields& fields) {
  Columns ignored;
  for (const Column& column : settings.ignored) ignored.push_back(place_of(column, fields));
  std::ranges::sort(ignored);
  const auto twice = std::ranges::unique(ignored);
  ignored.erase(twice.begin(), twice.end());
  return ignored;
}

/// The columns of a table that are left when some are taken out.
[[nodiscard]] Columns others(Eigen::Index width, const Columns& out) {
  Columns left;
  for (Eigen::Index c = 0; c < width; ++c) {
    if (!is_in(out, c)) left.push_back(c);
  }
  return left;
}

[[nodiscard]] Eigen::Index label_by(const bpm::TableSettings& settings, const Fields& fields,
                                    const Columns& ignored) {
  using Label = bpm::TableSettings::LabelColumn;
  if (const auto* const place = std::get_if<Label>(&settings.label)) {
    const Columns left = others(std::ssize(fields), ignored);
    if (left.empty()) return -1;
    return *place == Label::first ? left.front() : left.back();
  }
  const auto* const index = std::get_if<Eigen::Index>(&settings.label);
  return place_of(index != nullptr ? Column(*index) : std::get<std::string>(settings.label),
                  fields);
}

/// "column 4 is ignored", "columns 4, 7 are ignored".
[[nodiscard]] std::string ignored_words(const Columns& ignored) {
  std::string text = ignored.size() == 1 ? "column " : "columns ";
  for (std::size_t i = 0; i < ignored.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(ignored[i] + 1);
  }
  return text + (ignored.size() == 1 ? " is ignored" : " are ignored");
}

[[nodiscard]] std::string label_words(Eigen::Index label) {
  return "the label is in column " + std::to_string(label + 1);
}

void ignore(const Columns& columns, bpm::TableSettings& settings) {
  for (const Eigen::Index c : columns) settings.ignored.emplace_back(c);
}

/// Where the user names the label, ignored columns, or both.
[[nodiscard]] std::vector<std::string> take_the_rest(const PositionsWanted& wanted,
                                                     const Fields& fields,
                                                     bpm::TableSettings& settings) {
  const Positions& known = wanted.known;
  const Eigen::Index width = std::ssize(fields);
  const Columns given = ignored_by(settings, fields);
  const bool whole = width == wanted.features + 1 + std::ssize(known.ignored);
  if (wanted.label_given) {
    if (!given.empty() || known.ignored.empty() || !whole) return {};
    Columns ignored = known.ignored;
    if (!std::holds_alternative<bpm::TableSettings::LabelColumn>(settings.label)) {
      std::erase(ignored, label_by(settings, fields, given));
    }
    ignore(ignored, settings);
    if (ignored.empty()) return {};
    return {wanted.source + ": as in training " + ignored_words(ignored)};
  }
  if (!wanted.labelled) {
    if (!whole || given != known.ignored) return {};
    ignore({known.label_among(wanted.features)}, settings);
    return {wanted.source + ": as in training " + known.words(wanted.features)};
  }
  const Columns left = others(width, given);
  if (!known.label || std::ssize(left) != wanted.features + 1) return {};
  const Eigen::Index label = *known.label;
  const auto before = std::ranges::count_if(known.ignored, [&](auto c) { return c < label; });
  const Eigen::Index place = left[static_cast<std::size_t>(label - before)];
  settings.label = place;
  return {wanted.source + ": as in training " + label_words(place)};
}

}  // namespace

Eigen::Index Positions::label_among(Eigen::Index features) const {
  return label.value_or(others(features + 1 + std::ssize(ignored), ignored).back());
}

std::string Positions::words(Eigen::Index features) const {
  return label_words(label_among(features)) +
         (ignored.empty() ? "" : ", " + ignored_words(ignored));
}

Positions positions_of(const Fields& fields, const bpm::TableSettings& settings) {
  Positions found;
  found.ignored = ignored_by(settings, fields);
  const Eigen::Index label = label_by(settings, fields, found.ignored);
  const Columns left = others(std::ssize(fields), found.ignored);
  if (!left.empty() && label != left.back()) found.label = label;
  return found;
}

std::vector<std::string> take_positions(const PositionsWanted& wanted, const Fields& fields,
                                        bpm::TableSettings& settings) {
  const Positions& known = wanted.known;
  const bool no_header = settings.header == bpm::TableSettings::Header::no;
  const bool named = !settings.features.empty();
  if (known.usual() ||
      (named && !no_header && std::ranges::all_of(settings.features, [&](const std::string& name) {
         return std::ranges::find(fields, name) != fields.end();
       }))) {
    return {};
  }
  if (wanted.label_given || !settings.ignored.empty()) {
    return take_the_rest(wanted, fields, settings);
  }
  const Eigen::Index width = std::ssize(fields);
  if (width < 2) return {};  // Nothing there, or another delimiter: who reads it says so.
  const Eigen::Index whole = wanted.features + 1 + std::ssize(known.ignored);
  const Eigen::Index label = known.label_among(wanted.features);
  const auto take_label = [&](Eigen::Index place) {
    if (wanted.labelled) {
      settings.label = place;
    } else {
      ignore({place}, settings);
    }
  };
  if (width == whole) {
    take_label(label);
    ignore(known.ignored, settings);
    return {wanted.source + ": as in training " + known.words(wanted.features)};
  }
  if (!wanted.labelled && width == wanted.features) return {};
  // Without what was ignored the label stands elsewhere, and the other way around.
  Eigen::Index alone = label;
  Columns without_label;
  for (const Eigen::Index c : known.ignored) {
    if (c < label) --alone;
    without_label.push_back(c > label ? c - 1 : c);
  }
  const bool lacks_ignored = !known.ignored.empty() && width == wanted.features + 1;
  const bool lacks_label = !known.ignored.empty() && !wanted.labelled && width == whole - 1;
  if (lacks_label && (!lacks_ignored || without_label.front() == alone)) {
    ignore(without_label, settings);
    return {wanted.source +
            ": has the columns of training without the label: " + ignored_words(without_label)};
  }
  if (lacks_ignored && !lacks_label) {
    take_label(alone);
    return {wanted.source +
            ": has the columns of training without those ignored: " + label_words(alone)};
  }
  // A header that lacks some of the model's names is refused by these when it is read.
  if (named && !no_header) return {};
  if (lacks_label) {
    throw bpm::DataError(
        wanted.source + ": found " + std::to_string(width) +
        " columns, which are those of training without the label or without the one ignored; say "
        "--ignore " +
        std::to_string(without_label.front() + 1) + " where the label is missing, --label " +
        std::to_string(alone + 1) + " where it is not");
  }
  throw bpm::DataError(wanted.source + ": found " + std::to_string(width) + " columns, expected " +
                       std::to_string(whole) + " as in training, where " +
                       known.words(wanted.features) +
                       "; say by --label and --ignore what is no feature");
}

}  // namespace bpm_examples
