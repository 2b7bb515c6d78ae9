// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "bpm/core/points.hpp"
#include "bpm/kernel_values/padded_inputs.hpp"

namespace bpm::detail {

/// The inputs of mistaken points, numbered as in the `MistakeList`, in blocks that are prepared
/// together.
template <class T>
class MistakenInputs {
 public:
  static constexpr std::ptrdiff_t depth = 240;  ///< Mistakes a block of kernel values.

  struct Block {
    std::int64_t first = 0;
    std::ptrdiff_t count = 0;
    RowMatrix<T> inputs;
    std::unique_ptr<PreparedInputs<RowMatrix<T>>> prepared;
  };

  void clear() {
    blocks_.clear();
    end_ = 0;
  }

  [[nodiscard]] const std::deque<Block>& blocks() const { return blocks_; }

  /// Adds `count` rows of `columns` numbers.
  void append(const T* inputs, std::ptrdiff_t count, std::ptrdiff_t columns) {
    for (std::ptrdiff_t now = 0; count > 0; count -= now, inputs += now * columns, end_ += now) {
      if (blocks_.empty() || blocks_.back().count == depth) {
        blocks_.push_back({end_, 0, RowMatrix<T>::Zero(depth, columns), nullptr});
      }
      Block& block = blocks_.back();
      now = std::min(depth - block.count, count);
      std::copy_n(inputs, now * columns, block.inputs.data() + block.count * columns);
      block.count += now;
      block.prepared = std::make_unique<PreparedInputs<RowMatrix<T>>>(block.inputs);
    }
  }

  /// Forgets blocks that are wholly below `number`.
  void forget(std::int64_t number) {
    while (!blocks_.empty() && blocks_.front().first + depth <= number) blocks_.pop_front();
  }

 private:
  std::deque<Block> blocks_;
  std::int64_t end_ = 0;
};

}  // namespace bpm::detail
