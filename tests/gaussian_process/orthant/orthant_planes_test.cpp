// SPDX-License-Identifier: MIT
// Flights in an orthant against moments in closed form, rejection, and order statistics.
#include "bpm/gaussian_process/orthant/orthant_planes.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/normal.hpp"
#include "bpm/gaussian_process/ensembles/posterior_ensemble.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/version_space/version_space.hpp"
#include "catch.hpp"
#include "mutants/orthant_bounce_point.hpp"
#include "mutants/orthant_no_division.hpp"
#include "orthant_problems.hpp"
#include "statistics.hpp"

using namespace orthant_tests;
using bpm::RandomEngine;
using bpm::detail::OrthantBall;
using bpm::detail::OrthantPlanes;

namespace {

constexpr double quarter_turn = std::numbers::pi / 2;

OrthantPlanes planes_of(const Eigen::MatrixXd& covariance, const std::vector<signed char>& signs) {
  return bpm::detail::dense_planes("test", covariance, bpm::detail::sign_vector(signs));
}

template <class Ball = OrthantBall>
Ball ball_of(const OrthantPlanes& planes, RandomEngine engine) {
  Ball ball(planes, quarter_turn, engine);
  ball.half_normals(planes);
  return ball;
}

/// d_i at the ends of the ball's next trajectory.
template <class Ball>
std::vector<double> next(Ball& ball, const OrthantPlanes& planes) {
  ball.fly(planes);
  return {ball.position(), ball.position() + planes.points};
}

/// Draws by flights that may be wrong.
template <class Ball = OrthantBall>
Eigen::MatrixXd draws_of(const Eigen::MatrixXd& covariance, const std::vector<signed char>& signs,
                         Eigen::Index count) {
  const OrthantPlanes planes = planes_of(covariance, signs);
  Ball ball = ball_of<Ball>(planes, RandomEngine(1, 1));
  Eigen::MatrixXd draws(planes.points, count);
  for (Eigen::Index j = -20; j < count; ++j) {
    const std::vector<double> d = next(ball, planes);
    for (Eigen::Index i = 0; j >= 0 && i < draws.rows(); ++i) {
      draws(i, j) = signs[std::size_t(i)] * d[std::size_t(i)];
    }
  }
  return draws;
}

struct Pair {
  Eigen::MatrixXd covariance{2, 2};
  std::vector<signed char> signs{1, -1};
  Eigen::VectorXd truth{5};
};

/// Two outputs of variance 0.8, signs + and -, correlation -rho: signed correlation rho.
Pair pair(double rho) {
  constexpr double v = 0.8;
  Pair p;
  p.covariance << v, -v * rho, -v * rho, v;
  const double share = 0.25 + std::asin(rho) / (2 * std::numbers::pi);
  const double root = std::sqrt(1 - rho * rho) / (2 * std::numbers::pi);
  const double mean = std::sqrt(v) * (1 + rho) / (2 * std::sqrt(2 * std::numbers::pi)) / share;
  const double square = v * (1 + rho * root / share);
  p.truth << mean, -mean, square, -v * (rho + root / share), square;
  return p;
}

}  // namespace

TEST_CASE("orthant flights: moments of two outputs are known by arcsines") {
  const double rho = GENERATE(-0.9, -0.3, 0.0, 0.5, 0.95);
  CAPTURE(rho);
  const Pair p = pair(rho);
  CHECK(worst_z(moments(draws_of(p.covariance, p.signs, 20'000)), p.truth) < 5);
}

TEST_CASE("orthant flights: wrong flights fail the same check") {
  const Pair p = pair(0.5);
  const auto z = [&]<class Ball>() {
    return worst_z(moments(draws_of<Ball>(p.covariance, p.signs, 20'000)), p.truth);
  };
  CHECK(z.operator()<OrthantBall>() < 5);
  CHECK(z.operator()<bpm::detail::orthant_no_division_OrthantBall>() > 10);
  CHECK(z.operator()<bpm::detail::orthant_bounce_point_OrthantBall>() > 10);
}

TEST_CASE("orthant flights: independent outputs are half normals") {
  const Eigen::MatrixXd draws = draws_of(Eigen::MatrixXd::Identity(5, 5), ones(5), 4'000);
  for (Eigen::Index i = 0; i < 5; ++i) {
    std::vector<double> sample;
    for (Eigen::Index j = 0; j < draws.cols(); j += 4) sample.push_back(draws(i, j));
    CHECK(test_support::kolmogorov_smirnov(sample, [](double x) {
            return 2 * bpm::detail::normal_cdf(x) - 1;
          }) < test_support::kolmogorov_smirnov_bound);
  }
}

TEST_CASE("orthant flights: moments agree with rejection") {
  const std::ptrdiff_t n = 4;
  const auto seed = GENERATE(std::uint64_t{1}, std::uint64_t{2});
  const Eigen::MatrixXd covariance = random_covariance(n, 3, 0.1, seed);
  const std::vector<signed char> signs = random_signs(n, seed);
  const Eigen::MatrixXd root = Eigen::LLT<Eigen::MatrixXd>(covariance).matrixL();
  RandomEngine engine(seed, 7);
  bpm::NormalDraws normal;
  Eigen::MatrixXd kept(n, 20'000);
  Eigen::Index count = 0;
  for (long tries = 0; tries < 3'000'000 && count < kept.cols(); ++tries) {
    Eigen::VectorXd z(n);
    for (double& value : z) value = normal(engine);
    const Eigen::VectorXd f = root * z;
    bool inside = true;
    for (Eigen::Index i = 0; i < n; ++i) inside = inside && f[i] * signs[std::size_t(i)] > 0;
    if (inside) kept.col(count++) = f;
  }
  REQUIRE(count == kept.cols());
  const Eigen::MatrixXd exact = moments(kept);
  // The difference of column j of both samples has mean zero.
  const Eigen::MatrixXd difference = moments(draws_of(covariance, signs, kept.cols())) - exact;
  CHECK(worst_z(difference, Eigen::VectorXd::Zero(difference.rows())) < 5);
}

TEST_CASE("orthant flights: correlation one half is an order statistic") {
  // f_i = (e_i - e_0) / sqrt(2), all positive where e_0 is the least of n + 1 normal numbers.
  const Eigen::Index n = 60;
  const double least = -normal_mean([&](double x) {
    const double m = static_cast<double>(n) + 1;
    return m * std::pow(bpm::detail::normal_cdf(x), static_cast<double>(n)) * x;
  });
  const double truth = -least * (1 + 1 / static_cast<double>(n)) / std::numbers::sqrt2;
  const Eigen::MatrixXd draws = draws_of(equicorrelated(n, 0.5), ones(n), 3'000);
  CHECK(worst_z(draws.colwise().mean(), Eigen::VectorXd::Constant(1, truth)) < 5);
  CHECK(worst_z(draws, Eigen::VectorXd::Constant(n, truth)) < 5);
}

TEST_CASE("orthant flights: every draw lies in the orthant, from any start in it") {
  const std::ptrdiff_t n = 37;
  const std::vector<signed char> signs = random_signs(n, 3);
  const OrthantPlanes planes = planes_of(random_covariance(n, 20, 0.01, 3), signs);
  OrthantBall ball(planes, 2, RandomEngine(4, 0));
  std::fill_n(ball.position(), n, 1e-3);
  bool inside = true;
  for (int k = 0; k < 300; ++k) {
    for (const double d : next(ball, planes)) inside = inside && d > 0;
  }
  CHECK(inside);
  CHECK(ball.bounces() > 1'000);
}

TEST_CASE("orthant flights: a value; one seed, one path") {
  const OrthantPlanes planes = planes_of(random_covariance(9, 9, 0.1, 5), random_signs(9, 5));
  OrthantBall ball = ball_of(planes, RandomEngine(6, 0));
  for (int k = 0; k < 7; ++k) ball.fly(planes);
  OrthantBall copy = ball;
  OrthantBall again = ball_of(planes, RandomEngine(6, 0));
  OrthantBall other = ball_of(planes, RandomEngine(6, 1));
  for (int k = 0; k < 7; ++k) again.fly(planes);
  for (int k = 0; k < 7; ++k) other.fly(planes);
  for (int k = 0; k < 30; ++k) {
    const std::vector<double> d = next(ball, planes);
    CHECK(d == next(copy, planes));
    CHECK(d == next(again, planes));
    CHECK(d != next(other, planes));
  }
}

TEST_CASE("the covariance of a version space's outputs is that of K and lambda") {
  const Eigen::MatrixXd covariance = random_covariance(6, 6, 0, 8);
  const bpm::RowMatrix<double> values = covariance;
  const bpm::PrecomputedGram<double> gram(values);
  const auto lambda = std::make_shared<const std::vector<double>>(6, 0.5);
  const bpm::KernelVersionSpace<double> space(gram, random_signs(6, 8), lambda);
  Eigen::MatrixXd softened = covariance;
  softened.diagonal().array() += 0.5;
  CHECK(bpm::detail::sampling_covariance(space) == softened);
  CHECK(bpm::detail::labels_of(space) == random_signs(6, 8));
}

TEST_CASE("orthant values: errors name what is wrong") {
  const std::vector<signed char> two{1, 1};
  Eigen::MatrixXd k = Eigen::MatrixXd::Identity(2, 2);
  using Catch::Matchers::ContainsSubstring;
  const auto fails = [&](const std::string& text) {
    CHECK_THROWS_WITH(bpm::OrthantValues(k, two, {}), ContainsSubstring(text));
  };
  k(0, 1) = std::numeric_limits<double>::quiet_NaN();
  fails("OrthantValues: covariance at (0, 1) is nan, must be finite");
  k(0, 1) = 0.5;
  fails("OrthantValues: covariance at (0, 1) is 0.5 but at (1, 0) 0: must be symmetric");
  k << 1, 0, 0, 0;
  fails("OrthantValues: covariance at (1, 1) is 0, must be positive");
  k << 1, 1, 1, 1;
  fails(": covariance is not positive definite to rounding (");
  CHECK_THROWS_AS(bpm::OrthantValues(k, two, {}), bpm::NotPositiveDefinite);
  k << 1, 2, 2, 1;
  CHECK_THROWS_AS(bpm::OrthantValues(k, two, {}), bpm::NotPositiveDefinite);
  fails("it has no Cholesky factor");
  k << 1, 1 - 1e-14, 1 - 1e-14, 1;
  fails("row 1 depends on those before it");
  k.resize(2, 3);
  k.setOnes();
  fails("OrthantValues: covariance is 2 x 3, must be square");
  k.resize(0, 0);
  fails("OrthantValues: covariance is empty");
  k = Eigen::MatrixXd::Identity(2, 2);
  CHECK_THROWS_WITH(bpm::OrthantValues(k, std::vector<signed char>{1}, {}),
                    ContainsSubstring("OrthantValues: signs has 1 entries, expected 2"));
  CHECK_THROWS_WITH(bpm::OrthantValues(k, std::vector<signed char>{1, 0}, {}),
                    ContainsSubstring("OrthantValues: signs at 1 is 0, must be 1 or -1"));
  CHECK_THROWS_WITH(
      bpm::OrthantValues(k, two, {}, {.path_length = 0}),
      ContainsSubstring("OrthantValues: path_length is 0, must be positive and at most "
                        "100 radians"));
}
