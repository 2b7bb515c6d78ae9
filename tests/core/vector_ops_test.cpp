// SPDX-License-Identifier: MIT
#include "bpm/core/row_products.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include "bpm/core/random.hpp"
#include "catch.hpp"

namespace {

using bpm::detail::padded;

std::vector<double> random_row(std::ptrdiff_t size, bpm::RandomEngine& engine) {
  std::vector<double> row(static_cast<std::size_t>(padded<double>(size)), 0.0);
  for (std::ptrdiff_t i = 0; i < size; ++i) {
    row[static_cast<std::size_t>(i)] = 2 * bpm::uniform_unit(engine) - 1;
  }
  return row;
}

}  // namespace

TEST_CASE("padded sizes are whole registers, no larger than they need be") {
  constexpr std::ptrdiff_t width = bpm::detail::lane_count<double>;
  for (std::ptrdiff_t size = 0; size < 40; ++size) {
    CHECK(padded<double>(size) % width == 0);
    CHECK(padded<double>(size) >= size);
    CHECK(padded<double>(size) < size + width);
  }
}

TEST_CASE("row operations agree with sums term by term") {
  bpm::RandomEngine engine(5);
  for (const std::ptrdiff_t size : {1, 2, 7, 8, 9, 31, 64, 100}) {
    const std::vector<double> x = random_row(size, engine);
    const std::vector<double> y = random_row(size, engine);
    const std::ptrdiff_t length = std::ssize(x);
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
    CHECK(std::abs(bpm::detail::dot(x.data(), y.data(), length) - sum) < 1e-13);

    std::vector<double> added = y;
    bpm::detail::add_scaled(added.data(), -2.5, x.data(), length);
    std::vector<double> scaled = x;
    bpm::detail::scale_by(scaled.data(), 0.25, length);
    std::vector<double> both = x;  // In place.
    bpm::detail::combine(both.data(), 2.0, both.data(), 3.0, y.data(), length);
    for (std::size_t i = 0; i < x.size(); ++i) {
      CHECK(std::abs(added[i] - (y[i] - 2.5 * x[i])) < 1e-15);
      CHECK(scaled[i] == 0.25 * x[i]);
      CHECK(std::abs(both[i] - (2 * x[i] + 3 * y[i])) < 1e-15);
    }
  }
}
