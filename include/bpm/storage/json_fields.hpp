// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/decision/rejection.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/fit_warnings.hpp"
#include "bpm/machine/input_encoding.hpp"
#include "bpm/samplers/sampler.hpp"

/// \file
/// What a fit leaves beside its classifier as JSON, and back: the fields of a structure by their
/// names, infinity as null, an empty optional left out.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

template <class S, class T>
concept Either = std::same_as<std::remove_const_t<S>, T>;

/// A field that older files do not have, and that is left out where it has this value.
template <class T, class Visit>
void visit_unless(const std::remove_const_t<T>& usual, const char* name, T& value, Visit&& visit) {
  std::optional<std::remove_const_t<T>> unusual;
  if (value != usual) unusual = value;
  visit(name, unusual);
  if constexpr (!std::is_const_v<T>) value = unusual.value_or(usual);
}

/// What a classifier's parts have that the first files do not.
template <class Parts, class Visit>
void visit_later(Parts& parts, Visit&& visit) {
  visit_unless({}, "feature_names", parts.feature_names, visit);
  visit("encoding", parts.encoding);
  visit_unless({}, "offsets", parts.offsets, visit);
  visit_unless(true, "offsets_move_labels", parts.offsets_move_labels, visit);
  visit_unless(0, "probability_rows", parts.probability_rows, visit);
}

template <Either<ChoiceCandidate> S, class Visit>
void visit_fields(S& s, Visit&& visit) {
  visit("kernel", s.kernel);
  visit("relative_lambda", s.relative_lambda);
  visit("label_noise", s.label_noise);
  visit_unless(0, "bias", s.bias, visit);
  visit("consistent", s.consistent);
  visit("loss", s.loss);
  visit("standard_error", s.standard_error);
  visit("slope", s.slope);
  visit_unless({}, "offsets", s.offsets, visit);
  visit("error", s.error);
}
template <Either<BoundaryChoice> S, class Visit>
void visit_fields(S& s, Visit&& visit) {
  visit("relative_lambda", s.relative_lambda);
  visit("label_noise", s.label_noise);
  visit("slope", s.slope);
  visit_unless({}, "offsets", s.offsets, visit);
  visit_unless(0, "growth", s.growth, visit);
  visit_unless(0, "draw_chance", s.draw_chance, visit);
  visit_unless(0, "fold_rows", s.fold_rows, visit);
  visit_unless(0, "fold_draws", s.fold_draws, visit);
  visit("points", s.points);
  visit("largest_class", s.largest_class);
  visit("candidates", s.candidates);
  visit("raised", s.raised);
}
template <Either<TableEncoding::Column> S, class Visit>
void visit_fields(S& s, Visit&& visit) {
  visit("name", s.name);
  visit("kind", s.kind);
  visit_unless({}, "categories", s.categories, visit);
  visit("fill", s.fill);
  visit_unless(false, "indicator", s.indicator, visit);
}
template <Either<TableEncoding> S, class Visit>
void visit_fields(S& s, Visit&& visit) {
  visit("columns", s.columns);
}
template <Either<FitWarning> S, class Visit>
void visit_fields(S& s, Visit&& visit) {
  visit("kind", s.kind);
  visit("found", s.found);
  visit("compared", s.compared);
  visit("standard_error", s.standard_error);
  visit("label", s.label);
}
template <Either<Rejection> S, class Visit>
void visit_fields(S& s, Visit&& visit) {
  visit("score", s.score);
  // Minus infinity, which accepts everything and is no number of JSON, is left out.
  constexpr double everything = Rejector{}.threshold;
  std::optional<double> threshold;
  if (s.rejector.threshold != everything) threshold = s.rejector.threshold;
  visit("threshold", threshold);
  if constexpr (!std::is_const_v<S>) s.rejector.threshold = threshold.value_or(everything);
}
template <Either<PerceptronCounts> S, class Visit>
void visit_fields(S& s, Visit&& visit) {
  visit("mistakes", s.mistakes);
  visit("passes", s.passes);
  visit("training_errors", s.training_errors);
}
template <Either<ChainReport> S, class Visit>
void visit_fields(S& s, Visit&& visit) {
  visit("steps", s.steps);
  visit("refreshes", s.refreshes);
  visit("repairs", s.repairs);
  visit("chains", s.chains);
  visit("burn_in", s.burn_in);
  visit("path_length", s.path_length);
  visit("refresh_length", s.refresh_length);
  visit("standard_error", s.standard_error);
  visit("effective_draws", s.effective_draws);
  visit("chain_angle", s.chain_angle);
  visit("mean_norm", s.mean_norm);
  visit("mean_errors", s.mean_errors);
  visit("rank", s.rank);
  visit("residual", s.residual);
  visit("start_margin", s.start_margin);
}
template <Either<SamplerReport> S, class Visit>
void visit_fields(S& s, Visit&& visit) {
  visit("draws", s.draws);
  visit("converged", s.converged);
  visit("stopped", s.stopped);
  visit("reason", s.reason);
  visit("advice", s.advice);
  visit("kernel_evaluations", s.kernel_evaluations);
  visit("kernel_seconds", s.kernel_seconds);
  visit("perceptron", s.perceptron);
  visit("mistaken_points", s.mistaken_points);
  visit("chains", s.chains);
}
template <Either<MemoryForecast> S, class Visit>
void visit_fields(S& s, Visit&& visit) {
  visit("strategy", s.strategy);
  visit("kernel_bytes", s.kernel_bytes);
  visit("sampler_bytes", s.sampler_bytes);
  visit("model_bytes", s.model_bytes);
  visit("choosing_bytes", s.choosing_bytes);
  visit("kept_rows", s.kept_rows);
  visit("draws_at_once", s.draws_at_once);
  visit("threads", s.threads);
}

/// The words for the values of an enum, in their order.
template <class Enum>
struct EnumWords;
template <>
struct EnumWords<MixedTable::Kind> {
  static constexpr std::array<std::string_view, 2> words{"numbers", "words"};
};
template <>
struct EnumWords<FitWarning::Kind> {
  static constexpr std::array<std::string_view, 5> words{
      "worse_than_its_draws", "class_never_predicted", "no_better_than_largest_class",
      "width_far_from_distances", "columns_differ_in_scale"};
};
template <>
struct EnumWords<SamplerReport::Advice> {
  static constexpr std::array<std::string_view, 2> words{"soften_or_raise_limits", "in_reason"};
};
template <>
struct EnumWords<Strategy> {
  /// The last was a windowed one that kept rows.
  static constexpr std::array<std::string_view, 5> words{
      to_string(Strategy::dense), to_string(Strategy::windowed), to_string(Strategy::precomputed),
      to_string(Strategy::linear), "windowed+rows"};
};

template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
[[nodiscard]] nlohmann::json to_json_value(const T& value) {
  if constexpr (std::same_as<T, bool> || std::integral<T> || std::same_as<T, std::string>) {
    return value;
  } else if constexpr (std::floating_point<T>) {
    check(value > -std::numeric_limits<T>::infinity(), "save", "the classifier", "has the number ",
          value, ", which no model holds");
    return value == std::numeric_limits<T>::infinity() ? nlohmann::json() : nlohmann::json(value);
  } else if constexpr (std::is_enum_v<T>) {
    return EnumWords<T>::words[static_cast<std::size_t>(value)];
  } else if constexpr (is_list<T>) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& one : value) list.push_back(to_json_value(one));
    return list;
  } else {
    nlohmann::json object = nlohmann::json::object();
    visit_fields(value, [&](const char* name, const auto& field) {
      if constexpr (is_optional<std::remove_cvref_t<decltype(field)>>) {
        if (field) object[name] = to_json_value(*field);
      } else {
        object[name] = to_json_value(field);
      }
    });
    return object;
  }
}

/// \throws DataError that begins with `where` on a value of another kind or out of range.
template <class T>
void from_json_value(const nlohmann::json& json, T& value, const std::string& where) {
  const auto sound = [&](bool holds, std::string_view kind) {
    ensure<DataError>(holds, where, " is no ", kind);
  };
  if constexpr (std::same_as<T, bool>) {
    sound(json.is_boolean(), "boolean");
    value = json.get<bool>();
  } else if constexpr (std::integral<T>) {
    sound(json.is_number_integer(), "whole number");
    const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<std::uint64_t>())
                                                : std::in_range<T>(json.get<std::int64_t>());
    ensure<DataError>(fits, where, " is ", json.dump(), ", which is out of range");
    value = json.get<T>();
  } else if constexpr (std::floating_point<T>) {
    sound(json.is_number() || json.is_null(), "number");
    value = json.is_null() ? std::numeric_limits<T>::infinity() : json.get<T>();
  } else if constexpr (std::same_as<T, std::string>) {
    sound(json.is_string(), "string");
    value = json.get<std::string>();
  } else if constexpr (std::is_enum_v<T>) {
    sound(json.is_string(), "string");
    const auto& words = EnumWords<T>::words;
    const auto found = std::find(words.begin(), words.end(), json.get<std::string>());
    ensure<DataError>(found != words.end(), where, " is the unknown '", json.get<std::string>(),
                      "'");
    value = static_cast<T>(found - words.begin());
    if constexpr (std::same_as<T, Strategy>) {
      if (to_string(value) == "unknown") value = Strategy::windowed;
    }
  } else if constexpr (is_list<T>) {
    sound(json.is_array(), "list");
    value.clear();
    for (const auto& one : json) {
      const std::string place = join(where, " at ", value.size());
      from_json_value(one, value.emplace_back(), place);
    }
  } else {
    sound(json.is_object(), "object");
    visit_fields(value, [&](const char* name, auto& field) {
      using Field = std::remove_cvref_t<decltype(field)>;
      const auto found = json.find(name);
      const std::string place = join(where, ".", name);
      if constexpr (is_optional<Field>) {
        field.reset();
        if (found != json.end()) from_json_value(*found, field.emplace(), place);
      } else {
        ensure<DataError>(found != json.end(), place, " is missing");
        from_json_value(*found, field, place);
      }
    });
  }
}

}}}  // namespace bpm::detail
