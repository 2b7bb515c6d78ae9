// SPDX-License-Identifier: MIT
#include "bpm/core/row_products.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "bpm/core/random.hpp"
#include "catch.hpp"

namespace {

using bpm::detail::padded;

template <class T>
struct DrawnRows {
  std::ptrdiff_t count;
  std::ptrdiff_t length;
  std::vector<T> values;
  std::vector<const T*> pointers;

  template <class Draw>
  DrawnRows(std::ptrdiff_t rows, std::ptrdiff_t columns, Draw&& draw) : count(rows) {
    constexpr std::ptrdiff_t width = bpm::detail::lane_count<T>;
    length = (columns + width - 1) / width * width;
    values.resize(static_cast<std::size_t>(rows * length));
    for (std::ptrdiff_t i = 0; i < rows; ++i) {
      for (std::ptrdiff_t k = 0; k < columns; ++k) {
        values[static_cast<std::size_t>(i * length + k)] = static_cast<T>(draw());
      }
    }
    for (std::ptrdiff_t i = 0; i < rows; ++i) pointers.push_back(values.data() + i * length);
  }
};

template <class Term, class T>
std::vector<T> block(const DrawnRows<T>& a, const DrawnRows<T>& b, std::ptrdiff_t ld) {
  std::vector<T> out(static_cast<std::size_t>(a.count * ld), T{-1});
  bpm::detail::row_products<Term, T>(a.pointers.data(), a.count, b.pointers.data(), b.count,
                                     a.length, out.data(), ld);
  return out;
}

std::vector<double> random_row(std::ptrdiff_t size, bpm::RandomEngine& engine) {
  std::vector<double> row(static_cast<std::size_t>(padded<double>(size)), 0.0);
  for (std::ptrdiff_t i = 0; i < size; ++i) {
    row[static_cast<std::size_t>(i)] = 2 * bpm::uniform_unit(engine) - 1;
  }
  return row;
}

}  // namespace

TEMPLATE_TEST_CASE("row products of small integers are exact", "[detail]", float, double) {
  bpm::RandomEngine engine(1);
  for (std::ptrdiff_t rows_a = 1; rows_a <= 10; ++rows_a) {
    for (std::ptrdiff_t rows_b = 1; rows_b <= 14; ++rows_b) {
      const std::ptrdiff_t columns = 1 + rows_a * rows_b;
      const auto draw = [&] { return static_cast<double>(bpm::uniform_below(engine, 21)) - 10; };
      const DrawnRows<TestType> a(rows_a, columns, draw);
      const DrawnRows<TestType> b(rows_b, columns, draw);
      const std::ptrdiff_t ld = rows_b + 3;
      const auto products = block<bpm::detail::ProductTerm>(a, b, ld);
      const auto distances = block<bpm::detail::DistanceTerm>(a, b, ld);
      bool right = true;
      bool untouched = true;
      for (std::ptrdiff_t i = 0; i < rows_a; ++i) {
        for (std::ptrdiff_t j = 0; j < ld; ++j) {
          const auto at = static_cast<std::size_t>(i * ld + j);
          if (j >= rows_b) {
            untouched = untouched && products[at] == -1 && distances[at] == -1;
            continue;
          }
          long product = 0;
          long distance = 0;
          for (std::ptrdiff_t k = 0; k < columns; ++k) {
            const auto x = static_cast<long>(a.pointers[static_cast<std::size_t>(i)][k]);
            const auto z = static_cast<long>(b.pointers[static_cast<std::size_t>(j)][k]);
            product += x * z;
            distance += std::abs(x - z);
          }
          right = right && products[at] == static_cast<TestType>(product) &&
                  distances[at] == static_cast<TestType>(distance);
        }
      }
      CHECK(right);
      CHECK(untouched);
    }
  }
}

TEMPLATE_TEST_CASE("row products agree with long double sums", "[detail]", float, double) {
  bpm::RandomEngine engine(2);
  bpm::NormalDraws normal;
  constexpr auto epsilon = static_cast<long double>(std::numeric_limits<TestType>::epsilon());
  for (const std::ptrdiff_t columns : {1, 2, 15, 16, 17, 100, 784, 3000}) {
    const auto draw = [&] { return normal(engine); };
    const DrawnRows<TestType> a(7, columns, draw);
    const DrawnRows<TestType> b(9, columns, draw);
    const auto products = block<bpm::detail::ProductTerm>(a, b, 9);
    const auto distances = block<bpm::detail::DistanceTerm>(a, b, 9);
    for (std::size_t i = 0; i < 7; ++i) {
      for (std::size_t j = 0; j < 9; ++j) {
        long double product = 0;
        long double size = 0;
        long double distance = 0;
        for (std::ptrdiff_t k = 0; k < columns; ++k) {
          const long double x = a.pointers[i][k];
          const long double z = b.pointers[j][k];
          product += x * z;
          size += std::abs(x * z);
          distance += std::abs(x - z);
        }
        // A sum of n terms in W lanes rounds at most n / W + log2(W) + 2 times.
        const auto roundings =
            static_cast<long double>(columns) / bpm::detail::lane_count<TestType> + 6;
        REQUIRE(std::abs(products[i * 9 + j] - product) <= roundings * epsilon * size);
        REQUIRE(std::abs(distances[i * 9 + j] - distance) <= roundings * epsilon * distance);
      }
    }
  }
}

TEMPLATE_TEST_CASE("the lanes are summed in one order, whatever the block", "[detail]", float,
                   double) {
  // More rows than one cache chunk holds; every value against the pair alone.
  bpm::RandomEngine engine(3);
  bpm::NormalDraws normal;
  const std::ptrdiff_t columns = 2048 + 5;
  const DrawnRows<TestType> a(11, columns, [&] { return normal(engine); });
  const DrawnRows<TestType> b(101, columns, [&] { return normal(engine); });
  const auto all = block<bpm::detail::ProductTerm>(a, b, 101);
  int different = 0;
  for (std::size_t i = 0; i < 11; ++i) {
    for (std::size_t j = 0; j < 101; ++j) {
      TestType forth = 0;
      TestType back = 0;
      const TestType* const x = a.pointers[i];
      const TestType* const z = b.pointers[j];
      bpm::detail::row_products<bpm::detail::ProductTerm, TestType>(&x, 1, &z, 1, a.length, &forth,
                                                                    1);
      bpm::detail::row_products<bpm::detail::ProductTerm, TestType>(&z, 1, &x, 1, a.length, &back,
                                                                    1);
      different += static_cast<int>(forth != all[i * 101 + j]) + static_cast<int>(forth != back);
    }
  }
  CHECK(different == 0);
}

TEST_CASE("rows of length zero have product zero, and no rows are no work", "[detail]") {
  const float* none = nullptr;
  float out[2] = {5, 5};
  const float* pair[2] = {none, none};
  bpm::detail::row_products<bpm::detail::ProductTerm, float>(&none, 1, pair, 2, 0, out, 2);
  CHECK(out[0] == 0);
  CHECK(out[1] == 0);
  bpm::detail::row_products<bpm::detail::ProductTerm, float>(&none, 0, pair, 2, 16, nullptr, 2);
  bpm::detail::row_products<bpm::detail::ProductTerm, float>(&none, 1, pair, 0, 16, nullptr, 2);
}

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
