// SPDX-License-Identifier: MIT
#include "bpm/bounds/gibbs_bound.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include "bpm/core/random.hpp"
#include "catch.hpp"
#include "message_of.hpp"

using test_support::message_of;

namespace {

/// (delta / N) sum_m binom(m, k) / binom(N, k) (1 - epsilon)^{-(N - m)}, as it is written.
double left_side(std::uint64_t k, std::uint64_t N, double delta, double epsilon) {
  const auto binomial = [](std::uint64_t n, std::uint64_t among) {
    long double value = 1;
    for (std::uint64_t i = 1; i <= among; ++i) {
      value *= static_cast<long double>(n - among + i) / static_cast<long double>(i);
    }
    return value;
  };
  long double sum = 0;
  for (std::uint64_t m = k; m < N; ++m) {
    sum += binomial(m, k) / binomial(N, k) *
           std::pow(1 - static_cast<long double>(epsilon), -static_cast<long double>(N - m));
  }
  return static_cast<double>(delta / static_cast<long double>(N) * sum);
}

struct Run {
  Eigen::Vector2d w = Eigen::Vector2d::Zero();
  std::vector<std::size_t> mistaken;  ///< Points, in the order of their indices.
};

/// The perceptron on rows of x in this order, until a pass without a mistake.
Run perceptron(const Eigen::MatrixXd& x, const std::vector<int>& y,
               const std::vector<std::size_t>& order) {
  Run run;
  std::vector<bool> mistaken(y.size());
  for (bool clean = false; !clean;) {
    clean = true;
    for (const std::size_t i : order) {
      const auto row = static_cast<Eigen::Index>(i);
      if (y[i] * x.row(row).dot(run.w) > 0) continue;
      run.w += y[i] * x.row(row).transpose();
      mistaken[i] = true;
      clean = false;
    }
  }
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (mistaken[i]) run.mistaken.push_back(i);
  }
  return run;
}

}  // namespace

TEST_CASE("the stable compression bound solves its equation", "[bounds]") {
  const std::uint64_t N = GENERATE(2, 10, 100);
  const std::uint64_t k = GENERATE(0, 1, 2, 7, 50);
  const double delta = GENERATE(0.5, 0.01, 1e-6);
  if (k >= N) return;
  CAPTURE(N, k, delta);
  const double epsilon = bpm::stable_compression_bound(k, N, delta);
  CHECK(epsilon > static_cast<double>(k) / static_cast<double>(N));
  CHECK(left_side(k, N, delta, epsilon) == Approx(1).epsilon(1e-8));
}

TEST_CASE("the stable compression bound in closed form", "[bounds]") {
  // One point that is not needed: delta / (1 - epsilon) = 1.
  CHECK(bpm::stable_compression_bound(0, 1, 0.1) == Approx(0.9).epsilon(1e-14));
  // All but one: delta / N^2 / (1 - epsilon) = 1.
  CHECK(bpm::stable_compression_bound(19, 20, 0.1) == Approx(1 - 0.1 / 400).epsilon(1e-14));
  CHECK(bpm::stable_compression_bound(20, 20, 0.1) == 1);
  // Sixty thousand digits.
  CHECK(bpm::stable_compression_bound(3010, 60000, 0.01) == Approx(0.0538).margin(5e-5));
}

TEST_CASE("a perceptron's run is made by its mistaken points, and the bound on it holds") {
  // Twenty points on a circle, labelled by the sign of the first coordinate: the error is the angle
  // between w and it, over pi. 5 000 training sets at delta 0.01: at most 50 violations and three
  // standard errors of 7 are expected; k / N in the place of epsilon is violated in some 6 %.
  const std::size_t N = 20;
  int violations = 0;
  int share_violations = 0;
  int same = 0;
  std::vector<double> bound(N + 1);
  for (std::uint64_t k = 0; k <= N; ++k) bound[k] = bpm::stable_compression_bound(k, N, 0.01);
  for (std::uint64_t set = 0; set < 5000; ++set) {
    bpm::RandomEngine engine(3, set);
    Eigen::MatrixXd x(N, 2);
    std::vector<int> y(N);
    for (std::size_t i = 0; i < N; ++i) {
      const double angle = 2 * std::numbers::pi * bpm::uniform_unit(engine);
      x.row(static_cast<Eigen::Index>(i)) << std::cos(angle), std::sin(angle);
      y[i] = std::cos(angle) > 0 ? 1 : -1;
    }
    std::vector<std::size_t> order(N);
    bpm::random_permutation(std::span<std::size_t>(order), engine);
    const Run run = perceptron(x, y, order);
    std::vector<std::size_t> kept;
    for (const std::size_t i : order) {
      if (std::find(run.mistaken.begin(), run.mistaken.end(), i) != run.mistaken.end()) {
        kept.push_back(i);
      }
    }
    const Run again = perceptron(x, y, kept);
    same += again.w == run.w && again.mistaken == run.mistaken;
    const double error = std::abs(std::atan2(run.w[1], run.w[0])) / std::numbers::pi;
    const std::size_t k = run.mistaken.size();
    violations += error > bound[k];
    share_violations += error > static_cast<double>(k) / static_cast<double>(N);
  }
  CAPTURE(violations, share_violations);
  CHECK(same == 5000);
  CHECK(violations <= 50 + 3 * 7);
  CHECK(share_violations > 50 + 10 * 7);
}

TEST_CASE("the largest of N uniform numbers: how often the bound fails, in closed form",
          "[bounds]") {
  // A compression to k = 1 point, which one more number changes with probability phi = 1 - largest:
  // P(phi > epsilon) = (1 - epsilon)^N.
  for (const std::uint64_t N : {5, 20, 1000}) {
    const double delta = 0.01;
    const double fails =
        std::pow(1 - bpm::stable_compression_bound(1, N, delta), static_cast<double>(N));
    const double share_fails =
        std::pow(1 - 1 / static_cast<double>(N), static_cast<double>(N));  // k / N in its place.
    CAPTURE(N, fails, share_fails);
    CHECK(fails <= delta);
    CHECK(fails > delta / (50 * static_cast<double>(N)));  // The bound is near, not 1.
    CHECK(share_fails > 0.3);
  }
}

TEST_CASE("the stable compression bound refuses what is none", "[bounds]") {
  CHECK(message_of([] { (void)bpm::stable_compression_bound(0, 0, 0.1); }) ==
        "stable_compression_bound: N is 0, must be at least 1");
  CHECK(message_of([] { (void)bpm::stable_compression_bound(4, 3, 0.1); }) ==
        "stable_compression_bound: k is 4, must be at most N, 3");
  CHECK(message_of([] { (void)bpm::stable_compression_bound(1, 3, 1); }) ==
        "stable_compression_bound: delta is 1, must lie between 0 and 1");
}

TEST_CASE("the Rademacher bound by hand") {
  // K = I: Y' K^-1 Y = n, so 4 whatever n.
  CHECK(bpm::RademacherBound(250, 250).value() == 4);
  CHECK(bpm::RademacherBound(250, 250).vacuous());
  CHECK(bpm::RademacherBound(1, 64).value() == 0.5);
  CHECK_FALSE(bpm::RademacherBound(1, 64).vacuous());
  CHECK(bpm::RademacherBound(1, 64, 1, 0.25).value() == 0.75);
  CHECK(bpm::RademacherBound(1, 64, 1, 0.25).complexity_term == 0.5);
  CHECK(bpm::RademacherBound(1, 64, 1, 0.5).vacuous());
  // A multiple of the kernel changes nothing.
  CHECK(bpm::RademacherBound(1.0 / 4, 64, 4).value() == 0.5);
}

TEST_CASE("the Rademacher bound grows with the norm and falls with the points") {
  CHECK(bpm::RademacherBound(1.1, 64).value() > bpm::RademacherBound(1, 64).value());
  CHECK(bpm::RademacherBound(1, 65).value() < bpm::RademacherBound(1, 64).value());
}

TEST_CASE("arguments of the Rademacher bound are checked") {
  CHECK_THROWS_WITH(bpm::RademacherBound(0, 5),
                    "RademacherBound: label_norm_squared is 0, must be positive and finite");
  CHECK_THROWS_WITH(bpm::RademacherBound(std::numeric_limits<double>::infinity(), 5),
                    "RademacherBound: label_norm_squared is inf, must be positive and finite");
  CHECK_THROWS_WITH(bpm::RademacherBound(1, 0), "RademacherBound: points is 0, must be 1 or more");
  CHECK_THROWS_WITH(bpm::RademacherBound(1, 5, 0),
                    "RademacherBound: mean_diagonal is 0, must be positive and finite");
  CHECK_THROWS_WITH(bpm::RademacherBound(1, 5, 1, -1),
                    "RademacherBound: confidence_term is -1, must be finite and not negative");
}
