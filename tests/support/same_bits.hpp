// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernels/kernel.hpp"

/// \file
/// The promise that a kernel value is the same bits however it is read: one by one, in blocks of
/// any shape, at any position, in either order, as a row, from a whole matrix. Nothing here uses
/// Catch, so that it can run inside a parallel region.

namespace test_support {

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// m rows of dimension d for the tests of bits: numbers of many sizes, a third of them zero.
template <class T>
bpm::RowMatrix<T> rough_inputs(Eigen::Index m, Eigen::Index d, std::uint64_t seed) {
  bpm::RandomEngine engine(seed, 79);
  bpm::NormalDraws normal;
  bpm::RowMatrix<T> inputs(m, d);
  for (Eigen::Index i = 0; i < m; ++i) {
    for (Eigen::Index k = 0; k < d; ++k) {
      const bool zero = k > 0 && bpm::uniform_below(engine, 3) == 0;
      inputs(i, k) = zero ? T{0} : static_cast<T>(normal(engine) * std::exp(normal(engine) / 2));
    }
  }
  return inputs;
}

/// Reads kernel values on a set of inputs in all ways there are and counts the values that differ
/// from the one of the pair alone.
template <class Kernel, class I>
class BitsTest {
 public:
  using Scalar = bpm::detail::kernel_scalar_t<I>;
  using Owned = bpm::detail::owned_inputs_t<I>;

  BitsTest(const Kernel& kernel, const I& inputs, std::uint64_t seed = 1)
      : kernel_(kernel), inputs_(inputs), prepared_(inputs), engine_(seed, 80) {
    const auto m = static_cast<bpm::PointIndex>(prepared_.size());
    alone_.resize(m, m);
    bpm::detail::BlockScratch<Scalar> scratch;
    for (bpm::PointIndex i = 0; i < m; ++i) {
      for (bpm::PointIndex j = 0; j < m; ++j) {
        bpm::detail::kernel_block(kernel_, prepared_, std::span(&i, 1), prepared_, std::span(&j, 1),
                                  &alone_(i, j), 1, scratch);
      }
    }
  }

  /// Pairs whose value alone depends on their order.
  [[nodiscard]] long lopsided() const {
    long count = 0;
    for (Eigen::Index i = 0; i < alone_.rows(); ++i) {
      for (Eigen::Index j = 0; j < i; ++j) {
        count += static_cast<long>(!same_bits(alone_(i, j), alone_(j, i)));
      }
    }
    return count;
  }

  /// One block of m inputs at random places of the set, in random order, rows and columns apart.
  [[nodiscard]] long shuffled_block(std::size_t m) {
    const auto rows = random_points(m);
    const auto cols = random_points(m);
    return block(rows, cols);
  }

  /// A block of another shape at random places.
  [[nodiscard]] long block(std::size_t height, std::size_t width) {
    const auto rows = random_points(height);
    const auto cols = random_points(width);
    return block(rows, cols);
  }

  /// A set of m inputs of its own, in random order: values by row and block from the source that
  /// computes on demand and from whole matrices made by each number of threads.
  [[nodiscard]] long gram(std::size_t m, const std::vector<unsigned>& threads) {
    return gram_of(random_points(m), threads);
  }

  /// The same of the first m inputs in the set's own order, in which the values of a kernel that is
  /// not symmetric to the last bit are the same too.
  [[nodiscard]] long gram_in_order(std::size_t m, const std::vector<unsigned>& threads) {
    std::vector<bpm::PointIndex> points(m);
    std::iota(points.begin(), points.end(), 0);
    return gram_of(points, threads);
  }

 private:
  long gram_of(const std::vector<bpm::PointIndex>& points, const std::vector<unsigned>& threads) {
    const Owned few = bpm::detail::select_inputs(inputs_, points);
    const bpm::detail::OnDemandGram<Kernel, Owned> on_demand(kernel_, few);
    long count = differences(on_demand, points);
    for (const unsigned wanted : threads) {
      count += differences(bpm::detail::DenseGram<Scalar>(on_demand, wanted), points);
    }
    return count;
  }

  std::vector<bpm::PointIndex> random_points(std::size_t count) {
    std::vector<bpm::PointIndex> all(static_cast<std::size_t>(prepared_.size()));
    bpm::random_permutation(std::span(all), engine_);
    all.resize(std::min(count, all.size()));
    return all;
  }

  long block(const std::vector<bpm::PointIndex>& rows, const std::vector<bpm::PointIndex>& cols) {
    // Columns beyond the block show whether anything is written where it should not be.
    const auto ld = static_cast<std::ptrdiff_t>(cols.size()) + 3;
    std::vector<Scalar> values(rows.size() * static_cast<std::size_t>(ld), Scalar{-77});
    bpm::detail::kernel_block(kernel_, prepared_, rows, prepared_, cols, values.data(), ld,
                              scratch_);
    long count = 0;
    for (std::size_t a = 0; a < rows.size(); ++a) {
      const Scalar* const row = values.data() + a * static_cast<std::size_t>(ld);
      for (std::size_t b = 0; b < cols.size(); ++b) {
        count += static_cast<long>(!same_bits(row[b], alone_(rows[a], cols[b])));
      }
      count += std::count_if(row + cols.size(), row + ld, [](Scalar v) { return v != -77; });
    }
    return count;
  }

  template <class Gram>
  long differences(const Gram& gram, const std::vector<bpm::PointIndex>& points) {
    const auto m = static_cast<bpm::PointIndex>(points.size());
    long count = static_cast<long>(gram.size() != m);
    for (bpm::PointIndex i = 0; i < m; ++i) {
      const auto row = gram.row(i, scratch_);
      for (bpm::PointIndex j = 0; j < m; ++j) {
        count += static_cast<long>(!same_bits(row[std::size_t(j)], alone(points, i, j)));
      }
      count += static_cast<long>(!same_bits(gram.diagonal(i), alone(points, i, i)));
    }
    std::vector<bpm::PointIndex> rows(points.size());
    std::vector<bpm::PointIndex> cols(points.size());
    bpm::random_permutation(std::span(rows), engine_);
    bpm::random_permutation(std::span(cols), engine_);
    rows.resize(std::min<std::size_t>(rows.size(), 9));
    std::vector<Scalar> values(rows.size() * cols.size());
    gram.block(rows, cols, values.data(), m, scratch_);
    for (std::size_t a = 0; a < rows.size(); ++a) {
      for (std::size_t b = 0; b < cols.size(); ++b) {
        count += static_cast<long>(
            !same_bits(values[a * cols.size() + b], alone(points, rows[a], cols[b])));
      }
    }
    return count;
  }

  Scalar alone(const std::vector<bpm::PointIndex>& points, bpm::PointIndex i,
               bpm::PointIndex j) const {
    return alone_(points[std::size_t(i)], points[std::size_t(j)]);
  }

  Kernel kernel_;
  const I& inputs_;
  bpm::detail::PreparedInputs<I> prepared_;
  bpm::RandomEngine engine_;
  bpm::detail::BlockScratch<Scalar> scratch_;
  bpm::RowMatrix<Scalar> alone_;
};

/// Values that differ, over all sizes from 1 to the number of inputs. Whole matrices are made of
/// one size in `gram_step`.
template <class Kernel, class I>
long bits_that_differ(const Kernel& kernel, const I& inputs, std::size_t gram_step) {
  BitsTest<Kernel, I> test(kernel, inputs);
  const auto largest = static_cast<std::size_t>(bpm::detail::input_count(inputs));
  long count = test.lopsided();
  for (std::size_t m = 1; m <= largest; ++m) {
    count += test.shuffled_block(m) + test.block(1, m) + test.block(m, 1) + test.block(m, 7);
    if (m % gram_step == 1 || m == largest || gram_step == 1) count += test.gram(m, {1U, 3U});
  }
  return count;
}

}  // namespace test_support
