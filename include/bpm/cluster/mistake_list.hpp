// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/kernels/inputs.hpp"

namespace bpm::detail {

/// One problem's part in a mistake: scale (+1 or -1) times the kernel row of the mistaken point.
struct MistakeUpdate {
  std::int32_t problem = 0;
  std::int32_t scale = 0;
};

/// The mistakes of a run in their order, with the inputs of the mistaken points, until every group
/// of points has seen them. Numbered from the start of the run.
template <class T>
class MistakeList {
 public:
  static constexpr std::ptrdiff_t depth = 240;  ///< Mistakes a block of kernel values.

  /// Some consecutive mistakes whose inputs are prepared together.
  struct Block {
    std::int64_t first = 0;
    std::ptrdiff_t count = 0;
    RowMatrix<T> inputs;
    std::unique_ptr<PreparedInputs<RowMatrix<T>>> prepared;
  };

  void clear() {
    blocks_.clear();
    positions_.clear();
    update_begin_.assign(1, 0);
    updates_.clear();
    first_ = 0;
  }

  [[nodiscard]] std::int64_t end() const { return first_ + std::ssize(positions_); }
  [[nodiscard]] const std::deque<Block>& blocks() const { return blocks_; }
  /// Where in the random order the point of mistake `number` stands.
  [[nodiscard]] PointIndex position(std::int64_t number) const {
    return positions_[number - first_];
  }
  [[nodiscard]] std::span<const MistakeUpdate> updates(std::int64_t number) const {
    const std::size_t* const begin = update_begin_.data() + (number - first_);
    return std::span(updates_).subspan(begin[0], begin[1] - begin[0]);
  }

  /// Adds mistakes: a row of `inputs` and a position each; mistake i has the next `counts[i]` of
  /// the updates.
  void append(std::span<const PointIndex> positions, std::span<const std::int32_t> counts,
              std::span<const MistakeUpdate> updates, const T* inputs, std::ptrdiff_t columns) {
    const auto count = std::ssize(positions);
    for (std::ptrdiff_t done = 0; done < count;) {
      if (blocks_.empty() || blocks_.back().count == depth) {
        Block block;
        block.first = end() + done;
        block.inputs.setZero(depth, columns);
        blocks_.push_back(std::move(block));
      }
      Block& block = blocks_.back();
      const std::ptrdiff_t now = std::min(depth - block.count, count - done);
      std::copy_n(inputs + done * columns, now * columns,
                  block.inputs.data() + block.count * columns);
      block.count += now;
      block.prepared = std::make_unique<PreparedInputs<RowMatrix<T>>>(block.inputs);
      done += now;
    }
    positions_.insert(positions_.end(), positions.begin(), positions.end());
    for (const std::int32_t n : counts) {
      update_begin_.push_back(update_begin_.back() + static_cast<std::size_t>(n));
    }
    updates_.insert(updates_.end(), updates.begin(), updates.end());
  }

  /// Forgets mistakes below `number`.
  void forget(std::int64_t number) {
    const std::int64_t gone = number - first_;
    if (gone <= 0) return;
    const std::size_t begin = update_begin_[gone];
    updates_.erase(updates_.begin(), updates_.begin() + static_cast<std::ptrdiff_t>(begin));
    positions_.erase(positions_.begin(), positions_.begin() + gone);
    update_begin_.erase(update_begin_.begin(), update_begin_.begin() + gone);
    for (std::size_t& place : update_begin_) place -= begin;
    first_ = number;
    while (!blocks_.empty() && blocks_.front().first + blocks_.front().count <= first_ &&
           blocks_.front().count == depth) {
      blocks_.pop_front();
    }
  }

 private:
  std::deque<Block> blocks_;
  std::vector<PointIndex> positions_;
  std::vector<std::size_t> update_begin_{0};
  std::vector<MistakeUpdate> updates_;
  std::int64_t first_ = 0;
};

}  // namespace bpm::detail
