// SPDX-License-Identifier: MIT
#include "bpm/kernel_values/gram.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "catch.hpp"

namespace {

template <class T>
bpm::RowMatrix<T> three() {
  bpm::RowMatrix<T> values(3, 3);
  values << 4, 1, 2, 1, 5, 3, 2, 3, 6;
  return values;
}

}  // namespace

TEMPLATE_TEST_CASE("a matrix of the user's is read as it is", "[gram]", float, double) {
  const auto values = three<TestType>();
  const bpm::PrecomputedGram<TestType> gram(values);
  bpm::detail::BlockScratch<TestType> scratch;
  CHECK(gram.size() == 3);
  CHECK(gram.diagonal(1) == 5);
  CHECK(gram.rows_in_memory());
  CHECK(gram.row(2, scratch).data() == values.data() + 6);
  CHECK(gram.row(2, scratch).size() == 3);
  const std::vector<bpm::PointIndex> rows{2, 0};
  const std::vector<bpm::PointIndex> cols{1, 2, 1};
  std::vector<TestType> block(8, -1);
  gram.block(rows, cols, block.data(), 4, scratch);
  CHECK(block == std::vector<TestType>{3, 6, 3, -1, 1, 2, 1, -1});
}

TEMPLATE_TEST_CASE("a matrix that is no kernel matrix is refused, with the place", "[gram]", float,
                   double) {
  using Gram = bpm::PrecomputedGram<TestType>;
  const bpm::RowMatrix<TestType> empty;
  CHECK_THROWS_AS(Gram(empty), std::invalid_argument);
  CHECK_THROWS_WITH(Gram(empty),
                    "PrecomputedGram: values is empty, must have one row and one column per point");
  const bpm::RowMatrix<TestType> wide = bpm::RowMatrix<TestType>::Ones(2, 3);
  CHECK_THROWS_WITH(Gram(wide), "PrecomputedGram: values is 2 x 3, must be square");
  auto values = three<TestType>();
  values(1, 2) = std::numeric_limits<TestType>::quiet_NaN();
  CHECK_THROWS_WITH(Gram(values), Catch::Matchers::ContainsSubstring(
                                      "PrecomputedGram: values at (1, 2) is nan, must be finite"));
  values(1, 2) = std::numeric_limits<TestType>::max();
  CHECK_THROWS_WITH(Gram(values), Catch::Matchers::ContainsSubstring("must be finite and below"));
  values = three<TestType>();
  values(2, 2) = -1;
  CHECK_THROWS_WITH(Gram(values), "PrecomputedGram: values at (2, 2) is -1, must not be negative");
  values = three<TestType>();
  values(2, 0) = 7;
  CHECK_THROWS_WITH(Gram(values),
                    "PrecomputedGram: values at (2, 0) is 7 but at (0, 2) 2: must be symmetric");
  // Symmetric to rounding is enough.
  values(2, 0) = 2 * (1 + 2 * std::numeric_limits<TestType>::epsilon());
  CHECK_NOTHROW(Gram(values));
}

TEST_CASE("a matrix that would be gone after the call is refused at compile time", "[gram]") {
  STATIC_REQUIRE(
      std::is_constructible_v<bpm::PrecomputedGram<double>, const bpm::RowMatrix<double>&>);
  STATIC_REQUIRE(std::is_constructible_v<bpm::PrecomputedGram<double>, bpm::RowMatrix<double>&>);
  STATIC_REQUIRE_FALSE(
      std::is_constructible_v<bpm::PrecomputedGram<double>, bpm::RowMatrix<double>>);
  // A column-major matrix would be converted into such a one.
  STATIC_REQUIRE_FALSE(
      std::is_constructible_v<bpm::PrecomputedGram<double>, const Eigen::MatrixXd&>);
}
