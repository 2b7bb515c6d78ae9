// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ios>
#include <limits>
#include <optional>
#include <ostream>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "bpm/core/target.hpp"

/// \file
/// Exceptions that the library throws, the argument checks that throw them, and the bounds of
/// members that files are checked by.

namespace bpm { inline namespace BPM_TARGET {

// Exceptions of the library. A bad argument throws a `std::invalid_argument` whose message names
// the function, the argument and the value. Every other error has a type below, so that a caller
// can tell "your file is broken" from "your data cannot be separated".

/// A file or stream does not hold what its format demands. The message names the file, the line or
/// byte offset, and what was expected there.
struct DataError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// No classifier was found that makes no training error. The message says what was tried and names
/// the soft boundary lambda as the cure.
struct NotSeparable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A byte budget is below the least that the computation needs. The message gives both numbers.
struct BudgetTooSmall : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A kernel returned a value that is not finite, or so large that sums of it could overflow. The
/// message names the pair of inputs and the value.
struct KernelValueError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A kernel matrix has no Cholesky factor even with the largest allowed jitter on its diagonal. The
/// message gives the jitter that was tried.
struct NotPositiveDefinite : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An iteration has not reached its tolerance within its limits. The message says how far it came,
/// and what was tried.
struct NotConverged : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A model or a training cannot be written. The message names the file and the error.
struct CheckpointError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A run was stopped from outside before it had anything to return.
struct Stopped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace detail {

// Argument checks of public functions. Every message has the form "function: argument what", so
// that a reader finds the function, the argument and the error in the same order everywhere.

/// A part of a message: refers to a value and knows how to print it. A message is a list of parts,
/// so that one function prints all messages.
class MessagePart {
 public:
  template <class T>
  explicit MessagePart(const T& value) noexcept {
    if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      text_ = value;
    } else if constexpr (std::is_same_v<T, char>) {
      text_ = std::string_view(&value, 1);
    } else if constexpr (std::is_floating_point_v<T>) {
      kind_ = Kind::real;
      real_ = static_cast<double>(value);
    } else if constexpr (std::is_integral_v<T> && sizeof(T) > 1) {
      kind_ = std::is_signed_v<T> ? Kind::integer : Kind::natural;
      natural_ = static_cast<std::uint64_t>(value);
    } else {
      kind_ = Kind::other;
      value_ = &value;
      print_ = [](std::ostream& text, const void* of) { text << *static_cast<const T*>(of); };
    }
  }

  void print(std::ostream& text) const {
    switch (kind_) {
      case Kind::text:
        text << text_;
        break;
      case Kind::real:
        text << real_;
        break;
      case Kind::integer:
        text << static_cast<std::int64_t>(natural_);
        break;
      case Kind::natural:
        text << natural_;
        break;
      case Kind::other:
        print_(text, value_);
        break;
    }
  }

 private:
  enum class Kind : unsigned char { text, real, integer, natural, other };

  Kind kind_ = Kind::text;
  union {
    std::string_view text_{};
    double real_;
    std::uint64_t natural_;
    const void* value_;
  };
  void (*print_)(std::ostream&, const void*) = nullptr;
};

/// Prints all parts one after the other and returns the text; throws where the text is incomplete.
[[nodiscard]] BPM_INLINE std::string join_parts(std::initializer_list<MessagePart> parts);

// Parts are taken by value where copies are plain bytes: literals of all lengths are then one type,
// so that few functions are compiled. What joins and throws is cold and stays out of line, which
// also tells the compiler that checks hold.

/// Types that a check copies. Others, such as strings, it refers to.
template <class... Parts>
concept PlainParts = (std::is_trivially_copyable_v<Parts> && ...);

template <class... Parts>
[[nodiscard]] std::string join(Parts... parts) {
  return join_parts({MessagePart(parts)...});
}

template <class Error>
[[noreturn, gnu::cold, gnu::noinline]] void throw_joined(std::initializer_list<MessagePart> parts) {
  throw Error(join_parts(parts));
}

template <class Error, class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void throw_error(Parts... parts) {
  throw_joined<Error>({MessagePart(parts)...});
}

/// Throws an `Error` unless `holds`; the parts of the message are printed only then.
template <class Error, PlainParts... Parts>
void ensure(bool holds, Parts... parts) {
  if (!holds) throw_error<Error>(parts...);
}
template <class Error, class... Parts>
  requires(!PlainParts<Parts...>)
void ensure(bool holds, const Parts&... parts) {
  if (!holds) throw_error<Error>(parts...);
}

/// Throws `std::invalid_argument` with the message "function: argument what...".
template <class... What>
[[noreturn, gnu::cold, gnu::noinline]] void fail(std::string_view function,
                                                 std::string_view argument, What... what) {
  throw_joined<std::invalid_argument>({MessagePart(function), MessagePart(": "),
                                       MessagePart(argument), MessagePart(" "),
                                       MessagePart(what)...});
}

/// Throws `std::invalid_argument` with the message "function: argument what..." unless `holds`.
template <PlainParts... What>
void check(bool holds, std::string_view function, std::string_view argument, What... what) {
  if (!holds) fail(function, argument, what...);
}
template <class... What>
  requires(!PlainParts<What...>)
void check(bool holds, std::string_view function, std::string_view argument, const What&... what) {
  if (!holds) fail(function, argument, what...);
}

/// Throws unless two sizes agree: "f: labels has 3 entries, expected 4 (one per input)".
inline void check_size(std::string_view function, std::string_view argument, auto actual,
                       auto expected, std::string_view why) {
  check(static_cast<long long>(actual) == static_cast<long long>(expected), function, argument,
        "has ", actual, " entries, expected ", expected, " (", why, ")");
}

/// Throws unless a number is positive and finite.
inline void check_positive(std::string_view function, std::string_view argument, double value) {
  check(value > 0 && std::isfinite(value), function, argument, "is ", value,
        ", must be positive and finite");
}

/// Throws unless a number is finite and not negative.
inline void check_not_negative(std::string_view function, std::string_view argument, double value) {
  check(value >= 0 && std::isfinite(value), function, argument, "is ", value,
        ", must be finite and not negative");
}

/// Throws unless a count is `least` or more.
template <class Count>
void check_at_least(std::string_view function, std::string_view argument, Count value,
                    std::type_identity_t<Count> least) {
  check(value >= least, function, argument, "is ", value, ", must be ", least, " or more");
}

/// Throws where a count is 2^63 or more: a negative number converted to an unsigned type.
inline void check_count(std::string_view function, std::string_view argument, std::uint64_t value) {
  check(value >> 63U == 0, function, argument, "is ", value,
        ", must be below 2^63: was it negative?");
}

/// Throws unless a number lies in [0, 1].
inline void check_probability(std::string_view function, std::string_view argument, double value) {
  check(value >= 0 && value <= 1, function, argument, "is ", value, ", must lie in [0, 1]");
}

/// Throws unless a number lies between 0 and 1 and is neither.
inline void check_delta(std::string_view function, std::string_view argument, double value) {
  check(value > 0 && value < 1, function, argument, "is ", value, ", must lie between 0 and 1");
}

/// Throws unless a matrix has `size` rows and columns and a lower triangle of finite numbers that
/// are positive on the diagonal. The upper triangle is not read.
inline void check_factor(std::string_view function, std::string_view argument, const auto& factor,
                         std::ptrdiff_t size) {
  check(factor.rows() == size && factor.cols() == size, function, argument, "is ", factor.rows(),
        " x ", factor.cols(), ", expected ", size, " x ", size);
  for (std::ptrdiff_t j = 0; j < size; ++j) {
    check(factor(j, j) > 0, function, argument, "at ", j, ", ", j, " is ", factor(j, j),
          ", must be positive");
    for (std::ptrdiff_t i = j; i < size; ++i) {
      check(std::isfinite(factor(i, j)), function, argument, "at ", i, ", ", j, " is ",
            factor(i, j), ", must be finite");
    }
  }
}

/// Throws unless there are `count` signs (`why` says one per what), each 1 or -1.
inline void check_signs(std::string_view function, std::span<const signed char> signs,
                        std::ptrdiff_t count, std::string_view why,
                        std::string_view argument = "signs") {
  check_size(function, argument, signs.size(), count, why);
  for (std::size_t i = 0; i < signs.size(); ++i) {
    check(signs[i] == 1 || signs[i] == -1, function, argument, "at ", i, " is ", int{signs[i]},
          ", must be 1 or -1");
  }
}

[[noreturn]] BPM_INLINE void refuse_target(std::string_view object, int made_for);

/// Instruction set of the unit that made an object. The first member of objects that a struct of
/// the user's can carry between units: that struct has one name for all targets, so the linker
/// notices nothing. The library's functions have a name per target, and call `check`. Objects have
/// one layout for all targets; data packed for registers in their buffers does not.
struct MadeFor {
  int target = BPM_TARGET_NUMBER;

  /// \throws std::invalid_argument where this unit is compiled for another target than the object.
  void check(std::string_view object) const {
    if (target != BPM_TARGET_NUMBER) refuse_target(object, target);
  }
};

#if BPM_BODIES

BPM_INLINE void refuse_target(std::string_view object, int made_for) {
  const auto flags = [](int target) {
    constexpr std::string_view registers[] = {"",       "no vectors", "NEON",
                                              "-msse2", "-msse4.2",   "-mavx",
                                              "-mavx2", "-mavx512f",  "-mavx512f -mavx512bw"};
    constexpr std::string_view bytes[] = {"", " and VNNI", " +dotprod"};
    return join(registers[target / 1000 % 9], target / 100 % 10 == 1 ? " -mfma" : "",
                bytes[target / 10 % 10 % 3], target % 10 == 1 ? " -DBPM_PLAIN_ARRAYS" : "");
  };
  throw std::invalid_argument(join(object, ": was made by a unit compiled with ", flags(made_for),
                                   ", is asked by one with ", flags(BPM_TARGET_NUMBER),
                                   ": compile all units that include bpm with the same -march"));
}

BPM_INLINE std::string join_parts(std::initializer_list<MessagePart> parts) {
  std::ostringstream text;
  text.exceptions(std::ios_base::badbit);  // Otherwise text is lost where memory ends.
  text.precision(10);
  for (const MessagePart& part : parts) part.print(text);
  return text.str();
}

#endif

// Members.
//
// A class names the members that it writes to files in one function:
//
//     template <class Self, class Visit>
//     static void visit_members(Self& self, Visit&& visit);   // calls visit(name, member, bounds)
//     void after_reading(std::ptrdiff_t points);              // optional
//
// Members are numbers, strings, enums, lists of numbers (std::vector, Eigen::VectorXd), random
// engines, optionals, and types and lists of types that have this function themselves. `self` is
// const when they are written, and the writer keeps references to lists of numbers until it ends:
// visit the members themselves, not copies. A file that is read may hold any bytes: lists with
// numbers that are not finite are refused; `bounds`, which may be omitted, states further limits.
// `after_reading` computes the members that are not visited, and throws std::invalid_argument if
// members disagree. `points` is the number of training points.

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

}  // namespace detail
}}  // namespace bpm
