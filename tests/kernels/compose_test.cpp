// SPDX-License-Identifier: MIT
#include "bpm/kernels/compose.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "random_inputs.hpp"

using test_support::distance_from_formula;
using test_support::unit;

namespace {

const auto dot = [](const auto& x, const auto& z) -> double { return x.dot(z); };
const auto cubic = [](const auto& x, const auto& z) { return std::pow(0.1 * x.dot(z) + 1, 3); };
const auto bell = [](const auto& x, const auto& z) {
  return std::exp(-0.05 * (x - z).squaredNorm());
};

const bpm::Polynomial cubic_kernel(3, 0.1, 1);
const bpm::Gaussian bell_kernel = bpm::Gaussian::from_gamma(0.05);

}  // namespace

TEMPLATE_TEST_CASE("sum and product of kernels", "[kernels]", float, double) {
  CHECK(distance_from_formula<TestType>(bpm::sum(cubic_kernel, bell_kernel),
                                        [](const auto& x, const auto& z) {
                                          return cubic(x, z) + bell(x, z);
                                        }) <= 100 * unit<TestType>);
  CHECK(distance_from_formula<TestType>(bpm::product(cubic_kernel, bell_kernel),
                                        [](const auto& x, const auto& z) {
                                          return cubic(x, z) * bell(x, z);
                                        }) <= 100 * unit<TestType>);
}

TEMPLATE_TEST_CASE("scaled and biased kernels", "[kernels]", float, double) {
  CHECK(distance_from_formula<TestType>(
            bpm::scaled(bell_kernel, 3.5),
            [](const auto& x, const auto& z) { return 3.5 * bell(x, z); }) <= 10 * unit<TestType>);
  CHECK(distance_from_formula<TestType>(
            bpm::biased(bell_kernel, 0.25),
            [](const auto& x, const auto& z) { return bell(x, z) + 0.25; }) <= 10 * unit<TestType>);
  CHECK(distance_from_formula<TestType>(
            bpm::biased(bpm::Linear{}),
            [](const auto& x, const auto& z) { return dot(x, z) + 1; }) <= 10 * unit<TestType>);
}

TEMPLATE_TEST_CASE("scaled and biased kernels of distances", "[kernels]", float, double) {
  const auto kernel = bpm::biased(bpm::scaled(bpm::Laplacian(4), 2), 0.5);
  STATIC_REQUIRE(bpm::ManhattanKernel<decltype(kernel)>);
  CHECK(distance_from_formula<TestType>(kernel, [](const auto& x, const auto& z) {
          return 2 * std::exp(-(x - z).cwiseAbs().sum() / 4) + 0.5;
        }) <= 10 * unit<TestType>);
}

TEMPLATE_TEST_CASE("normalised: k / sqrt(k k), with 1 on the diagonal", "[kernels]", float,
                   double) {
  const auto kernel = bpm::normalised(cubic_kernel);
  CHECK(distance_from_formula<TestType>(kernel, [](const auto& x, const auto& z) {
          return cubic(x, z) / std::sqrt(cubic(x, x) * cubic(z, z));
        }) <= 10 * unit<TestType>);
  const auto x = test_support::normal_inputs<TestType>(33, 21, 4);
  const auto values = test_support::block_values(kernel, x, x);
  CHECK(test_support::largest_difference(values.diagonal(), Eigen::VectorXd::Ones(33)) <=
        unit<TestType>);
}

TEMPLATE_TEST_CASE("on_unit_inputs: the kernel of x / |x|", "[kernels]", float, double) {
  CHECK(distance_from_formula<TestType>(bpm::on_unit_inputs(bpm::Polynomial(5)),
                                        [](const auto& x, const auto& z) {
                                          return std::pow(x.dot(z) / (x.norm() * z.norm()) + 1, 5);
                                        }) <= 100 * unit<TestType>);
  CHECK(distance_from_formula<TestType>(
            bpm::on_unit_inputs(bpm::Gaussian::from_gamma(2)), [](const auto& x, const auto& z) {
              return std::exp(-2 * (x.normalized() - z.normalized()).squaredNorm());
            }) <= 10 * unit<TestType>);
}

TEMPLATE_TEST_CASE("identities between compositions", "[kernels]", float, double) {
  const auto x = test_support::normal_inputs<TestType>(20, 6, 9);
  const auto values = [&](const auto& kernel) {
    return test_support::block_values(kernel, x, x).template cast<double>().eval();
  };
  const auto close = [&](const auto& a, const auto& b) {
    const Eigen::MatrixXd left = values(a);
    return (left - values(b)).cwiseAbs().maxCoeff() <=
           20 * unit<TestType> * left.cwiseAbs().maxCoeff();
  };
  const bpm::Linear linear;
  // (<x, z> + 1)^2 = k k with k the biased linear kernel.
  CHECK(close(bpm::product(bpm::biased(linear), bpm::biased(linear)), bpm::Polynomial(2)));
  CHECK(close(bpm::sum(linear, linear), bpm::scaled(linear, 2)));
  CHECK(close(bpm::biased(bpm::scaled(linear, 3), 2), bpm::Polynomial(1, 3, 2)));
  // Widths multiply: exp(-a d) exp(-b d) = exp(-(a + b) d).
  CHECK(close(bpm::product(bpm::Gaussian::from_gamma(0.1), bpm::Gaussian::from_gamma(0.2)),
              bpm::Gaussian::from_gamma(0.3)));
  CHECK(close(bpm::normalised(bell_kernel), bell_kernel));
  CHECK(close(bpm::normalised(bpm::scaled(cubic_kernel, 7)), bpm::normalised(cubic_kernel)));
  CHECK(close(bpm::normalised(linear), bpm::ArcCosine(1)));
  CHECK(close(bpm::normalised(linear), bpm::on_unit_inputs(linear)));
  CHECK(close(bpm::on_unit_inputs(bpm::ArcCosine(3)), bpm::ArcCosine(3)));
}

TEST_CASE("compositions work on blocks when their parts do", "[kernels][concepts]") {
  using Strings = bool (*)(const std::string&, const std::string&);
  STATIC_REQUIRE(bpm::InnerProductKernel<bpm::detail::Sum<bpm::Linear, bpm::Gaussian>>);
  STATIC_REQUIRE(
      bpm::InnerProductKernel<bpm::detail::Normalised<bpm::detail::Scaled<bpm::Polynomial>>>);
  STATIC_REQUIRE(
      bpm::InnerProductKernel<bpm::detail::Biased<bpm::detail::UnitInputs<bpm::Polynomial>>>);
  STATIC_REQUIRE_FALSE(bpm::InnerProductKernel<bpm::detail::Sum<bpm::Linear, bpm::Laplacian>>);
  STATIC_REQUIRE_FALSE(bpm::InnerProductKernel<bpm::detail::Scaled<Strings>>);
  STATIC_REQUIRE_FALSE(bpm::ManhattanKernel<bpm::detail::Sum<bpm::Laplacian, bpm::Laplacian>>);
  // Where one part only has pairs, so has the whole.
  STATIC_REQUIRE(
      bpm::PairKernel<bpm::detail::Sum<bpm::Linear, bpm::Laplacian>, Eigen::RowVectorXf>);
  const auto x = test_support::normal_inputs<double>(9, 5, 1);
  const auto expected = test_support::formula_values(x, x, [](const auto& a, const auto& b) {
    return a.dot(b) + std::exp(-(a - b).cwiseAbs().sum());
  });
  CHECK(test_support::largest_difference(
            test_support::block_values(bpm::sum(bpm::Linear{}, bpm::Laplacian(1)), x, x),
            expected) <= 1e-14);
}

TEST_CASE("compositions of kernels on strings", "[kernels]") {
  const auto common = [](const std::string& a, const std::string& b) {
    return static_cast<double>(a.front() == b.front()) + static_cast<double>(a == b);
  };
  const std::string a = "ab";
  const std::string b = "ac";
  CHECK(bpm::scaled(common, 3)(a, b) == 3);
  CHECK(bpm::biased(common)(a, b) == 2);
  CHECK(bpm::sum(common, common)(a, a) == 4);
  CHECK(bpm::product(common, common)(a, a) == 4);
  CHECK(std::abs(bpm::normalised(common)(a, b) - 0.5) <= 1e-15);
}

TEST_CASE("compositions of a kernel that counts do not truncate", "[kernels]") {
  const auto count = [](const std::string& a, const std::string& b) {
    return a == b ? 4 : 1;  // int
  };
  const std::string a = "a";
  const std::string b = "b";
  CHECK(bpm::scaled(count, 0.5)(a, a) == 2);
  CHECK(bpm::scaled(count, 0.5)(a, b) == 0.5);
  CHECK(bpm::biased(count, 0.5)(a, b) == 1.5);
  CHECK(bpm::normalised(count)(a, b) == 0.25);
  const auto large = [](int, int) { return 2'000'000'000; };
  CHECK(bpm::sum(large, large)(1, 1) == 4e9);
  CHECK(bpm::product(large, large)(1, 1) == 4e18);
}

TEST_CASE("pairs of integer vectors are evaluated in double", "[kernels]") {
  const Eigen::Vector2i x(1, 2);
  const Eigen::Vector2i z(2, 3);
  CHECK(std::abs(bpm::Laplacian(2)(x, z) - std::exp(-1.0)) <= 1e-15);
  CHECK(bpm::Polynomial(2, 0.5, 0.5)(x, z) == 4.5 * 4.5);
}

TEST_CASE("factors and biases that make no kernel are refused", "[kernels]") {
  const bpm::Linear linear;
  CHECK_THROWS_AS(bpm::scaled(linear, 0), std::invalid_argument);
  CHECK_THROWS_WITH(bpm::scaled(linear, 0), "scaled: factor is 0, must be positive and finite");
  CHECK_THROWS_WITH(bpm::scaled(linear, -2), "scaled: factor is -2, must be positive and finite");
  CHECK_THROWS_WITH(bpm::scaled(linear, std::nan("")),
                    "scaled: factor is nan, must be positive and finite");
  CHECK_THROWS_AS(bpm::biased(linear, -1), std::invalid_argument);
  CHECK_THROWS_WITH(bpm::biased(linear, -1), "biased: bias is -1, must be finite and not negative");
  CHECK_THROWS_WITH(bpm::biased(linear, std::numeric_limits<double>::infinity()),
                    "biased: bias is inf, must be finite and not negative");
  CHECK_NOTHROW(bpm::biased(linear, 0));
}

TEMPLATE_TEST_CASE("normalised: values whose product overflows are no obstacle", "[kernels]", float,
                   double) {
  // k(x, x) k(z, z) is far beyond the largest number, each of them is not.
  using Array = Eigen::Array<TestType, 8, 1>;
  const TestType big = std::sqrt(std::numeric_limits<TestType>::max()) * 1024;
  const auto kernel = bpm::normalised(bpm::Linear{});
  const Array xz = Array::Constant(big / 2);
  const Array xx = Array::Constant(big);
  const Array zz = Array::Constant(4 * big);
  const Array values = kernel.from_inner_products(xz, xx, zz);
  CHECK((values - TestType(0.25)).abs().maxCoeff() <= unit<TestType>);
  const auto pairs = bpm::normalised([](TestType a, TestType b) { return a * b; });
  const TestType root = std::sqrt(big);
  CHECK(std::abs(pairs(root, 3 * root) - 1) <= 4 * unit<TestType>);
}
