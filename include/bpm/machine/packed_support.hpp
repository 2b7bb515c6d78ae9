// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/prepared_columns.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/machine/coefficients.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Support inputs packed for blocks of kernel values with them: at once, or, of a view, each block
/// when it is first asked for. Refers to the inputs.
template <InputSet I>
class PackedSupport {
 public:
  static constexpr std::ptrdiff_t width = PackedCoefficients::block;

  /// `source`: of a view, where its numbers come from; empty: from the caller.
  PackedSupport(const I& inputs, bool pack, std::string_view source)
    requires InputView<I>
      : PackedSupport(inputs, pack, PreparedInputs<I>(inputs, RoomOnly{})) {
    gates_ = std::make_unique<Gate[]>(blocks_.size());
    source_ = source;
  }
  PackedSupport(const I& inputs, bool pack, std::string_view /*source*/ = "")
    requires(!InputView<I>)
      : PackedSupport(inputs, pack, PreparedInputs<I>(inputs)) {
    for (std::ptrdiff_t b = 0; b < block_count(); ++b) pack_block(b);
  }
  PackedSupport(const PackedSupport&) = delete;
  PackedSupport& operator=(const PackedSupport&) = delete;

  [[nodiscard]] std::ptrdiff_t size() const noexcept { return prepared_.size(); }
  [[nodiscard]] std::ptrdiff_t block_count() const noexcept { return std::ssize(blocks_); }

  /// All of them, not packed. \throws as `block`.
  [[nodiscard]] const PreparedInputs<I>& inputs() const {
    for (std::ptrdiff_t b = 0; b < block_count(); ++b) static_cast<void>(block(b));
    return prepared_;
  }

  /// The support inputs from b `width` on. Of any thread; a block of a view that is refused once is
  /// refused whenever it is asked for. \throws DataError, or std::invalid_argument without a
  /// source, on numbers of a view that are not finite.
  [[nodiscard]] const PreparedColumns<I>& block(std::ptrdiff_t b) const {
    if constexpr (InputView<I>) {
      // Not std::call_once: what it does after an exception differs between systems.
      Gate& gate = gates_[b];
      if (!gate.ready.load(std::memory_order_acquire)) {
        const std::lock_guard lock(gate.mutex);
        if (!gate.ready.load(std::memory_order_relaxed)) {
          read_block(b);
          gate.ready.store(true, std::memory_order_release);
        }
      }
    }
    return blocks_[b];
  }

 private:
  /// Whether a block of a view has been read.
  struct Gate {
    std::atomic<bool> ready = false;
    std::mutex mutex;
  };

  PackedSupport(const I& inputs, bool pack, PreparedInputs<I>&& prepared)
      : inputs_(inputs),
        pack_(pack),
        prepared_(std::move(prepared)),
        points_(first_points(size())),
        blocks_((size() + width - 1) / width) {}

  [[nodiscard]] std::span<const PointIndex> points_of(std::ptrdiff_t b) const {
    return std::span(points_).subspan(b * width, std::min(width, size() - b * width));
  }
  void pack_block(std::ptrdiff_t b) const { blocks_[b].assign(prepared_, points_of(b), pack_); }
  void read_block(std::ptrdiff_t b) const {
    const std::ptrdiff_t count = std::ssize(points_of(b));
    try {
      check_inputs(inputs_.middleRows(b * width, count), "Classifier", b * width);
    } catch (const std::invalid_argument& error) {
      ensure<DataError>(source_.empty(), source_, ": ", error.what());
      throw;
    }
    prepared_.prepare(inputs_, b * width, count);
    pack_block(b);
  }

  const I& inputs_;
  bool pack_;
  // Of a view these change as its blocks are read, each block once.
  mutable PreparedInputs<I> prepared_;
  std::vector<PointIndex> points_;
  mutable std::vector<PreparedColumns<I>> blocks_;
  std::unique_ptr<Gate[]> gates_;
  std::string source_;
};

}}}  // namespace bpm::detail
