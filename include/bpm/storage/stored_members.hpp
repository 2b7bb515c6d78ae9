// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
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

#include "bpm/core/buffer.hpp"
#include "bpm/core/check.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/members.hpp"
#include "bpm/core/mixed_table.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/random/engine.hpp"
#include "bpm/core/target.hpp"
#include "bpm/core/vector_ops.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/fit_warnings.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/storage/stored_inputs.hpp"
#include "bpm/storage/tensor_file.hpp"

/// \file
/// Types with `visit_members` (core/members.hpp) in files, and back: members by their names in a
/// JSON object, infinity as null, an empty optional left out. Where there is a file of arrays,
/// lists of numbers are arrays of it, under the names of all objects around them,
/// "means.0.outputs".

namespace bpm { inline namespace BPM_TARGET { namespace detail {

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

/// Lists of numbers, which are arrays of a file.
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
inline constexpr bool is_array<Eigen::MatrixXd> = true;  ///< Of its lower triangle.
template <>
inline constexpr bool is_array<RandomEngine> = true;

using EngineWords = std::array<std::uint64_t, 4>;
static_assert(sizeof(EngineWords) == sizeof(RandomEngine));

class MemberWriter {
 public:
  /// Without a file all goes into the object. Arrays are referred to where they can be.
  explicit MemberWriter(Json& object, TensorFileWriter* file = nullptr, std::string prefix = {})
      : object_(object), file_(file), prefix_(std::move(prefix)) {}

  template <class Member, class... Bounds>
  void operator()(const char* name, const Member& member, const Bounds&... /*bounds*/) {
    if constexpr (is_array<Member>) {
      if (file_ != nullptr) return write_array(prefix_ + name, member);
    }
    if constexpr (is_optional<Member>) {
      if (member) object_[name] = json_of(*member, nullptr, {});
    } else {
      object_[name] = json_of(member, file_, prefix_ + name);
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
    } else if constexpr (HasMembers<T>) {
      Json object = Json::object();
      T::visit_members(value, MemberWriter(object, file, key + "."));
      return object;
    } else {
      static_assert(is_array<T>, "a member of a type that files do not hold");
      return {};
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
      for (const auto& row : member) all.insert(all.end(), row.begin(), row.end());
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

/// The same back. \throws DataError on what is missing, of another kind, not finite or out of
/// bounds, and what `after_reading` throws.
class MemberReader {
 public:
  /// `where` begins messages. With `points` a run is read, of which nothing is believed.
  MemberReader(std::string where, const TensorFile* file = nullptr, std::ptrdiff_t points = -1)
      : where_(std::move(where)), file_(file), points_(points) {}

  /// The members of one object.
  template <class T>
  void read_members(const Json& object, T& one, const std::string& prefix) const {
    T::visit_members(one, OfObject{*this, object, prefix});
    if constexpr (requires { one.after_reading(points_); }) {
      if (points_ >= 0) one.after_reading(points_);
    }
  }

  template <class T>
  void read(const Json& json, T& value, const std::string& key) const {
    const auto sound = [&](bool holds, std::string_view kind) {
      ensure<DataError>(holds, where_, key, " is no ", kind);
    };
    if constexpr (std::same_as<T, bool>) {
      sound(json.is_boolean(), "boolean");
      value = json.get<bool>();
    } else if constexpr (std::integral<T>) {
      sound(json.is_number_integer(), "whole number");
      const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<std::uint64_t>())
                                                  : std::in_range<T>(json.get<std::int64_t>());
      ensure<DataError>(fits, where_, key, " is ", json.dump(), ", which is out of range");
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
      ensure<DataError>(found != words.end(), where_, key, " is the unknown '",
                        json.get<std::string>(), "'");
      value = static_cast<T>(found - words.begin());
      if constexpr (std::same_as<T, Strategy>) {
        if (to_string(value) == "unknown") value = Strategy::windowed;
      }
    } else if constexpr (is_list<T>) {
      sound(json.is_array(), "list");
      read_list(json, value, key);
    } else if constexpr (HasMembers<T>) {
      sound(json.is_object(), "object");
      read_members(json, value, key + ".");
    } else {
      static_assert(is_array<T>, "a member of a type that files do not hold");
    }
  }

 private:
  /// The visitor.
  struct OfObject {
    const MemberReader& all;
    const Json& object;
    std::string prefix;

    template <class Member, class... Bounds>
    void operator()(const char* name, Member& member, const Bounds&... bounds) {
      const std::string key = prefix + name;
      if constexpr (is_array<Member>) {
        if (all.file_ != nullptr) return all.read_array(key, member, bounds...);
      }
      const auto found = object.find(name);
      if constexpr (is_optional<Member>) {
        member.reset();
        if (found != object.end()) MemberReader(all.where_).read(*found, member.emplace(), key);
      } else {
        ensure<DataError>(found != object.end(), all.where_, key, " is missing");
        all.read(*found, member, key);
        if constexpr (std::is_arithmetic_v<Member>) {
          if (all.points_ >= 0) (all.check_number(key, member, bounds), ...);
        }
      }
    }
  };

  /// One at a time, so that memory follows what is there. A list that is there already keeps its
  /// length: it is one a subproblem.
  template <class T>
  void read_list(const Json& json, std::vector<T>& list, const std::string& key) const {
    const bool made = HasMembers<T> && points_ >= 0 && !list.empty();
    ensure<DataError>(!made || json.size() == list.size(), where_, key, " has ", json.size(),
                      " entries, expected ", list.size());
    if constexpr (std::default_initializable<T>) {
      if (!made) list.clear();
    }
    std::size_t n = 0;
    for (const Json& one : json) {
      if constexpr (std::default_initializable<T>) {
        if (!made) list.emplace_back();
      }
      read(one, list[n], join(key, file_ != nullptr ? "." : " at ", n));
      ++n;
    }
  }

  template <class Number>
  void check_number(const std::string& key, const Number& number, const Between& bounds) const {
    const auto value = static_cast<double>(number);
    if (value >= bounds.least && value <= bounds.most) return;
    throw DataError(bounds.words.empty() ? join(where_, key, " is ", number, ", must be from ",
                                                bounds.least, " to ", bounds.most)
                                         : join(where_, key, " is ", number, bounds.words));
  }
  template <class Number>
  void check_number(const std::string& key, const Number& number, PointNumbers) const {
    check_number(key, number, Between{0, static_cast<double>(points_ - 1)});
  }
  template <class Number>
  void check_number(const std::string& key, const Number& number, ConeRank) const {
    check_number(key, number, Between{1, static_cast<double>(points_)});
    rank_ = number;
  }

  template <class Member, class... Bounds>
  void read_array(const std::string& key, Member& member, const Bounds&... bounds) const {
    if constexpr (std::same_as<Member, RandomEngine>) {
      const auto words = file_->list<std::uint64_t>(key);
      EngineWords state{};
      ensure<DataError>(words.size() == state.size() &&
                            std::ranges::any_of(words, [](auto word) { return word != 0; }),
                        file_->name(), ": the array '", key, "' is no state of a random engine");
      std::ranges::copy(words, state.begin());
      member = std::bit_cast<RandomEngine>(state);
    } else if constexpr (std::same_as<Member, Eigen::MatrixXd>) {
      member = read_matrix<double>(*file_, key);
    } else if constexpr (std::integral<std::remove_cvref_t<decltype(*member.data())>>) {
      member.clear();
      for (const std::int64_t value : file_->list<std::int64_t>(key)) {
        using Number = typename Member::value_type;
        ensure<DataError>(std::in_range<Number>(value), file_->name(), ": the array '", key,
                          "' holds ", value, ", which is out of range");
        member.push_back(static_cast<Number>(value));
      }
      (check_points(key, member, bounds), ...);
    } else {
      std::vector<double> numbers = file_->list<double>(key);
      for (std::size_t i = 0; points_ >= 0 && i < numbers.size(); ++i) {
        ensure<DataError>(std::isfinite(numbers[i]), where_, key, " at ", i, " is ", numbers[i],
                          ", must be finite");
      }
      (check_rows(key, numbers, bounds), ...);
      if constexpr (std::same_as<Member, std::vector<std::vector<double>>>) {
        auto length = static_cast<std::ptrdiff_t>(file_->shape(key).columns);
        ((length = length_of(bounds)), ...);
        member.clear();
        for (auto at = numbers.begin(); at != numbers.end(); at += length) {
          member.emplace_back(at, at + length);
        }
      } else if constexpr (std::same_as<Member, std::vector<double>>) {
        member = std::move(numbers);
      } else {
        member = Member(std::ssize(numbers));
        std::ranges::copy(numbers, member.data());
      }
    }
  }

  template <class Number>
  void check_points(const std::string& key, const std::vector<Number>& list, PointNumbers) const {
    for (std::size_t k = 0; points_ >= 0 && k < list.size(); ++k) {
      ensure<DataError>(list[k] >= 0 && list[k] < points_ && (k == 0 || list[k] > list[k - 1]),
                        where_, key, " hold a point that is out of range");
    }
  }

  [[nodiscard]] std::ptrdiff_t length_of(const Rows& rows) const {
    const std::ptrdiff_t used = rows.of == Rows::Of::points ? points_ : rank_;
    return rows.padded ? padded<double>(used) : used;
  }
  /// Behind the end of a row are zeros, whatever the file says.
  void check_rows(const std::string& key, std::vector<double>& numbers, const Rows& rows) const {
    const std::ptrdiff_t length = length_of(rows);
    const std::ptrdiff_t used = rows.of == Rows::Of::points ? points_ : rank_;
    const bool right = rows.count < 0 ? std::ssize(numbers) % length == 0
                                      : std::ssize(numbers) == rows.count * length ||
                                            (rows.may_be_empty && numbers.empty());
    ensure<DataError>(right, where_, key, " has ", numbers.size(), " entries, expected ",
                      std::max<std::ptrdiff_t>(1, rows.count) * length,
                      " (rows in whole registers of this program)");
    for (std::ptrdiff_t i = 0; i < std::ssize(numbers); ++i) {
      if (i % length >= used) numbers[static_cast<std::size_t>(i)] = 0;
    }
  }

  std::string where_;
  const TensorFile* file_;
  std::ptrdiff_t points_;
  mutable std::ptrdiff_t rank_ = 1;
};

/// \throws DataError that begins with `where` on a value of another kind or out of range.
template <class T>
void from_json_value(const Json& json, T& value, const std::string& where) {
  MemberReader("").read(json, value, where);
}

}}}  // namespace bpm::detail
