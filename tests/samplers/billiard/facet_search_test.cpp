// SPDX-License-Identifier: MIT
#include "bpm/samplers/billiard/facet_search.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/core/row_products.hpp"
#include "catch.hpp"

using bpm::detail::Facet;
using bpm::detail::FlightStep;
using bpm::detail::fly_and_search;

namespace {

using Numbers = std::vector<double>;

/// The plane of the smallest angle, by the angle itself.
std::ptrdiff_t nearest(const Numbers& d, const Numbers& nu, std::ptrdiff_t points) {
  std::ptrdiff_t best = -1;
  double smallest = 10;
  for (std::ptrdiff_t i = 0; i < points; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double t = std::atan2(d[at], -nu[at]);
    if (d[at] > 0 && t < smallest) {
      smallest = t;
      best = i;
    }
  }
  return best;
}

struct WallOutputs {
  Numbers d;
  Numbers nu;
  Numbers row;

  WallOutputs(std::ptrdiff_t points, std::uint64_t seed) {
    const auto length = static_cast<std::size_t>(bpm::detail::padded<double>(points));
    d.assign(length, 0.0);
    nu = row = d;
    bpm::RandomEngine engine(seed, 50);
    bpm::NormalDraws normal;
    for (std::size_t i = 0; i < static_cast<std::size_t>(points); ++i) {
      d[i] = bpm::uniform_unit(engine);
      nu[i] = normal(engine);
      row[i] = normal(engine);
    }
  }
  [[nodiscard]] std::ptrdiff_t length() const { return std::ssize(d); }
};

}  // namespace

TEST_CASE("facet search: the plane of the smallest angle, at every size") {
  for (std::ptrdiff_t points = 1; points <= 70; ++points) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      WallOutputs o(points, seed);
      const WallOutputs before = o;
      const Facet facet = fly_and_search(o.d.data(), o.nu.data(), o.row.data(), {}, o.length());
      CHECK(o.d == before.d);
      CHECK(o.nu == before.nu);
      const std::ptrdiff_t expected = nearest(o.d, o.nu, points);
      REQUIRE(facet.index == expected);
      CHECK(facet.towards == -o.nu[static_cast<std::size_t>(expected)]);
      CHECK(facet.distance == o.d[static_cast<std::size_t>(expected)]);
    }
  }
}

TEST_CASE("facet search: flight and reflection of the outputs, then the search") {
  for (const std::ptrdiff_t points : {1, 7, 8, 9, 31, 64}) {
    WallOutputs o(points, 3);
    const WallOutputs before = o;
    const double c = std::cos(0.3);
    const double s = std::sin(0.3);
    const Facet facet =
        fly_and_search(o.d.data(), o.nu.data(), o.row.data(), {c, s, c, s, 0.7}, o.length());
    for (std::size_t i = 0; i < o.d.size(); ++i) {
      CHECK(std::abs(o.d[i] - (c * before.d[i] + s * before.nu[i])) <= 1e-15 * 8);
      CHECK(std::abs(o.nu[i] - (c * before.nu[i] - s * before.d[i] + 0.7 * before.row[i])) <=
            1e-15 * 8);
    }
    CHECK(facet.index < points);
    for (std::size_t i = static_cast<std::size_t>(points); i < o.d.size(); ++i) {
      CHECK(o.d[i] == 0);
      CHECK(o.nu[i] == 0);
    }
  }
}

TEST_CASE("facet search: the plane it stands on is met only when it is left for the other side") {
  // d_2 = 0, leaving: any other plane comes first, also one more than a quarter turn away.
  WallOutputs o(12, 1);
  for (double& nu : o.nu) nu = nu == 0 ? 0 : 1;
  o.d[2] = 0;
  const Facet facet = fly_and_search(o.d.data(), o.nu.data(), o.row.data(), {}, o.length());
  CHECK(facet.index == nearest(o.d, o.nu, 12));
  CHECK(facet.towards == -1);
  CHECK(facet.index != 2);
  // Entering, as in a corner: at once, whichever it is.
  for (std::size_t corner = 0; corner < 12; ++corner) {
    WallOutputs in_corner(12, 1);
    in_corner.d[corner] = 0;
    in_corner.nu[corner] = -1;
    CHECK(fly_and_search(in_corner.d.data(), in_corner.nu.data(), in_corner.row.data(), {},
                         in_corner.length())
              .index == static_cast<std::ptrdiff_t>(corner));
  }
}

TEST_CASE("facet search: a corner, equal planes, and tiny distances") {
  WallOutputs o(20, 2);
  o.d[5] = o.d[11] = 1e-300;
  o.nu[5] = o.nu[11] = -1;
  const Facet facet = fly_and_search(o.d.data(), o.nu.data(), o.row.data(), {}, o.length());
  CHECK((facet.index == 5 || facet.index == 11));
  CHECK(facet.distance == 1e-300);
  // Rounding behind a plane, on the way further: it is at the plane, met at once, wherever it is.
  for (std::size_t behind = 0; behind < 20; ++behind) {
    WallOutputs outside(20, 2);
    outside.d[behind] = -1e-17;
    outside.nu[behind] = -1;
    const Facet met = fly_and_search(outside.d.data(), outside.nu.data(), outside.row.data(), {},
                                     outside.length());
    CHECK(met.index == static_cast<std::ptrdiff_t>(behind));
    CHECK(met.distance == 0);
  }
  // Rounding behind a plane that it leaves: not met.
  o.d[5] = -1e-17;
  o.nu[5] = 1;
  o.d[11] = 0.5;
  o.nu[11] = 1;
  const Facet other = fly_and_search(o.d.data(), o.nu.data(), o.row.data(), {}, o.length());
  CHECK(other.index == nearest(o.d, o.nu, 20));
  CHECK(other.index != 5);
}
