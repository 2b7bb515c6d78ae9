// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "bpm/core/buffer.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Kernel rows that are kept once they are known, within a byte budget, for those who will ask for
/// them again. A row is claimed by one thread, filled in any order, published, and from then on
/// read by all; first come, first kept. Memory is touched only as rows are filled.
template <class T>
class RowCache {
 public:
  /// As many rows of m values as `bytes` hold, at most m.
  RowCache(std::ptrdiff_t m, std::size_t bytes)
      : size_(m),
        capacity_(static_cast<std::ptrdiff_t>(
            m == 0 ? 0 : std::min(static_cast<std::size_t>(m), bytes / row_bytes(m)))),
        values_(capacity_ * m),
        places_(capacity_ > 0 ? m : 0) {
    places_.fill(nobody);
  }
  RowCache(const RowCache&) = delete;
  RowCache& operator=(const RowCache&) = delete;

  /// Bytes that a row takes.
  [[nodiscard]] static std::size_t row_bytes(std::ptrdiff_t m) noexcept {
    return static_cast<std::size_t>(m) * sizeof(T);
  }
  [[nodiscard]] std::ptrdiff_t capacity() const noexcept { return capacity_; }
  /// Rows claimed so far.
  [[nodiscard]] std::ptrdiff_t kept() const noexcept {
    return std::min(capacity_, claimed_.load(std::memory_order_relaxed));
  }

  /// The values of row i, if they are published, else null.
  [[nodiscard]] const T* find(PointIndex i) const noexcept {
    if (capacity_ == 0) {
      return nullptr;
    }
    const std::int32_t place = reference(i).load(std::memory_order_acquire);
    return place >= 0 ? values_.data() + place * size_ : nullptr;
  }

  /// Where to write row i, or null if another thread does or there is no room.
  [[nodiscard]] T* claim(PointIndex i) noexcept {
    if (claimed_.load(std::memory_order_relaxed) >= capacity_) {
      return nullptr;
    }
    std::int32_t expected = nobody;
    if (!reference(i).compare_exchange_strong(expected, being_filled, std::memory_order_relaxed)) {
      return nullptr;
    }
    const std::ptrdiff_t place = claimed_.fetch_add(1, std::memory_order_relaxed);
    return place < capacity_ ? values_.data() + place * size_ : nullptr;
  }

  /// Row i, claimed and filled through `values`, may be read by all from now on.
  void publish(PointIndex i, const T* values) noexcept {
    const auto place = static_cast<std::int32_t>((values - values_.data()) / size_);
    reference(i).store(place, std::memory_order_release);
  }

 private:
  static constexpr std::int32_t nobody = -1;
  static constexpr std::int32_t being_filled = -2;

  [[nodiscard]] std::atomic_ref<std::int32_t> reference(PointIndex i) const noexcept {
    return std::atomic_ref<std::int32_t>(places_[i]);
  }

  std::ptrdiff_t size_;
  std::ptrdiff_t capacity_;
  Buffer<T> values_;
  mutable Buffer<std::int32_t> places_;
  std::atomic<std::ptrdiff_t> claimed_{0};
};

/// Values that may keep rows between draws: `row_cache()` is where, or null. Satisfied by
/// `OnDemandGram` and by a version space on it.
template <class Values>
concept KeepsRows = requires(const Values& values) {
  { values.row_cache() } -> std::same_as<RowCache<typename Values::Scalar>*>;
};

}}}  // namespace bpm::detail
