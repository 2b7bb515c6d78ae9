// SPDX-License-Identifier: MIT
#include "bpm/bounds/gibbs_bound.hpp"

#include <cmath>
#include <limits>

#include "bpm/core/random.hpp"
#include "catch.hpp"

using Catch::Matchers::ContainsSubstring;

namespace {

long double entropy_long(long double q, long double p) {
  long double sum = 0;
  if (q > 0) sum += q * std::log(q / p);
  if (q < 1) sum += (1 - q) * std::log((1 - q) / (1 - p));
  return sum;
}

}  // namespace

TEST_CASE("relative entropy of two coins by hand") {
  CHECK(bpm::binary_relative_entropy(0.3, 0.3) == 0);
  CHECK(bpm::binary_relative_entropy(0, 0.25) == Approx(std::log(4.0 / 3)).epsilon(1e-15));
  CHECK(bpm::binary_relative_entropy(1, 0.25) == Approx(std::log(4.0)).epsilon(1e-15));
  CHECK(bpm::binary_relative_entropy(0.5, 0.25) ==
        Approx(0.5 * std::log(2.0) + 0.5 * std::log(2.0 / 3)).epsilon(1e-14));
  CHECK(std::isinf(bpm::binary_relative_entropy(0.5, 0)));
  CHECK(std::isinf(bpm::binary_relative_entropy(0.5, 1)));
  CHECK(bpm::binary_relative_entropy(0, 0) == 0);
  CHECK(bpm::binary_relative_entropy(1, 1) == 0);
}

TEST_CASE("relative entropy against long double, and by its series where p is close to q") {
  bpm::RandomEngine engine(5);
  for (int k = 0; k < 2000; ++k) {
    const double q = bpm::uniform_unit(engine);
    const double p = bpm::uniform_unit(engine);
    CAPTURE(q, p);
    CHECK(bpm::binary_relative_entropy(q, p) ==
          Approx(static_cast<double>(entropy_long(q, p))).epsilon(1e-11).margin(1e-16));
  }
  // d^2 / (2 q (1 - q)) and the next term, -(1 - 2 q) d^3 / (6 q^2 (1 - q)^2) (from the series).
  const double q = 0.2;
  const double d = 0x1p-30;
  const double p = q + d;
  const double lead = (p - q) * (p - q) / (2 * q * (1 - q));
  CHECK(bpm::binary_relative_entropy(q, p) == Approx(lead).epsilon(1e-8));
  CHECK(bpm::binary_relative_entropy(q, p) < lead);
}

TEST_CASE("the inverse of the relative entropy inverts it") {
  bpm::RandomEngine engine(6);
  for (int k = 0; k < 500; ++k) {
    const double q = bpm::uniform_unit(engine);
    const double c = std::exp(-20 * bpm::uniform_unit(engine)) * 2;
    CAPTURE(q, c);
    const double up = bpm::kl_upper_inverse(q, c);
    CHECK(up > q);
    CHECK(up <= 1);
    if (up < 1 - 1e-9) {
      CHECK(static_cast<double>(entropy_long(q, up)) == Approx(c).epsilon(1e-6));
    }
  }
}

TEST_CASE("relative entropy and its inverse are right to rounding at small rates") {
  // There log(1 - p) has no digits and log1p(-p) all: 1e-16 beside 1e-9.
  const auto exact = [](long double q, long double p) {
    return q * std::log(q / p) + (1 - q) * (std::log1p(-q) - std::log1p(-p));
  };
  // The inverse by Newton's iteration in long double, from the side where it cannot overshoot.
  const auto inverse = [&](long double q, long double c, long double p) {
    for (int k = 0; k < 200; ++k) p -= (exact(q, p) - c) / ((p - q) / (p * (1 - p)));
    return static_cast<double>(p);
  };
  for (const double q : {1e-12, 1e-9, 1e-5, 0.01}) {
    for (const double ratio : {0.01, 0.5, 3.0, 50.0}) {
      const double p = ratio * q;
      CAPTURE(q, ratio);
      CHECK(bpm::binary_relative_entropy(q, p) ==
            Approx(static_cast<double>(exact(q, p))).epsilon(2e-15));
      const double c = bpm::binary_relative_entropy(q, p);
      if (ratio > 1) {
        CHECK(bpm::kl_upper_inverse(q, c) == Approx(inverse(q, c, 1.5 * p)).epsilon(4e-15));
      }
    }
  }
  // The two branches of log(1 + u) - u, where log(1 + u) would lose digits of u.
  for (double u = 0.1; u < 0.3; u += 0.0037) {
    for (const double v : {u, -u}) {
      const auto truth = static_cast<double>(std::log1p(static_cast<long double>(v)) -
                                             static_cast<long double>(v));
      CAPTURE(v);
      CHECK(bpm::detail::log1p_minus(v) == Approx(truth).epsilon(6e-15));
      CHECK(bpm::detail::log1p_minus(v / 4) ==
            Approx(static_cast<double>(std::log1p(static_cast<long double>(v / 4)) -
                                       static_cast<long double>(v / 4)))
                .epsilon(2e-15));
    }
  }
}

TEST_CASE("the inverse at its ends") {
  CHECK(bpm::kl_upper_inverse(0, 0.7) == Approx(1 - std::exp(-0.7)).epsilon(1e-15));
  CHECK(bpm::kl_upper_inverse(0, 1e-18) == Approx(1e-18).epsilon(1e-15));
  CHECK(bpm::kl_upper_inverse(1, 0.7) == 1);
  CHECK(bpm::kl_upper_inverse(0.4, 0) == 0.4);
  CHECK(bpm::kl_upper_inverse(0.4, std::numeric_limits<double>::infinity()) == 1);
  CHECK(bpm::kl_upper_inverse(0.4, 1000) == 1);
}

TEST_CASE("the upper inverse covers a binomial mean as it says, and half the exponent does not") {
  // Exact: sum over k of P(k) [p > limit(k)], N = 60.
  const double delta = 0.05;
  const int count = 60;
  for (const double p : {0.02, 0.1, 0.4, 0.8}) {
    double missed = 0;
    double missed_by_mutant = 0;
    for (int k = 0; k <= count; ++k) {
      const double mass =
          std::exp(std::lgamma(count + 1.0) - std::lgamma(k + 1.0) - std::lgamma(count - k + 1.0) +
                   k * std::log(p) + (count - k) * std::log1p(-p));
      const double c = -std::log(delta) / count;
      missed += p > bpm::kl_upper_inverse(k / double{count}, c) ? mass : 0;
      missed_by_mutant += p > bpm::kl_upper_inverse(k / double{count}, c / 4) ? mass : 0;
    }
    CAPTURE(p);
    CHECK(missed <= delta);
    CHECK(missed_by_mutant > delta);
  }
}

TEST_CASE("arguments of the relative entropy are checked") {
  CHECK_THROWS_WITH(bpm::binary_relative_entropy(-0.1, 0.5),
                    "binary_relative_entropy: q is -0.1, must lie in [0, 1]");
  CHECK_THROWS_WITH(bpm::binary_relative_entropy(0.5, 1.5),
                    "binary_relative_entropy: p is 1.5, must lie in [0, 1]");
  CHECK_THROWS_WITH(
      bpm::kl_upper_inverse(std::nan(""), 1),
      ContainsSubstring("kl_upper_inverse: q is") && ContainsSubstring("must lie in [0, 1]"));
  CHECK_THROWS_WITH(bpm::kl_upper_inverse(0.5, -1),
                    "kl_upper_inverse: c is -1, must not be negative");
}
