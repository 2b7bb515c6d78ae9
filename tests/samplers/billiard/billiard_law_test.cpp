// SPDX-License-Identifier: MIT
// The geodesic billiard samples the uniform law of version space: against rejection sampling and
// closed forms. geodesic_chain_mutants_test.cpp puts billiards with a wrong law through the same
// checks.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "bpm/samplers/billiard/geodesic_chain.hpp"
#include "bpm/samplers/chains/largest_margin.hpp"
#include "catch.hpp"
#include "law.hpp"
#include "law_checks.hpp"

using namespace law_tests;
using bpm::detail::GeodesicChain;

TEST_CASE("billiard: draws and centre agree with rejection samples") {
  struct Shape {
    std::ptrdiff_t points;
    std::ptrdiff_t rank;
    std::uint64_t seed;
  };
  for (const auto& [points, rank, seed] :
       {Shape{6, 3, 9}, Shape{10, 4, 2}, Shape{12, 5, 3}, Shape{14, 6, 4}, Shape{14, 7, 21}}) {
    const bpm::Cone cone = tilted_cone(points, rank, 2.0, seed);
    const Sample truth = rejection_sample(cone, 10'000, 1);
    for (const double length : {1.0, 0.0}) {
      INFO(points << " points, rank " << rank << ", refresh length " << length);
      CHECK(off_sample<GeodesicChain>(cone, truth, {.refresh_length = length}) < deviation_bound);
    }
  }
}

TEST_CASE("billiard: spherical triangles") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const bpm::Cone cone = tilted_cone(3, 3, 1.0, seed);
    const Triangle truth = triangle(cone);
    INFO("triangle " << seed << " of area " << truth.area);
    CHECK(off_mean<GeodesicChain>(cone, truth.mean, {.refresh_length = 1}) < deviation_bound);
  }
}

TEST_CASE("billiard: the closed form of triangles holds of the octant and of rejection samples") {
  const Triangle octant = triangle(orthant(3));
  CHECK(std::abs(octant.area - std::numbers::pi / 2) <= 1e-14);
  for (const double value : octant.mean) CHECK(std::abs(value - 0.5) <= 1e-14);
  const bpm::Cone cone = tilted_cone(3, 3, 1.0, 2);
  const Triangle truth = triangle(cone);
  const Sample sample = rejection_sample(cone, 20'000, 1);
  CHECK(deviation(moments_of(sample.points), exactly(truth.mean)) < deviation_bound);
}

TEST_CASE("billiard: wedges, and products of them in ten dimensions") {
  for (const Numbers& cosines : {Numbers{0.5}, Numbers{-0.9}, Numbers{0.95}, Numbers{0.7, -0.7},
                                 Numbers{0, 0.5, -0.5, 0.9, -0.9}}) {
    const bpm::Cone cone = wedges(cosines);
    // A wedge of opening t has mean sin(t / 2) / (t / 2) times its bisector; w is normal over its
    // norm, which is independent of it.
    const auto rank = static_cast<double>(cone.rank());
    Numbers mean(static_cast<std::size_t>(cone.rank()), 0.0);
    for (std::size_t w = 0; w < cosines.size(); ++w) {
      const double opening = std::numbers::pi - std::acos(cosines[w]);
      Numbers bisector(mean.size(), 0.0);
      for (std::size_t side = 0; side < 2; ++side) {
        const double* row = cone.row(static_cast<std::ptrdiff_t>(2 * w + side));
        for (std::size_t k = 0; k < mean.size(); ++k) bisector[k] += row[k];
      }
      bisector = unit(bisector);
      const double length =
          mean_normal_norm(2) / mean_normal_norm(rank) * std::sin(opening / 2) / (opening / 2);
      for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += length * bisector[k];
    }
    INFO("first cosine " << cosines[0] << ", rank " << rank);
    CHECK(off_mean<GeodesicChain>(cone, mean, {.refresh_length = 1}) < deviation_bound);
    CHECK(off_mean<GeodesicChain>(cone, mean, {}) < deviation_bound);
  }
}

TEST_CASE("billiard: orthants of 2, 10 and 50 dimensions") {
  for (const auto& [dimensions, bounces] :
       {std::pair<std::ptrdiff_t, std::uint64_t>{2, 20}, {10, 30}, {50, 100}}) {
    INFO(dimensions << " dimensions");
    const Run run{.refresh_length = 1, .bounces_per_draw = bounces, .draws_per_batch = 40};
    CHECK(off_orthant<GeodesicChain>(dimensions, run) < deviation_bound);
  }
}

TEST_CASE("billiard: the orthant of 200 dimensions, refresh length chosen") {
  const Run run{.bounces_per_draw = 400, .draws_per_batch = 10};
  CHECK(off_orthant<GeodesicChain>(200, run) < deviation_bound);
}

TEST_CASE("billiard: on the orthant without new directions, known and not the centre") {
  for (const std::ptrdiff_t n : {3, 10, 50}) {
    const bpm::Cone cone = orthant(n);
    const auto size = static_cast<std::size_t>(n);
    Numbers start;
    for (std::size_t k = 0; k < size; ++k) start.push_back(1 + static_cast<double>(k % 5));
    GeodesicChain chain(cone, {.refresh_length = std::numeric_limits<double>::infinity()}, start,
                        bpm::RandomEngine(3));
    Numbers limit;
    for (std::size_t k = 0; k < size; ++k) {
      limit.push_back(2 / std::numbers::pi * std::hypot(chain.position()[k], chain.direction()[k]));
    }
    for (const double path : {1e2, 1e4}) {
      while (chain.weight() < path) {
        for (int k = 0; k < 100; ++k) chain.bounce(cone);
        chain.anchor(cone);
      }
      Numbers mean(static_cast<std::size_t>(cone.stride()), 0.0);
      chain.add_inside_sum(cone, 1 / chain.weight(), mean.data());
      for (std::size_t k = 0; k < size; ++k) {
        // A part of a half turn of |cos| is all that the path can be off.
        CHECK(std::abs(mean[k] - limit[k]) <= 2 / chain.weight());
      }
      CHECK(angle(mean, Numbers(size, 1.0)) > 0.1);
    }
    CHECK(chain.refreshes() == 0);
    CHECK(chain.refresh_length() == 0);
  }
}

TEST_CASE("billiard: the error falls as one over the root of the bounces") {
  const bpm::Cone cone = tilted_cone(3, 3, 1.0, 2);
  const Numbers truth = triangle(cone).mean;
  std::vector<double> squares;
  for (const int bounces : {500, 5'000, 50'000}) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
      GeodesicChain chain(cone, {.refresh_length = 2}, bpm::LargestMargin::find(cone).position,
                          bpm::RandomEngine(seed));
      for (int n = 0; n < bounces; ++n) chain.bounce(cone);
      chain.anchor(cone);
      Numbers mean(static_cast<std::size_t>(cone.stride()), 0.0);
      chain.add_sum(cone, 1 / chain.weight(), mean.data());
      for (std::size_t k = 0; k < truth.size(); ++k) {
        sum += (mean[k] - truth[k]) * (mean[k] - truth[k]);
      }
    }
    squares.push_back(sum / 24);
  }
  // Ten times the bounces, a tenth of the mean square; estimated from 24 runs of 3 coordinates.
  CHECK(squares[1] < squares[0] / 10 * 2);
  CHECK(squares[2] < squares[0] / 100 * 2);
}

TEST_CASE("billiard: 60 points in 40 dimensions mixes: two starts, one law") {
  const bpm::Cone cone = tilted_cone(60, 40, 0.0, 2);
  const Numbers centred = bpm::LargestMargin::find(cone).position;
  // Far from it and close to a plane: where a ball was a few bounces later.
  GeodesicChain scout(cone, {.refresh_length = 2}, centred, bpm::RandomEngine(5));
  for (int n = 0; n < 50; ++n) scout.bounce(cone);
  scout.anchor(cone);
  Numbers corner(scout.position().begin(), scout.position().end());
  for (std::size_t k = 0; k < corner.size(); ++k) corner[k] += 1e-3 * centred[k];
  REQUIRE(angle(corner, centred) > 0.2);
  std::vector<Moments> draws;
  for (const Numbers& start : {centred, corner}) {
    GeodesicChain chain(cone, {.bounces_per_draw = 60}, start, bpm::RandomEngine(8));
    const Run run{.draws_per_batch = 30};
    const Batches batches =
        run_batches(chain, cone, run, [&](auto x) { return statistics(cone, x); });
    draws.push_back(moments_of(batches.draws));
  }
  CHECK(deviation(draws[0], draws[1]) < deviation_bound);
}

TEST_CASE("billiard: draws have the law's distribution, bounce points have not") {
  for (const auto& [points, rank] : {std::pair<std::ptrdiff_t, std::ptrdiff_t>{12, 5}, {4, 4}}) {
    const bpm::Cone cone = points == rank ? orthant(4) : tilted_cone(points, rank, 2.0, 3);
    const Sample truth = rejection_sample(cone, 10'000, 1);
    const auto draws = draws_of<GeodesicChain>(cone, {.refresh_length = 1, .bounces_per_draw = 10});
    CHECK(off_distribution(cone, draws, truth) < 1);

    GeodesicChain watched(cone, {.refresh_length = 4}, bpm::LargestMargin::find(cone).position,
                          bpm::RandomEngine(2));
    std::vector<Numbers> bounces;
    while (bounces.size() < 20'000) {
      for (int k = 0; k < 10; ++k) watched.bounce(cone);
      watched.anchor(cone);
      bounces.emplace_back(watched.position().begin(), watched.position().end());
    }
    CHECK(off_distribution(cone, bounces, truth) > 1);
  }
}
