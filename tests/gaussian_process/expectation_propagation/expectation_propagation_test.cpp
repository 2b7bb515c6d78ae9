// SPDX-License-Identifier: MIT
// Expectation propagation against closed forms, a plain implementation by the book, rejection
// sampling and the billiard.
#include "bpm/gaussian_process/expectation_propagation/expectation_propagation.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "billiard_problems.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/sample_version_space.hpp"
#include "catch.hpp"
#include "law.hpp"
#include "naive_ep.hpp"

using namespace law_tests;
using namespace ep_tests;
using bpm::EpPosterior;
using bpm::expectation_propagation;
using bpm::ExpectationPropagation;

namespace {

constexpr double pi = std::numbers::pi;

Kernel equicorrelated_kernel(std::ptrdiff_t n, double rho) {
  Kernel kernel = Kernel::Constant(n, n, rho);
  kernel.diagonal().setOnes();
  return kernel;
}

double gap(const EpPosterior& p) {
  return fixed_point_gap(p.outputs, p.variances, p.site_precision, p.site_shift, p.noise_deviation);
}
double gap(const NaiveEp& naive) {
  const auto numbers = [](const Eigen::VectorXd& v) { return Numbers(v.begin(), v.end()); };
  return fixed_point_gap(numbers(naive.mean), numbers(naive.covariance.diagonal()),
                         numbers(naive.precision), numbers(naive.shift), naive.noise);
}

/// Random inputs in a cube, the Gaussian kernel, labels by a random classifier.
Kernel cube_kernel(std::ptrdiff_t m, std::ptrdiff_t d, double gamma, std::uint64_t seed) {
  bpm::RandomEngine engine(seed, 41);
  Kernel inputs(m, d);
  for (Eigen::Index i = 0; i < inputs.size(); ++i) inputs.data()[i] = bpm::uniform_unit(engine);
  return gaussian_kernel(inputs, gamma);
}
Labels classifier_labels(const Kernel& kernel, std::uint64_t seed) {
  bpm::RandomEngine engine(seed, 42);
  bpm::NormalDraws normal;
  Eigen::VectorXd alpha(kernel.rows());
  for (double& value : alpha) value = normal(engine);
  const Eigen::VectorXd outputs = kernel * alpha;
  Labels labels;
  for (const double o : outputs) labels.push_back(o > 0 ? 1 : -1);
  return labels;
}

constexpr ExpectationPropagation precise_ep{.tolerance = 1e-11};

}  // namespace

TEST_CASE("EP of one point is the half normal law, and exact") {
  for (const double variance : {1.0, 1e-6, 400.0}) {
    const auto p = expectation_propagation(
        cone_of_kernel(Kernel::Constant(1, 1, variance), Labels{-1}), precise_ep);
    CHECK(p.log_evidence == Approx(-std::log(2.0)).epsilon(1e-14));
    CHECK(p.outputs[0] == Approx(std::sqrt(2 * variance / pi)).epsilon(1e-14));
    CHECK(p.variances[0] == Approx(variance * (1 - 2 / pi)).epsilon(1e-14));
    CHECK(p.centre_values()[0] == -p.outputs[0]);
    CHECK(p.coefficients[0] * variance == Approx(-p.outputs[0]).epsilon(1e-14));
    CHECK(p.rank() == 1);
    // In one dimension the sphere is two points: the centre is one of them.
    CHECK(p.centre_of_mass().norm == Approx(1).epsilon(1e-14));
  }
  // Phi(f / sigma): f given that f + sigma e > 0.
  const double v = 2.0;
  const double sigma = 0.7;
  const auto p = expectation_propagation(cone_of_kernel(Kernel::Constant(1, 1, v), Labels{1}),
                                         {.noise_deviation = sigma, .tolerance = 1e-11});
  const double s = v + sigma * sigma;
  CHECK(p.log_evidence == Approx(-std::log(2.0)).epsilon(1e-14));
  CHECK(p.outputs[0] == Approx(v * std::sqrt(2 / (pi * s))).epsilon(1e-13));
  CHECK(p.variances[0] == Approx(v - v * v / s * 2 / pi).epsilon(1e-13));
}

TEST_CASE("EP of orthogonal features is exact") {
  const auto p = expectation_propagation(cone_of_kernel(Kernel::Identity(90, 90), all_positive(90)),
                                         precise_ep);
  CHECK(p.log_evidence == Approx(-90 * std::log(2.0)).epsilon(1e-13));
  for (std::size_t i = 0; i < 90; ++i) {
    CHECK(p.outputs[i] == Approx(std::sqrt(2 / pi)).epsilon(1e-13));
    CHECK(p.variances[i] == Approx(1 - 2 / pi).epsilon(1e-13));
  }
  CHECK(p.sweeps == 2);  // The second shows that nothing changes.
  CHECK(p.centre_of_mass().norm ==
        Approx(std::sqrt(90 * 2 / pi) / bpm::detail::mean_chi(90)).epsilon(1e-12));
}

TEST_CASE("EP of two points against the closed form of the quadrant") {
  for (const double rho : {-0.9, -0.5, 0.3, 0.8}) {
    CAPTURE(rho);
    const auto p = expectation_propagation(
        cone_of_kernel(equicorrelated_kernel(2, rho), all_positive(2)), precise_ep);
    const double mass = 0.25 + std::asin(rho) / (2 * pi);
    const double mean = (1 + rho) / (2 * std::sqrt(2 * pi)) / mass;
    CHECK(std::abs(p.log_evidence - std::log(mass)) < 0.02);
    CHECK(p.outputs[0] == Approx(mean).epsilon(0.02));
    const double truth = 1 + rho * std::sqrt(1 - rho * rho) / (2 * pi) / mass - mean * mean;
    CHECK(p.variances[0] == Approx(truth).epsilon(0.1));
    CHECK(p.outputs[1] == Approx(p.outputs[0]).epsilon(1e-8));
    // Noise: the quadrant of K + sigma^2, and f given its sum with noise.
    const double sigma = 0.6;
    const double total = 1 + sigma * sigma;
    const double r = rho / total;
    const double noisy_mass = 0.25 + std::asin(r) / (2 * pi);
    const double noisy_sum = (1 + r) / (2 * std::sqrt(2 * pi)) / noisy_mass * std::sqrt(total);
    // E[f] = K (K + sigma^2)^-1 E[sum], and E[sum] is a multiple of the vector of ones.
    const auto q = expectation_propagation(
        cone_of_kernel(equicorrelated_kernel(2, rho), all_positive(2)), {.noise_deviation = sigma});
    CHECK(std::abs(q.log_evidence - std::log(noisy_mass)) < 0.005);
    CHECK(q.outputs[0] == Approx((1 + rho) / (total + rho) * noisy_sum).epsilon(0.005));
  }
}

TEST_CASE("EP of equal correlation 1/2: probability 1 / (n + 1), nearly") {
  double last = 0;
  for (const std::ptrdiff_t n : {10, 100, 300}) {
    const auto p = expectation_propagation(
        cone_of_kernel(equicorrelated_kernel(n, 0.5), all_positive(n)), precise_ep);
    const double error = p.log_evidence + std::log(static_cast<double>(n + 1));
    CAPTURE(n, error);
    CHECK(std::abs(error) < 0.04);
    last = p.log_evidence;
  }
  CHECK(std::abs(last + 5.746) < 5e-4);  // What others have found by expectation propagation.
}

TEST_CASE("EP is a fixed point; wrong rules are seen not to be") {
  const Kernel kernel = cube_kernel(50, 4, 1.0, 3);
  const Labels labels = classifier_labels(kernel, 4);
  const bpm::Cone cone = cone_of_kernel(kernel, labels);
  for (const double noise : {0.0, 0.05, 1.0}) {
    CAPTURE(noise);
    const auto p = expectation_propagation(cone, {.noise_deviation = noise, .tolerance = 1e-10});
    CHECK(gap(p) < 1e-6);
    CHECK(gap(expectation_propagation(cone, {.noise_deviation = noise})) < 1e-3);
    for (const double tau : p.site_precision) CHECK(tau >= 0);
    // Of the step, the mean is in version space.
    if (noise == 0) CHECK(*std::min_element(p.outputs.begin(), p.outputs.end()) > 0);
  }
  const Kernel small = equicorrelated_kernel(6, 0.4);
  for (const Rule rule : {Rule::right, Rule::cavity_of_the_wrong_sign, Rule::site_without_variance,
                          Rule::mean_without_site_variance}) {
    NaiveEp naive{small, 0.0, rule};
    naive.run(60);
    CAPTURE(static_cast<int>(rule));
    if (rule == Rule::right) {
      CHECK(gap(naive) < 1e-6);
    } else {
      CHECK_FALSE(gap(naive) < 0.01);
    }
  }
}

TEST_CASE("EP by blocks is sequential EP by the book") {
  // More points than two blocks, with a last block that is not full; full rank and not.
  const Kernel kernel = cube_kernel(150, 6, 1.0, 5) + 1e-3 * Kernel::Identity(150, 150);
  const bpm::Cone full = cone_of_kernel(kernel, classifier_labels(kernel, 6));
  const Kernel inputs = tilted_inputs(150, 12, 0.3, 2);
  const bpm::Cone flat = cone_of_kernel(linear_kernel(inputs), labels_by_first(inputs));
  REQUIRE(full.rank() == 150);
  REQUIRE(flat.rank() == 12);
  for (const bpm::Cone* const cone : {&full, &flat}) {
    for (const double noise : {0.0, 0.3}) {
      NaiveEp naive{signed_covariance(*cone), noise};
      naive.run(25);
      const auto p = expectation_propagation(*cone, {.noise_deviation = noise, .tolerance = 1e-11});
      CAPTURE(noise, cone->rank(), p.sweeps, p.log_evidence);
      CHECK(std::abs(p.log_evidence - naive.log_evidence()) <
            1e-8 * (1 + std::abs(p.log_evidence)));
      for (std::size_t i = 0; i < 150; ++i) {
        const auto k = static_cast<Eigen::Index>(i);
        CHECK(p.outputs[i] == Approx(naive.mean[k]).epsilon(1e-6));
        CHECK(p.variances[i] == Approx(naive.covariance(k, k)).epsilon(1e-6));
      }
    }
  }
}

TEST_CASE("EP: the order of the points does not matter at the fixed point") {
  const Kernel kernel = cube_kernel(100, 5, 1.0, 7) + 1e-2 * Kernel::Identity(100, 100);
  const Labels labels = classifier_labels(kernel, 8);
  Kernel reversed(100, 100);
  Labels other(100);
  for (Eigen::Index i = 0; i < 100; ++i) {
    for (Eigen::Index j = 0; j < 100; ++j) reversed(i, j) = kernel(99 - i, 99 - j);
    other[static_cast<std::size_t>(i)] = labels[static_cast<std::size_t>(99 - i)];
  }
  const auto a = expectation_propagation(cone_of_kernel(kernel, labels), precise_ep);
  const auto b = expectation_propagation(cone_of_kernel(reversed, other), precise_ep);
  CHECK(std::abs(a.log_evidence - b.log_evidence) < 1e-9);
  double worst = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    worst = std::max(worst, std::abs(a.outputs[i] / b.outputs[99 - i] - 1));
  }
  CHECK(worst < 1e-7);
}

TEST_CASE("EP: the probit on K is the step on K + noise^2") {
  const Kernel kernel = cube_kernel(80, 5, 1.0, 9);
  const Labels labels = classifier_labels(kernel, 10);
  const double noise = 0.4;
  const bpm::Cone hard = cone_of_kernel(kernel, labels);
  const bpm::Cone soft = cone_of_kernel(kernel, labels, Numbers(80, noise * noise));
  const auto a = expectation_propagation(hard, {.noise_deviation = noise, .tolerance = 1e-11});
  const auto b = expectation_propagation(soft, precise_ep);
  CHECK(std::abs(a.log_evidence - b.log_evidence) < 1e-9);
  // Latent outputs of the second less its noise: alpha are the same up to the factor's residual.
  const Eigen::Map<const Eigen::VectorXd> alpha(b.coefficients.data(), 80);
  const Eigen::VectorXd outputs = kernel * alpha;
  for (std::size_t i = 0; i < 80; ++i) {
    CHECK(outputs[static_cast<Eigen::Index>(i)] ==
          Approx(a.centre_values()[i]).epsilon(1e-5).margin(1e-6));
  }
}

TEST_CASE("EP against rejection sampling on small cones") {
  struct Case {
    std::ptrdiff_t points, rank;
    double most_angle;
  };
  for (const auto& [points, rank, most_angle] :
       {Case{6, 3, 0.04}, Case{8, 4, 0.04}, Case{10, 6, 0.03}}) {
    const Kernel inputs = tilted_inputs(points, rank, 0.3, 1);
    const bpm::Cone cone = cone_of_kernel(linear_kernel(inputs), labels_by_first(inputs));
    const auto p = expectation_propagation(cone);
    const Sample sample = rejection_sample(cone, 20'000, 2);
    Numbers mean(sample.rank, 0.0);
    for (const Numbers& x : sample.points) {
      for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += x[k] / 20'000;
    }
    CAPTURE(points, rank, p.log_evidence, angle(mean, p.mean), norm_of(mean),
            p.centre_of_mass().norm);
    // The sample's own error is about 0.005.
    CHECK(angle(mean, p.mean) < most_angle);
    CHECK(p.centre_of_mass().norm == Approx(norm_of(mean)).epsilon(0.02));
    // The share of the sphere.
    bpm::RandomEngine engine(5, 33);
    bpm::NormalDraws normal;
    int inside = 0;
    Numbers x(static_cast<std::size_t>(cone.stride()), 0.0);
    Numbers d(static_cast<std::size_t>(points));
    for (int n = 0; n < 100'000; ++n) {
      for (std::size_t k = 0; k < sample.rank; ++k) x[k] = normal(engine);
      cone.outputs(x.data(), d.data());
      inside += *std::min_element(d.begin(), d.end()) > 0 ? 1 : 0;
    }
    CHECK(std::abs(p.log_evidence - std::log(inside / 100'000.0)) < 0.1);
  }
}

TEST_CASE("EP against the billiard's centre") {
  const Kernel kernel = cube_kernel(60, 20, 0.5, 11);
  const Problem problem(kernel, classifier_labels(kernel, 12));
  bpm::RandomStreams streams{1, 0};
  bpm::Billiard::State state;
  const auto report = bpm::sample_version_space(
      bpm::Billiard{.bounces = 600'000}, problem.space, streams, {}, [](const bpm::Draw&) {},
      state);
  REQUIRE(report.converged);
  const auto p = expectation_propagation(problem.space);
  const bpm::CentreOfMass centre = p.centre_of_mass();
  const bpm::CentreOfMass& other = state.centre();
  const double cosine = inner(centre.coefficients, other.outputs) / centre.norm / other.norm;
  CAPTURE(report.chains->standard_error, std::acos(std::min(1.0, cosine)));
  CHECK(report.chains->standard_error < 0.01);
  CHECK(std::acos(std::min(1.0, cosine)) < 0.03);
  CHECK(centre.norm == Approx(other.norm).epsilon(0.02));
}
