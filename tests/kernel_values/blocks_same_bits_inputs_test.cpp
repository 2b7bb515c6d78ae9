// SPDX-License-Identifier: MIT
// As blocks_same_bits_test.cpp, for sparse inputs, bytes, and functions of the user's own.

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "same_bits.hpp"

using test_support::bits_that_differ;
using test_support::rough_inputs;

namespace {

constexpr Eigen::Index most_inputs = 200;

}  // namespace

TEMPLATE_TEST_CASE("same bits: sparse rows", "[gram][bits]", float, double) {
  // Rows of about 40 entries: long enough for a compiler to treat their remainders apart.
  const bpm::SparseRowMatrix<TestType> inputs =
      rough_inputs<TestType>(most_inputs, 61, 2).sparseView();
  CHECK(bits_that_differ(bpm::Polynomial(5, 0.1), inputs, 7) == 0);
  CHECK(bits_that_differ(bpm::Gaussian::from_sigma(2), inputs, 7) == 0);
  CHECK(bits_that_differ(bpm::ArcCosine(3), inputs, 7) == 0);
  CHECK(bits_that_differ(bpm::Exponential(3), inputs, 7) == 0);
}

TEMPLATE_TEST_CASE("same bits: a user's lambda", "[gram][bits]", float, double) {
  const auto kernel = [](const auto& x, const auto& z) { return std::exp(x.dot(z) / 100); };
  for (const Eigen::Index d : {1, 5, 16, 21}) {
    CHECK(bits_that_differ(kernel, rough_inputs<TestType>(most_inputs, d, 1), 7) == 0);
  }
}

TEMPLATE_TEST_CASE("same bits: a user's lambda that is not symmetric to the last bit",
                   "[gram][bits]", float, double) {
  const auto kernel = [](const auto& x, const auto& z) {
    return std::exp(x.dot(z) / 100) / x.norm() / z.norm();
  };
  const auto inputs = rough_inputs<TestType>(most_inputs, 21, 1);
  test_support::BitsTest<decltype(kernel), bpm::RowMatrix<TestType>> test(kernel, inputs);
  CHECK(test.lopsided() == 0);
  for (std::size_t m = 1; m <= static_cast<std::size_t>(most_inputs); m += 7) {
    CHECK(test.shuffled_block(m) == 0);
    CHECK(test.gram_in_order(m, {1U, 3U}) == 0);
  }
}

TEST_CASE("same bits: bytes", "[gram][bits]") {
  // Whole groups of four bytes are read in place, others are copied; a third of them is zero.
  for (const Eigen::Index d : {1, 3, 48, 49}) {
    bpm::RandomEngine engine(5);
    bpm::RowMatrix<std::uint8_t> bytes(most_inputs, d);
    for (auto& value : bytes.reshaped()) {
      const bool zero = bpm::uniform_below(engine, 3) == 0;
      value = static_cast<std::uint8_t>(zero ? 0 : bpm::uniform_below(engine, 256));
    }
    bytes.col(0) = bytes.col(0).cwiseMax(std::uint8_t{1});
    CHECK(bits_that_differ(bpm::Gaussian::from_gamma(1e-5), bytes, d == 49 ? 7 : 41) == 0);
    CHECK(bits_that_differ(bpm::Polynomial(5, 1e-5), bytes, 41) == 0);
    CHECK(bits_that_differ(bpm::ArcCosine(2), bytes, 41) == 0);
    CHECK(bits_that_differ(bpm::Laplacian(500), bytes, 41) == 0);
  }
}

TEST_CASE("same bits: bytes by a function of pairs", "[gram][bits]") {
  bpm::RandomEngine engine(6);
  bpm::RowMatrix<std::uint8_t> bytes(60, 21);
  for (auto& value : bytes.reshaped()) {
    value = static_cast<std::uint8_t>(bpm::uniform_below(engine, 256));
  }
  const auto kernel = [](const auto& x, const auto& z) { return std::exp(x.dot(z) / 1e6F); };
  CHECK(bits_that_differ(kernel, bytes, 7) == 0);
}
