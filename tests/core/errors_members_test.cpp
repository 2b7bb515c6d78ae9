// SPDX-License-Identifier: MIT
#include "bpm/core/errors.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"

namespace {

using bpm::detail::Between;
using bpm::detail::Bound;
using bpm::detail::Rows;

/// As a reader of files asks.
bool takes(const Between& bound, double value) {
  return value >= bound.least && value <= bound.most;
}

/// A member that older files do not have.
struct Grown {
  int draws = 0;
  std::vector<double> offsets{};
  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    bpm::detail::visit_unless(3, "draws", self.draws, visit);
    bpm::detail::visit_unless({}, "offsets", self.offsets, visit);
  }
};
static_assert(bpm::detail::HasMembers<Grown>);
static_assert(bpm::detail::HasMembers<const Grown>);
static_assert(!bpm::detail::HasMembers<int>);

/// Names of the members that have a value.
std::vector<std::string> written(const Grown& grown) {
  std::vector<std::string> names;
  Grown::visit_members(grown, [&](const char* name, const auto& value) {
    if (value.has_value()) names.emplace_back(name);
  });
  return names;
}

}  // namespace

TEST_CASE("bounds of what files hold: finite, positive, counted", "[detail]") {
  const double infinity = std::numeric_limits<double>::infinity();
  const double largest = std::numeric_limits<double>::max();
  const double tiny = std::numeric_limits<double>::min();
  for (const auto& bound : {Bound::finite, Bound::positive, Bound::counted}) {
    CHECK(takes(bound, 1));
    CHECK_FALSE(takes(bound, infinity));
    CHECK_FALSE(takes(bound, -infinity));
    CHECK_FALSE(takes(bound, std::nan("")));
  }
  CHECK((takes(Bound::finite, -largest) && takes(Bound::finite, 0)));
  CHECK(takes(Bound::finite, largest));
  CHECK((takes(Bound::positive, tiny) && takes(Bound::positive, largest)));
  CHECK_FALSE((takes(Bound::positive, 0) || takes(Bound::positive, -tiny)));
  // 2^62 of what is counted, so that sums of two such numbers are numbers too.
  CHECK((takes(Bound::counted, 0) && takes(Bound::counted, std::ldexp(1, 62))));
  CHECK_FALSE((takes(Bound::counted, -1) || takes(Bound::counted, std::ldexp(1.5, 62))));
}

TEST_CASE("rows of points are as long as they are many, rows of coordinates fill registers",
          "[detail]") {
  CHECK(Bound::per_point.of == Rows::Of::points);
  CHECK(Bound::per_point.count == 1);
  CHECK_FALSE(Bound::per_point.padded);
  CHECK(Bound::per_coordinate.of == Rows::Of::rank);
  CHECK(Bound::per_coordinate.count == 1);
  CHECK(Bound::per_coordinate.padded);
  CHECK_FALSE((Bound::per_point.may_be_empty || Bound::per_coordinate.may_be_empty));
}

TEST_CASE("a member that is as usual is left out, and what is left out is as usual", "[detail]") {
  CHECK(written({.draws = 3}).empty());
  CHECK(written({.draws = 0}) == std::vector<std::string>{"draws"});
  CHECK(written({.draws = 3, .offsets = {0}}) == std::vector<std::string>{"offsets"});
  // Whatever the object held before.
  Grown read{.draws = 7, .offsets = {1, 2}};
  Grown::visit_members(read, [](const char*, auto& value) { value.reset(); });
  CHECK(read.draws == 3);
  CHECK(read.offsets.empty());
  Grown::visit_members(read, [](const char* name, auto& value) {
    if (std::string(name) == "draws") value.emplace(5);
  });
  CHECK(read.draws == 5);
}
