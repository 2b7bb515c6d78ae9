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
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/fit_warnings.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/storage/tensor_file.hpp"

/// \file
/// Storage of types with `visit_members` (core/errors.hpp): members by their names in a JSON
/// object, infinity as null, an empty optional left out. With a file of arrays, lists of numbers
/// are its arrays, under the names of all enclosing objects, as in "means.0.outputs".

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Returns what `make` makes of the content of a file. \throws DataError, beginning with `where`,
/// in the place of std::invalid_argument.
template <class Make>
[[nodiscard]] auto made_of_file(std::string_view where, Make&& make) {
  try {
    return make();
  } catch (const std::invalid_argument& error) {
    throw DataError(join(where, ": ", error.what()));
  }
}

/// Returns the shape of a matrix of the file. \throws DataError.
[[nodiscard]] inline TensorFile::Shape matrix_shape(const TensorFile& file,
                                                    const std::string& key) {
  const TensorFile::Shape shape = file.shape(key);
  ensure<DataError>(shape.columns <= std::numeric_limits<std::uint32_t>::max(), file.name(),
                    ": the array '", key, "' has ", shape.columns, " columns, which are too many");
  return shape;
}
/// Reads a matrix of the file. \throws DataError.
template <class Scalar>
[[nodiscard]] RowMatrix<Scalar> read_matrix(const TensorFile& file, const std::string& key) {
  const TensorFile::Shape shape = matrix_shape(file, key);
  RowMatrix<Scalar> matrix(static_cast<Eigen::Index>(shape.rows),
                           static_cast<Eigen::Index>(shape.columns));
  file.copy(key, matrix.data());
  return matrix;
}

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
      file_->keep(key, std::bit_cast<EngineWords>(member));
    } else if constexpr (std::same_as<Member, Eigen::MatrixXd>) {
      file_->keep(key, RowMatrix<double>(member.template triangularView<Eigen::Lower>()));
    } else if constexpr (std::same_as<Member, std::vector<std::vector<double>>>) {
      RowMatrix<double> rows(std::ssize(member), member.empty() ? 0 : std::ssize(member[0]));
      for (std::size_t i = 0; i < member.size(); ++i) {
        check(!member[i].empty() && member[i].size() == member[0].size(), "save", key,
              "has rows of different length, or of none");
        std::copy(member[i].begin(), member[i].end(), rows.row(std::ptrdiff_t(i)).data());
      }
      file_->keep(key, std::move(rows));
    } else if constexpr (std::integral<std::remove_cvref_t<decltype(*member.data())>>) {
      file_->keep(key, std::vector<std::int64_t>(member.begin(), member.end()));
    } else {
      file_->refer(key, member);
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

/// Reads the output of a `MemberWriter`. \throws DataError on values that are missing, of another
/// type, not finite or out of bounds, and what `after_reading` throws.
class MemberReader {
 public:
  /// `where` begins messages. With `points` it reads a run, and checks all bounds.
  MemberReader(std::string where, const TensorFile* file = nullptr, std::ptrdiff_t points = -1)
      : where_(std::move(where)), file_(file), points_(points) {}

  /// Reads the members of one object.
  template <class T>
  void read_members(const Json& object, T& one, const std::string& prefix) {
    const auto read_member = [&]<class Member, class... Bounds>(const char* name, Member& member,
                                                                const Bounds&... bounds) {
      const std::string key = prefix + name;
      const auto found = object.find(name);
      if constexpr (is_optional<Member>) {
        member.reset();
        if (found != object.end()) read(*found, member.emplace(), key);
      } else if constexpr (is_array<Member> && !is_list<Member>) {
        read_array(key, member, bounds...);
      } else if (is_array<Member> && file_ != nullptr) {
        if constexpr (is_array<Member>) read_array(key, member, bounds...);
      } else {
        ensure<DataError>(found != object.end(), where_, key, " is missing");
        read(*found, member, key, (std::same_as<Bounds, PerProblem> || ...));
        if constexpr (std::is_arithmetic_v<Member>) {
          if (points_ >= 0) (check_number(key, member, bounds), ...);
        }
      }
    };
    T::visit_members(one, read_member);
    if constexpr (requires { one.after_reading(points_); }) {
      if (points_ >= 0) one.after_reading(points_);
    }
  }

  /// Reads a value. `made`: a list has its length already, and members outside the file persist.
  template <class T>
  void read(const Json& json, T& value, const std::string& key, bool made = false) {
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
      constexpr bool can_grow = std::default_initializable<typename T::value_type>;
      made = made || !can_grow;
      ensure<DataError>(!made || json.size() == value.size(), where_, key, " has ", json.size(),
                        " entries, expected ", value.size());
      if (!made) value.clear();
      std::size_t n = 0;
      for (const Json& one : json) {  // Entries one by one: memory grows with those present.
        if constexpr (can_grow) {
          if (!made) value.emplace_back();
        }
        read(one, value[n], join(key, file_ != nullptr ? "." : " at ", n));
        ++n;
      }
    } else {
      sound(json.is_object(), "object");
      read_members(json, value, key + ".");
    }
  }

 private:
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
  void check_number(const std::string& key, const Number& number, ConeRank) {
    check_number(key, number, Between{1, static_cast<double>(points_)});
    rank_ = number;
  }

  template <class Member, class... Bounds>
  void read_array(const std::string& key, Member& member, const Bounds&... bounds) const {
    if constexpr (std::same_as<Member, RandomEngine>) {
      const auto words = file_->list<std::uint64_t>(key);
      EngineWords state{};
      ensure<DataError>(
          words.size() == state.size() &&
              std::any_of(words.begin(), words.end(), [](auto word) { return word != 0; }),
          file_->name(), ": the array '", key, "' is no state of a random engine");
      std::copy(words.begin(), words.end(), state.begin());
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
      [[maybe_unused]] auto length = static_cast<std::ptrdiff_t>(file_->shape(key).columns);
      ((length = check_rows(key, numbers, bounds)), ...);
      if constexpr (std::same_as<Member, std::vector<std::vector<double>>>) {
        member.clear();
        for (auto at = numbers.begin(); at != numbers.end(); at += length) {
          member.emplace_back(at, at + length);
        }
      } else if constexpr (std::same_as<Member, std::vector<double>>) {
        member = std::move(numbers);
      } else {
        member = Member(std::ssize(numbers));
        std::copy(numbers.begin(), numbers.end(), member.data());
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

  /// Checks the shape of rows, overwrites their padding by zeros, and returns their length.
  std::ptrdiff_t check_rows(const std::string& key, std::vector<double>& numbers,
                            const Rows& rows) const {
    const std::ptrdiff_t used = rows.of == Rows::Of::points ? points_ : rank_;
    const std::ptrdiff_t length = rows.padded ? padded<double>(used) : used;
    const bool right = rows.count < 0 ? std::ssize(numbers) % length == 0
                                      : std::ssize(numbers) == rows.count * length ||
                                            (rows.may_be_empty && numbers.empty());
    ensure<DataError>(right, where_, key, " has ", numbers.size(), " entries, expected ",
                      std::max<std::ptrdiff_t>(1, rows.count) * length,
                      " (rows in whole registers of this program)");
    for (std::ptrdiff_t i = 0; i < std::ssize(numbers); ++i) {
      if (i % length >= used) numbers[static_cast<std::size_t>(i)] = 0;
    }
    return length;
  }

  std::string where_;
  const TensorFile* file_;
  std::ptrdiff_t points_;
  std::ptrdiff_t rank_ = 1;
};

/// Reads JSON. \throws DataError, beginning with `where`, on another type or out of range.
template <class T>
void from_json_value(const Json& json, T& value, const std::string& where) {
  MemberReader("").read(json, value, where);
}

}}}  // namespace bpm::detail
