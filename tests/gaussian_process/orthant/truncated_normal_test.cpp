// SPDX-License-Identifier: MIT
// Normal laws cut to boxes against hazards, rejection and the untruncated law.
#include "bpm/gaussian_process/orthant/truncated_normal.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/normal.hpp"
#include "bpm/core/random.hpp"
#include "catch.hpp"
#include "mutants/box_bounce_point.hpp"
#include "mutants/box_no_division.hpp"
#include "orthant_problems.hpp"
#include "statistics.hpp"

using namespace orthant_tests;
using bpm::RandomStreams;
using bpm::TruncatedNormal;
using TruncatedNormalSettings = bpm::TruncatedNormal::Settings;

namespace {

struct Box {
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
  Eigen::VectorXd lower;
  Eigen::VectorXd upper;
};

Eigen::MatrixXd box_draws(const Box& box, Eigen::Index count,
                          const TruncatedNormalSettings& settings = {}, std::uint64_t seed = 1) {
  RandomStreams streams{.seed = seed};
  return TruncatedNormal(box.mean, box.covariance, box.lower, box.upper)
      .sample(count, settings, streams);
}

/// One number of this variance in [lower, upper], mean 0.
Box interval(double variance, double lower, double upper) {
  return {Eigen::VectorXd::Zero(1), Eigen::MatrixXd::Constant(1, 1, variance),
          Eigen::VectorXd::Constant(1, lower), Eigen::VectorXd::Constant(1, upper)};
}

/// Mean and mean square of a standard normal number in [a, b].
Eigen::VectorXd interval_moments(double a, double b) {
  using bpm::detail::normal_cdf;
  using bpm::detail::normal_density;
  const double share = a > 0 ? normal_cdf(-a) - normal_cdf(-b) : normal_cdf(b) - normal_cdf(a);
  const double at_a = normal_density(a);
  const double at_b = normal_density(b);
  const double first = std::isinf(a) ? 0 : a * at_a;
  const double second = std::isinf(b) ? 0 : b * at_b;
  Eigen::VectorXd truth(2);
  truth << (at_a - at_b) / share, 1 + (first - second) / share;
  return truth;
}

/// The same draws by flights that may be wrong, of a box with mean zero.
template <class Ball>
Eigen::MatrixXd draws_by(const Box& box, Eigen::Index count) {
  const auto planes =
      bpm::detail::dense_planes("test", box.covariance, Eigen::VectorXd::Ones(box.mean.size()));
  const Eigen::VectorXd start = 0.5 * (box.lower + box.upper);
  Ball ball(planes, box.lower, box.upper, start, std::numbers::pi / 2, bpm::RandomEngine(1, 1));
  Eigen::MatrixXd draws(planes.points, count);
  for (Eigen::Index j = 0; j < count; ++j) {
    ball.fly(planes);
    for (Eigen::Index i = 0; i < draws.rows(); ++i) draws(i, j) = ball.position()[i];
  }
  return draws;
}

/// `count` draws of a box by rejection.
Eigen::MatrixXd rejected(const Box& box, Eigen::Index count, std::uint64_t seed) {
  const Eigen::MatrixXd root = Eigen::LLT<Eigen::MatrixXd>(box.covariance).matrixL();
  bpm::RandomEngine engine(seed, 7);
  bpm::NormalDraws normal;
  Eigen::MatrixXd kept(box.mean.size(), count);
  for (Eigen::Index j = 0; j < count;) {
    Eigen::VectorXd z(box.mean.size());
    for (double& value : z) value = normal(engine);
    const Eigen::VectorXd x = box.mean + root * z;
    if ((x.array() >= box.lower.array()).all() && (x.array() <= box.upper.array()).all()) {
      kept.col(j++) = x;
    }
  }
  return kept;
}

double z_against_rejection(const Box& box, Eigen::Index count) {
  const Eigen::MatrixXd difference =
      moments(box_draws(box, count)) - moments(rejected(box, count, 9));
  return worst_z(difference, Eigen::VectorXd::Zero(difference.rows()));
}

}  // namespace

TEST_CASE("truncated normal in one dimension: moments by hazards") {
  struct Case {
    double a, b;
  };
  const Case c = GENERATE(Case{-1, 1}, Case{0.5, 0.8}, Case{-3, 0.2}, Case{-infinite, -1},
                          Case{0, infinite}, Case{0, 1}, Case{2, infinite}, Case{-infinite, 4});
  CAPTURE(c.a, c.b);
  // Scaled by 3: the flight is the same.
  const Eigen::MatrixXd draws = box_draws(interval(9, 3 * c.a, 3 * c.b), 20'000) / 3;
  CHECK(draws.minCoeff() >= c.a);
  CHECK(draws.maxCoeff() <= c.b);
  CHECK(worst_z(moments(draws), interval_moments(c.a, c.b)) < 5);
}

TEST_CASE("truncated normal in one dimension: far in the tail") {
  const double bound = GENERATE(8.0, 30.0);
  const bool above = GENERATE(true, false);
  Box box = above ? interval(1, bound, infinite) : interval(1, -infinite, -bound);
  // With another mean: the same law, moved.
  box.mean[0] += 100;
  box.lower[0] += 100;
  box.upper[0] += 100;
  Eigen::MatrixXd draws = box_draws(box, 20'000);
  draws.array() -= 100;
  if (!above) draws = -draws;
  CHECK(draws.minCoeff() >= bound - 1e-12);
  const double hazard = bpm::detail::normal_hazard(-bound);
  Eigen::VectorXd truth(2);
  truth << hazard, 1 + bound * hazard;
  CHECK(worst_z(moments(draws), truth) < 5);
  std::vector<double> sample;
  for (Eigen::Index j = 0; j < draws.cols(); j += 8) sample.push_back(draws(0, j));
  CHECK(test_support::kolmogorov_smirnov(sample, [&](double x) {
          return 1 -
                 std::exp(bpm::detail::log_normal_cdf(-x) - bpm::detail::log_normal_cdf(-bound));
        }) < test_support::kolmogorov_smirnov_bound);
}

TEST_CASE("truncated normal: wrong flights fail the check of moments") {
  const Box box = interval(0.6, -0.4, 1.5);
  const double scale = std::sqrt(0.6);
  const auto z = [&]<class Ball>() {
    return worst_z(moments(draws_by<Ball>(box, 20'000) / scale),
                   interval_moments(-0.4 / scale, 1.5 / scale));
  };
  CHECK(z.operator()<bpm::detail::BoxBall>() < 5);
  CHECK(z.operator()<bpm::detail::box_no_division_BoxBall>() > 10);
  CHECK(z.operator()<bpm::detail::box_bounce_point_BoxBall>() > 10);
}

TEST_CASE("truncated normal: boxes agree with rejection") {
  Box box{Eigen::VectorXd(2), Eigen::MatrixXd(2, 2), Eigen::VectorXd(2), Eigen::VectorXd(2)};
  box.mean << 0.3, -1;
  box.covariance << 2, 1.2, 1.2, 1;
  box.lower << -0.5, -0.8;
  box.upper << 1.5, 0.7;
  CHECK(z_against_rejection(box, 20'000) < 5);
  box.covariance << 2, -1.38, -1.38, 1;
  box.lower << -infinite, -0.2;
  box.upper << 0.1, infinite;
  CHECK(z_against_rejection(box, 10'000) < 5);
}

TEST_CASE("truncated normal: bounds of every kind in five dimensions agree with rejection") {
  Box box{Eigen::VectorXd(5), random_covariance(5, 4, 0.2, 4), Eigen::VectorXd(5),
          Eigen::VectorXd(5)};
  box.mean << 1, 0, -1, 0.5, 0;
  box.lower << 0, -infinite, -1.5, -infinite, 0;
  box.upper << infinite, 0.3, 0.5, infinite, infinite;
  CHECK(z_against_rejection(box, 10'000) < 5);
}

TEST_CASE("truncated normal: without bounds it is the normal law") {
  Box box{Eigen::VectorXd::LinSpaced(3, -1, 1), random_covariance(3, 3, 0.1, 6),
          Eigen::VectorXd::Constant(3, -infinite), Eigen::VectorXd::Constant(3, infinite)};
  Eigen::VectorXd truth(9);
  truth.head(3) = box.mean;
  Eigen::Index next = 3;
  for (Eigen::Index i = 0; i < 3; ++i) {
    for (Eigen::Index j = i; j < 3; ++j) {
      truth[next++] = box.covariance(i, j) + box.mean[i] * box.mean[j];
    }
  }
  CHECK(worst_z(moments(box_draws(box, 20'000)), truth) < 5);
}

TEST_CASE("truncated normal: an orthant is flown in as an orthant, and is the same law") {
  const std::ptrdiff_t n = 3;
  Box box{Eigen::VectorXd::Constant(n, 2.0), random_covariance(n, 3, 0.2, 7),
          Eigen::VectorXd::Constant(n, 2.0), Eigen::VectorXd::Constant(n, infinite)};
  box.lower[1] = -infinite;
  box.upper[1] = 2;
  const TruncatedNormal orthant(box.mean, box.covariance, box.lower, box.upper);
  CHECK(orthant.is_orthant());
  CHECK(z_against_rejection(box, 10'000) < 5);
  // A far bound makes it a box.
  const Eigen::MatrixXd by_orthant = box_draws(box, 10'000);
  box.upper[0] = 1e6;
  CHECK(!TruncatedNormal(box.mean, box.covariance, box.lower, box.upper).is_orthant());
  const Eigen::MatrixXd difference = moments(by_orthant) - moments(box_draws(box, 10'000, {}, 5));
  CHECK(worst_z(difference, Eigen::VectorXd::Zero(difference.rows())) < 5);
}

TEST_CASE("truncated normal: one seed, one sample, whatever the threads") {
  Box box{Eigen::VectorXd::Zero(6), random_covariance(6, 6, 0.2, 8),
          Eigen::VectorXd::Constant(6, -1), Eigen::VectorXd::Constant(6, 0.5)};
  const bool orthant = GENERATE(false, true);
  if (orthant) {
    box.lower.setZero();
    box.upper.setConstant(infinite);
  }
  const TruncatedNormal law(box.mean, box.covariance, box.lower, box.upper);
  const TruncatedNormalSettings settings{.burn_in = 3, .trajectories_per_draw = 2, .chains = 3};
  RandomStreams one{.seed = 4, .next = 10};
  RandomStreams three = one;
  const Eigen::MatrixXd a = law.sample(17, settings, one);
  bpm::RunControl control;
  control.threads = 3;
  const Eigen::MatrixXd b = law.sample(17, settings, three, control);
  CHECK(a == b);
  CHECK(one.next == 13);
  CHECK(law.sample(17, settings, one) != a);
  CHECK(law.sample(0, settings, one).cols() == 0);
  CHECK(law.sample(2, settings, one).cols() == 2);
}

TEST_CASE("truncated normal: a run can be stopped") {
  const Box box = interval(1, 0, 1);
  const TruncatedNormal law(box.mean, box.covariance, box.lower, box.upper);
  RandomStreams streams;
  bpm::RunControl control;
  std::uint64_t last = 0;
  control.observer = [&](const bpm::Progress& progress) {
    last = progress.draws;
    return progress.draws < 5;
  };
  CHECK_THROWS_AS(law.sample(100, {.chains = 1}, streams, control), bpm::Stopped);
  CHECK(last == 5);
  CHECK_THROWS_WITH(law.sample(100, {.chains = 1}, streams, control),
                    "TruncatedNormal::sample: stopped after 5 of 100 draws");
}

TEST_CASE("truncated normal: boxes in which flights would not end are refused") {
  const Eigen::MatrixXd covariance = 4 * Eigen::MatrixXd::Identity(1, 1);
  const auto make = [&](double low, double high) {
    return bpm::TruncatedNormal(Eigen::VectorXd::Zero(1), covariance,
                                Eigen::VectorXd::Constant(1, low),
                                Eigen::VectorXd::Constant(1, high));
  };
  CHECK_THROWS_WITH(make(1, 1 + 1e-6),
                    Catch::Matchers::ContainsSubstring(
                        " above lower, must be at least a millionth of the coordinate's deviation, "
                        "2"));
  CHECK_THROWS_WITH(make(1e17, 1e18), Catch::Matchers::ContainsSubstring(
                                          "must be within 1e6 deviations of the mean, 0"));
  CHECK_THROWS_AS(make(-1e18, -1e17), std::invalid_argument);
  bpm::RandomStreams streams;
  CHECK(make(1, 1 + 1e-5).sample(3, {.burn_in = 2}, streams).allFinite());
}

TEST_CASE("truncated normal: errors name what is wrong") {
  using Catch::Matchers::ContainsSubstring;
  Box box{Eigen::VectorXd::Zero(2), Eigen::MatrixXd::Identity(2, 2), Eigen::VectorXd::Zero(2),
          Eigen::VectorXd::Ones(2)};
  const auto fails = [](const Box& b, const std::string& text) {
    CHECK_THROWS_WITH(TruncatedNormal(b.mean, b.covariance, b.lower, b.upper),
                      ContainsSubstring(text));
  };
  Box bad = box;
  bad.mean[1] = infinite;
  fails(bad, "TruncatedNormal: mean at 1 is inf, must be finite");
  bad = box;
  bad.mean.resize(3);
  fails(bad, "TruncatedNormal: mean has 3 entries, expected 2 (one per row of the covariance)");
  bad = box;
  bad.lower[1] = 1;
  fails(bad, "TruncatedNormal: lower at 1 is 1, must be below upper, 1");
  bad = box;
  bad.upper[0] = std::numeric_limits<double>::quiet_NaN();
  fails(bad, "TruncatedNormal: lower at 0 is 0, must be below upper, nan");
  bad = box;
  bad.lower.resize(1);
  fails(bad, "TruncatedNormal: lower has 1 entries, expected 2 (one per row of the covariance)");
  bad = box;
  bad.upper.resize(0);
  fails(bad, "TruncatedNormal: upper has 0 entries, expected 2 (one per row of the covariance)");
  bad = box;
  bad.covariance(0, 0) = -1;
  fails(bad, "TruncatedNormal: covariance at (0, 0) is -1, must be positive");
  bad = box;
  bad.covariance.setOnes();
  CHECK_THROWS_AS(TruncatedNormal(bad.mean, bad.covariance, bad.lower, bad.upper),
                  bpm::NotPositiveDefinite);
  const TruncatedNormal law(box.mean, box.covariance, box.lower, box.upper);
  RandomStreams streams;
  const auto sample_fails = [&](std::ptrdiff_t count, const TruncatedNormalSettings& settings,
                                const std::string& text) {
    CHECK_THROWS_WITH(law.sample(count, settings, streams), ContainsSubstring(text));
  };
  sample_fails(-1, {}, "TruncatedNormal::sample: count is -1, must not be negative");
  sample_fails(1, {.trajectories_per_draw = 0}, "trajectories_per_draw is 0, must be 1 or more");
  sample_fails(1, {.path_length = 101}, "path_length is 101, must be positive");
  sample_fails(1, {.chains = 0}, "chains is 0, must be 1 or more");
  CHECK_THROWS_WITH(law.sample(1, {}, streams, {.threads = 4097}),
                    ContainsSubstring("TruncatedNormal::sample: threads is 4097, must be from 1"));
  CHECK(streams.next == 0);
}
