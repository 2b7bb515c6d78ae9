// SPDX-License-Identifier: MIT
#include "bpm/samplers/chains/largest_margin.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "catch.hpp"
#include "law.hpp"

using namespace law_tests;

namespace {

/// What holds of every answer: norm 1, the margin is that of the position, coefficients y_i alpha_i
/// >= 0 give the position, the bound is above.
void check_margin(const bpm::Cone& cone, const bpm::LargestMargin& found) {
  CHECK(std::abs(norm_of(found.position) - 1) <= 1e-12);
  double smallest = 1e300;
  for (std::ptrdiff_t i = 0; i < cone.points(); ++i) {
    smallest = std::min(smallest, inner(row_of(cone, i), found.position));
    CHECK(found.coefficients[static_cast<std::size_t>(i)] * cone.label(i) >= 0);
  }
  CHECK(std::abs(smallest - found.margin) <= 1e-12);
  CHECK(found.margin <= found.upper_bound * (1 + 1e-12));
  const Numbers same = cone.coordinates(found.coefficients);
  for (std::size_t k = 0; k < same.size(); ++k) {
    CHECK(std::abs(same[k] - found.position[k]) <= 1e-12);
  }
}

}  // namespace

TEST_CASE("largest margin: closed forms") {
  // Orthant: 1 / sqrt n. Wedge of unit normals with cosine c: the bisector, sqrt((1 + c) / 2).
  for (const std::ptrdiff_t n : {1, 2, 10, 100}) {
    const bpm::Cone cone = orthant(n);
    const bpm::LargestMargin found = bpm::LargestMargin::find(cone, 0.999999);
    check_margin(cone, found);
    CHECK(std::abs(found.margin * std::sqrt(static_cast<double>(n)) - 1) <= 2e-6);
    CHECK(std::abs(found.upper_bound * std::sqrt(static_cast<double>(n)) - 1) <= 2e-6);
  }
  for (const double cosine : {0.9, 0.0, -0.9, -0.999}) {
    const bpm::Cone cone = wedges({cosine});
    const bpm::LargestMargin found = bpm::LargestMargin::find(cone, 0.999999);
    check_margin(cone, found);
    CHECK(std::abs(found.margin - std::sqrt((1 + cosine) / 2)) <= 1e-6);
  }
}

TEST_CASE("largest margin: the fraction that was asked for, below the truth by no more") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const bpm::Cone cone = tilted_cone(30, 6, 2.0, seed);
    const bpm::LargestMargin best = bpm::LargestMargin::find(cone, 0.99999, 200'000);
    if (!(best.margin > 0)) continue;
    REQUIRE(best.margin >= 0.9999 * best.upper_bound);
    for (const double fraction : {0.1, 0.5, 0.9}) {
      const bpm::LargestMargin found = bpm::LargestMargin::find(cone, fraction);
      check_margin(cone, found);
      CHECK(found.margin >= fraction * found.upper_bound);
      CHECK(found.upper_bound >= best.margin);
      CHECK(found.steps <= best.steps);
    }
  }
}

TEST_CASE("largest margin: with and without the products of rows") {
  const Kernel kernel = linear_kernel(tilted_inputs(30, 6, 2.0, 4));
  const Gram gram(kernel);
  bpm::Cone plain = bpm::Cone(Space(gram, all_positive(30)));
  const bpm::LargestMargin without = bpm::LargestMargin::find(plain, 0.9);
  plain.form_products();
  const bpm::LargestMargin with = bpm::LargestMargin::find(plain, 0.9);
  CHECK(with.steps == without.steps);
  CHECK(angle(with.position, without.position) <= 1e-9);
}

TEST_CASE("largest margin: where nothing separates it ends, and finds none") {
  // w and -w, planes on all sides, steps used up.
  Kernel opposed(2, 2);
  opposed << 1, -1, -1, 1;
  const bpm::Cone cone = cone_of_kernel(opposed, all_positive(2));
  const bpm::LargestMargin found = bpm::LargestMargin::find(cone);
  CHECK_FALSE(found.margin > 0);
  CHECK(found.upper_bound <= 1);
  CHECK(found.steps <= 1000 + 40 * 2 + 2);
  const bpm::Cone crossed =
      cone_of_kernel(linear_kernel(tilted_inputs(60, 3, 0.0, 1)), all_positive(60));
  const bpm::LargestMargin none = bpm::LargestMargin::find(crossed);
  CHECK_FALSE(none.margin > 0);
  CHECK(none.steps <= 1000 + 40 * 60 + 2);
  const bpm::LargestMargin cut = bpm::LargestMargin::find(orthant(50), 0.999, 3);
  CHECK(cut.steps == 3);
  CHECK_FALSE(cut.margin > 0);
}
