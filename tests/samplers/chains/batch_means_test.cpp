// SPDX-License-Identifier: MIT
#include "bpm/samplers/chains/batch_means.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

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

TEST_CASE("batch means: however many draws, few batches of equal weight that cover nearly all") {
  for (const std::uint64_t draws :
       std::initializer_list<std::uint64_t>{1, 2, 16, 17, 31, 63, 64, 65, 200, 1000, 12345}) {
    const BatchMeans batches = after(draws);
    for (const std::size_t count : std::initializer_list<std::size_t>{1, 4, 16}) {
      const auto found = batches_of(batches, count);
      CHECK(found.size() <= count);
      CHECK(found.size() * 2 >= std::min<std::size_t>(count, draws));
      double sum = 0;
      double weight = 0;
      for (const auto& [part, part_weight] : found) {
        CHECK(part_weight == found.front().second);
        sum += part;
        weight += part_weight;
      }
      const double covered = weight / 2;  // Draws.
      CHECK(sum == covered * (covered + 1) / 2);
      CHECK(covered <= static_cast<double>(draws));
      CHECK(covered >= 0.5 * static_cast<double>(draws));
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
