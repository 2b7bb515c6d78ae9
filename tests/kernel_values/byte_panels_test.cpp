// SPDX-License-Identifier: MIT
#include "bpm/kernel_values/byte_panels.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "bpm/core/random.hpp"
#include "catch.hpp"

namespace detail = bpm::detail;

namespace {

using Bytes = std::vector<std::uint8_t>;  // A whole number of units.

const detail::ByteUnit* units(const Bytes& row) {
  return reinterpret_cast<const detail::ByteUnit*>(row.data());
}

/// The exact product.
std::int64_t exact(const Bytes& a, const Bytes& b) {
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += std::int64_t{a[k]} * b[k];
  return sum;
}

/// How many products of rows and columns are not the exact integer rounded once, or stand where
/// none should.
template <class T>
long count_wrong(const std::vector<Bytes>& rows, const std::vector<Bytes>& columns,
                 std::ptrdiff_t length, detail::StepLists& lists) {
  constexpr std::ptrdiff_t width = detail::panel_width<detail::ByteUnit>;
  std::vector<const detail::ByteUnit*> left;
  std::vector<std::int64_t> sums;
  for (const Bytes& row : rows) {
    left.push_back(units(row));
    sums.push_back(std::accumulate(row.begin(), row.end(), std::int64_t{0}));
  }
  std::vector<const detail::ByteUnit*> right;
  for (const Bytes& column : columns) right.push_back(units(column));
  const std::ptrdiff_t count = std::ssize(columns);
  detail::Buffer<detail::ByteUnit> panels(detail::panel_count<detail::ByteUnit>(count) * width *
                                          length);
  for (std::ptrdiff_t first = 0; first < count; first += width) {
    detail::pack_panel<detail::ByteUnit>(right.data() + first, std::min(width, count - first),
                                         length, detail::byte_tiles().flip,
                                         panels.data() + first * length);
  }
  const std::ptrdiff_t ld = count + 2;
  std::vector<T> values(static_cast<std::size_t>((std::ssize(rows) + 1) * ld), T(-5));
  detail::byte_products<T>(left.data(), sums.data(), std::ssize(rows), panels.data(), count, length,
                           values.data(), ld, lists);
  long wrong = 0;
  for (std::ptrdiff_t i = 0; i <= std::ssize(rows); ++i) {
    for (std::ptrdiff_t j = 0; j < ld; ++j) {
      const bool there = i < std::ssize(rows) && j < count;
      const T expected = there ? static_cast<T>(exact(rows.data()[i], columns.data()[j])) : T(-5);
      wrong += values.data()[i * ld + j] != expected ? 1 : 0;
    }
  }
  return wrong;
}

std::vector<Bytes> random_bytes(std::size_t count, std::ptrdiff_t length, std::uint64_t seed,
                                double zeros = 0) {
  bpm::RandomEngine engine(seed);
  std::vector<Bytes> rows(count, Bytes(static_cast<std::size_t>(4 * length)));
  for (Bytes& row : rows) {
    for (auto& byte : row) {
      byte = bpm::uniform_unit(engine) < zeros
                 ? std::uint8_t{0}
                 : static_cast<std::uint8_t>(bpm::uniform_below(engine, 256));
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("products of bytes are exact at every size", "[detail]") {
  detail::StepLists lists;
  for (const std::ptrdiff_t length : {0, 1, 2, 15, 16, 17, 40}) {
    const auto rows = random_bytes(10, length, 1, 0.3);
    const auto columns = random_bytes(200, length, 2);
    long wrong = 0;
    for (std::size_t m = 0; m <= 10; ++m) {
      for (std::size_t n = 1; n <= 200; n += n < 70 || n > 190 ? 3 : 29) {
        wrong += count_wrong<double>({rows.begin(), rows.begin() + std::ptrdiff_t(m)},
                                     {columns.begin(), columns.begin() + std::ptrdiff_t(n)}, length,
                                     lists);
      }
    }
    CAPTURE(length);
    CHECK(wrong == 0);
  }
}

TEST_CASE("rows of 255 are exact, however long", "[detail]") {
  // A part is 8192 units: whole ones, a unit less, a unit more, several.
  detail::StepLists lists;
  for (const std::ptrdiff_t length : {1, 16, 196, 8191, 8192, 8193, 16384, 20000}) {
    CAPTURE(length);
    const auto bytes = static_cast<std::size_t>(4 * length);
    std::vector<Bytes> rows(6, Bytes(bytes, 255));
    rows[1].assign(bytes, 1);
    rows[2].assign(bytes, 128);
    rows[3].assign(bytes, 0);
    std::vector<Bytes> columns(3, Bytes(bytes, 255));
    columns[1].assign(bytes, 0);
    columns[2].assign(bytes, 127);
    CHECK(count_wrong<double>(rows, columns, length, lists) == 0);
    CHECK(count_wrong<float>(rows, columns, length, lists) == 0);
    columns.resize(70, Bytes(bytes, 254));  // Full tiles of panels of every width.
    CHECK(count_wrong<double>({rows.begin(), rows.begin() + 5}, columns, length, lists) == 0);
  }
}

TEST_CASE("long rows of any bytes, with and without zeros", "[detail]") {
  detail::StepLists lists;
  for (const std::ptrdiff_t length : {8192, 8193, 17000}) {
    for (const double zeros : {0.0, 0.95}) {
      CHECK(count_wrong<double>(random_bytes(5, length, 3, zeros), random_bytes(9, length, 4),
                                length, lists) == 0);
    }
  }
  // Nothing in the first part, something in the second.
  auto late = random_bytes(5, 9000, 5);
  for (Bytes& row : late) std::fill_n(row.begin(), 4 * 8192, std::uint8_t{0});
  CHECK(count_wrong<double>(late, random_bytes(70, 9000, 6), 9000, lists) == 0);
}

TEST_CASE("a product of bytes is rounded once", "[detail]") {
  // 259 * 255^2 = 2^24 + 64259: odd, and above what floats hold exactly.
  detail::StepLists lists;
  std::vector<Bytes> rows(5, Bytes(260, 255));
  for (Bytes& row : rows) row[259] = 0;
  const std::int64_t product = exact(rows[0], rows[0]);
  CHECK(product == 16841475);
  CHECK(static_cast<std::int64_t>(static_cast<float>(product)) != product);
  CHECK(count_wrong<float>(rows, rows, 65, lists) == 0);
}

TEST_CASE("products of bytes are exact at every number of columns up to three panels", "[detail]") {
  // One row and five: tiles of one row may take a register of columns alone.
  detail::StepLists lists;
  const auto columns = random_bytes(200, 3, 7);
  for (const std::size_t m : {1U, 5U}) {
    const auto rows = random_bytes(m, 3, 8);
    for (std::ptrdiff_t n = 1; n <= 200; ++n) {
      CAPTURE(m, n);
      CHECK(count_wrong<double>(rows, {columns.begin(), columns.begin() + n}, 3, lists) == 0);
    }
  }
}
