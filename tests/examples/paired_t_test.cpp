// SPDX-License-Identifier: MIT
#include "common/paired_t.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "catch.hpp"

using bpm_examples::incomplete_beta;
using bpm_examples::paired_t_test;
using bpm_examples::PairedTest;
using bpm_examples::student_distribution;
using bpm_examples::student_two_sided;

TEST_CASE("the incomplete beta function where it has a closed form", "[examples]") {
  for (const double x : {0.0, 1e-9, 0.1, 0.4, 0.7, 0.999, 1.0}) {
    CAPTURE(x);
    CHECK(std::abs(incomplete_beta(1, 1, x) - x) <= 1e-14);
    CHECK(std::abs(incomplete_beta(3, 1, x) - x * x * x) <= 1e-14);
    CHECK(std::abs(incomplete_beta(1, 4, x) - (1 - std::pow(1 - x, 4))) <= 1e-14);
    CHECK(std::abs(incomplete_beta(0.5, 0.5, x) - 2 / std::numbers::pi * std::asin(std::sqrt(x))) <=
          1e-14);
  }
  // x^2 (6 - 8 x + 3 x^2) at 0.4.
  CHECK(std::abs(incomplete_beta(2, 3, 0.4) - 0.5248) <= 1e-14);
}

TEST_CASE("Student's t where it has a closed form", "[examples]") {
  for (const double t : {-40.0, -2.0, -0.3, 0.0, 0.3, 1.0, 5.0, 1000.0}) {
    CAPTURE(t);
    const double one = 0.5 + std::atan(t) / std::numbers::pi;
    const double two = 0.5 + t / (2 * std::sqrt(2 + t * t));
    CHECK(std::abs(student_distribution(t, 1) - one) <= 1e-14);
    CHECK(std::abs(student_distribution(t, 2) - two) <= 1e-14);
  }
}

TEST_CASE("Student's t against 30 digits", "[examples]") {
  struct Known {
    double t;
    double freedom;
    double two_sided;
  };
  for (const Known& known : {Known{2.0, 10, 0.073388034770740366},
                             {1.5, 99, 0.13679681771597331},
                             {-3.0, 4, 0.039941968071718827},
                             {8.0, 99, 2.4003038210568683e-12},
                             {30.0, 99, 1.7008499117282179e-51},
                             {0.001, 7, 0.99923001724499884}}) {
    CAPTURE(known.t, known.freedom);
    const double two_sided = student_two_sided(known.t, known.freedom);
    CHECK(std::abs(two_sided - known.two_sided) <= 1e-12 * known.two_sided);
    const double below = known.t < 0 ? known.two_sided / 2 : 1 - known.two_sided / 2;
    CHECK(std::abs(student_distribution(known.t, known.freedom) - below) <= 2e-13);
  }
}

TEST_CASE("a paired test by hand", "[examples]") {
  // Differences 1, 2, 3, 4, 5: mean 3, variance 2.5, t = 3 / sqrt(0.5).
  const std::vector<double> first{11, 22, 33, 44, 55};
  const std::vector<double> second{10, 20, 30, 40, 50};
  const PairedTest test = paired_t_test(first, second);
  CHECK(test.pairs == 5);
  CHECK(std::abs(test.mean - 3) <= 1e-14);
  CHECK(std::abs(test.standard_error - std::sqrt(0.5)) <= 1e-14);
  CHECK(std::abs(test.t - 3 / std::sqrt(0.5)) <= 1e-13);
  CHECK(std::abs(test.p_value - student_distribution(test.t, 4)) <= 1e-15);
  CHECK(test.p_value > 0.99);
  CHECK(std::abs(test.p_two_sided - 2 * (1 - test.p_value)) <= 1e-14);

  const PairedTest turned = paired_t_test(second, first);
  CHECK(turned.t == -test.t);
  CHECK(std::abs(turned.p_value + test.p_value - 1) <= 1e-14);
  CHECK(turned.p_two_sided == test.p_two_sided);
}

TEST_CASE("a paired test without spread", "[examples]") {
  const std::vector<double> some{1, 2, 4};
  const std::vector<double> above{2, 3, 5};
  const PairedTest same = paired_t_test(some, some);
  CHECK(same.t == 0);
  CHECK(same.p_value == 0.5);
  CHECK(same.p_two_sided == 1);
  const PairedTest larger = paired_t_test(above, some);
  CHECK(larger.t == std::numeric_limits<double>::infinity());
  CHECK(larger.p_value == 1);
  CHECK(larger.p_two_sided == 0);
}

TEST_CASE("a paired test needs pairs", "[examples]") {
  const std::vector<double> one{1};
  const std::vector<double> two{1, 2};
  CHECK_THROWS_AS(paired_t_test(two, one), std::invalid_argument);
  CHECK_THROWS_WITH(paired_t_test(two, one),
                    "paired_t_test: second has 1 entries, expected 2 (as the first has)");
  CHECK_THROWS_AS(paired_t_test(one, one), std::invalid_argument);
  CHECK_THROWS_WITH(paired_t_test(one, one),
                    "paired_t_test: first has 1 entries, needs two or more");
}
