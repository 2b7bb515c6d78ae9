// SPDX-License-Identifier: MIT
#include "bpm/version_space/version_space.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/version_space/cone.hpp"
#include "catch.hpp"

namespace {

using Scratch = bpm::detail::BlockScratch<double>;
using Points = std::span<const bpm::PointIndex>;

/// The least a version space can be: one point, K = 1, label +1.
struct OnePoint {
  using Scalar = double;
  double one = 1;

  [[nodiscard]] std::ptrdiff_t size() const { return 1; }
  [[nodiscard]] int label(std::ptrdiff_t /*i*/) const { return 1; }
  [[nodiscard]] double lambda(std::ptrdiff_t /*i*/) const { return 0; }
  [[nodiscard]] double diagonal(std::ptrdiff_t /*i*/) const { return 1; }
  [[nodiscard]] std::span<const double> row(std::ptrdiff_t /*i*/, Scratch& /*scratch*/) const {
    return {&one, 1};
  }
  void block(Points rows, Points cols, double* values, std::ptrdiff_t ld,
             Scratch& /*scratch*/) const {
    for (std::size_t a = 0; a < rows.size(); ++a) {
      std::fill_n(values + static_cast<std::ptrdiff_t>(a) * ld, cols.size(), 1.0);
    }
  }
  [[nodiscard]] bool rows_in_memory() const { return true; }
  void add_row(std::ptrdiff_t /*i*/, double scale, std::span<double> outputs,
               Scratch& /*scratch*/) const {
    outputs[0] += scale;
  }
  [[nodiscard]] Eigen::MatrixXd outputs(const Eigen::MatrixXd& coefficients,
                                        Scratch& /*scratch*/) const {
    return coefficients;
  }
};

// One requirement less at a time: the name in the derived class hides the one of the base.
struct WithoutSize : OnePoint {
  void size() const {}
};
struct WithoutLabel : OnePoint {
  [[nodiscard]] std::string label(std::ptrdiff_t /*i*/) const { return {}; }
};
struct WithoutLambda : OnePoint {
  void lambda() const {}
};
struct WithoutDiagonal : OnePoint {
  void diagonal() const {}
};
struct WithoutRow : OnePoint {
  void row() const {}
};
struct WithoutBlock : OnePoint {
  void block() const {}
};
struct WithoutRowsInMemory : OnePoint {
  void rows_in_memory() const {}
};
struct WithoutAddRow : OnePoint {
  void add_row() const {}
};
struct WithoutOutputs : OnePoint {
  void outputs() const {}
};
struct AddRowNotConst : OnePoint {
  void add_row(std::ptrdiff_t i, double scale, std::span<double> outputs, Scratch& scratch) {
    OnePoint::add_row(i, scale, outputs, scratch);
  }
};

}  // namespace

TEST_CASE("VersionSpace: everything a sampler may ask for", "[version_space][concepts]") {
  STATIC_REQUIRE(bpm::VersionSpace<OnePoint>);
  STATIC_REQUIRE_FALSE(bpm::VersionSpace<WithoutSize>);
  STATIC_REQUIRE_FALSE(bpm::VersionSpace<WithoutLabel>);
  STATIC_REQUIRE_FALSE(bpm::VersionSpace<WithoutLambda>);
  STATIC_REQUIRE_FALSE(bpm::VersionSpace<WithoutDiagonal>);
  STATIC_REQUIRE_FALSE(bpm::VersionSpace<WithoutRow>);
  STATIC_REQUIRE_FALSE(bpm::VersionSpace<WithoutBlock>);
  STATIC_REQUIRE_FALSE(bpm::VersionSpace<WithoutRowsInMemory>);
  STATIC_REQUIRE_FALSE(bpm::VersionSpace<WithoutAddRow>);
  STATIC_REQUIRE_FALSE(bpm::VersionSpace<WithoutOutputs>);
  STATIC_REQUIRE_FALSE(bpm::VersionSpace<AddRowNotConst>);
  STATIC_REQUIRE_FALSE(bpm::VersionSpace<int>);
}

TEST_CASE("KernelVersionSpace is a version space on any kernel values",
          "[version_space][concepts]") {
  STATIC_REQUIRE(bpm::VersionSpace<bpm::KernelVersionSpace<float>>);
  STATIC_REQUIRE(bpm::VersionSpace<bpm::KernelVersionSpace<double>>);
}

TEST_CASE("a factor of the least version space", "[version_space]") {
  const bpm::detail::KernelFactor factor = bpm::detail::pivoted_factor(OnePoint{}, 1e-12);
  CHECK(factor.factor.size() == 1);
  CHECK(factor.factor(0, 0) == 1);
  CHECK(factor.pivots == std::vector<bpm::PointIndex>{0});
  CHECK(factor.residual == 0);
}
