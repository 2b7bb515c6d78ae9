// SPDX-License-Identifier: MIT
// The library's central promise on kernel values: the same bits by whichever way they are read.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bpm/kernels/arc_cosine.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/gaussian.hpp"
#include "bpm/kernels/laplacian.hpp"
#include "bpm/kernels/linear.hpp"
#include "bpm/kernels/polynomial.hpp"
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

template <class T, class Kernel>
long sparse(const Kernel& kernel) {
  const bpm::SparseRowMatrix<T> inputs = rough_inputs<T>(largest, 21, 2).sparseView();
  return bits_that_differ(kernel, inputs, 7);
}

}  // namespace

TEMPLATE_TEST_CASE("same bits: polynomial", "[gram][bits]", float, double) {
  CHECK(dense<TestType>(bpm::Polynomial(5, 0.1)) == 0);
  CHECK(sparse<TestType>(bpm::Polynomial(5, 0.1)) == 0);
}

TEMPLATE_TEST_CASE("same bits: Gaussian", "[gram][bits]", float, double) {
  CHECK(dense<TestType>(bpm::Gaussian::from_sigma(2)) == 0);
  CHECK(sparse<TestType>(bpm::Gaussian::from_sigma(2)) == 0);
}

TEMPLATE_TEST_CASE("same bits: arc-cosine", "[gram][bits]", float, double) {
  CHECK(dense<TestType>(bpm::ArcCosine(3)) == 0);
  CHECK(sparse<TestType>(bpm::ArcCosine(3)) == 0);
}

TEMPLATE_TEST_CASE("same bits: Laplacian", "[gram][bits]", float, double) {
  CHECK(dense<TestType>(bpm::Laplacian(3)) == 0);
}

TEMPLATE_TEST_CASE("same bits: Exponential", "[gram][bits]", float, double) {
  CHECK(sparse<TestType>(bpm::Exponential(3)) == 0);
}

TEMPLATE_TEST_CASE("same bits: compositions", "[gram][bits]", float, double) {
  const auto kernel = bpm::normalised(
      bpm::sum(bpm::biased(bpm::Polynomial(3, 0.1)),
               bpm::product(bpm::Gaussian::from_gamma(0.1), bpm::on_unit_inputs(bpm::Linear{}))));
  const auto inputs = rough_inputs<TestType>(largest, 21, 3);
  CHECK(bits_that_differ(kernel, inputs, 7) == 0);
}

TEMPLATE_TEST_CASE("same bits: a user's lambda", "[gram][bits]", float, double) {
  const auto kernel = [](const auto& x, const auto& z) { return std::exp(x.dot(z) / 100); };
  CHECK(dense<TestType>(kernel) == 0);
}

TEMPLATE_TEST_CASE("same bits: a user's lambda that is not symmetric to the last bit",
                   "[gram][bits]", float, double) {
  const auto kernel = [](const auto& x, const auto& z) {
    return std::exp(x.dot(z) / 100) / x.norm() / z.norm();
  };
  const auto inputs = rough_inputs<TestType>(largest, 21, 1);
  test_support::BitsTest<decltype(kernel), bpm::RowMatrix<TestType>> test(kernel, inputs);
  CHECK(test.lopsided() == 0);
  for (std::size_t m = 1; m <= static_cast<std::size_t>(largest); m += 7) {
    CHECK(test.shuffled_block(m) == 0);
    CHECK(test.gram_in_order(m, {1U, 3U}) == 0);
  }
}

TEST_CASE("same bits: bytes", "[gram][bits]") {
  bpm::RandomEngine engine(5);
  Eigen::Matrix<std::uint8_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> bytes(largest, 49);
  for (auto& value : bytes.reshaped()) {
    value = static_cast<std::uint8_t>(bpm::uniform_below(engine, 256));
  }
  CHECK(bits_that_differ(bpm::Gaussian::from_gamma(1e-5), bytes, 7) == 0);
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
