// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"
#include "bpm/machine/draw_mean.hpp"
#include "bpm/samplers/chains/stored_chain.hpp"
#include "bpm/storage/json_fields.hpp"
#include "bpm/storage/stored_inputs.hpp"
#include "bpm/storage/tensor_file.hpp"

/// \file
/// Types with `visit_members` (samplers/chains/stored_chain.hpp) in files, and back.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

struct IgnoreMember {
  template <class Member>
  void operator()(const char* /*name*/, Member&& /*member*/) const {}
};
/// What stored_chain.hpp says, by a type of its own or for a chain.
template <class T>
concept OwnMembers = requires(T& one) { T::visit_members(one, IgnoreMember{}); };
template <class T>
concept HasMembers =
    OwnMembers<T> || requires(T& one) { StoredChain<T>::visit_members(one, IgnoreMember{}); };

template <class Self, class Visit>
void visit_members_of(Self& self, Visit&& visit) {
  using T = std::remove_const_t<Self>;
  if constexpr (OwnMembers<T>) {
    T::visit_members(self, visit);
  } else {
    StoredChain<T>::visit_members(self, visit);
  }
}

template <class T>
inline constexpr bool is_list_of_members = false;
template <HasMembers T>
inline constexpr bool is_list_of_members<std::vector<T>> = true;

template <Either<RandomStreams> S, class Visit>
void visit_fields(S& s, Visit&& visit) {
  visit("seed", s.seed);
  visit("next", s.next);
}

using EngineWords = std::array<std::uint64_t, 4>;
static_assert(sizeof(EngineWords) == sizeof(RandomEngine));

/// Lists of numbers as arrays of a file by the names of the members, "means.0.outputs"; the rest as
/// one JSON object of the same names.
class MemberWriter {
 public:
  MemberWriter(TensorFileWriter& file, std::string prefix, Json& object)
      : file_(file), prefix_(std::move(prefix)), object_(object) {}

  template <class Member>
  void operator()(const char* name, const Member& member) {
    const std::string key = prefix_ + name;
    if constexpr (std::same_as<Member, RandomEngine>) {
      const auto words = std::bit_cast<EngineWords>(member);
      file_.add<std::uint64_t>(key, {words.size()}, words);
    } else if constexpr (std::same_as<Member, Buffer<double>>) {
      file_.add<double>(key, {member.span().size()}, member.span());
    } else if constexpr (std::same_as<Member, std::vector<double>>) {
      file_.add<double>(key, {member.size()}, member);
    } else if constexpr (std::same_as<Member, Eigen::VectorXd>) {
      file_.add<double>(key, {static_cast<std::size_t>(member.size())}, values_of_matrix(member));
    } else if constexpr (std::same_as<Member, std::vector<std::vector<double>>>) {
      std::vector<double> all;
      for (const auto& row : member) all.insert(all.end(), row.begin(), row.end());
      file_.add<double>(key, {member.size(), member.empty() ? 0 : member[0].size()}, all);
    } else if constexpr (std::same_as<Member, std::vector<KeptDraw>>) {
      if (!member.empty()) write_draws(key, member);
    } else if constexpr (HasMembers<Member>) {
      object_[name] = object_of(member, key);
    } else if constexpr (is_list_of_members<Member>) {
      Json list = Json::array();
      for (const auto& one : member) list.push_back(object_of(one, join(key, ".", list.size())));
      object_[name] = std::move(list);
    } else if constexpr (is_optional<Member>) {
      if (member) object_[name] = to_json_value(*member);
    } else {
      object_[name] = to_json_value(member);
    }
  }

 private:
  template <class T>
  [[nodiscard]] Json object_of(const T& one, const std::string& key) {
    Json object = Json::object();
    visit_members_of(one, MemberWriter(file_, key + ".", object));
    return object;
  }

  void write_draws(const std::string& key, const std::vector<KeptDraw>& draws) {
    std::vector<std::uint64_t> numbers;
    std::vector<double> weights;
    std::vector<std::int64_t> ends;
    std::vector<std::int64_t> support;
    std::vector<double> coefficients;
    for (const KeptDraw& draw : draws) {
      numbers.push_back(draw.number);
      weights.push_back(draw.weight);
      support.insert(support.end(), draw.support.begin(), draw.support.end());
      coefficients.insert(coefficients.end(), draw.coefficients.begin(), draw.coefficients.end());
      ends.push_back(std::ssize(support));
    }
    file_.add<std::uint64_t>(key + ".numbers", {numbers.size()}, numbers);
    file_.add<double>(key + ".weights", {weights.size()}, weights);
    file_.add<std::int64_t>(key + ".ends", {ends.size()}, ends);
    file_.add<std::int64_t>(key + ".support", {support.size()}, support);
    file_.add<double>(key + ".coefficients", {coefficients.size()}, coefficients);
  }

  TensorFileWriter& file_;
  std::string prefix_;
  Json& object_;
};

/// The same back. \throws DataError on what is missing, of another kind or out of range, and
/// std::invalid_argument by what was read.
class MemberReader {
 public:
  MemberReader(const TensorFile& file, std::string prefix, const Json& object,
               std::ptrdiff_t points)
      : file_(file), prefix_(std::move(prefix)), object_(object), points_(points) {
    ensure<DataError>(object_.is_object(), file_.name(), ": ", prefix_, " is no JSON object");
  }

  template <class Member>
  void operator()(const char* name, Member& member) {
    const std::string key = prefix_ + name;
    if constexpr (std::same_as<Member, RandomEngine>) {
      const auto words = file_.list<std::uint64_t>(key);
      EngineWords state{};
      ensure<DataError>(words.size() == state.size() &&
                            std::ranges::any_of(words, [](auto word) { return word != 0; }),
                        file_.name(), ": the array '", key, "' is no state of a random engine");
      std::ranges::copy(words, state.begin());
      member = std::bit_cast<RandomEngine>(state);
    } else if constexpr (std::same_as<Member, Buffer<double>>) {
      const auto numbers = file_.list<double>(key);
      member = Buffer<double>(std::ssize(numbers));
      std::ranges::copy(numbers, member.begin());
    } else if constexpr (std::same_as<Member, std::vector<double>>) {
      member = file_.list<double>(key);
    } else if constexpr (std::same_as<Member, Eigen::VectorXd>) {
      const auto numbers = file_.list<double>(key);
      member = Eigen::Map<const Eigen::VectorXd>(numbers.data(), std::ssize(numbers));
    } else if constexpr (std::same_as<Member, std::vector<std::vector<double>>>) {
      read_rows(key, member);
    } else if constexpr (std::same_as<Member, std::vector<KeptDraw>>) {
      if (file_.has_array(key + ".numbers")) read_draws(key, member);
    } else if constexpr (HasMembers<Member>) {
      read_object(value_of(name), key, member);
    } else if constexpr (is_list_of_members<Member>) {
      read_list(value_of(name), key, member);
    } else if constexpr (is_optional<Member>) {
      member.reset();
      if (object_.contains(name)) from_json_value(object_[name], member.emplace(), where(key));
    } else {
      from_json_value(value_of(name), member, where(key));
    }
  }

 private:
  [[nodiscard]] std::string where(const std::string& key) const {
    return join(file_.name(), ": ", key);
  }
  [[nodiscard]] const Json& value_of(const char* name) const {
    const auto found = object_.find(name);
    ensure<DataError>(found != object_.end(), file_.name(), ": ", prefix_, name, " is missing");
    return *found;
  }

  template <class T>
  void read_object(const Json& object, const std::string& key, T& one) {
    visit_members_of(one, MemberReader(file_, key + ".", object, points_));
    if constexpr (requires { one.after_reading(points_); }) one.after_reading(points_);
  }

  /// One at a time, so that memory follows what is there. What is not made from nothing is there
  /// already.
  template <class T>
  void read_list(const Json& list, const std::string& key, std::vector<T>& all) {
    ensure<DataError>(list.is_array(), where(key), " is no list");
    if constexpr (std::default_initializable<T>) {
      all.clear();
    } else {
      ensure<DataError>(list.size() == all.size(), where(key), " has ", list.size(),
                        " entries, expected ", all.size());
    }
    std::size_t n = 0;
    for (const Json& object : list) {
      if constexpr (std::default_initializable<T>) all.emplace_back();
      read_object(object, join(key, ".", n), all[n]);
      ++n;
    }
  }

  void read_rows(const std::string& key, std::vector<std::vector<double>>& rows) const {
    const TensorFile::Shape shape = file_.shape(key);
    ensure<DataError>(shape.rows == 0 || shape.columns > 0, where(key),
                      " has rows without columns");
    const auto numbers = file_.list<double>(key);
    rows.clear();
    for (std::size_t row = 0; row < shape.rows; ++row) {
      const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(row * shape.columns);
      rows.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(shape.columns));
    }
  }

  void read_draws(const std::string& key, std::vector<KeptDraw>& draws) const {
    const auto numbers = file_.list<std::uint64_t>(key + ".numbers");
    const auto weights = file_.list<double>(key + ".weights");
    const auto ends = file_.list<std::int64_t>(key + ".ends");
    const auto support = file_.list<std::int64_t>(key + ".support");
    const auto coefficients = file_.list<double>(key + ".coefficients");
    const auto sound = [&](bool holds, std::string_view what) {
      ensure<DataError>(holds, where(key), " ", what);
    };
    sound(weights.size() == numbers.size() && ends.size() == numbers.size() &&
              coefficients.size() == support.size() &&
              (ends.empty() ? 0 : ends.back()) == std::ssize(support),
          "are lists of different length");
    draws.clear();
    std::int64_t begin = 0;
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      sound(begin <= ends[n] && ends[n] <= std::ssize(support), "end before they begin");
      KeptDraw& draw = draws.emplace_back();
      draw.number = numbers[n];
      draw.weight = weights[n];
      for (; begin < ends[n]; ++begin) {
        const std::int64_t point = support[static_cast<std::size_t>(begin)];
        sound(std::in_range<PointIndex>(point), "hold a point that is out of range");
        draw.support.push_back(static_cast<PointIndex>(point));
        draw.coefficients.push_back(coefficients[static_cast<std::size_t>(begin)]);
      }
    }
  }

  const TensorFile& file_;
  std::string prefix_;
  const Json& object_;
  std::ptrdiff_t points_;
};

}}}  // namespace bpm::detail
