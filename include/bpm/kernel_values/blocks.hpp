// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "bpm/core/check.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/vector_ops.hpp"
#include "bpm/kernel_values/byte_panels.hpp"
#include "bpm/kernel_values/panels.hpp"
#include "bpm/kernel_values/prepared_bytes.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/kernels/kernel.hpp"

/// \file
/// Blocks of kernel values between prepared inputs.

namespace bpm::detail {

/// Kernels that some input set can be used with: on dense and sparse numbers those that are
/// functions of inner products, and any pair kernel on what it can be called with.
template <class K, class I>
concept KernelOn =
    InputSet<I> &&
    ((!RangeInputs<I> && InnerProductKernel<K>) || (DenseInputs<I> && ManhattanKernel<K>) ||
     PairKernel<K, std::remove_cvref_t<typename PreparedInputs<I>::One>>);

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
inline constexpr int map_width = 64;

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

/// Applies the kernel to a row of inner products; `norms` are padded to whole chunks.
template <class Kernel, class Scalar>
void apply_inner_product_kernel(const Kernel& kernel, Scalar norm, const Scalar* norms,
                                Scalar* values, std::ptrdiff_t count) {
  using Chunk = Eigen::Array<Scalar, map_width, 1>;
  const Chunk left = Chunk::Constant(norm);
  map_padded(values, count, [&](const Chunk& products, std::ptrdiff_t offset, int, Chunk& out) {
    const Chunk right = Eigen::Map<const Chunk>(norms + offset);
    inner_product_chunk(kernel, products, left, right, out);
  });
}

/// The kinds of blocks, by what the kernel is a function of.
template <class Kernel, class I>
inline constexpr bool by_inner_products = !RangeInputs<I> && InnerProductKernel<Kernel>;
template <class Kernel, class I>
inline constexpr bool by_distances =
    DenseInputs<I> && !by_inner_products<Kernel, I> && ManhattanKernel<Kernel>;

/// Packs columns for `packed_products`; their norms as well, with ones up to a whole chunk.
template <class I>
void pack_columns(const PreparedInputs<I>& z, std::span<const PointIndex> cols,
                  PackedColumns<kernel_scalar_t<I>>& packed) {
  using Scalar = kernel_scalar_t<I>;
  const auto count = static_cast<std::ptrdiff_t>(cols.size());
  const std::ptrdiff_t chunks = (count + map_width - 1) / map_width * map_width;
  packed.norms.reserve_discarding(chunks);
  for (std::ptrdiff_t b = 0; b < count; ++b) {
    packed.norms[b] = z.squared_norm(cols[b]);
  }
  std::fill(packed.norms.data() + count, packed.norms.data() + chunks, Scalar{1});
  if constexpr (DenseInputs<I>) {
    using Unit = std::remove_cvref_t<decltype(*z.row(0))>;
    constexpr std::ptrdiff_t width = panel_width<Unit>;
    packed.panels.reserve_discarding(panel_count<Unit>(count) * width * z.length() *
                                     std::ptrdiff_t{sizeof(Unit)});
    auto* const panels = reinterpret_cast<Unit*>(packed.panels.data());
    for (std::ptrdiff_t first = 0; first < count; first += width) {
      const Unit* columns[width];
      const std::ptrdiff_t there = std::min(width, count - first);
      for (std::ptrdiff_t c = 0; c < there; ++c) columns[c] = z.row(cols[first + c]);
      pack_panel<Unit>(columns, there, z.length(), ByteInputs<I> ? Unit(byte_flip) : Unit{0},
                       panels + first * z.length());
    }
  }
}

/// Inner products of dense rows with packed columns, from column `first` on, a multiple of the
/// panels' width.
template <class Left, class Scalar>
void packed_products(const PreparedInputs<Left>& x, std::span<const PointIndex> rows,
                     const PackedColumns<Scalar>& packed, std::ptrdiff_t first,
                     std::ptrdiff_t count, Scalar* values, std::ptrdiff_t ld,
                     BlockScratch<Scalar>& scratch) {
  const auto count_rows = static_cast<std::ptrdiff_t>(rows.size());
  if constexpr (ByteInputs<Left>) {
    scratch.byte_rows.reserve_discarding(count_rows);
    scratch.byte_sums.reserve_discarding(count_rows);
    for (std::ptrdiff_t a = 0; a < count_rows; ++a) {
      scratch.byte_rows[a] = x.row(rows[a]);
      scratch.byte_sums[a] = x.sum(rows[a]);
    }
    const auto* const panels = reinterpret_cast<const ByteUnit*>(packed.panels.data());
    byte_products<Scalar>(scratch.byte_rows.data(), scratch.byte_sums.data(), count_rows,
                          panels + first * x.length(), count, x.length(), values, ld,
                          scratch.lists);
  } else {
    scratch.left.reserve_discarding(count_rows);
    for (std::ptrdiff_t a = 0; a < count_rows; ++a) scratch.left[a] = x.row(rows[a]);
    const auto* const panels = reinterpret_cast<const Scalar*>(packed.panels.data());
    panel_products<Scalar>(scratch.left.data(), count_rows, panels + first * x.length(), count,
                           x.length(), values, ld, scratch.lists);
  }
}

/// The kernel of a block of inner products, in their place; checks the values.
template <class Kernel, class Left, class Scalar>
void finish_inner_products(const Kernel& kernel, const PreparedInputs<Left>& x,
                           std::span<const PointIndex> rows, const Scalar* norms,
                           std::span<const PointIndex> cols, Scalar* values, std::ptrdiff_t ld) {
  const auto count_cols = static_cast<std::ptrdiff_t>(cols.size());
  for (std::size_t a = 0; a < rows.size(); ++a) {
    Scalar* const row = values + static_cast<std::ptrdiff_t>(a) * ld;
    apply_inner_product_kernel(kernel, x.squared_norm(rows[a]), norms, row, count_cols);
    check_kernel_row(row, count_cols, rows[a], cols.data());
  }
}

/// Rows of a block of distances as numbers, where they lie or, of bytes, widened.
template <class I, class Scalar>
const Scalar* const* rows_of_numbers(const PreparedInputs<I>& x, std::span<const PointIndex> points,
                                     Buffer<const Scalar*>& pointers, Scalar* widened) {
  pointers.reserve_discarding(std::ssize(points));
  for (std::size_t a = 0; a < points.size(); ++a) {
    if constexpr (ByteInputs<I>) {
      const std::ptrdiff_t length = padded<Scalar>(x.columns());
      Scalar* const row = widened + static_cast<std::ptrdiff_t>(a) * length;
      std::copy_n(x.bytes_of(points[a]), x.columns(), row);
      std::fill(row + x.columns(), row + length, Scalar{0});
      pointers[static_cast<std::ptrdiff_t>(a)] = row;
    } else {
      pointers[static_cast<std::ptrdiff_t>(a)] = x.row(points[a]);
    }
  }
  return pointers.data();
}

/// values[a * ld + b] = k(x_rows[a], z_cols[b]) for prepared inputs x and z.
///
/// Inner-product kernels on numbers run at matrix-product speed, Manhattan kernels on dense numbers
/// likewise; other kernels are called pair by pair. The bits of a value depend on the two inputs
/// alone: not on the block, the position in it, or (where x and z are one object) on the order of
/// the pair. Indices are not checked. Columns that are asked for again and again should be packed
/// once: see `PreparedColumns`.
/// \throws KernelValueError if a value is not finite or near overflow.
template <class Kernel, class Left, class Right>
void kernel_block(const Kernel& kernel, const PreparedInputs<Left>& x,
                  std::span<const PointIndex> rows, const PreparedInputs<Right>& z,
                  std::span<const PointIndex> cols, kernel_scalar_t<Left>* values,
                  std::ptrdiff_t ld, BlockScratch<kernel_scalar_t<Left>>& scratch) {
  using Scalar = kernel_scalar_t<Left>;
  static_assert(std::same_as<Scalar, kernel_scalar_t<Right>>,
                "both input sets must have the same precision: cast one of them");
  static_assert(ByteInputs<Left> == ByteInputs<Right>,
                "both input sets must be bytes, or none: cast one of them");
  const auto count_rows = static_cast<std::ptrdiff_t>(rows.size());
  const auto count_cols = static_cast<std::ptrdiff_t>(cols.size());
  scratch.evaluations += static_cast<std::uint64_t>(count_rows * count_cols);
  if constexpr (DenseInputs<Left> && by_inner_products<Kernel, Left>) {
    static_assert(DenseInputs<Right>);
    // Columns that stay in the second-level cache while they are packed and used.
    constexpr std::size_t together = 256;
    for (std::size_t first = 0; first < cols.size(); first += together) {
      const auto part = cols.subspan(first, std::min(together, cols.size() - first));
      Scalar* const out = values + static_cast<std::ptrdiff_t>(first);
      pack_columns(z, part, scratch.columns);
      packed_products(x, rows, scratch.columns, 0, std::ssize(part), out, ld, scratch);
      finish_inner_products(kernel, x, rows, scratch.columns.norms.data(), part, out, ld);
    }
  } else if constexpr (by_distances<Kernel, Left>) {
    const std::ptrdiff_t length = padded<Scalar>(x.columns());
    if constexpr (ByteInputs<Left>) {
      scratch.widened.reserve_discarding((count_rows + count_cols) * length);
    }
    const auto* const left = rows_of_numbers(x, rows, scratch.left, scratch.widened.data());
    const auto* const right =
        rows_of_numbers(z, cols, scratch.right,
                        scratch.widened.data() + (ByteInputs<Left> ? count_rows * length : 0));
    row_products<DistanceTerm, Scalar>(left, count_rows, right, count_cols, length, values, ld);
    for (std::ptrdiff_t a = 0; a < count_rows; ++a) {
      Scalar* const row = values + a * ld;
      map_padded(row, count_cols, [&](const auto& distances, auto, auto, auto& out) {
        manhattan_chunk(kernel, distances, out);
      });
      check_kernel_row(row, count_cols, rows[a], cols.data());
    }
  } else if constexpr (SparseInputs<Left> && by_inner_products<Kernel, Left>) {
    static_assert(SparseInputs<Right>);
    pack_columns(z, cols, scratch.columns);
    if (scratch.scattered.size() < x.columns()) {
      scratch.scattered = Buffer<Scalar>(x.columns(), Scalar{0});
    }
    for (std::ptrdiff_t a = 0; a < count_rows; ++a) {
      x.scatter(rows[a], scratch.scattered.data());
      for (std::ptrdiff_t b = 0; b < count_cols; ++b) {
        values[a * ld + b] = z.product(cols[b], scratch.scattered.data());
      }
      x.clear(rows[a], scratch.scattered.data());
    }
    finish_inner_products(kernel, x, rows, scratch.columns.norms.data(), cols, values, ld);
  } else {
    // One order for a pair, whoever asks: a user's function need not be symmetric to the last bit.
    const bool same = static_cast<const void*>(&x) == static_cast<const void*>(&z);
    for (std::ptrdiff_t a = 0; a < count_rows; ++a) {
      for (std::ptrdiff_t b = 0; b < count_cols; ++b) {
        const PointIndex i = rows[a];
        const PointIndex j = cols[b];
        values[a * ld + b] = static_cast<Scalar>(same && j < i ? kernel(z.one(j), x.one(i))
                                                               : kernel(x.one(i), z.one(j)));
      }
      check_kernel_row(values + a * ld, count_cols, rows[a], cols.data());
    }
  }
}

/// k(x_i, x_i), the same bits as in a block.
/// \throws KernelValueError if it is not finite or near overflow.
template <class Kernel, class I>
[[nodiscard]] kernel_scalar_t<I> self_value(const Kernel& kernel, const PreparedInputs<I>& x,
                                            PointIndex i,
                                            BlockScratch<kernel_scalar_t<I>>& scratch) {
  using Scalar = kernel_scalar_t<I>;
  if constexpr (by_inner_products<Kernel, I>) {
    // <x, x> is the squared norm to the bit.
    alignas(64) Scalar norms[map_width];
    std::fill_n(norms, map_width, x.squared_norm(i));
    Scalar value = x.squared_norm(i);
    apply_inner_product_kernel(kernel, value, norms, &value, 1);
    check_kernel_row(&value, 1, i, &i);
    ++scratch.evaluations;
    return value;
  } else {
    Scalar value{};
    kernel_block(kernel, x, std::span(&i, 1), x, std::span(&i, 1), &value, 1, scratch);
    return value;
  }
}

/// diagonal[i] = k(x_i, x_i) for all inputs; the same bits as in a block.
/// \throws KernelValueError if a value is not finite, near overflow, or negative.
template <class Kernel, class I>
[[nodiscard]] Buffer<kernel_scalar_t<I>> kernel_diagonal(const Kernel& kernel,
                                                         const PreparedInputs<I>& x) {
  using Scalar = kernel_scalar_t<I>;
  Buffer<Scalar> diagonal(x.size());
  BlockScratch<Scalar> scratch;
  for (PointIndex i = 0; i < x.size(); ++i) {
    diagonal[i] = self_value(kernel, x, i, scratch);
    if (diagonal[i] < 0) {
      throw KernelValueError(join("kernel: k(x_", i, ", x_", i, ") is ", diagonal[i],
                                  ", must not be negative: the kernel is not positive "
                                  "semi-definite"));
    }
  }
  return diagonal;
}

}  // namespace bpm::detail
