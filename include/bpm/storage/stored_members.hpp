// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/fit_warnings.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/storage/stored_inputs.hpp"
#include "bpm/storage/tensor_file.hpp"

/// \file
/// Storage of types with `visit_members` (core/errors.hpp): members by their names in a JSON
/// object, infinity as null, an empty optional left out. With a file of arrays, lists of numbers
/// are its arrays, under the names of all enclosing objects, as in "means.0.outputs".

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Words for the values of an enum, in order.
template <class Enum>
struct EnumWords;
template <>
struct EnumWords<MixedTable::Kind> {
  static constexpr std::array<std::string_view, 2> words{"numbers", "words"};
};
template <>
struct EnumWords<FitWarning::Kind> {
  static constexpr std::array<std::string_view, 7> words{
      "worse_than_its_draws",     "class_never_predicted",   "no_better_than_largest_class",
      "width_far_from_distances", "columns_differ_in_scale", "chains_disagree",
      "far_from_origin"};
};
template <>
struct EnumWords<SamplerReport::Advice> {
  static constexpr std::array<std::string_view, 2> words{"soften_or_raise_limits", "in_reason"};
};
template <>
struct EnumWords<Strategy> {
  /// The last word is that of an earlier windowed strategy that kept rows.
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

/// Whether a type is a list of numbers, an array of files; std::vector may be JSON as well.
template <class T>
inline constexpr bool is_array = false;
template <class T>
inline constexpr bool is_array<std::vector<T>> =
    std::same_as<T, double> || std::same_as<T, std::vector<double>> ||
    (std::integral<T> && !std::same_as<T, bool>);
template <>
inline constexpr bool is_array<Buffer<double>> = true;
template <>
inline constexpr bool is_array<Eigen::VectorXd> = true;
template <>
inline constexpr bool is_array<Eigen::MatrixXd> = true;  ///< Stores the lower triangle.
template <>
inline constexpr bool is_array<RandomEngine> = true;

using EngineWords = std::array<std::uint64_t, 4>;
static_assert(sizeof(EngineWords) == sizeof(RandomEngine));

class MemberWriter {
 public:
  /// Without a file, all members go to the object. Arrays are not copied where possible.
  explicit MemberWriter(Json& object, TensorFileWriter* file = nullptr, std::string prefix = {})
      : object_(object), file_(file), prefix_(std::move(prefix)) {}

  template <class Member, class... Bounds>
  void operator()(const char* name, const Member& member, const Bounds&... /*bounds*/) {
    const std::string key = prefix_ + name;
    if constexpr (is_optional<Member>) {
      if (member) object_[name] = json_of(*member, file_, key);
    } else if constexpr (is_array<Member> && !is_list<Member>) {
      write_array(key, member);
    } else if (is_array<Member> && file_ != nullptr) {
      if constexpr (is_array<Member>) write_array(key, member);
    } else {
      object_[name] = json_of(member, file_, key);
    }
  }

  template <class T>
  [[nodiscard]] static Json json_of(const T& value, TensorFileWriter* file,
                                    const std::string& key) {
    if constexpr (std::same_as<T, bool> || std::integral<T> || std::same_as<T, std::string>) {
      return value;
    } else if constexpr (std::floating_point<T>) {
      check(value > -std::numeric_limits<T>::infinity(), "save", "the classifier",
            "has the number ", value, ", which no model holds");
      return value == std::numeric_limits<T>::infinity() ? Json() : Json(value);
    } else if constexpr (std::is_enum_v<T>) {
      return EnumWords<T>::words[static_cast<std::size_t>(value)];
    } else if constexpr (is_list<T>) {
      Json list = Json::array();
      for (const auto& one : value) list.push_back(json_of(one, file, join(key, ".", list.size())));
      return list;
    } else {
      static_assert(HasMembers<T>, "a member of a type that files do not hold");
      Json object = Json::object();
      T::visit_members(value, MemberWriter(object, file, key + "."));
      return object;
    }
  }

 private:
  template <class Member>
  void write_array(const std::string& key, const Member& member) {
    if constexpr (std::same_as<Member, RandomEngine>) {
      const auto words = std::bit_cast<EngineWords>(member);
      file_->add<std::uint64_t>(key, {words.size()}, words);
    } else if constexpr (std::same_as<Member, Eigen::MatrixXd>) {
      file_->keep(key, RowMatrix<double>(member.template triangularView<Eigen::Lower>()));
    } else if constexpr (std::same_as<Member, std::vector<std::vector<double>>>) {
      std::vector<double> all;
      for (const auto& row : member) {
        check(!row.empty() && row.size() == member[0].size(), "save", key,
              "has rows of different length, or of none");
        all.insert(all.end(), row.begin(), row.end());
      }
      file_->add<double>(key, {member.size(), member.empty() ? 0 : member[0].size()}, all);
    } else if constexpr (std::integral<std::remove_cvref_t<decltype(*member.data())>>) {
      file_->keep(key, std::vector<std::int64_t>(member.begin(), member.end()));
    } else {
      const auto size = static_cast<std::size_t>(member.size());
      file_->refer(key, {size}, std::span(member.data(), size));
    }
  }

  Json& object_;
  TensorFileWriter* file_;
  std::string prefix_;
};

template <class T>
[[nodiscard]] Json to_json_value(const T& value) {
  return MemberWriter::json_of(value, nullptr, {});
}

}}}  // namespace bpm::detail
