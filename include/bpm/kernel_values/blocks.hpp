// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "bpm/core/errors.hpp"
#include "bpm/core/lanes.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/byte_panels.hpp"
#include "bpm/kernel_values/number_panels.hpp"
#include "bpm/kernel_values/panels.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/kernels/kernel.hpp"

/// \file
/// Blocks of kernel values between prepared inputs.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Kernels for inputs of type I: on numbers, functions of inner products; on dense numbers also
/// functions of Manhattan distances; on any inputs, kernels that can be called on a pair.
template <class K, class I>
concept KernelOn =
    InputSet<I> &&
    ((!RangeInputs<I> && InnerProductKernel<K>) || (DenseInputs<I> && ManhattanKernel<K>) ||
     PairKernel<K, std::remove_cvref_t<typename PreparedInputs<I>::One>>);

/// Largest kernel value allowed: sums of 1 / epsilon such values are still finite.
template <class Scalar>
inline constexpr Scalar largest_kernel_value =
    std::numeric_limits<Scalar>::max() * std::numeric_limits<Scalar>::epsilon();

/// Marks a function that must compile to a single piece of machine code. Inlined in several places,
/// a formula does not give the same bits: a compiler fuses a multiplication with an addition, or
/// not, by what it knows of the arguments (for example that a norm is constant along the row).
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
BPM_DETAIL_ONE_COPY Chunk inner_product_chunk(const Kernel& kernel, const Chunk& xz,
                                              const Chunk& xx, const Chunk& zz) {
  return kernel.from_inner_products(xz, xx, zz);
}

template <class Kernel, class Chunk>
BPM_DETAIL_ONE_COPY Chunk manhattan_chunk(const Kernel& kernel, const Chunk& distances) {
  return kernel.from_manhattan_distances(distances);
}

/// Number of values to which a kernel is applied at once: four registers of floats, few enough for
/// the compiler to unroll the formula and its copies; or as many as make a call of functions that
/// are chosen when the program runs worth while.
#if defined(BPM_DETAIL_NUMBERS_AT_RUN_TIME)
inline constexpr int map_width = 128;
#else
inline constexpr int map_width = 4 * lane_count<float>;
#endif

/// Applies a pointwise function to `count` numbers, in chunks of whole registers. The tail is
/// padded, so that a packet's exp and a scalar's, which differ, are never mixed. `function(values,
/// offset)` receives a chunk and its offset, and returns a chunk.
template <class Scalar, class Function>
void map_padded(Scalar* values, std::ptrdiff_t count, Function&& function) {
  using Chunk = Eigen::Array<Scalar, map_width, 1>;
  std::ptrdiff_t i = 0;
  for (; i + map_width <= count; i += map_width) {
    const Chunk in = Eigen::Map<const Chunk>(values + i);
    Eigen::Map<Chunk>(values + i) = function(in, i);
  }
  if (i < count) {
    Chunk in = Chunk::Ones();
    std::copy(values + i, values + count, in.data());
    std::copy_n(function(in, i).data(), count - i, values + i);
  }
}

/// True if all values are finite and below the largest in size.
template <class Scalar>
[[gnu::always_inline]] inline bool in_range(const Scalar* values, std::ptrdiff_t count) {
  // Branch-free in pieces of fixed length, to compile to a comparison of registers at -O2 too; NaN
  // compares false.
  constexpr std::ptrdiff_t piece = 32;
  const auto is_bad = [](Scalar value) -> int {
    return !(std::abs(value) <= largest_kernel_value<Scalar>);
  };
  int bad_values = 0;
  std::ptrdiff_t j = 0;
  for (; j + piece <= count; j += piece) {
    for (std::ptrdiff_t k = 0; k < piece; ++k) bad_values |= is_bad(values[j + k]);
  }
  for (; j < count; ++j) bad_values |= is_bad(values[j]);
  return bad_values == 0;
}

/// Throws unless all values of a row are in range; `columns` has the indices of the points.
template <class Scalar>
void check_kernel_row(const Scalar* values, std::ptrdiff_t count, std::ptrdiff_t row,
                      const PointIndex* columns) {
  if (by_machine<in_range<Scalar>>(values, count)) return;
  const Scalar* bad = values;
  while (in_range(bad, 1)) ++bad;
  throw KernelValueError(join("kernel: k(x_", row, ", x_", columns[bad - values], ") is ", *bad,
                              ", must be finite and below ", largest_kernel_value<Scalar>,
                              " in size; scale the inputs or normalise the kernel"));
}

/// Applies the kernel to a row of inner products; `norms` are padded to whole chunks.
template <class Kernel, class Scalar>
void apply_inner_product_kernel(const Kernel& kernel, Scalar norm, const Scalar* norms,
                                Scalar* values, std::ptrdiff_t count) {
  using Chunk = Eigen::Array<Scalar, map_width, 1>;
  const Chunk left = Chunk::Constant(norm);
  const auto apply = [&](const auto& one) {
    map_padded(values, count, [&](const Chunk& products, std::ptrdiff_t offset) {
      Chunk right;
      std::copy_n(norms + offset, map_width, right.data());
      return inner_product_chunk(one, products, left, right);
    });
  };
  if constexpr (VisitedKernel<Kernel>) {  // Resolved once per row, not once per value.
    kernel.visit(apply);
  } else {
    apply(kernel);
  }
}

/// Kinds of blocks: the kernel is a function of inner products, of distances, or of pairs.
template <class Kernel, class I>
inline constexpr bool by_inner_products = !RangeInputs<I> && InnerProductKernel<Kernel>;
template <class Kernel, class I>
inline constexpr bool by_distances =
    DenseInputs<I> && !by_inner_products<Kernel, I> && ManhattanKernel<Kernel>;
template <class Kernel, class I>
inline constexpr bool by_pairs = !by_inner_products<Kernel, I> && !by_distances<Kernel, I>;

/// Replaces a block of inner products by kernel values, and checks them.
template <class Kernel, class I, class Scalar>
void finish_inner_products(const Kernel& kernel, const PreparedInputs<I>& x,
                           std::span<const PointIndex> rows, const Scalar* norms,
                           std::span<const PointIndex> columns, Scalar* values, std::ptrdiff_t ld) {
  for (const PointIndex i : rows) {
    apply_inner_product_kernel(kernel, x.squared_norm(i), norms, values, std::ssize(columns));
    check_kernel_row(values, std::ssize(columns), i, columns.data());
    values += ld;
  }
}

/// Packs points, as far as they are dense, and their norms, which are padded with ones to whole
/// chunks.
template <class I>
void pack_columns(const PreparedInputs<I>& z, std::span<const PointIndex> columns,
                  ReadyColumns<kernel_scalar_t<I>>& packed) {
  using Scalar = kernel_scalar_t<I>;
  packed.points = columns;
  packed.packed = DenseInputs<I>;
  const std::ptrdiff_t count = std::ssize(columns);
  const std::ptrdiff_t chunks = (count + map_width - 1) / map_width * map_width;
  packed.norms.reserve_discarding(chunks);
  for (std::ptrdiff_t b = 0; b < count; ++b)
    packed.norms[b] = z.squared_norm(columns[std::size_t(b)]);
  std::fill(packed.norms.data() + count, packed.norms.data() + chunks, Scalar{1});
  if constexpr (DenseInputs<I>) {
    using Unit = typename PreparedInputs<I>::Unit;
    constexpr std::ptrdiff_t width = panel_width<Unit>;
    packed.panels.reserve_discarding(panel_count<Unit>(count) * width * z.length() *
                                     std::ptrdiff_t{sizeof(Unit)});
    auto* const panels = reinterpret_cast<Unit*>(packed.panels.data());
    const Unit flip = ByteInputs<I> ? Unit(byte_tiles().flip) : Unit{0};
    for (std::ptrdiff_t first = 0; first < count; first += width) {
      const Unit* rows[std::size_t(width)];
      const std::ptrdiff_t there = std::min(width, count - first);
      for (std::ptrdiff_t c = 0; c < there; ++c) rows[c] = z.row(columns[std::size_t(first + c)]);
      pack_panel<Unit>(rows, there, z.length(), flip, panels + first * z.length());
    }
  }
}

/// Computes values[a * ld + b] = k(x_rows[a], column first + b) for `count` packed columns,
/// inner-product kernels, dense inputs. `first` is a multiple of the panels' width.
template <class Kernel, class I, class Scalar>
void packed_block(const Kernel& kernel, const PreparedInputs<I>& x,
                  std::span<const PointIndex> rows, const ReadyColumns<Scalar>& packed,
                  std::ptrdiff_t first, std::ptrdiff_t count, Scalar* values, std::ptrdiff_t ld,
                  BlockScratch<Scalar>& scratch) {
  using Unit = typename PreparedInputs<I>::Unit;
  const std::ptrdiff_t height = std::ssize(rows);
  auto& pointers = [&]() -> auto& {
    if constexpr (ByteInputs<I>) {
      return scratch.byte_rows;
    } else {
      return scratch.rows;
    }
  }();
  pointers.reserve_discarding(height);
  for (std::ptrdiff_t a = 0; a < height; ++a) pointers[a] = x.row(rows[std::size_t(a)]);
  const Unit* const panels =
      reinterpret_cast<const Unit*>(packed.panels.data()) + first * x.length();
  if constexpr (ByteInputs<I>) {
    scratch.byte_sums.reserve_discarding(height);
    for (std::ptrdiff_t a = 0; a < height; ++a) scratch.byte_sums[a] = x.sum(rows[a]);
    byte_products<Scalar>(pointers.data(), scratch.byte_sums.data(), height, panels, count,
                          x.length(), values, ld, scratch.lists);
  } else {
    panel_products<Scalar>(pointers.data(), height, panels, count, x.length(), values, ld,
                           scratch.lists);
  }
  finish_inner_products(kernel, x, rows, packed.norms.data() + first,
                        slice_of(packed.points, first, count), values, ld);
}

/// Returns the rows of one side of a block of distances: in place, or bytes converted to Scalar.
template <class I, class Scalar>
const Scalar* const* rows_of_numbers(const PreparedInputs<I>& x, std::span<const PointIndex> points,
                                     Buffer<const Scalar*>& pointers, Scalar* widened) {
  pointers.reserve_discarding(std::ssize(points));
  for (std::ptrdiff_t a = 0; a < std::ssize(points); ++a) {
    if constexpr (ByteInputs<I>) {
      const std::ptrdiff_t length = padded<Scalar>(x.features());
      std::copy_n(x.numbers(points[a]), x.features(), widened);
      std::fill(widened + x.features(), widened + length, Scalar{0});
      pointers[a] = widened;
      widened += length;
    } else {
      pointers[a] = x.row(points[a]);
    }
  }
  return pointers.data();
}

/// Computes values[a * ld + b] = k(x_rows[a], z_columns[b]) for prepared inputs x and z.
///
/// Inner-product kernels on numbers and Manhattan kernels on dense numbers run at matrix-product
/// speed; other kernels are called pair by pair. The bits of a value depend on the two inputs
/// alone: not on the block, the position in it, or (where x and z are one object) on the order of
/// the pair. Indices are not checked. Pack columns that are used several times once: see
/// `ReadyColumns`.
/// \throws KernelValueError if a value is not finite or near overflow.
template <class Kernel, class Left, class Right>
void kernel_block(const Kernel& kernel, const PreparedInputs<Left>& x,
                  std::span<const PointIndex> rows, const PreparedInputs<Right>& z,
                  std::span<const PointIndex> columns, kernel_scalar_t<Left>* values,
                  std::ptrdiff_t ld, BlockScratch<kernel_scalar_t<Left>>& scratch) {
  using Scalar = kernel_scalar_t<Left>;
  static_assert(std::same_as<Scalar, kernel_scalar_t<Right>>,
                "both input sets must have the same precision: cast one of them");
  static_assert(ByteInputs<Left> == ByteInputs<Right>,
                "both input sets must be bytes, or none: cast one of them");
  const std::ptrdiff_t height = std::ssize(rows);
  const std::ptrdiff_t width = std::ssize(columns);
  scratch.evaluations += std::uint64_t(height * width);
  if constexpr (DenseInputs<Left> && by_inner_products<Kernel, Left>) {
    static_assert(DenseInputs<Right>);
    // Columns per pack: packed and used while in the second-level cache.
    constexpr std::ptrdiff_t together = 256;
    for (std::ptrdiff_t first = 0; first < width; first += together) {
      const std::ptrdiff_t count = std::min(together, width - first);
      pack_columns(z, slice_of(columns, first, count), scratch.columns);
      packed_block(kernel, x, rows, scratch.columns, 0, count, values + first, ld, scratch);
    }
  } else if constexpr (by_distances<Kernel, Left>) {
    const std::ptrdiff_t length = padded<Scalar>(x.features());
    const std::ptrdiff_t wide = ByteInputs<Left> ? length : 0;
    scratch.widened.reserve_discarding((height + width) * wide);
    Scalar* const widened = scratch.widened.data();
    row_products<DistanceTerm, Scalar>(
        rows_of_numbers(x, rows, scratch.rows, widened), height,
        rows_of_numbers(z, columns, scratch.column_rows, widened + height * wide), width, length,
        values, ld);
    for (std::ptrdiff_t a = 0; a < height; ++a) {
      map_padded(values + a * ld, width, [&](const auto& distances, std::ptrdiff_t) {
        return manhattan_chunk(kernel, distances);
      });
      check_kernel_row(values + a * ld, width, rows[a], columns.data());
    }
  } else if constexpr (SparseInputs<Left> && by_inner_products<Kernel, Left>) {
    static_assert(SparseInputs<Right>);
    pack_columns(z, columns, scratch.columns);
    const bool scattered = x.features() <= PreparedInputs<Left>::widest_scattered;
    if (scattered && scratch.scattered.size() < x.features()) {
      scratch.scattered = Buffer<Scalar>(x.features(), Scalar{0});
    }
    for (std::ptrdiff_t a = 0; a < height; ++a) {
      if (scattered) x.scatter(rows[std::size_t(a)], scratch.scattered.data());
      for (std::ptrdiff_t b = 0; b < width; ++b) {
        values[a * ld + b] = scattered
                                 ? z.product(columns[std::size_t(b)], scratch.scattered.data())
                                 : z.product(columns[std::size_t(b)], x, rows[std::size_t(a)]);
      }
      if (scattered) x.clear(rows[std::size_t(a)], scratch.scattered.data());
    }
    finish_inner_products(kernel, x, rows, scratch.columns.norms.data(), columns, values, ld);
  } else {
    // Each pair is called in one order: a user's function need not be symmetric to the last bit.
    const bool same = static_cast<const void*>(&x) == static_cast<const void*>(&z);
    for (std::ptrdiff_t a = 0; a < height; ++a) {
      const PointIndex i = rows[std::size_t(a)];
      for (std::ptrdiff_t b = 0; b < width; ++b) {
        const PointIndex j = columns[std::size_t(b)];
        values[a * ld + b] = static_cast<Scalar>(same && j < i ? kernel(z.one(j), x.one(i))
                                                               : kernel(x.one(i), z.one(j)));
      }
      check_kernel_row(values + a * ld, width, i, columns.data());
    }
  }
}

/// Returns k(x_i, x_i), with the same bits as in a block. \throws KernelValueError if it is not
/// finite or near overflow.
template <class Kernel, class I>
[[nodiscard]] kernel_scalar_t<I> self_value(const Kernel& kernel, const PreparedInputs<I>& x,
                                            PointIndex i,
                                            BlockScratch<kernel_scalar_t<I>>& scratch) {
  using Scalar = kernel_scalar_t<I>;
  if constexpr (by_inner_products<Kernel, I>) {
    // <x, x> and the squared norm have the same bits.
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

/// Computes diagonal[i] = k(x_i, x_i) for all inputs, with the same bits as in a block. \throws
/// KernelValueError if a value is not finite, near overflow, or negative.
template <class Kernel, class I>
[[nodiscard]] Buffer<kernel_scalar_t<I>> kernel_diagonal(const Kernel& kernel,
                                                         const PreparedInputs<I>& x) {
  using Scalar = kernel_scalar_t<I>;
  Buffer<Scalar> diagonal(x.size());
  BlockScratch<Scalar> scratch;
  for (PointIndex i = 0; i < x.size(); ++i) {
    diagonal[i] = self_value(kernel, x, i, scratch);
    ensure<KernelValueError>(diagonal[i] >= 0, "kernel: k(x_", i, ", x_", i, ") is ", diagonal[i],
                             ", must not be negative: the kernel is not positive semi-definite");
  }
  return diagonal;
}

}}}  // namespace bpm::detail
