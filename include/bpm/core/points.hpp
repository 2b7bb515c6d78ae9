// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <new>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/target.hpp"

/// \file
/// Storage and numbering of training points: matrices of inputs, tables of columns, memory aligned
/// to whole registers.

namespace bpm { inline namespace BPM_TARGET {

/// A matrix with one input per row, in row-major order. Grey images: height * width bytes per row,
/// their pixels row by row from the top.
template <class Scalar>
using RowMatrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Index of a training point. 32 bits suffice: training sets are below 2^31 points.
using PointIndex = std::int32_t;

namespace detail {

/// Indices of the first `count` inputs: 0, 1, ..., count - 1.
[[nodiscard]] inline std::vector<PointIndex> first_points(std::ptrdiff_t count) {
  std::vector<PointIndex> points(static_cast<std::size_t>(count));
  std::iota(points.begin(), points.end(), PointIndex{0});
  return points;
}

/// Refers to `count` elements of a list, from `first` on.
[[nodiscard]] auto slice_of(auto&& list, std::ptrdiff_t first, std::ptrdiff_t count) {
  return std::span(list).subspan(std::size_t(first), std::size_t(count));
}

/// 4 GiB, or the largest std::size_t where that is less.
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

  // Not a std::unique_ptr: every unit that includes this would compile one for each T.
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

  /// Reserves memory for at least `size` numbers; growing discards the contents.
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

}  // namespace detail

/// A table whose columns hold numbers or words; a `TableEncoding` converts it to inputs. All
/// columns have the same length.
struct MixedTable {
  /// Type of the fields of a column.
  enum class Kind {
    numbers,  ///< Numbers in double precision.
    words     ///< Texts; equal texts are one category.
  };

  /// One column. Its fields are in `numbers`, or in `words` by the indices in `word_of`.
  struct Column {
    std::string name{};                ///< Name of the column; empty: none.
    Kind kind = Kind::numbers;         ///< Type of the fields.
    std::vector<double> numbers{};     ///< Number of each row; NaN: missing. Empty for words.
    std::vector<std::string> words{};  ///< Distinct words, in ascending order.
    std::vector<int> word_of{};        ///< Index into `words` for each row; -1: missing.

    /// Number of rows.
    [[nodiscard]] std::ptrdiff_t rows() const {
      return kind == Kind::words ? std::ssize(word_of) : std::ssize(numbers);
    }
  };
  std::vector<Column> columns{};  ///< Columns, in the requested order, else that of the table.

  /// Number of rows of every column; 0 without columns.
  [[nodiscard]] std::ptrdiff_t rows() const { return columns.empty() ? 0 : columns.front().rows(); }
};

}}  // namespace bpm
