// SPDX-License-Identifier: MIT
#include "bpm/kernel_values/number_panels.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bpm/core/lanes.hpp"
#include "bpm/core/random.hpp"
#include "bpm/kernel_values/panels.hpp"
#include "bpm/kernels/kernel.hpp"
#include "catch.hpp"

namespace detail = bpm::detail;

namespace {

template <class T>
using Matrix = bpm::RowMatrix<T>;

template <class T>
std::vector<const T*> pointers(const Matrix<T>& rows) {
  std::vector<const T*> result;
  for (Eigen::Index i = 0; i < rows.rows(); ++i) result.push_back(rows.data() + i * rows.cols());
  return result;
}

/// Panels of all rows of a matrix, as columns.
template <class T>
detail::Buffer<T> pack(const Matrix<T>& columns) {
  const auto from = pointers(columns);
  constexpr std::ptrdiff_t width = detail::panel_width<T>;
  const std::ptrdiff_t count = columns.rows();
  detail::Buffer<T> panels(detail::panel_count<T>(count) * width * columns.cols());
  for (std::ptrdiff_t first = 0; first < count; first += width) {
    detail::pack_panel<T>(from.data() + first, std::min(width, count - first), columns.cols(), T{0},
                          panels.data() + first * columns.cols());
  }
  return panels;
}

/// The products of all rows with all columns; what must stay untouched is checked.
template <class T>
Matrix<T> products(const Matrix<T>& rows, const Matrix<T>& columns, detail::StepLists& lists) {
  const detail::Buffer<T> panels = pack(columns);
  const std::ptrdiff_t ld = columns.rows() + 3;
  Matrix<T> values = Matrix<T>::Constant(rows.rows() + 1, ld, T(-77));
  const auto left = pointers(rows);
  detail::panel_products<T>(left.data(), rows.rows(), panels.data(), columns.rows(), rows.cols(),
                            values.data(), ld, lists);
  CHECK((values.rightCols(3).array() == T(-77)).all());
  CHECK((values.bottomRows(1).array() == T(-77)).all());
  return values.topLeftCorner(rows.rows(), columns.rows());
}

template <class T>
Matrix<T> products(const Matrix<T>& rows, const Matrix<T>& columns) {
  detail::StepLists lists;
  return products(rows, columns, lists);
}

/// Normal numbers, of which a share is zero; some zeros are negative.
template <class T>
Matrix<T> random_rows(Eigen::Index m, Eigen::Index length, std::uint64_t seed, double zeros = 0) {
  bpm::RandomEngine engine(seed);
  bpm::NormalDraws normal;
  Matrix<T> rows(m, length);
  for (auto& value : rows.reshaped()) {
    value = static_cast<T>(normal(engine));
    if (bpm::uniform_unit(engine) < zeros) value = std::copysign(T{0}, value);
  }
  return rows;
}

/// The chain of sums by hand: one step after the other, in parts, which are then added.
template <class T>
T chain(const Matrix<T>& rows, Eigen::Index i, const Matrix<T>& columns, Eigen::Index j) {
  T total = 0;
  for (Eigen::Index begin = 0; begin < rows.cols(); begin += detail::longest_chain) {
    const Eigen::Index end = std::min<Eigen::Index>(rows.cols(), begin + detail::longest_chain);
    T sum = 0;
    for (Eigen::Index k = begin; k < end; ++k) {
      sum = detail::multiply_add(rows(i, k), columns(j, k), sum);
    }
    total = begin == 0 ? sum : total + sum;
  }
  return total;
}

template <class T>
long count_unlike_chain(const Matrix<T>& rows, const Matrix<T>& columns) {
  const Matrix<T> values = products(rows, columns);
  long count = 0;
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    for (Eigen::Index j = 0; j < columns.rows(); ++j) {
      count += values(i, j) != chain(rows, i, columns, j) ? 1 : 0;
    }
  }
  return count;
}

}  // namespace

TEMPLATE_TEST_CASE("products of small integers are exact at every size", "[detail]", float,
                   double) {
  bpm::RandomEngine engine(1);
  detail::StepLists lists;  // One for all: what was there before must not matter.
  for (const Eigen::Index length : {0, 1, 2, 16, 17, 50}) {
    Matrix<TestType> rows(10, length);
    Matrix<TestType> columns(200, length);
    for (auto& value : rows.reshaped()) value = TestType(int(bpm::uniform_below(engine, 7)) - 3);
    for (auto& value : columns.reshaped()) value = TestType(int(bpm::uniform_below(engine, 9)) - 4);
    // Of no terms, zero: Eigen's product of empty matrices as well.
    const Matrix<TestType> expected = rows * columns.transpose();
    long wrong = 0;
    for (Eigen::Index m = 0; m <= 10; ++m) {
      for (Eigen::Index n = 1; n <= 200; n += n < 70 || n > 190 ? 1 : 13) {
        const Matrix<TestType> some_rows = rows.topRows(m);
        const Matrix<TestType> some_columns = columns.topRows(n);
        const Matrix<TestType> found = products(some_rows, some_columns, lists);
        wrong += (found.array() != expected.topLeftCorner(m, n).array()).count();
      }
    }
    CAPTURE(length);
    CHECK(wrong == 0);
  }
}

TEMPLATE_TEST_CASE("products of long rows of small integers are exact", "[detail]", float, double) {
  bpm::RandomEngine engine(2);
  for (const Eigen::Index length : {784, 1024, 1025, 2048, 3000}) {
    Matrix<TestType> rows(9, length);
    Matrix<TestType> columns(70, length);
    for (auto& value : rows.reshaped()) value = TestType(int(bpm::uniform_below(engine, 7)) - 3);
    for (auto& value : columns.reshaped()) value = TestType(int(bpm::uniform_below(engine, 9)) - 4);
    rows.row(5).setZero();
    const Matrix<TestType> expected = rows * columns.transpose();
    CHECK(products(rows, columns) == expected);
  }
}

TEMPLATE_TEST_CASE("a product is the chain of fused multiply-adds, in parts", "[detail]", float,
                   double) {
  for (const Eigen::Index length : {1, 16, 784, 1024, 1025, 3000}) {
    for (const double zeros : {0.0, 0.8}) {
      CAPTURE(length, zeros);
      CHECK(count_unlike_chain(random_rows<TestType>(9, length, 3, zeros),
                               random_rows<TestType>(70, length, 4, zeros / 2)) == 0);
    }
  }
}

TEMPLATE_TEST_CASE("a product's bits do not depend on its place, or on the order of the pair",
                   "[detail]", float, double) {
  for (const Eigen::Index length : {21, 784, 1100}) {
    const Matrix<TestType> all = random_rows<TestType>(83, length, 5, 0.5);
    const Matrix<TestType> values = products(all, all);
    CHECK((values.array() == values.transpose().array()).all());
    bpm::RandomEngine engine(6);
    for (int repeat = 0; repeat < 10; ++repeat) {
      std::vector<Eigen::Index> rows;
      std::vector<Eigen::Index> columns;
      for (std::uint32_t i = 0; i < 1 + 3 * static_cast<std::uint32_t>(repeat); ++i) {
        rows.push_back(bpm::uniform_below(engine, 83));
        columns.push_back(bpm::uniform_below(engine, 83));
      }
      columns.push_back(0);
      const Matrix<TestType> left = all(rows, Eigen::all);
      const Matrix<TestType> right = all(columns, Eigen::all);
      const Matrix<TestType> expected = values(rows, columns);
      CHECK((products(left, right).array() == expected.array()).all());
    }
  }
}

TEST_CASE("rows of zeros have products of zero, beside others and alone", "[detail]") {
  Matrix<float> rows = random_rows<float>(7, 40, 8);
  rows.row(0).setZero();
  rows.row(3) *= 0.0F;  // Zeros of either sign.
  rows.row(6).setZero();
  const Matrix<float> columns = random_rows<float>(5, 40, 9);
  const Matrix<float> values = products(rows, columns);
  for (const Eigen::Index i : {0, 3, 6}) CHECK(values.row(i).isZero(0));
  CHECK((values.row(1).array() != 0).all());
  CHECK(products(Matrix<float>(Matrix<float>::Zero(9, 40)), columns).isZero(0));
}
