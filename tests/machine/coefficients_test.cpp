// SPDX-License-Identifier: MIT
#include "bpm/machine/coefficients.hpp"

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "bpm/core/lanes.hpp"
#include "bpm/core/random.hpp"
#include "catch.hpp"

using bpm::RowMatrix;
using bpm::detail::Buffer;
using bpm::detail::PackedCoefficients;

namespace {

template <class T>
RowMatrix<T> random_matrix(Eigen::Index rows, Eigen::Index cols, std::uint64_t seed) {
  bpm::RandomEngine engine(seed);
  RowMatrix<T> values(rows, cols);
  for (auto& value : values.reshaped()) value = static_cast<T>(2 * bpm::uniform_unit(engine) - 1);
  return values;
}

template <class T>
RowMatrix<double> outputs(const PackedCoefficients& packed, const RowMatrix<T>& values) {
  // What is there before must not matter.
  RowMatrix<double> sums = RowMatrix<double>::Constant(values.rows(), packed.classifiers(), 7);
  Buffer<double> widened;
  packed.outputs(values.data(), values.rows(), values.cols(), sums.data(), widened);
  return sums;
}

}  // namespace

TEMPLATE_TEST_CASE("outputs are the product of values and coefficients", "[machine]", float,
                   double) {
  for (const Eigen::Index points : {1, 7, 511, 512, 513, 1300}) {
    for (const Eigen::Index classifiers : {1, 2, 8, 10, 17, 33, 40}) {
      const RowMatrix<double> alpha = random_matrix<double>(points, classifiers, 1);
      const RowMatrix<TestType> values = random_matrix<TestType>(9, points, 2);
      const PackedCoefficients packed(alpha);
      REQUIRE(packed.classifiers() == classifiers);
      const RowMatrix<double> expected = values.template cast<double>() * alpha;
      const RowMatrix<double> found = outputs(packed, values);
      CHECK((found - expected).cwiseAbs().maxCoeff() <= 1e-15 * static_cast<double>(points));
    }
  }
}

TEST_CASE("an input's outputs are one chain a block, the blocks added in order", "[machine]") {
  const RowMatrix<double> alpha = random_matrix<double>(1300, 11, 3);
  const RowMatrix<float> values = random_matrix<float>(6, 1300, 4);
  const RowMatrix<double> found = outputs(PackedCoefficients(alpha), values);
  long wrong = 0;
  for (Eigen::Index i = 0; i < 6; ++i) {
    for (Eigen::Index c = 0; c < 11; ++c) {
      double total = 0;
      for (Eigen::Index first = 0; first < 1300; first += PackedCoefficients::block) {
        double sum = 0;
        for (Eigen::Index j = first; j < std::min<Eigen::Index>(1300, first + 512); ++j) {
          sum = bpm::detail::multiply_add(static_cast<double>(values(i, j)), alpha(j, c), sum);
        }
        total = first == 0 ? sum : total + sum;
      }
      wrong += found(i, c) != total ? 1 : 0;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("the same bits in a batch of any size, whole or block by block", "[machine]") {
  for (const Eigen::Index classifiers : {1, 3, 10, 20, 33}) {
    const PackedCoefficients packed(random_matrix<double>(1100, classifiers, 5));
    const RowMatrix<float> values = random_matrix<float>(13, 1100, 6);
    const RowMatrix<double> all = outputs(packed, values);
    for (Eigen::Index first = 0; first < 13; ++first) {
      for (const Eigen::Index count : {1, 2, 3, 4, 5, 9}) {
        if (first + count > 13) continue;
        const RowMatrix<float> some = values.middleRows(first, count);
        CHECK(outputs(packed, some) == all.middleRows(first, count));
      }
    }
    RowMatrix<double> sums = RowMatrix<double>::Constant(13, classifiers, 7);
    Buffer<double> widened;
    for (Eigen::Index first = 0; first < 1100; first += PackedCoefficients::block) {
      packed.add_outputs(values.data() + first, 13, std::min<Eigen::Index>(512, 1100 - first), 1100,
                         first, first > 0, sums.data(), widened);
    }
    CHECK(sums == all);
    // Block by block apart, and added afterwards.
    RowMatrix<double> apart = RowMatrix<double>::Zero(13, classifiers);
    for (Eigen::Index first = 0; first < 1100; first += PackedCoefficients::block) {
      packed.add_outputs(values.data() + first, 13, std::min<Eigen::Index>(512, 1100 - first), 1100,
                         first, false, sums.data(), widened);
      apart = first == 0 ? sums : RowMatrix<double>(apart + sums);
    }
    CHECK(apart == all);
  }
}

TEST_CASE("packed coefficients are values", "[machine]") {
  const PackedCoefficients packed(random_matrix<double>(30, 3, 7));
  const RowMatrix<double> values = random_matrix<double>(2, 30, 8);
  PackedCoefficients copy;
  CHECK(copy.classifiers() == 0);
  copy = packed;
  CHECK(outputs(copy, values) == outputs(packed, values));
  const PackedCoefficients other(copy);
  CHECK(outputs(other, values) == outputs(packed, values));
}
