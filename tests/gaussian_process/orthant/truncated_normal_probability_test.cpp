// SPDX-License-Identifier: MIT
// Probabilities of boxes and half spaces against products, integrals and orthants; error bars.
#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/normal.hpp"
#include "bpm/core/random.hpp"
#include "bpm/gaussian_process/orthant/orthant_probability.hpp"
#include "bpm/gaussian_process/orthant/truncated_normal.hpp"
#include "catch.hpp"
#include "orthant_problems.hpp"

namespace {

using bpm::TruncatedNormal;
using namespace orthant_tests;

TruncatedNormal::Probability probability_of(const TruncatedNormal& law, std::ptrdiff_t draws = 4096,
                                            std::uint64_t seed = 1) {
  bpm::RandomStreams streams{.seed = seed};
  return law.probability(draws, {}, streams);
}

/// Off by at most 4 standard errors, which are small.
void check_found(const TruncatedNormal& law, double truth, double most_error) {
  const auto found = probability_of(law);
  CAPTURE(found.log_probability, truth, found.standard_error, found.levels);
  CHECK(std::abs(found.log_probability - truth) < 4 * found.standard_error + 1e-12);
  CHECK(found.standard_error < most_error);
  CHECK(found.degrees_of_freedom >= 14.99);
  CHECK(found.degrees_of_freedom <= 15.01 * static_cast<double>(found.levels));
  CHECK(found.draws == 4096 * found.levels);
}

/// log P[x_i >= c for all n], of correlations 1/2: given what they share, they are independent.
double log_all_above(Eigen::Index n, double c) {
  double sum = 0;
  const double step = 1e-3;
  for (double z = -9; z < 9; z += step) {
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    sum += step * density *
           std::pow(bpm::detail::normal_cdf(z - c * std::numbers::sqrt2), static_cast<double>(n));
  }
  return std::log(sum);
}

}  // namespace

TEST_CASE("probability of a box: products of independent coordinates, far out and narrow ones") {
  const Eigen::VectorXd mean = Eigen::Vector4d(0, 1, -1, 0);
  const Eigen::VectorXd variance = Eigen::Vector4d(1, 4, 1, 9);
  const Eigen::VectorXd lower = Eigen::Vector4d(-1, 5, -infinite, 0.5);
  const Eigen::VectorXd upper = Eigen::Vector4d(1, infinite, -5, 0.6);
  double truth = 0;
  for (Eigen::Index i = 0; i < 4; ++i) {
    const double deviation = std::sqrt(variance[i]);
    const double low = bpm::detail::normal_cdf((lower[i] - mean[i]) / deviation);
    const double high = bpm::detail::normal_cdf((upper[i] - mean[i]) / deviation);
    truth += i == 1 ? std::log(bpm::detail::normal_cdf((mean[i] - lower[i]) / deviation))
                    : std::log(high - low);
  }
  REQUIRE(truth < -15);
  check_found({mean, variance.asDiagonal().toDenseMatrix(), lower, upper}, truth, 0.15);
}

TEST_CASE("probability of an equicorrelated orthant, with its corner off the mean and at it",
          "[at length]") {
  const Eigen::Index n = 40;
  const Eigen::VectorXd none = Eigen::VectorXd::Constant(n, infinite);
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(n);
  for (const double c : {-2.0, -0.5, 0.0, 1.0}) {
    CAPTURE(c);
    check_found({zero, equicorrelated(n, 0.5), Eigen::VectorXd::Constant(n, c), none},
                log_all_above(n, c), 0.1);
  }
  // At the mean it is 1 / (n + 1), and what `orthant_probability` says.
  CHECK(log_all_above(n, 0) == Approx(-std::log(n + 1.0)).epsilon(1e-6));
}

TEST_CASE(
    "probability of half spaces, more of them than coordinates, most of which bound nothing") {
  // A wedge of 2 pi / 6 about its bisector, planes that touch it at its corner alone, and others
  // farther out.
  Eigen::MatrixXd normals(7, 2);
  Eigen::VectorXd offsets = Eigen::VectorXd::Zero(7);
  for (Eigen::Index i = 0; i < 7; ++i) {
    const double angle = (static_cast<double>(i) - 3) * std::numbers::pi / 9;
    normals.row(i) << std::cos(angle), std::sin(angle);
    if (i % 2 == 1) offsets[i] = 0.5;
  }
  const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(2, 2);
  check_found({Eigen::VectorXd::Zero(2), identity, {.normals = normals, .offsets = offsets}},
              std::log(1.0 / 6), 0.05);
  // A slab of twelve planes, ten of them redundant, off the mean.
  Eigen::MatrixXd slab(12, 3);
  Eigen::VectorXd distances(12);
  for (Eigen::Index i = 0; i < 12; ++i) {
    slab.row(i) << 0, 0, i % 2 == 0 ? 1.0 : -1.0;
    distances[i] = (i % 2 == 0 ? -1.0 : 2.0) + 0.1 * static_cast<double>(i / 2);
  }
  const double truth = std::log(bpm::detail::normal_cdf(2.0) - bpm::detail::normal_cdf(1.0));
  check_found({Eigen::VectorXd::Zero(3),
               Eigen::MatrixXd::Identity(3, 3),
               {.normals = slab, .offsets = distances}},
              truth, 0.06);
}

TEST_CASE("probability: 1 where nothing is bounded, the same number for a seed on any threads") {
  const Eigen::VectorXd none = Eigen::VectorXd::Constant(3, infinite);
  const TruncatedNormal free(Eigen::VectorXd::Zero(3), equicorrelated(3, 0.5), -none, none);
  for (const int draws : {64, 100, 777}) {
    const auto all = probability_of(free, draws);
    CHECK(all.log_probability == 0);
    CHECK(all.standard_error <= 1.0 / draws);
    CHECK(all.standard_error > 0);
    CHECK(all.levels == 1);
  }
  const TruncatedNormal box(Eigen::VectorXd::Zero(3), equicorrelated(3, 0.5),
                            Eigen::VectorXd::Ones(3), none);
  bpm::RandomStreams one;
  bpm::RandomStreams more;
  const auto a = box.probability(64, {}, one, {.threads = 1});
  const auto b = box.probability(64, {}, more, {.threads = 3});
  CHECK(a.log_probability == b.log_probability);
  CHECK(a.standard_error == b.standard_error);
  CHECK(one.next == more.next);
  CHECK(probability_of(box, 64, 2).log_probability != a.log_probability);
}

TEST_CASE("probability: near 1, where mostly no draw is outside, it has an error bar") {
  // P = 0.9999: two of three runs have all of 4096 draws inside.
  const double bound = 3.719016485;
  const TruncatedNormal law(Eigen::VectorXd::Zero(1), Eigen::MatrixXd::Identity(1, 1),
                            Eigen::VectorXd::Constant(1, -infinite),
                            Eigen::VectorXd::Constant(1, bound));
  int without = 0;
  int holds = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto found = probability_of(law, 4096, seed);
    without += found.log_probability == 0 ? 1 : 0;
    holds += std::abs(found.log_probability - std::log(0.9999)) <
                     bpm::detail::student_quantile(0.975, found.degrees_of_freedom) *
                         found.standard_error
                 ? 1
                 : 0;
  }
  CHECK(without >= 15);
  CHECK(holds >= 36);
}

TEST_CASE("probability: its error bar holds the truth as often as it says", "[at length]") {
  const Eigen::Index n = 10;
  const TruncatedNormal law(Eigen::VectorXd::Zero(n), equicorrelated(n, 0.5),
                            Eigen::VectorXd::Constant(n, 0.5),
                            Eigen::VectorXd::Constant(n, infinite));
  const double truth = log_all_above(n, 0.5);
  int holds = 0;
  int half_of_it = 0;
  const int runs = 400;
  for (int seed = 1; seed <= runs; ++seed) {
    const auto found = probability_of(law, 512, static_cast<std::uint64_t>(seed));
    const double limit =
        bpm::detail::student_quantile(0.975, found.degrees_of_freedom) * found.standard_error;
    const double off = std::abs(found.log_probability - truth);
    holds += off < limit ? 1 : 0;
    half_of_it += off < limit / 2 ? 1 : 0;
  }
  CAPTURE(holds, half_of_it);
  CHECK(holds >= 0.92 * runs);
  CHECK(holds <= 0.9775 * runs);
  CHECK(half_of_it < 0.92 * runs);
}

TEST_CASE("probability: far out its logarithm is not too small", "[at length]") {
  // x > 20: log P = -203.917. Sums of 286 logarithms of shares would be 2.6 short on average,
  // where the mean of 24 is known to 0.5.
  const TruncatedNormal tail(Eigen::VectorXd::Zero(1), Eigen::MatrixXd::Identity(1, 1),
                             Eigen::VectorXd::Constant(1, 20.0),
                             Eigen::VectorXd::Constant(1, infinite));
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    bpm::RandomStreams streams{.seed = seed};
    sum += tail.probability(256, {}, streams).log_probability + 203.9171554;
  }
  CHECK(std::abs(sum / 24) < 1.3);
}

TEST_CASE("probability: draws of many chains depend on each other within a chain", "[at length]") {
  // Far out in a tail a chain forgets slowly. Batches across chains left the truth out of a third
  // of these intervals.
  const TruncatedNormal law(Eigen::VectorXd::Zero(1), Eigen::MatrixXd::Identity(1, 1),
                            Eigen::VectorXd::Constant(1, 4.0),
                            Eigen::VectorXd::Constant(1, infinite));
  const double truth = bpm::detail::log_normal_cdf(-4);
  int holds = 0;
  const int runs = 200;
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    bpm::RandomStreams streams{.seed = seed};
    const auto found = law.probability(512, {.chains = 32}, streams);
    holds += std::abs(found.log_probability - truth) <
                     bpm::detail::student_quantile(0.975, found.degrees_of_freedom) *
                         found.standard_error
                 ? 1
                 : 0;
  }
  CHECK(holds >= 0.88 * runs);
}

TEST_CASE("probability: what is asked is checked, and a run may be stopped") {
  const TruncatedNormal box(Eigen::VectorXd::Zero(2), equicorrelated(2, 0.5),
                            Eigen::VectorXd::Ones(2), Eigen::VectorXd::Constant(2, infinite));
  CHECK_THROWS_WITH(probability_of(box, 63),
                    "TruncatedNormal::probability: draws is 63, must be 64 or more");
  CHECK_THROWS_AS(probability_of(box, -1), std::invalid_argument);
  bpm::RandomStreams streams;
  CHECK_THROWS_WITH(box.probability(64, {.chains = 0}, streams),
                    "TruncatedNormal::probability: chains is 0, must be 1 or more");
  const TruncatedNormal far(Eigen::VectorXd::Zero(1), Eigen::MatrixXd::Identity(1, 1),
                            Eigen::VectorXd::Constant(1, 150),
                            Eigen::VectorXd::Constant(1, infinite));
  CHECK_THROWS_WITH(probability_of(far),
                    "TruncatedNormal::probability: bounds leave the mean 150 deviations outside, "
                    "must be at most 100");
  const bpm::RunControl control{.observer = [](const bpm::Progress&) { return false; }};
  CHECK_THROWS_WITH(box.probability(500, {}, streams, control),
                    "TruncatedNormal::probability: stopped before every level was measured");
  // Levels are found, then measured: the part that is done does not fall.
  double last = 0;
  bool measured = false;
  const bpm::RunControl watched{.observer = [&](const bpm::Progress& now) {
    measured = measured || now.stage != "levels";
    CHECK(now.fraction >= last);
    CHECK(now.fraction <= 1);
    last = now.fraction;
    return true;
  }};
  (void)box.probability(64, {.chains = 1}, streams, watched);
  CHECK(measured);
  CHECK(last == 1);
}
