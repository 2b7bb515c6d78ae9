// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "bpm/detail/check.hpp"
#include "bpm/errors.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/kernels/prepared_inputs.hpp"

/// \file
/// Blocks of kernel values between prepared inputs.

namespace bpm {

/// Kernels that some input set can be used with: on dense and sparse numbers those that are
/// functions of inner products, and any pair kernel on what it can be called with.
template <class K, class I>
concept KernelOn =
    InputSet<I> &&
    ((!RangeInputs<I> && InnerProductKernel<K>) || (DenseInputs<I> && ManhattanKernel<K>) ||
     PairKernel<K, std::remove_cvref_t<typename PreparedInputs<I>::One>>);

namespace detail {

/// How far kernel values may go: sums of 1 / epsilon such values are still finite.
template <class Scalar>
inline constexpr Scalar largest_kernel_value =
    std::numeric_limits<Scalar>::max() * std::numeric_limits<Scalar>::epsilon();

/// Marks a function of which there shall be one piece of machine code. Inlined here and there, the
/// same formula is not the same bits: a compiler fuses a multiplication with an addition, or not,
/// by what it knows of the arguments (that a norm is one number for the whole row, say).
#if defined(__clang__)
#define BPM_DETAIL_ONE_COPY __attribute__((noinline))
#elif defined(__GNUC__)
#define BPM_DETAIL_ONE_COPY __attribute__((noipa))
#elif defined(_MSC_VER)
#define BPM_DETAIL_ONE_COPY __declspec(noinline)
#else
#define BPM_DETAIL_ONE_COPY
#endif

template <class Kernel, class Chunk>
BPM_DETAIL_ONE_COPY void inner_product_chunk(const Kernel& kernel, const Chunk& xz, const Chunk& xx,
                                             const Chunk& zz, Chunk& out) {
  out = kernel.from_inner_products(xz, xx, zz);
}

template <class Kernel, class Chunk>
BPM_DETAIL_ONE_COPY void manhattan_chunk(const Kernel& kernel, const Chunk& distances, Chunk& out) {
  out = kernel.from_manhattan_distances(distances);
}

/// Applies a pointwise function to `count` numbers in registers' multiples: the tail is padded, so
/// that a packet's exp and a scalar's, which differ, are never mixed.
/// `function(values, offset, filled, out)` gets an array and where it came from.
inline constexpr int map_width = 32;

template <class Scalar, class Function>
void map_padded(Scalar* values, std::ptrdiff_t count, Function&& function) {
  using Chunk = Eigen::Array<Scalar, map_width, 1>;
  std::ptrdiff_t i = 0;
  for (; i + map_width <= count; i += map_width) {
    const Chunk in = Eigen::Map<const Chunk>(values + i);
    Chunk out;
    function(in, i, map_width, out);
    Eigen::Map<Chunk>(values + i) = out;
  }
  if (i < count) {
    const auto rest = static_cast<int>(count - i);
    Chunk in = Chunk::Ones();
    for (int l = 0; l < rest; ++l) in[l] = values[i + l];
    Chunk out;
    function(in, i, rest, out);
    for (int l = 0; l < rest; ++l) values[i + l] = out[l];
  }
}

template <class Scalar>
[[noreturn]] void refuse_kernel_value(std::ptrdiff_t i, std::ptrdiff_t j, Scalar value) {
  throw KernelValueError(join("kernel: k(x_", i, ", x_", j, ") is ", value,
                              ", must be finite and below ", largest_kernel_value<Scalar>,
                              " in size; scale the inputs or normalise the kernel"));
}

/// Throws unless all values of a row are in range; `columns` gives the points' numbers.
template <class Scalar>
void check_kernel_row(const Scalar* values, std::ptrdiff_t count, std::ptrdiff_t row,
                      const PointIndex* columns) {
  // Branch-free, so that it costs a register's comparison; NaN compares false.
  int good = 1;
  for (std::ptrdiff_t j = 0; j < count; ++j) {
    good &= static_cast<int>(std::abs(values[j]) <= largest_kernel_value<Scalar>);
  }
  if (good == 0) [[unlikely]] {
    for (std::ptrdiff_t j = 0; j < count; ++j) {
      if (!(std::abs(values[j]) <= largest_kernel_value<Scalar>)) {
        refuse_kernel_value(row, columns[j], values[j]);
      }
    }
  }
}

template <class Kernel, class Scalar>
void apply_inner_product_kernel(const Kernel& kernel, Scalar norm, const Scalar* norms,
                                Scalar* values, std::ptrdiff_t count) {
  using Chunk = Eigen::Array<Scalar, map_width, 1>;
  const Chunk left = Chunk::Constant(norm);
  map_padded(values, count,
             [&](const Chunk& products, std::ptrdiff_t offset, int filled, Chunk& out) {
               Chunk right = Chunk::Ones();
               if (filled == map_width) {
                 right = Eigen::Map<const Chunk>(norms + offset);
               } else {
                 for (int l = 0; l < filled; ++l) right[l] = norms[offset + l];
               }
               inner_product_chunk(kernel, products, left, right, out);
             });
}

}  // namespace detail

/// values[a * ld + b] = k(x_rows[a], z_cols[b]) for prepared inputs x and z.
///
/// Inner-product kernels on numbers run at matrix-product speed, Manhattan kernels on dense numbers
/// likewise; other kernels are called pair by pair. The bits of a value depend on the two inputs
/// alone: not on the block, the position in it, or (where x and z are one object) on the order of
/// the pair. Indices are not checked.
/// \throws KernelValueError if a value is not finite or near overflow.
template <class Kernel, class Left, class Right>
void kernel_block(const Kernel& kernel, const PreparedInputs<Left>& x,
                  std::span<const PointIndex> rows, const PreparedInputs<Right>& z,
                  std::span<const PointIndex> cols, kernel_scalar_t<Left>* values,
                  std::ptrdiff_t ld, BlockScratch<kernel_scalar_t<Left>>& scratch) {
  using Scalar = kernel_scalar_t<Left>;
  static_assert(std::same_as<Scalar, kernel_scalar_t<Right>>,
                "both input sets must have the same precision: cast one of them");
  const auto count_rows = static_cast<std::ptrdiff_t>(rows.size());
  const auto count_cols = static_cast<std::ptrdiff_t>(cols.size());
  scratch.evaluations += static_cast<std::uint64_t>(count_rows * count_cols);

  constexpr bool by_products = !RangeInputs<Left> && InnerProductKernel<Kernel>;
  constexpr bool by_distances = DenseInputs<Left> && !by_products && ManhattanKernel<Kernel>;
  if constexpr (by_products) {
    scratch.norms.reserve_discarding(count_cols);
    for (std::ptrdiff_t b = 0; b < count_cols; ++b) {
      scratch.norms[b] = z.squared_norm(cols.data()[b]);
    }
  }
  if constexpr (DenseInputs<Left> && (by_products || by_distances)) {
    static_assert(DenseInputs<Right>);
    scratch.left.reserve_discarding(count_rows);
    scratch.right.reserve_discarding(count_cols);
    for (std::ptrdiff_t a = 0; a < count_rows; ++a) scratch.left[a] = x.row(rows.data()[a]);
    for (std::ptrdiff_t b = 0; b < count_cols; ++b) scratch.right[b] = z.row(cols.data()[b]);
    using Term = std::conditional_t<by_products, detail::ProductTerm, detail::DistanceTerm>;
    detail::row_products<Term, Scalar>(scratch.left.data(), count_rows, scratch.right.data(),
                                       count_cols, x.length(), values, ld);
  } else if constexpr (SparseInputs<Left> && by_products) {
    static_assert(SparseInputs<Right>);
    if (scratch.scattered.size() < x.columns()) {
      scratch.scattered = detail::Buffer<Scalar>(x.columns(), Scalar{0});
    }
    for (std::ptrdiff_t a = 0; a < count_rows; ++a) {
      x.scatter(rows.data()[a], scratch.scattered.data());
      for (std::ptrdiff_t b = 0; b < count_cols; ++b) {
        values[a * ld + b] = z.product(cols.data()[b], scratch.scattered.data());
      }
      x.clear(rows.data()[a], scratch.scattered.data());
    }
  } else {
    // One order for a pair, whoever asks: a user's function need not be symmetric to the last bit.
    const bool same = static_cast<const void*>(&x) == static_cast<const void*>(&z);
    for (std::ptrdiff_t a = 0; a < count_rows; ++a) {
      for (std::ptrdiff_t b = 0; b < count_cols; ++b) {
        const PointIndex i = rows.data()[a];
        const PointIndex j = cols.data()[b];
        values[a * ld + b] = static_cast<Scalar>(same && j < i ? kernel(z.one(j), x.one(i))
                                                               : kernel(x.one(i), z.one(j)));
      }
    }
  }
  for (std::ptrdiff_t a = 0; a < count_rows; ++a) {
    Scalar* row = values + a * ld;
    if constexpr (by_products) {
      detail::apply_inner_product_kernel(kernel, x.squared_norm(rows.data()[a]),
                                         scratch.norms.data(), row, count_cols);
    } else if constexpr (by_distances) {
      detail::map_padded(row, count_cols, [&](const auto& distances, auto, auto, auto& out) {
        detail::manhattan_chunk(kernel, distances, out);
      });
    }
    detail::check_kernel_row(row, count_cols, rows.data()[a], cols.data());
  }
}

/// diagonal[i] = k(x_i, x_i) for all inputs; the same bits as in a block.
/// \throws KernelValueError if a value is not finite, near overflow, or negative.
template <class Kernel, class I>
[[nodiscard]] detail::Buffer<kernel_scalar_t<I>> kernel_diagonal(const Kernel& kernel,
                                                                 const PreparedInputs<I>& x) {
  using Scalar = kernel_scalar_t<I>;
  detail::Buffer<Scalar> diagonal(x.size());
  BlockScratch<Scalar> scratch;
  for (PointIndex i = 0; i < x.size(); ++i) {
    kernel_block(kernel, x, std::span(&i, 1), x, std::span(&i, 1), diagonal.data() + i, 1, scratch);
    if (diagonal[i] < 0) {
      throw KernelValueError(detail::join("kernel: k(x_", i, ", x_", i, ") is ", diagonal[i],
                                          ", must not be negative: the kernel is not positive "
                                          "semi-definite"));
    }
  }
  return diagonal;
}

}  // namespace bpm
