// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "bpm/core/target.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Asks for memory in pages of 2 MiB where the system has them: memory that is read as a stream
/// then costs few look-ups of addresses, and its first touch a fraction.
struct LargePages {};

/// 4 GiB; on machines whose sizes cannot tell so much, all of their memory.
inline constexpr std::size_t four_gibibytes = static_cast<std::size_t>(
    std::min<std::uint64_t>(std::uint64_t{4} << 30U, std::numeric_limits<std::size_t>::max()));

/// Memory for `size` numbers, aligned to a cache line and not touched on allocation: the first
/// touch of fresh pages is a large part of the cost of a kernel matrix, so nothing is filled twice.
/// Copies have memory of their own.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(std::ptrdiff_t size)
      : size_(size),
        data_(size == 0 ? nullptr
                        : static_cast<T*>(::operator new(static_cast<std::size_t>(size) * sizeof(T),
                                                         alignment))) {}
  Buffer(std::ptrdiff_t size, T value) : Buffer(size) { fill(value); }
  Buffer(std::ptrdiff_t size, LargePages /*unused*/) : Buffer(size) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    constexpr std::uintptr_t page = std::uintptr_t{1} << 21U;
    const auto first = (reinterpret_cast<std::uintptr_t>(data_) + page - 1) / page * page;
    const auto last = reinterpret_cast<std::uintptr_t>(data_ + size_) / page * page;
    // Advice: where it is not taken, pages are small.
    if (last > first) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
  }

  // Not a std::unique_ptr: one for each T would be compiled by everyone who includes this.
  Buffer(Buffer&& other) noexcept
      : size_(std::exchange(other.size_, 0)), data_(std::exchange(other.data_, nullptr)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
    return *this;
  }
  Buffer(const Buffer& other) : Buffer(other.size_) { std::copy_n(other.data_, size_, data_); }
  Buffer& operator=(const Buffer& other) {
    if (size_ == other.size_) {
      std::copy_n(other.data_, size_, data_);
    } else {
      *this = Buffer(other);
    }
    return *this;
  }
  ~Buffer() { ::operator delete(data_, alignment); }

  [[nodiscard]] std::ptrdiff_t size() const noexcept { return size_; }
  [[nodiscard]] T* data() noexcept { return data_; }
  [[nodiscard]] const T* data() const noexcept { return data_; }
  [[nodiscard]] T& operator[](std::ptrdiff_t i) noexcept { return data_[i]; }
  [[nodiscard]] const T& operator[](std::ptrdiff_t i) const noexcept { return data_[i]; }
  [[nodiscard]] T* begin() noexcept { return data(); }
  [[nodiscard]] T* end() noexcept { return data() + size_; }
  [[nodiscard]] const T* begin() const noexcept { return data(); }
  [[nodiscard]] const T* end() const noexcept { return data() + size_; }
  [[nodiscard]] std::span<T> span() noexcept { return {data(), static_cast<std::size_t>(size_)}; }
  [[nodiscard]] std::span<const T> span() const noexcept {
    return {data(), static_cast<std::size_t>(size_)};
  }

  void fill(T value) { std::fill(begin(), end(), value); }

  /// Room for at least `size` numbers; what was there is lost when it grows.
  void reserve_discarding(std::ptrdiff_t size) {
    if (size > size_) {
      *this = Buffer(size);
    }
  }

 private:
  static constexpr std::align_val_t alignment{64};

  std::ptrdiff_t size_ = 0;
  T* data_ = nullptr;
};

}}}  // namespace bpm::detail
