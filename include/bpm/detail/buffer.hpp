// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace bpm::detail {

/// Memory for `size` numbers, aligned to a cache line and not touched on allocation: the first
/// touch of fresh pages is a large part of the cost of a kernel matrix, so nothing is filled twice.
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

  [[nodiscard]] std::ptrdiff_t size() const noexcept { return size_; }
  [[nodiscard]] T* data() noexcept { return data_.get(); }
  [[nodiscard]] const T* data() const noexcept { return data_.get(); }
  [[nodiscard]] T& operator[](std::ptrdiff_t i) noexcept { return data_.get()[i]; }
  [[nodiscard]] const T& operator[](std::ptrdiff_t i) const noexcept { return data_.get()[i]; }
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
  struct Free {
    void operator()(T* p) const noexcept { ::operator delete(p, alignment); }
  };

  std::ptrdiff_t size_ = 0;
  std::unique_ptr<T, Free> data_;
};

}  // namespace bpm::detail
