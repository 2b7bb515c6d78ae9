// SPDX-License-Identifier: MIT
// Truncated normal laws against quadrature and against their series far out.
#include "bpm/gaussian_process/expectation_propagation/ep_posterior.hpp"

#include <cmath>
#include <numbers>

#include "catch.hpp"

namespace {

struct TiltedMoments {
  double mass, mean, variance;
};

/// Of likelihood times N(mean, variance), by Simpson's rule around the mode `at`.
template <class Likelihood>
TiltedMoments quadrature(double mean, double variance, double from, double to,
                         Likelihood&& likelihood) {
  const int steps = 200'000;
  const double h = (to - from) / steps;
  const auto density = [&](double d) {
    return likelihood(d) * std::exp(-(d - mean) * (d - mean) / (2 * variance)) /
           std::sqrt(2 * std::numbers::pi * variance);
  };
  double mass = 0;
  double first = 0;
  double second = 0;
  for (int k = 0; k <= steps; ++k) {
    const double weight = (k == 0 || k == steps ? 1 : k % 2 == 1 ? 4 : 2) * h / 3;
    const double d = from + k * h;
    const double p = weight * density(d);
    mass += p;
    first += p * d;
    second += p * d * d;
  }
  return {mass, first / mass, second / mass - first / mass * first / mass};
}

/// The tilted mean and variance, (3.58) without differences of nearly equal numbers.
TiltedMoments tilted_moments(double mean, double variance, double noise) {
  const double total = variance + noise * noise;
  const auto law = bpm::detail::truncated_moments(mean / std::sqrt(total));
  return {std::exp(law.log_mass),
          (mean / std::sqrt(total) * noise * noise + variance * law.excess) / std::sqrt(total),
          variance * (noise * noise + variance * law.variance) / total};
}

}  // namespace

TEST_CASE("truncated normal: the middle by its definition, the tail by its series") {
  for (const double z : {-1.9, -1.0, 0.0, 0.5, 3.0, 9.0}) {
    CAPTURE(z);
    const auto law = bpm::detail::truncated_moments(z);
    const TiltedMoments truth = quadrature(0, 1, -z, -z + 25, [](double) { return 1.0; });
    CHECK(law.log_mass == Approx(std::log(truth.mass)).epsilon(1e-10).margin(1e-12));
    CHECK(law.hazard == Approx(truth.mean).epsilon(1e-9).margin(1e-12));
    CHECK(law.excess == Approx(truth.mean + z).epsilon(1e-9));
    CHECK(law.variance == Approx(truth.variance).epsilon(1e-8));
  }
  for (const double x : {30.0, 100.0, 1e4, 1e8, 1e140}) {
    CAPTURE(x);
    const auto law = bpm::detail::truncated_moments(-x);
    const double q = 1 / x / x;
    const double error = 2000 * q * q * q * q + 4e-16;  // Of the series, and rounding.
    CHECK(std::abs(law.excess * x - (1 - 2 * q + 10 * q * q - 74 * q * q * q)) < error);
    CHECK(std::abs(law.variance * x * x - (1 - 6 * q + 50 * q * q - 518 * q * q * q)) < 6 * error);
    CHECK(law.hazard == Approx(x + 1 / x - 2 * q / x).epsilon(1e-6));
    CHECK(std::isfinite(law.log_mass));
  }
}

TEST_CASE("truncated normal: nothing jumps where one formula takes over from the other") {
  const auto below = bpm::detail::truncated_moments(std::nextafter(-3.0, -4.0));
  const auto above = bpm::detail::truncated_moments(std::nextafter(-3.0, -1.0));
  CHECK(below.hazard == Approx(above.hazard).epsilon(1e-13));
  CHECK(below.excess == Approx(above.excess).epsilon(1e-13));
  CHECK(below.variance == Approx(above.variance).epsilon(1e-12));
}

TEST_CASE("a tilted law has the moments of cavity times likelihood") {
  for (const double mean : {-3.0, -0.4, 0.0, 2.5}) {
    for (const double variance : {0.3, 4.0}) {
      for (const double noise : {0.0, 0.5, 3.0}) {
        CAPTURE(mean, variance, noise);
        const auto law = bpm::detail::tilted_law(mean, variance, noise);
        const double reach = 12 * std::sqrt(variance);
        const double from = noise == 0 ? 0.0 : mean - reach;
        const TiltedMoments truth =
            quadrature(mean, variance, from, mean + reach + 3, [&](double d) {
              return noise == 0 ? 1.0 : 0.5 * std::erfc(-d / noise / std::numbers::sqrt2);
            });
        CHECK(law.log_mass == Approx(std::log(truth.mass)).epsilon(1e-9).margin(1e-12));
        const TiltedMoments found = tilted_moments(mean, variance, noise);
        CHECK(found.mean == Approx(truth.mean).epsilon(1e-8));
        CHECK(found.variance == Approx(truth.variance).epsilon(1e-7));
      }
    }
  }
}

TEST_CASE("cavity times site has the tilted moments and the mass that is told, also far out") {
  for (const double z : {-1e6, -300.0, -30.0, -2.0, 0.0, 4.0}) {
    for (const double noise : {0.0, 0.01, 2.0}) {
      CAPTURE(z, noise);
      const double variance = 1.7;
      const double mean = z * std::sqrt(variance + noise * noise);
      const auto law = bpm::detail::tilted_law(mean, variance, noise);
      const TiltedMoments moments = tilted_moments(mean, variance, noise);
      CHECK(moments.variance > 0);
      CHECK(law.site.precision >= 0);
      CHECK(std::isfinite(law.log_mass));
      const double precision = 1 / variance + law.site.precision;
      CHECK(1 / precision == Approx(moments.variance).epsilon(1e-12));
      // The shifts nearly cancel: the difference is right to rounding times their size.
      const double sum = mean / variance + law.site.shift;
      const double rounding = 1e-15 * std::abs(mean / variance) / precision;
      CHECK(sum / precision == Approx(moments.mean).epsilon(1e-12).margin(10 * rounding));
      if (noise == 0) CHECK(moments.mean > 0);
    }
  }
  // N(d; m, v) exp(nu d - tau d^2 / 2) by quadrature.
  const bpm::detail::GaussianSite site{0.8, -1.3};
  const TiltedMoments truth = quadrature(0.6, 2.0, -25, 25, [&](double d) {
    return std::exp(site.shift * d - site.precision * d * d / 2);
  });
  CHECK(bpm::detail::log_site_mass(0.6, 2.0, site) == Approx(std::log(truth.mass)).epsilon(1e-10));
}
