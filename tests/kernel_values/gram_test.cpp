// SPDX-License-Identifier: MIT
#include "bpm/kernel_values/gram.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "bpm/kernel_values/dense_gram.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernel_values/precomputed_gram.hpp"
#include "bpm/kernels/linear.hpp"
#include "catch.hpp"

namespace {

/// The least a source of kernel values can be: two points, K the identity.
struct Identity {
  using Scalar = double;
  std::vector<double> values{1, 0, 0, 1};

  [[nodiscard]] std::ptrdiff_t size() const { return 2; }
  [[nodiscard]] double diagonal(std::ptrdiff_t /*i*/) const { return 1; }
  [[nodiscard]] std::span<const double> row(std::ptrdiff_t i,
                                            bpm::detail::BlockScratch<double>& /*scratch*/) const {
    return std::span(values).subspan(static_cast<std::size_t>(2 * i), 2);
  }
  void block(std::span<const bpm::PointIndex> rows, std::span<const bpm::PointIndex> cols,
             double* out, std::ptrdiff_t ld, bpm::detail::BlockScratch<double>& /*scratch*/) const {
    for (std::size_t a = 0; a < rows.size(); ++a) {
      for (std::size_t b = 0; b < cols.size(); ++b) {
        out[static_cast<std::ptrdiff_t>(a) * ld + static_cast<std::ptrdiff_t>(b)] =
            rows[a] == cols[b] ? 1 : 0;
      }
    }
  }
  [[nodiscard]] bool rows_in_memory() const { return true; }
};

// One requirement less at a time: the name in the derived class hides the one of the base.
struct WithoutScalar {};
struct WithoutSize : Identity {
  void size() const {}
};
struct WithoutDiagonal : Identity {
  void diagonal(std::ptrdiff_t /*i*/) const {}
};
struct WithoutRow : Identity {
  void row() const {}
};
struct RowOfAnotherType : Identity {
  [[nodiscard]] std::vector<float> row(std::ptrdiff_t /*i*/,
                                       bpm::detail::BlockScratch<double>& /*scratch*/) const {
    return {};
  }
};
struct WithoutBlock : Identity {
  void block() const {}
};
struct WithoutRowsInMemory : Identity {
  [[nodiscard]] std::string rows_in_memory() const { return {}; }
};
struct SizeNotConst : Identity {
  std::ptrdiff_t size() { return 2; }
};

/// The least that makes columns ready: it remembers which.
struct WithColumns : Identity {
  using Columns = std::vector<bpm::PointIndex>;
  using Identity::block;

  void prepare(std::span<const bpm::PointIndex> points, Columns& columns) const {
    columns.assign(points.begin(), points.end());
  }
  void block(std::span<const bpm::PointIndex> rows, Columns& columns, double* out,
             std::ptrdiff_t ld, bpm::detail::BlockScratch<double>& scratch) const {
    block(rows, std::span<const bpm::PointIndex>(columns), out, ld, scratch);
  }
};
struct ColumnsWithoutGram : WithColumns {
  void size() const {}
};
struct ColumnsWithoutType : Identity {
  void prepare(std::span<const bpm::PointIndex> /*points*/, int& /*columns*/) const {}
};
struct ColumnsWithoutPrepare : WithColumns {
  void prepare() const {}
};
struct OtherColumns {};
struct ColumnsWithoutBlock : Identity {
  using Columns = OtherColumns;
  void prepare(std::span<const bpm::PointIndex> /*points*/, Columns& /*columns*/) const {}
};
struct PrepareNotConst : WithColumns {
  void prepare(std::span<const bpm::PointIndex> points, Columns& columns) {
    WithColumns::prepare(points, columns);
  }
};

}  // namespace

TEST_CASE("GramAccess: size, diagonal, row, block", "[gram][concepts]") {
  STATIC_REQUIRE(bpm::detail::GramAccess<Identity>);
  STATIC_REQUIRE_FALSE(bpm::detail::GramAccess<WithoutScalar>);
  STATIC_REQUIRE_FALSE(bpm::detail::GramAccess<WithoutSize>);
  STATIC_REQUIRE_FALSE(bpm::detail::GramAccess<WithoutDiagonal>);
  STATIC_REQUIRE_FALSE(bpm::detail::GramAccess<WithoutRow>);
  STATIC_REQUIRE_FALSE(bpm::detail::GramAccess<RowOfAnotherType>);
  STATIC_REQUIRE_FALSE(bpm::detail::GramAccess<WithoutBlock>);
  STATIC_REQUIRE_FALSE(bpm::detail::GramAccess<WithoutRowsInMemory>);
  STATIC_REQUIRE_FALSE(bpm::detail::GramAccess<SizeNotConst>);
  STATIC_REQUIRE_FALSE(bpm::detail::GramAccess<int>);
}

TEST_CASE("ColumnGram: kernel values that make columns ready", "[gram][concepts]") {
  STATIC_REQUIRE(bpm::detail::ColumnGram<WithColumns>);
  STATIC_REQUIRE_FALSE(bpm::detail::ColumnGram<Identity>);
  STATIC_REQUIRE_FALSE(bpm::detail::ColumnGram<ColumnsWithoutGram>);
  STATIC_REQUIRE_FALSE(bpm::detail::ColumnGram<ColumnsWithoutType>);
  STATIC_REQUIRE_FALSE(bpm::detail::ColumnGram<ColumnsWithoutPrepare>);
  STATIC_REQUIRE_FALSE(bpm::detail::ColumnGram<ColumnsWithoutBlock>);
  STATIC_REQUIRE_FALSE(bpm::detail::ColumnGram<PrepareNotConst>);
  STATIC_REQUIRE(bpm::detail::ColumnGram<bpm::detail::OnDemandGram<bpm::Linear, Eigen::MatrixXf>>);
  STATIC_REQUIRE_FALSE(bpm::detail::ColumnGram<bpm::detail::DenseGram<float>>);
  STATIC_REQUIRE_FALSE(bpm::detail::ColumnGram<bpm::PrecomputedGram<double>>);
}

TEST_CASE("the library's sources of kernel values are GramAccess", "[gram][concepts]") {
  STATIC_REQUIRE(bpm::detail::GramAccess<bpm::detail::DenseGram<float>>);
  STATIC_REQUIRE(bpm::detail::GramAccess<bpm::PrecomputedGram<double>>);
  STATIC_REQUIRE(bpm::detail::GramAccess<bpm::detail::OnDemandGram<bpm::Linear, Eigen::MatrixXf>>);
}

TEST_CASE("a whole matrix is made from any source", "[gram]") {
  const bpm::detail::DenseGram<double> gram{Identity{}};
  bpm::detail::BlockScratch<double> scratch;
  CHECK(gram.row(0, scratch)[0] == 1);
  CHECK(gram.row(0, scratch)[1] == 0);
  CHECK(gram.row(1, scratch)[1] == 1);
}
