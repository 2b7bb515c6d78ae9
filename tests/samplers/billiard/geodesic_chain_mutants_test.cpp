// SPDX-License-Identifier: MIT
// Billiards with a wrong law turn the checks of billiard_law_test.cpp red, at the same bounds and
// settings.
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bpm/samplers/billiard/geodesic_chain.hpp"
#include "catch.hpp"
#include "law.hpp"
#include "law_checks.hpp"
#include "mutants/scaled_refresh.hpp"
#include "mutants/uniform_dual_refresh.hpp"
#include "mutants/weak_reflection.hpp"

using namespace law_tests;
using bpm::detail::GeodesicChain;
using ScaledRefresh = bpm::detail::scaled_refresh_GeodesicChain;
using UniformDualRefresh = bpm::detail::uniform_dual_refresh_GeodesicChain;
using WeakReflection = bpm::detail::weak_reflection_GeodesicChain;

namespace {

struct Known {
  bpm::Cone cone;
  Sample truth;
};

/// Made once, for all mutants.
const std::vector<Known>& known_cones() {
  static const std::vector<Known> cones = [] {
    std::vector<Known> made;
    for (const auto& [points, rank, seed] :
         {std::array<int, 3>{6, 3, 9}, {12, 5, 3}, {14, 6, 4}, {14, 7, 21}}) {
      bpm::Cone cone = tilted_cone(points, rank, 2.0, static_cast<std::uint64_t>(seed));
      Sample truth = rejection_sample(cone, 10'000, 1);
      made.push_back({std::move(cone), std::move(truth)});
    }
    return made;
  }();
  return cones;
}

/// How many of nine checks find the mutant out.
template <class Chain>
int found_out() {
  int found = 0;
  const auto count = [&](double off) { found += off < deviation_bound ? 0 : 1; };
  for (const Known& known : known_cones()) {
    count(off_sample<Chain>(known.cone, known.truth, {.refresh_length = 1}));
  }
  for (const std::uint64_t seed : std::array<std::uint64_t, 5>{1, 4, 5, 6, 7}) {
    const bpm::Cone cone = tilted_cone(3, 3, 1.0, seed);
    count(off_mean<Chain>(cone, triangle(cone).mean, {.refresh_length = 1}));
  }
  return found;
}

template <class Chain>
double off_ten_dimensions() {
  const Run run{.refresh_length = 1, .bounces_per_draw = 30, .draws_per_batch = 40};
  return off_orthant<Chain>(10, run);
}

template <class Chain>
double off_in_distribution() {
  const auto& [cone, truth] = known_cones()[1];
  return off_distribution(
      cone, draws_of<Chain>(cone, {.refresh_length = 1, .bounces_per_draw = 10}), truth);
}

}  // namespace

TEST_CASE("mutant: a right billiard passes where the mutants fail") {
  CHECK(found_out<GeodesicChain>() == 0);
  CHECK(off_ten_dimensions<GeodesicChain>() < deviation_bound);
  CHECK(off_in_distribution<GeodesicChain>() < 1);
}

TEST_CASE("mutant: a reflection by 1.9 is found out") {
  CHECK(found_out<WeakReflection>() == 9);
  CHECK(off_ten_dimensions<WeakReflection>() > deviation_bound);
}

TEST_CASE("mutant: directions of scaled coordinates are found out") {
  CHECK(found_out<ScaledRefresh>() == 9);
  CHECK(off_ten_dimensions<ScaledRefresh>() > deviation_bound);
  CHECK(off_in_distribution<ScaledRefresh>() > 1);
}

TEST_CASE("mutant: directions of uniform dual coefficients are found out") {
  CHECK(found_out<UniformDualRefresh>() == 9);
  CHECK(off_in_distribution<UniformDualRefresh>() > 1);
}
