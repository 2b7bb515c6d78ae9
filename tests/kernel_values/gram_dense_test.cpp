// SPDX-License-Identifier: MIT
#include "bpm/kernel_values/gram.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "random_inputs.hpp"

namespace {

using Source = bpm::detail::OnDemandGram<bpm::Polynomial, bpm::RowMatrix<double>>;

Source source(const bpm::RowMatrix<double>& inputs) { return {bpm::Polynomial(3, 0.1), inputs}; }

}  // namespace

TEST_CASE("the whole matrix holds the kernel's values", "[gram]") {
  const auto inputs = test_support::normal_inputs<double>(50, 4, 1);
  const bpm::detail::DenseGram<double> gram(source(inputs));
  const Eigen::MatrixXd expected = (0.1 * (inputs * inputs.transpose()).array() + 1).cube();
  bpm::detail::BlockScratch<double> scratch;
  double worst = 0;
  for (Eigen::Index i = 0; i < 50; ++i) {
    const auto row = gram.row(i, scratch);
    REQUIRE(row.size() == 50);
    for (Eigen::Index j = 0; j < 50; ++j) {
      worst = std::max(worst, std::abs(row[static_cast<std::size_t>(j)] - expected(i, j)));
    }
    CHECK(gram.diagonal(i) == row[static_cast<std::size_t>(i)]);
  }
  CHECK(worst <= 1e-12);
  CHECK(gram.size() == 50);
  CHECK(gram.rows_in_memory());
  CHECK(gram.complete());
  CHECK(bpm::detail::DenseGram<float>::bytes_needed(60000) == 14400000000U);
}

TEST_CASE("each pair of tiles is evaluated once", "[gram]") {
  const auto inputs = test_support::normal_inputs<double>(1030, 2, 1);
  const auto on_demand = source(inputs);
  for (const unsigned threads : {1U, 3U}) {
    const auto start = std::chrono::steady_clock::now();
    const bpm::detail::DenseGram<double> gram(on_demand, threads);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    // Tiles of 512, 512 and 6 points: the lower triangle of three by three.
    CHECK(gram.evaluations() == 3U * 512 * 512 + 2 * 512 * 6 + 6 * 6);
    // Time of all threads over their number.
    CHECK(gram.seconds() > 0);
    CHECK(gram.seconds() <= wall.count());
  }
}

TEST_CASE("no threads wanted means as many as the machine runs", "[gram]") {
  const auto inputs = test_support::normal_inputs<double>(30, 3, 1);
  const auto on_demand = source(inputs);
  const bpm::detail::DenseGram<double> one(on_demand, 1);
  const bpm::detail::DenseGram<double> all(on_demand, 0);
  bpm::detail::BlockScratch<double> scratch;
  CHECK(std::ranges::equal(one.row(7, scratch), all.row(7, scratch)));
  CHECK(all.complete());
}

TEST_CASE("progress rises to 1, one call a tile, and false stops", "[gram]") {
  const auto inputs = test_support::normal_inputs<double>(1030, 2, 1);
  const auto on_demand = source(inputs);
  for (const unsigned threads : {1U, 2U}) {
    std::vector<double> fractions;
    const bpm::detail::DenseGram<double> gram(on_demand, threads, [&](double fraction) {
      fractions.push_back(fraction);
      return true;
    });
    CHECK(gram.complete());
    REQUIRE(fractions.size() == 6);
    for (std::size_t n = 0; n < 6; ++n) {
      CHECK(std::abs(fractions[n] - static_cast<double>(n + 1) / 6) <= 1e-15);
    }

    int calls = 0;
    const bpm::detail::DenseGram<double> stopped(on_demand, threads,
                                                 [&](double) { return ++calls < 2; });
    CHECK_FALSE(stopped.complete());
    CHECK(calls >= 2);
    CHECK(calls <= 1 + static_cast<int>(threads));
    CHECK(stopped.evaluations() < gram.evaluations());
  }
}

TEST_CASE("what a source or an observer throws comes through", "[gram]") {
  auto inputs = test_support::normal_inputs<double>(20, 3, 1);
  const auto on_demand = source(inputs);
  for (const unsigned threads : {1U, 2U}) {
    const auto run = [&] {
      bpm::detail::DenseGram<double>(on_demand, threads,
                                     [](double) -> bool { throw std::runtime_error("observer"); });
    };
    CHECK_THROWS_WITH(run(), "observer");
  }
  // A value that is not finite off the diagonal.
  const std::vector<int> numbers{0, 1, 2};
  const auto kernel = [](int a, int b) { return a + b == 3 ? std::nan("") : 1.0; };
  const bpm::detail::OnDemandGram<decltype(kernel), std::vector<int>> bad(kernel, numbers);
  CHECK_THROWS_AS(bpm::detail::DenseGram<double>(bad, 2), bpm::KernelValueError);
}
