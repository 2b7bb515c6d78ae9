// SPDX-License-Identifier: MIT
#include "bpm/kernel_values/gram.hpp"

#include <Eigen/Core>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"

namespace {

/// The least a source of kernel values says: two points, K the identity.
class Identity final : public bpm::detail::Gram<double> {
 public:
  using Gram::block;

  Identity() : Gram(2) {}
  [[nodiscard]] double diagonal(std::ptrdiff_t /*i*/) const noexcept override { return 1; }
  [[nodiscard]] std::span<const double> row(std::ptrdiff_t i, Scratch& /*scratch*/) const override {
    return std::span(values_).subspan(static_cast<std::size_t>(2 * i), 2);
  }
  void block(std::span<const bpm::PointIndex> rows, std::span<const bpm::PointIndex> columns,
             double* out, std::ptrdiff_t ld, Scratch& /*scratch*/) const override {
    for (std::size_t a = 0; a < rows.size(); ++a) {
      for (std::size_t b = 0; b < columns.size(); ++b) {
        out[static_cast<std::ptrdiff_t>(a) * ld + static_cast<std::ptrdiff_t>(b)] =
            rows[a] == columns[b] ? 1 : 0;
      }
    }
  }

 private:
  std::vector<double> values_{1, 0, 0, 1};
};

}  // namespace

TEST_CASE("the library's sources of kernel values are Gram matrices of their scalar", "[gram]") {
  using bpm::detail::Gram;
  STATIC_REQUIRE(std::is_abstract_v<Gram<float>>);
  STATIC_REQUIRE(std::derived_from<bpm::detail::DenseGram<float>, Gram<float>>);
  STATIC_REQUIRE(std::derived_from<bpm::PrecomputedGram<double>, Gram<double>>);
  STATIC_REQUIRE(
      std::derived_from<bpm::detail::OnDemandGram<bpm::Linear, Eigen::MatrixXf>, Gram<float>>);
}

TEST_CASE("what a source does not say has a plain answer", "[gram]") {
  Identity gram;
  CHECK(gram.size() == 2);
  CHECK_FALSE(gram.rows_in_memory());
  CHECK_FALSE(gram.by_pairs());
  CHECK(gram.kept_rows() == nullptr);
  CHECK(gram.linear_inputs() == nullptr);
  // Columns that are made ready are a list of points.
  const std::vector<bpm::PointIndex> points{1, 0, 1};
  bpm::detail::ReadyColumns<double> columns;
  gram.prepare(points, columns);
  CHECK_FALSE(columns.packed);
  bpm::detail::BlockScratch<double> scratch;
  double values[2] = {-1, -1};
  const std::vector<bpm::PointIndex> rows{0};
  gram.block(rows, columns, 1, 2, values, 2, scratch);
  CHECK(values[0] == 1);
  CHECK(values[1] == 0);
}

TEST_CASE("a whole matrix is made from any source", "[gram]") {
  const bpm::detail::DenseGram<double> gram{Identity{}};
  bpm::detail::BlockScratch<double> scratch;
  CHECK(gram.row(0, scratch)[0] == 1);
  CHECK(gram.row(0, scratch)[1] == 0);
  CHECK(gram.row(1, scratch)[1] == 1);
}
