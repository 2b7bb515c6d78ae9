// SPDX-License-Identifier: MIT
#include "bpm/bounds/margin_bound.hpp"

#include <cmath>
#include <numbers>

#include "catch.hpp"

TEST_CASE("the margin bound by hand") {
  // Gamma = 0.6: sqrt(1 - 0.36) = 0.8, volume 3 log 5.
  const bpm::MarginBound b(0.6, 1000, 3, 0.05);
  CHECK(b.volume_term == Approx(3 * std::log(5.0)).epsilon(1e-13));
  CHECK(b.union_term == Approx(2 * std::log(1000.0)));
  CHECK(b.confidence_term == Approx(std::log(20.0)));
  CHECK(b.value() ==
        Approx(0.002 * (3 * std::log(5.0) + 2 * std::log(1000.0) + std::log(20.0) + 2)));
  CHECK_FALSE(b.vacuous());
  CHECK(b.dimension == 3);
  // No more dimensions than points.
  CHECK(bpm::MarginBound(0.6, 1000, 1'000'000, 0.05).dimension == 1000);
  // The largest margin: no volume is lost.
  CHECK(bpm::MarginBound(1, 1000, 1000, 0.05).volume_term == 0);
  // A tiny margin keeps its digits: 1 - sqrt(1 - g^2) = g^2 / 2.
  CHECK(bpm::MarginBound(1e-12, 10, 1, 0.05).volume_term ==
        Approx(-std::log(0.5e-24)).epsilon(1e-14));
}

TEST_CASE("the margin bound: monotone, and where it says nothing") {
  const auto at = [](double margin, std::ptrdiff_t m, std::ptrdiff_t d, double delta) {
    return bpm::MarginBound(margin, m, d, delta).value();
  };
  CHECK(at(0.5, 1000, 10, 0.05) > at(0.6, 1000, 10, 0.05));
  CHECK(at(0.5, 1000, 10, 0.05) > at(0.5, 2000, 10, 0.05));
  CHECK(at(0.5, 1000, 10, 0.05) < at(0.5, 1000, 11, 0.05));
  CHECK(at(0.5, 1000, 10, 0.05) > at(0.5, 1000, 10, 0.06));
  // In as many dimensions as points only margins above 0.919 can say anything.
  CHECK(bpm::MarginBound(0.91, 100'000'000, 100'000'000, 0.05).vacuous());
  CHECK_FALSE(bpm::MarginBound(0.93, 100'000'000, 100'000'000, 0.05).vacuous());
}

TEST_CASE("the cap that the margin leaves is as large as the bound takes it for") {
  // The share of the sphere in R^d within the angle arcsin g of a point, by quadrature of
  // sin^(d-2), is at least (1 - sqrt(1 - g^2))^d / 2; without the half it is not in all cases.
  int larger_without_half = 0;
  for (const int d : {2, 3, 4, 8, 20, 50}) {
    for (const double g : {0.1, 0.5, 0.9, 0.99, 1.0}) {
      const auto integral = [&](double end) {
        const int steps = 20'000;
        double sum = 0;
        for (int k = 0; k < steps; ++k) {
          sum += std::pow(std::sin(end * (k + 0.5) / steps), d - 2);
        }
        return sum * end / steps;
      };
      const double share = integral(std::asin(g)) / integral(std::numbers::pi);
      const double taken = -bpm::MarginBound(g, 1000, d, 0.5).volume_term;
      CAPTURE(d, g);
      CHECK(std::log(share) >= taken - std::numbers::ln2 - 1e-6);
      larger_without_half += std::log(share) < taken - 1e-6 ? 1 : 0;
    }
  }
  CHECK(larger_without_half > 0);
}

TEST_CASE("arguments of the margin bound are checked") {
  CHECK_THROWS_WITH(bpm::MarginBound(0, 10, 5, 0.05),
                    "MarginBound: margin is 0, must lie in (0, 1]");
  CHECK_THROWS_WITH(bpm::MarginBound(1.5, 10, 5, 0.05),
                    "MarginBound: margin is 1.5, must lie in (0, 1]");
  CHECK_THROWS_WITH(bpm::MarginBound(0.5, 0, 5, 0.05),
                    "MarginBound: points is 0, must be 1 or more");
  CHECK_THROWS_WITH(bpm::MarginBound(0.5, 10, 0, 0.05),
                    "MarginBound: dimension is 0, must be 1 or more");
  CHECK_THROWS_WITH(bpm::MarginBound(0.5, 10, 5, 0),
                    "MarginBound: delta is 0, must lie between 0 and 1");
}
