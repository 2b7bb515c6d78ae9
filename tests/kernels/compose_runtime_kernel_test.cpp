// SPDX-License-Identifier: MIT
#include "bpm/kernels/compose.hpp"

#include <Eigen/Core>
#include <concepts>
#include <string>

#include "bpm/kernels/kernel.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "message_of.hpp"
#include "random_inputs.hpp"

using bpm::RuntimeKernel;
using test_support::block_values;
using test_support::largest_difference;
using test_support::message_of;
using test_support::unit;

namespace {

/// The values of a kernel less those that it has as a RuntimeKernel, relative to the largest.
template <class Scalar, class Kernel>
double change(const Kernel& kernel) {
  const auto x = test_support::normal_inputs<Scalar>(70, 9, 1);
  const Eigen::MatrixXd plain = block_values(kernel, x, x).template cast<double>();
  const auto runtime = block_values(RuntimeKernel(kernel), x, x);
  return largest_difference(runtime, plain) / plain.cwiseAbs().maxCoeff();
}

}  // namespace

TEMPLATE_TEST_CASE("a single kernel has its own values, to the bit", "[kernels]", float, double) {
  CHECK(change<TestType>(bpm::Linear{}) == 0);
  CHECK(change<TestType>(bpm::Polynomial(5, 0.1, 2)) == 0);
  CHECK(change<TestType>(bpm::Gaussian::from_gamma(0.1)) == 0);
  CHECK(change<TestType>(bpm::Exponential(3)) == 0);
  CHECK(change<TestType>(bpm::ArcCosine(4)) == 0);
}

TEMPLATE_TEST_CASE("a composition has its values, to rounding", "[kernels]", float, double) {
  const bpm::Linear linear;
  const bpm::Polynomial polynomial(3, 0.1, 1);
  const bpm::Gaussian gaussian = bpm::Gaussian::from_gamma(0.05);
  const double tolerance = 100 * unit<TestType>;
  CHECK(change<TestType>(bpm::sum(linear, gaussian)) <= tolerance);
  CHECK(change<TestType>(bpm::product(polynomial, gaussian)) <= tolerance);
  CHECK(change<TestType>(bpm::scaled(gaussian, 3.5)) <= tolerance);
  CHECK(change<TestType>(bpm::biased(linear, 0.25)) <= tolerance);
  CHECK(change<TestType>(bpm::normalised(polynomial)) <= tolerance);
  CHECK(change<TestType>(bpm::on_unit_inputs(polynomial)) <= tolerance);
  CHECK(change<TestType>(bpm::normalised(bpm::sum(
            bpm::biased(polynomial, 2), bpm::product(gaussian, bpm::on_unit_inputs(linear))))) <=
        tolerance);
}

TEST_CASE("a kernel is composed step by step, as a program would by its options", "[kernels]") {
  RuntimeKernel kernel = bpm::Linear{};
  kernel = bpm::biased(kernel, 0.5);
  kernel = bpm::on_unit_inputs(kernel);
  const RuntimeKernel before = kernel;
  kernel = bpm::Polynomial(2);
  const auto x = test_support::normal_inputs<double>(20, 4, 2);
  CHECK(largest_difference(
            block_values(before, x, x),
            block_values(bpm::on_unit_inputs(bpm::biased(bpm::Linear{}, 0.5)), x, x)) <= 1e-14);
  CHECK(block_values(kernel, x, x) == block_values(bpm::Polynomial(2), x, x));
}

TEST_CASE("a RuntimeKernel on one pair, and under a kernel that is fixed", "[kernels]") {
  const Eigen::RowVector2d x(1, 2);
  const Eigen::RowVector2d z(3, -1);
  CHECK(RuntimeKernel(bpm::Polynomial(2, 1, 1))(x, z) == 4);
  CHECK(bpm::biased(RuntimeKernel(bpm::Linear{}), 2)(x, z) == 3);
}

TEST_CASE("what a RuntimeKernel can be", "[kernels][concepts]") {
  STATIC_REQUIRE(bpm::InnerProductKernel<RuntimeKernel>);
  STATIC_REQUIRE(bpm::detail::VisitedKernel<RuntimeKernel>);
  STATIC_REQUIRE(bpm::detail::VisitedKernel<bpm::detail::Biased<RuntimeKernel>>);
  STATIC_REQUIRE_FALSE(bpm::detail::VisitedKernel<bpm::Gaussian>);
  STATIC_REQUIRE_FALSE(bpm::detail::VisitedKernel<bpm::detail::Biased<bpm::Gaussian>>);
  STATIC_REQUIRE(std::convertible_to<bpm::Gaussian, RuntimeKernel>);
  STATIC_REQUIRE_FALSE(std::convertible_to<bpm::Laplacian, RuntimeKernel>);
  STATIC_REQUIRE_FALSE(std::convertible_to<double, RuntimeKernel>);
  const auto name = [](const RuntimeKernel& kernel) {
    return kernel.visit([]<class Kernel>(const Kernel&) -> std::string {
      if constexpr (std::same_as<Kernel, bpm::Linear>) return "linear";
      if constexpr (std::same_as<Kernel, bpm::detail::Biased<RuntimeKernel>>) return "biased";
      return "other";
    });
  };
  CHECK(name(bpm::Linear{}) == "linear");
  CHECK(name(bpm::biased(bpm::Linear{})) == "biased");
  CHECK(name(bpm::ArcCosine(2)) == "other");
}

TEST_CASE("an expression is small", "[kernels]") {
  // Each normalisation takes three values of what it normalises: 1, 4, 13, 40, 121 steps.
  RuntimeKernel kernel = bpm::Linear{};
  for (int i = 0; i < 3; ++i) kernel = bpm::normalised(kernel);
  CHECK(message_of([&] { kernel = bpm::normalised(kernel); }) ==
        "RuntimeKernel: kernel takes 121 steps a value, must take at most 100");
  const Eigen::RowVector2d x(1, 2);
  CHECK(kernel(x, x) == Approx(1));
}

TEST_CASE("the steps of a sum are those of both parts and one, at most 100", "[kernels]") {
  const auto chain = [](int steps) {
    RuntimeKernel kernel = bpm::Linear{};
    for (int i = 1; i < steps; ++i) kernel = bpm::scaled(kernel, 1);
    return kernel;
  };
  const RuntimeKernel fifty = chain(50);
  const RuntimeKernel all = bpm::sum(fifty, chain(49));
  const Eigen::RowVector2d x(1, 2);
  CHECK(all(x, x) == 10);
  CHECK(message_of([&] { const RuntimeKernel more = bpm::sum(fifty, fifty); }) ==
        "RuntimeKernel: kernel takes 101 steps a value, must take at most 100");
}
