// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/version_space/cone.hpp"

/// \file
/// How chains are left in files and taken up again, by one way for all that stands between runs:
///
///     template <class Self, class Visit>
///     static void visit_members(Self& self, Visit&& visit);   // calls visit(name, member)
///     void after_reading(std::ptrdiff_t points);              // optional
///
/// Members are numbers, std::vector<double>, Eigen::VectorXd, random engines, and types and lists
/// of types that have the function themselves; what other members tell is left out. `self` is const
/// where they are written. Where they are read, any numbers may come, lists of any length too:
/// `after_reading` throws std::invalid_argument on what no run leaves, and makes the rest.
/// `points`: of the training set.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// What has been counted one by one.
inline constexpr std::uint64_t largest_count = std::uint64_t{1} << 62U;

/// For chains past their burn-in, on a draw or before their first: their members, the check of
/// what can be checked without a cone, and
///
///     static void take_up(Chain& chain, const Cone& cone, const Settings& settings);
///
/// which makes the rest. \throws std::invalid_argument there on numbers that do not belong
/// together: with some a chain would never end. Cost: the products of its vectors.
template <class Chain>
struct StoredChain {};

/// Throws unless these are `rows` rows of `length` finite numbers, zeros from `used` on.
inline void check_rows(std::string_view name, std::span<const double> numbers, std::ptrdiff_t rows,
                       std::ptrdiff_t length, std::ptrdiff_t used) {
  check_size("chain", name, std::ssize(numbers), rows * length,
             "rows in whole registers of this program");
  for (std::ptrdiff_t i = 0; i < rows * length; ++i) {
    const double number = numbers[static_cast<std::size_t>(i)];
    check(std::isfinite(number), "chain", name, "at ", i, " is ", number, ", must be finite");
    check(i % length < used || number == 0, "chain", name, "at ", i, " is ", number,
          ", must be 0 behind the end of a row");
  }
}

inline void check_counted(std::string_view name, std::uint64_t count) {
  check(count < largest_count, "chain", name, "is ", count, ", which nothing has counted");
}

/// Throws unless `outputs` are those of x, `stride()` long, but for what rounding may add up to.
inline void check_outputs(std::string_view name, const Cone& cone, const double* x,
                          const double* outputs) {
  const double norm = std::sqrt(dot(x, x, cone.stride()));
  std::vector<double> right(static_cast<std::size_t>(cone.points()));
  cone.outputs(x, right.data());
  for (std::ptrdiff_t i = 0; i < cone.points(); ++i) {
    const double expected = right[static_cast<std::size_t>(i)];
    check(std::abs(outputs[i] - expected) <= 1e-6 * norm * cone.row_norm(i), "chain", name, "at ",
          i, " is ", outputs[i], ", but the coordinates' is ", expected);
  }
}

/// Throws unless the norm of x is 1.
inline void check_unit(std::string_view name, std::span<const double> x) {
  const double squared = dot(x.data(), x.data(), std::ssize(x));
  check(std::abs(squared - 1) <= 1e-6, "chain", name, "has a square of ", squared, ", must be 1");
}

}}}  // namespace bpm::detail
