// SPDX-License-Identifier: MIT
#include "bpm/samplers/chains/largest_margin.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "bpm/samplers/sample_version_space.hpp"
#include "catch.hpp"
#include "law.hpp"

using namespace law_tests;

namespace {

Numbers start_of(const bpm::Cone& cone, const bpm::ConePlan& plan, const Numbers& first,
                 std::uint64_t stream) {
  bpm::RandomEngine engine(1, stream);
  return bpm::detail::chain_start(cone, plan, first, engine);
}

}  // namespace

TEST_CASE("start: a perceptron's, the same for a seed, with its mistakes counted") {
  const bpm::Cone cone = tilted_cone(30, 6, 2.0, 4);
  bpm::ConePlan plan{.name = "f"};
  plan.start = bpm::ConePlan::Start::perceptron;
  const auto start = bpm::detail::find_start(cone, plan, 5);
  CHECK(std::abs(norm_of(start.position) - 1) <= 1e-14);
  CHECK(cone.smallest_output(start.position).first > 0);
  CHECK(start.mistakes > 0);
  CHECK(start.reason.empty());
  CHECK(bpm::detail::find_start(cone, plan, 5).position == start.position);
  CHECK(bpm::detail::find_start(cone, plan, 6).position != start.position);
}

TEST_CASE("start: where errors are allowed, any direction will do") {
  Kernel opposed(2, 2);
  opposed << 1, -1, -1, 1;
  const bpm::Cone cone = cone_of_kernel(opposed, all_positive(2));
  bpm::ConePlan plan{.name = "f"};
  CHECK(bpm::detail::find_start(cone, plan, 1).position.empty());
  plan.may_be_outside = true;
  const auto start = bpm::detail::find_start(cone, plan, 1);
  CHECK(norm_of(start.position) > 0);
  CHECK(start.reason.empty());
  const Numbers outside{-1, 0};
  plan.start_coefficients = outside;
  CHECK(cone.smallest_output(bpm::detail::find_start(cone, plan, 1).position).first < 0);
}

TEST_CASE("start: every chain after the first has a perceptron's solution of its own") {
  const bpm::Cone cone = tilted_cone(60, 40, 1.0, 2);
  const bpm::ConePlan plan{.name = "f"};
  const Numbers first = bpm::detail::find_start(cone, plan, 5).position;
  std::vector<Numbers> starts{first};
  for (const std::uint64_t stream : {1, 2, 3}) {
    const Numbers own = start_of(cone, plan, first, stream);
    CHECK(std::abs(norm_of(own) - 1) <= 1e-14);
    CHECK(cone.smallest_output(own).first > 0);
    CHECK(start_of(cone, plan, first, stream) == own);
    for (const Numbers& other : starts) CHECK(inner(other, own) < std::cos(0.1));
    starts.push_back(own);
  }
}

TEST_CASE("start: chains stand where the caller wants them, where noise is, or at the first's") {
  const bpm::Cone cone = tilted_cone(30, 6, 2.0, 4);
  bpm::ConePlan plan{.name = "f"};
  const Numbers first = bpm::detail::find_start(cone, plan, 5).position;
  REQUIRE(start_of(cone, plan, first, 1) != first);
  plan.may_be_outside = true;
  CHECK(start_of(cone, plan, first, 1) == first);
  plan.may_be_outside = false;
  const Numbers given(30, 1.0);
  plan.start_coefficients = given;
  CHECK(start_of(cone, plan, first, 1) == first);
  // Two planes nearly opposed, of lengths whose quotient no fraction of small numbers comes near:
  // perceptrons go to and fro.
  const double length = 2 / (1 + std::sqrt(5.0));
  Kernel thin(2, 2);
  thin << 1, -length * (1 - 1e-12), -length * (1 - 1e-12), length * length;
  const bpm::Cone wedge = cone_of_kernel(thin, all_positive(2));
  const Numbers inside = bpm::LargestMargin::find(wedge).position;
  REQUIRE(wedge.smallest_output(inside).first > 0);
  CHECK(start_of(wedge, {.name = "f"}, inside, 1) == inside);
}

TEST_CASE("start: the chains of a run begin apart") {
  // Single steps of hit-and-run in many dimensions stay near where they began.
  const bpm::Cone cone = tilted_cone(120, 60, 1.0, 3);
  const auto smallest_cosine = [&](const Numbers& start_coefficients) {
    const bpm::KernelGibbs sampler{.draws = 4,
                                   .steps_per_draw = 1,
                                   .chains = 4,
                                   .burn_in = 1,
                                   .start_coefficients = start_coefficients};
    bpm::RandomStreams streams;
    bpm::KernelGibbs::State state;
    const Numbers first = bpm::detail::find_start(cone, sampler.plan(), 1).position;
    (void)sampler.sample(
        cone, first, streams, {}, [](const bpm::Draw&) {}, state);
    double smallest = 1;
    for (const auto& a : state.chains) {
      for (const auto& b : state.chains) {
        const std::span<const double> x = a.position();
        const std::span<const double> y = b.position();
        smallest = std::min(smallest, inner({x.begin(), x.end()}, {y.begin(), y.end()}));
      }
    }
    return smallest;
  };
  const double apart = smallest_cosine({});
  const double together = smallest_cosine(bpm::LargestMargin::find(cone).coefficients);
  CAPTURE(apart, together);
  CHECK(std::acos(apart) > 1.3 * std::acos(together));
}
