// SPDX-License-Identifier: MIT
// What the chain promises beside its law: bits, counts, messages, and sense in odd corners.
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "catch.hpp"
#include "gibbs_problems.hpp"

using namespace sampler_tests;
using bpm::KernelGibbs;
using bpm::detail::GibbsChain;
using GibbsDirection = bpm::KernelGibbs::Direction;

static_assert(std::copyable<GibbsChain>);

namespace {

std::vector<double> sum_of(const GibbsChain& chain, const bpm::Cone& cone) {
  std::vector<double> sum(static_cast<std::size_t>(cone.stride()), 0.0);
  chain.add_sum(cone, 1.0, sum.data());
  return sum;
}

std::vector<double> place_of(const GibbsChain& chain) {
  return {chain.position().begin(), chain.position().end()};
}

bpm::ChainReport chain_report(const GibbsChain& chain) {
  bpm::ChainReport report;
  chain.add_to(report);
  return report;
}

double smallest_output(const bpm::Cone& cone, const GibbsChain& chain) {
  std::vector<double> d(static_cast<std::size_t>(cone.points()));
  cone.outputs(chain.position().data(), d.data());
  return *std::min_element(d.begin(), d.end());
}

bool is_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

double norm_of(const std::vector<double>& x) {
  return std::sqrt(bpm::detail::dot(x.data(), x.data(), std::ssize(x)));
}

/// Gaussian kernel on close points: condition numbers of 1e15 and more.
bpm::RowMatrix<double> smooth_kernel(std::ptrdiff_t m, double width) {
  bpm::RowMatrix<double> kernel(m, m);
  for (std::ptrdiff_t i = 0; i < m; ++i) {
    for (std::ptrdiff_t j = 0; j < m; ++j) {
      const double difference = static_cast<double>(i - j) / static_cast<double>(m);
      kernel(i, j) = std::exp(-difference * difference / (width * width));
    }
  }
  return kernel;
}

}  // namespace

TEST_CASE("Gibbs chain: the noise falls from 1/2 to q in the first half of the burn-in") {
  // In one dimension a step stays with probability 1 / (1 + exp(-beta)) where the point is
  // right and 1 / (1 + exp(beta)) where it is wrong, by one uniform number: all jumps together tell
  // every stage.
  const double q = 0.1;
  constexpr int burn_in = 128;
  const bpm::Cone cone = cone_of(bpm::RowMatrix<double>::Ones(1, 1), {1});
  REQUIRE(cone.rank() == 1);
  int jumps_early = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    bpm::RandomEngine engine(seed);
    GibbsChain chain(cone, {.label_noise = q, .burn_in = burn_in}, std::vector<double>{1},
                     bpm::RandomEngine(seed));
    double expected = 1;
    bool agree = true;
    for (int step = 0; step < burn_in; ++step) {
      // 32 stages of log((1 - q) / q) over 64 steps, counted from the end of each step; then all of
      // it.
      const double share = std::min(32, (step + 1) / 2) / 32.0;
      const double beta = share * std::log((1 - q) / q);
      const double stays = 1 / (1 + std::exp(-beta * expected));
      const bool jumps = bpm::uniform_unit(engine) >= stays;
      if (jumps) expected = -expected;
      if (jumps && step < 8) ++jumps_early;
      chain.burn_in(cone, 1);
      agree = agree && chain.position()[0] * expected > 0;
    }
    CAPTURE(seed);
    CHECK(agree);
  }
  CHECK(jumps_early > 600);  // Of 1600; at q itself it would be 18 % of them.
}

TEST_CASE("Gibbs chain: slices and copies change no bit") {
  const double noise = GENERATE(0.0, 0.1);
  const GibbsDirection directions = GENERATE(GibbsDirection::isotropic, GibbsDirection::input);
  CAPTURE(noise, directions == GibbsDirection::input);
  const bpm::Cone cone = random_cone(12, 6, 3, true);
  const KernelGibbs settings{
      .steps_per_draw = 37, .label_noise = noise, .directions = directions, .burn_in = 101};
  GibbsChain whole(cone, settings, start_in(cone), bpm::RandomEngine(1));
  GibbsChain sliced = whole;
  CHECK(whole.burn_in(cone, 1'000'000));
  CHECK(whole.burn_in(cone, 0));
  CHECK_FALSE(sliced.burn_in(cone, 100));
  CHECK(sliced.burn_in(cone, 1));
  CHECK(place_of(whole) == place_of(sliced));
  CHECK(chain_report(whole).burn_in == 101);
  CHECK(whole.steps() == 0);
  CHECK(whole.weight() == 0);
  for (int draw = 1; draw <= 4; ++draw) {
    CHECK(whole.advance(cone, 1'000'000));
    int calls = 0;
    for (bool there = false; !there; ++calls) {
      const GibbsChain copy = sliced;
      sliced = copy;
      there = sliced.advance(cone, 5);
    }
    CHECK(calls == 8);
    CHECK(place_of(whole) == place_of(sliced));
    CHECK(sum_of(whole, cone) == sum_of(sliced, cone));
    CHECK(whole.steps() == 37U * static_cast<unsigned>(draw));
    CHECK(whole.weight() == static_cast<double>(sliced.steps()));
    CHECK(chain_report(whole).mean_errors == chain_report(sliced).mean_errors);
  }
  CHECK_FALSE(whole.advance(cone, 0));
}

TEST_CASE("Gibbs chain: the start's norm and padding do not matter") {
  const bpm::Cone cone = random_cone(12, 6, 3, true);
  std::vector<double> start = start_in(cone);
  GibbsChain chain(cone, {}, start, bpm::RandomEngine(1));
  REQUIRE(std::ssize(start) == cone.stride());
  start.resize(static_cast<std::size_t>(cone.rank()));
  const double scale = GENERATE(1e-200, 1.0, 1e200);
  for (double& value : start) value *= scale;
  const GibbsChain other(cone, {}, start, bpm::RandomEngine(1));
  const std::vector<double> a = place_of(chain);
  const std::vector<double> b = place_of(other);
  CHECK(std::abs(norm_of(b) - 1) < 1e-14);
  for (std::size_t k = 0; k < a.size(); ++k) CHECK(std::abs(a[k] - b[k]) < 1e-14);
}

TEST_CASE("Gibbs chain: what a step costs, roughly") {
  const bpm::Cone small = orthant_cone(20);
  const bpm::Cone large = orthant_cone(200);
  const auto work = [](const bpm::Cone& cone, double noise, GibbsDirection directions) {
    const std::vector<double> start(static_cast<std::size_t>(cone.rank()), 1.0);
    return GibbsChain(cone, {.label_noise = noise, .directions = directions}, start,
                      bpm::RandomEngine(1))
        .step_work(cone);
  };
  const auto isotropic = GibbsDirection::isotropic;
  const auto input = GibbsDirection::input;
  CHECK(work(large, 0, isotropic) > work(small, 0, isotropic));
  CHECK(work(large, 0, isotropic) > work(large, 0, input));
  CHECK(work(large, 0.1, input) > 5 * work(large, 0, input));
}

TEST_CASE("Gibbs chain: never outside version space, norm 1") {
  const GibbsDirection directions = GENERATE(GibbsDirection::isotropic, GibbsDirection::input);
  int outside = 0;
  double off = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const auto m = static_cast<std::ptrdiff_t>(1 + seed % 40);
    const bpm::Cone cone = random_cone(m, 1 + static_cast<std::ptrdiff_t>(seed % 9), seed, true);
    GibbsChain chain(cone, {.steps_per_draw = 9, .directions = directions, .burn_in = 3},
                     start_in(cone), bpm::RandomEngine(seed));
    for (int draw = 0; draw < 10; ++draw) {
      next_draw(chain, cone);
      outside += smallest_output(cone, chain) > 0 ? 0 : 1;
      off = std::max(off, std::abs(norm_of(place_of(chain)) - 1));
    }
    CHECK(is_finite(sum_of(chain, cone)));
  }
  CHECK(outside == 0);
  CHECK(off < 1e-13);
}

TEST_CASE("Gibbs chain: near-singular kernels, in and out of version space") {
  const double width = GENERATE(0.3, 1.0, 30.0);
  const double noise = GENERATE(0.0, 0.05);
  const GibbsDirection directions = GENERATE(GibbsDirection::isotropic, GibbsDirection::input);
  CAPTURE(width, noise, directions == GibbsDirection::input);
  const std::ptrdiff_t m = 40;
  std::vector<signed char> labels(m, 1);
  std::fill(labels.begin() + 17, labels.end(), static_cast<signed char>(-1));
  const bpm::Cone cone = cone_of(smooth_kernel(m, width), labels, 1e-12);
  const std::vector<double> start = start_in(cone);
  std::vector<double> d(static_cast<std::size_t>(m));
  cone.outputs(start.data(), d.data());
  if (noise == 0 && *std::min_element(d.begin(), d.end()) <= 0) return;
  GibbsChain chain(cone, {.label_noise = noise, .directions = directions, .burn_in = 100}, start,
                   bpm::RandomEngine(9));
  for (int draw = 0; draw < 50; ++draw) {
    next_draw(chain, cone);
    REQUIRE(is_finite(place_of(chain)));
    if (noise == 0) REQUIRE(smallest_output(cone, chain) > 0);
  }
  CHECK(is_finite(sum_of(chain, cone)));
  CHECK(chain_report(chain).repairs <= chain.steps() / 100);
}

TEST_CASE("Gibbs chain: one dimension has two points") {
  // Points 2, 1, 3, 1, 1 on a line; labels make two errors right of 0 and three left of it.
  const Eigen::VectorXd inputs = (Eigen::VectorXd(5) << 2, 1, 3, 1, 1).finished();
  const bpm::RowMatrix<double> kernel = inputs * inputs.transpose();
  const double noise = GENERATE(0.1, 0.4);
  const bool rao_blackwell = GENERATE(false, true);
  const GibbsDirection directions = GENERATE(GibbsDirection::isotropic, GibbsDirection::input);
  const bpm::Cone cone = cone_of(kernel, {1, 1, -1, 1, -1});
  REQUIRE(cone.rank() == 1);
  GibbsChain chain(cone,
                   {.steps_per_draw = 20'000,
                    .label_noise = noise,
                    .directions = directions,
                    .rao_blackwell = rao_blackwell},
                   std::vector<double>{1.0}, bpm::RandomEngine(4));
  next_draw(chain, cone);
  const double right = 1 / (1 + noise / (1 - noise));  // One error fewer.
  const double sign = cone.row(0)[0] > 0 ? 1 : -1;
  CHECK(std::abs(std::abs(chain.position()[0]) - 1) < 1e-15);
  CHECK(std::abs(sign * sum_of(chain, cone)[0] / chain.weight() - (2 * right - 1)) < 0.02);
  CHECK(std::abs(chain_report(chain).mean_errors - (2 * right + 3 * (1 - right))) < 0.02);
}

TEST_CASE("Gibbs chain: a single point, and one dimension without noise, stay where they are") {
  const std::ptrdiff_t m = GENERATE(1, 4);
  const GibbsDirection directions = GENERATE(GibbsDirection::isotropic, GibbsDirection::input);
  const bpm::RowMatrix<double> kernel = bpm::RowMatrix<double>::Constant(m, m, 4.0);
  const bpm::Cone cone = cone_of(kernel, std::vector<signed char>(static_cast<std::size_t>(m), -1));
  GibbsChain chain(cone, {.directions = directions}, start_in(cone), bpm::RandomEngine(4));
  const std::vector<double> before = place_of(chain);
  next_draw(chain, cone);
  CHECK(place_of(chain) == before);
  CHECK(std::abs(sum_of(chain, cone)[0] / chain.weight() - before[0]) < 1e-12);
  CHECK(chain_report(chain).repairs == 0);
}

TEST_CASE("Gibbs chain: contradictions and points without features are what noise is for") {
  // Points 0 and 1 are one with both labels, point 2 has no feature at all.
  bpm::RowMatrix<double> inputs = bpm::RowMatrix<double>::Zero(5, 3);
  inputs.row(0) << 1, 2, 0;
  inputs.row(1) << 1, 2, 0;
  inputs.row(3) << 0, 1, 1;
  inputs.row(4) << 1, 0, -1;
  const double noise = GENERATE(0.3, 1e-3, 1e-30, 1e-300);
  const GibbsDirection directions = GENERATE(GibbsDirection::isotropic, GibbsDirection::input);
  CAPTURE(noise, directions == GibbsDirection::input);
  const bpm::Cone cone = cone_of(inputs * inputs.transpose(), {1, -1, 1, 1, 1});
  GibbsChain chain(cone, {.steps_per_draw = 5'000, .label_noise = noise, .directions = directions},
                   start_in(cone), bpm::RandomEngine(4));
  next_draw(chain, cone);
  CHECK(is_finite(sum_of(chain, cone)));
  CHECK(is_finite(place_of(chain)));
  CHECK(chain_report(chain).mean_errors >= 2);
  if (noise < 0.01) CHECK(chain_report(chain).mean_errors < 2.1);
}
