// SPDX-License-Identifier: MIT
// Listed sums, and an autoregression whose mean has a known variance.
#include "bpm/samplers/chains/convergence.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/samplers/chains/chain_report.hpp"
#include "catch.hpp"

using bpm::detail::BatchMeans;

namespace {

/// Draw n adds n to the sum and 2 to the weight.
BatchMeans after(std::uint64_t draws) {
  BatchMeans batches;
  for (std::uint64_t n = 1; n <= draws; ++n) {
    if (!batches.wanted(n)) continue;
    const auto x = static_cast<double>(n);
    batches.add({x * (x + 1) / 2}, 2 * x);
  }
  return batches;
}

/// Sum and weight of each batch.
std::vector<std::pair<double, double>> batches_of(const BatchMeans& batches, std::size_t count) {
  std::vector<std::pair<double, double>> result;
  batches.for_each(count, [&](const std::vector<double>& sum, double weight) {
    result.emplace_back(sum[0], weight);
  });
  return result;
}

}  // namespace

TEST_CASE("batch means: differences of running sums, from the start on") {
  const auto all = batches_of(after(5), 16);
  REQUIRE(all.size() == 5);
  for (std::size_t k = 0; k < 5; ++k) {
    CHECK(all[k].first == static_cast<double>(k + 1));
    CHECK(all[k].second == 2);
  }
}

TEST_CASE(
    "batch means: however many draws, few batches of nearly equal weight that cover nearly all") {
  for (const std::uint64_t draws :
       std::initializer_list<std::uint64_t>{1, 2, 16, 17, 31, 63, 64, 65, 200, 1000, 12345}) {
    const BatchMeans batches = after(draws);
    for (const std::size_t count : std::initializer_list<std::size_t>{1, 4, 16}) {
      const auto found = batches_of(batches, count);
      // Of at most 63 sums, spaced by a power of two, whole ones to a batch.
      std::uint64_t spacing = 1;
      while (draws / spacing > 63) spacing *= 2;
      const std::uint64_t sums = draws / spacing;
      CHECK(found.size() == std::min<std::uint64_t>(sums, count));
      double sum = 0;
      double weight = 0;
      for (const auto& [part, part_weight] : found) {
        const double off = part_weight / 2 -
                           static_cast<double>(sums * spacing) / static_cast<double>(found.size());
        CHECK(std::abs(off) < static_cast<double>(spacing));
        sum += part;
        weight += part_weight;
      }
      const double covered = weight / 2;  // Draws.
      CHECK(sum == covered * (covered + 1) / 2);
      CHECK(covered == static_cast<double>(sums * spacing));
    }
  }
}

TEST_CASE("batch means: before the first") {
  const BatchMeans empty;
  CHECK(empty.wanted(1));
  CHECK(batches_of(empty, 16).empty());
}

TEST_CASE("batch means: memory stays bounded") {
  const BatchMeans batches = after(1'000'000);
  CHECK(batches_of(batches, 1000).size() < 64);
  CHECK(batches_of(batches, 1000).size() >= 31);
}

TEST_CASE("batch variance: the mean of an autoregression") {
  const double phi = GENERATE(0.0, 0.6);
  bpm::RandomEngine engine(1, 2);
  bpm::NormalDraws normal;
  double ratio = 0;
  double independent = 0;
  constexpr int runs = 100;
  constexpr std::size_t count = 1'024;
  for (int run = 0; run < runs; ++run) {
    std::vector<double> values(count);
    double x = normal(engine) / std::sqrt(1 - phi * phi);
    double squares = 0;
    for (double& value : values) {
      x = phi * x + normal(engine);
      value = 5 + x;
      squares += x * x;
    }
    const auto n = static_cast<double>(count);
    const double truth = 1 / ((1 - phi) * (1 - phi) * n);
    ratio += bpm::detail::batch_variance(values) / truth / runs;
    independent += squares / n / n / truth / runs;
  }
  CHECK(ratio > 0.85);  // 15 degrees of freedom: a standard error of 0.037.
  CHECK(ratio < 1.15);
  // Values taken to be independent say a quarter of it: the mutant.
  if (phi > 0) CHECK(independent < 0.3);
}

TEST_CASE("batch variance: few values, and values that do not fill the batches") {
  std::vector<double> sixteen(16);
  std::iota(sixteen.begin(), sixteen.end(), 1.0);
  CHECK(bpm::detail::batch_variance(sixteen) == Approx(340.0 / (16 * 15)));
  std::vector<double> more = sixteen;
  more.insert(more.begin(), 100.0);
  CHECK(bpm::detail::batch_variance(more) == Approx(340.0 / (16 * 15)));
  CHECK(bpm::detail::batch_variance(std::vector<double>(100, 2.0)) == 0);
}

TEST_CASE("the degrees of freedom of a sum of spreads") {
  bpm::detail::SumOfSpreads sum;
  CHECK(sum.freedom() == std::numeric_limits<double>::infinity());
  sum.add(3);
  CHECK(sum.freedom() == Approx(15));
  sum.add(3);
  CHECK(sum.variance() == 6);
  CHECK(sum.freedom() == Approx(30));
  sum.add(0);
  CHECK(sum.freedom() == Approx(30));
}
