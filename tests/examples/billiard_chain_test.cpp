// SPDX-License-Identifier: MIT
#include "common/billiard_chain.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "billiard_problems.hpp"
#include "bpm/samplers/chains/largest_margin.hpp"
#include "catch.hpp"
#include "law.hpp"
#include "message_of.hpp"

using namespace law_tests;
using bpm_examples::BilliardChain;
using bpm_examples::BilliardChainSettings;
using bpm_examples::Flight;

TEST_CASE("billiard chain: either flight, bounce by bounce, is the flight's own chain") {
  const bpm::Cone cone = tilted_cone(12, 5, 2.0, 3);
  const Numbers start = bpm::LargestMargin::find(cone).position;
  BilliardChain geodesic(cone, {.refresh_length = 3}, start, bpm::RandomEngine(4));
  bpm::detail::GeodesicChain own(cone, {.refresh_length = 3}, start, bpm::RandomEngine(4));
  BilliardChain published(cone, {.flight = Flight::published}, start, bpm::RandomEngine(4));
  bpm_examples::PublishedChain own_published(cone, {}, start, bpm::RandomEngine(4));
  for (int n = 0; n < 500; ++n) {
    geodesic.bounce(cone);
    own.bounce(cone);
    published.bounce(cone);
    own_published.bounce(cone);
  }
  own.anchor(cone);
  CHECK(geodesic.path_length(cone) == own.weight());
  CHECK(geodesic.position(cone) == Numbers(own.position().begin(), own.position().end()));
  CHECK(geodesic.direction(cone) == Numbers(own.direction().begin(), own.direction().end()));
  CHECK(geodesic.bounces() == 500);
  CHECK(geodesic.refreshes() == own.refreshes());
  CHECK(geodesic.refresh_length() == 3);
  CHECK(published.path_length(cone) == own_published.weight());
  CHECK(published.position(cone) ==
        Numbers(own_published.ball().begin(), own_published.ball().end()));
  CHECK(published.bounces() == 500);
  CHECK(published.refreshes() == own_published.refreshes());
  CHECK(published.refresh_length() == 0);
}

TEST_CASE("billiard chain: after a bounce it stands on a plane, its direction leads inside") {
  const bpm::Cone cone = tilted_cone(12, 5, 2.0, 3);
  for (const Flight flight : {Flight::geodesic, Flight::published}) {
    BilliardChain chain(cone, {.flight = flight, .refresh_length = 3},
                        bpm::LargestMargin::find(cone).position, bpm::RandomEngine(4));
    for (int n = 0; n < 300; ++n) {
      chain.bounce(cone);
      const Numbers b = chain.position(cone);
      const Numbers v = chain.direction(cone);
      CHECK(std::abs(smallest_output(cone, b)) <= 1e-12);
      CHECK(std::abs(norm_of(b) - 1) <= 1e-12);
      CHECK(std::abs(norm_of(v) - 1) <= 1e-12);
      if (flight == Flight::geodesic) CHECK(std::abs(inner(b, v)) <= 1e-12);
      double towards = -1;
      for (std::ptrdiff_t i = 0; i < cone.points(); ++i) {
        if (std::abs(inner(row_of(cone, i), b)) <= 1e-12) {
          towards = std::max(towards, inner(row_of(cone, i), v));
        }
      }
      CHECK(towards > 0);
    }
  }
}

TEST_CASE("billiard chain: the centre so far, before the first bounce and after many") {
  const bpm::Cone cone = tilted_cone(12, 5, 2.0, 3);
  const Sample truth = rejection_sample(cone, 10'000, 1);
  const Moments law = moments_of(truth.points);
  BilliardChain chain(cone, {}, bpm::LargestMargin::find(cone).position, bpm::RandomEngine(4));
  CHECK(chain.path_length(cone) == 0);
  CHECK(chain.centre(cone).norm == 0);
  for (int n = 0; n < 100'000; ++n) chain.bounce(cone);
  const bpm::CentreOfMass centre = chain.centre(cone);
  REQUIRE(centre.coefficients.size() == 12);
  const Numbers x = cone.coordinates(centre.coefficients);
  CHECK(std::abs(norm_of(x) - centre.norm) <= 1e-9);
  CHECK(std::abs(centre.norm - norm_of(law.mean)) < 0.02);
  CHECK(angle(x, law.mean) < 0.02);
  for (std::ptrdiff_t i = 0; i < 12; ++i) {
    CHECK(std::abs(inner(row_of(cone, i), x) * cone.label(i) -
                   centre.outputs[static_cast<std::size_t>(i)]) <= 1e-9);
  }
  CHECK(chain.refresh_length() == 8);
  CHECK(chain.burnt() == 0);
  CHECK(chain.repairs() == 0);
}

TEST_CASE("billiard chain: rank 1") {
  const bpm::Cone cone = cone_of_kernel(Kernel::Ones(3, 3), {-1, -1, -1});
  for (const Flight flight : {Flight::geodesic, Flight::published}) {
    BilliardChain chain(cone, {.flight = flight}, bpm::LargestMargin::find(cone).position,
                        bpm::RandomEngine(1));
    for (int n = 0; n < 3; ++n) chain.bounce(cone);
    CHECK(chain.bounces() == 3);
    CHECK(std::abs(chain.centre(cone).norm - 1) <= 1e-15);
    CHECK(smallest_output(cone, chain.position(cone)) > 0);
  }
}

TEST_CASE("a billiard chain of one's own is checked at its door") {
  bpm::Cone cone = bpm::Cone(Problem(Kernel::Identity(3, 3), {1, 1, -1}).space);
  const bpm::RandomEngine engine(1);
  const auto refusal = [&](const std::vector<double>& start, const BilliardChainSettings& s) {
    return test_support::message_of([&] { (void)BilliardChain(cone, s, start, engine); });
  };
  CHECK(refusal({1, 1, 1}, {}) ==
        "BilliardChain: cone has no products, call form_products() first");
  cone.form_products();
  const std::vector<double> inside = bpm::LargestMargin::find(cone).position;
  CHECK(refusal(inside, {}) == "nothing was thrown");
  CHECK(refusal({1, 1}, {}) == "BilliardChain: start has 2 coordinates, expected 3");
  CHECK(refusal({0, 0, 0}, {}) ==
        "BilliardChain: start has the signed output 0 at point 0, must be positive everywhere");
  CHECK(refusal({1, 1, std::nan("")}, {}) == "BilliardChain: start at 2 is nan, must be finite");
  CHECK(refusal(inside, {.bounces_per_draw = 0}) ==
        "BilliardChain: bounces_per_draw is 0, must be 1 or more");
  CHECK(refusal(inside, {.refresh_length = -1}) ==
        "BilliardChain: refresh_length is -1, must be at least 0.001, or 0 to have it chosen");
}
