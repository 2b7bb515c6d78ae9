// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

#include "bpm/core/target.hpp"

/// \file
/// What a class leaves in files, it shows by one function:
///
///     template <class Self, class Visit>
///     static void visit_members(Self& self, Visit&& visit);   // calls visit(name, member, bounds)
///     void after_reading(std::ptrdiff_t points);              // optional
///
/// Members are numbers, words, enums, lists of numbers (std::vector, Eigen::VectorXd), random
/// engines, optionals, and types and lists of types that have the function themselves. `self` is
/// const where they are written, and lists of numbers are referred to until that is done: show the
/// members, no copies. Where a training is read, any bytes may come: lists of numbers that are not
/// finite are refused, and `bounds`, which may be left out, says what else is. `after_reading`
/// makes what is not shown, and throws std::invalid_argument on what does not belong together.
/// `points`: of the training set.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Of a number: what it must not lie outside of, and how a message ends; without words it names
/// both ends.
struct Between {
  double least;
  double most;
  std::string_view words{};
};
/// Of a number or of a list of them: points of the training set. A list ascends.
struct PointNumbers {};
/// Of the rank of a cone, which is that of all that is read after it.
struct ConeRank {};
/// Of a list of numbers: `count` rows (-1: any number) of one for each training point, or
/// coordinate of the cone; `padded`: to whole registers, with zeros.
struct Rows {
  enum class Of { points, rank } of;
  std::ptrdiff_t count = 1;
  bool padded = true;
  bool may_be_empty = false;
};

/// Of a list that is there already, with an entry for each binary subproblem.
struct PerProblem {};

struct Bound {
  static constexpr Between finite{std::numeric_limits<double>::lowest(),
                                  std::numeric_limits<double>::max(), ", must be finite"};
  static constexpr Between positive{std::numeric_limits<double>::min(), finite.most,
                                    ", must be positive and finite"};
  static constexpr Between not_negative{0, finite.most, ", must be finite and not negative"};
  /// What has been counted one by one.
  static constexpr Between counted{0, 0x1p62, ", which nothing has counted"};
  static constexpr Rows per_point{Rows::Of::points, 1, false};
  static constexpr Rows per_coordinate{Rows::Of::rank};
};

struct IgnoreMember {
  template <class... Member>
  void operator()(const char* /*name*/, Member&&... /*member*/) const {}
};
template <class T>
concept HasMembers = requires(T& one) { T::visit_members(one, IgnoreMember{}); };

/// A member that older files do not have, and that is left out where it has this value.
template <class T, class Visit>
void visit_unless(const std::remove_const_t<T>& usual, const char* name, T& value, Visit&& visit) {
  std::optional<std::remove_const_t<T>> unusual;
  if (value != usual) unusual = value;
  visit(name, unusual);
  if constexpr (!std::is_const_v<T>) value = unusual.value_or(usual);
}

}}}  // namespace bpm::detail
