// SPDX-License-Identifier: MIT
// What holds of every path, bounce by bounce; the law is tested in billiard_law_test.cpp.
#include "bpm/samplers/billiard/geodesic_chain.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "bpm/samplers/chains/largest_margin.hpp"
#include "catch.hpp"
#include "law.hpp"

using namespace law_tests;
using bpm::detail::GeodesicChain;

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

GeodesicChain chain_in(const bpm::Cone& cone, bpm::detail::GeodesicSettings settings,
                       std::uint64_t seed = 1) {
  return GeodesicChain(cone, settings, bpm::LargestMargin::find(cone).position,
                       bpm::RandomEngine(seed));
}

Numbers copied(std::span<const double> x) { return {x.begin(), x.end()}; }

/// How far b and v are from orthonormal.
double off_orthonormal(const GeodesicChain& chain) {
  return std::max({std::abs(norm_of(chain.position()) - 1),
                   std::abs(norm_of(chain.direction()) - 1),
                   std::abs(inner(chain.position(), chain.direction()))});
}

/// Random kernels of many shapes: wide, tall, nearly singular, soft, of all scales.
bpm::Cone random_problem(std::uint64_t seed) {
  bpm::RandomEngine engine(seed, 36);
  const auto m = static_cast<std::ptrdiff_t>(1 + bpm::uniform_below(engine, 30));
  const auto r = static_cast<std::ptrdiff_t>(1 + bpm::uniform_below(engine, 30));
  Kernel inputs = tilted_inputs(m, r, 2 * bpm::uniform_unit(engine), seed);
  Kernel kernel(m, m);
  if (bpm::uniform_unit(engine) < 0.5) {
    kernel = linear_kernel(inputs);
  } else {
    const double gamma = std::exp(6 * bpm::uniform_unit(engine) - 5);
    for (Eigen::Index i = 0; i < m; ++i) {
      for (Eigen::Index j = 0; j < m; ++j) {
        kernel(i, j) = std::exp(-gamma * (inputs.row(i) - inputs.row(j)).squaredNorm());
      }
    }
  }
  kernel *= std::exp(8 * bpm::uniform_unit(engine) - 4);
  Labels labels;  // Of a random classifier, so that there is one.
  Numbers alpha;
  for (std::ptrdiff_t i = 0; i < m; ++i) alpha.push_back(2 * bpm::uniform_unit(engine) - 1);
  for (Eigen::Index i = 0; i < m; ++i) {
    double output = 0;
    for (Eigen::Index j = 0; j < m; ++j) output += kernel(i, j) * alpha[std::size_t(j)];
    labels.push_back(output > 0 ? 1 : -1);
  }
  Numbers lambda;
  if (bpm::uniform_unit(engine) < 0.5) {
    for (Eigen::Index i = 0; i < m; ++i) {
      lambda.push_back(bpm::uniform_unit(engine) * kernel(i, i));
    }
  }
  return cone_of_kernel(kernel, labels, lambda);
}

}  // namespace

TEST_CASE("geodesic: reflections keep norm and tangency, at the plane and turned back") {
  const bpm::Cone cone = tilted_cone(12, 5, 1.5, 3);
  GeodesicChain chain = chain_in(cone, {.refresh_length = never});
  double worst = 0;
  double off_plane = 0;
  for (int n = 0; n < 3000; ++n) {
    chain.bounce(cone);
    chain.anchor(cone);
    worst = std::max(worst, off_orthonormal(chain));
    off_plane = std::max(off_plane, std::abs(smallest_output(cone, chain.position())));
  }
  CHECK(worst <= 1e-12);
  CHECK(off_plane <= 1e-12);
}

TEST_CASE("geodesic: one flight and one bounce by hand") {
  const bpm::Cone cone = tilted_cone(6, 4, 1.5, 3);
  GeodesicChain chain = chain_in(cone, {.refresh_length = never}, 4);
  for (int n = 0; n < 20; ++n) {
    const Numbers b = copied(chain.position());
    const Numbers v = copied(chain.direction());
    // The first plane that the circle meets, by the angle itself.
    double first = 10;
    std::ptrdiff_t hit = -1;
    for (std::ptrdiff_t i = 0; i < cone.points(); ++i) {
      const double d = inner(row_of(cone, i), b);
      const double nu = inner(row_of(cone, i), v);
      double t = std::atan2(d, -nu);
      if (t < 1e-9 || t > std::numbers::pi - 1e-9) t = 9;  // The plane it stands on.
      if (t < first) {
        first = t;
        hit = i;
      }
    }
    Numbers there(b);
    Numbers onwards(v);
    for (std::size_t k = 0; k < b.size(); ++k) {
      there[k] = b[k] * std::cos(first) + v[k] * std::sin(first);
      onwards[k] = v[k] * std::cos(first) - b[k] * std::sin(first);
    }
    const Numbers normal = row_of(cone, hit);
    const double jump = -2 * inner(normal, onwards) / inner(normal, normal);
    for (std::size_t k = 0; k < normal.size(); ++k) onwards[k] += jump * normal[k];
    const double before = chain.weight();
    chain.bounce(cone);
    chain.anchor(cone);
    CHECK(std::abs(chain.weight() - before - first) <= 1e-12);
    for (std::size_t k = 0; k < b.size(); ++k) {
      CHECK(std::abs(chain.position()[k] - there[k]) <= 1e-12);
      CHECK(std::abs(chain.direction()[k] - onwards[k]) <= 1e-12);
    }
  }
}

TEST_CASE("geodesic: the sums are the integral of the path") {
  const bpm::Cone cone = tilted_cone(12, 5, 1.5, 3);
  GeodesicChain chain = chain_in(cone, {.refresh_length = never});
  Numbers integral(static_cast<std::size_t>(cone.stride()), 0.0);
  const Numbers first = copied(chain.direction());
  for (int n = 0; n < 2000; ++n) {
    const Numbers b = copied(chain.position());
    const Numbers v = copied(chain.direction());
    const double before = chain.weight();
    chain.bounce(cone);
    chain.anchor(cone);
    const double t = chain.weight() - before;
    for (std::size_t k = 0; k < integral.size(); ++k) {
      integral[k] += b[k] * std::sin(t) + v[k] * (1 - std::cos(t));
    }
  }
  Numbers inside(integral.size(), 0.0);
  Numbers jumps(integral.size(), 0.0);
  chain.add_inside_sum(cone, 1.0, inside.data());
  chain.add_sum(cone, 1.0, jumps.data());
  for (std::size_t k = 0; k < integral.size(); ++k) {
    CHECK(std::abs(inside[k] - integral[k]) <= 1e-10);
    // Without new directions the jumps miss the ends of the path only.
    CHECK(std::abs(jumps[k] + first[k] - chain.direction()[k] - integral[k]) <= 1e-10);
  }
  CHECK(smallest_output(cone, inside) > 0);
}

TEST_CASE("geodesic: with new directions the jumps tend to the mean of the path") {
  const bpm::Cone cone = tilted_cone(12, 5, 1.5, 3);
  double last = 1;
  for (const int bounces : {2'000, 200'000}) {
    GeodesicChain chain = chain_in(cone, {.refresh_length = 4});
    for (int n = 0; n < bounces; ++n) chain.bounce(cone);
    chain.anchor(cone);
    Numbers inside(static_cast<std::size_t>(cone.stride()), 0.0);
    Numbers jumps(inside);
    chain.add_inside_sum(cone, 1 / chain.weight(), inside.data());
    chain.add_sum(cone, 1 / chain.weight(), jumps.data());
    double off = 0;
    for (std::size_t k = 0; k < inside.size(); ++k) off = std::hypot(off, inside[k] - jumps[k]);
    // sqrt(2 refreshes) / path, the size of a sum of random changes of direction.
    const double expected = std::sqrt(2 * static_cast<double>(chain.refreshes())) / chain.weight();
    CHECK(off <= 3 * expected);
    CHECK(off < last / 3);
    last = off;
    Numbers alpha(static_cast<std::size_t>(cone.points()), 0.0);
    chain.add_dual_sum(cone, 1 / chain.weight(), alpha.data());
    for (std::ptrdiff_t i = 0; i < cone.points(); ++i) {
      CHECK(alpha[static_cast<std::size_t>(i)] * cone.label(i) >= 0);
    }
    Numbers again(inside.size(), 0.0);
    for (std::ptrdiff_t i = 0; i < cone.points(); ++i) {
      const double weight = alpha[static_cast<std::size_t>(i)] * cone.label(i);
      for (std::size_t k = 0; k < again.size(); ++k) again[k] += weight * cone.row(i)[k];
    }
    for (std::size_t k = 0; k < again.size(); ++k) CHECK(std::abs(again[k] - jumps[k]) <= 1e-12);
  }
}

TEST_CASE("geodesic: new directions come after exponential lengths of path") {
  const bpm::Cone cone = tilted_cone(12, 5, 1.5, 3);
  for (const double length : {0.05, 2.0, 50.0}) {
    GeodesicChain chain = chain_in(cone, {.refresh_length = length});
    while (chain.refreshes() < 2000) chain.bounce(cone);
    chain.anchor(cone);
    const double mean = chain.weight() / static_cast<double>(chain.refreshes());
    CHECK(std::abs(mean / length - 1) <= 5 / std::sqrt(2000.0));
    CHECK(chain.refresh_length() == length);
  }
}

TEST_CASE("geodesic: thousands of random problems, never outside") {
  int still = 0;
  int moved = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const bpm::Cone cone = random_problem(seed);
    const bpm::LargestMargin start = bpm::LargestMargin::find(cone, 0.3, 3000);
    if (!(start.margin > 0)) continue;  // Labels on the edge of what rounding leaves separable.
    GeodesicChain chain(cone, {.refresh_length = 3, .bounces_per_draw = 7, .burn_in = 5},
                        start.position, bpm::RandomEngine(seed));
    double lowest = 0;
    double off = 0;
    bool strictly = true;
    for (int n = 0; n < 10; ++n) {
      chain.bounce(cone);
      chain.anchor(cone);
      lowest = std::min(lowest, smallest_output(cone, chain.position()));
    }
    while (!chain.burn_in(cone, 100)) {
    }
    for (int n = 0; n < 4; ++n) {
      while (!chain.advance(cone, 100)) {
      }
      strictly = strictly && smallest_output(cone, chain.position()) > 0;
      off = std::max(off, std::abs(norm_of(chain.position()) - 1));
    }
    (cone.rank() == 1 ? still : moved) += 1;
    INFO("problem " << seed << ", " << cone.points() << " points, rank " << cone.rank());
    REQUIRE(lowest >= -1e-12);
    REQUIRE(strictly);
    REQUIRE(off <= 1e-12);
    REQUIRE(chain.repairs() == 0);
  }
  CHECK(still > 50);
  CHECK(moved > 2000);
}

TEST_CASE("geodesic: a long path stays inside, with few planes and many new directions") {
  for (const double length : {0.5, 8.0}) {
    for (const bpm::Cone& cone : {wedges({0.3}), tilted_cone(6, 3, 1.5, 9), wedges({0.3, -0.9})}) {
      GeodesicChain chain = chain_in(cone, {.refresh_length = length});
      for (int n = 0; n < 400; ++n) {
        for (int k = 0; k < 100; ++k) chain.bounce(cone);
        GeodesicChain looked_at = chain;  // Looking at it brings its numbers up to date.
        looked_at.anchor(cone);
        REQUIRE(smallest_output(cone, looked_at.position()) >= -1e-12);
        REQUIRE(off_orthonormal(looked_at) <= 1e-12);
      }
      CHECK(chain.repairs() == 0);
    }
  }
}

TEST_CASE("geodesic: looking at every bounce lets nothing drift") {
  const bpm::Cone cone = tilted_cone(12, 5, 1.5, 3);
  GeodesicChain chain = chain_in(cone, {.refresh_length = never});
  for (int n = 0; n < 100'000; ++n) {
    chain.bounce(cone);
    chain.anchor(cone);
  }
  CHECK(smallest_output(cone, chain.position()) >= -1e-12);
  CHECK(off_orthonormal(chain) <= 1e-12);
}

TEST_CASE("geodesic: a copy goes on in the same way, to the bit") {
  const bpm::Cone cone = tilted_cone(12, 5, 1.5, 3);
  GeodesicChain chain = chain_in(cone, {.bounces_per_draw = 30});
  for (int stage = 0; stage < 6; ++stage) {
    GeodesicChain copy = chain;
    for (GeodesicChain* one : {&chain, &copy}) {
      if (stage < 3) {
        (void)one->burn_in(cone, 3001);  // In the middle of the race.
      } else {
        while (!one->burn_in(cone, 777)) {
        }
        while (!one->advance(cone, 5)) {
        }
      }
    }
    chain.anchor(cone);
    copy.anchor(cone);
    CHECK(copied(chain.position()) == copied(copy.position()));
    CHECK(chain.weight() == copy.weight());
    CHECK(chain.refreshes() == copy.refreshes());
  }
}

TEST_CASE("geodesic: slices do not matter") {
  const bpm::Cone cone = tilted_cone(12, 5, 1.5, 3);
  std::vector<Numbers> ends;
  for (const std::uint64_t slice :
       {std::uint64_t{7}, std::uint64_t{1000}, std::uint64_t{1} << 30}) {
    GeodesicChain chain = chain_in(cone, {.bounces_per_draw = 100});
    while (!chain.burn_in(cone, slice)) {
    }
    for (int n = 0; n < 20; ++n) {
      while (!chain.advance(cone, slice)) {
      }
    }
    Numbers end = copied(chain.position());
    end.push_back(chain.weight());
    end.push_back(static_cast<double>(chain.burnt()));
    ends.push_back(end);
  }
  CHECK(ends[0] == ends[1]);
  CHECK(ends[0] == ends[2]);
}

TEST_CASE("geodesic: draws stand at equal steps of the path") {
  const bpm::Cone cone = tilted_cone(12, 5, 1.5, 3);
  GeodesicChain chain = chain_in(cone, {.refresh_length = 5, .bounces_per_draw = 50});
  while (!chain.burn_in(cone, 1 << 20)) {
  }
  CHECK(chain.burnt() == 8192);
  CHECK(chain.weight() == 0);
  CHECK(chain.bounces() == 0);
  double spacing = 0;
  for (int n = 1; n <= 100; ++n) {
    while (!chain.advance(cone, 13)) {
    }
    if (n == 1) spacing = chain.weight();
    CHECK(std::abs(chain.weight() - n * spacing) <= 1e-9 * n);
  }
  CHECK(std::abs(static_cast<double>(chain.bounces()) / 5000.0 - 1) < 0.1);
}

TEST_CASE("geodesic: rank 1 stands still") {
  const bpm::Cone cone = cone_of_kernel(Kernel::Constant(1, 1, 4.0), {-1});
  GeodesicChain chain(cone, {}, Numbers{-1.0}, bpm::RandomEngine(1));
  CHECK(chain.burn_in(cone, 1));
  for (int n = 0; n < 5; ++n) CHECK(chain.advance(cone, 1));
  chain.bounce(cone);
  chain.anchor(cone);
  CHECK(chain.position()[0] == -1);
  CHECK(chain.weight() == 6);
  CHECK(chain.refresh_length() == 0);
  Numbers sum(static_cast<std::size_t>(cone.stride()), 0.0);
  chain.add_sum(cone, 1 / chain.weight(), sum.data());
  CHECK(sum[0] == -1);
  Numbers alpha(1, 0.0);
  chain.add_dual_sum(cone, 1 / chain.weight(), alpha.data());
  CHECK(std::abs(alpha[0] + 0.5) <= 1e-15);
}

TEST_CASE("geodesic: a draw outside is drawn back inside, no further than needed") {
  // Two planes, at right angles and then a little closer. From an anchor, where the step that comes
  // ends on a draw, the second cone takes the place of the first, and a draw near the first's plane
  // lies outside. The start is inside both.
  const auto cone_of = [](double cosine) {
    Kernel kernel(2, 2);
    kernel << 1, cosine, cosine, 1;
    return cone_of_kernel(kernel, {1, 1});
  };
  const bpm::Cone wide = cone_of(0);
  const bpm::Cone narrow = cone_of(-0.05);
  const Numbers start{std::sqrt(0.5), std::sqrt(0.5)};
  GeodesicChain chain(wide, {.refresh_length = never, .bounces_per_draw = 1, .burn_in = 20}, start,
                      bpm::RandomEngine(5));
  while (!chain.burn_in(wide, 100)) {
  }
  int outside = 0;
  for (int step = 0; step < 4000; ++step) {
    chain.anchor(wide);
    GeodesicChain other = chain;
    if (!chain.advance(wide, 1)) continue;
    Numbers expected = copied(chain.position());
    REQUIRE(other.advance(narrow, 1));
    std::uint64_t pulls = 0;
    for (double pull = 1e-15; smallest_output(narrow, expected) <= 0; pull *= 8, ++pulls) {
      for (std::size_t k = 0; k < 2; ++k) expected[k] += pull * start[k];
      const double norm = norm_of(expected);
      for (double& x : expected) x /= norm;
    }
    CAPTURE(step, pulls);
    outside += pulls > 0 ? 1 : 0;
    CHECK(smallest_output(narrow, other.position()) > 0);
    CHECK(other.repairs() == chain.repairs() + pulls);
    for (std::size_t k = 0; k < 2; ++k) {
      CHECK(other.position()[k] == Approx(expected[k]).epsilon(1e-14));
    }
    CHECK(off_orthonormal(other) <= 1e-14);
  }
  CHECK(outside > 20);
}
