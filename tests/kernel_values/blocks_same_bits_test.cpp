// SPDX-License-Identifier: MIT
// The library's central promise on kernel values: the same bits by whichever way they are read.

#include <cstddef>
#include <vector>

#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "same_bits.hpp"

using test_support::bits_that_differ;
using test_support::rough_inputs;

namespace {

constexpr Eigen::Index largest = 200;
/// Below, at and above a register of every width.
const std::vector<Eigen::Index> dimensions{1, 5, 16, 21};

template <class T, class Kernel>
long dense(const Kernel& kernel) {
  long count = 0;
  for (const Eigen::Index d : dimensions) {
    // Every size is a whole matrix for one dimension, one in seven for the others.
    count += bits_that_differ(kernel, rough_inputs<T>(largest, d, 1), d == 5 ? 1 : 7);
  }
  return count;
}

}  // namespace

TEMPLATE_TEST_CASE("same bits: polynomial", "[gram][bits]", float, double) {
  CHECK(dense<TestType>(bpm::Polynomial(5, 0.1)) == 0);
}

TEMPLATE_TEST_CASE("same bits: Gaussian", "[gram][bits]", float, double) {
  CHECK(dense<TestType>(bpm::Gaussian::from_sigma(2)) == 0);
}

TEMPLATE_TEST_CASE("same bits: arc-cosine", "[gram][bits]", float, double) {
  CHECK(dense<TestType>(bpm::ArcCosine(3)) == 0);
}

TEMPLATE_TEST_CASE("same bits: Laplacian", "[gram][bits]", float, double) {
  CHECK(dense<TestType>(bpm::Laplacian(3)) == 0);
}

TEMPLATE_TEST_CASE("same bits: compositions", "[gram][bits]", float, double) {
  const auto kernel = bpm::normalised(
      bpm::sum(bpm::biased(bpm::Polynomial(3, 0.1)),
               bpm::product(bpm::Gaussian::from_gamma(0.1), bpm::on_unit_inputs(bpm::Linear{}))));
  const auto inputs = rough_inputs<TestType>(largest, 21, 3);
  CHECK(bits_that_differ(kernel, inputs, 7) == 0);
}

TEMPLATE_TEST_CASE("same bits: long rows, read in place and copied", "[gram][bits]", float,
                   double) {
  // 784 is whole registers, 785 is not; 100 rows of 784 are several chunks of the cache.
  const bpm::Polynomial kernel(5, 1e-2);
  for (const Eigen::Index d : {784, 785}) {
    const auto inputs = rough_inputs<TestType>(130, d, 4);
    test_support::BitsTest<bpm::Polynomial, bpm::RowMatrix<TestType>> test(kernel, inputs);
    CHECK(test.lopsided() == 0);
    for (const std::size_t m : {1U, 2U, 64U, 127U, 130U}) {
      CHECK(test.shuffled_block(m) == 0);
      CHECK(test.gram(m, {2U}) == 0);
    }
  }
}

TEST_CASE("same bits: several tiles of the whole matrix", "[gram][bits]") {
  // The matrix is made in tiles of 512: these are 1, 2, 3 and 3 tiles a side.
  const auto inputs = rough_inputs<float>(1100, 5, 6);
  test_support::BitsTest<bpm::Polynomial, bpm::RowMatrix<float>> test(bpm::Polynomial(3), inputs);
  CHECK(test.gram(512, {1U, 3U}) == 0);
  CHECK(test.gram(513, {1U, 3U}) == 0);
  CHECK(test.gram(1025, {1U, 3U}) == 0);
  CHECK(test.gram(1100, {1U, 3U}) == 0);
}
