// SPDX-License-Identifier: MIT
// The centre of chains; and error bars on listed numbers: divisors n / (n - 1), weights, and what
// lies along the mean left out of its direction.
#include "bpm/samplers/chains/chain_state.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "catch.hpp"
#include "law.hpp"

using namespace law_tests;
using bpm::detail::Spread;

namespace {

/// A chain that has come to given sums.
struct FixedChain {
  double path;
  Numbers sum;     ///< The estimate times the path.
  Numbers inside;  ///< The mean of its points times the path.

  [[nodiscard]] double weight() const { return path; }
  void add_sum(const bpm::Cone& cone, double scale, double* x) const {
    for (std::ptrdiff_t k = 0; k < cone.rank(); ++k) x[k] += scale * sum[std::size_t(k)];
  }
  void add_inside_sum(const bpm::Cone& cone, double scale, double* x) const {
    for (std::ptrdiff_t k = 0; k < cone.rank(); ++k) x[k] += scale * inside[std::size_t(k)];
  }
  void add_dual_sum(const bpm::Cone& cone, double scale, double* alpha) const {
    Numbers x = sum;
    x.resize(static_cast<std::size_t>(cone.stride()), 0.0);
    cone.add_dual_coefficients(x.data(), scale, alpha);
  }
};

/// Three orthogonal points of norms 1, 2, 3 and labels +, -, +; coordinates are by pivots.
bpm::Cone cone_of_three() {
  Kernel kernel = Kernel::Zero(3, 3);
  kernel.diagonal() << 1, 4, 9;
  return cone_of_kernel(kernel, {1, -1, 1});
}

/// Coordinates of the classifier with these signed outputs.
Numbers with_outputs(const bpm::Cone& cone, const Numbers& d) {
  Numbers x(3, 0.0);
  for (std::ptrdiff_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      x[k] += d[std::size_t(i)] * cone.row(i)[k] / (cone.row_norm(i) * cone.row_norm(i));
    }
  }
  return x;
}

bpm::CentreOfMass centre(const bpm::Cone& cone, const std::vector<FixedChain>& chains,
                         bool inside = true) {
  return bpm::detail::centre_of(cone, std::span<const FixedChain>(chains), inside);
}

/// Coefficients, outputs and norm are of one classifier.
void check_consistent(const bpm::Cone& cone, const bpm::CentreOfMass& found) {
  const Numbers x = cone.coordinates(found.coefficients);
  CHECK(std::abs(norm_of(x) - found.norm) <= 1e-13);
  for (std::ptrdiff_t i = 0; i < 3; ++i) {
    CHECK(std::abs(cone.label(i) * inner(row_of(cone, i), x) - found.outputs[std::size_t(i)]) <=
          1e-13);
  }
}

}  // namespace

TEST_CASE("centre of chains: the mean by weight") {
  const bpm::Cone cone = cone_of_three();
  const Numbers a = with_outputs(cone, {3, 3, 3});
  const Numbers b = with_outputs(cone, {1, 5, 9});
  const bpm::CentreOfMass found = centre(cone, {{1, a, a}, {3, b, b}});
  check_consistent(cone, found);
  const Numbers expected{1, -2, 3};
  for (std::size_t i = 0; i < 3; ++i) CHECK(std::abs(found.outputs[i] - expected[i]) <= 1e-14);
  CHECK(std::abs(found.norm - std::sqrt(3.0)) <= 1e-14);
}

TEST_CASE("centre of chains: no path, no centre") {
  const bpm::Cone cone = cone_of_three();
  const Numbers zero(3, 0.0);
  const bpm::CentreOfMass found = centre(cone, {{0, zero, zero}});
  CHECK(found.norm == 0);
  CHECK(found.coefficients == zero);
  CHECK(found.outputs == zero);
  CHECK(centre(cone, {}).coefficients == zero);
}

TEST_CASE("centre of chains: an estimate outside is drawn back, no further than it must") {
  const bpm::Cone cone = cone_of_three();
  const Numbers inside = with_outputs(cone, {1, 1, 1});
  for (const Numbers& d : {Numbers{-0.5, 2, 3}, Numbers{1, 0, 2}, Numbers{-1, -3, 0.5}}) {
    const Numbers outside = with_outputs(cone, d);
    const bpm::CentreOfMass kept = centre(cone, {{1, outside, inside}}, false);
    check_consistent(cone, kept);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(std::abs(kept.outputs[i] * (i == 1 ? -1 : 1) - d[i]) <= 1e-13);
    }
    const bpm::CentreOfMass drawn = centre(cone, {{1, outside, inside}});
    check_consistent(cone, drawn);
    const double lowest = *std::min_element(d.begin(), d.end());
    const double least = -lowest / (1 - lowest);  // Of the way, where the last output is 0.
    const double way = least + 0.1 * (1 - least);
    for (std::size_t i = 0; i < 3; ++i) {
      const double signed_output = drawn.outputs[i] * (i == 1 ? -1 : 1);
      CHECK(signed_output > 0);
      CHECK(std::abs(signed_output - (d[i] + way * (1 - d[i]))) <= 1e-12);
    }
  }
}

TEST_CASE("centre of chains: an estimate inside is left alone") {
  const bpm::Cone cone = cone_of_three();
  const Numbers near = with_outputs(cone, {1e-9, 2, 3});
  const bpm::CentreOfMass found = centre(cone, {{1, near, with_outputs(cone, {1, 1, 1})}});
  CHECK(std::abs(found.outputs[0] - 1e-9) <= 1e-20);
}

TEST_CASE("spread: two and three sums by hand") {
  // Of equal weight about (2, 0): off by (1, 1) and (-1, -1). n / (n - 1) = 2.
  const Numbers mean{2, 0};
  Spread two(mean, 4);
  two.add({3, 1}, 1);
  two.add({1, -1}, 1);
  CHECK(two.count() == 2);
  CHECK(two.of_mean() == Approx(2 * 4 / 4.0).epsilon(1e-15));
  CHECK(two.of_direction() == Approx(2 * 2 / 4.0 / 4).epsilon(1e-15));
  // Weights 1, 2 and 3, off by (1, 2), (-3, 1) and (2, -3): squares 5, 10, 13, across 4, 1, 9.
  Spread three(mean, 4);
  three.add({3, 2}, 1);
  three.add({1, 1}, 2);
  three.add({8, -3}, 3);
  CHECK(three.count() == 3);
  CHECK(three.of_mean() == Approx(1.5 * 28 / 36).epsilon(1e-15));
  CHECK(three.of_direction() == Approx(1.5 * 14 / 36 / 4).epsilon(1e-15));
}

TEST_CASE("spread: it is the variance of a mean") {
  // Of 1, 2, 3, 4, 5, 6, 7, 8: the sum of squares about 4.5 is 42, and 42 / (8 7) = 3 / 4.
  const Numbers mean{4.5};
  Spread spread(mean, 4.5 * 4.5);
  for (const double x : {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0}) spread.add({x}, 1);
  CHECK(spread.of_mean() == Approx(0.75).epsilon(1e-15));
  CHECK(spread.of_direction() == Approx(0.0).margin(1e-15));
}
