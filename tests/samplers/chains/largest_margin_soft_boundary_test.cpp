// SPDX-License-Identifier: MIT
// "Robust Bayes Point Machines", section 3: with a growing soft boundary version space becomes
// isotropic, and the largest ball's centre tends to the centre of mass.
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/chains/largest_margin.hpp"
#include "bpm/samplers/sample_version_space.hpp"
#include "bpm/version_space/cone.hpp"
#include "bpm/version_space/version_space.hpp"
#include "catch.hpp"

namespace {

struct Angle {
  double angle = 0;
  double standard_error = 0;
};

/// Between the largest margin's classifier and the centre of mass, under K + lambda.
Angle angle_at(double lambda) {
  constexpr std::ptrdiff_t m = 24;
  bpm::RandomEngine engine(11);
  bpm::RowMatrix<double> inputs(m, 2);
  std::vector<signed char> labels;
  for (std::ptrdiff_t i = 0; i < m; ++i) {
    inputs(i, 0) = 2 * bpm::uniform_unit(engine) - 1;
    inputs(i, 1) = 2 * bpm::uniform_unit(engine) - 1;
    labels.push_back(inputs(i, 0) * inputs(i, 1) > 0 ? 1 : -1);
  }
  const bpm::detail::OnDemandGram values(bpm::Gaussian::from_sigma(0.7), inputs);
  const bpm::detail::DenseGram<double> gram(values);
  const auto per_point = std::make_shared<const std::vector<double>>(m, lambda);
  const bpm::KernelVersionSpace space(gram, labels, per_point);
  const bpm::Cone cone = bpm::Cone(space);
  const bpm::LargestMargin margin = bpm::LargestMargin::find(cone, 1 - 1e-9);
  REQUIRE(margin.margin > 0);
  REQUIRE(margin.margin >= margin.upper_bound * (1 - 1e-6));

  bpm::Billiard billiard;
  billiard.bounces_per_draw = 4000;
  bpm::Billiard::State state;
  bpm::RandomStreams streams{.seed = 3};
  const auto report = bpm::sample_version_space(
      billiard, space, streams, bpm::RunControl{}, [](const bpm::Draw&) {}, state);
  REQUIRE(report.converged);
  const std::vector<double> centre = cone.coordinates(state.centre().coefficients);
  return {bpm::detail::angle_between(margin.position.data(), centre.data(), cone.stride()),
          report.chains->standard_error};
}

}  // namespace

TEST_CASE("the angle between the largest margin and the centre falls to 0 as lambda grows") {
  double before = 2;
  for (const double lambda : {0.0, 1.0, 10.0, 100.0, 1000.0}) {
    const Angle angle = angle_at(lambda);
    CAPTURE(lambda, angle.angle, angle.standard_error, before);
    CHECK(angle.standard_error < 0.02);
    CHECK(angle.angle < before + 3 * angle.standard_error);
    if (lambda == 0) CHECK(angle.angle > 0.1);
    if (lambda == 1000) CHECK(angle.angle < 0.002 + 3 * angle.standard_error);
    before = angle.angle;
  }
}
