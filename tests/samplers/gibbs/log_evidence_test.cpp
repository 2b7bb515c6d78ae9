// SPDX-License-Identifier: MIT
// Evidence against closed forms: orthant probabilities, and their sums over label noise.
#include "bpm/samplers/gibbs/log_evidence.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "bpm/core/normal.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/version_space/version_space.hpp"
#include "catch.hpp"
#include "gibbs_problems.hpp"

using namespace sampler_tests;
using bpm::LogEvidence;
using bpm::RandomStreams;

namespace {

/// Correlation rho between all.
bpm::RowMatrix<double> equicorrelated(std::ptrdiff_t n, double rho) {
  bpm::RowMatrix<double> kernel = bpm::RowMatrix<double>::Constant(n, n, rho);
  kernel.diagonal().setConstant(1);
  return kernel;
}

bpm::Cone all_positive(const bpm::RowMatrix<double>& kernel) {
  return cone_of(kernel, std::vector<signed char>(static_cast<std::size_t>(kernel.rows()), 1));
}

LogEvidence evidence(const bpm::Cone& cone, double noise, std::uint64_t seed = 1,
                     std::uint64_t steps = 4'000) {
  RandomStreams streams{.seed = seed};
  return bpm::log_evidence(cone, noise, {.steps = steps}, streams);
}

/// Within 5 standard errors, which are as small as stated.
void check_value(const LogEvidence& found, double truth, double most_error) {
  CAPTURE(found.value, truth, found.standard_error);
  CHECK(std::abs(found.value - truth) < 5 * found.standard_error + 1e-12);
  CHECK(found.standard_error < most_error);
}

}  // namespace

TEST_CASE("log evidence of independent points is -m log 2, whatever the noise") {
  const std::ptrdiff_t m = GENERATE(2, 6, 20);
  const double noise = GENERATE(0.0, 0.01, 0.1, 0.3);
  CAPTURE(m, noise);
  const LogEvidence found = evidence(orthant_cone(m), noise);
  check_value(
      found, -static_cast<double>(m) * std::numbers::ln2,
      0.03 * std::sqrt(static_cast<double>(m)) + 0.02 * static_cast<double>(m) * (0.5 - noise));
}

TEST_CASE("log evidence of points with correlation one half is a binomial sum") {
  // All of k points are right with probability 1 / (k + 1).
  const int n = GENERATE(3, 8, 30);
  const double noise = GENERATE(0.0, 0.05, 0.25);
  CAPTURE(n, noise);
  double sum = 0;
  double binomial = 1;
  for (int k = 0; k <= n; ++k) {
    sum += binomial * std::pow(noise, n - k) * std::pow(1 - 2 * noise, k) / (k + 1);
    binomial *= static_cast<double>(n - k) / (k + 1);
  }
  check_value(evidence(all_positive(equicorrelated(n, 0.5)), noise), std::log(sum), 0.1);
}

TEST_CASE("log evidence of two and three points is known by arcsines") {
  const double noise = GENERATE(0.0, 0.1);
  const double c = 1 - 2 * noise;
  const double a = 0.3;
  const double b = -0.5;
  const double d = 0.6;
  const auto pair = [](double rho) { return 0.25 + std::asin(rho) / (2 * std::numbers::pi); };
  const double two = noise * noise + noise * c + c * c * pair(b);
  bpm::RowMatrix<double> kernel(2, 2);
  kernel << 4, 2 * b, 2 * b, 1;
  check_value(evidence(all_positive(kernel), noise), std::log(two), 0.05);
  kernel.resize(3, 3);
  kernel << 1, a, b, a, 1, d, b, d, 1;
  const double three =
      std::pow(noise, 3) + 1.5 * noise * noise * c + noise * c * c * (pair(a) + pair(b) + pair(d)) +
      c * c * c * (0.125 + (std::asin(a) + std::asin(b) + std::asin(d)) / (4 * std::numbers::pi));
  check_value(evidence(all_positive(kernel), noise), std::log(three), 0.05);
}

TEST_CASE("log evidence: intervals hold the truth as often as they say", "[at length]") {
  // 2000 runs: three standard errors of a share of 95 % are 1.5 points.
  const int n = GENERATE(3, 8);
  const bpm::Cone cone = all_positive(equicorrelated(n, 0.5));
  const double truth = -std::log(n + 1.0);
  double held = 0;
  double below_limit = 0;
  double held_by_half = 0;  // Of half the standard error, the mutant.
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const LogEvidence found = evidence(cone, 0.0, seed, 1'280);
    const double z = (found.value - truth) / found.standard_error;
    const double reach = bpm::detail::student_quantile(0.975, found.degrees_of_freedom);
    held += std::abs(z) <= reach ? 1.0 / 2000 : 0;
    held_by_half += std::abs(z) <= reach / 2 ? 1.0 / 2000 : 0;
    below_limit +=
        -z <= bpm::detail::student_quantile(0.99, found.degrees_of_freedom) ? 1.0 / 2000 : 0;
  }
  CAPTURE(n, held, below_limit);
  CHECK(held >= 0.935);
  CHECK(held <= 0.965);
  CHECK(below_limit >= 0.984);
  CHECK(held_by_half < 0.8);
}

TEST_CASE("log evidence: without information and in one dimension the value is exact") {
  const LogEvidence half = evidence(random_cone(9, 4, 1, false), 0.5);
  CHECK(std::abs(half.value + 9 * std::numbers::ln2) < 1e-14);
  CHECK(half.standard_error == 0);
  CHECK(half.steps == 0);
  // One direction, three right and two wrong on one side.
  const bpm::Cone line = cone_of(bpm::RowMatrix<double>::Constant(5, 5, 2.0), {1, 1, -1, 1, -1});
  const double q = 0.1;
  const double truth =
      (std::pow(q, 2) * std::pow(1 - q, 3) + std::pow(q, 3) * std::pow(1 - q, 2)) / 2;
  CHECK(std::abs(evidence(line, q).value - std::log(truth)) < 1e-13);
  CHECK(evidence(line, 0.0).value == -std::numeric_limits<double>::infinity());
  const bpm::Cone clean = cone_of(bpm::RowMatrix<double>::Constant(3, 3, 2.0), {1, 1, 1});
  CHECK(std::abs(evidence(clean, 0.0).value + std::numbers::ln2) < 1e-15);
}

TEST_CASE("log evidence: contradictions cost q (1 - q) each, and leave no version space") {
  bpm::RowMatrix<double> inputs = bpm::RowMatrix<double>::Zero(4, 2);
  inputs(0, 0) = inputs(1, 0) = 1;
  inputs(2, 1) = 2;  // The last point has no feature: it is wrong everywhere.
  const bpm::Cone cone = cone_of(inputs * inputs.transpose(), {1, -1, 1, 1});
  for (const double q : {0.2, 1e-3, 1e-30}) {
    CAPTURE(q);
    const double truth = std::log(q) + std::log1p(-q) - std::numbers::ln2 + std::log(q);
    check_value(evidence(cone, q), truth, 0.1);
  }
  CHECK(evidence(cone, 0.0, 1, 640).value == -std::numeric_limits<double>::infinity());
  CHECK(evidence(cone, 0.0, 1, 640).standard_error == std::numeric_limits<double>::infinity());
}

TEST_CASE("log evidence: one seed, one value; streams advance by two") {
  const bpm::RowMatrix<double> kernel = equicorrelated(4, 0.2);
  const bpm::PrecomputedGram<double> gram(kernel);
  const bpm::KernelVersionSpace<double> space(gram, {1, -1, 1, 1});
  RandomStreams streams{.seed = 5, .next = 7};
  const bpm::LogEvidence::Settings settings{.steps = 640, .pilot_steps = 50, .burn_in = 10};
  const LogEvidence a = bpm::log_evidence(space, 0.1, settings, streams);
  CHECK(streams.next == 9);
  const LogEvidence other = bpm::log_evidence(space, 0.1, settings, streams);
  streams.next = 7;
  const LogEvidence again = bpm::log_evidence(space, 0.1, settings, streams);
  CHECK(a.value == again.value);
  CHECK(a.standard_error == again.standard_error);
  CHECK(a.value != other.value);
  CHECK(a.stages >= 1);
  CHECK(a.steps == a.stages * (640 + 10 + 50 + 10));
}

TEST_CASE("log evidence: bad arguments are named") {
  const bpm::Cone cone = orthant_cone(3);
  RandomStreams streams;
  using Catch::Matchers::ContainsSubstring;
  CHECK_THROWS_WITH(bpm::log_evidence(cone, 0.6, {}, streams),
                    ContainsSubstring("log_evidence: label_noise is 0.6, must lie in [0, 1/2]"));
  CHECK_THROWS_WITH(bpm::log_evidence(cone, -0.1, {}, streams),
                    ContainsSubstring("label_noise is -0.1"));
  CHECK_THROWS_WITH(bpm::log_evidence(cone, std::numeric_limits<double>::quiet_NaN(), {}, streams),
                    ContainsSubstring("label_noise is nan"));
  CHECK_THROWS_WITH(bpm::log_evidence(cone, 0.1, {.steps = 639}, streams),
                    ContainsSubstring("steps is 639, must be 640 or more, or 0"));
  CHECK_THROWS_WITH(bpm::log_evidence(cone, 0.1, {.pilot_steps = 49}, streams),
                    ContainsSubstring("pilot_steps is 49, must be 50 or more"));
  CHECK(streams.next == 0);
}
