// SPDX-License-Identifier: MIT
// The filter, the change of the coefficients and the longest hop, against closed forms.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "bpm/kernel_values/gram.hpp"
#include "bpm/samplers/chains/largest_margin.hpp"
#include "bpm/version_space/cone.hpp"
#include "bpm/version_space/version_space.hpp"
#include "bpm_convergence/trace.hpp"
#include "catch.hpp"

using namespace bpm_examples;

namespace {

bpm::Cone cone_of(const bpm::RowMatrix<double>& kernel) {
  const bpm::PrecomputedGram<double> gram(kernel);
  const std::vector<signed char> labels(static_cast<std::size_t>(kernel.rows()), 1);
  const bpm::KernelVersionSpace space(gram, labels);
  bpm::Cone cone = bpm::Cone(space);
  cone.form_products();
  return cone;
}

bpm_examples::BilliardChain chain_of(const bpm::Cone& cone, bpm_examples::Flight flight,
                                     std::uint64_t seed, double refresh_length = 2) {
  bpm_examples::BilliardChainSettings settings;
  settings.flight = flight;
  settings.refresh_length = refresh_length;
  return {cone, settings, bpm::LargestMargin::find(cone).position, bpm::RandomEngine(seed)};
}

}  // namespace

TEST_CASE("bpm_convergence: the filter's answers to a step and to an impulse", "[examples]") {
  ChangeFilter step;
  ChangeFilter impulse;
  CHECK(step.value() == 0);
  for (int i = 1; i <= 500; ++i) {
    step.add(3);
    impulse.add(i == 1 ? 1 : 0);
    CHECK(std::abs(step.value() - 3 * (1 - std::pow(0.99, i))) <= 1e-12);
    CHECK(std::abs(impulse.value() - 0.01 * std::pow(0.99, i - 1)) <= 1e-15);
  }
}

TEST_CASE("bpm_convergence: changes are of coefficients at norm 1, from the second bounce",
          "[examples]") {
  CentreChange change;
  change.add({{2, 0, -2}, {}, 2});  // 1, 0, -1
  CHECK(change.value() == 0);
  change.add({{0.5, 0.25, -0.25}, {}, 0.5});  // 1, 0.5, -0.5
  CHECK(std::abs(change.value() - 0.01) <= 1e-15);
  change.add({{4, 2, -2}, {}, 4});  // The same point.
  CHECK(std::abs(change.value() - 0.0099) <= 1e-15);
}

TEST_CASE("bpm_convergence: the longest hop", "[examples]") {
  LargestHop hop;
  hop.add(std::vector<double>{5, 5, 9}, 2);
  CHECK(hop.value() == 0);
  hop.add(std::vector<double>{5, 6, -9}, 2);  // The third coordinate is padding.
  CHECK(hop.value() == 1);
  hop.add(std::vector<double>{2, 2, 0}, 2);
  CHECK(hop.value() == 5);
  hop.add(std::vector<double>{2, 3, 0}, 2);
  CHECK(hop.value() == 5);
}

TEST_CASE("bpm_convergence: in a wedge the longest hop is its chord and the centre its middle",
          "[examples]") {
  // In an open wedge the published ball escapes many times a bounce: for it the narrow one.
  const int which = GENERATE(0, 1, 2, 3);
  const auto flight = which == 0 ? bpm_examples::Flight::published : bpm_examples::Flight::geodesic;
  const double cosine = which <= 1 ? -0.5 : which == 2 ? 0.0 : 0.6;
  CAPTURE(which);
  bpm::RowMatrix<double> kernel(2, 2);
  kernel << 1, cosine, cosine, 1;
  const bpm::Cone cone = cone_of(kernel);
  const double opening = std::numbers::pi - std::acos(cosine);
  auto chain = chain_of(cone, flight, 1, std::numeric_limits<double>::infinity());
  const Course course = follow(chain, cone, 500);
  CHECK(chain.bounces() == 500);
  CHECK(std::abs(course.lambda_max - 2 * std::sin(opening / 2)) <= 1e-9);
  // Both outputs alike: the middle, to what 500 flights tell.
  CHECK(std::abs(course.centre.outputs[0] - course.centre.outputs[1]) <= 0.04);
  CHECK(course.delta_alpha > 0);
  CHECK(course.delta_alpha < 1e-2);
}

TEST_CASE("bpm_convergence: a path's centre is the mean of its points, on any chain",
          "[examples]") {
  const bpm::RowMatrix<double> kernel = bpm::RowMatrix<double>::Identity(3, 3);
  const bpm::Cone cone = cone_of(kernel);
  auto chain = chain_of(cone, bpm_examples::Flight::geodesic, 4);
  for (int n = 0; n < 20000; ++n) chain.bounce(cone);
  const bpm::CentreOfMass centre = path_centre(chain, cone);
  // The octant: its mean is (1, 1, 1) / 2.
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(std::abs(centre.outputs[i] - 0.5) <= 0.02);
    CHECK(std::abs(centre.coefficients[i] - centre.outputs[i]) <= 1e-9);
  }
  CHECK(std::abs(centre.norm - std::sqrt(0.75)) <= 0.02);
}

TEST_CASE("bpm_convergence: what the filter has forgotten need not be worked out", "[examples]") {
  bpm::RowMatrix<double> kernel = bpm::RowMatrix<double>::Constant(5, 5, 0.3);
  kernel.diagonal().setOnes();
  const bpm::Cone cone = cone_of(kernel);
  for (const auto flight : {bpm_examples::Flight::published, bpm_examples::Flight::geodesic}) {
    auto one = chain_of(cone, flight, 2);
    auto other = chain_of(cone, flight, 2);
    constexpr std::uint64_t bounces = filter_memory + 1000;
    std::uint64_t last = 0;
    const Course all = follow(one, cone, bounces, [&](std::uint64_t n, double delta) {
      CHECK(n == last + 1);
      CHECK(delta >= 0);
      last = n;
    });
    const Course late = follow(other, cone, bounces);
    CHECK(last == bounces);
    CHECK(std::abs(all.delta_alpha - late.delta_alpha) <= 1e-6 * all.delta_alpha);
    CHECK(std::abs(all.lambda_max - late.lambda_max) <= 1e-9);
  }
}
