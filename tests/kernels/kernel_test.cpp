// SPDX-License-Identifier: MIT
#include "bpm/kernels/kernel.hpp"

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <string>
#include <vector>

#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/dot_product.hpp"
#include "bpm/kernels/radial.hpp"
#include "catch.hpp"

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
