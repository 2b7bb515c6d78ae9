// SPDX-License-Identifier: MIT
// The law of the chain against points drawn without one: rejection (q = 0), or weights by errors.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "catch.hpp"
#include "gibbs_problems.hpp"
#include "mutants/uniform_input_angle.hpp"
#include "mutants/unweighted_arcs.hpp"

using namespace sampler_tests;
using bpm::KernelGibbs;
using bpm::detail::GibbsChain;
using GibbsDirection = bpm::KernelGibbs::Direction;

namespace {

struct Size {
  std::ptrdiff_t points;
  std::ptrdiff_t rank;
};

const std::vector<Size> cone_sizes{{3, 2}, {6, 3}, {10, 5}, {10, 6}};

void check_law(double noise, int draws) {
  for (const Size size : cone_sizes) {
    const bpm::Cone cone = random_cone(size.points, size.rank, 5, noise == 0);
    REQUIRE(cone.rank() == size.rank);
    const WeightedMoments truth = weighted_moments(cone, noise, 60'000);
    for (const GibbsDirection directions : {GibbsDirection::isotropic, GibbsDirection::input}) {
      for (const bool rao_blackwell : {true, false}) {
        CAPTURE(size.points, size.rank, directions == GibbsDirection::input, rao_blackwell);
        const KernelGibbs settings{.steps_per_draw = 20,
                                   .label_noise = noise,
                                   .directions = directions,
                                   .rao_blackwell = rao_blackwell};
        const WeightedMoments found = chain_moments<GibbsChain>(cone, settings, draws);
        CHECK(distance(found, truth) < right_distance);
        CHECK(largest_error(found) < 0.05);  // Otherwise nothing would have been tested.
      }
    }
  }
}

}  // namespace

TEST_CASE("Gibbs without noise samples version space uniformly") { check_law(0.0, 300); }

TEST_CASE("Gibbs with a little noise has the posterior's law") { check_law(0.02, 130); }

TEST_CASE("Gibbs with noise has the posterior's law") { check_law(0.2, 130); }

TEST_CASE("Gibbs with much noise has the posterior's law") { check_law(0.45, 130); }

TEST_CASE("Gibbs: arcs that are not weighted by their length are found out") {
  const bpm::Cone cone = random_cone(10, 5, 5, false);
  const WeightedMoments truth = weighted_moments(cone, 0.2, 60'000);
  const KernelGibbs settings{.steps_per_draw = 20, .label_noise = 0.2};
  CHECK(distance(chain_moments<bpm::detail::unweighted_arcs_GibbsChain>(cone, settings, 250),
                 truth) > 2 * right_distance);
}

TEST_CASE("Gibbs: a uniform angle to an input is found out") {
  const double noise = GENERATE(0.0, 0.2);
  const bpm::Cone cone = noise == 0 ? orthant_cone(6) : random_cone(10, 6, 5, false);
  const WeightedMoments truth = weighted_moments(cone, noise, 60'000);
  const KernelGibbs settings{
      .steps_per_draw = 20, .label_noise = noise, .directions = GibbsDirection::input};
  CHECK(distance(chain_moments<GibbsChain>(cone, settings, 250), truth) < right_distance);
  CHECK(distance(chain_moments<bpm::detail::uniform_input_angle_GibbsChain>(cone, settings, 250),
                 truth) > 2 * right_distance);
}
