// SPDX-License-Identifier: MIT
#include "bpm/kernels/kernel.hpp"

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <limits>
#include <string>
#include <vector>

#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "message_of.hpp"

using test_support::message_of;

namespace {

struct Thing {};

/// The least a pair kernel can be, and one thing less at a time.
struct OnThings {
  double operator()(const Thing& /*x*/, const Thing& /*z*/) const { return 1; }
};
struct NotConst {
  double operator()(const Thing& /*x*/, const Thing& /*z*/) { return 1; }
};
struct OneInput {
  double operator()(const Thing& /*x*/) const { return 1; }
};
struct NotANumber {
  std::string operator()(const Thing& /*x*/, const Thing& /*z*/) const { return {}; }
};

/// The same for functions of inner products.
struct OfProducts {
  template <class Array>
  Array from_inner_products(const Array& xz, const Array& /*xx*/, const Array& /*zz*/) const {
    return xz;
  }
};
struct OfProductsNotConst {
  template <class Array>
  Array from_inner_products(const Array& xz, const Array& /*xx*/, const Array& /*zz*/) {
    return xz;
  }
};
struct OfProductsInDoubleOnly {
  using Array = Eigen::Array<double, 8, 1>;
  Array from_inner_products(const Array& xz, const Array& /*xx*/, const Array& /*zz*/) const {
    return xz;
  }
};
struct OfProductsWithoutNorms {
  template <class Array>
  Array from_inner_products(const Array& xz) const {
    return xz;
  }
};
/// An expression refers to what is gone when it is evaluated.
struct OfProductsGivesAnExpression {
  template <class Array>
  auto from_inner_products(const Array& xz, const Array& /*xx*/, const Array& /*zz*/) const {
    return xz + xz;
  }
};
struct OfProductsGivesNothing {
  template <class Array>
  void from_inner_products(const Array& /*xz*/, const Array& /*xx*/, const Array& /*zz*/) const {}
};

/// And of distances.
struct OfDistances {
  template <class Array>
  Array from_manhattan_distances(const Array& distance) const {
    return distance;
  }
};
struct OfDistancesNotConst {
  template <class Array>
  Array from_manhattan_distances(const Array& distance) {
    return distance;
  }
};
struct OfDistancesInFloatOnly {
  using Array = Eigen::Array<float, 8, 1>;
  Array from_manhattan_distances(const Array& distance) const { return distance; }
};

using Dense = bpm::RowMatrix<float>;
using Sparse = bpm::SparseRowMatrix<double>;
using Strings = std::vector<std::string>;
using Things = std::vector<Thing>;

template <class Kernel>
constexpr bool works_on_vectors =
    bpm::PairKernel<Kernel, Eigen::RowVectorXf> && bpm::PairKernel<Kernel, Eigen::VectorXd>;

}  // namespace

TEST_CASE("PairKernel: a const callable on two inputs that returns a number",
          "[kernels][concepts]") {
  STATIC_REQUIRE(bpm::PairKernel<OnThings, Thing>);
  STATIC_REQUIRE_FALSE(bpm::PairKernel<OnThings, std::string>);
  STATIC_REQUIRE_FALSE(bpm::PairKernel<NotConst, Thing>);
  STATIC_REQUIRE_FALSE(bpm::PairKernel<OneInput, Thing>);
  STATIC_REQUIRE_FALSE(bpm::PairKernel<NotANumber, Thing>);
  const auto lambda = [](const std::string& a, const std::string& b) { return a == b; };
  STATIC_REQUIRE(bpm::PairKernel<decltype(lambda), std::string>);
}

TEST_CASE("InnerProductKernel: a function of inner products in both precisions",
          "[kernels][concepts]") {
  STATIC_REQUIRE(bpm::InnerProductKernel<OfProducts>);
  STATIC_REQUIRE_FALSE(bpm::InnerProductKernel<OfProductsNotConst>);
  STATIC_REQUIRE_FALSE(bpm::InnerProductKernel<OfProductsInDoubleOnly>);
  STATIC_REQUIRE_FALSE(bpm::InnerProductKernel<OfProductsWithoutNorms>);
  STATIC_REQUIRE_FALSE(bpm::InnerProductKernel<OfProductsGivesAnExpression>);
  STATIC_REQUIRE_FALSE(bpm::InnerProductKernel<OfProductsGivesNothing>);
  STATIC_REQUIRE_FALSE(bpm::InnerProductKernel<OnThings>);
}

TEST_CASE("ManhattanKernel: a function of distances in both precisions", "[kernels][concepts]") {
  STATIC_REQUIRE(bpm::ManhattanKernel<OfDistances>);
  STATIC_REQUIRE_FALSE(bpm::ManhattanKernel<OfDistancesNotConst>);
  STATIC_REQUIRE_FALSE(bpm::ManhattanKernel<OfDistancesInFloatOnly>);
  STATIC_REQUIRE_FALSE(bpm::ManhattanKernel<OfProducts>);
}

TEST_CASE("the library's kernels are pair kernels on Eigen vectors and work on blocks",
          "[kernels][concepts]") {
  STATIC_REQUIRE(works_on_vectors<bpm::Linear>);
  STATIC_REQUIRE(works_on_vectors<bpm::Polynomial>);
  STATIC_REQUIRE(works_on_vectors<bpm::Gaussian>);
  STATIC_REQUIRE(works_on_vectors<bpm::Exponential>);
  STATIC_REQUIRE(works_on_vectors<bpm::ArcCosine>);
  STATIC_REQUIRE(works_on_vectors<bpm::Laplacian>);
  STATIC_REQUIRE(works_on_vectors<bpm::detail::Sum<bpm::Linear, bpm::Gaussian>>);
  STATIC_REQUIRE(bpm::InnerProductKernel<bpm::Linear>);
  STATIC_REQUIRE(bpm::InnerProductKernel<bpm::Polynomial>);
  STATIC_REQUIRE(bpm::InnerProductKernel<bpm::Gaussian>);
  STATIC_REQUIRE(bpm::InnerProductKernel<bpm::ArcCosine>);
  STATIC_REQUIRE_FALSE(bpm::PairKernel<bpm::Linear, std::string>);
}

TEST_CASE("KernelOn: which kernel goes with which inputs", "[kernels][concepts]") {
  // Functions of inner products need numbers, dense or sparse, and no pair call.
  STATIC_REQUIRE(bpm::detail::KernelOn<OfProducts, Dense>);
  STATIC_REQUIRE(bpm::detail::KernelOn<OfProducts, Sparse>);
  STATIC_REQUIRE_FALSE(bpm::detail::KernelOn<OfProducts, Strings>);
  // Functions of distances need dense numbers.
  STATIC_REQUIRE(bpm::detail::KernelOn<OfDistances, Dense>);
  STATIC_REQUIRE_FALSE(bpm::detail::KernelOn<OfDistances, Sparse>);
  // Pair kernels need what they can be called on.
  STATIC_REQUIRE(bpm::detail::KernelOn<OnThings, Things>);
  STATIC_REQUIRE_FALSE(bpm::detail::KernelOn<OnThings, Strings>);
  STATIC_REQUIRE_FALSE(bpm::detail::KernelOn<OnThings, Dense>);
  const auto on_rows = [](const auto& x, const auto& z) { return x.dot(z); };
  STATIC_REQUIRE(bpm::detail::KernelOn<decltype(on_rows), Dense>);
  STATIC_REQUIRE(bpm::detail::KernelOn<decltype(on_rows), Sparse>);
  // And what are no inputs go with nothing.
  STATIC_REQUIRE_FALSE(bpm::detail::KernelOn<bpm::Linear, Eigen::SparseMatrix<double>>);
  STATIC_REQUIRE_FALSE(bpm::detail::KernelOn<bpm::Linear, int>);
}

TEST_CASE("numbers that are bytes become bytes", "[kernels]") {
  bpm::RowMatrix<float> numbers(2, 3);
  numbers << 0, 1, 255, 17, 128, 200;
  CHECK(bpm::are_bytes(numbers));
  CHECK(bpm::to_bytes(numbers).cast<float>() == numbers);
  // Pixels / 255, in float and double.
  const bpm::RowMatrix<float> fractions = numbers / 255;
  CHECK_FALSE(bpm::are_bytes(fractions));
  CHECK(bpm::are_bytes(fractions, 255));
  CHECK(bpm::to_bytes(fractions, 255).cast<float>() == numbers);
  const Eigen::MatrixXd columns = numbers.cast<double>() / 255;
  CHECK(bpm::to_bytes(columns, 255).cast<float>() == numbers);
  for (int byte = 0; byte < 256; ++byte) {
    const Eigen::MatrixXf one = Eigen::MatrixXf::Constant(1, 1, static_cast<float>(byte) / 255);
    CHECK(bpm::to_bytes(one, 255)(0, 0) == byte);
  }
}

TEST_CASE("numbers that are no bytes are refused by name", "[kernels]") {
  const auto refuse = [](double value, const char* shown) {
    bpm::RowMatrix<double> numbers = bpm::RowMatrix<double>::Zero(3, 4);
    numbers(1, 2) = value;
    CHECK_FALSE(bpm::are_bytes(numbers));
    CHECK(message_of([&] { (void)bpm::to_bytes(numbers); }) ==
          std::string("to_bytes: inputs row 1, column 2 is ") + shown +
              ", times 1 it is no whole number from 0 to 255; leave the inputs as they are");
  };
  refuse(256, "256");
  refuse(-1, "-1");
  refuse(0.5, "0.5");
  refuse(std::numeric_limits<double>::quiet_NaN(), "nan");
  refuse(std::numeric_limits<double>::infinity(), "inf");
  const bpm::RowMatrix<double> zero = bpm::RowMatrix<double>::Zero(1, 1);
  CHECK(message_of([&] { (void)bpm::to_bytes(zero, 0); }) ==
        "to_bytes: scale is 0, must be positive and finite");
}
