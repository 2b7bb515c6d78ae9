// SPDX-License-Identifier: MIT
#include "bpm/samplers/gibbs/gibbs_line.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bpm/core/normal.hpp"
#include "bpm/core/random.hpp"
#include "bpm/samplers/gibbs/gibbs_step.hpp"
#include "catch.hpp"
#include "statistics.hpp"

using namespace bpm::detail;

namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

struct Integrals {
  double log_mass;
  double mean;
};

/// By Simpson's rule, in units of the largest density of the interval.
Integrals integrate(double low, double high) {
  const double nearest = low > 0 ? low : std::min(high, 0.0);
  // Beyond it the density has fallen by exp(-50) or more.
  const double reach = std::min(12.0, 60 / std::max(1.0, std::abs(nearest)));
  const double a = std::max(low, nearest - reach);
  const double b = std::min(high, nearest + reach);
  constexpr int n = 20'000;
  const double h = (b - a) / n;
  double mass = 0;
  double moment = 0;
  for (int k = 0; k <= n; ++k) {
    const double x = a + k * h;
    const double weight = (k == 0 || k == n ? 1 : k % 2 == 1 ? 4 : 2) * h / 3;
    const double density = std::exp((nearest - x) * (nearest + x) / 2);
    mass += weight * density;
    moment += weight * density * (x - nearest);
  }
  return {std::log(mass) - nearest * nearest / 2 - 0.91893853320467274178, nearest + moment / mass};
}

}  // namespace

TEST_CASE("mass and mean of an interval under the normal law are right in both tails") {
  struct Interval {
    double low;
    double high;
  };
  const Interval i =
      GENERATE(Interval{-unbounded, unbounded}, Interval{0, unbounded}, Interval{-unbounded, -3},
               Interval{-1, 2}, Interval{-1e-3, 1e-3}, Interval{1, 1 + 1e-4}, Interval{2, 2.01},
               Interval{-7.5, -7.4}, Interval{5, 9}, Interval{12, unbounded}, Interval{40, 41},
               Interval{-unbounded, -60}, Interval{60, 60 + 1e-6}, Interval{-30, 0},
               Interval{-1e-9, 5}, Interval{-40, 1e-9});
  CAPTURE(i.low, i.high);
  const Integrals truth = integrate(i.low, i.high);
  const NormalPiece piece = normal_piece(i.low, i.high);
  CHECK(std::abs(piece.log_mass - truth.log_mass) < 1e-9 * (1 + std::abs(truth.log_mass)));
  CHECK(std::abs(piece.mean - truth.mean) < 1e-9 * (1 + std::abs(truth.mean)));
  CHECK(piece.mean >= i.low);
  CHECK(piece.mean <= i.high);
}

TEST_CASE("narrow and wide intervals are evaluated in two ways that agree") {
  for (const double centre : {-50.0, -3.0, -0.4, 0.0, 0.4, 1.0, 2.0, 7.0, 50.0}) {
    CAPTURE(centre);
    const double half = 0.025 / std::max(1.0, std::abs(centre));
    // Two halves of the interval, each narrow, against the whole, which is just not narrow.
    const double low = centre - half * (1 + 1e-9);
    const double high = centre + half * (1 + 1e-9);
    const NormalPiece whole = normal_piece(low, high);
    const NormalPiece left = normal_piece(low, centre);
    const NormalPiece right = normal_piece(centre, high);
    const double a = std::exp(left.log_mass - whole.log_mass);
    const double b = std::exp(right.log_mass - whole.log_mass);
    CHECK(std::abs(a + b - 1) < 1e-11);
    CHECK(std::abs(a * left.mean + b * right.mean - whole.mean) < 1e-11 * std::max(1.0, half));
  }
}

TEST_CASE("an interval without length has no mass") {
  CHECK(normal_piece(2, 2).log_mass == -unbounded);
  CHECK(normal_piece(2, 2).mean == 2);
}

TEST_CASE("truncated normal numbers have their law") {
  struct Interval {
    double low;
    double high;
  };
  const Interval i =
      GENERATE(Interval{-unbounded, unbounded}, Interval{0, unbounded}, Interval{-0.5, 0.7},
               Interval{-1e-9, 6}, Interval{-4, 0.01}, Interval{1, 1.2}, Interval{3, unbounded},
               Interval{3, 3.4}, Interval{-9, -8}, Interval{-unbounded, -2}, Interval{0.2, 4});
  CAPTURE(i.low, i.high);
  bpm::RandomEngine engine(1, 98);
  bpm::NormalDraws normal;
  std::vector<double> sample(20'000);
  bool inside = true;
  for (double& x : sample) {
    x = truncated_normal(i.low, i.high, normal, engine);
    inside = inside && x >= i.low && x <= i.high;
  }
  CHECK(inside);
  // Tails on the side where they are small.
  const bool right = i.low > 0;
  const auto tail = [&](double x) { return test_support::normal_distribution(right ? -x : x); };
  const double from = tail(i.low);
  const double to = tail(i.high);
  const auto law = [&](double x) { return (tail(x) - from) / (to - from); };
  CHECK(test_support::kolmogorov_smirnov(sample, law) < test_support::kolmogorov_smirnov_bound);
}

TEST_CASE("truncated normal numbers far out in the tail are nearly exponential") {
  bpm::RandomEngine engine(2, 98);
  bpm::NormalDraws normal;
  const double low = 1000;
  std::vector<double> sample(20'000);
  for (double& x : sample) x = truncated_normal(low, unbounded, normal, engine) - low;
  const auto law = [&](double x) { return -std::expm1(-low * x); };
  CHECK(test_support::kolmogorov_smirnov(sample, law) < test_support::kolmogorov_smirnov_bound);
}

TEST_CASE("the norm of a normal vector: law and mean") {
  const std::ptrdiff_t r = GENERATE(1, 2, 3, 7, 40);
  CAPTURE(r);
  bpm::RandomEngine engine(3, 98);
  bpm::NormalDraws normal;
  std::vector<double> drawn(20'000);
  std::vector<double> summed(20'000);
  for (double& x : drawn) x = chi_draw(r, normal, engine);
  for (double& x : summed) {
    for (std::ptrdiff_t k = 0; k < r; ++k) x += std::pow(normal(engine), 2);
    x = std::sqrt(x);
  }
  // Two samples: distance over sqrt(2 / n), as if against a law.
  std::sort(summed.begin(), summed.end());
  const auto empirical = [&](double x) {
    return static_cast<double>(std::lower_bound(summed.begin(), summed.end(), x) - summed.begin()) /
           20'000;
  };
  CHECK(test_support::kolmogorov_smirnov(drawn, empirical) / std::sqrt(2) <
        test_support::kolmogorov_smirnov_bound);
  double mean = 0;
  for (const double x : drawn) mean += x / 20'000;
  CHECK(std::abs(mean - mean_chi(r)) < 5 * 0.71 / std::sqrt(20'000));
}

TEST_CASE("mean of the chi law is sqrt(2) Gamma((r+1)/2) / Gamma(r/2)") {
  for (const int r : {1, 2, 3, 10, 1001}) {
    CAPTURE(r);
    const double truth = std::sqrt(2) * std::exp(std::lgamma((r + 1) / 2.0) - std::lgamma(r / 2.0));
    CHECK(std::abs(mean_chi(r) / truth - 1) < 1e-11);
  }
}

TEST_CASE("passes over outputs find what plain loops find, at every length") {
  for (std::ptrdiff_t m = 1; m <= 40; ++m) {
    CAPTURE(m);
    bpm::RandomEngine engine(static_cast<std::uint64_t>(m), 101);
    bpm::NormalDraws normal;
    std::vector<double> d;
    std::vector<double> p;
    for (std::ptrdiff_t i = 0; i < m; ++i) {
      d.push_back(0.1 + bpm::uniform_unit(engine));
      p.push_back(normal(engine));
    }
    std::vector<double> ratios;
    std::vector<double> sums;
    for (std::size_t i = 0; i < d.size(); ++i) {
      ratios.push_back(p[i] / d[i]);
      sums.push_back(0.5 * d[i] - 2.0 * p[i]);
    }
    const Extremes extremes = ratio_extremes(p.data(), d.data(), m);
    CHECK(extremes.smallest == *std::min_element(ratios.begin(), ratios.end()));
    CHECK(extremes.largest == *std::max_element(ratios.begin(), ratios.end()));
    CHECK(count_errors(sums.data(), m) ==
          std::count_if(sums.begin(), sums.end(), [](double x) { return !(x > 0); }));
  }
}

TEST_CASE("cuts are sorted with their changes, and equal places stay equal") {
  GibbsCuts cuts;
  const double third = 1.0 / 3;
  cuts.add(2.5, true);
  cuts.add(third, false);
  cuts.add(-1.5, true);
  cuts.add(third, true);
  cuts.add(0.0, false);
  cuts.sort();
  REQUIRE(cuts.size() == 5);
  CHECK(cuts.place(0) == -1.5);
  CHECK(cuts.change(0) == 1);
  CHECK(cuts.place(1) == 0);
  CHECK(cuts.change(1) == -1);
  CHECK(cuts.place(2) == cuts.place(3));
  CHECK(std::abs(cuts.place(2) - third) < 1e-15);
  CHECK(cuts.change(2) + cuts.change(3) == 0);
  CHECK(cuts.place(4) == 2.5);
}
