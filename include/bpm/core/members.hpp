// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

#include "bpm/core/target.hpp"

/// \file
/// A class names the members that it writes to files in one function:
///
///     template <class Self, class Visit>
///     static void visit_members(Self& self, Visit&& visit);   // calls visit(name, member, bounds)
///     void after_reading(std::ptrdiff_t points);              // optional
///
/// Members are numbers, strings, enums, lists of numbers (std::vector, Eigen::VectorXd), random
/// engines, optionals, and types and lists of types that have this function themselves. `self` is
/// const when they are written, and the writer keeps references to lists of numbers until it ends:
/// visit the members themselves, not copies. A file that is read may hold any bytes: lists with
/// numbers that are not finite are refused; `bounds`, which may be omitted, states further limits.
/// `after_reading` computes the members that are not visited, and throws std::invalid_argument if
/// members disagree. `points` is the number of training points.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Bounds of a number, both included. `words` ends the error message; without words the message
/// names both bounds.
struct Between {
  double least;
  double most;
  std::string_view words{};
};
/// Bound of an index, or of an ascending list of indices, of training points.
struct PointNumbers {};
/// Bound of the rank of a cone; all rows that are read after it have this rank.
struct ConeRank {};
/// Bound of a list of numbers: `count` rows (-1: any number) with one entry per training point or
/// per coordinate of the cone. `padded`: each row is padded with zeros to whole registers.
struct Rows {
  enum class Of { points, rank } of;
  std::ptrdiff_t count = 1;
  bool padded = true;
  bool may_be_empty = false;
};

/// Bound of a list that exists before reading, with one entry per binary subproblem.
struct PerProblem {};

struct Bound {
  static constexpr Between finite{std::numeric_limits<double>::lowest(),
                                  std::numeric_limits<double>::max(), ", must be finite"};
  static constexpr Between positive{std::numeric_limits<double>::min(), finite.most,
                                    ", must be positive and finite"};
  /// Bounds of a counter.
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

/// Visits a member that older files lack; it is not written where it has the value `usual`.
template <class T, class Visit>
void visit_unless(const std::remove_const_t<T>& usual, const char* name, T& value, Visit&& visit) {
  std::optional<std::remove_const_t<T>> unusual;
  if (value != usual) unusual = value;
  visit(name, unusual);
  if constexpr (!std::is_const_v<T>) value = unusual.value_or(usual);
}

}}}  // namespace bpm::detail
