// SPDX-License-Identifier: MIT
// Expectation propagation where it is hard, and where it must give up.
#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include "bpm/core/errors.hpp"
#include "bpm/gaussian_process/expectation_propagation/expectation_propagation.hpp"
#include "bpm/samplers/sample_version_space.hpp"
#include "catch.hpp"
#include "law.hpp"
#include "naive_ep.hpp"

using namespace law_tests;
using bpm::expectation_propagation;
using bpm::ExpectationPropagation;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;

namespace {

double gap_of(const bpm::EpPosterior& p) {
  return ep_tests::fixed_point_gap(p.outputs, p.variances, p.site_precision, p.site_shift,
                                   p.noise_deviation);
}

Kernel duplicates(double correlation) {
  Kernel kernel(3, 3);
  kernel << 1, correlation, 0.2, correlation, 1, 0.2, 0.2, 0.2, 1;
  return kernel;
}

/// 20 points in 4 dimensions, labelled by the sign of the first coordinate.
bpm::Cone half_space_cone() {
  const Kernel inputs = tilted_inputs(20, 4, 0.3, 3);
  Labels labels;
  for (Eigen::Index i = 0; i < 20; ++i) labels.push_back(inputs(i, 0) > 0 ? 1 : -1);
  return cone_of_kernel(linear_kernel(inputs), labels);
}

}  // namespace

TEST_CASE("EP of rank one: all that points of one direction say, one says") {
  Kernel kernel(3, 3);
  kernel << 1, 2, -0.5, 2, 4, -1, -0.5, -1, 0.25;
  const bpm::Cone cone = cone_of_kernel(kernel, Labels{1, 1, -1});
  REQUIRE(cone.rank() == 1);
  const auto p = expectation_propagation(cone, {.tolerance = 1e-9});
  // Three times the same step is one: EP does not know that, and is near.
  CHECK(p.log_evidence == Approx(-std::log(2.0)).margin(0.25));
  CHECK(p.centre_of_mass().norm == Approx(1).epsilon(0.1));
  CHECK(p.outputs[1] == Approx(2 * p.outputs[0]).epsilon(1e-12));
  CHECK(gap_of(p) < 1e-6);
  CHECK_THROWS_AS(expectation_propagation(cone_of_kernel(kernel, Labels{1, -1, -1})),
                  bpm::NotConverged);
}

TEST_CASE("EP with equal points of one label, and nearly equal ones") {
  for (const double correlation : {1.0, 1 - 1e-13, 1 - 1e-10, 1 - 1e-6}) {
    CAPTURE(correlation);
    const bpm::Cone cone = cone_of_kernel(duplicates(correlation), Labels{1, 1, -1});
    const auto p = expectation_propagation(cone, {.tolerance = 1e-9});
    CHECK(p.outputs[0] == Approx(p.outputs[1]).epsilon(1e-3));
    CHECK(p.outputs[0] > 0);
    CHECK(std::isfinite(p.log_evidence));
    CHECK(gap_of(p) < 1e-6);
  }
}

TEST_CASE("EP of an empty version space ends in an error, not in numbers") {
  const bpm::Cone cone = cone_of_kernel(duplicates(1.0), Labels{1, -1, 1});
  CHECK_THROWS_WITH(expectation_propagation(cone),
                    ContainsSubstring("expectation_propagation: ") &&
                        ContainsSubstring("sweeps with damping") &&
                        ContainsSubstring("version space is empty, or thinner than can be told"));
  CHECK_THROWS_AS(expectation_propagation(cone), bpm::NotConverged);
  // With noise there is nothing wrong with it: the two outweigh each other.
  const auto p = expectation_propagation(cone, {.noise_deviation = 0.5, .tolerance = 1e-10});
  CHECK(gap_of(p) < 1e-6);
  CHECK(std::abs(p.outputs[0] + p.outputs[1]) < 1e-9);
  // Three planes that leave nothing.
  Kernel inputs(3, 2);
  inputs << 1, 0, -0.5, 0.8, -0.5, -0.8;
  CHECK_THROWS_AS(expectation_propagation(cone_of_kernel(linear_kernel(inputs), all_positive(3))),
                  bpm::NotConverged);
}

TEST_CASE("EP of a thin wedge: two opposite planes at an angle") {
  for (const double angle : {1e-1, 1e-3, 1e-5}) {
    Kernel inputs(2, 2);
    inputs << std::sin(angle / 2), std::cos(angle / 2), std::sin(angle / 2), -std::cos(angle / 2);
    const auto p = expectation_propagation(cone_of_kernel(linear_kernel(inputs), all_positive(2)),
                                           {.tolerance = 1e-9});
    CAPTURE(angle, p.log_evidence, p.sweeps);
    CHECK(std::abs(p.log_evidence - std::log(angle / (2 * std::acos(-1.0)))) < 0.3);
    CHECK(p.outputs[0] > 0);
    CHECK(gap_of(p) < 1e-6);
  }
}

TEST_CASE("EP: a point without features, by the step and by the probit") {
  Kernel kernel = Kernel::Identity(3, 3);
  kernel(1, 1) = 0;
  const bpm::Cone cone = cone_of_kernel(kernel, all_positive(3));
  CHECK_THROWS_WITH(
      expectation_propagation(cone),
      Equals("expectation_propagation: point 1 has k(x, x) + lambda = 0, so no classifier gives it "
             "a sign; set noise_deviation > 0 or a soft boundary lambda > 0"));
  CHECK_THROWS_AS(expectation_propagation(cone), bpm::NotSeparable);
  const auto p = expectation_propagation(cone, {.noise_deviation = 1, .tolerance = 1e-10});
  CHECK(p.log_evidence == Approx(-3 * std::log(2.0)).epsilon(1e-12));
  CHECK(p.outputs[1] == 0);
  CHECK(p.variances[1] == 0);
}

TEST_CASE("EP: lengths of features do not matter to the step") {
  const Kernel inputs = tilted_inputs(20, 4, 0.3, 3);
  Kernel scaled = inputs;
  for (Eigen::Index i = 0; i < 20; ++i) scaled.row(i) *= std::pow(10.0, i % 2 == 0 ? 7 : -5);
  const auto a = expectation_propagation(half_space_cone(), {.tolerance = 1e-9});
  Labels labels;
  for (Eigen::Index i = 0; i < 20; ++i) labels.push_back(inputs(i, 0) > 0 ? 1 : -1);
  const auto b =
      expectation_propagation(cone_of_kernel(linear_kernel(scaled), labels), {.tolerance = 1e-9});
  CHECK(a.log_evidence == Approx(b.log_evidence).epsilon(1e-8));
  CHECK(b.outputs[0] == Approx(1e7 * a.outputs[0]).epsilon(1e-6));
  CHECK(b.outputs[1] == Approx(1e-5 * a.outputs[1]).epsilon(1e-6));
  CHECK(gap_of(b) < 1e-6);
}

TEST_CASE("EP that has not converged says how far it came") {
  const bpm::Cone cone = half_space_cone();
  const auto message = [&](const ExpectationPropagation& settings) -> std::string {
    try {
      (void)expectation_propagation(cone, settings);
    } catch (const bpm::NotConverged& error) {
      return error.what();
    }
    return "nothing thrown";
  };
  CHECK_THAT(message({.tolerance = 1e-9, .max_sweeps = 2}),
             ContainsSubstring("expectation_propagation: the sites have not converged after 2 "
                               "sweeps with damping 1, where a site still changes by ") &&
                 ContainsSubstring(" and the tolerance is 1e-09; version space may be empty"));
  CHECK(message({.max_sweeps = 60}) == "nothing thrown");
}

TEST_CASE("EP with damping goes to the same fixed point, in more sweeps") {
  const bpm::Cone cone = half_space_cone();
  const auto whole = expectation_propagation(cone, {.tolerance = 1e-9});
  const auto half = expectation_propagation(cone, {.tolerance = 1e-9, .damping = 0.5});
  CHECK(half.log_evidence == Approx(whole.log_evidence).epsilon(1e-9));
  CHECK(half.sweeps > whole.sweeps);
  CHECK(half.damping <= 0.5);
  CHECK(whole.damping == 1);
}

TEST_CASE("EP refuses settings out of range") {
  const bpm::Cone cone = orthant(2);
  const auto refuse = [&](const ExpectationPropagation& settings, const std::string& what) {
    CHECK_THROWS_WITH(expectation_propagation(cone, settings),
                      Equals("ExpectationPropagation: " + what));
  };
  constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
  refuse({.noise_deviation = -1}, "noise_deviation is -1, must be at least 0 and below 1e100");
  refuse({.noise_deviation = not_a_number},
         "noise_deviation is nan, must be at least 0 and below 1e100");
  refuse({.tolerance = 0}, "tolerance is 0, must lie between 0 and 1");
  refuse({.tolerance = 1}, "tolerance is 1, must lie between 0 and 1");
  refuse({.max_sweeps = 0}, "max_sweeps is 0, must be 1 or more");
  refuse({.damping = 0}, "damping is 0, must be above 0 and at most 1");
  refuse({.damping = 1.5}, "damping is 1.5, must be above 0 and at most 1");
  refuse({.factor_tolerance = -1}, "factor_tolerance is -1, must be at least 0 and below 1");
}

TEST_CASE("EP refuses kernel values of another shape") {
  const auto posterior = expectation_propagation(orthant(3));
  CHECK_THROWS_WITH(posterior.predict(Eigen::MatrixXd(2, 1), Eigen::VectorXd(1)),
                    Equals("EpPosterior::predict: values has 2 entries, expected 3 (rows: one per "
                           "pivot)"));
  CHECK_THROWS_WITH(posterior.predict(Eigen::MatrixXd(3, 2), Eigen::VectorXd(1)),
                    Equals("EpPosterior::predict: diagonal has 1 entries, expected 2 (one "
                           "per input)"));
}
