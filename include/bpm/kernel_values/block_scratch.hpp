// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "bpm/core/buffer.hpp"
#include "bpm/kernel_values/panels.hpp"

namespace bpm::detail {

/// Columns of a block, packed: panels of numbers or bytes, and squared norms.
template <class Scalar>
struct PackedColumns {
  Buffer<std::byte> panels;
  Buffer<Scalar> norms;
};

/// Memory that a thread reuses from block to block, so that no loop allocates, with a count of the
/// kernel values made through it.
template <class Scalar>
struct BlockScratch {
  Buffer<const Scalar*> rows;
  Buffer<const Scalar*> column_rows;  ///< Columns where they lie, for kernels of distances.
  Buffer<const std::uint32_t*> byte_rows;
  Buffer<std::int64_t> byte_sums;
  PackedColumns<Scalar> columns;
  StepLists lists;
  Buffer<Scalar> scattered;
  Buffer<Scalar> widened;         ///< Bytes as numbers, for kernels of distances.
  Buffer<Scalar> values;          ///< For a caller's own use (rows, blocks).
  std::uint64_t evaluations = 0;  ///< Kernel values computed so far.
  double seconds = 0;             ///< Time spent on them.
};

}  // namespace bpm::detail
