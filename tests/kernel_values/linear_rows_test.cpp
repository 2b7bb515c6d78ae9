// SPDX-License-Identifier: MIT
#include "bpm/kernel_values/linear_rows.hpp"

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/core/random.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/kernel.hpp"
#include "catch.hpp"
#include "random_inputs.hpp"

using bpm::PointIndex;
using bpm::detail::LinearRows;
using bpm::detail::PreparedInputs;

namespace {

using Doubles = bpm::RowMatrix<double>;
using SparseDoubles = bpm::SparseRowMatrix<double>;

/// Numbers of which some are zero.
Doubles numbers(Eigen::Index m, Eigen::Index d) {
  bpm::RandomEngine engine(5);
  Doubles result(m, d);
  for (double& number : result.reshaped()) {
    number = bpm::uniform_unit(engine) < 0.4 ? 0.0 : std::floor(200 * bpm::uniform_unit(engine));
  }
  return result;
}

/// Outputs of nine classifiers with random coefficients against a product of matrices.
template <class I>
void check_outputs(const I& inputs, const Doubles& same, bpm::detail::LinearForm form) {
  constexpr std::ptrdiff_t classifiers = 9;
  Doubles features = same;
  if (form.unit) features.rowwise().normalize();
  Doubles coefficients = Doubles::Zero(same.rows(), classifiers);
  bpm::RandomEngine engine(6);
  const PreparedInputs<I> prepared(inputs);
  const LinearRows<I> rows(form, prepared);
  CHECK(rows.size() == same.rows());
  auto weights = rows.zero_weights(classifiers);
  for (Eigen::Index i = 0; i < same.rows(); ++i) {
    for (Eigen::Index c = 0; c < classifiers; ++c) {
      coefficients(i, c) = 2 * bpm::uniform_unit(engine) - 1;
      rows.add(i, c, coefficients(i, c), weights);
    }
  }
  const Doubles kernel = (form.factor * (features * features.transpose())).array() + form.constant;
  const Doubles expected = kernel * coefficients;
  typename LinearRows<I>::Scratch scratch;
  const std::vector<PointIndex> all = bpm::detail::first_points(classifiers);
  for (Eigen::Index i = 0; i < same.rows(); ++i) {
    rows.prefetch(i);
    Eigen::RowVectorXd found(classifiers);
    rows.outputs(i, weights, all, found.data(), scratch);
    CHECK((found - expected.row(i)).norm() <= 1e-12 * (1 + kernel.row(i).norm()));
    // Whichever others are asked for; what is not asked for stays.
    for (const std::vector<PointIndex>& some :
         {std::vector<PointIndex>{4}, {0, 8}, {1, 2, 3, 5, 6, 7, 8}, {2, 4, 5, 7}}) {
      Eigen::RowVectorXd part = Eigen::RowVectorXd::Constant(classifiers, 0.125);
      rows.outputs(i, weights, some, part.data(), scratch);
      Eigen::RowVectorXd wanted = Eigen::RowVectorXd::Constant(classifiers, 0.125);
      for (const PointIndex c : some) wanted[c] = found[c];
      CHECK(part == wanted);
    }
  }
  weights.clear();
  Eigen::RowVectorXd none(classifiers);
  rows.outputs(0, weights, all, none.data(), scratch);
  CHECK(none.isZero(0));
}

}  // namespace

TEST_CASE("outputs by w are those of a product of matrices") {
  const bpm::detail::LinearForm plain;
  const bpm::detail::LinearForm other{.factor = 0.5, .constant = 3};
  const bpm::detail::LinearForm unit{.factor = 2, .constant = 0.25, .unit = true};
  for (const Eigen::Index d : {3, 32, 101}) {
    const Doubles x = numbers(12, d);
    for (const auto& form : {plain, other, unit}) {
      check_outputs(x, x, form);
      check_outputs(bpm::RowMatrix<float>(x.cast<float>()), x, form);
      check_outputs(bpm::RowMatrix<std::uint8_t>(x.cast<std::uint8_t>()), x, form);
      check_outputs(SparseDoubles(x.sparseView()), x, form);
      check_outputs(bpm::SparseRowMatrix<float>(x.cast<float>().sparseView()), x, form);
      SparseDoubles with_room = x.sparseView();
      with_room.reserve(Eigen::VectorXi::Constant(with_room.rows(), 3));
      REQUIRE_FALSE(with_room.isCompressed());
      check_outputs(with_room, x, form);
    }
  }
}

TEST_CASE("a row of zeros has the output of the constant alone") {
  SparseDoubles inputs(2, 7);
  inputs.insert(1, 3) = 2;
  const PreparedInputs<SparseDoubles> prepared(inputs);
  const LinearRows<SparseDoubles> rows({.constant = 4, .unit = true}, prepared);
  auto weights = rows.zero_weights(1);
  rows.add(0, 0, 1, weights);
  rows.add(1, 0, 1, weights);
  LinearRows<SparseDoubles>::Scratch scratch;
  const std::vector<PointIndex> one{0};
  double output = 0;
  rows.outputs(0, weights, one, &output, scratch);
  CHECK(output == 8);
  rows.outputs(1, weights, one, &output, scratch);
  CHECK(output == 9);
}

TEST_CASE("w is worth while where rows are short beside the points") {
  const auto dense = [](Eigen::Index m, Eigen::Index d) {
    return LinearRows<bpm::RowMatrix<std::uint8_t>>::worth(
        bpm::RowMatrix<std::uint8_t>::Zero(m, d));
  };
  CHECK(dense(160, 10));
  CHECK_FALSE(dense(160, 11));
  CHECK(dense(20'001, 1251));
  CHECK_FALSE(dense(20'000, 1251));
  const auto sparse = [](Eigen::Index m, Eigen::Index d, Eigen::Index entries) {
    SparseDoubles inputs(m, d);
    for (Eigen::Index i = 0; i < m; ++i) {
      for (Eigen::Index k = 0; k < entries; ++k) inputs.insert(i, k) = 1;
    }
    return LinearRows<SparseDoubles>::worth(inputs);
  };
  CHECK(sparse(20, 2000, 5));
  CHECK_FALSE(sparse(20, 2000, 6));
  CHECK_FALSE(sparse(20, 2001, 5));
}
